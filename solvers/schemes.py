"""The schemes, a row each: what a rule may depend on, whose disparities have budgets, how it is
called, put into words and drawn.
"""

from dataclasses import dataclass
from typing import Any, Literal

LineStyle = str | tuple[int, tuple[float, ...]]
"""A line style of matplotlib: "-", or (offset, lengths of dashes and gaps)."""
SchemeName = Literal["cfl", "lft_ensemble", "lft_fedavg", "client_aware"]
"""The schemes that ``solve`` takes."""


@dataclass(frozen=True)
class Scheme:
    """One scheme.

    Attributes
    ----------
    name : as ``solve`` takes it, or as reports call it: local training at one budget for all
        clients, CFL with local budgets.
    label : in tables and legends.
    words : in a sentence, what is done.
    colour, line, width, marker, size : how it is drawn. Schemes differ in colour, line and marker.
        Widths and sizes fall from the best scheme to the worst, drawn in that order: a curve on
        another leaves it visible.
    is_pooled : ``eps`` limits the pooled disparity, and ``local_eps``, if there are any, each
        client's; else ``eps`` limits each client's own disparity.
    is_averaged : every client has the rule of its own problem, and the rules are averaged.
    sees_client : rules are f(x, a, i).
    one_budget : all clients have the same budget.
    is_local : in reports local budgets limit each client's disparity beside the pooled one.
    """

    name: str
    label: str
    words: str
    colour: str
    line: LineStyle
    width: float
    marker: str
    size: float
    is_pooled: bool = False
    is_averaged: bool = False
    sees_client: bool = False
    one_budget: bool = False
    is_local: bool = False

    @property
    def base(self) -> SchemeName:
        """The scheme as ``solve`` calls it."""
        return self.name.removesuffix("_common").removesuffix("_local")  # pyright: ignore

    @property
    def heading(self) -> str:
        """Its label in a table whose title says that all clients have one budget."""
        return self.label.removesuffix(", one budget")

    @property
    def budget_words(self) -> str:
        """How the clients' budgets are set, in a sentence; empty where there is a pooled budget."""
        if self.is_pooled:
            return ""
        if self.one_budget:
            return "with one budget for all clients"
        return "with a budget for each client, chosen with all data"

    @property
    def in_words(self) -> str:
        """Budgets and scheme in a sentence."""
        return ", ".join(filter(None, (self.budget_words, self.words)))

    @property
    def stroke(self) -> dict[str, Any]:
        """The curve, as ``Axes.plot`` takes it."""
        return {"color": self.colour, "ls": self.line, "lw": self.width}

    @property
    def in_browser(self) -> dict[str, Any]:
        """Name, colour, dashes and width, as an SVG has them."""
        dashes = "" if isinstance(self.line, str) else " ".join(str(2 * on) for on in self.line[1])
        width = round(1.8 * self.width, 1)
        return {"name": self.label, "colour": self.colour, "dashes": dashes, "width": width}

    @property
    def mark(self) -> dict[str, Any]:
        """Its marker, likewise."""
        return {"color": self.colour, "marker": self.marker, "ms": self.size}


# Blue, bluish green, vermilion and reddish purple of Okabe and Ito.
BLUE, GREEN, RED, PURPLE = "#0072B2", "#009E73", "#D55E00", "#CC79A7"
DASHED, DASH_DOTTED, SHORT_DASHED = (0, (5, 1.6)), (0, (4, 1.4, 1, 1.4)), (0, (2, 1))
TRAINED = "FedAvg with local constraints"
AVERAGED = "an ensemble of locally fair models"

CFL = Scheme("cfl", "CFL", "pooling all data", BLUE, "-", 2.4, "o", 6.5, is_pooled=True)
LFT_FEDAVG = Scheme("lft_fedavg", "LFT+FedAvg", TRAINED, GREEN, DASHED, 1.5, "s", 4.5)
LFT_ENSEMBLE = Scheme(
    "lft_ensemble", "LFT+Ensemble", AVERAGED, RED, DASH_DOTTED, 1.1, "^", 4.5, is_averaged=True
)
CLIENT_AWARE = Scheme(
    "client_aware", "Client-aware", "a rule for each client", PURPLE, SHORT_DASHED, 1.3, "D", 4.0,
    is_pooled=True, sees_client=True, is_local=True,
)  # fmt: skip
CFL_LOCAL = Scheme(
    "cfl_local", "CFL, local budgets", "pooling all data with each client's disparity limited too",
    BLUE, SHORT_DASHED, 1.5, "X", 5.0, is_pooled=True, is_local=True,
)  # fmt: skip
"""One rule for all clients, under a pooled budget and the clients' own."""
COMMON = (
    Scheme(
        "lft_fedavg_common", "LFT+FedAvg, one budget", TRAINED, GREEN, "-", 1.3, "P", 4.5,
        one_budget=True,
    ),
    Scheme(
        "lft_ensemble_common", "LFT+Ensemble, one budget", AVERAGED, RED, "-", 0.9, "v", 4.5,
        is_averaged=True, one_budget=True,
    ),
)  # fmt: skip
"""Local training at one budget for all clients: the scheme's colour, solid."""
SHARED_RULE = CFL, LFT_FEDAVG, LFT_ENSEMBLE
"""The schemes for rules that do not see the client, best first."""
LABELS: dict[SchemeName, str] = {scheme.base: scheme.label for scheme in SHARED_RULE}
"""Their labels."""
SOLVED: dict[str, Scheme] = {scheme.name: scheme for scheme in (*SHARED_RULE, CLIENT_AWARE)}
"""Those that ``solve`` takes, by name."""
SCHEMES: dict[str, Scheme] = SOLVED | {scheme.name: scheme for scheme in (*COMMON, CFL_LOCAL)}
"""All, by name."""
