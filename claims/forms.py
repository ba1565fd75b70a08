"""Checks as declarations: the certificates of a statement, and the parameters that mutants change.

``check=counterexample(case, "what happens there", instance)`` is a check; ``every(...)`` joins
several. A mutant is a row of changed parameters: each part takes those that its functions or its
instance have by name. The other classes that most claims use are imported from here too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
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
    KernelProof,
    PropertyRun,
    SymbolicZero,
    Witness,
)
from fairfl.claims.certificates.algebra import Decomposition as Decomposition
from fairfl.claims.certificates.algebra import Residual as Residual
from fairfl.claims.certificates.algebra import Sign
from fairfl.claims.claim import Claim as Claim
from fairfl.claims.claim import caption as caption
from fairfl.claims.effort import Effort
from fairfl.claims.evidence import Evidence
from fairfl.claims.exact import Instance as Instance

T = TypeVar("T")
Changes = Mapping[str, object]
Statement = Callable[..., Case]
Source = Instance | Callable[..., Instance]
"""An instance, or a function that returns one."""


@dataclass(frozen=True)
class Part:
    """Makes certificates of statements with changed parameters; called, it is a check.

    Attributes
    ----------
    make : effort, changes -> certificates.
    takes : the names of the parameters that can change.
    negation : whether they show together that the statement is false.
    """

    make: Callable[[Effort, Changes], tuple[ClaimCertificate, ...]]
    takes: frozenset[str]
    negation: bool = False

    def __call__(self, effort: Effort, **changes: object) -> Evidence:
        if not changes.keys() <= self.takes:
            known, given = ", ".join(sorted(self.takes)), ", ".join(changes)
            raise ValueError(f"changes must be of {known}, got {given}")
        certificates = self.make(effort, changes)
        if not changes and all(isinstance(part, Beside) for part in certificates):
            raise ValueError("a check must have a part that gives a level, got what is beside it")
        return Evidence(certificates, self.negation)


def every(*parts: Part, negation: bool = False) -> Part:
    """All of ``parts`` are needed; with ``negation`` they show that the statement is false."""
    return Part(partial(_certificates, parts), _taken(parts), negation)


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
    return _one(
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


exactly = partial(drawn, tolerance=0.0)
"""Of a statement in exact numbers."""


def beside(*parts: Part) -> Part:
    """What holds the algebra's model to instances: parts that are verified and give no level."""
    return _one(lambda *changed: Beside(_certificates(parts, *changed)), _taken(parts))


def proof(file: str, theorems: str, *otherwise: Part) -> Part:
    """Theorems of a file of ``claims/proofs``; ``otherwise`` shows the same without a kernel."""
    return _one(
        lambda *changed: KernelProof.of(file, theorems, *_certificates(otherwise, *changed)),
        _taken(otherwise),
    )


def _one(make: Callable[[Effort, Changes], ClaimCertificate], takes: frozenset[str]) -> Part:
    return Part(lambda effort, changes: (make(effort, changes),), takes)


def _algebra(function: Callable[..., Any], sign: Sign, numbers: str, constants: Changes) -> Part:
    return _one(
        lambda effort, changes: SymbolicZero(
            Call.of(function, **{**constants, **changes}), sign, "" if changes else numbers
        ),
        _names(function),
    )


def _at(
    kind: type[Counterexample] | type[Witness],
    case: Statement,
    texts: tuple[str, str],
    source: Source,
    constants: Changes,
) -> Part:
    """Changes are of the case's parameters, of the instance's values, or of its function's."""
    names = _names(source) if callable(source) else frozenset(source)

    def make(effort: Effort, changes: Changes) -> ClaimCertificate:
        of_instance = {name: changes[name] for name in names & changes.keys()}
        instance = source(**of_instance) if callable(source) else {**source, **of_instance}
        call = _call(case, {**constants, **changes})
        return kind.at(call, *texts[: 1 if changes else 2], **instance)

    return _one(make, _names(case) | names)


def _certificates(
    parts: Sequence[Part], effort: Effort, changes: Changes
) -> tuple[ClaimCertificate, ...]:
    """Of all parts, or of those that the changes concern: the others are as they were."""
    made = [
        part.make(effort, {name: changes[name] for name in part.takes & changes.keys()})
        for part in parts
        if not changes or part.takes & changes.keys()
    ]
    return sum(made, ())


def _call(function: Callable[..., T], constants: Changes) -> Call[T]:
    """The call with those of ``constants`` that the function has by name."""
    names = _names(function)
    return Call.of(function, **{k: v for k, v in constants.items() if k in names})


def _taken(parts: Sequence[Part]) -> frozenset[str]:
    return frozenset[str]().union(*(part.takes for part in parts))


def _names(function: Callable[..., object]) -> frozenset[str]:
    return frozenset(signature(function).parameters)
