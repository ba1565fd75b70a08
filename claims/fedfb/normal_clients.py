"""Two normal groups of common spread, q = 1/2, logistic η: g_i and its root in closed form, in ball
arithmetic.

With t = η⁻¹(1/2 + λ), -t = η⁻¹(1/2 - λ): g_i = Φ((t - μ_1)/σ) - Φ((-t - μ_0)/σ), (42), so g_i = 0
at t = (μ_1 - μ_0)/2.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from fairfl.claims.exact import phi


@dataclass(frozen=True)
class NormalClient:
    """x | a ~ N(mean[a], sd²), exact numbers."""

    mean: tuple[Fraction, Fraction]
    sd: Fraction

    @property
    def root(self) -> Fraction:
        """t where g_i = 0."""
        return (self.mean[1] - self.mean[0]) / 2

    def g(self, t: Fraction) -> arb:
        """g_i at the λ with η⁻¹(1/2 + λ) = t."""
        return phi((t - self.mean[1]) / self.sd) - phi((-t - self.mean[0]) / self.sd)


def clients(instance: dict[str, Any]) -> tuple[NormalClient, NormalClient]:
    """The two clients of an instance, in exact numbers."""
    wide, narrow, sd = (tuple(map(Fraction, instance[name])) for name in ("wide", "narrow", "sd"))
    return NormalClient((wide[0], wide[1]), sd[0]), NormalClient((narrow[0], narrow[1]), sd[1])


def ends(first: NormalClient, second: NormalClient) -> tuple[arb, arb]:
    """The least and the largest MD of LFT+Ensemble for g_0(0) <= 0 <= g_1(0): t_0 in [0, root_0],
    t_1 in [root_1, 0].

    MD = Σ_ij g_i(t_j)/4, each term increasing in t_j.
    """
    zero = Fraction(0)
    low = first.g(zero) + second.g(zero) + first.g(second.root) + second.g(second.root)
    high = first.g(first.root) + second.g(first.root) + first.g(zero) + second.g(zero)
    return low / 4, high / 4
