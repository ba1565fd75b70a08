"""What pooling is worth: areas and rules of several scores, and the chosen rule by client."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

import fairfl as ff
from fairfl.reports.judgement.parts import estimate
from fairfl.reports.scores import auc

ETA = np.linspace(0.05, 0.95, 10)
COARSE = np.arange(10) // 2
LAW = np.array([[np.arange(10, 0, -1), np.full(10, 3)], [np.full(10, 2), np.arange(1, 11)]])
ROLES = ("--label", "y", "--group", "a", "--client", "site", "--points", 8)
AT = (0.05, 0.1)


@pytest.fixture(scope="module")
def people():
    """Of a law of two sites on ten levels, p; s tells pairs of them apart."""
    rng, law = np.random.default_rng(0), LAW / LAW.sum(axis=(1, 2), keepdims=True)
    site = rng.integers(0, 2, 2000)
    cell = np.array([rng.choice(20, p=law[i].ravel()) for i in site])
    x, y = cell % 10, (rng.random(2000) < ETA[cell % 10]).astype(int)
    columns = {"p": ETA[x], "s": COARSE[x], "r": rng.random(2000).round(1), "y": y}
    return pd.DataFrame(columns | {"a": cell // 10, "site": site})


@pytest.fixture(scope="module")
def file(people, tmp_path_factory):
    people.to_csv(tmp_path_factory.mktemp("people") / "people.csv", index=False)
    return tmp_path_factory.getbasetemp() / "people0" / "people.csv"


def test_areas_and_their_standard_errors(people):
    score, label = people["s"].to_numpy()[:300], people["y"].to_numpy()[:300]
    weight = np.random.default_rng(0).gamma(2.0, size=300)
    weighted = roc_auc_score(label, score, sample_weight=weight)
    assert auc(score, label, weight)[0] == pytest.approx(weighted, abs=1e-12)
    area, influence = auc(score, label, np.ones(300))
    assert area == pytest.approx(roc_auc_score(label, score), abs=1e-12)
    assert abs(influence.mean()) < 1e-12
    without = [roc_auc_score(np.delete(label, k), np.delete(score, k)) for k in range(300)]
    jackknife = np.sqrt(299 * np.var(without))
    interval = estimate(np.zeros(300, int), area, influence)
    assert (interval.high - interval.low) / 2 / 1.96 == pytest.approx(jackknife, rel=0.02)


@pytest.fixture(scope="module")
def compared(file):
    """What the command says of the three scores, and of each of them alone."""
    from typer.testing import CliRunner

    from fairfl.cli.main import app

    def said(*words):
        at = (word for d in AT for word in ("--at", d))
        only = ("--schemes", "lft_fedavg_common,lft_ensemble_common", *at, "--json")
        line = ["frontier", str(file), *map(str, (*ROLES, *words, *only))]
        done = CliRunner().invoke(app, line)
        assert done.exit_code == 0, done.stderr
        return json.loads(done.stdout)

    others = ("--compare-score", "s", "--compare-score", "r")
    return said("--score", "p", *others), [said("--score", score) for score in "psr"]


def test_each_scores_rules_are_those_of_its_own_frontier(compared):
    """Judged on the same held-out people; slopes there are means of neighbouring points'."""
    both, alone = compared
    assert [score["score"] for score in both["scores"]] == ["p", "s", "r"]
    for score, frontier_answer in zip(both["scores"], alone, strict=True):
        schemes = {scheme["scheme"]: scheme for scheme in frontier_answer["schemes"]}
        assert len(score["costs"]) == 3 * len(AT) + 1
        for cost in score["costs"]:
            d, scheme = cost["disparity"], schemes[cost["scheme"]]
            if d is not None and scheme["smallest_disparity"] > d:
                assert {cost[name] for name in ("value", "lost", "by_score")} == {None}
                continue
            rule = scheme["held_out"][-1 if d is None else 1 + AT.index(d)]
            assert cost["value"]["value"] == pytest.approx(rule["accuracy"], abs=1e-4)


