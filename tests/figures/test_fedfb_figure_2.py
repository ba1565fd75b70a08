"""The toy instance: its claim in exact fractions, and the solver's answer to it."""

from fractions import Fraction

import pytest
from figure_2_search import KINDS, fails, fair_rule, figures, kinds, pool, search, vote

from fairfl.figures.catalog import fedfb_figure_2
from fairfl.figures.catalog.fedfb_figure_2 import GROUPS, SAMPLE_X

TOGETHER = ("LFT+Ensemble", "majority vote", "CFL")


def exact(rule):
    """(accuracy, |MD|) of a row of the picture, from fractions alone."""
    rules = [fair_rule(kind) for kind in KINDS]
    everyone = pool(KINDS)
    if rule.startswith("client"):
        k = int(rule[-1]) - 1
        return figures(rules[k], KINDS[k])
    chosen = {
        "LFT+Ensemble": vote(rules, majority=False),
        "majority vote": vote(rules, majority=True),
        "CFL": fair_rule(everyone),
    }[rule]
    return figures(chosen, everyone)


def test_the_claim_in_exact_fractions():
    assert exact("CFL") == (Fraction(25, 28), Fraction(0))
    assert exact("LFT+Ensemble") == (Fraction(31, 36), Fraction(4, 105))
    assert exact("majority vote") == (Fraction(5, 6), Fraction(1, 7))
    assert all(exact(f"client {k}") == (Fraction(3, 4), Fraction(0)) for k in (1, 2, 3))


def test_by_hand_without_the_searchs_code():
    # 5 F, 3 of them positive; 7 M, 6 of them positive. Clients 1 and 2 accept every F, client 3
    # every M.
    f_rate, m_rate = (3 + 2 * Fraction(2, 3)) / 5, (6 + Fraction(1, 3)) / 7
    assert abs(f_rate - m_rate) == Fraction(4, 105)
    assert (9 + 2 * Fraction(1, 3) + Fraction(2, 3)) / 12 == Fraction(31, 36)
    # CFL accepts the two negative F with probability p such that (3 + 2p)/5 = 6/7: cheaper than
    # touching the M
    p = (Fraction(6, 7) * 5 - 3) / 2
    assert p == Fraction(9, 14) and (10 + 2 * (1 - p)) / 12 == Fraction(25, 28)


@pytest.mark.parametrize("rule", ["client 1", "client 2", "client 3", *TOGETHER])
def test_the_solver_agrees_with_the_fractions(toy, rule):
    row = toy[toy["rule"] == rule].iloc[0]
    accuracy, disparity = exact(rule)
    assert row["accuracy"] == pytest.approx(float(accuracy), abs=1e-14)
    assert row["disparity"] == pytest.approx(float(disparity), abs=1e-14)


def test_the_instance_is_one_of_the_four_that_the_search_finds():
    found = search()
    assert len(kinds()) == 25 and len(found) == 4
    assert tuple(sorted(KINDS)) in [tuple(sorted(clients)) for clients in found]

    def swapped(clients, groups, labels):
        out = []
        for size, positive in clients:
            positive = (
                tuple(s - p for s, p in zip(size, positive, strict=True)) if labels else positive
            )
            out.append((size[::-1], positive[::-1]) if groups else (size, positive))
        return sorted(out)

    images = [swapped(KINDS, groups, labels) for groups in (0, 1) for labels in (0, 1)]
    assert sorted(images) == sorted(sorted(map(tuple, clients)) for clients in found)


def test_a_federation_whose_clients_agree_does_not_fail():
    assert not fails((KINDS[0],) * 3)


def test_the_drawn_samples_are_the_instances():
    places = [x for groups in SAMPLE_X for held in groups.values() for x in held]
    assert len(set(places)) == 12 and 0 not in places
    for kind, groups in zip(KINDS, SAMPLE_X, strict=True):
        assert kind.size == tuple(len(groups[a]) for a in GROUPS)
        assert kind.positive == tuple(sum(x > 0 for x in groups[a]) for a in GROUPS)


def test_every_sample_is_in_the_table_once_a_rule(toy):
    held = toy.dropna(subset=["label"])
    own = {f"client {k}": 4 for k in (1, 2, 3)}
    assert held.groupby("rule").size().to_dict() == own | dict.fromkeys(TOGETHER, 12)
    assert (held["label"] == (held["x"] > 0)).all()
    assert toy["accept"].between(0, 1).all()


def test_local_rules_are_drawn_as_thresholds(toy):
    local = toy[toy["rule"].str.startswith("client")]
    for _, lane in local.groupby(["rule", "group"]):
        steps = lane.sort_values("x")["accept"].diff().dropna()
        assert (steps >= 0).all() and set(lane["accept"]) <= {0.0, 1.0}


def test_the_picture_names_every_rule_and_its_figures(toy):
    drawn = fedfb_figure_2.draw(toy)
    words = {t.get_text().replace("\n", " ") for t in drawn.axes[0].texts}
    rules = {"client 1", "CFL", "majority vote", "LFT+ Ensemble"}
    assert {*rules, *"31/36 4/105 5/6 1/7 25/28".split()} <= words
