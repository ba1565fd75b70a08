"""Certificates of claims: data, a level, and a ``verify()`` that shares no code with the search."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import islice
from typing import Any, ClassVar, Self

from fairfl.claims.call import Call
from fairfl.claims.words import LEVELS, Finding, Level

TYPES: dict[str, type[ClaimCertificate]] = {}
"""Every concrete certificate by the name of its class, the "type" of its JSON."""


class Rejected(Exception):
    """The certificate does not show its statement."""


class ClaimCertificate(ABC):
    """A frozen dataclass of JSON data and :class:`Call` s.

    Attributes
    ----------
    finding : whether such a certificate supports or refutes its statement.
    level : the strength of the evidence.
    """

    finding: ClassVar[Finding] = "holds"

    def __init_subclass__(cls) -> None:
        if not cls.__name__.startswith("_"):
            TYPES[cls.__name__] = cls

    @property
    @abstractmethod
    def level(self) -> Level: ...

    @abstractmethod
    def verify(self) -> None:
        """Check it from its data and the statement alone. Rejected, with the fault: it fails."""

    def replay(self) -> None:
        """:meth:`verify`, on all drawn instances instead of the first ones. Rejected: likewise."""
        self.verify()
        for part in self.inner:
            part.replay()

    def premises(self) -> frozenset[str]:
        """The names of the premises of its cases; none where it has no instances."""
        return frozenset[str]().union(*(part.premises() for part in self.inner))

    @property
    def inner(self) -> tuple[ClaimCertificate, ...]:
        """The certificates that it holds."""
        return ()

    def every(self) -> Iterator[ClaimCertificate]:
        """It, and what it holds."""
        yield self
        for certificate in self.inner:
            yield from certificate.every()

    def unchecked(self) -> str:
        """What :meth:`verify` could not check on this machine, "" where it checked all."""
        return ""

    @abstractmethod
    def summary(self) -> str:
        """One line of text for readers."""

    def to_json(self) -> dict[str, object]:
        """The certificate as JSON data, its type under "type"."""
        names = [f.name for f in fields(self)]  # type: ignore[arg-type]
        return {"type": type(self).__name__} | {n: _plain(getattr(self, n)) for n in names}

    @classmethod
    def _load(cls, data: Mapping[str, Any]) -> Self:
        names = [f.name for f in fields(cls)]  # type: ignore[arg-type]
        return cls(**{name: _parsed(data[name]) for name in names})


def from_json(data: Mapping[str, Any]) -> ClaimCertificate:
    """The certificate of its JSON. ValueError: an unknown type, or a field that is missing."""
    kind = data.get("type")
    if kind not in TYPES:
        raise ValueError(
            f"type of a certificate must be one of {', '.join(sorted(TYPES))}, got {kind!r}"
        )
    try:
        return TYPES[kind]._load(data)
    except KeyError as error:
        raise ValueError(f"a {kind} must have {error.args[0]}, got {', '.join(data)}") from None


def weakest(levels: Sequence[Level]) -> Level:
    """The weakest of some levels, of which there is at least one."""
    return max(levels, key=LEVELS.index)


def require(condition: bool, message: str) -> None:
    """Reject the certificate unless ``condition``."""
    if not condition:
        raise Rejected(message)


def compare_numbers(values: Iterable[str], quoted: str) -> None:
    """Reject the certificate unless ``values`` begin with those of ``quoted``, "2/7; 0.123457"."""
    numbers = quoted.split("; ") if quoted else []
    computed = list(islice(values, len(numbers)))
    require(computed == numbers, f"the numbers are {'; '.join(computed)}, not {quoted}")


def _plain(value: object) -> object:
    if isinstance(value, (Call, ClaimCertificate)):
        return value.to_json()
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def _parsed(value: Any) -> Any:
    """A field from JSON: a call, or certificates, the only lists; other values stay as they are."""
    if isinstance(value, list):
        return tuple(map(from_json, value))
    is_call = isinstance(value, dict) and value.keys() == {"function", "given"}
    return Call.from_json(value) if is_call else value
