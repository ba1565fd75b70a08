"""From people to a finite federation: counts by hand."""

import re
import warnings
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl.fair_thresholds import FairThresholds
from fairfl.sims.group_fairness import FairMeasures
from fairfl.solvers.api import solve
from fairfl.theory.numerics.isotonic import isotonic
from fairfl.theory.populations.calibration import (
    CALIBRATIONS,
    Counted,
    ScoreWarning,
    choose_calibration,
    fitted_eta,
    folds,
)
from fairfl.theory.populations.count_people import count_people
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.score_levels import merge_scores

# people at random
odd = pytest.mark.filterwarnings("ignore::fairfl.theory.populations.calibration.ScoreWarning")


COUNTS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=20)


@given(COUNTS)
def test_isotonic_regression_by_its_conditions(rows: list[tuple[int, int]]) -> None:
    """Of least squares over non-decreasing fits: no first points do better with a lower value, the
    residuals are orthogonal to the fit and sum to 0. Points without people follow their left
    neighbour, or the first fitted point.
    """
    positives = np.array([min(p, c) for p, c in rows], dtype=float)
    counts = np.array([c for _, c in rows], dtype=float)
    fit, seen = isotonic(positives, counts), np.flatnonzero(counts)
    assert fit.shape == counts.shape and (np.diff(fit) >= 0).all() and set(fit[:1] >= 0) == {True}
    residuals = positives - counts * fit
    assert np.cumsum(residuals).min() >= -1e-12
    assert residuals.sum() == pytest.approx(0, abs=1e-12)
    assert residuals @ fit == pytest.approx(0, abs=1e-12)
    for k in np.flatnonzero(counts == 0):
        left = seen[seen < k]
        assert fit[k] == (fit[left[-1]] if left.size else fit[seen[0]] if seen.size else 0.5)


@st.composite
def people(draw: st.DrawFn) -> tuple[list[float], list[int], list[str], list[int]]:
    row = st.tuples(
        st.integers(-3, 3), st.booleans(), st.sampled_from("ABC"), st.sampled_from([5, 2, 9])
    )
    rows = draw(
        st.lists(row, min_size=2, max_size=40).filter(lambda r: len({g for _, _, g, _ in r}) > 1)
    )
    return (
        [x / 2 for x, *_ in rows],
        [int(y) for _, y, *_ in rows],
        [g for *_, g, _ in rows],
        [c for *_, c in rows],
    )


@odd
@given(people(), st.sampled_from([*CALIBRATIONS, "auto"]))
def test_people_are_counted(rows: Any, calibrate: str) -> None:
    score, label, group, client = rows
    fed = Federation.from_samples(score, label, group, client, calibrate=calibrate, levels=0)
    model: Any = fed.model
    assert fed.groups == tuple(sorted(set(group))) and fed.client_names == tuple(
        sorted(set(client))
    )
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
    # isotonic regression preserves block means: Σ η = Σ y over everybody that was fitted together
    assert fed.base_rate == pytest.approx(np.mean(label), abs=1e-12)
    assert (np.diff(model.eta, axis=-1) >= 0).all()
    assert calibrate != "shared" or (model.eta == model.eta[:1, :1]).all()


@odd
def test_groups_of_several_columns_are_their_combinations() -> None:
    score, label, client = [1.0, 2.0, 2.0, 3.0, 3.0], [0, 1, 0, 1, 1], [0, 0, 1, 1, 1]
    race, sex = ["a", "b", "a", "b", "b"], ["m", "m", "f", "m", "m"]
    joined = [f"{r}{s}" for r, s in zip(race, sex, strict=True)]
    joined_column = Federation.from_samples(score, label, joined, client)
    columns = Federation.from_samples(score, label, np.stack([race, sex], axis=1), client)
    assert columns.groups == (("a", "f"), ("a", "m"), ("b", "m"))  # nobody is (b, f)
    assert tuple("".join(group) for group in columns.groups) == joined_column.groups
    np.testing.assert_array_equal(joined_column.mass, columns.mass)
    frame = pd.DataFrame({"race": race, "sex": sex})
    assert Federation.from_samples(score, label, frame, client).groups == columns.groups
    with pytest.raises(ValueError, match=r"group must have shape \(5,\), as score, got \(2,\)"):
        Federation.from_samples(score, label, np.stack([race, sex]), client)
    rows = [list(pair) for pair in zip(race, sex, strict=True)]
    assert Federation.from_samples(score, label, rows, client).groups == columns.groups


