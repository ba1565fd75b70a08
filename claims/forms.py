"""Checks as declarations: what shows a statement, and what a mutant changes of it.

``check=counterexample(case, "what happens there", instance)`` is a check; ``every(...)`` joins
several. A mutant is a row of changed parameters: each part takes those that its functions or its
instance have by name. All else that most claims are written with is imported from here too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from inspect import signature
from typing import Any

from fairfl.claims.bisection import PROBES, bisect
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
from fairfl.claims.claim import Effort
from fairfl.claims.claim import caption as caption
from fairfl.claims.evidence import Evidence

Changes = Mapping[str, Any]
Function = Callable[..., Any]
Instance = Mapping[str, Any]


@dataclass(frozen=True)
class Part:
    """Makes a certificate of a statement of which ``changes`` are made; a check by itself.

    Attributes
    ----------
    make : effort, changes -> certificate.
    takes : the names that it can change.
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
        known = frozenset[str]().union(*(one.takes for one in self.parts))
        if not changes.keys() <= known:
            raise ValueError(
                f"changes must be of {', '.join(sorted(known))}, got {', '.join(changes)}"
            )
        return Evidence(tuple(_made(one, effort, changes) for one in self.parts), self.negation)


def every(*parts: Part, negation: bool = False) -> Every:
    """All of ``parts`` are needed; with ``negation`` they show that the statement is false."""
    return Every(parts, negation)


def counterexample(case: Function, shows: str, instance: Instance | Function, **given: Any) -> Part:
    """Refutes: at the instance (or what a function makes) every premise holds, and a relation of
    ``case`` fails.
    """
    return _at(Counterexample, case, shows, instance, given)


def witness(case: Function, shows: str, instance: Instance | Function, **given: Any) -> Part:
    """Shows that something exists: at the instance all premises and relations hold."""
    return _at(Witness, case, shows, instance, given)


def identity(residuals: Function, **given: Any) -> Part:
    """``residuals() -> {name: expression}`` all vanish; they are evaluated at one point too."""

    def make(effort: Effort, changes: Changes) -> ClaimCertificate:
        call = Call.of(residuals, **{**given, **changes})
        return SymbolicZero(call, _spot(*call().values()))

    return Part(make, _names(residuals))


def definite(form: Function, strict: bool = False, **given: Any) -> Part:
    """``form() -> (expression, [terms visibly non-negative])`` of the same sum."""

    def make(effort: Effort, changes: Changes) -> ClaimCertificate:
        call = Call.of(form, **{**given, **changes})
        return DefiniteForm(call, _spot(call()[0]), strict)

    return Part(make, _names(form))


def drawn(
    case: Function,
    draws: Function,
    *,
    tolerance: float = 1e-9,
    examples: tuple[int, int] | None = None,
    **given: Any,
) -> Part:
    """``case`` at ``examples`` (quick, deep) instances that ``draws() -> strategy`` draws."""

    def make(effort: Effort, changes: Changes) -> ClaimCertificate:
        return PropertyRun.of(
            _call(case, {**given, **changes}),
            _call(draws, {**given, **changes}),
            effort,
            tolerance=tolerance,
            examples=effort.pick(*examples) if examples else None,
        )

    return Part(make, _names(case) | _names(draws))


def leaves(
    margin: Function, box: Sequence[tuple[Any, Any]], probes: int = PROBES, **given: Any
) -> Part:
    """``margin([balls]) > 0`` over a box, by bisection, after a look at so many points."""

    def make(effort: Effort, changes: Changes) -> ClaimCertificate:
        return bisect(Call.of(margin, **{**given, **changes}), box, probes=probes)

    return Part(make, _names(margin))


def proof(file: str, theorems: str, *otherwise: Part) -> Part:
    """Theorems of a Coq file of ``claims/proofs``, named with spaces between; ``otherwise`` shows
    the same without a kernel, and refutes mutants.
    """

    def make(effort: Effort, changes: Changes) -> ClaimCertificate:
        others = (_made(one, effort, changes) for one in otherwise)
        return KernelProof.of(file, theorems, *others)

    return Part(make, frozenset[str]().union(*(one.takes for one in otherwise)))


def _at(
    kind: type[Counterexample] | type[Witness],
    case: Function,
    shows: str,
    instance: Instance | Function,
    given: Changes,
) -> Part:
    """A change is of the case's parameters, or of the instance's numbers or its maker's
    parameters.
    """
    names = _names(case)
    own = _names(instance) if callable(instance) else frozenset(instance)

    def make(effort: Effort, changes: Changes) -> ClaimCertificate:
        moved = {name: value for name, value in changes.items() if name in own}
        at = instance(**moved) if callable(instance) else {**instance, **moved}
        return kind.at(_call(case, {**given, **changes}), shows, **at)

    return Part(make, names | own)


def _made(part: Part, effort: Effort, changes: Changes) -> ClaimCertificate:
    return part.make(effort, {name: changes[name] for name in part.takes & changes.keys()})


def _call(function: Function, given: Changes) -> Call:
    return Call.of(
        function, **{k: v for k, v in given.items() if k in signature(function).parameters}
    )


def _spot(*expressions: Any) -> tuple[dict[str, Any]]:
    """A value for each symbol, none of them equal or special: 2/5, 5/6, 8/7, ...; integers 2, 3,
    ....
    """
    symbols = sorted({str(x): x for e in expressions for x in e.free_symbols}.items())
    spot = {
        name: str(k + 2 if symbol.is_integer else Fraction(3 * k + 2, k + 5))
        for k, (name, symbol) in enumerate(symbols)
    }
    return (spot,)


def _names(function: Function) -> frozenset[str]:
    return frozenset(signature(function).parameters)
