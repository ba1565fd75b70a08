"""Enclosures of LFT+Ensemble's smallest disparity: against mpmath and the float solver."""

from typing import Any

import mpmath
import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from populations import continuous_model
from scipy import stats

from fairfl.solvers.lft_ensemble.densities import LocalRules
from fairfl.solvers.lft_ensemble.enclosure import Enclosure, enclose_min_disparity
from fairfl.solvers.solution import CertificationError
from fairfl.theory.populations.client import Client
from fairfl.theory.populations.eta import Logistic, Monotone
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.fedfb_figures import MEANS_5
from fairfl.theory.populations.laws import Normal

EXAMPLE_1 = {"mean": [[0, 0], [3, -1]], "sd": [70, 1], "q": 0.5}
FIGURE_4B = {"mean": [[10, 9.8], [0.2, 0]], "sd": 0.2, "q": 0.2}
FIGURE_4C = {"mean": MEANS_5, "sd": 1.0, "q": 0.5}
CASES = {
    "example 1": EXAMPLE_1,
    "figure 4(b)": FIGURE_4B,
    "figure 4(c)": FIGURE_4C,
    "figure 4(b), mirrored": {"mean": [[9.8, 10], [0, 0.2]], "sd": 0.2, "q": 0.2},
    "sd by group": {
        "mean": [[1, 2], [0, -1], [0.5, 0]],
        "sd": [[0.5, 2], [1, 3], [1, 0.2]],
        "q": [0.9, 0.5, 0.2],
    },
    "weights": {"mean": [[1, 2], [0, 1], [-0.5, 0]], "q": [0.3, 0.5, 0.7], "weight": [1, 2, 4]},
    "one eta each": {
        "mean": [[1, 2], [0, 1]],
        "q": [0.3, 0.6],
        "eta": [Logistic(2, 1), (Logistic(0.5, -1), Logistic(3))],
    },
    "clients of one group": {"mean": [[3, 5], [1, -1], [0, 2], [1, 1.5]], "q": [0, 1, 0.3, 0.5]},
    "only clients of one group": {"mean": MEANS_5, "q": [0, 1]},
    "far apart": {"mean": [[50, -50], [1, -1]], "q": [0.3, 0.6]},
    "far apart, both ways": {"mean": [[50, -50], [-50, 50]], "q": [0.5, 0.6]},
    # MD and the thresholds' levels lose all digits next to λ = 1 - q
    "lambda that one double cannot hold": {
        "mean": [[-3.7, -3.54], [1.45, 3.16]],
        "sd": [[2.92, 1.24], [0.3, 0.37]],
        "q": [0.36, 0.89],
        "eta": [
            (Logistic(0.26, -1.07), Logistic(1.44, -2.24)),
            (Logistic(3.96, -2.58), Logistic(0.48, 3.81)),
        ],
    },
    "next to no group 1": {"mean": [[1, -1], [-1, 3]], "q": [1e-12, 0.5]},
    "numbers that doubles hold": {"mean": [[10, 9.75], [0.25, 0]], "sd": 0.25, "q": 0.2},
    "zero in the interior": {"mean": [[1, -1], [-1, 1]]},
    "a root at exactly zero": {
        "mean": [[1, 1], [2, 2.5]],
        "sd": [[0.3, 0.3], [1, 1]],
        "q": [0.3, 0.4],
    },
}


Real = Any  # mpmath.mpf, which has no annotations


