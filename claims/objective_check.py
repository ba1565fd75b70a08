"""Tests that an objective has the properties that theory and its traits state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairfl.claims.lemma import LemmaReport, check_lemma

if TYPE_CHECKING:
    from fairfl.theory.aggregation import Objective

Property = Callable[["Objective", "np.ndarray", "np.ndarray", float], float]
"""objective, two loss vectors, a number in (0, 1) -> a number that is >= 0 where it holds."""
WIDTH = 4.0
"""Losses are drawn within this distance of the domain's finite bound, or of 0."""
CLOSE, COMPUTED = 1e-8, 1e-5
"""Relative tolerances: of comparisons, and of those that use a computed conjugate."""


@dataclass(frozen=True)
class ObjectiveReport:
    """Results of an objective's tests; true as a condition where every property holds.

    Attributes
    ----------
    objective : the tested objective.
    properties : a :class:`~fairfl.claims.lemma.LemmaReport` for each by name.
    notes : remarks that are no errors: a computed conjugate, a trait that is False and was not
        refuted.
    """

    objective: Objective
    properties: Mapping[str, LemmaReport]
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return all(report.level is not None for report in self.properties.values())

    def __str__(self) -> str:
        width = max(map(len, self.properties))
        lines = [f"{self.objective!r}"]
        for name, report in self.properties.items():
            verdict = f"holds, {report.examples} examples"
            if report.level is None:
                verdict = f"FAILS at {report.counterexample}"
            lines.append(f"  {name:<{width}}  {verdict}")
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


def check_objective(
    objective: Objective, *, clients: int | None = None, examples: int = 200, seed: int = 0
) -> ObjectiveReport:
    """Test that an objective's value, gradient, conjugate and traits belong to one function.

    Fenchel-Young with equality at the dual weights (so that the conjugate's conjugate is A again),
    the gradient, monotonicity, the domain, and what the traits say: convexity, symmetry,
    translation equivariance, positive homogeneity, Schur convexity. A trait that is None is not
    tested; for one that is False a counterexample is sought.

    Parameters
    ----------
    objective : of :mod:`fairfl.theory.aggregation`, or one's own subclass.
    clients : n of the losses; by default 3, or the objective's number of weights.
    examples, seed : number of loss vectors drawn for each property, and the seed.

    Returns
    -------
    A report, true as a condition; ``print`` shows a table, with a counterexample made small where a
    property fails.

    Raises
    ------
    ValueError : what is no objective.

    Examples
    --------
    >>> import fairfl as ff
    >>> from fairfl.theory.aggregation import TERM
    >>> bool(ff.check_objective(TERM(2.0), examples=50))
    True
    """
    from fairfl.theory.aggregation import Objective

    if not isinstance(objective, Objective):
        raise ValueError(f"objective must be an aggregation objective, got {objective!r}")
    report = _tested(objective, clients or objective._fixed_n or 3, examples, seed)
    reports = {name: report(name, *row) for name, row in stated(objective).items()}
    notes = [] if objective.closed_conjugate else ["the conjugate is computed"]
    for name, holds in TRAITS.items():
        trait = getattr(objective.traits, name)
        is_denied = trait is not None and not trait
        if is_denied and report(name, holds, CLOSE).level is not None:
            notes.append(f"{name} is False, and held at every loss that was drawn")
    return ObjectiveReport(objective, reports, tuple(notes))


def _tested(
    objective: Objective, clients: int, examples: int, seed: int
) -> Callable[[str, Property, float], LemmaReport]:
    """name, property, tolerance relative to the losses -> its test on pairs of loss vectors, and a
    number, that are drawn strictly inside the objective's domain: at a bound a gradient may be
    infinite.
    """
    from hypothesis import strategies as st

    box, percent = objective.domain, st.integers(1, 99)
    lower, upper = (np.full(clients, side, float) for side in (box.lower, box.upper))
    low = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper, 0) - WIDTH)
    high = np.where(np.isfinite(upper), upper, low + 2 * WIDTH)
    shares = st.lists(percent, min_size=clients, max_size=clients)
    scale = 1 + float(np.abs([low, high]).max())

    def report(name: str, holds: Property, tolerance: float) -> LemmaReport:
        def margin(f: list[int], g: list[int], t: int) -> float:
            first, second = (low + (high - low) * np.array(part) / 100 for part in (f, g))
            return float(holds(objective, first, second, t / 100))

        margin.__doc__ = name
        instances = st.fixed_dictionaries({"f": shares, "g": shares, "t": percent})
        tolerance *= scale
        return check_lemma(margin, instances, tolerance=tolerance, examples=examples, seed=seed)

    return report


