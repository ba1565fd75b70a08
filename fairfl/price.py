"""The price of not pooling: what the three schemes reach on one federation, side by side and in plain words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fairfl.solvers.api import SCHEMES, solve
from fairfl.solvers.frontier import Frontier
from fairfl.solvers.frontiers import frontier
from fairfl.theory.checks import in_range
from fairfl.theory.federation import Federation

LABELS = {"cfl": "CFL", "lft_fedavg": "LFT+FedAvg", "lft_ensemble": "LFT+Ensemble"}
"""The schemes by name, best first."""
WORDS = {
    "cfl": "pooling all data",
    "lft_fedavg": "FedAvg with local constraints",
    "lft_ensemble": "an ensemble of locally fair models",
}
COMMON = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7)
"""Disparities at which accuracies are compared, as far as they are below the most accurate classifier's."""
TALKED = 0.05
"""The disparity that is put in words: the one nearest to this."""
NEGLIGIBLE = 5e-6
"""Losses of accuracy below this are called none: they print as 0.000 percentage points."""

ZERO = 1e-12
"""Disparities below this are called zero."""

Progress = Callable[[str], None]
"""Called with a scheme before its frontier is computed."""


@dataclass(frozen=True)
class Reach:
    """What one scheme reaches.

    Attributes
    ----------
    frontier : its trade-off; the first point is its smallest disparity, the last its most accurate classifier.
    at : accuracy at each disparity of the comparison, None where that is below the smallest reachable one.
    loss : the most accuracy it loses against CFL at one and the same disparity, over its frontier's points.
    loss_at : the disparity of that point.
    """

    frontier: Frontier
    at: tuple[float | None, ...]
    loss: float
    loss_at: float

    @property
    def smallest(self) -> float:
        """The smallest reachable disparity."""
        return float(self.frontier.disparity[0])


