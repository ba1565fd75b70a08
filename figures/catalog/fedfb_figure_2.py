"""FedFB figure 2, solved: three locally fair classifiers, whose vote is less accurate and less fair
than the pooled fair classifier.

The instance is ours, since the paper's picture has no numbers: of all 2,925 triples of clients with
four samples one of four whose local rules are deterministic and fair, and whose vote and majority
fail. Labels are 1 where x > 0; X is the twelve samples' places, group 0 is F and 1 is M. The local
rules are CFL(0) of a federation of one; the vote is FedFB's eq. (2), ŷ ~ Bern(mean of f_i).
"""

from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from fairfl.figures.lib import style
from fairfl.solvers.api import solve
from fairfl.solvers.schemes import CFL, LFT_ENSEMBLE
from fairfl.studies.frames import first, floats, names, pick
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.federation import Federation

NAME = "fedfb_figure_2"
TITLE = (
    "FedFB figure 2, solved on an instance of ours: a vote of locally fair classifiers "
    "against a pooled fair one"
)

GROUPS = ("F", "M")
SAMPLE_X = (
    {"F": (-2,), "M": (1, 4, 7)},
    {"F": (-3,), "M": (2, 5, 8)},
    {"F": (3, 6, 9), "M": (-1,)},
)
"""Values of x of the samples; any distinct values with these signs give the same figure."""
PLACES = sorted(x for groups in SAMPLE_X for places in groups.values() for x in places)
MAJORITY = "majority vote"
PINK = "#CC79A7"
SPAN = (-3.8, 9.8)


def federation(clients: slice = slice(None)) -> Federation:
    """The toy federation, or some of its clients, each with all twelve places of X."""
    x = SAMPLE_X[clients]
    masses = np.array([[[(v in groups[a]) / 4 for v in PLACES] for a in GROUPS] for groups in x])
    return Federation.finite(PLACES, masses, (np.array(PLACES) > 0).astype(float))


def data() -> pd.DataFrame:
    """One row a (rule, group, place of X). Columns: rule; group; x; accept = P(ŷ=1 | x, group);
    label, where the rule's own data has such a sample (else NaN); accuracy and disparity |MD| of
    the rule on its own data, a client's or all.
    """
    everyone = federation()
    rows: list[pd.DataFrame] = []
    for i in range(len(SAMPLE_X)):
        client = federation(slice(i, i + 1))
        rule = solve(client, "cfl", 0.0).classifier
        rows.append(_table(f"client {i + 1}", rule, client, SAMPLE_X[i : i + 1]))
    vote = solve(everyone, "lft_ensemble", 0.0).classifier
    majority = Classifier(vote.edges, [(v > 0.5).astype(float) for v in vote.values])
    central = solve(everyone, "cfl", 0.0).classifier
    shared = {LFT_ENSEMBLE.label: vote, MAJORITY: majority, CFL.label: central}
    rows += [_table(name, rule, everyone, SAMPLE_X) for name, rule in shared.items()]
    return pd.concat(rows, ignore_index=True)


def _table(
    name: str, rule: Classifier, fed: Federation, samples: tuple[dict[str, tuple[int, ...]], ...]
) -> pd.DataFrame:
    shown = {(a, x) for groups in samples for a in GROUPS for x in groups[a]}
    worth = {"accuracy": rule.accuracy(fed), "disparity": abs(rule.mean_difference(fed))}
    rows = []
    for (k, a), x in product(enumerate(GROUPS), PLACES):
        label = float(x > 0) if (a, x) in shown else np.nan
        row = {"rule": name, "group": a, "x": x, "accept": float(rule(x, k)), "label": label}
        rows.append(row | worth)
    return pd.DataFrame(rows)