NAN = float("nan")
MISSING: dict[str, Any] = {"NaN among texts": ["a", "b", NAN], "None among texts": ["a", "b", None]}
MISSING |= {"NaN among numbers": [0, 1, NAN]}
MISSING |= {"NA among texts": pd.Series(["a", "b", pd.NA], dtype="string")}
MISSING |= {"NA among objects": [1, 0, pd.NA]}
MISSING |= {"NA among whole numbers": pd.Series([1, 0, pd.NA], dtype="Int64")}
MISSING |= {"a category": pd.Categorical(["a", "b", None])}
MISSING |= {"a date": np.array(["2020", "2021", "NaT"], dtype="datetime64[Y]")}


@odd
@pytest.mark.parametrize("values", MISSING.values(), ids=MISSING)
def test_missing_labels_are_refused_wherever_people_are_told(values: Any) -> None:
    people: Any = {"label": [0, 1, 1], "group": [0, 1, 0], "client": [0, 0, 1]}
    model, score, (y, a, _) = (
        FairThresholds(estimator="passthrough"),
        np.arange(3.0),
        people.values(),
    )
    x, fitted = score[:, None], FairThresholds(estimator="passthrough")
    fitted.fit(x, y, sensitive_features=a)
    for name, call in (
        *((k, partial(Federation.from_samples, score, **people | {k: values})) for k in people),
        ("group", lambda: FairMeasures.of([0, 1, 0], y, values)),
        ("y", lambda: FairMeasures.of([0, 1, 0], values, a)),
        ("y", lambda: model.fit(x, values)),
        ("sensitive_features", lambda: model.fit(x, y, sensitive_features=values)),
        ("client", lambda: model.fit(x, y, sensitive_features=a, client=values)),
        ("sensitive_features", lambda: fitted.predict(x, sensitive_features=values)),
        ("a", lambda: fitted.rule_(score, values)),
    ):
        with pytest.raises(ValueError, match=f"^{name} must not be missing, got .* at row 2"):
            call()


SLOPES = {  # η = expit(2 x + a + i) of group a and client i
    "shared": np.zeros((2, 2)),
    "group": np.array([[-0.8, 0.8]] * 2),
    "client": np.array([[-0.8], [0.8]]) + np.zeros(2),
    "client_group": np.array([[-0.8, 0.8], [0.8, -0.8]]),
}


@pytest.mark.parametrize("truth", SLOPES)
def test_the_calibration_is_that_of_the_law_in_any_order(truth: str) -> None:
    rng, n = np.random.default_rng(3), 8000
    client, group, level = rng.integers(0, 2, n), rng.integers(0, 2, n), rng.integers(0, 12, n)
    chance = 1 / (1 + np.exp(-(level / 2 - 3 + SLOPES[truth][client, group])))
    cell = client, group, (rng.random(n) < chance).astype(int), level
    counts = np.zeros((2, 2, 2, 12))
    np.add.at(counts, cell, 1.0)
    sample = Counted(np.arange(12.0), counts)
    choice = choose_calibration(sample)
    assert choice.name == truth
    reversed_order = choose_calibration(Counted(sample.points, counts[::-1, ::-1]))
    assert reversed_order.name == truth
    assert reversed_order.losses == pytest.approx(choice.losses, abs=1e-12)
    by_group = choose_calibration(sample, counts_labels=True)
    assert CALIBRATIONS[by_group.name][1] and by_group.counts_labels == (truth in "shared client")
    # a person's log loss on new people, of an η fitted to these, is close to the choice's
    eta = np.clip(fitted_eta(counts, truth) + np.zeros((2, 2, 12)), 1e-3, 1 - 1e-3)
    fresh = 1 / (1 + np.exp(-(np.arange(12) / 2 - 3 + SLOPES[truth][..., None])))
    loss = -(fresh * np.log(eta) + (1 - fresh) * np.log1p(-eta)).mean()
    assert choice.losses[truth] == pytest.approx(loss, abs=0.02)


def test_names_have_their_frequencies_in_each_group() -> None:
    counts = np.array([[[[1.0, 4, 0], [3, 0, 2]], [[5, 1, 1], [0, 1, 0]]]])
    by_group = fitted_eta(counts, "group", ordered=False)
    # nobody of group 1 would be missing at a level: here all have somebody
    assert by_group[0].tolist() == [[3 / 4, 0, 1], [0, 1 / 2, 0]]
    counts[0, 1, :, 2] = 0
    assert fitted_eta(counts, "group", ordered=False)[0, 1, 2] == 1.0  # of all people of the name


@odd
def test_given_weights_replace_counts() -> None:
    rows = ([0, 1, 0], [0, 1, 1], [0, 1, 0], [1, 1, 2])
    assert Federation.from_samples(*rows).weight.tolist() == [2 / 3, 1 / 3]
    assert Federation.from_samples(*rows, weight=[1, 3]).weight.tolist() == [0.25, 0.75]