def reference(fed: Federation, digits: int = 50) -> tuple[Real, Real, list[Real]]:
    """The ends of the reachable MD and λ*, by bisection of P_0(accept) = P_1(accept) over λ."""
    model = continuous_model(fed)
    mp.dps = digits
    count = fed.n_clients
    q = [mpf(float(v)) for v in fed.share[:, 1]]
    total = mpmath.fsum(mpf(float(w)) for w in fed.weight)
    pi = [mpf(float(w)) / total for w in fed.weight]
    joint = [[p * (1 - s), p * s] for p, s in zip(pi, q, strict=True)]
    group = [mpmath.fsum(row[a] for row in joint) for a in (0, 1)]

    def tails(i: int, a: int, t: Real) -> tuple[Real, Real]:
        law = model.laws[i][a]
        assert isinstance(law, Normal)
        z = (t - mpf(law.mean)) / (mpf(law.sd) * mpmath.sqrt(2))
        return mpmath.erfc(z) / 2, mpmath.erfc(-z) / 2

    def thresholds(j: int, lam: Real) -> list[Real]:
        out = []
        for a, sign in ((0, -1), (1, 1)):
            eta = model.etas[j][a]
            assert isinstance(eta, Logistic)
            mass = q[j] if a else 1 - q[j]
            level = mpf(1) / 2 + (sign * lam / (2 * mass) if lam else 0)
            out.append((mpmath.log(level / (1 - level)) - mpf(eta.intercept)) / mpf(eta.slope))
        return out

    def own(j: int, lam: Real) -> Real:
        t = thresholds(j, lam)
        (above0, below0), (above1, below1) = tails(j, 0, t[0]), tails(j, 1, t[1])
        return above0 - above1 if above0 < 0.5 else below1 - below0

    def pooled(j: int, lam: Real) -> Real:
        t = thresholds(j, lam)
        return mpmath.fsum(
            (1 - 2 * a) * joint[i][a] / group[a] * tails(i, a, t[a])[0]
            for i in range(count)
            for a in (0, 1)
        )

    low = high = mpf(0)
    roots = []
    for j in range(count):
        root = mpf(0)
        if 0 < q[j] < 1 and own(j, root) != 0:
            m = min(q[j], 1 - q[j])
            a, b = (-m, mpf(0)) if own(j, root) > 0 else (mpf(0), m)
            for _ in range(int(3.4 * digits)):
                root = (a + b) / 2
                if root in (-m, m):
                    break
                a, b = (a, root) if own(j, root) > 0 else (root, b)
        roots.append(root)
        ends = sorted([pooled(j, mpf(0)), pooled(j, root)])
        low, high = low + pi[j] * ends[0], high + pi[j] * ends[1]
    return low, high, roots


@pytest.mark.parametrize("case", CASES)
def test_encloses_what_mpmath_finds(case: str):
    before = ctx.prec
    check(Federation.normal(**CASES[case]), 160 if "far" in case else 50)
    assert ctx.prec == before


def check(fed: Federation, digits: int) -> None:
    found = enclose_min_disparity(fed)
    low, high, roots = reference(fed, digits)
    with ctx.workprec(600):
        slack = arb(0, 1e-44)  # of the reference
        for ball, end in ((found.low, low), (found.high, high)):
            assert ball.overlaps(arb(mpmath.nstr(end, 48)) + slack)
            assert ball.rad() < 1e-34
    least = max(mpf(0), low, -high)
    assert found.lower - 1e-45 <= least <= found.upper + 1e-45
    assert 0 <= found.lower <= found.upper <= found.lower + 4e-16
    for (lo, hi), root, q in zip(found.roots, roots, fed.share[:, 1], strict=True):
        u = mpmath.atanh(root / min(mpf(q), 1 - mpf(q))) if root else mpf(0)
        assert float(lo) == pytest.approx(float(u), rel=1e-14)
        assert float(hi) == pytest.approx(float(u), rel=1e-14)
    assert (found.lower == found.upper == 0) == (found.low < 0 < found.high)


@pytest.mark.parametrize(
    ("case", "digits"),
    [
        # FedFB prints δ ≈ 0.21, which is corollary 11's approximation (g_0(0) + g_1(0))/4
        ("example 1", "0.204300311878002835587884853736"),
        ("figure 4(c)", "0.164647437448859029918785113445"),
        # means 0.2 apart at both clients: with 9.8 and 0.2 as doubles they are not
        ("figure 4(b)", "2.61251236146447518e-16"),
    ],
)
def test_known_digits(case: str, digits: str):
    found = enclose_min_disparity(Federation.normal(**CASES[case]))
    nearer = found.low if found.low > 0 else -found.high
    assert nearer.str(len(digits), radius=False).startswith(digits.partition("e")[0])
    assert found.lower <= float(digits) <= found.upper


def test_multiplier_closer_to_its_bound_than_any_double():
    """λ_0* = -0.5 + 1e-2171, with thresholds ±5000: client 0's rule takes all its own people and
    client 1's group 1.
    """
    fed = Federation.normal(mean=[[10000, 0], [0, 1]], q=0.5)
    found = enclose_min_disparity(fed)
    assert found.roots[0][0] < -2500 < found.roots[0][1]
    assert found.roots[1][0] < 0.25 < found.roots[1][1]
    phi = stats.norm.cdf
    free = (1 + 0.5) / 2 - (0.5 + phi(1)) / 2
    fair0, fair1 = (1 + 0) / 2 - (1 + 1) / 2, (1 + phi(0.5)) / 2 - (phi(-0.5) + phi(0.5)) / 2
    assert float(found.low) == pytest.approx((fair0 + free) / 2, abs=1e-15)
    assert float(found.high) == pytest.approx((free + fair1) / 2, abs=1e-15)