def stated(objective: Objective) -> dict[str, tuple[Property, float]]:
    """The properties that an objective must have by its traits, and their relative tolerances."""
    rows = {name: (holds, CLOSE) for name, holds in ALWAYS.items()}
    if objective.traits.convex or objective.closed_conjugate:
        tolerance = CLOSE if objective.closed_conjugate else COMPUTED
        rows |= {name: (holds, tolerance) for name, holds in DUAL.items()}
    if objective.traits.smooth:
        rows["gradient"] = _gradient, 1e-4
    for name, holds in TRAITS.items():
        if getattr(objective.traits, name):
            rows[name] = holds, CLOSE
    return rows


def _finite(A: Objective, f: np.ndarray, g: np.ndarray, t: float) -> float:
    value, weights = A.value_and_dual_weights(f)
    return 1.0 if np.isfinite(value) and np.isfinite(weights).all() else -1.0


def _monotone(A: Objective, f: np.ndarray, g: np.ndarray, t: float) -> float:
    return min(float(A.value(np.maximum(f, g)) - A.value(f)), float(A.dual_weights(f).min()))


def _domain(A: Objective, f: np.ndarray, g: np.ndarray, t: float) -> float:
    """Losses outside raise an error, on each bounded side."""
    for side, step in ((A.domain.lower, -t), (A.domain.upper, t)):
        outside = f.copy()
        outside[0] = np.broadcast_to(side, f.shape)[0] + step
        if np.isfinite(outside[0]):
            try:
                A.value(outside)
            except ValueError:
                continue
            return -1.0
    return 1.0


def _young(A: Objective, f: np.ndarray, g: np.ndarray, t: float) -> float:
    """w.f <= A(f) + A*(w) at the dual weights w of another loss vector."""
    w = A.dual_weights(g)
    return float(A.value(f) + A.conjugate(w) - w @ f)


def _equality(A: Objective, f: np.ndarray, g: np.ndarray, t: float) -> float:
    value, w = A.value_and_dual_weights(f)
    return -abs(float(value + A.conjugate(w) - w @ f))


def _gradient(A: Objective, f: np.ndarray, g: np.ndarray, t: float) -> float:
    """Compared with a central difference towards g, which stays inside the domain."""
    step = 1e-5 * (g - f)
    slope = (A.value(f + step) - A.value(f - step)) / 2
    return -abs(float(slope - A.dual_weights(f) @ step)) / 1e-5


def _convex(A: Objective, f: np.ndarray, g: np.ndarray, t: float) -> float:
    """Above its tangent, and below its chord."""
    above = A.value(g) - A.value(f) - A.dual_weights(f) @ (g - f)
    below = t * A.value(f) + (1 - t) * A.value(g) - A.value(t * f + (1 - t) * g)
    return min(float(above), float(below))


def _symmetric(A: Objective, f: np.ndarray, g: np.ndarray, t: float) -> float:
    return -abs(float(A.value(np.roll(f, 1)) - A.value(f))) - abs(
        float(A.value(f[::-1].copy()) - A.value(f))
    )


def _equivariant(A: Objective, f: np.ndarray, g: np.ndarray, t: float) -> float:
    shift = t * float((g - f)[np.argmin(np.abs(g - f))])
    moved = f + shift
    if not A.domain.contains(moved):
        moved, shift = f, 0.0
    return -abs(float(A.value(moved) - A.value(f) - shift))


def _homogeneous(A: Objective, f: np.ndarray, g: np.ndarray, t: float) -> float:
    factor = t if A.domain.contains(t * f) else 1.0
    return -abs(float(A.value(factor * f) - factor * A.value(f)))


def _schur(A: Objective, f: np.ndarray, g: np.ndarray, t: float) -> float:
    """A mixture of f and of f with its clients exchanged is majorised by f."""
    return float(A.value(f) - A.value(t * f + (1 - t) * np.roll(f, 1)))


ALWAYS: dict[str, Property] = {"finite": _finite, "monotone": _monotone, "domain": _domain}
DUAL: dict[str, Property] = {"Fenchel-Young": _young, "equality at the dual weights": _equality}
TRAITS: dict[str, Property] = {
    "convex": _convex,
    "symmetric": _symmetric,
    "translation_equivariant": _equivariant,
    "positively_homogeneous": _homogeneous,
    "schur_convex": _schur,
}