def weighted_people(n: int = 600) -> tuple[list[Any], Any]:
    rng = np.random.default_rng(5)
    score, group, client = rng.integers(0, 6, n), rng.integers(0, 2, n), rng.integers(0, 3, n)
    label = (rng.random(n) < 0.15 + 0.1 * score + 0.1 * group).astype(int)
    return [score, label, group, client], rng


@odd
@pytest.mark.parametrize("calibrate", CALIBRATIONS)
def test_whole_weights_are_rows_again(calibrate: str) -> None:
    rows, rng = weighted_people()
    weight = rng.integers(1, 5, 600)
    made = {"levels": 0, "calibrate": calibrate}
    twin = Federation.from_samples(*(np.repeat(column, weight) for column in rows), **made)
    sample = count_people(*rows, calibrate, 0, weight=weight)
    assert sample.weighted is not None
    of_counts = {"sums": sample.counts, "squares": sample.squares, "calibrate": calibrate}
    feds = [
        Federation.from_samples(*rows, weight=weight, **made),
        Federation.from_counts(sample.persons, np.arange(6), **of_counts),
    ]
    for fed in feds:
        assert fed.weight == pytest.approx(twin.weight, abs=1e-12)
        for scheme in ("cfl", "lft_fedavg", "lft_ensemble"):
            one, other = (solve(each, scheme, 0.05) for each in (fed, twin))
            assert one.accuracy == pytest.approx(other.accuracy, abs=1e-12)
            for a in (0, 1):
                people = np.arange(6.0), np.full(6, a)
                accepted = (each.classifier.of_number(*people) for each in (one, other))
                assert next(accepted) == pytest.approx(next(accepted), abs=1e-9)


def test_weights_are_summed_and_people_counted() -> None:
    rows, rng = weighted_people()
    weight = rng.gamma(1.0, 100.0, 600)
    sample = count_people(*rows, levels=0, weight=weight)
    sums, persons, squares = np.zeros((3, 3, 2, 2, 6))
    for score, label, group, client, w in zip(*rows, weight, strict=True):
        sums[client, group, label, score] += w
        persons[client, group, label, score] += 1
        squares[client, group, label, score] += w * w
    assert sample.counts == pytest.approx(sums) and sample.squares == pytest.approx(squares)
    assert np.array_equal(sample.persons, persons) and sample.people == 600
    size = weight.sum() ** 2 / (weight**2).sum()
    assert sample.effective_sizes() == pytest.approx(size) and 250 < size < 350
    parts = sample.weigh(folds(sample.effective, rng))
    assert (sample.counts - parts >= 0).all()
    assert parts.sum(axis=0) == pytest.approx(sample.counts)
    # merged levels: the best threshold is right for the weighted share of people
    _, merged = merge_scores(rows[0].astype(float), rows[1], 6, 2, weight)
    right = max(
        np.average((rows[0] > k) == (rows[1] == 1), weights=weight) for k in np.arange(-1, 6)
    )
    assert merged.before == pytest.approx(right, abs=0.01) and merged.before >= right - 1e-12
    # all alike: as without, whatever the unit
    alike = count_people(*rows, "auto", weight=np.full(600, 0.25)).calibrated()
    plain = count_people(*rows, "auto").calibrated()
    assert alike.calibration == plain.calibration
    assert np.array_equal(alike.effective, plain.counts)


def people_of_readme(count: int) -> tuple[Any, Any, Any, Any]:
    """Score, label, group and client: x ~ N(MEAN[i, a], 1) with all its digits, η logistic."""
    rng = np.random.default_rng(1)
    client = rng.integers(0, 2, count)
    group = (rng.random(count) < np.where(client == 0, 0.3, 0.7)).astype(int)
    x = rng.normal(np.array(README["mean"])[client, group], 1.0)
    return x, (rng.random(count) < 1 / (1 + np.exp(-x))).astype(int), group, client


README: Any = {"mean": [[0.8, 1.6], [-0.2, -1.2]], "q": [0.3, 0.7]}


@pytest.mark.parametrize("count", [2_000, 10_000])
def test_a_score_with_all_digits_answers_as_its_law(count: int) -> None:
    rows = people_of_readme(count)
    fed = Federation.from_samples(*rows)  # no warning
    solution = solve(fed, "lft_fedavg", 0.02)
    law = solve(Federation.normal(**README), "lft_fedavg", 0.02)
    # three standard errors of a share, and what η is over-fitted by at ten people a level
    error = 1.5 / np.sqrt(count) + 0.006
    assert abs(solution.accuracy - law.accuracy) < error
    assert abs(solution.disparity - law.disparity) < 2 * error
    merged = fed.merged
    assert merged is not None and merged.scores == count and merged.people >= 40
    assert f"{count:,} distinct scores merged into {merged.levels} levels" in str(merged)
    with pytest.warns(ScoreWarning, match=r"1\.0 people on average, fewer than 5 for each of 4"):
        nonsense = Federation.from_samples(*rows, levels=0)
    assert solve(nonsense, "lft_fedavg", 0.02).accuracy > law.accuracy + 0.02


