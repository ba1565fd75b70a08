"""The result of solve_minimax: the point, the losses, their dual weights, and the certificate."""

from dataclasses import dataclass

from numpy.typing import ArrayLike

from fairfl._support.checks import Array
from fairfl._support.tabular import Tabular
from fairfl.solvers.solution import CertificationError
from fairfl.theory.aggregation import Objective


@dataclass(frozen=True)
class MinimaxCertificate:
    """Evidence that a point minimises A(f(θ)): PropFair, eq. (14), read as optimality conditions.

    A point is optimal for convex losses iff some λ >= 0 has A(f) + A*(λ) = λ.f (λ is a dual weight
    vector at f) and θ minimises Σ_i λ_i f_i (stationarity, where nothing constrains θ).

    Attributes
    ----------
    value : A(f(θ)).
    stationarity : ||Σ_i λ_i ∇f_i(θ)||, in units of loss per unit of θ.
    gradient_scale : Σ_i λ_i ||∇f_i(θ)||, what cancels in that sum.
    fenchel_gap : A(f) + A*(λ) - λ.f >= 0; where A* has no closed form and λ is the gradient of A, 0
        by Fenchel's equality.
    lower : no θ' within ``radius`` of θ has A(f(θ')) below it, if the f_i are convex: then a θ'
        farther away, at distance D, is below ``value`` by (D / radius) (value - lower) at most.
    radius : Euclidean distance.
    """

    value: float
    stationarity: float
    gradient_scale: float
    fenchel_gap: float
    lower: float
    radius: float

    @property
    def gap(self) -> float:
        """value - lower (non-negative up to rounding): what can be gained within ``radius``, for
        convex losses.
        """
        return self.value - self.lower

    def check(self, tolerance: float, advice: str) -> None:
        """Raise CertificationError unless the Fenchel gap, relative to 1 + |value|, and the
        stationarity, relative to 1 + gradient_scale, are within ``tolerance``.
        """
        parts = {
            "Fenchel gap": self.fenchel_gap / (1 + abs(self.value)),
            "stationarity": self.stationarity / (1 + self.gradient_scale),
        }
        if not all(abs(part) <= tolerance for part in parts.values()):
            shown = ", ".join(f"{name} {part:.3g}" for name, part in parts.items())
            raise CertificationError(
                f"no minimum certified to {tolerance:g} (relative): {shown}; {advice}"
            )


@dataclass(frozen=True, eq=False)
class MinimaxSolution(Tabular):
    """A certified minimum of A(f(θ)).

    Attributes
    ----------
    objective : A.
    theta : (d,) the minimiser.
    losses : (n,) f(θ).
    dual_weights : (n,) λ; training FedAvg with these weights instead of 1/n has the same stationary
        point.
    value : A(f(θ)).
    certificate : see MinimaxCertificate.
    iterations : evaluations of the losses.
    """

    objective: Objective
    theta: Array
    losses: Array
    dual_weights: Array
    value: float
    certificate: MinimaxCertificate
    iterations: int

    def _columns(self) -> dict[str, ArrayLike]:
        return {"loss": self.losses, "dual_weight": self.dual_weights}
