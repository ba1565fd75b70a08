"""A federation of densities: tail probabilities of every client and group, and the gain u_a(x)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial

import numpy as np

from fairfl._support.checks import Array
from fairfl.theory.numerics.piecewise import Piecewise, build
from fairfl.theory.populations.eta import Eta
from fairfl.theory.populations.laws import Law, Normal
from fairfl.theory.populations.stacked_laws import stack


class ContinuousModel:
    """Laws x | a, i with densities p_a^(i) and regression functions η_a^(i), for two groups.

    Parameters
    ----------
    laws : I pairs of :class:`Law`.
    etas : I pairs of :class:`Eta`.
    weight : (I,) client masses summing to one.
    share : (I, 2) P(a | i).
    """

    def __init__(
        self,
        laws: Sequence[tuple[Law, Law]],
        etas: Sequence[tuple[Eta, Eta]],
        weight: Array,
        share: Array,
    ) -> None:
        self.laws, self.etas = tuple(laws), tuple(etas)
        self.mass = weight[:, None] * share
        stacked = stack(self.laws)
        self.sf, self.sf_of, self.pdf = stacked.sf, stacked.sf_of, stacked.pdf
        self.log_tails_of, self.own_log_tails = stacked.log_tails_of, stacked.own_log_tails
        self.interval_masses = stacked.interval_masses
        # one η for everybody in a group: the pooled gain then changes sign once, and thresholds
        # solve CFL
        self.shared_within_group = all(
            len({id(e[a]) for e in etas}) == 1 or len({e[a] for e in etas}) == 1 for a in (0, 1)
        )
        self._profiles: dict[int, Piecewise] = {}
        self._gains: dict[int, Piecewise] = {}

    def margins(self, a: int, x: Array) -> Array:
        """2η_a^(i)(x) - 1: shape (I, *x.shape)."""
        if self.shared_within_group:
            return np.broadcast_to(2.0 * self.etas[0][a](x) - 1.0, (len(self.etas), *x.shape))
        return np.stack([2.0 * pair[a](x) - 1.0 for pair in self.etas])

    @cached_property
    def rounding(self) -> tuple[float, float, float]:
        """(mass, x, step): the most that a law passes within one rounding of x, where, and how wide
        that is.

        No answer that depends on thresholds can be more exact than ``mass``: x itself is a double.
        """
        worst = (0.0, 0.0, 0.0)
        for law in dict.fromkeys(law for pair in self.laws for law in pair):
            # inside: a density may have poles at its breaks
            x = (law.breaks[1:] + law.breaks[:-1]) / 2
            step = np.spacing(np.abs(x))
            passed = np.asarray(law.pdf(x)) * step
            k = int(passed.argmax())
            worst = max(worst, (float(passed[k]), float(x[k]), float(step[k])))
        return worst

    def gain(self, a: int) -> Piecewise:
        """The gain u_a(x) = Σ_i P(a, i) p_a^(i)(x) (2η_a^(i)(x) - 1) and the mass Σ_i P(a, i)
        p_a^(i)(x), expanded.
        """
        if a not in self._gains:
            weights = self.mass[:, a]

            def combine(x: Array, p: Array) -> Array:
                weighted = weights[:, None, None] * p
                return np.stack([(weighted * self.margins(a, x)).sum(axis=0), weighted.sum(axis=0)])

            self._gains[a] = self._build(a, combine)
        return self._gains[a]

    def profile(self, a: int) -> Piecewise:
        """The gain u_a and every client's density p_a^(i), expanded on common panels: (I+1)
        functions.
        """
        if a not in self._profiles:
            weights = self.mass[:, a]

            def combine(x: Array, p: Array) -> Array:
                gain = np.einsum("i,ipn,ipn->pn", weights, p, self.margins(a, x))
                return np.concatenate([gain[None], p])

            self._profiles[a] = self._build(a, combine)
        return self._profiles[a]

    def _build(self, a: int, combine) -> Piecewise:  # type: ignore[no-untyped-def]
        laws = [pair[a] for pair in self.laws]
        low, high = min(law.low for law in laws), max(law.high for law in laws)
        if len(laws) <= 8:
            points = np.concatenate(
                [law.breaks for law in laws] + [pair[a].breaks for pair in self.etas]
            )
        else:  # hundreds of clients: common panels, their masses checked by ``build`` all the same
            points = np.concatenate([np.linspace(low, high, 33), self.etas[0][a].breaks])
            points = np.append(
                points,
                [end for law in laws for end in (law.low, law.high) if not isinstance(law, Normal)],
            )
        points = np.unique(np.concatenate([np.clip(points, low, high), [low, high]]))
        keep = np.append(True, np.diff(points) > 1e-12 * np.abs(points[1:]))
        points = points[keep]
        return build(partial(self.pdf, a), partial(self.interval_masses, a), combine, points)

    @cached_property
    def expected_gain(self) -> float:
        """Σ_a ∫ u_a = 2 P(y=1) - 1."""
        return float(sum(self.gain(a).totals[0] for a in (0, 1)))

    def base_rate(self, mass: Array) -> float:
        """P(y = 1)."""
        return (1.0 + self.expected_gain) / 2.0
