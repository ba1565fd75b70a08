"""Summaries of sites: counts, their file, and that no withheld count can be derived."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

import fairfl as ff
from fairfl.sims.data.summary import Summary, _digest, joined, read_summary, summarize

EDGES = [k / 5 for k in range(6)]
ROWS = "s,y,a\n0.1,no,old\n0.2,yes,young\n1,yes,young\n0.55,no,old\n0.95,yes,old\n"
NAMES = {"score": "s", "label": "y", "group": "a", "site": "north", "edges": EDGES}


@pytest.fixture
def found(tmp_path):
    (tmp_path / "people.csv").write_text(ROWS)
    return summarize(tmp_path / "people.csv", **NAMES)


def test_counts_by_hand(found):
    assert (found.groups, found.labels, found.people) == (("old", "young"), ("no", "yes"), 5)
    # 0.2 is the second level's lower edge, 1 the last level's upper one
    assert found.counts.tolist() == [
        [[1, 0, 1, 0, 0], [0, 0, 0, 0, 1]],
        [[0, 0, 0, 0, 0], [0, 1, 0, 0, 1]],
    ]


def test_the_file_is_read_back(found, tmp_path):
    (tmp_path / "site.json").write_text(found.as_text())
    again = read_summary(tmp_path / "site.json")
    assert again.as_text() == found.as_text() and (again.counts == found.counts).all()


@pytest.mark.filterwarnings("ignore::fairfl.theory.populations.calibration.ScoreWarning")
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_sites_are_the_federation_of_their_people(seed, sites):
    rng = np.random.default_rng(seed)
    n = 400
    frame = rng.integers(0, [[sites], [2], [2], [6]], (4, n))
    client, group, label, level = frame
    edges, counts = np.array([0, 0.1, 0.2, 0.5, 0.7, 0.9, 1.0]), np.zeros((sites, 2, 2, 6), int)
    np.add.at(counts, (client, group, label, level), 1)
    own = [
        Summary(f"site {i}", "s", "y", ("0", "1"), "a", ("0", "1"), tuple(edges), c, int(c.sum()))
        for i, c in enumerate(counts)
    ]
    table, points, _ = joined(own)
    fed = ff.Federation.from_counts(table, points)
    middle = (edges[:-1] + edges[1:]) / 2
    twin = ff.Federation.from_samples(middle[level], label, group, client, levels=0)
    for scheme in ("cfl", "lft_ensemble"):
        a, b = (ff.solve(one, scheme, 0.05) for one in (fed, twin))
        assert (a.accuracy, a.disparity) == pytest.approx((b.accuracy, b.disparity), abs=1e-12)


@given(st.integers(0, 10**6), st.integers(3, 12))
@settings(max_examples=60)
def test_no_small_count_can_be_derived(seed, least):
    """All tables that agree with what is published, and with how it is made, by integer programmes:
    no withheld count is the same in all of them.
    """
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.choice([0.3, 1, 4, 12, 30], (2, 2, 3))) * (rng.random((2, 2, 3)) < 0.8)
    people = int(counts.sum())
    whole = Summary("n", "s", "y", ("0", "1"), "a", ("0", "1"), (0, 0.3, 0.6, 1), counts, people)
    if not (counts >= least).any():
        return
    one = whole.suppressed(least)
    assert json.loads(one.as_text())["totals"].keys() <= {"people", "groups", "labels"}
    hidden = np.flatnonzero(one.withheld)
    if not hidden.size:
        assert not ((counts > 0) & (counts < least)).any()
        return
    assert json.loads(one.as_text())["totals"] == {"people": people}
    m, left = hidden.size, people - int(one.counts[one.counts >= 0].sum())
    # unknown are the counts, and which of them is the larger one, if one is
    sums = np.append(np.ones(m), np.zeros(m)), np.append(np.zeros(m), np.ones(m))
    rows = [optimize.LinearConstraint(sums[0], left, left)]
    rows.append(optimize.LinearConstraint(sums[1], int(one.complemented), int(one.complemented)))
    large = np.hstack([np.eye(m), -people * np.eye(m)])  # at most least - 1 unless the larger one
    rows.append(optimize.LinearConstraint(large, -np.inf, least - 1))
    small = np.hstack([np.eye(m), -(least - 1) * np.eye(m)])
    rows.append(optimize.LinearConstraint(small, 1, np.inf))
    bounds = optimize.Bounds(np.append(np.ones(m), np.zeros(m)), np.append(m * [people], m * [1]))
    for k in range(m):
        ends = []
        for sign in (1, -1):
            cost = sign * np.eye(2 * m)[k]
            best = optimize.milp(cost, constraints=rows, bounds=bounds, integrality=np.ones(2 * m))
            assert best.success
            ends.append(round(best.x[k]))
        if counts.flat[hidden[k]] < least:
            assert ends[0] < ends[1], (counts, one.counts)


def test_a_site_too_small_is_refused(found):
    # five counts of one: their sum, the number of people, says that each is one
    with pytest.raises(ValueError, match="'north' has too few people for min_cell 11"):
        found.suppressed(11)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda d: d | {"version": 2}, "version must be 1, got 2"),
        (lambda d: d | {"format": "x"}, "format must be 'fairfl-summary'"),
        (lambda d: [d], "format must be"),
        (lambda d: d | {"site": "south"}, "altered after it was written"),
        (lambda d: d | {"counts": _edit(d, 3)}, "altered after it was written"),
        (lambda d: sealed(d, rows=[]), "does not fit together"),
        (lambda d: sealed({k: v for k, v in d.items() if k != "edges"}), "(KeyError('edges'))"),
        (lambda d: sealed(d, labels=["no"]), "counts must have shape (2, 1, 5)"),
        (lambda d: sealed(d, edges=[0, 1, 0.5, 0.7, 0.8, 1]), "edges must be three or more incr"),
        (lambda d: sealed(d, counts=[[1, 2]]), "counts must have shape (2, 2, 5), got (1, 2)"),
        (lambda d: sealed(d, counts=_edit(d, 1.5)), "does not fit together"),
        (lambda d: sealed(d, counts=_edit(d, "x")), "does not fit together"),
        (lambda d: sealed(d, counts=_edit(d, 3)), "people must be the sum of counts, got 5"),
        (lambda d: sealed(d, counts=_edit(d, None), totals={"people": 4}), "people must be the"),
        (lambda d: sealed(d, totals={"people": 5}), "does not fit together"),
        (lambda d: sealed(d, totals=5), "does not fit together"),
    ],
)
def test_an_altered_summary_is_refused_with_what_is_wrong(found, tmp_path, change, told):
    file = tmp_path / "site.json"
    file.write_text(json.dumps(change(json.loads(found.as_text()))))
    with pytest.raises(ValueError) as error:
        read_summary(file)
    assert told in str(error.value) and "site.json" in str(error.value)


def sealed(data, **changes):
    """By somebody who computes the digest, too."""
    data = data | changes
    return data | {"sha256": _digest(data)}


def _edit(data, value):
    rows = json.loads(json.dumps(data["counts"]))
    rows[0][0][0] = value
    return rows


@pytest.mark.parametrize(
    ("text", "more", "told"),
    [
        ("", {}, "no rows below its header"),
        ("s,y,a\n", {}, "no rows below its header"),
        (ROWS + "0.3,no\n", {}, "row 6 of people.csv must have 3 cells, got 2"),
        (ROWS + "0.3,,old\n", {}, "column 'y' must not be missing, got '' in row 6"),
        (ROWS + "x,no,old\n", {}, "score column 's' must hold finite numbers, got 'x' in row 6"),
        (ROWS + "nan,no,old\n", {}, "must hold finite numbers, got 'nan'"),
        (ROWS + "1.5,no,old\n", {}, "must be from 0 to 1, the outermost edges, got 1.5 in row 6"),
        (ROWS + "0.5,maybe,old\n", {}, "label column 'y' must have two values"),
        (ROWS, {"score": "t"}, "'t' must be one column of people.csv, got s, y, a"),
        (ROWS, {"score": "y"}, "columns must be different, got y, y, a"),
        (ROWS, {"edges": [0, 1]}, "edges must be three or more increasing finite numbers"),
        (ROWS, {"edges": [0, 0.5, 0.5, 1]}, "edges must be three or more increasing"),
        (ROWS, {"site": ""}, "site must not be empty"),
    ],
)
def test_a_bad_table_is_one_line(tmp_path, text, more, told):
    (tmp_path / "people.csv").write_text(text)
    with pytest.raises(ValueError) as error:
        summarize(tmp_path / "people.csv", **NAMES | more)
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({}, "sites must have different names, got 'north' twice"),
        (
            {"site": "s", "labels": ("no", "ja")},
            "sites must have the same labels: 'north' has no, yes",
        ),
        ({"site": "s", "edges": (0, 0.1, 0.2, 0.3, 0.4, 1)}, "sites must have the same edges"),
    ],
)
def test_sites_must_agree(found, change, told):
    with pytest.raises(ValueError, match=told):
        joined([found, replace(found, **change)])
