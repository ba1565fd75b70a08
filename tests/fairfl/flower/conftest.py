"""Three sites with tables of their own, a study between them, and what pooled rows give."""

import tomllib
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import fairfl as ff

SITES = ["north", "south", "west"]
STUDY = """
sites = ["north", "south", "west"]
least = {least}
wait = {wait}
address = "127.0.0.1:{port}"
[columns]
label = "y"
positive = "yes"
group = "sex"
[score]
{score}
edges = [0, 0.2, 0.35, 0.5, 0.65, 1]
calibrate = "shared"
[question]
at = [0.05]
points = 6
bootstraps = 0
schemes = "cfl"
"""


@pytest.fixture
def world(tmp_path):
    """Tables of each site's people and new people, in its folder, and the study's file."""
    rng, tables = np.random.default_rng(3), {}
    for k, site in enumerate(SITES):
        (tmp_path / site).mkdir()
        for name, n in (("people", 400 + 100 * k), ("new", 400 + 100 * k)):
            a, work = rng.random(n) < 0.3 + 0.2 * k, rng.choice(["private", "state"], n)
            age = rng.normal(45 - 6 * a + 2 * k, 12, n).round(1)
            chance = 1 / (1 + np.exp(1.5 - 0.08 * (age - 40) + 0.7 * (work == "state") + a))
            s = np.clip(chance + rng.normal(0, 0.05, n), 0, 1).round(3)
            y, sex = np.where(rng.random(n) < chance, "yes", "no"), np.where(a, "f", "m")
            table = pd.DataFrame({"s": s, "y": y, "sex": sex, "age": age, "work": work})
            table.to_csv(tmp_path / site / f"{name}.csv", index=False)
            tables[site, name] = table

    def study(score='column = "s"', least=3, port=9092, wait=600):
        text = STUDY.format(score=score, least=least, port=port, wait=wait)
        (tmp_path / "study.toml").write_text(text)
        return tomllib.loads(text)

    def check(sites, score=lambda table: table["s"]):
        """The coordinator's frontier is that of these sites' rows, and so is its judgement."""
        rows = pd.concat([tables[site, "people"].assign(site=site) for site in sites])
        edges = np.array([0, 0.2, 0.35, 0.5, 0.65, 1])
        level = np.minimum(np.searchsorted(edges, score(rows), side="right") - 1, 4)
        middle, columns = (edges[:-1] + edges[1:]) / 2, (rows["y"] == "yes", rows["sex"])
        fed = ff.Federation.from_samples(
            middle[level], *columns, rows["site"], levels=0, calibrate="shared"
        )
        curve = ff.frontier(fed, "cfl", 6)
        table = pd.read_csv(tmp_path / "center" / "rules" / "frontier.csv")
        for name in ("disparity", "accuracy"):
            assert table[name].to_numpy() == pytest.approx(getattr(curve, name), abs=1e-10)
        decided = [pd.read_csv(tmp_path / site / "study" / "decisions.csv") for site in sites]
        decided = pd.concat(decided)
        right = 100 * ((decided["y"] == "yes") == decided["decision"]).mean()
        judgement = (tmp_path / "center" / "judgement.txt").read_text()
        assert f"right for {right:.2f} %" in judgement and f"{len(decided):,} people" in judgement

    return SimpleNamespace(folder=tmp_path, tables=tables, study=study, check=check)