def draw(data: pd.DataFrame) -> Figure:
    """A lane per rule, F above M, darker where it accepts; samples are letters, 1 in pink boxes."""
    rules = names(data, "rule")
    figure = Figure(figsize=(style.COLUMN, 4.0))
    axes = figure.add_subplot()
    for k, name in enumerate(rules):
        _lane(axes, -1.45 * k - (0.3 if k >= len(SAMPLE_X) else 0.0), pick(data, rule=name))
    axes.set(xlim=(-6.9, 15.6), ylim=(-1.45 * len(rules) + 0.9, 1.5), yticks=[])
    axes.set_xticks(range(-3, 10, 3))
    # below the middle of the strips
    axes.set_xlabel("feature x (no unit)", x=(3 + 6.9) / (15.6 + 6.9))
    axes.grid(visible=False)
    axes.spines["left"].set_visible(False)
    axes.spines["bottom"].set_bounds(*SPAN)
    axes.text(10.3, 1.15, "acc.", ha="left", va="bottom")
    axes.text(13.6, 1.15, "|MD|", ha="left", va="bottom")
    figure.legend(
        handles=_legend(), loc="outside lower center", ncols=3, handlelength=1.4, columnspacing=1.2
    )
    return figure


def _lane(axes: Axes, base: float, table: pd.DataFrame) -> None:
    """One rule: a strip for each group, cut halfway between the places of X."""
    name = names(table, "rule")[0]
    colour = {CFL.label: CFL.colour}.get(name, LFT_ENSEMBLE.colour)
    for k, a in enumerate(GROUPS):
        bottom = base + 0.55 * (1 - k)
        strip = pick(table, group=a)
        x, accept, labels = (floats(strip, column) for column in ("x", "accept", "label"))
        edges = np.concatenate([SPAN[:1], (x[1:] + x[:-1]) / 2, SPAN[1:]])
        for left, right, p in zip(edges, edges[1:], accept, strict=False):
            # a tint instead of alpha, whose overlaps would show seams
            tint = _tint(colour, 0.62 * float(p))
            axes.add_patch(Rectangle((left, bottom), right - left, 0.5, color=tint, lw=0))
        frame = {"fill": False, "ec": "#bbbbbb", "lw": 0.5}
        axes.add_patch(Rectangle((SPAN[0], bottom), SPAN[1] - SPAN[0], 0.5, **frame))
        cuts = edges[1:-1][np.diff(accept) != 0]
        axes.vlines(cuts, bottom - 0.04, bottom + 0.54, color=colour, lw=1.8)
        font = {"ha": "center", "va": "center", "fontsize": 6}
        for place, label in zip(x, labels, strict=True):
            if not np.isnan(label):
                box = {"boxstyle": "round,pad=0.16", "fc": PINK, "ec": "none"} if label else None
                axes.text(place, bottom + 0.24, a, bbox=box, color="black", **font)
        # the probability is written where there is no sample
        randomised = np.isnan(labels) & (accept > 0) & (accept < 1)
        if randomised.any():
            probability = _fraction(accept[randomised][0])
            axes.text(x[randomised].mean(), bottom + 0.24, probability, style="italic", **font)
    middle = base + 0.52
    title = name.replace("+", "+\n").replace(" vote", "\nvote")
    axes.text(-4.0, middle, title, ha="right", va="center", fontsize=7)
    axes.text(10.3, middle, _fraction(first(table, "accuracy")), ha="left", va="center")
    axes.text(13.6, middle, _fraction(first(table, "disparity")), ha="left", va="center")


def _tint(colour: str, strength: float) -> tuple[float, float, float]:
    red, green, blue = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
    return (1 - strength * (1 - red), 1 - strength * (1 - green), 1 - strength * (1 - blue))


def _fraction(value: float) -> str:
    """The fraction equal to a rounded number: all denominators of the instance are below 1000."""
    return str(Fraction(float(value)).limit_denominator(999))


def _legend() -> list[Patch | Line2D]:
    vote = LFT_ENSEMBLE.colour
    return [
        Patch(facecolor=PINK, label="label 1"),
        Patch(facecolor=_tint(vote, 0.62), label="accepted (else: with\nthe probability shown)"),
        Line2D([], [], color=vote, lw=1.8, label="threshold"),
    ]