def test_the_parts_add_up_and_hold_the_laws_truth(compared):
    law = LAW / LAW.sum(axis=(1, 2), keepdims=True)
    mass, right = (
        np.stack([v[..., COARSE == k].sum(-1) for k in range(5)], -1) for v in (law, law * ETA)
    )
    fed = ff.Federation.finite(ETA, law, ETA)
    coarse = ff.Federation.finite(range(5), mass, right.sum((0, 1)) / mass.sum((0, 1)))
    best, central = (float(ff.frontier(f, "cfl", 20).accuracy_at(0.1)) for f in (fed, coarse))
    first, rounded, noise = compared[0]["scores"]
    seen = 0
    for cost in rounded["costs"]:
        parts = [cost[name] for name in ("lost", "by_score", "by_constraints")]
        if cost["scheme"] == "cfl" or cost["value"] is None:
            assert parts[0] == parts[1] and parts[2] in (None, {"value": 0, "low": 0, "high": 0})
            continue
        total, score, constraints = (part["value"] for part in parts)
        assert total == pytest.approx(score + constraints, abs=1e-12)
        local = ff.frontier(coarse, cost["scheme"].removesuffix("_common"), 20, budgets="common")
        fair = float(local.accuracy_at(0.1))
        for share, true in zip(parts, (best - fair, best - central, central - fair), strict=True):
            assert share["low"] - 1e-12 <= true <= share["high"] + 1e-12
            assert share["high"] - share["low"] < 0.02
        seen += 1
    assert seen == 2
    assert noise["auc_lost"]["low"] > 0.2 and noise["costs"][0]["lost"]["low"] > 0.05
    by_score = [cost["by_score"] for cost in first["costs"] if cost["value"] is not None]
    assert first["auc_lost"]["high"] == 0 and all(c["low"] == c["high"] == 0 for c in by_score)


@pytest.mark.parametrize("scheme", ["cfl", "lft_ensemble_common"])
def test_the_rule_by_client_is_as_judged_once_applied(cli, file, tmp_path, scheme):
    words = ("--score", "p", *ROLES, "--bootstraps", 0, "--at", 0.15, "--schemes", scheme)
    out = ("--by-client", scheme, "--out", tmp_path, "--json")
    by_client = json.loads(cli("frontier", file, *words, *out).stdout)["by_client"][scheme]
    decided, rule = tmp_path / "decided.csv", tmp_path / f"rule_{scheme}.json"
    columns = ("--score", "p", "--group", "a", "--out", decided)
    assert cli("apply", rule, file, *columns).exit_code == 0
    words = ("judge", decided, "--prediction", "chance", *ROLES[:6], "--json")
    judged = json.loads(cli(*words).stdout)
    for part, judged_part in zip(by_client, judged["parts"], strict=True):
        assert part.keys() == judged_part.keys() and part["people"] == judged_part["people"]
        assert (part["client"], part["group"]) == (judged_part["client"], judged_part["group"])
        shares = ("positive", "right", "accepted", "true_positive", "false_positive")
        for name in (*shares, "disparity", "ratio"):
            assert part[name] == pytest.approx(judged_part[name], abs=1e-9)
    assert by_client[0]["disparity"]["value"] == pytest.approx(0.15, abs=0.02)


def test_the_tables_fit_80_columns(cli, file, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    others = ("--compare-score", "s", "--compare-score", "r", "--at", 0.15)
    shown = cli("frontier", file, "--score", "p", *ROLES, "--bootstraps", 0, *others).stdout
    table = shown[shown.index("What pooling is worth") :]
    rows = [line for line in table.splitlines() if line[:1] in "┃│"]
    assert max(map(len, rows)) <= 80 and "│ LFT+Ensemble at 0.15 │" in table
