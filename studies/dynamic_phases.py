"""Phase diagrams of two quadratics: who is dynamically fairer after one step and after many, over
the lengths of the gradients, their angle and the step size; with the edges of what theorems 1 and 2
say.

Source: Fairness of Federated Learning with Dynamic Participants, theorems 1 and 2; their repaired
forms, claims dynamic/theorem-1/repaired, theorem-2/repaired and each-time/repaired.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from fairfl._support.checks import Array
from fairfl.studies.dynamic_quadratics import Pair, lead, lead_of_flow

SIZES = (0.02, 6.0)
ANGLES = 0.6, 0.9
"""||g_1|| and ||g_2|| of the panel "angles"."""
FIRST_LAYER, SECOND_COSINE = (1.0, 1.5, 0.9), -0.5
"""||g_1||, ||g_2|| and cosine in the first layer of "layers", and the cosine in the second."""
HEAD_START, STEP = 1.0, 1 / 3
"""Of "unfair": what group 1 has gained before, and eta at curvatures of 1."""
TIME, DEGREES, APART = 1.5, 15.0, 2.0
"""Of "flow": eta T and the angle; and ||g_1 - g_2|| from where the repaired claim speaks."""
ONE, TWO = "||g₁||", "||g₂||"

Leads = dict[str, Array]
Line = tuple[tuple[float, ...], tuple[float, ...]]
"""Points x and y of an edge."""


@dataclass(frozen=True)
class Panel:
    """A map: its title, (x, y) -> leads by rule, ranges and labels.

    ``head_start`` is what group 1 has gained before: where it is given the map tells whether FedAvg
    is fair, else whether the normalised rule is fairer. ``printed`` and ``repaired`` are the edges
    of the theorems' conditions; the region that they speak of is above.
    """

    title: str
    leads: Callable[[Array, Array], Leads]
    x: tuple[float, float] = SIZES
    y: tuple[float, float] = SIZES
    labels: tuple[str, str] = (ONE, TWO)
    head_start: float | None = None
    printed: Line | None = None
    repaired: Line | None = None

    def at(self, points: int) -> tuple[Array, Array, Leads]:
        """The map's x and y (points, points), and the leads there."""
        x, y = np.meshgrid(*(np.linspace(*side, points) for side in (self.x, self.y)))
        return x, y, self.leads(x, y)

    def gain(self, leads: Leads) -> Array:
        """FedAvg's lead less the other rule's, or less the head start: > 0 if less fair."""
        start = self.head_start
        return leads["fedavg"] - (leads["normalised"] if start is None else start)


def _round(x: Array, y: Array, cosine: float, eta: float = 1.0, second: float = 1.0) -> Leads:
    """One round at the lengths x, y; the curvatures 1 and ``second``."""
    pair = Pair.of(x[..., None], y[..., None], cosine, 1.0, second)
    return {rule: lead(pair, eta, rule) for rule in ("fedavg", "normalised")}


def _flow(x: Array, y: Array, time: float, degrees: float = 60.0, second: float = 1.0) -> Leads:
    """After ``time`` of both flows."""
    pair = Pair.of(x[..., None], y[..., None], np.cos(np.radians(degrees)), 1.0, second)
    return {rule: lead_of_flow(pair, time, rule) for rule in ("fedavg", "normalised")}


def _layers(x: Array, y: Array) -> Leads:
    """One round with two layers, x and y the lengths in the second."""
    a, b, cosine = FIRST_LAYER
    lengths = np.stack([np.full_like(x, a), x], -1), np.stack([np.full_like(y, b), y], -1)
    pair = Pair.of(*lengths, [cosine, SECOND_COSINE])
    return {rule: lead(pair, 1.0, rule) for rule in ("fedavg", "normalised", "by layer")}


def _angles(x: Array, y: Array) -> Leads:
    """One round: the angle in degrees, and eta (l_2 - l_1), in which the lead is linear."""
    cosine = np.cos(np.radians(x))[..., None]
    leads = {}
    for rule in ("fedavg", "normalised"):
        flat, curved = (lead(Pair.of(*ANGLES, cosine, 1.0, l), 1.0, rule) for l in (1.0, 2.0))
        leads[rule] = flat + y * (curved - flat)
    return leads


def _above(least: float) -> Line:
    """Of ||g_2|| >= least and ||g_1|| <= ||g_2||/2."""
    return (0.0, least / 2, SIZES[1] / 2), (least, least, SIZES[1])


def _far_apart() -> Line:
    """Of ||g_1|| < ||g_2|| and ||g_1 - g_2|| >= APART, at the angle of the flow."""
    x, angle = np.linspace(0.0, SIZES[1], 61), np.radians(DEGREES)
    y = x * np.cos(angle) + np.sqrt(APART**2 - (x * np.sin(angle)) ** 2)
    return tuple(x.tolist()), tuple(y.tolist())


PRINTED: Line = SIZES, (2.0, 2.0)
PANELS = {
    "round-60": Panel(
        "one round, 60°", partial(_round, cosine=0.5), printed=PRINTED, repaired=_above(4.0)
    ),
    "round-120": Panel(
        "one round, 120°", partial(_round, cosine=-0.5), printed=PRINTED, repaired=_above(4.0)
    ),
    "curved": Panel(
        "60°, η(ℓ₂ − ℓ₁) = 1", partial(_round, cosine=0.5, second=2.0), printed=PRINTED
    ),
    "angles": Panel(
        f"{ONE} = {ANGLES[0]}, {TWO} = {ANGLES[1]}",
        _angles,
        (0.0, 180.0),
        (-2.0, 2.0),
        ("angle, degrees", "η(ℓ₂ − ℓ₁)"),
    ),
    "layers": Panel("two layers", _layers, labels=(f"{ONE}, layer 2", f"{TWO}, layer 2")),
    "flow": Panel(
        f"ηT = {TIME}, {DEGREES:g}°",
        partial(_flow, time=TIME, degrees=DEGREES),
        repaired=_far_apart(),
    ),
    "limit": Panel("limit, ℓ₂ = 2ℓ₁", partial(_flow, time=np.inf, second=2.0)),
    "unfair": Panel(
        "fair after a round?",
        partial(_round, cosine=0.5, eta=STEP),
        head_start=HEAD_START,
        repaired=_above(float(np.sqrt(16 / 3 * HEAD_START / STEP))),
    ),
}
