"""Checks as declarations: the certificates of a statement, and the parameters that mutants change.

``check=counterexample(case, "what happens there", instance)`` is a check; ``every(...)`` joins
several. A mutant is a row of changed parameters: each part takes those that its functions or its
instance have by name. The other classes that most claims use are imported from here too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any, TypeVar

from hypothesis.strategies import SearchStrategy

from fairfl.claims.call import Call
from fairfl.claims.case import Case as Case
from fairfl.claims.case import Operator as Operator
from fairfl.claims.case import Relation as Relation
from fairfl.claims.certificates import (
    Beside,
    ClaimCertificate,
    Counterexample,
    Decomposition,
    KernelProof,
    PropertyRun,
    SymbolicZero,
    Witness,
)
from fairfl.claims.certificates.algebra import Residual as Residual
from fairfl.claims.certificates.algebra import Sign
from fairfl.claims.claim import Claim as Claim
from fairfl.claims.claim import caption as caption
from fairfl.claims.effort import Effort
from fairfl.claims.evidence import Evidence
from fairfl.claims.exact import Instance

T = TypeVar("T")
Changes = Mapping[str, object]
Statement = Callable[..., Case]
Source = Instance | Callable[..., Instance]
"""An instance, or a function that returns one."""


@dataclass(frozen=True)
class Part:
    """Makes a certificate of a statement with changed parameters; also a check by itself.

    Attributes
    ----------
    make : effort, changes -> certificate.
    takes : the names of the parameters that can change.
    """

    make: Callable[[Effort, Changes], ClaimCertificate]
    takes: frozenset[str]

    def __call__(self, effort: Effort, **changes: object) -> Evidence:
        return every(self)(effort, **changes)


@dataclass(frozen=True)
class Every:
    """A check of several parts, see :class:`~fairfl.claims.evidence.Evidence`."""

    parts: tuple[Part, ...]
    negation: bool

    def __call__(self, effort: Effort, **changes: object) -> Evidence:
        changeable = _taken(self.parts)
        if not changes.keys() <= changeable:
            raise ValueError(
                f"changes must be of {', '.join(sorted(changeable))}, got {', '.join(changes)}"
            )
        certificates = _certificates(self.parts, effort, changes)
        if not changes and all(isinstance(part, Beside) for part in certificates):
            raise ValueError("a check must have a part that gives a level, got what is beside it")
        return Evidence(certificates, self.negation)


def every(*parts: Part, negation: bool = False) -> Every:
    """All of ``parts`` are needed; with ``negation`` they show that the statement is false."""
    return Every(parts, negation)


def counterexample(
    case: Statement, shows: str, instance: Source, numbers: str = "", **constants: object
) -> Part:
    """Refutes: at the instance (or the one that a function returns) every premise holds, and a
    relation of ``case`` fails. ``numbers`` are those of its first relations, "2/7 == 3/11".
    """
    return _at(Counterexample, case, (shows, numbers), instance, constants)


def witness(
    case: Statement, shows: str, instance: Source, numbers: str = "", **constants: object
) -> Part:
    """Shows that something exists: at the instance all premises and relations hold."""
    return _at(Witness, case, (shows, numbers), instance, constants)


def identity(
    residuals: Callable[..., Mapping[str, Residual]], numbers: str = "", **constants: object
) -> Part:
    """``residuals() -> {name: (left, right)}`` are equal; ``numbers``: the left sides."""
    return _algebra(residuals, "", numbers, constants)


def definite(
    form: Callable[..., Decomposition],
    numbers: str = "",
    *,
    strict: bool = False,
    **constants: object,
) -> Part:
    """``form() -> (expression, [terms >= 0])`` of one sum; ``numbers``: the expression."""
    return _algebra(form, "positive" if strict else "non-negative", numbers, constants)


def drawn(
    case: Statement,
    draws: Callable[..., SearchStrategy[Instance]],
    *,
    tolerance: float = 1e-9,
    examples: tuple[int, int] | None = None,
    moved: str = "",
    **constants: object,
) -> Part:
    """``case`` at ``examples`` (quick, deep) instances from the strategy ``draws()``, and next to
    them: where numbers of the fields ``moved`` have other values.
    """
    return Part(
        lambda effort, changes: PropertyRun.of(
            _call(case, {**constants, **changes}),
            _call(draws, {**constants, **changes}),
            effort,
            tolerance=tolerance,
            examples=effort.pick(*examples) if examples else None,
            moved=moved,
        ),
        _names(case) | _names(draws),
    )


def beside(*parts: Part) -> Part:
    """What holds the algebra's model to instances: parts that are verified and give no level."""
    return Part(
        lambda effort, changes: Beside(_certificates(parts, effort, changes)), _taken(parts)
    )


def proof(file: str, theorems: str, *otherwise: Part) -> Part:
    """Theorems of a file of ``claims/proofs``; ``otherwise`` shows the same without a kernel."""
    return Part(
        lambda effort, changes: KernelProof.of(
            file, theorems, *_certificates(otherwise, effort, changes)
        ),
        _taken(otherwise),
    )


def _algebra(function: Callable[..., Any], sign: Sign, numbers: str, constants: Changes) -> Part:
    return Part(
        lambda effort, changes: SymbolicZero(
            Call.of(function, **{**constants, **changes}), sign, "" if changes else numbers
        ),
        _names(function),
    )


def _at(
    kind: type[Counterexample] | type[Witness],
    case: Statement,
    texts: tuple[str, str],
    instance: Source,
    constants: Changes,
) -> Part:
    """Changes are of the case's parameters, of the instance's values, or of its function's."""
    names = _names(instance) if callable(instance) else frozenset(instance)
    return Part(
        lambda effort, changes: kind.at(
            _call(case, {**constants, **changes}),
            *texts[: 1 if changes else 2],
            **_changed(instance, {n: value for n, value in changes.items() if n in names}),
        ),
        _names(case) | names,
    )


def _changed(instance: Source, changes: Changes) -> Instance:
    return instance(**changes) if callable(instance) else {**instance, **changes}


def _certificates(
    parts: Sequence[Part], effort: Effort, changes: Changes
) -> tuple[ClaimCertificate, ...]:
    """Of all parts, or of those that the changes concern: the others are as they were."""
    return tuple(
        part.make(effort, {name: changes[name] for name in part.takes & changes.keys()})
        for part in parts
        if not changes or part.takes & changes.keys()
    )


def _call(function: Callable[..., T], constants: Changes) -> Call[T]:
    """The call with those of ``constants`` that the function has by name."""
    names = _names(function)
    return Call.of(function, **{k: v for k, v in constants.items() if k in names})


def _taken(parts: Sequence[Part]) -> frozenset[str]:
    return frozenset[str]().union(*(part.takes for part in parts))


def _names(function: Callable[..., object]) -> frozenset[str]:
    return frozenset(signature(function).parameters)