N = np.arange(40)
UNUSUAL: dict[str, tuple[Any, Any, Any, Any, int]] = {
    "all scores equal": (np.ones(40), N % 3 > 0, N % 2, N // 20, 1),
    "two distinct scores": (N % 4 > 1, N % 4 > 1, N % 2, N // 20, 2),
    "a client for each person": (N, N > 20, N % 2, N, 2),
    "scores whose means round together": (1 + N * 2.3e-16, N > 20, N % 2, N // 20, 2),
}


@odd
@pytest.mark.parametrize("name", UNUSUAL)
def test_unusual_tables(name: str) -> None:
    *rows, levels = UNUSUAL[name]
    fed = Federation.from_samples(*rows)
    model: Any = fed.model
    assert fed.base_rate == pytest.approx(rows[1].mean(), abs=1e-12)
    assert model.points.size == levels
    for scheme in ("cfl", "lft_fedavg", "lft_ensemble"):
        assert solve(fed, scheme, 0.1).accuracy >= max(fed.base_rate, 1 - fed.base_rate) - 0.1


@pytest.mark.parametrize(
    ("pair", "kind"),
    [
        (["no", "yes"], object),
        (["nein", "ja"], "string"),
        ([">50K", "<=50K"], None),
        ([1, 0], None),
    ],
    ids=str,
)
def test_pos_label_stands_for_1(pair: list[Any], kind: Any) -> None:
    score, label, group, client = people_of_readme(200)
    fed = Federation.from_samples(score, label, group, client)
    for values in ([False, True], [-1, 1], [1, 2]):  # of two numbers the larger stands for 1
        same = Federation.from_samples(score, np.array(values)[label], group, client)
        assert np.array_equal(same.model.eta, fed.model.eta)  # type: ignore[union-attr]
    named = pd.Series([pair[y] for y in label], dtype=kind if isinstance(pair[0], str) else None)
    same = Federation.from_samples(score, named, group, client, pos_label=pair[1])
    assert np.array_equal(same.model.eta, fed.model.eta)  # type: ignore[union-attr]
    if isinstance(pair[0], str):
        low, high = map(repr, sorted(pair))
        message = f"pos_label must say which value of label is y = 1: {low} and {high}, got none"
        with pytest.raises(ValueError, match=re.escape(message)):
            Federation.from_samples(score, named, group, client)
    with pytest.raises(ValueError, match="pos_label must be one of the values of label, .*, got 7"):
        Federation.from_samples(score, named, group, client, pos_label=7)


def test_odd_scores_are_warned_of() -> None:
    rng = np.random.default_rng(0)
    n = 400
    group, client, score = rng.integers(0, 2, n), rng.integers(0, 2, n), rng.normal(size=n).round(1)
    label = (rng.random(n) < 1 / (1 + np.exp(-3 * score))).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Federation.from_samples(score, label, group, client)
        Federation.from_samples(score, label, group, client, calibrate="client_group")
    with pytest.warns(ScoreWarning, match="is the score reversed") as warned:
        Federation.from_samples(-score, label, group, client)
    assert warned[0].filename == __file__  # the caller's line
    rare = label * (rng.random(n) < 0.1).astype(int)
    for who, *rows in (("nobody", score, rare), ("everybody", -score, 1 - rare)):
        with pytest.warns(ScoreWarning, match=f"accepts {who}, whatever the score"):
            Federation.from_samples(*rows, group, client)


@odd
@given(people(), st.sampled_from([*CALIBRATIONS, "auto"]), st.randoms(use_true_random=False))
def test_counts_are_people(rows: Any, calibrate: str, random: Any) -> None:
    score, label, group, client = (np.array(column) for column in rows)
    points = np.unique(score)
    counts = np.zeros((np.unique(client).size, np.unique(group).size, 2, points.size))
    codes = [np.unique(column, return_inverse=True)[1] for column in (client, group)]
    np.add.at(counts, (*codes, label, np.searchsorted(points, score)), 1)
    order = random.sample(range(points.size), points.size)
    twin = Federation.from_counts(counts[..., order], points[order], calibrate=calibrate)
    fed = Federation.from_samples(*rows, calibrate=calibrate, levels=0)
    assert np.array_equal(twin.mass, fed.mass) and np.array_equal(twin.model.eta, fed.model.eta)  # type: ignore[union-attr]
    assert np.array_equal(twin.model.conditional, fed.model.conditional)  # type: ignore[union-attr]
