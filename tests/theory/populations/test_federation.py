"""Federations: Bayes' rule, the forms of arguments, and that names and order do not matter."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from strategies import CAUCHY, DYADIC, PROBIT, WEIGHTS, federations, finite_federations, shares

from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.client import Client
from fairfl.theory.populations.eta import Logistic
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.laws import Finite, Samples

RULE = Classifier([[-1.0, 0.5, 1.0], [-2.0, 0.25, 1.5]], [[0, 1, 0, 1], [1, 0, 1, 0]])


@given(st.one_of(federations(), finite_federations()))
def test_bayes(fed: Federation) -> None:
    joint = fed.weight[:, None] * fed.share
    assert joint.sum() == pytest.approx(1.0, abs=1e-15)
    np.testing.assert_allclose(fed.mass, joint, atol=1e-15)
    np.testing.assert_allclose(fed.group_mass, joint.sum(axis=0), atol=1e-15)
    np.testing.assert_allclose(fed.within, joint / joint.sum(axis=0), rtol=1e-14)
    assert fed.defined.tolist() == [bool(0 < s < 1) for s in fed.share[:, 1]]


def _same(first: Federation, second: Federation, tolerance: float = 1e-13) -> None:
    assert RULE.accuracy(first) == pytest.approx(RULE.accuracy(second), abs=tolerance)
    assert RULE.mean_difference(first) == pytest.approx(RULE.mean_difference(second), abs=tolerance)
    assert first.base_rate == pytest.approx(second.base_rate, abs=tolerance)


@st.composite
def client_lists(draw: st.DrawFn) -> list[Client]:
    fed_q = draw(shares(3))
    means = [(draw(st.integers(-2, 2)), draw(st.integers(-2, 2))) for _ in fed_q]
    return [
        Client((stats.norm(m, 1), stats.laplace(n, 0.5)), q=q, weight=draw(WEIGHTS))
        for (m, n), q in zip(means, fed_q, strict=True)
    ]


@settings(max_examples=15)
@given(client_lists(), st.permutations(range(3)), WEIGHTS)
def test_names_and_units_do_not_matter(
    clients: list[Client], order: list[int], scale: float
) -> None:
    etas = [Logistic(), PROBIT, (CAUCHY, Logistic(2.0))]
    base = Federation(clients, eta=etas)
    new = Federation([clients[k] for k in order], eta=[etas[k] for k in order])
    _same(base, new)
    local = RULE.local_mean_differences(base)
    np.testing.assert_allclose(local[order], RULE.local_mean_differences(new), atol=1e-15)
    # the scale of weights, and a client in two halves
    scaled = [Client(c.laws, c.q, c.weight * scale) for c in clients]
    half = Client(clients[0].laws, clients[0].q, clients[0].weight * scale / 2)
    _same(base, Federation([half, half, *scaled[1:]], eta=[etas[0], *etas]))
    # the groups the other way round
    turned = [Client(c.laws[::-1], 1 - c.q, c.weight) for c in clients]
    new = Federation(turned, eta=[*etas[:2], (Logistic(2.0), CAUCHY)])
    mirrored = Classifier(RULE.edges[::-1], RULE.values[::-1])
    assert RULE.accuracy(base) == pytest.approx(mirrored.accuracy(new), abs=1e-13)
    assert RULE.mean_difference(base) == pytest.approx(-mirrored.mean_difference(new), abs=1e-14)


@pytest.mark.parametrize(
    ("count", "sd", "expected"),
    [
        (3, 2.0, [[2, 2]] * 3),
        (3, [1, 2, 3], [[1, 1], [2, 2], [3, 3]]),
        (3, [[1, 2], [3, 4], [5, 6]], [[1, 2], [3, 4], [5, 6]]),
        # I = 2 is the shape where one per client and one per group could be confused
        (2, [1, 2], [[1, 1], [2, 2]]),
    ],
)
def test_normal_takes_sd_in_every_shape(count: int, sd: Any, expected: Any) -> None:
    mean = [[0, 1], [2, 3], [4, 5]][:count]
    fed = Federation.normal(mean, sd=sd)
    laws: Any = fed.model.laws  # type: ignore[union-attr]
    assert [[law.sd for law in pair] for pair in laws] == expected
    assert [[law.mean for law in pair] for pair in laws] == mean
    assert (fed.client_names, fed.groups) == (tuple(range(count)), (0, 1))


def test_the_forms_of_eta_agree() -> None:
    clients = [
        Client((stats.norm(0, 1), stats.norm(1, 1))),
        Client((stats.norm(-1, 1), stats.norm(2, 1)), q=0.25),
    ]
    eta = Logistic(2.0, 0.5)
    shared = Federation(clients, eta=eta)
    for form in ([eta, eta], [(eta, eta), eta], [Logistic(2.0, 0.5), (eta, Logistic(2.0, 0.5))]):
        _same(shared, Federation(clients, eta=form))
    _same(Federation(clients), Federation(clients, eta=Logistic()))  # the default
    for different in ([eta, Logistic()], [eta, (eta, CAUCHY)]):
        assert abs(RULE.accuracy(Federation(clients, eta=different)) - RULE.accuracy(shared)) > 1e-3


@given(finite_federations(eta="group", groups=3))
def test_finite_laws_and_finite_masses_agree(fed: Federation) -> None:
    model: Any = fed.model
    uniform = np.full(model.points.size, 1 / model.points.size)
    clients = []
    for tables, share, weight in zip(model.conditional, fed.share, fed.weight, strict=True):
        tables = np.where(share[:, None] > 0, tables, uniform)
        clients.append(Client([Finite(model.points, t) for t in tables], share, float(weight)))  # type: ignore[arg-type]
    of_laws = Federation(clients, eta=model.eta)
    np.testing.assert_allclose(of_laws.mass, fed.mass, atol=1e-15)
    np.testing.assert_allclose(of_laws.model.conditional, model.conditional, atol=1e-15)  # type: ignore[union-attr]
    np.testing.assert_array_equal(of_laws.model.eta, model.eta)  # type: ignore[union-attr]


def test_samples_merge_their_points() -> None:
    fed = Federation(
        [
            Client((Samples([0, 0, 1]), Samples([2, 1])), q=0.5),
            Client((Samples([3.0]), Samples([0, 3])), q=0.25),
        ]
    )
    model: Any = fed.model
    assert model.points.tolist() == [0, 1, 2, 3]
    assert model.conditional[0].tolist() == [[2 / 3, 1 / 3, 0, 0], [0, 0.5, 0.5, 0]]
    assert model.conditional[1].tolist() == [[0, 0, 0, 1], [0.5, 0, 0, 0.5]]
    np.testing.assert_allclose(model.eta[0, 0], 1 / (1 + np.exp(-np.arange(4))), rtol=1e-15)


@given(st.permutations(range(5)), st.lists(DYADIC, min_size=20, max_size=20))
def test_the_order_of_points_does_not_matter(order: list[int], table: list[float]) -> None:
    points = np.array([-2.0, -1.0, 0.0, 0.375, 3.0])
    masses = np.arange(1.0, 21.0).reshape(2, 2, 5)
    masses /= masses.sum(axis=(1, 2), keepdims=True)
    for eta in (
        np.array(table[:5]),
        np.array(table[:10]).reshape(2, 5),
        np.array(table).reshape(2, 2, 5),
    ):
        plain = Federation.finite(points, masses, eta)
        permuted = Federation.finite(points[order], masses[:, :, order], eta[..., order])
        _same(plain, permuted)


def test_a_callable_eta_is_tabulated() -> None:
    x, masses = np.array([1.0, -1.0, 0.0]), np.full((1, 2, 3), 1 / 6)
    tabulated = Federation.finite(x, masses, Logistic()(x))
    for eta in (Logistic(), lambda x: 1 / (1 + np.exp(-x))):
        _same(Federation.finite(x, masses, eta), tabulated)


def test_etas_per_client_work_on_finite_laws() -> None:
    clients = [Client((Finite([0, 1], [0.5, 0.5]), Finite([0, 2], [0.25, 0.75])))] * 2
    fed = Federation(clients, eta=[Logistic(), (Logistic(2.0), CAUCHY)])
    eta = fed.model.eta  # type: ignore[union-attr]
    x = np.array([0.0, 1.0, 2.0])
    np.testing.assert_allclose(eta[0], [Logistic()(x)] * 2, rtol=1e-15)
    np.testing.assert_allclose(eta[1], [Logistic(2.0)(x), CAUCHY(x)], rtol=1e-15)
    _same(fed, Federation(clients, eta=[(Logistic(), Logistic()), (Logistic(2.0), CAUCHY)]))


def test_published_arrays_cannot_be_written() -> None:
    fed = Federation.normal([[0, 1], [1, 0]])
    for name in ("weight", "share", "mass", "group_mass", "within"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(fed, name)[...] = 0
