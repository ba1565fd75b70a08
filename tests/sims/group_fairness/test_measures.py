"""Measures of disparity by hand and by their definitions; FedFB's synthetic data."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fairfl.sims.data.federated.fedfb_synthetic import (
    COVARIANCES,
    MEANS,
    SPLITS,
    chance_of_group,
    fedfb_synthetic,
)
from fairfl.sims.engine import MLP, Parts
from fairfl.sims.group_fairness import FairMeasures, trivial
from fairfl.sims.group_fairness.measures import accepts


@given(
    st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 3)), min_size=1, max_size=30)
)
def test_by_definition(rows):
    accept, y, group = (np.array(column).astype(int) for column in zip(*rows, strict=True))
    fair = FairMeasures.of(accept, y, group)
    mean, pair = {}, {}
    for name, among in (("all", y >= 0), ("positive", y == 1), ("negative", y == 0)):
        parts = [accept[among & (group == a)] for a in np.unique(group)]
        if not all(map(len, parts)):  # a group has nobody with the label
            mean[name] = pair[name] = np.nan
            continue
        rates = [part.mean() for part in parts]
        mean[name] = max(abs(rate - accept[among].mean()) for rate in rates)
        pair[name] = max(rates) - min(rates)
    close = {"abs": 1e-12, "nan_ok": True}
    assert (fair.dp, fair.spd) == pytest.approx((mean["all"], pair["all"]), **close)
    assert fair.eo == pytest.approx(mean["positive"], **close)
    assert fair.eo_difference == pytest.approx(pair["positive"], **close)
    odds = (np.max([g["positive"], g["negative"]]) for g in (mean, pair))  # NaN if one is
    assert (fair.eodds, fair.eodds_difference) == pytest.approx(tuple(odds), **close)
    assert (fair.accuracy, fair.accepted) == pytest.approx(((accept == y).mean(), accept.mean()))
    groups, sizes = np.unique(group, return_counts=True)
    if len(groups) == 2:
        assert fair.dp == pytest.approx(sizes.max() / len(y) * fair.spd, abs=1e-12)


@given(st.integers(0, 10**6))
def test_an_ensemble_is_the_mean_of_its_models_but_for_disparity(seed):
    """Its accuracy is the mean of theirs, its disparity at most the mean."""
    rng = np.random.default_rng(seed)
    accept, y = rng.integers(0, 2, (3, 20)).astype(float), rng.integers(0, 2, 20)
    group = np.repeat([0, 1], 10)
    weights = rng.dirichlet(np.ones(3))
    ensemble = FairMeasures.of(weights @ accept, y, group)
    alone = [FairMeasures.of(row, y, group) for row in accept]
    assert ensemble.accuracy == pytest.approx(weights @ [member.accuracy for member in alone])
    assert ensemble.spd <= weights @ [member.spd for member in alone] + 1e-12


def test_constants_are_fair():
    y, group = np.array([1, 1, 0, 1, 0]), np.array([0, 1, 1, 0, 0])
    constants = trivial(y, group)
    assert [constants[name].accuracy for name in ("all 0", "all 1")] == [0.4, 0.6]
    assert all(m.dp == m.spd == m.eo == m.eodds == 0 for m in constants.values())


def test_accepts_are_predictions():
    model = MLP((3, 4, 2))
    parts = Parts.of(fedfb_synthetic(rows=200))
    data = model.prepare(parts.test.to("cpu", parts.train.x.dtype))
    params = 3 * model.init(5)[None]
    logits = model.scores(params, data.x[None])[0]
    expected = (logits[1] > logits[0]).numpy()
    np.testing.assert_array_equal(accepts(model, params, data)[0], expected)
    assert 0 < expected.mean() < 1


def test_chance_of_group_is_bayes_on_turned_inputs():
    """At ten points, against scipy's densities at x' = x turned by 45 degrees."""
    x = np.random.default_rng(0).normal(scale=4, size=(10, 2))
    turned = np.stack([(x[:, 0] - x[:, 1]) / 2**0.5, (x[:, 0] + x[:, 1]) / 2**0.5], axis=1)
    p = [
        stats.multivariate_normal(m, c).pdf(turned) for m, c in zip(MEANS, COVARIANCES, strict=True)
    ]
    np.testing.assert_allclose(chance_of_group(x), p[1] / (p[0] + p[1]), rtol=1e-10)


@pytest.mark.parametrize("published", [False, True])
def test_synthetic_follows_its_laws(published):
    """Means, covariances and P(y = 1) within five standard errors; shares as SPLITS has."""
    rows = 5000
    data = fedfb_synthetic(3, "high", rows, published=published)
    x, y = data.x[:, :2], data.y
    assert abs(y.mean() - 0.6) < 5 * (0.24 / rows) ** 0.5
    for label in (0, 1):
        xs = x[y == label]
        error = 5 * np.sqrt(np.diag(COVARIANCES[label]) / len(xs))
        assert (np.abs(xs.mean(0) - MEANS[label]) < error).all()
        assert np.abs(np.cov(xs.T) - COVARIANCES[label]).max() < 5 * 10 * (2 / len(xs)) ** 0.5
    for a, shares in enumerate(SPLITS[3, "high"]):
        owned = np.bincount(data.owner[data.group == a], minlength=3) / (data.group == a).sum()
        np.testing.assert_allclose(owned, shares, atol=0.002)
    assert [len(data.rows(part)) for part in ("train", "test")] == [3500, 1500]
    np.testing.assert_array_equal(data.x[:, 2], data.group)
    assert abs(data.group.mean() - chance_of_group(x).mean()) < 5 * (0.25 / rows) ** 0.5


def test_published_draw_is_the_codes():
    """The first label and features of numpy's legacy stream with seed 123, drawn one by one."""
    data = fedfb_synthetic(published=True)
    stream = np.random.RandomState(123)
    np.testing.assert_array_equal(data.y, stream.binomial(1, 0.6, 5000))
    first = stream.multivariate_normal(MEANS[data.y[0]], COVARIANCES[data.y[0]])
    np.testing.assert_allclose(data.x[0, :2], first)
    assert (data.rows("test") == np.arange(3500, 5000)).all()
