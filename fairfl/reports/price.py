"""The price of not pooling: what the three schemes reach on one federation, side by side and in plain words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from fairfl._support.checks import Array, in_range
from fairfl.reports.sampling import FEWEST, LEVEL, HeldOut, Progress, Sample, Spread, bootstrap, held_out
from fairfl.solvers.api import SCHEMES, frontier, solve
from fairfl.solvers.frontier import Frontier
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.federation import Federation

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
GRID = 60
"""Disparities, evenly spread, that losses are sought at besides those of the frontiers' points."""
ENDS = ("smallest_disparity", "accuracy_at_smallest", "best_accuracy", "disparity_at_best", "largest_loss_against_cfl")
"""What is measured of each scheme, before its accuracies at the disparities of the comparison."""


@dataclass(frozen=True)
class Reach:
    """What one scheme reaches.

    Attributes
    ----------
    frontier : its trade-off; the first point is its smallest disparity, the last its most accurate classifier.
    at : accuracy at each disparity of the comparison, None where that is below the smallest reachable one.
    loss : the most accuracy it loses against CFL at one and the same disparity, over all that both reach: the points of
        all frontiers, and a grid.
    loss_at : that disparity.
    """

    frontier: Frontier
    at: tuple[float | None, ...]
    loss: float
    loss_at: float

    @property
    def smallest(self) -> float:
        """The smallest reachable disparity."""
        return float(self.frontier.disparity[0])

    @property
    def numbers(self) -> list[float]:
        """``ENDS``, and the accuracies ``at``, NaN for None."""
        disparity, accuracy = self.frontier.disparity, self.frontier.accuracy
        ends = [self.smallest, float(accuracy[0]), float(accuracy[-1]), float(disparity[-1]), self.loss]
        return ends + [float("nan") if value is None else value for value in self.at]


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
    people : how many, where the federation was made of people.
    spread : of ``numbers`` (schemes, ENDS and disparities), where people were drawn anew.
    held : of rules (schemes, the smallest disparity, the disparities, the best accuracy), where some were held out.
    """

    groups: tuple[str, str]
    clients: tuple[str, ...]
    weight: tuple[float, ...]
    rates: tuple[float, float]
    disparities: tuple[float, ...]
    asked: bool
    reaches: dict[str, Reach]
    people: int | None = None
    spread: Spread | None = None
    held: HeldOut | None = None

    @property
    def numbers(self) -> Array:
        """(schemes, ENDS and disparities)."""
        return np.array([reach.numbers for reach in self.reaches.values()])

    def between(self, scheme: str, column: int) -> tuple[float, float] | None:
        """The interval of one of the numbers, None where there is none."""
        if self.spread is None:
            return None
        low, high = (float(v) for v in self.spread.interval[list(self.reaches).index(scheme), column])
        return None if np.isnan(low) or high - low < ZERO else (low, high)

    def sentences(self) -> list[str]:
        """The comparison in plain words."""
        cfl = self.reaches["cfl"].frontier
        low, high = (0, 1) if self.rates[0] <= self.rates[1] else (1, 0)
        these = "" if self.people is None else f" for these {self.people:,} people"
        out = [
            f"With no constraint, {self._share('cfl', 2)} of the decisions are right{these}; group {self.groups[high]} "
            f"is accepted at a rate of {number(self.rates[high])}, group {self.groups[low]} of "
            f"{number(self.rates[low])}: a disparity of {self._disparity('cfl', 3)}.",
            f"Perfect fairness (disparity 0) costs {points(cfl.accuracy[-1] - cfl.accuracy[0])} when the data are "
            f"pooled: {self._share('cfl', 1)} are right.",
        ]
        out += [self._at(k) for k in self._talked()]
        out += [self._price(scheme) for scheme in ("lft_fedavg", "lft_ensemble")]
        return [*out, *self._sampled()]

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
                parts.append(f"{WORDS[scheme]} {verb} {self._disparity(scheme, 0)}{self._here()}")
                continue
            an_accuracy = "an accuracy of " if scheme == "cfl" else ""
            parts.append(f"{WORDS[scheme]} reaches {an_accuracy}{self._share(scheme, len(ENDS) + k)}")
            if scheme != "cfl":
                found = "" if reach.frontier.exact else " as far as a search found"
                parts[-1] += f", {points(best - got)} less{found}" if best - got > NEGLIGIBLE else ", no less"
        return f"At a disparity of {self.disparities[k]:g}, {'; '.join(parts)}."

    def _price(self, scheme: str) -> str:
        reach = self.reaches[scheme]
        who = WORDS[scheme][0].upper() + WORDS[scheme][1:]
        none = "was found no fairer" if _searched(reach) else "gets no fairer"
        fair = f"{none}{self._here()} than a disparity of {self._disparity(scheme, 0)}"
        if reach.smallest < ZERO:
            fair = f"reaches perfect fairness{self._here()}"
        if reach.loss <= NEGLIGIBLE:
            return f"{who} {fair}, and loses no accuracy against pooling at any disparity that it reaches."
        found = "" if reach.frontier.exact else ", as far as a search found: it may be less"
        return (
            f"{who} {fair}, and loses at most {points(reach.loss)}{_brackets(self.between(scheme, 4), points)} of "
            f"accuracy against pooling at the same disparity (at {number(reach.loss_at)}){found}."
        )

    def _here(self) -> str:
        return "" if self.people is None else " on these people"

    def _share(self, scheme: str, column: int) -> str:
        value = self.reaches[scheme].numbers[column]
        return percent(value) + _brackets(self.between(scheme, column), percent)

    def _disparity(self, scheme: str, column: int) -> str:
        value = self.reaches[scheme].numbers[column]
        return number(value) + _brackets(self.between(scheme, column), number)

    def _sampled(self) -> list[str]:
        """What was done about people being a sample."""
        out = []
        if self.spread is not None and np.isfinite(self.spread.interval).any():
            failed = f", {self.spread.failed} more not certified" if self.spread.failed else ""
            out.append(
                f"In brackets and below numbers: approximate {100 * LEVEL:.0f} % intervals for all people such as "
                f"these, from {self.spread.bootstraps} bootstraps{failed} (seed {self.spread.seed}): people drawn anew "
                "at each client, P(y = 1 | x) fitted anew, all computed anew."
            )
        elif self.spread is not None:
            out.append(
                f"No intervals, which take {FEWEST} bootstraps: there are {self.spread.bootstraps}. Where more take "
                "longer than a minute, --bootstraps 200 makes them. For other people than these numbers may be far off."
            )
        if self.held is not None:
            k = self._talked()[0] + 1 if self._talked() else 0
            where = f"at a disparity of {self.disparities[k - 1]:g}" if k else "at disparity 0"
            (right, apart), (held_right, held_apart) = self.held.inside[0, k], self.held.outside[0, k]
            out.append(
                "These rules are fitted to the people they are counted on. Fitted to half of them, pooling's rule "
                f"{where} is right for {percent(right)} of that half, with a disparity of {number(apart)}, and for "
                f"{percent(held_right)} of the other, with {number(held_apart)} (means of {self.held.splits} fits)."
            )
        return out

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        schemes = []
        for k, (scheme, reach) in enumerate(self.reaches.items()):
            entry: dict[str, Any] = {"scheme": scheme}
            entry |= dict(zip(ENDS, reach.numbers, strict=False))
            entry["exact"] = reach.frontier.exact
            entry["at"] = [{"disparity": d, "accuracy": v} for d, v in zip(self.disparities, reach.at, strict=True)]
            if self.spread is not None:
                entry["intervals"] = {name: self.between(scheme, c) for c, name in enumerate(ENDS)}
                for c, at in enumerate(entry["at"], start=len(ENDS)):
                    at["interval"], at["reached"] = self.between(scheme, c), float(self.spread.reached[k, c])
            if self.held is not None:
                entry["held_out"] = self._held(k)
            curve = reach.frontier
            names = ("disparity", "accuracy", "eps")
            entry["frontier"] = {name: getattr(curve, name).tolist() for name in names}
            schemes.append(entry)
        out: dict[str, Any] = {
            "groups": list(self.groups),
            "clients": [{"name": n, "weight": w} for n, w in zip(self.clients, self.weight, strict=True)],
            "people": self.people,
            "unconstrained_rates": list(self.rates),
            "schemes": schemes,
            "in_words": self.sentences(),
        }
        if self.spread is not None:
            drawn = {name: getattr(self.spread, name) for name in ("bootstraps", "failed", "seed")}
            out["intervals"] = drawn | {"level": LEVEL}
        return out

    def _held(self, scheme: int) -> list[dict[str, Any]]:
        """A scheme's rules, fitted to half of the people."""
        assert self.held is not None
        rows = []
        for k, name in enumerate(["smallest disparity", *self.disparities, "best accuracy"]):
            row: dict[str, Any] = {"rule": name, "reached": float(self.held.reached[scheme, k])}
            for half, values in (("inside", self.held.inside), ("outside", self.held.outside)):
                accuracy, disparity = (None if np.isnan(v) else float(v) for v in values[scheme, k])
                row[half] = {"accuracy": accuracy, "disparity": disparity}
            rows.append(row)
        return rows

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
    progress : called with what is being computed.

    Raises
    ------
    ValueError : more than two groups, or a disparity out of range.  CertificationError : see :func:`solve`.
    """
    if federation.n_groups != 2:
        raise ValueError(f"two groups are needed to compare the schemes, this federation has {federation.n_groups}")
    if at is not None:
        in_range("at", list(at), 0, 1)
    found = frontiers(federation, count, progress)
    cfl = found["cfl"]
    top = float(cfl.disparity[-1])
    disparities = tuple(sorted(set(at))) if at else tuple(d for d in COMMON if d < top)[-5:]
    rates = solve(federation, "cfl", np.inf).classifier.group_rates(federation)
    named = tuple(clients) if clients is not None else tuple(str(i) for i in range(federation.n_clients))
    weight = tuple(float(w) for w in federation.weight)
    both = float(rates[0]), float(rates[1])
    return Comparison(groups, named, weight, both, disparities, bool(at), reached(found, disparities))


def frontiers(federation: Federation, count: int, progress: Progress | None = None) -> dict[str, Frontier]:
    """The frontiers of all schemes."""
    found = {}
    for scheme in LABELS:
        assert scheme in SCHEMES
        if progress is not None:
            progress(f"frontier of {LABELS[scheme]}")
        found[scheme] = frontier(federation, scheme, count)
    return found


def reached(found: dict[str, Frontier], disparities: Sequence[float]) -> dict[str, Reach]:
    """What they reach."""
    top = max(float(curve.disparity[-1]) for curve in found.values())
    every = np.unique(np.concatenate([np.linspace(0.0, top, GRID), *(curve.disparity for curve in found.values())]))
    best, out = found["cfl"].accuracy_at(every), {}
    for scheme, curve in found.items():
        common = every >= curve.disparity[0]
        loss = best[common] - curve.accuracy_at(every[common])
        k = int(np.argmax(loss))
        at = tuple(float(curve.accuracy_at(d)) if d >= curve.disparity[0] else None for d in disparities)
        out[scheme] = Reach(curve, at, float(loss[k]), float(every[common][k]))
    return out


def rules(federation: Federation, disparities: Sequence[float], count: int) -> list[Classifier | None]:
    """The rules of all schemes at their smallest disparity, at each of ``disparities``, and at their best accuracy.

    At a disparity the rule is that of the frontier's last point below it, for CFL of the disparity itself; None where
    a scheme does not get so low.
    """
    out: list[Classifier | None] = []
    for scheme, curve in frontiers(federation, count).items():
        for d in (float(curve.disparity[0]), *disparities, float(curve.disparity[-1])):
            k = int(np.searchsorted(curve.disparity, d, side="right")) - 1
            eps = np.array([d]) if scheme == "cfl" else curve.eps[k]
            out.append(solve(federation, scheme, eps).classifier if k >= 0 else None)
    return out


def tried(
    found: Comparison,
    sample: Sample,
    *,
    count: int,
    bootstraps: int | None,
    seed: int,
    progress: Progress | None = None,
) -> Comparison:
    """The comparison of a sample of people with what sampling does to it; see ``fairfl.reports.sampling``.

    ``count``: points a frontier, as in :func:`compare`; ``bootstraps``: None for as many as a minute allows, 0 for
    nothing.
    """
    found = replace(found, people=sample.people)
    if bootstraps == 0:
        return found

    def numbers(federation: Federation) -> Array:
        reaches = reached(frontiers(federation, count), found.disparities)
        return np.array([reach.numbers for reach in reaches.values()])

    spread = bootstrap(sample, numbers, found.numbers, bootstraps, seed, progress)
    affordable = bootstraps is not None or spread.bootstraps >= FEWEST
    held = held_out(sample, lambda half: rules(half, found.disparities, count), seed, progress) if affordable else None
    if held is not None:
        shape = (len(found.reaches), len(found.disparities) + 2)
        held = HeldOut(
            held.inside.reshape(*shape, 2), held.outside.reshape(*shape, 2), held.reached.reshape(shape), held.splits
        )
    return replace(found, spread=spread, held=held)


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


def _brackets(ends: tuple[float, float] | None, show: Callable[[float], str]) -> str:
    """An interval in brackets behind its number, the unit once."""
    return "" if ends is None else f" ({span(ends, show)})"


def span(ends: tuple[float, float], show: Callable[[float], str]) -> str:
    """An interval, such as 71.25 to 73.75; what is shown has its unit beside it."""
    low, high = (show(v).removesuffix(" points").removesuffix(" %") for v in ends)
    return f"{low} to {high}"
