"""AgnosticFair reaches an equilibrium: a reference solution, and its residuals."""

import numpy as np
import pytest
import torch
from scipy.optimize import approx_fprime, linprog, minimize

from fairfl.sims.engine import ClientData, Logistic, Parts
from fairfl.sims.group_fairness import AgnosticFair

RULE = AgnosticFair(kernels=5, tau=0.05, momentum=0.9, decay=0.75, dual_rate=0.2)


def people(seed=0, n=120):
    """Two clients; the second input tells the group in part."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, n)
    x = np.column_stack([rng.normal(size=n), rng.normal(size=n) + a])
    y = (x.sum(1) + rng.logistic(size=n) > 0.5).astype(int)
    halves = [slice(0, n // 3), slice(n // 3, n)]
    plain = ClientData.from_clients(
        [(torch.from_numpy(x[h]), torch.from_numpy(y[h])) for h in halves]
    )
    return Parts(ClientData(plain.x, plain.y, plain.offsets, group=a)), x, y, a


def kernels(rule, x, seed=0):
    """The K_m of the docstring, written again, with the centres of the seed's stream."""
    standard = (x - x.mean(0)) / x.std(0)
    centres = np.random.default_rng([seed, 7]).normal(size=(rule.kernels, x.shape[1]))
    far = ((standard[:, None] - centres) ** 2).sum(2)
    return np.exp(-far / (2 * rule.width**2 * x.shape[1]))


@pytest.fixture(scope="module")
def ended():
    parts, x, y, a = people()
    return RULE.fit(Logistic(2), parts, 900, 0.2)[0], x, y, a


def parts_of_problem(x, y, a, alpha):
    """risk(w), gap(w) for the fixed α, by their definitions."""
    theta = kernels(RULE, x) @ alpha / len(y)
    design = np.column_stack([x, np.ones(len(y))])

    def risk(w):
        z = design @ w
        return float(theta @ np.logaddexp(0, np.where(y == 1, -z, z)))

    def gap(w):
        return float((theta * (a - a.mean())) @ (design @ w))

    return risk, gap


def test_it_is_the_reference_solution(ended):
    """min_w risk s.t. |gap| <= tau at the adversary's α, convex in w, by SLSQP."""
    fit, x, y, a = ended
    risk, gap = parts_of_problem(x, y, a, fit.alpha)
    limits = [{"type": "ineq", "fun": lambda w, s=s: RULE.tau - s * gap(w)} for s in (1, -1)]
    options = {"method": "SLSQP", "options": {"maxiter": 500, "ftol": 1e-12}}
    best = minimize(risk, np.zeros(3), constraints=limits, **options)
    assert best.success
    w = fit.params.numpy()
    assert risk(w) == pytest.approx(best.fun, abs=2e-4)
    assert abs(gap(best.x)) == pytest.approx(RULE.tau, abs=1e-6)  # the constraint binds
    assert abs(gap(w)) == pytest.approx(RULE.tau, abs=2e-3)
    slope = approx_fprime(w, lambda w: risk(w) + fit.multiplier * gap(w))
    assert np.linalg.norm(slope) < 5e-3


def test_the_adversary_has_nothing_left(ended):
    """The linear programme's optimum over Λ is hardly above what α has."""
    fit, x, y, a = ended
    k = kernels(RULE, x)
    units = np.eye(RULE.kernels)
    worth, w = [], fit.params.numpy()
    for unit in units:
        risk, gap = parts_of_problem(x, y, a, unit)
        worth.append(risk(w) + fit.multiplier * gap(w))
    mass = k.mean(0)
    cap = RULE.cap / mass.sum()
    best = linprog(-np.array(worth), A_eq=mass[None], b_eq=[1], bounds=[(0, cap)] * RULE.kernels)
    assert mass @ fit.alpha == pytest.approx(1, abs=1e-9)
    assert -1e-6 < -best.fun - fit.alpha @ np.array(worth) < 2e-3
