"""The explorer's page: sliders for a federation, whose frontiers the browser computes."""

import json
from pathlib import Path

from fairfl.reports.pages.html_page import html_page
from fairfl.solvers.schemes import SHARED_RULE
from fairfl.theory.populations import fedfb_figures as fedfb

HERE = Path(__file__).parent
SOLVER = ("numerics", "federation", "ensemble", "fedavg_rules", "fedavg", "frontiers")
"""The solver's files, each of which uses those before it."""
RANGES = {
    "mean": (-6.0, 6.0, 0.1),
    "sd": (0.5, 3.0, 0.05),
    "share": (0.05, 0.95, 0.01),
    "weight": (0.05, 1.0, 0.05),
    "slope": (0.25, 2.0, 0.05),
    "intercept": (-3.0, 3.0, 0.1),
    "d": (0.0, 1.0, 0.005),
}
"""Least and largest number, and step, of each slider."""


def presets() -> dict[str, dict[str, object]]:
    """The settings of FedFB's figures 5 and 9, by their names."""
    out = {}
    for figure, means, shares in (
        (5, fedfb.MEANS_5, fedfb.SHARES_5),
        (9, fedfb.MEANS_9, fedfb.SHARES_9),
    ):
        for panel, share in zip("abcd", shares, strict=True):
            ones = [1.0] * len(share)
            out[f"figure {figure} ({panel}), shares {', '.join(f'{q:g}' for q in share)}"] = {
                "mean": means,
                "sd": [[1.0, 1.0]] * len(share),
                "share": share,
                "weight": ones,
                "slope": 1.0,
                "intercept": 0.0,
            }
    return out


def solver() -> str:
    """The solver as one script, without anything of a page."""
    return "\n".join(HERE.joinpath(f"{name}.js").read_text("utf-8") for name in SOLVER)


def page() -> str:
    """The whole page."""
    looks = {s.name: s.in_browser for s in SHARED_RULE}
    data = json.dumps({"ranges": RANGES, "presets": presets(), "looks": looks})
    return html_page(HERE / "page.html", data=data, solver=solver())
