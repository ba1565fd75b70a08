"""The page of `fairfl frontier --page`, in a real browser."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from browser import BROWSER, in_browser

from fairfl.reports import sampling
from fairfl.reports.comparison_words import headline, sentences
from fairfl.reports.frontier import compared
from fairfl.reports.pages.frontier_page import frontier_page, positions
from fairfl.reports.people import Read, read
from fairfl.reports.question import Question
from fairfl.solvers.api import frontier, solve
from fairfl.theory.populations.federation import Federation

SCRIPT = """(() => {
  const form = document.forms[0], slider = document.getElementById("slider"), out = [];
  const prose = () => [...document.querySelectorAll("p, li, h3, label, figcaption")];
  for (const budgets of ["common", "each"])
    for (let k = 0; k <= Number(slider.max); k++) {
      form.budgets.value = budgets; slider.value = k;
      slider.dispatchEvent(new Event("input", {bubbles: true}));
      out.push({budgets: budgets, disparity: document.getElementById("disparity").textContent,
        said: [...document.querySelectorAll(".big")].map((one) => one.textContent),
        rows: [...document.querySelectorAll("td")].map((one) => one.textContent),
        wide: document.documentElement.scrollWidth,
        over: prose().filter((e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0).length,
        marks: document.querySelectorAll("#chart circle").length,
        bad: document.getElementById("chart").outerHTML.includes("NaN")});
    }
  slider.focus();
  return {states: out, faults: window.faults, focus: document.activeElement.id}; })()"""

MASSES = [[[0.1, 0.2, 0.3], [0.2, 0.1, 0.1]], [[0.1, 0.1, 0.2], [0.1, 0.4, 0.1]]]
APART = [[[0.1, 0.2, 0.5], [0.1, 0.1, 0.0]], [[0.1, 0.1, 0.0], [0.5, 0.2, 0.1]]]
FINITE = Federation.finite([0, 1, 2], MASSES, [0.2, 0.5, 0.9])


def table(folder: Path) -> Path:
    """600 people of two sites; a group's name is one that HTML must not read."""
    rng = np.random.default_rng(0)
    site, group = rng.integers(0, 2, (2, 600))
    score = (rng.random(600) * np.where(group, 0.7, 1.0)).round(1)
    names = np.array(["</script><b>", "group 1"])[group]
    label = rng.random(600) < score
    columns = {"s": score, "y": label.astype(int), "a": names, "site": site, "z": score - group}
    people = pd.DataFrame(columns)
    people.to_csv(folder / "people.csv", index=False)
    return folder / "people.csv"


@pytest.mark.parametrize("top", [0.0, 1e-12, 0.0031, 0.3, 0.31, 0.999, 1.0])
def test_positions_are_round_and_reach_the_end(top: float) -> None:
    steps = positions(top)
    assert steps[0] == 0.0 and top <= steps[-1] <= max(1.0, top)
    if top:
        assert 24 <= len(steps) - 1 <= 61 and steps[-2] < top
        assert len(f"{steps[1]:e}".split("e")[0].rstrip("0")) == 2  # one digit


@pytest.mark.parametrize(
    ("question", "rates", "reached"),
    [
        (Question(), "acceptance rates", False),
        (Question("eo", sees="x"), "true-positive rates", True),
    ],
)
def test_the_page_asks_and_answers_in_five_sentences(question, rates, reached) -> None:
    federation = Federation.finite([0, 1, 2], APART, [0.1, 0.5, 0.8])
    comparison = compared(federation, None, question=question, count=3, bootstraps=0)
    page = frontier_page(comparison, Read(federation), title="p", bootstraps=0, seed=0)
    top = re.sub(r"<[^>]+>", " ", page[page.index("<h1>") : page.index("<form>")])
    title, *sentences = re.findall(r"\S[^?]*\?|\S.*?[.](?=\s)", " ".join(top.split()) + " ")
    assert title == f"What do equal {rates} of groups cost, if 2 sites do not pool their data?"
    assert len(sentences) <= 5 and page.count("local fair training") == 1
    task = question.of("cfl")
    best, fair = (solve(federation, "cfl", eps, **task).accuracy for eps in (np.inf, 0.0))
    assert sentences[0].startswith(f"Perfect fairness costs {100 * (best - fair):.2f} points when")
    schemes = ("lft_fedavg", "lft_ensemble")
    smallest = [frontier(federation, s, 9, budgets="common", **task).disparity[0] for s in schemes]
    assert (min(smallest) < 1e-9) == reached
    number = "gets as fair, and loses up to" if reached else f"disparity, {min(smallest):.3g}."
    assert number in sentences[0]


@pytest.mark.parametrize("score", ["s", ["s", "z"]])
def test_what_blind_rules_of_a_single_score_cost_is_called_so(score, tmp_path: Path) -> None:
    question = Question(sees="x")
    roles = {"label": "y", "group": "a", "client": "site"}
    federation, notes, people, *_ = read(table(tmp_path), score=score, question=question, **roles)
    comparison = compared(federation, people, question=question, count=3, bootstraps=0)
    lines = [*sentences(comparison), headline(comparison)]
    promises = [line for line in lines if re.search("costs|reaches|loses|fairer", line)]
    assert len(promises) >= 7 and any("repeat --score" in note for note in notes) == (score == "s")
    assert {"by rules of this score" in line for line in promises} == {score == "s"}


@pytest.mark.skipif(BROWSER is None, reason="no chromium here: the page is not tried in a browser")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "question", "width"),
    [
        ("people", Question(costs=(2.0, 1.0)), 390),
        pytest.param(
            *("finite", Question("equalized_odds", costs="balanced"), 1280), marks=pytest.mark.deep
        ),
        pytest.param("finite", Question(local_eps=0.1), 390, marks=pytest.mark.deep),
    ],
)
def test_page(kind: str, question: Question, width: int, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(sampling, "SPLITS", 2)
    federation, people = FINITE, None
    if kind == "people":
        federation, _, people, *_ = read(
            table(tmp_path), score="s", label="y", group="a", client="site"
        )
    comparison = compared(federation, people, question=question, count=3, bootstraps=0)
    page = frontier_page(
        comparison, Read(federation, ["<i>note</i>"], people), title="<b>", bootstraps=5, seed=0
    )
    assert len(page) < 200_000
    assert not re.search(r"<(link|img|iframe|object|embed)\b|\bsrc=|@import|\bfetch\(|url\(", page)
    assert "<b>" not in page and "<i>" not in page
    shown = in_browser(page, SCRIPT, width, tmp_path)
    assert shown["faults"] == [] and shown["focus"] == "slider"
    steps = positions(float(comparison.reaches["cfl"].frontier.disparity[-1]))
    assert len(shown["states"]) == 2 * len(steps)
    keys = {
        "common": [k for k in comparison.reaches if not k.startswith("lft") or k.endswith("common")]
    }
    keys["each"] = [k for k in comparison.reaches if not k.endswith("_common")]
    for j, state in enumerate(shown["states"]):
        d = steps[j % len(steps)]
        assert float(state["disparity"]) == pytest.approx(d, rel=1e-2)
        assert state["wide"] <= width and state["over"] == 0 and not state["bad"]
        schemes = keys[state["budgets"]]
        assert len(state["said"]) == len(schemes)
        reached = [k for k in schemes if comparison.reaches[k].smallest <= d]
        assert state["marks"] == len(reached)
        for scheme, said in zip(schemes, state["said"], strict=True):
            assert said.startswith("Not reached") == (scheme not in reached)
            if scheme not in reached:
                continue
            curve = comparison.reaches[scheme].frontier
            value = float(question.at(curve, min(d, curve.disparity[-1])))
            number = float(re.search(r"-?\d[\d.]*(?= |:|\.$)", said.replace("1,000 people", ""))[0])
            share = value * 1000 if question.is_share else value
            assert number == pytest.approx(share, abs=0.51 if question.is_share else 1e-3)
        assert ("(" in state["said"][0]) == (kind == "people")
