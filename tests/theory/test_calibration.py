"""From people to a finite federation: counts by hand, and isotonic regression against two other codes."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl.theory.calibration import isotonic
from fairfl.theory.classifiers import Classifier
from fairfl.theory.federation import Federation


def naive_pav(y: list[float], w: list[float]) -> list[float]:
    """Pool adjacent violators, as in the textbook."""
    blocks: list[list[float]] = []
    for value, weight in zip(y, w, strict=True):
        blocks.append([value, weight, 1])
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            v, u, n = blocks.pop()
            blocks[-1] = [
                (blocks[-1][0] * blocks[-1][1] + v * u) / (blocks[-1][1] + u),
                blocks[-1][1] + u,
                blocks[-1][2] + n,
            ]
    return [v for v, _, n in blocks for _ in range(int(n))]


COUNTS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=20)


@given(COUNTS)
def test_isotonic_is_pav(rows: list[tuple[int, int]]) -> None:
    positives = np.array([min(p, c) for p, c in rows], dtype=float)
    counts = np.array([c for _, c in rows], dtype=float)
    fit = isotonic(positives, counts)
    assert fit.shape == counts.shape and (np.diff(fit) >= 0).all() and ((fit >= 0) & (fit <= 1)).all()
    seen = counts > 0
    if seen.any():
        expected = naive_pav(list(positives[seen] / counts[seen]), list(counts[seen]))
        np.testing.assert_allclose(fit[seen], expected, atol=1e-12)
        # points without people follow their left neighbour, or the first fitted point
        where = np.flatnonzero(seen)
        for k in np.flatnonzero(~seen):
            left = where[where < k]
            assert fit[k] == (fit[left[-1]] if left.size else fit[where[0]])
    else:
        assert (fit == 0.5).all()


@given(COUNTS)
def test_isotonic_is_scikit_learns(rows: list[tuple[int, int]]) -> None:
    sklearn = pytest.importorskip("sklearn.isotonic")
    kept = [(min(p, c), c) for p, c in rows if c > 0]
    if not kept:
        return
    positives, counts = np.array(kept, dtype=float).T
    theirs = sklearn.IsotonicRegression().fit_transform(
        np.arange(counts.size), positives / counts, sample_weight=counts
    )
    np.testing.assert_allclose(isotonic(positives, counts), theirs, atol=1e-9)


@st.composite
def people(draw: st.DrawFn) -> tuple[list[float], list[int], list[str], list[int]]:
    row = st.tuples(st.integers(-3, 3), st.booleans(), st.sampled_from("ABC"), st.sampled_from([5, 2, 9]))
    rows = draw(st.lists(row, min_size=2, max_size=40).filter(lambda r: len({g for _, _, g, _ in r}) > 1))
    return [x / 2 for x, *_ in rows], [int(y) for _, y, *_ in rows], [g for *_, g, _ in rows], [c for *_, c in rows]


@given(people(), st.sampled_from(["shared", "client", "client_group"]))
def test_people_are_counted(rows: Any, calibrate: str) -> None:
    score, label, group, client = rows
    fed = Federation.from_samples(score, label, group, client, calibrate=calibrate)
    model: Any = fed.model
    assert fed.groups == tuple(sorted(set(group))) and fed.client_names == tuple(sorted(set(client)))
    assert model.points.tolist() == sorted(set(score))
    n = len(score)
    for i, c in enumerate(fed.client_names):
        assert fed.weight[i] == pytest.approx(client.count(c) / n, abs=1e-15)
        for a, g in enumerate(fed.groups):
            cell = [x for x, h, d in zip(score, group, client, strict=True) if h == g and d == c]
            assert fed.mass[i, a] == pytest.approx(len(cell) / n, abs=1e-15)
            for k, x in enumerate(model.points):
                joint = fed.mass[i, a] * model.conditional[i, a, k]
                assert joint == pytest.approx(cell.count(x) / n, abs=1e-15)


@given(people(), st.sampled_from(["shared", "client", "client_group"]))
def test_calibration_keeps_the_frequency_of_labels(rows: Any, calibrate: str) -> None:
    # isotonic regression preserves block means: Σ η = Σ y over everybody that was fitted together
    score, label, group, client = rows
    fed = Federation.from_samples(score, label, group, client, calibrate=calibrate)
    assert fed.base_rate == pytest.approx(np.mean(label), abs=1e-12)
    model: Any = fed.model
    assert (np.diff(model.eta, axis=-1) >= 0).all()
    shared = all((model.eta == model.eta[:1, :1]).ravel())
    assert shared or calibrate != "shared"


@given(people())
def test_accuracy_on_level_sets_is_empirical(rows: Any) -> None:
    # a threshold between two levels of η counts correct labels: exact, since blocks keep their means
    score, label, group, client = rows
    fed = Federation.from_samples(score, label, group, client)
    model: Any = fed.model
    eta = model.eta[0, 0]
    for k in np.flatnonzero(np.diff(eta) > 0):
        cut = float(model.points[k])
        right = np.mean([(x > cut) == bool(y) for x, y in zip(score, label, strict=True)])
        assert Classifier.thresholds([cut] * fed.n_groups).accuracy(fed) == pytest.approx(right, abs=1e-12)


def test_calibration_per_client_differs_where_labels_do() -> None:
    rows = ([0, 1, 0, 1], [0, 1, 1, 1], ["f", "m", "m", "f"], [1, 1, 2, 2])
    shared = Federation.from_samples(*rows)
    own = Federation.from_samples(*rows, calibrate="client")
    # pooled: η(0) = 1/2, η(1) = 1; client 1: 0, 1; client 2: 1, 1
    assert shared.model.eta[0, 0].tolist() == [0.5, 1.0]  # type: ignore[union-attr]
    assert own.model.eta[:, 0].tolist() == [[0.0, 1.0], [1.0, 1.0]]  # type: ignore[union-attr]


def test_given_weights_replace_counts() -> None:
    rows = ([0, 1, 0], [0, 1, 1], [0, 1, 0], [1, 1, 2])
    assert Federation.from_samples(*rows).weight.tolist() == [2 / 3, 1 / 3]
    assert Federation.from_samples(*rows, weight=[1, 3]).weight.tolist() == [0.25, 0.75]
