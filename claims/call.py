"""A function by its name and fixed arguments: how a certificate in JSON names its statement."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Generic, Self, TypeVar, cast

from flint import ctx

from fairfl._support.own_parts import own_modules
from fairfl.claims.exact import decode, encode

ROOT = "fairfl.claims."
T = TypeVar("T")
MOST_VALUES = 10_000
"""Number of values kept at a time; a deep run has more."""
_values = ContextVar[dict[str, Any] | None]("_values", default=None)


@contextmanager
def values_kept() -> Iterator[None]:
    """Within it a call returns what it returned before, for equal arguments and precision."""
    outer = _values.get()
    token = _values.set({} if outer is None else outer)
    try:
        yield
    finally:
        _values.reset(token)


@dataclass(frozen=True)
class Call(Generic[T]):
    """A module-level function of a module below ``fairfl.claims``, or of a user's own that is
    imported, with fixed values for some of its arguments.

    Attributes
    ----------
    function : "fairfl.claims.pffl.weights:no_gap".
    given : the fixed keyword arguments, JSON data (see :func:`fairfl.claims.exact.encode`).
    """

    function: str
    given: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def of(cls, function: Callable[..., T], **constants: object) -> Self:
        """The call of ``function``. Errors: ValueError where its name does not lead back to it."""
        call = cls(f"{function.__module__}:{function.__name__}", encode(constants))
        if call.resolve() is not function:
            raise ValueError(f"function must be found under its own name, got {call.function}")
        return call

    def resolve(self) -> Callable[..., T]:
        """The function. ValueError: not a module-level function of such a module."""
        module, _, name = self.function.partition(":")
        own = {m.__name__ for m in own_modules("claims")}
        is_allowed = module.startswith(ROOT) or module in own
        if not is_allowed or not all(part.isidentifier() for part in name.split(".")):
            raise ValueError(
                "function must be 'MODULE:NAME' at module level, of fairfl.claims or of a module "
                f"that is imported, got {self.function!r}"
            )
        function: Any = import_module(module)
        for part in name.split("."):
            function = getattr(function, part, None)
        if not callable(function):
            raise ValueError(f"function must exist, got {self.function!r}")
        return cast(Callable[..., T], function)

    def __call__(self, *args: object) -> T:
        values, key = _values.get(), repr((self.function, self.given, args, ctx.prec))
        if values is None:
            values = {}
        if key not in values:
            if len(values) >= MOST_VALUES:
                values.clear()
            values[key] = self.resolve()(*args, **decode(dict(self.given)))
        return values[key]

    def to_json(self) -> dict[str, object]:
        return {"function": self.function, "given": dict(self.given)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(data["function"], data["given"])

    def __str__(self) -> str:
        constants = ", ".join(f"{key}={value}" for key, value in self.given.items())
        return f"{self.function.removeprefix(ROOT)}({constants})"
