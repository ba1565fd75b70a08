"""What the schemes, and the rates of the notions, are called, and how schemes are drawn."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

Scheme = Literal["cfl", "lft_ensemble", "lft_fedavg", "client_aware"]
LABELS: dict[Scheme, str] = {
    "cfl": "CFL",
    "lft_fedavg": "LFT+FedAvg",
    "lft_ensemble": "LFT+Ensemble",
}
"""The three schemes for rules that are not told the client, best first."""
COMMON = {
    "lft_fedavg_common": "LFT+FedAvg, one budget",
    "lft_ensemble_common": "LFT+Ensemble, one budget",
}
"""Local training at one budget for all clients, as reports call it."""
NAMES: dict[str, str] = {**LABELS, **COMMON, "client_aware": "Client-aware"}
RATES = {
    "demographic_parity": "acceptance rates",
    "true_positive_rate_parity": "true-positive rates",
    "false_positive_rate_parity": "false-positive rates",
    "equalized_odds": "true- and false-positive rates",
    "accuracy_parity": "accuracies",
}
"""What each notion compares."""


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
    def in_browser(self) -> dict[str, str]:
        """Name, colour and dashes, as an SVG has them."""
        dashes = "" if self.line == "-" else " ".join(str(2 * on) for on in self.line[1])
        return {"name": self.label, "colour": self.colour, "dashes": dashes}

    @property
    def mark(self) -> dict[str, Any]:
        """Its marker, likewise."""
        return {"color": self.colour, "marker": self.marker, "ms": self.size}


LOOKS = {
    "cfl": Look(NAMES["cfl"], "#0072B2", "-", 2.4, "o", 6.5),
    "lft_fedavg": Look(NAMES["lft_fedavg"], "#009E73", (0, (5, 1.6)), 1.5, "s", 4.5),
    "lft_ensemble": Look(NAMES["lft_ensemble"], "#D55E00", (0, (4, 1.4, 1, 1.4)), 1.1, "^", 4.5),
    "client_aware": Look(NAMES["client_aware"], "#CC79A7", (0, (2, 1)), 1.3, "D", 4.0),
}
"""Blue, bluish green, vermilion and reddish purple of Okabe and Ito."""
REPORTED: dict[str, Look] = {
    **LOOKS,
    "lft_fedavg_common": Look(NAMES["lft_fedavg_common"], "#009E73", "-", 1.3, "P", 4.5),
    "lft_ensemble_common": Look(NAMES["lft_ensemble_common"], "#D55E00", "-", 0.9, "v", 4.5),
}
"""And one budget for all clients: the scheme's colour, solid."""
