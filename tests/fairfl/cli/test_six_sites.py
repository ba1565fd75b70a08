"""Six sites of Adult, end to end: no row leaves a folder; the walk of docs/summaries.md."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from fairfl.sims.data.tables import load

SITES = ["Federal-gov", "Local-gov", "Private", "Self-emp-inc", "Self-emp-not-inc", "State-gov"]
EDGES = "0,0.05,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1"
ROLES = ("--score", "risk", "--label", "income", "--positive", "over 50K", "--group", "sex")


@pytest.fixture(scope="module")
def adult(fairfl_data):
    """People with a common score; it was fitted to a tenth of them, who are left out."""
    data = load("adult", fairfl_data)
    names = list(data.feature_names)
    work = data.features[:, [names.index(f"workclass={site}") for site in SITES]]
    is_fitted, there = np.arange(len(data)) % 10 == 0, work.sum(axis=1) == 1
    model = LogisticRegression(max_iter=2000).fit(data.features[is_fitted], data.label[is_fitted])
    risk, income = model.predict_proba(data.features)[:, 1], np.where(data.label, "over 50K", "no")
    sex, site = np.array(data.group_names)[data.group], np.array(SITES)[work.argmax(axis=1)]
    columns = {"risk": risk, "income": income, "sex": sex, "site": site, "new": data.is_test}
    return pd.DataFrame(columns)[there & ~is_fitted]


def at(folder, monkeypatch, cli, *words):
    """Run a command in a folder."""
    monkeypatch.chdir(folder)
    done = cli(*words)
    assert (done.exit_code, done.stderr) == (0, "")
    return done.stdout


def test_six_sites_decide_without_sharing_a_row(cli, adult, tmp_path, monkeypatch):
    center = tmp_path / "center"
    center.mkdir()
    old, new = adult[~adult["new"]], adult[adult["new"]]
    for site in SITES:
        folder = tmp_path / site
        folder.mkdir()
        columns_kept = ["risk", "income", "sex"]
        old[old["site"] == site][columns_kept].to_csv(folder / "people.csv", index=False)
        new[new["site"] == site][["risk", "sex"]].to_csv(folder / "new.csv", index=False)
        words = ("summarize", "people.csv", *ROLES, "--site", site, "--edges", EDGES)
        at(folder, monkeypatch, cli, *words)
        shutil.move(folder / "site.json", center / f"site-{site}.json")  # what it sends
    words = ("frontier", *sorted(file.name for file in center.iterdir()), "--at", 0.05)
    options = (
        "--points",
        8,
        "--schemes",
        "lft_fedavg_common,lft_ensemble_common",
        "--bootstraps",
        0,
    )
    answer = json.loads(at(center, monkeypatch, cli, *words, *options, "--out", "rules", "--json"))

    # each site decides, and the disparity of all new people is what was agreed on
    for entry in answer["schemes"]:
        rule, decided = center / "rules" / f"rule_{entry['scheme']}.json", []
        for site in SITES:
            words = ("apply", rule, "new.csv", "--score", "risk", "--group", "sex")
            at(tmp_path / site, monkeypatch, cli, *words)
            decided.append(pd.read_csv(tmp_path / site / "decisions.csv"))
            assert len(decided[-1]) == (new["site"] == site).sum()
        chance = pd.concat(decided).groupby("sex")["chance"]
        rate, size = chance.mean(), chance.size()
        fitted = old.groupby("sex").size()
        error = np.sqrt((rate * (1 - rate) * (1 / size + 1 / fitted)).sum())
        assert abs(rate["Male"] - rate["Female"] - entry["rule"]["disparity"]) < 1.96 * error
