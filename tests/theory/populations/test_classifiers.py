"""Classifiers: their figures against quadrature and enumeration, and the ways to build them."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from populations import continuous_model
from scipy import integrate
from strategies import eighths, federations, finite_federations, normals
from tasks import Counted

from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.federation import Federation


@st.composite
def classifiers(draw: st.DrawFn, groups: int = 2) -> Classifier:
    edges, values = [], []
    for _ in range(groups):
        cuts = sorted(draw(st.lists(eighths(-3, 3), max_size=4, unique=True)))
        edges.append(cuts)
        quarters = st.integers(0, 4).map(lambda k: k / 4)
        values.append(draw(st.lists(quarters, min_size=len(cuts) + 1, max_size=len(cuts) + 1)))
    return Classifier(edges, values)


def integral(function: Any, low: float, high: float, breaks: Any) -> float:
    """∫ by scipy's quadrature, piece by piece between the laws' break points."""
    ends = np.unique(np.clip(np.concatenate([[low, high], breaks]), low, high))
    return sum(
        integrate.quad(function, a, b, epsabs=1e-13, epsrel=1e-12, limit=200)[0]
        for a, b in zip(ends, ends[1:], strict=False)
    )


def slow_accuracy(rule: Classifier, fed: Federation) -> float:
    """Σ_i,a P(a, i) ∫ p (f η + (1 - f)(1 - η))."""
    model, total = continuous_model(fed), 0.0
    for i in range(fed.n_clients):
        for a in (0, 1):
            law, eta = model.laws[i][a], model.etas[i][a]
            for lo, hi, f in rule.steps(a):
                lo, hi = max(lo, law.low), min(hi, law.high)
                if hi <= lo or fed.mass[i, a] == 0:
                    continue

                def won(x: float, law: Any = law, eta: Any = eta, f: float = f) -> float:
                    level = float(eta(x))
                    return float(law.pdf(x)) * (f * level + (1 - f) * (1 - level))

                total += fed.mass[i, a] * integral(
                    won, lo, hi, np.concatenate([law.breaks, eta.breaks])
                )
    return total


@pytest.mark.parametrize(
    ("law", "close"), [(normals(), 2e-12), (None, 1e-8)], ids=["normal", "any law"]
)
@settings(max_examples=20)
@given(data=st.data())
def test_accuracy_is_the_integral(law: Any, close: float, data: st.DataObject) -> None:
    # of any law quad itself stops short of 1e-9 in heavy tails
    rule, fed = data.draw(classifiers()), data.draw(federations(law=law, max_clients=2))
    assert rule.accuracy(fed) == pytest.approx(slow_accuracy(rule, fed), abs=close)
    everybody = Classifier([[], []], [[1.0], [1.0]])
    assert everybody.accuracy(fed) == pytest.approx(fed.base_rate, abs=1e-13)


@given(classifiers(), federations())
def test_rates_are_sums_over_pieces_and_figures_follow(rule: Classifier, fed: Federation) -> None:
    rates, pooled = rule.rates(fed), np.zeros(2)
    for i in range(fed.n_clients):
        for a in (0, 1):
            if fed.share[i, a] == 0:
                assert np.isnan(rates[i, a])
                continue
            law = fed.model.laws[i][a]  # type: ignore[union-attr]
            expected = sum(f * float(law.cdf(hi) - law.cdf(lo)) for lo, hi, f in rule.steps(a))
            assert rates[i, a] == pytest.approx(expected, abs=1e-14)
            pooled[a] += fed.mass[i, a] * expected / fed.mass[:, a].sum()
    assert rule.mean_difference(fed) == pytest.approx(pooled[0] - pooled[1], abs=1e-14)
    assert rule.disparity(fed) == pytest.approx(abs(pooled[0] - pooled[1]), abs=1e-14)
    np.testing.assert_array_equal(rule.local_mean_differences(fed), rates[:, 0] - rates[:, 1])


@given(finite_federations(groups=3), st.data())
def test_figures_on_a_finite_x_are_sums(fed: Federation, data: st.DataObject) -> None:
    rule = data.draw(classifiers(groups=3))
    people, clients, groups = Counted(fed, rule), range(fed.n_clients), range(3)
    assert rule.accuracy(fed) == pytest.approx(1 - people.cost(np.ones(3), np.ones(3)), abs=1e-14)
    rates = [[people.rate(None, {i}, {a}) for a in groups] for i in clients]
    np.testing.assert_allclose(rule.rates(fed), rates, atol=1e-14)
    pooled = [people.rate(None, set(clients), {a}) for a in groups]
    np.testing.assert_allclose(rule.group_rates(fed), pooled, atol=1e-14)
    assert rule.disparity(fed) == pytest.approx(np.ptp(pooled), abs=1e-14)


def test_a_threshold_accepts_strictly_above() -> None:
    rule = Classifier.thresholds([1.0, -np.inf])
    assert rule([0.5, 1.0, np.nextafter(1, 2), 2.0], 0).tolist() == [0, 0, 1, 1]
    assert rule([-1e300, 0.0, 1e300], 1).tolist() == [1, 1, 1]
    assert rule([2.0, 0.0], [0, 0]).tolist() == [1, 0]
    assert rule(2.0, np.array([0, 1])).tolist() == [1, 1]
    assert float(rule(2.0, 0)) == 1.0


@given(classifiers(), st.sampled_from([0.5, 0.75, 1.0]))
def test_accept_is_where_the_rule_reaches_the_level(rule: Classifier, level: float) -> None:
    x = np.arange(-5, 5, 0.0625)
    assert rule.accept(0) == rule.accept(0, level=1.0)
    for a in (0, 1):
        told = rule.accept(a, level=level)
        assert all(hi < lo for (_, hi), (lo, _) in zip(told, told[1:], strict=False))
        within = [any(lo < v <= hi for lo, hi in told) for v in x]
        assert within == (rule(x, a) >= level).tolist()


@given(st.lists(classifiers(), min_size=1, max_size=4), st.data())
def test_an_average_is_the_weighted_vote(members: list[Classifier], data: st.DataObject) -> None:
    w = np.array([data.draw(st.integers(1, 5)) for _ in members], dtype=float)
    w /= w.sum()
    vote = Classifier.average(members, w)
    x = np.arange(-4, 4, 0.0625)
    for a in (0, 1):
        expected = sum(v * m(x, a) for v, m in zip(w, members, strict=True))
        np.testing.assert_allclose(vote(x, a), expected, atol=1e-15)


@given(st.lists(eighths(-3, 3), min_size=1, max_size=8, unique=True), st.data())
def test_on_points_holds_every_probability(points: list[float], data: st.DataObject) -> None:
    x = np.array(sorted(points))
    table = np.array([[data.draw(st.integers(0, 4)) / 4 for _ in x] for _ in range(2)])
    rule = Classifier.on_points(x, table)
    for a in (0, 1):
        assert rule(x, a).tolist() == table[a].tolist()
        nearest = np.abs((x + 0.01)[:, None] - x).argmin(axis=1)
        assert rule(x + 0.01, a).tolist() == table[a][nearest].tolist()


def test_on_points_separates_neighbouring_doubles() -> None:
    x = np.array([1.0, np.nextafter(1.0, 2.0)])
    rule = Classifier.on_points(x, np.array([[0.0, 1.0], [1.0, 0.0]]))
    assert rule(x, 0).tolist() == [0.0, 1.0]
    assert rule(x, 1).tolist() == [1.0, 0.0]
