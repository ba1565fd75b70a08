"""The toy instance: its figures in exact fractions, and the solver's answer to it."""

from fractions import Fraction

import pytest

from fairfl.figures.catalog import fedfb_figure_2

# 5 F, 3 of them positive; 7 M, 6 of them positive. Clients 1 and 2 accept every F, client 3 all M.
THIRD = Fraction(1, 3)
APART = (6 + THIRD) / 7 - (3 + 4 * THIRD) / 5
# CFL accepts the two negative F with probability P such that (3 + 2 P)/5 = 6/7.
P = (Fraction(6, 7) * 5 - 3) / 2
TOGETHER = {
    "LFT+Ensemble": ((9 + 4 * THIRD) / 12, APART),
    "majority vote": (Fraction(5, 6), Fraction(1, 7)),
    "CFL": ((12 - 2 * P) / 12, Fraction(0)),
}
EXACT = {f"client {k}": (Fraction(3, 4), Fraction(0)) for k in (1, 2, 3)} | TOGETHER
"""Accuracy and |MD| of each rule on its own data, by enumeration in fractions."""


@pytest.fixture(scope="module")
def toy():
    return fedfb_figure_2.data()


@pytest.mark.parametrize("rule", EXACT)
def test_the_solver_agrees_with_the_fractions(toy, rule):
    row = toy[toy["rule"] == rule].iloc[0]
    accuracy, disparity = EXACT[rule]
    assert row["accuracy"] == pytest.approx(float(accuracy), abs=1e-14)
    assert row["disparity"] == pytest.approx(float(disparity), abs=1e-14)


def test_every_sample_is_in_the_table_once_a_rule(toy):
    samples = toy.dropna(subset=["label"])
    counts = {f"client {k}": 4 for k in (1, 2, 3)}
    assert samples.groupby("rule").size().to_dict() == counts | dict.fromkeys(TOGETHER, 12)
    assert (samples["label"] == (samples["x"] > 0)).all()
    assert toy["accept"].between(0, 1).all()


def test_the_picture_names_every_rule_and_its_figures(toy):
    picture = fedfb_figure_2.draw(toy)
    words = {t.get_text().replace("\n", " ") for t in picture.axes[0].texts}
    rules = {"client 1", "CFL", "majority vote", "LFT+ Ensemble"}
    assert {*rules, *"31/36 4/105 5/6 1/7 25/28".split()} <= words