@dataclass(frozen=True)
class Comparison:
    """The three schemes on one federation of two groups.

    Attributes
    ----------
    groups, clients : names.
    weight : (I,) the clients' masses.
    rates : acceptance rates of the two groups under the most accurate classifier.
    disparities : where accuracies are compared.
    asked : whether the disparities were asked for; all of them are put in words then.
    reaches : by scheme, best first.
    """

    groups: tuple[str, str]
    clients: tuple[str, ...]
    weight: tuple[float, ...]
    rates: tuple[float, float]
    disparities: tuple[float, ...]
    asked: bool
    reaches: dict[str, Reach]

    def sentences(self) -> list[str]:
        """The comparison in plain words."""
        cfl = self.reaches["cfl"].frontier
        low, high = (0, 1) if self.rates[0] <= self.rates[1] else (1, 0)
        out = [
            f"With no constraint, {percent(cfl.accuracy[-1])} of the decisions are right; group {self.groups[high]} is "
            f"accepted at a rate of {number(self.rates[high])}, group {self.groups[low]} of {number(self.rates[low])}: "
            f"a disparity of {number(cfl.disparity[-1])}.",
            f"Perfect fairness (disparity 0) costs {points(cfl.accuracy[-1] - cfl.accuracy[0])} when the data are "
            f"pooled: {percent(cfl.accuracy[0])} are right.",
        ]
        out += [self._at(k) for k in self._talked()]
        out += [self._price(scheme) for scheme in ("lft_fedavg", "lft_ensemble")]
        return out

    def _talked(self) -> list[int]:
        if self.asked:
            return list(range(len(self.disparities)))
        return [int(np.argmin([abs(np.log(d / TALKED)) for d in self.disparities]))] if self.disparities else []

    def _at(self, k: int) -> str:
        parts = []
        best = self.reaches["cfl"].at[k]
        for scheme, reach in self.reaches.items():
            got = reach.at[k]
            if got is None or best is None:
                verb = "was found to reach no less than" if _searched(reach) else "cannot get below"
                parts.append(f"{WORDS[scheme]} {verb} {number(reach.smallest)}")
            elif scheme == "cfl":
                parts.append(f"{WORDS[scheme]} reaches {percent(got)} accuracy")
            else:
                less = f"{points(best - got)} less" if best - got > NEGLIGIBLE else "no less"
                parts.append(f"{WORDS[scheme]} reaches {percent(got)} ({less})")
        return f"At a disparity of {self.disparities[k]:g}, {'; '.join(parts)}."

    def _price(self, scheme: str) -> str:
        reach = self.reaches[scheme]
        who = WORDS[scheme][0].upper() + WORDS[scheme][1:]
        ends = reach.smallest
        none = "was found no fairer" if _searched(reach) else "gets no fairer"
        fair = "reaches perfect fairness" if ends < ZERO else f"{none} than a disparity of {number(ends)}"
        if reach.loss <= NEGLIGIBLE:
            return f"{who} {fair}, and loses no accuracy against pooling at any disparity that it reaches."
        return (
            f"{who} {fair}, and loses at most {points(reach.loss)} of accuracy against pooling at the same disparity "
            f"(at {number(reach.loss_at)})."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        schemes = [
            {
                "scheme": scheme,
                "smallest_disparity": reach.smallest,
                "accuracy_at_smallest": float(reach.frontier.accuracy[0]),
                "best_accuracy": float(reach.frontier.accuracy[-1]),
                "disparity_at_best": float(reach.frontier.disparity[-1]),
                "at": [{"disparity": d, "accuracy": v} for d, v in zip(self.disparities, reach.at, strict=True)],
                "largest_loss_against_cfl": reach.loss,
                "frontier": {
                    "disparity": reach.frontier.disparity.tolist(),
                    "accuracy": reach.frontier.accuracy.tolist(),
                    "eps": reach.frontier.eps.tolist(),
                },
            }
            for scheme, reach in self.reaches.items()
        ]
        return {
            "groups": list(self.groups),
            "clients": [{"name": n, "weight": w} for n, w in zip(self.clients, self.weight, strict=True)],
            "unconstrained_rates": list(self.rates),
            "schemes": schemes,
            "in_words": self.sentences(),
        }

    def to_frame(self, panel: str) -> pd.DataFrame:
        """The three frontiers as one table, laid out as the figures' are (see figures.frontier_panels)."""
        parts = []
        cfl = self.reaches["cfl"].frontier
        for reach in self.reaches.values():
            frame = reach.frontier.to_frame()
            frame.insert(0, "panel", panel)
            frame.insert(2, "minimum", frame.index == 0)
            frame.insert(5, "below_cfl", cfl.accuracy_at(reach.frontier.disparity) - reach.frontier.accuracy)
            parts.append(frame)
        return pd.concat(parts, ignore_index=True)


def compare(
    federation: Federation,
    *,
    at: Sequence[float] | None = None,
    count: int = 60,
    groups: tuple[str, str] = ("0", "1"),
    clients: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compute the three frontiers of a federation and what they say.

    Parameters
    ----------
    federation : two groups.
    at : disparities in [0, 1] at which to compare accuracies; by default a few round numbers.
    count : points a frontier, at least 2.
    groups, clients : names to use; clients are numbered by default.
    progress : see :data:`Progress`.

    Raises
    ------
    ValueError : more than two groups, or a disparity out of range.  CertificationError : see :func:`solve`.
    """
    if federation.n_groups != 2:
        raise ValueError(f"two groups are needed to compare the schemes, this federation has {federation.n_groups}")
    if at is not None:
        in_range("at", list(at), 0, 1)
    found: dict[str, Frontier] = {}
    for scheme in LABELS:
        assert scheme in SCHEMES
        if progress is not None:
            progress(scheme)
        found[scheme] = frontier(federation, scheme, count)
    cfl = found["cfl"]
    top = float(cfl.disparity[-1])
    disparities = tuple(sorted(set(at))) if at else tuple(d for d in COMMON if d < top)[-5:]
    rates = solve(federation, "cfl", np.inf).classifier.group_rates(federation)
    reaches = {}
    for scheme, curve in found.items():
        loss = cfl.accuracy_at(curve.disparity) - curve.accuracy
        k = int(np.argmax(loss))
        reached = tuple(float(curve.accuracy_at(d)) if d >= curve.disparity[0] else None for d in disparities)
        reaches[scheme] = Reach(curve, reached, float(loss[k]), float(curve.disparity[k]))
    named = tuple(clients) if clients is not None else tuple(str(i) for i in range(federation.n_clients))
    weight = tuple(float(w) for w in federation.weight)
    return Comparison(groups, named, weight, (float(rates[0]), float(rates[1])), disparities, bool(at), reaches)


def percent(value: float) -> str:
    """An accuracy, such as 83.12 %."""
    return f"{100 * value:.2f} %"


def points(value: float) -> str:
    """A difference of accuracies in percentage points, such as 1.12 points."""
    return f"{100 * value:.2f} points" if abs(value) >= 5e-5 else f"{100 * value:.3f} points"


def number(value: float) -> str:
    """A disparity or a rate, three digits; rounding errors are zero."""
    return "0" if abs(value) < ZERO else f"{value:.3g}"


def _searched(reach: Reach) -> bool:
    """Whether its smallest disparity is what a search found; LFT+Ensemble's is known even where its curve is not."""
    return reach.frontier.scheme == "lft_fedavg" and not reach.frontier.exact
