"""LFT+Ensemble on a finite X where trade-offs are not concave and clients lack cells: attained, and not beaten."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fairfl as ff
from fairfl.solvers import finite_exchange
from fairfl.solvers.client_path import client_path
from fairfl.solvers.finite_frontier import FiniteEnsemble
from fairfl.theory.finite import FiniteModel


def few_atoms(seed: int, unseen: bool, clients: int = 2, atoms: int = 4) -> ff.Federation:
    """Random masses; with ``unseen``, one cell in four has none at one client. Half of them have an η per client."""
    rng = np.random.default_rng(seed)
    masses = rng.uniform(0.02, 1, (clients, 2, atoms))
    if unseen:
        masses *= rng.random(masses.shape) > 0.25
    masses[:, :, 0] += 0.01  # nobody is empty
    masses /= masses.sum(axis=(1, 2), keepdims=True)
    eta = rng.random((clients, atoms)) if seed % 2 else np.sort(rng.random(atoms))
    return ff.Federation.finite(np.arange(atoms), masses, eta, weight=rng.uniform(0.3, 2, clients))


def model_of(fed: ff.Federation) -> FiniteModel:
    assert isinstance(fed.model, FiniteModel)
    return fed.model


def all_budgets(fed: ff.Federation, count: int) -> Any:
    """(disparity, accuracy) over a grid of budgets with every client's vertices, and just below them."""
    model = model_of(fed)
    axes = []
    for i in range(fed.n_clients):
        local = client_path(fed, model, i).local
        axes.append(np.unique(np.concatenate([local, np.nextafter(local, 0), np.linspace(0, local[0], count), [1.0]])))
    found = [ff.solve(fed, "lft_ensemble", list(eps)) for eps in itertools.product(*axes)]
    return np.array([(s.disparity, s.accuracy) for s in found]).T


@pytest.mark.slow
@pytest.mark.parametrize("unseen", [False, True])
@settings(max_examples=12)
@given(st.integers(0, 10**6))
def test_no_budgets_beat_the_frontier(unseen: bool, seed: int) -> None:
    fed = few_atoms(seed, unseen)
    F = ff.frontier(fed, "lft_ensemble", points=9)
    disparity, accuracy = all_budgets(fed, 12)
    assert disparity.min() >= F.disparity[0] - 1e-12
    assert (accuracy <= F.accuracy_at(np.maximum(disparity, F.disparity[0])) + 1e-12).all()


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.booleans(), st.integers(2, 3))
def test_every_point_is_attained_by_its_budgets(seed: int, unseen: bool, clients: int) -> None:
    fed = few_atoms(seed, unseen, clients)
    F = ff.frontier(fed, "lft_ensemble", points=9)
    for d, accuracy, eps in zip(F.disparity, F.accuracy, F.eps, strict=True):
        s = ff.solve(fed, "lft_ensemble", eps)
        assert (s.disparity, s.accuracy) == (pytest.approx(d, abs=1e-12), pytest.approx(accuracy, abs=1e-12))
    m = ff.min_disparity(fed, "lft_ensemble")
    assert ff.solve(fed, "lft_ensemble", m.eps).disparity == pytest.approx(m.disparity, abs=1e-12)
    assert m.disparity <= F.disparity[0] + 1e-12


def test_a_jump_is_crossed_and_never_stood_on() -> None:
    # client 0 favours group 1 by 0.2, and has nobody of group 0 at x = 1, whose price, 0.5·|2·0.45 - 1|, is the least:
    # as its budget falls below 0.2 that cell flips at once, and with it the 0.2/0.5 that client 1 has there
    masses = np.array([[[0.3, 0.0, 0.1, 0.1], [0.1, 0.1, 0.1, 0.2]], [[0.1, 0.2, 0.1, 0.1], [0.2, 0.1, 0.1, 0.1]]])
    fed = ff.Federation.finite([0, 1, 2, 3], masses, [0.2, 0.45, 0.7, 0.9])
    path = client_path(fed, model_of(fed), 0)
    assert path.jump.tolist()[0] and path.local[:2] == pytest.approx([0.2, 0.2])
    assert path.md[1] - path.md[0] == pytest.approx(0.5 * 0.4)  # P(i=1|a=0) = 1/2
    md = np.array([ff.solve(fed, "lft_ensemble", [eps, 1.0]).mean_difference for eps in np.linspace(0, 0.5, 1001)])
    low, high = fed.weight[0] * path.md[:2] + fed.weight[1] * client_path(fed, model_of(fed), 1).md[0]
    assert (md <= low + 1e-12).any() and (md >= high - 1e-12).any()
    assert not ((md > low + 1e-12) & (md < high - 1e-12)).any()
    family = FiniteEnsemble(fed, model_of(fed))
    md, _, eps = family.read(np.array([[k, 0.0] for k in range(path.md.size)], dtype=float))
    for value, budgets in zip(md, eps, strict=True):
        assert ff.solve(fed, "lft_ensemble", budgets).mean_difference == pytest.approx(value, abs=1e-12)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.booleans())
def test_exchanges_find_nearly_what_all_combinations_do(seed: int, unseen: bool) -> None:
    fed = few_atoms(seed, unseen, clients=3)
    family = FiniteEnsemble(fed, model_of(fed))
    wanted = np.linspace(0.0, 0.4, 5)
    with pytest.MonkeyPatch.context() as patch:
        best_md, best, _ = family.best(wanted)
        patch.setattr(finite_exchange, "COMBINATIONS", 0)
        md, accuracy, _ = family.best(wanted)
    met = (np.abs(best_md) <= wanted + 1e-12) & (np.abs(md) <= wanted + 1e-12)
    assert (accuracy[met] <= best[met] + 1e-12).all()
    assert ((np.abs(md) <= wanted + 1e-12) <= (np.abs(best_md) <= wanted + 1e-12)).all()  # all find what pairs find
    assert (best - accuracy)[met].max(initial=0.0) <= 0.02
