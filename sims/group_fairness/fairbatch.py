"""FairBatch's outer step: λ moves along μ and is projected onto its set."""

from dataclasses import dataclass

import numpy as np

from fairfl._support.checks import in_range, one_of, positive
from fairfl.sims.engine import CellSums, Floats
from fairfl.sims.group_fairness.notions import NOTIONS, BilevelProblem
from fairfl.theory.numerics.projections import soft_threshold

NEEDS: dict[str, frozenset[str]] = {
    "loss": frozenset(("loss",)),
    "acceptance": frozenset(("accepting",)),
    "zero_one": frozenset(("wrong",)),
}
"""Entries of ``group_label_sums.CellSums`` that each surrogate needs; see ``FairBatch``."""


ROUNDING = 1e-12
"""Smaller multipliers are zero: λ_a is a sum of a multiplier and a share of people."""
NOISE = 1e-9
"""Directions shorter than this are zero: masked reports are rounded to multiples of 2^-36."""


@dataclass(frozen=True)
class FairBatch:
    r"""λ ← Π(λ + α_t μ / ||μ||), α_t = α / (t + 1)^decay, t the number of steps before; no step
    where μ is 0 to rounding.

    Parameters
    ----------
    notion : "dp", "eo", "eodds" or "cp", see ``notions.py``
    alpha : > 0; length of a step of λ before the projection.
    decay : >= 0; 0 as in FedFB's experiments; theorem 24 wants α_t -> 0 with a divergent sum, decay
        in (0, 1].
    surrogate : "loss", "acceptance" or "zero_one"; the losses in F. "loss": the training loss ℓ(y,
        ŷ), as FedFB prints it. "acceptance": ℓ(1, ŷ) for label 1, and 1 - ℓ(1, ŷ) in place of ℓ(0,
        ŷ), the step of proposition 5's proof that 0-1 loss allows, taken for any loss; then F_a is
        the difference of the groups' mean losses of being accepted, which is what Roh et al.
        compare. "zero_one": errors, of which F_a is the disparity itself. For 0-1 loss the three
        are one.
    normalised : False is the step λ + α_t μ, which shrinks with the disparity, as FedFB's published
        code has it: its grid of α up to 2 makes sense for that step alone, for λ is within [0, 2].
    budget : >= 0; ε of |F_a| <= ε, in the unit of F: a rate of people with "zero_one", a mean loss
        with the others. δ_a = λ_a - λ_a^(0) is the multiplier of F_a <= ε where it is positive, and
        of -F_a <= ε where it is negative. A step is one of proximal ascent on the dual, δ_a <-
        soft(δ_a + s F_a, s ε), s = α_t / ||μ||, in whose norm F_a is less the end of [-ε, ε] that
        δ_a stands for (the nearest one where δ_a = 0). So δ_a grows where F_a > ε, falls where F_a
        < -ε, and where |F_a| < ε returns to 0 without crossing it: complementary slackness. ε = 0
        is FedFB's.
    projection : "box" or "sum"; parity alone: "box" is the set of (6), λ_a in [0, 2 n_a / n]. Steps
        keep sum_a λ_a = 1, clipping each λ_a for itself does not; and F = 0 is one equation a
        group, so that off this plane it has other solutions: fair, but not the most accurate that
        are (the weights of lemma 7 are those on it). "sum" projects on box and plane.

    Errors: ValueError for anything else.
    Source: Roh et al., FairBatch (ICLR 2021); FedFB, eqs. (8)-(9), which do not say what holds λ in
    the set of (6): here the Euclidean projection.
    """

    notion: str = "dp"
    alpha: float = 0.1
    decay: float = 0.0
    surrogate: str = "loss"
    normalised: bool = True
    budget: float = 0.0
    projection: str = "box"

    def __post_init__(self) -> None:
        one_of("notion", self.notion, tuple(NOTIONS))
        positive("alpha", self.alpha)
        in_range("decay", self.decay, 0.0, 1e300)
        one_of("surrogate", self.surrogate, ("loss", "acceptance", "zero_one"))
        in_range("budget", self.budget, 0.0, 1e300)
        one_of("projection", self.projection, ("box", "sum"))

    @property
    def rules(self) -> BilevelProblem:
        """The notion's formulas."""
        return NOTIONS[self.notion]

    @property
    def signed(self) -> bool:
        """Whether a statistic may be negative: of label 0 1 - ℓ(1, ŷ) is, where ℓ > 1."""
        return self.rules.signed or (self.surrogate == "acceptance" and self.notion != "eo")

    def sums(self, cells: CellSums) -> Floats:
        """Sums of the surrogate (k, A, 2), from which the statistics follow."""
        if self.surrogate != "acceptance":
            return cells.loss if self.surrogate == "loss" else cells.wrong
        return np.stack(
            [cells.counts[:, :, 0] - cells.accepting[:, :, 0], cells.accepting[:, :, 1]], axis=2
        )

    def step(
        self, lam: Floats, total: Floats, people: Floats, number: int, budgets: Floats | None = None
    ) -> Floats:
        """The next λ (..., L), from the sum of the reports (..., S), after ``number`` steps;
        ``budgets`` (..., 1) in place of ``budget``.
        """
        rules, mu = self.rules, self.rules.direction(total, people)
        eps = np.float64(self.budget) if budgets is None else budgets
        offset, gaps = rules.free(lam, people), rules.gaps(mu)
        offset = np.where(np.abs(offset) < ROUNDING, 0.0, offset)
        # the dual's steepest direction: F_a less the multiplier's end of [-ε, ε]
        pressing = np.where(offset == 0, soft_threshold(gaps, eps), gaps - np.sign(offset) * eps)
        direction = rules.follow(pressing)
        length = np.sqrt(direction[..., None, :] @ direction[..., None])[..., 0]
        length = np.where(length <= NOISE, 0.0, length if self.normalised else 1.0)  # 0: no step
        step = self._rate(number) / np.where(length == 0, 1.0, length)
        moved = soft_threshold(offset + step * gaps, step * eps)
        change = np.where(eps == 0, step * mu, rules.follow(moved - offset))
        project = rules.project if self.projection == "box" else rules.project_sum
        return np.where(length == 0, lam, project(lam + change, people))

    def _rate(self, number: int) -> float:
        """α_t."""
        return self.alpha / (number + 1) ** self.decay
