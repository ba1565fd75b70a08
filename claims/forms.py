"""Checks as declarations: the certificates of a statement, and the parameters that mutants change.

``check=counterexample(case, "what happens there", instance)`` is a check; ``every(...)`` joins
several. A mutant is a row of changed parameters: each part takes those that its functions or its
instance have by name. The other classes that most claims use are imported from here too.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any

from fairfl.claims.call import Call
from fairfl.claims.case import Case as Case
from fairfl.claims.case import Operator as Operator
from fairfl.claims.case import Relation as Relation
from fairfl.claims.certificates import (
    ClaimCertificate,
    Counterexample,
    DefiniteForm,
    KernelProof,
    PropertyRun,
    SymbolicZero,
    Witness,
)
from fairfl.claims.claim import Claim as Claim
from fairfl.claims.claim import caption as caption
from fairfl.claims.effort import Effort
from fairfl.claims.evidence import Evidence
from fairfl.claims.exact import Instance

Changes = Mapping[str, Any]
Function = Callable[..., Any]


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

    def __call__(self, effort: Effort, **changes: Any) -> Evidence:
        return every(self)(effort, **changes)


@dataclass(frozen=True)
class Every:
    """A check of several parts, see :class:`~fairfl.claims.evidence.Evidence`."""

    parts: tuple[Part, ...]
    negation: bool

    def __call__(self, effort: Effort, **changes: Any) -> Evidence:
        changeable = frozenset[str]().union(*(part.takes for part in self.parts))
        if not changes.keys() <= changeable:
            raise ValueError(
                f"changes must be of {', '.join(sorted(changeable))}, got {', '.join(changes)}"
            )
        parts = tuple(_certificate(part, effort, changes) for part in self.parts)
        return Evidence(parts, self.negation)


def every(*parts: Part, negation: bool = False) -> Every:
    """All of ``parts`` are needed; with ``negation`` they show that the statement is false."""
    return Every(parts, negation)


def counterexample(
    case: Function, shows: str, instance: Instance | Function, **constants: Any
) -> Part:
    """Refutes: at the instance (or the one that a function returns) every premise holds, and a
    relation of ``case`` fails.
    """
    return _at(Counterexample, case, shows, instance, constants)


def witness(case: Function, shows: str, instance: Instance | Function, **constants: Any) -> Part:
    """Shows that something exists: at the instance all premises and relations hold."""
    return _at(Witness, case, shows, instance, constants)


def identity(residuals: Function, **constants: Any) -> Part:
    """``residuals() -> {name: expression}`` all vanish."""

    def make(effort: Effort, changes: Changes) -> ClaimCertificate:
        return SymbolicZero(Call.of(residuals, **{**constants, **changes}))

    return Part(make, _names(residuals))


def definite(form: Function, strict: bool = False, **constants: Any) -> Part:
    """``form() -> (expression, [terms visibly non-negative])`` of the same sum."""

    def make(effort: Effort, changes: Changes) -> ClaimCertificate:
        return DefiniteForm(Call.of(form, **{**constants, **changes}), strict)

    return Part(make, _names(form))


def drawn(
    case: Function,
    draws: Function,
    *,
    tolerance: float = 1e-9,
    examples: tuple[int, int] | None = None,
    **constants: Any,
) -> Part:
    """``case`` at ``examples`` (quick, deep) instances from the strategy ``draws()``."""

    def make(effort: Effort, changes: Changes) -> ClaimCertificate:
        return PropertyRun.of(
            _call(case, {**constants, **changes}),
            _call(draws, {**constants, **changes}),
            effort,
            tolerance=tolerance,
            examples=effort.pick(*examples) if examples else None,
        )

    return Part(make, _names(case) | _names(draws))


def proof(file: str, theorems: str, *otherwise: Part) -> Part:
    """Theorems of a Coq file of ``claims/proofs``, named with spaces between; ``otherwise`` shows
    the same without a kernel, and refutes mutants.
    """

    def make(effort: Effort, changes: Changes) -> ClaimCertificate:
        certificates = (_certificate(part, effort, changes) for part in otherwise)
        return KernelProof.of(file, theorems, *certificates)

    return Part(make, frozenset[str]().union(*(part.takes for part in otherwise)))


def _at(
    kind: type[Counterexample] | type[Witness],
    case: Function,
    shows: str,
    instance: Instance | Function,
    constants: Changes,
) -> Part:
    """Changes are of the case's parameters, and of the instance's values or the parameters of the
    function that returns it.
    """
    case_names = _names(case)
    instance_names = _names(instance) if callable(instance) else frozenset(instance)

    def make(effort: Effort, changes: Changes) -> ClaimCertificate:
        instance_changes = {
            name: value for name, value in changes.items() if name in instance_names
        }
        values = (
            instance(**instance_changes) if callable(instance) else {**instance, **instance_changes}
        )
        return kind.at(_call(case, {**constants, **changes}), shows, **values)

    return Part(make, case_names | instance_names)


def _certificate(part: Part, effort: Effort, changes: Changes) -> ClaimCertificate:
    return part.make(effort, {name: changes[name] for name in part.takes & changes.keys()})


def _call(function: Function, constants: Changes) -> Call:
    return Call.of(
        function, **{k: v for k, v in constants.items() if k in signature(function).parameters}
    )


def _names(function: Function) -> frozenset[str]:
    return frozenset(signature(function).parameters)
