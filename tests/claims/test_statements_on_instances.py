"""Statements that claims show by algebra in letters, at instances in floats: optima by search,
derivatives by differences, of the claims only the ids. A function returns margins, none below 0
where the statement holds; each false version breaks one, and each margin is broken by one.
"""

from functools import partial

import numpy as np
import pytest
from numpy.linalg import norm
from scipy.optimize import root

from fairfl.claims.registry import registered


def numbers(rng, size, low=0.0, high=1.0):
    """Uniform; or all equal, or each at an end of the range."""
    kind = rng.integers(6)
    if kind == 0:
        return np.full(size, rng.choice([low, high, rng.uniform(low, high)]))
    return rng.choice([low, high], size) if kind == 1 else rng.uniform(low, high, size)


def gradient(f, at, h=1e-5):
    return np.array([(f(at + e) - f(at - e)) / (2 * h) for e in h * np.eye(len(at))])


def wave(g, c, k):
    """A loss that is |c|-smooth, 0 at 0 with gradient g there, convex or not."""
    return lambda w: g @ w + 2 * c * np.sin(k @ w / 2) ** 2 / (k @ k)


def mean_of_logs(rng, share=1.0):
    u = numbers(rng, rng.integers(1, 6), 0.1, 9)
    gap = np.log(share * u.mean()) - np.log(u).mean()
    return gap, -abs(gap) if np.ptp(u) == 0 else np.sign(gap - 1e-13)


def optima(rng, low=0.0):
    """F(w_0*) and F(w_1*) over some models, one of which has equal losses."""
    m = rng.integers(1, 5)
    F = np.array([numbers(rng, m, low, 2) for _ in range(rng.integers(1, 5))])
    F = np.vstack([F, np.full(m, F[0].mean() + rng.uniform(0, 0.3))])
    return F[F.mean(1).argmin()], F[(F**2).mean(1).argmin()]


def variances(rng, low=0.0, always=False):
    first, second = optima(rng, low)
    gap, better = first.var() - second.var(), (first**2).mean() - (second**2).mean() > 1e-9
    return gap, np.sign(gap - 1e-12) if better or always else 0


def angles(rng, share=1.0):
    first, second = optima(rng)
    return (share * second.sum() / norm(second) - first.sum() / norm(first) if second.any() else 0,)


def entropies(rng, shift=1, share=1.0):
    """Of F^(q + shift) along the optima; F_k = c_k + sum_j a_kj (w_j - b_kj)^2/2 in R or R^2."""
    shape, q = (rng.integers(1, 9), rng.integers(1, 3)), numbers(rng, 1, 0, 2)[0]
    a, b, c = (numbers(rng, shape, *ends) for ends in ((1, 2), (-2, 2), (0.02, 2)))

    def losses(w):
        return c[:, 0] + (a * (w - b) ** 2).sum(1) / 2

    def optimum(p):
        return root(lambda w: losses(w) ** p @ (a * (w - b)), b.mean(0), tol=1e-13).x

    def entropy(p):
        powers = losses(optimum(p)) ** (q + shift)
        return np.log(powers.sum()) - powers @ np.log(powers) / powers.sum()

    slope = (entropy(q + 1e-4) - entropy(q - 1e-4)) / 2e-4
    f, g = losses(optimum(q)), a * (optimum(q) - b)
    X, A = f**q * np.log(f) @ g, (q * f ** (q - 1) * g.T) @ g + np.diag(f**q @ a)
    formula = (q + 1) ** 2 / (f ** (q + 1)).sum() * X @ np.linalg.solve(A, X)
    return slope, -abs(slope - share * formula)


def composed(rng, first=3.0, second=1.0):
    """(A.46), (A.49), (A.52), ``first``/2 for 3/2: two points or clients, a client's batches."""
    M, L, d, n = rng.uniform(0.5, 3), 10 ** rng.uniform(-2, 2), rng.integers(1, 4), 4
    f, g = numbers(rng, n, rng.choice([0, 0.45]) * M, M / 2), numbers(rng, (n, d), -2, 2)
    g *= rng.integers(4) > 0
    f, g = np.append(f, f.mean()), np.vstack([g, g.mean(0)])
    L0 = norm(g, axis=1).max()
    slopes = gradient(lambda w: -np.log(M - f - g @ w), np.zeros(d)).T
    off, slope_gap, distance = (norm(x[0] - x[1]) for x in (f, g, slopes))
    far = max(slope_gap / L, off / L0 if L0 else 0)  # two points that are no nearer
    batches = [((x[:n] - x[n]) ** 2).sum() / n for x in (f, g, slopes)]
    return (
        4 / M**2 * (first / 2 * M * L + second * L0**2) * far - distance,
        4 / M * (first / 2 * slope_gap + second * L0 / M * off) - distance,
        8 / M**4 * (first**2 * M**2 * batches[1] + 4 * second * L0**2 * batches[0]) - batches[2],
    )


