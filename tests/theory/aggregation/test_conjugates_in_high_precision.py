"""Conjugates against maximisation with 40 digits, n up to 50, to 1e-10: the optimality conditions
hold to 1e-30.

w.f - A(f) is concave, so a point f >= 0 whose slope is 0 where f_i > 0 and <= 0 where f_i = 0 is
its maximum. Which clients are at 0 comes from a run in floats, and Newton's method does the rest;
the Hessian of A on the others is diagonal less a rank-one matrix in both families. (TERM on R^n:
test_duality. FedAvg, AFL and rank weights have polyhedral indicators, tested there by linear
programmes.)
"""

import mpmath as mp
import numpy as np
import pytest
from scipy import optimize

from fairfl.theory.aggregation import QFFL, TERM, PropFair

DIGITS = 40


class Term:
    """A(f) = (1/alpha) log Σ p e^(alpha f); slope s; Hessian alpha (diag s - s s')."""

    def __init__(self, alpha, p):
        self.alpha, self.p, self.upper = mp.mpf(alpha), p, None

    def parts(self, f):
        e = [p * mp.e ** (self.alpha * x) for p, x in zip(self.p, f, strict=True)]
        total = mp.fsum(e)
        s = [x / total for x in e]
        return mp.log(total) / self.alpha, s, [self.alpha * x for x in s], s, self.alpha


class Prop:
    """A(f) = M - G, G = Π (M - f)^p; slope b G, b = p/(M - f); Hessian G (diag b²/p - b b')."""

    def __init__(self, M, p):
        self.M, self.p, self.upper = mp.mpf(M), p, float(M)

    def parts(self, f):
        g = [self.M - x for x in f]
        G = mp.e ** mp.fsum(p * mp.log(x) for p, x in zip(self.p, g, strict=True))
        b = [p / x for p, x in zip(self.p, g, strict=True)]
        return (
            self.M - G,
            [G * x for x in b],
            [G * x * x / p for x, p in zip(b, self.p, strict=True)],
            b,
            G,
        )


def in_floats(model, w):
    """The clients at 0, and the others' losses, by L-BFGS-B."""

    def cost(f):
        value, slope = model.parts([mp.mpf(x) for x in f])[:2]
        return float(value - mp.fdot(w, f)), np.array(
            [float(s - x) for s, x in zip(slope, w, strict=True)]
        )

    n, top = len(w), 30.0 if model.upper is None else model.upper * (1 - 1e-6)
    with mp.workdps(17):
        found = optimize.minimize(
            cost,
            np.full(n, 0.3),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0, top)] * n,
            options={"maxiter": 3000, "maxfun": 6000, "ftol": 1e-16, "gtol": 1e-11, "maxcor": 30},
        )
    return found.x


def maximum(model, w):
    """sup over f >= 0 of w.f - A(f), certified by the optimality conditions."""
    with mp.workdps(DIGITS):
        start = in_floats(model, w)
        free = [i for i, x in enumerate(start) if x > 1e-7]
        f = [mp.mpf(float(x)) if x > 1e-7 else mp.mpf(0) for x in start]
        for _ in range(30):
            value, slope, diagonal, b, scale = model.parts(f)
            r = [w[i] - slope[i] for i in free]
            if max([abs(x) for x in r], default=0) < mp.mpf(10) ** -30:
                break
            # (D - scale b b') step = r, by Sherman and Morrison
            x = [ri / diagonal[i] for ri, i in zip(r, free, strict=True)]
            y = [b[i] / diagonal[i] for i in free]
            common = scale * mp.fsum(b[i] * xi for i, xi in zip(free, x, strict=True))
            common /= 1 - scale * mp.fsum(b[i] * yi for i, yi in zip(free, y, strict=True))
            for i, xi, yi in zip(free, x, y, strict=True):
                f[i] += xi + common * yi
        else:
            raise AssertionError("Newton did not converge")
        assert all(f[i] > 0 for i in free)
        assert all(w[i] <= slope[i] for i in range(len(w)) if i not in free)
        assert model.upper is None or all(x < model.M for x in f)
        return float(mp.fdot(w, f) - value), len(free)


