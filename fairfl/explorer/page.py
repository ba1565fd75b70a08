"""The explorer's page: sliders for a federation of two or three clients, the three schemes'
frontiers and rules, computed in the browser; it loads nothing.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fairfl._support.version import __version__
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
FORM = """<form>
<p id="unread" role="alert" hidden>The link's setting cannot be read. Another one is shown.</p>
<p><label>Start from a figure of the paper FedFB: <select id="preset"><option value="">own setting
</option></select></label></p>
<fieldset class="plain"><legend>Clients</legend>
<label><input type="radio" name="clients" value="2"> two</label>
<label><input type="radio" name="clients" value="3"> three: LFT+FedAvg takes seconds</label>
</fieldset>
<fieldset class="plain"><legend>Each client trains under a limit of its own disparity (its budget)
</legend>
<label><input type="radio" name="budgets" value="each"> a budget for each client: the best that a
planner who knew all data could choose</label>
<label><input type="radio" name="budgets" value="common"> one budget for all clients: what they can
agree on</label></fieldset>
<div id="budget"></div><div id="sliders"></div>
</form>"""
FIGURES = """<section>
<figure class="frontier"><svg id="frontiers" role="img" height="300"
aria-label="Accuracy against disparity, a curve for each scheme"></svg>
<figcaption id="legend"></figcaption></figure>
<div><h2>At the largest disparity that is allowed</h2>
<div class="wide" tabindex="0" role="region" aria-label="Rules"><table id="rules"></table></div>
<h2>Who is accepted</h2>
<figure><svg id="accepted0" role="img" height="190" aria-label="Accepted in group 0"></svg>
<svg id="accepted1" role="img" height="190" aria-label="Accepted in group 1"></svg>
<figcaption>Curves: the densities of x, with the clients' numbers. Bars: where a scheme accepts,
paler where only some clients' votes do.</figcaption></figure></div>
</section>"""
ABOUT = """<p>Clients have normal distributions of a score x, which differ by client and group, and
the odds of y = 1 increase with x. A rule sees x and the group and accepts whom it takes for y = 1.
The disparity is the difference of the groups' acceptance rates. Central fair learning (CFL) pools
all data and limits the pooled disparity. In local fair training (LFT) each client limits its own:
LFT+FedAvg finds one common rule, LFT+Ensemble averages the clients' own rules.</p>
"""
KNOW = """<footer><p>CFL's curve is exact, and so is LFT+Ensemble's smallest disparity with a budget
for each client. The other curves are searched: each point is attained, and better ones may exist.
Points that miss a condition by more than 1e-7 are left out. Disparities within clients are rates
of group 0 minus those of group 1. The address of the page keeps the setting. Made by fairfl %s.
</p></footer>
"""


def presets() -> dict[str, dict[str, Any]]:
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
    style, script = (HERE.joinpath(f"page.{kind}").read_text("utf-8") for kind in ("css", "js"))
    looks = {s.name: s.in_browser | {"searched": not s.is_pooled} for s in SHARED_RULE}
    data = json.dumps({"ranges": RANGES, "presets": presets(), "looks": looks})
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>fairfl: explorer</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"<h1>What it costs not to pool the data</h1>\n{ABOUT}<main>\n{FORM}\n{FIGURES}\n</main>\n"
        f"<noscript><p>This page needs JavaScript.</p></noscript>\n{KNOW % __version__}"
        f'<script type="application/json" id="data">{data}</script>\n'
        f"<script>{solver()}</script>\n<script>{script}</script>\n</body>\n</html>\n"
    )