def fedavg_unfair(rng, head=3 / 16, ratio=2.0, step=1 / 3):
    """The benefit of v_2 less that of v_1, from w = 0, L = 1; one time in three at the limit."""
    u, v, eta = *rng.normal(size=(2, rng.integers(1, 4))), step * numbers(rng, 1)[0]
    g, h = u * rng.integers(2), v * (1 + ratio * norm(u) / norm(v))
    losses, gained = [wave(x, rng.uniform(-1, 1), v) for x in (g, h)], rng.uniform(-1, 1)
    if rng.integers(3) == 0:
        eta, gained, h = step, 1, ratio * u
        losses = [wave(u, -1, u / 100), wave(h, 1, u / 100)]
    new = -eta * sum(gradient(loss, 0 * u) for loss in losses) / 2
    return (losses[0](new) - losses[1](new) - gained * head * eta * h @ h,)


def lipschitz(rng, share=1.0):
    """The Hessian of f^(q+1)/(q+1) where f > 0, L = 1, by differences."""
    (g, k), q = rng.normal(size=(2, rng.integers(1, 4))), numbers(rng, 1, 0, 3)[0]
    g, f, c = g * rng.integers(2), numbers(rng, 1, 0.5, 2)[0], numbers(rng, 1, -1, 1)[0]
    slope = partial(gradient, lambda w: (f + wave(g, c, k)(w)) ** (q + 1) / (q + 1), h=1e-4)
    return (share - norm(gradient(slope, 0 * g, 1e-4), 2) / (f**q + q * f ** (q - 1) * g @ g),)


def weights(rng, share=1.0):
    """(17) for u = M - f, M = 4: feasible lambda, and the one that is told."""
    u, lam = numbers(rng, (2, rng.integers(1, 6)), 0.1, 3)
    lam *= (1 + numbers(rng, 1)) / np.exp(np.log(lam).mean()) / len(u)
    smallest = np.exp(np.log(u).mean())
    values = [v @ (4 - u) - 4 * (v.sum() - 1) for v in (lam, smallest / u / len(u))]
    return 4 - share * smallest - values[0], -abs(4 - share * smallest - values[1])


def dual_norm(rng, share=1.0):
    """(22) and (23): random nu of length 1, and the one that is told."""
    F, q = numbers(rng, rng.integers(1, 6), 0, 3), rng.uniform(0.1, 3)
    nu = np.vstack([F**q + 1e-9, rng.uniform(size=(9, len(F)))])
    gaps = share * norm(F, q + 1) - nu @ F / norm(nu, (q + 1) / q, axis=1)
    return min(gaps), -abs(gaps[0])


CASES = {
    "propfair/eq-4": (mean_of_logs, {"share": 0.9}),
    "propfair/proposition-4.1/repaired": (weights, {"share": 1.1}),
    "propfair/smoothness": (composed, {"first": 0.6}, {"second": 0.8}),
    "propfair/smoothness-direct": (partial(composed, first=1), {"first": 0.6}, {"second": 0.8}),
    "qffl/eq-22-23": (dual_norm, {"share": 0.9}),
    "qffl/lemma-6/repaired": (variances, {"low": -2}, {"always": True}),
    "qffl/lemma-7": (angles, {"share": 0.9}),
    "qffl/lemma-8/repaired": (entropies, {"shift": 0}, {"share": 0.9}),
    "qffl/lemma-12": (lipschitz, {"share": 0.9}),
    "dynamic/theorem-1/repaired": (fedavg_unfair, {"head": 0.2}, {"ratio": 1.8}, {"step": 0.37}),
}


@pytest.mark.parametrize("id", CASES)
def test_the_statement_holds_and_false_versions_fail(id):
    margins, *false = CASES[id]
    assert registered(id.partition("/")[0])[id].claim.expected == "holds"

    def lowest(rng=np.random.default_rng, **changes):
        return np.min([margins(rng(seed), **changes) for seed in range(200)], axis=0)

    assert lowest().min() > -1e-6
    broken = np.array([lowest(**version) < -1e-4 for version in false])
    assert broken.any(0).all() and broken.any(1).all()