def weights(n, seed):
    rng = np.random.default_rng(seed)
    return rng, [mp.mpf(1) / n] * n, [mp.mpf(float(x)) for x in rng.dirichlet(np.full(n, 5.0))]


@pytest.mark.parametrize("n", [2, 10, 50])
@pytest.mark.parametrize("alpha", [0.5, 4.0])
def test_term_on_nonnegative_losses(n, alpha):
    rng, even, uneven = weights(n, n)
    seen = set()
    for p, aim in ((even, TERM(alpha)), (uneven, TERM(alpha).weighted([float(x) for x in uneven]))):
        for total in (0.5, 0.97):
            w = total * rng.dirichlet(np.full(n, 2.0)) - 0.02 * (rng.random(n) < 0.1)
            found, free = maximum(Term(alpha, p), [mp.mpf(float(x)) for x in w])
            assert aim.conjugate(w, "nonnegative") == pytest.approx(found, abs=1e-10)
            seen.add(free)
    assert max(seen) > 0


@pytest.mark.parametrize("n", [2, 10, 50])
@pytest.mark.parametrize("M", [1.0, 6.0])
def test_propfair_on_nonnegative_losses(n, M):
    rng, even, uneven = weights(n, 100 + n)
    seen = set()
    for p, aim in ((even, PropFair(M)), (uneven, PropFair(M).weighted([float(x) for x in uneven]))):
        for low in (-0.1, 0.3):
            w = np.array([float(x) for x in p]) * rng.uniform(low, 1.25, n)
            # else the maximum is at f = M, where there is nothing to compute
            assert np.isinf(aim.conjugate(w))
            found, free = maximum(Prop(M, p), [mp.mpf(float(x)) for x in w])
            assert aim.conjugate(w, "nonnegative") == pytest.approx(found, abs=1e-10)
            seen.add(free)
    assert max(seen) > 0


@pytest.mark.parametrize("n", [2, 10, 50])
@pytest.mark.parametrize("q", [0.3, 1.0, 6.0])
def test_qffl_where_the_indicator_jumps(n, q):
    """A* is 0 iff max over f of w.f / A(f) <= 1; that maximum by Newton's method in log f, with 40
    digits.
    """
    rng, even, uneven = weights(n, 200 + n)
    for p in (even, uneven):
        w = np.array([float(x) for x in p]) * rng.uniform(0.3, 2.0, n)
        with mp.workdps(DIGITS):
            power, u, exact = mp.mpf(q) + 1, [mp.mpf(0)] * n, [mp.mpf(float(x)) for x in w]
            for _ in range(400):
                t = [x * mp.e**v for x, v in zip(exact, u, strict=True)]
                s = [x * mp.e ** (power * v) for x, v in zip(p, u, strict=True)]
                gain = mp.log(mp.fsum(t)) - mp.log(mp.fsum(s)) / power
                t, s = [x / mp.fsum(t) for x in t], [x / mp.fsum(s) for x in s]
                r = [a - b for a, b in zip(t, s, strict=True)]
                if max(map(abs, r)) < mp.mpf(10) ** -30:
                    break
                # Newton's step, cut: the Hessian is -q (diag s - s s') where t = s; u is free up to
                # a constant
                u = [v + min(max(a / b, -1), 1) / q for v, a, b in zip(u, r, s, strict=True)]
            else:
                raise AssertionError("Newton did not converge")
            support = float(mp.e**gain)
        aim = QFFL(q).weighted([float(x) for x in p])
        assert aim.conjugate(w / support * (1 - 1e-10), tolerance=0.0) == 0
        assert aim.conjugate(w / support * (1 + 1e-10), tolerance=0.0) == np.inf
