"""What the schemes are called, and how they are drawn."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

Scheme = Literal["cfl", "lft_ensemble", "lft_fedavg", "client_aware"]


class Look(NamedTuple):
    """How one scheme is drawn, wherever it is drawn: told apart by colour, line and marker.

    Widths and sizes fall from the best scheme to the worst, drawn in that order: a curve on another
    leaves it visible.
    """

    label: str
    colour: str
    line: Any
    width: float
    marker: str
    size: float

    @property
    def stroke(self) -> dict[str, Any]:
        """The curve, as ``Axes.plot`` takes it."""
        return {"color": self.colour, "ls": self.line, "lw": self.width}

    @property
    def in_browser(self) -> dict[str, Any]:
        """Name, colour, dashes and width, as an SVG has them."""
        dashes = "" if self.line == "-" else " ".join(str(2 * on) for on in self.line[1])
        width = round(1.8 * self.width, 1)
        return {"name": self.label, "colour": self.colour, "dashes": dashes, "width": width}

    @property
    def mark(self) -> dict[str, Any]:
        """Its marker, likewise."""
        return {"color": self.colour, "marker": self.marker, "ms": self.size}


LOOKS: dict[Scheme, Look] = {
    "cfl": Look("CFL", "#0072B2", "-", 2.4, "o", 6.5),
    "lft_fedavg": Look("LFT+FedAvg", "#009E73", (0, (5, 1.6)), 1.5, "s", 4.5),
    "lft_ensemble": Look("LFT+Ensemble", "#D55E00", (0, (4, 1.4, 1, 1.4)), 1.1, "^", 4.5),
    "client_aware": Look("Client-aware", "#CC79A7", (0, (2, 1)), 1.3, "D", 4.0),
}
"""Blue, bluish green, vermilion and reddish purple of Okabe and Ito."""
COMMON: dict[str, Look] = {
    "lft_fedavg_common": Look("LFT+FedAvg, one budget", "#009E73", "-", 1.3, "P", 4.5),
    "lft_ensemble_common": Look("LFT+Ensemble, one budget", "#D55E00", "-", 0.9, "v", 4.5),
}
"""Local training at one budget for all clients, as reports call it: the scheme's colour, solid."""
REPORTED: dict[str, Look] = {**LOOKS, **COMMON}
NAMES = {name: look.label for name, look in REPORTED.items()}
TOLD_NO_CLIENT: tuple[Scheme, ...] = "cfl", "lft_fedavg", "lft_ensemble"
LABELS: dict[Scheme, str] = {scheme: LOOKS[scheme].label for scheme in TOLD_NO_CLIENT}
"""The three schemes for rules that are not told the client, best first."""