@st.composite
def federations(draw: st.DrawFn) -> Federation:
    count = draw(st.integers(1, 4))
    number = st.floats(-4, 4).map(lambda v: round(v, 3))

    def rows(values: st.SearchStrategy[float]) -> list[list[float]]:
        return [[draw(values), draw(values)] for _ in range(count)]

    q = [
        draw(st.one_of(st.sampled_from([0.0, 1.0, 0.5]), st.floats(0.02, 0.98)))
        for _ in range(count)
    ]
    assume(sum(q) > 0 and sum(q) < count)
    eta = [
        tuple(Logistic(draw(st.floats(0.2, 4)), draw(number)) for _ in range(2))
        for _ in range(count)
    ]
    return Federation.normal(
        mean=rows(number),
        sd=rows(st.floats(0.2, 5)),
        q=q,
        weight=[draw(st.floats(0.1, 10)) for _ in range(count)],
        eta=draw(st.sampled_from([Logistic(), eta])),
    )


@settings(max_examples=30)
@given(federations())
def test_random_federations(fed: Federation):
    """Against floats where λ is further than 7e-4 m from ±m: closer, its double alone moves the
    thresholds by up to e^(2|u|) ulps.
    """
    found = enclose_min_disparity(fed)
    if max(abs(u) for root in found.roots for u in root) <= 4:
        _same_as_floats(found, fed)
    else:
        check(fed, 60)


def _same_as_floats(found: Enclosure, fed: Federation) -> None:
    low, high = LocalRules(fed, continuous_model(fed)).reachable
    assert low == pytest.approx(float(found.low), abs=1e-12, rel=0)
    assert high == pytest.approx(float(found.high), abs=1e-12, rel=0)
    assert found.lower - 1e-12 <= max(0.0, low, -high) <= found.upper + 1e-12


def many_clients(count: int) -> Federation:
    rng = np.random.default_rng(0)
    mean, sd = rng.normal([0.6, 0], 1, (count, 2)), rng.uniform(0.3, 2, (count, 2))
    return Federation.normal(mean, sd, rng.uniform(0, 1, count), rng.uniform(0.5, 2, count))


NORMAL, LAPLACE = stats.norm(0, 1), stats.laplace(0, 1)
SEVERAL = {
    "60 clients": many_clients(60),
    "the law of an absent group counts for nothing": Federation(
        [Client((NORMAL, LAPLACE), q=0.0), Client((NORMAL, stats.norm(1, 1)))]
    ),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_same_as_floats(name: str):
    _same_as_floats(enclose_min_disparity(SEVERAL[name]), SEVERAL[name])


def test_scales_far_apart():
    fed = Federation.normal(
        mean=[[1e30, -3e-20], [-1e-30, 4e12]],
        sd=[[1e18, 2e10], [5e20, 1.0]],
        q=[1e-30, 1 - 1e-15],
        weight=[1e-20, 1e20],
        eta=[Logistic(1e25, -1e28), (Logistic(1e-22, 1e15), Logistic(3.0, -1e-29))],
    )
    steep = Federation.normal(mean=[[1, -1], [-1, 2]], q=[0.2, 0.5], eta=Logistic(1e-80))
    check(steep, 120)
    found = enclose_min_disparity(fed)  # mpmath's definitions divide by zero here
    assert found.upper - found.lower < 1e-12


def test_bits_are_doubled_and_then_given_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("fairfl.solvers.lft_ensemble.enclosure.BITS", 32)
    assert enclose_min_disparity(Federation.normal(**FIGURE_4C)).bits == 64
    monkeypatch.setattr("fairfl.solvers.lft_ensemble.enclosure.WIDTH", 1e-300)
    monkeypatch.setattr("fairfl.solvers.lft_ensemble.enclosure.LARGEST_PRECISION", 256)
    with pytest.raises(CertificationError, match="no enclosure as narrow as 1e-300 .* scales"):
        enclose_min_disparity(Federation.normal(**FIGURE_4C))


REFUSED = {
    r"laws must be normal .* got ScipyLaw\(laplace.*\) for client 1, group 0": Federation(
        [Client((NORMAL, NORMAL)), Client((LAPLACE, NORMAL))]
    ),
    r"eta must be Logistic .* got Monotone.* for client 0, group 1": Federation(
        [Client((NORMAL, NORMAL))], eta=[(Logistic(), Monotone(stats.norm.cdf, stats.norm.ppf))]
    ),
    "finite X": Federation.finite([0, 1], np.full((1, 2, 2), 0.25), [0.2, 0.8]),
}


@pytest.mark.parametrize("message", REFUSED)
def test_refuses_what_it_cannot_enclose(message: str):
    with pytest.raises(ValueError, match=message):
        enclose_min_disparity(REFUSED[message])
