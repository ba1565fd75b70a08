"""Monotone rules against the independent programme in f itself, with f_k <= f_{k+1}."""

from typing import Any

import numpy as np
import pytest
from tasks import SCHEMES, beaten, federation, random_question

import fairfl as ff


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("seed", range(40))
@pytest.mark.every(4)
def test_solutions_are_the_programmes(seed: int, scheme: Any) -> None:
    rng = np.random.default_rng([seed, SCHEMES.index(scheme)])
    fed: Any = federation(rng, int(rng.integers(1, 6)), int(rng.integers(2, 4)))
    _, eps, task = random_question(rng, fed, scheme)
    s, free = (ff.solve(fed, scheme, eps, monotone=only, **task) for only in (True, False))
    for rule in s.classifier if scheme == "client_aware" else [s.classifier]:
        table = rule.on(fed.model.points)
        assert (np.diff(table) >= 0).all() and (table >= 0).all() and (table <= 1).all()
    worth, of_any = (np.array([c.primal for c in t.certificates]) for t in (s, free))
    assert (worth <= of_any + 1e-12).all()
    assert scheme == "lft_ensemble" or worth[0] - 1 == pytest.approx(s.utility, abs=1e-12)
    try:
        lp = ff.solve(fed, scheme, eps, monotone=True, method="lp", **task)
    except ff.CertificationError:
        pytest.skip("the programme ends undecided")
    np.testing.assert_allclose(worth, [c.primal for c in lp.certificates], rtol=0, atol=1e-8)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.every(4)
def test_no_budgets_are_above_the_frontier(seed: int, scheme: Any) -> None:
    rng = np.random.default_rng([seed, SCHEMES.index(scheme)])
    fed: Any = federation(rng, int(rng.integers(1, 4)), int(rng.integers(2, 4)))
    _, _, task = random_question(rng, fed, scheme)
    size = 1 if scheme in ("cfl", "client_aware") else fed.n_clients
    budgets = rng.random((20, size)) * rng.random((20, 1))
    assert beaten(fed, scheme, task | {"monotone": True}, budgets, 6) <= 1e-9
    F = ff.frontier(fed, scheme, 6, monotone=True, **task)
    if scheme in ("cfl", "client_aware"):
        assert F.exact
        free = ff.frontier(fed, scheme, 6, **task)
        assert (F.utility <= free.utility_at(F.disparity) + 1e-12).all()
    elif scheme == "lft_fedavg":
        assert not F.exact and (F.gap >= 0).all()


def test_what_has_no_order_is_refused() -> None:
    names: Any = ff.Federation.finite([0, 1], [[[0.2, 0.3], [0.1, 0.4]]], [0.2, 0.8])
    names.model.names = ("a", "b")
    laws = ff.Federation.normal([[0, 1]])
    for fed, words in ((names, "names: a, b"), (laws, "laws with densities")):
        with pytest.raises(ValueError, match=f"monotone=True needs .* got {words}"):
            ff.solve(fed, "cfl", 0.1, monotone=True)
    with pytest.raises(ValueError, match="monotone must be"):
        ff.min_disparity(laws, "cfl", monotone=1)  # type: ignore[arg-type]
