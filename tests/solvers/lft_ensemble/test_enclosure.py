"""Enclosures of LFT+Ensemble's smallest disparity: against mpmath and the float solver, and what
``verify`` refuses.
"""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from enclosure_check import verify
from flint import arb, ctx
from hypothesis import assume, given
from hypothesis import strategies as st
from mpmath import mp, mpf
from populations import continuous_model
from scipy import stats

from fairfl.solvers.lft_ensemble.densities import LocalRules
from fairfl.solvers.lft_ensemble.enclosure import Enclosure, enclose_min_disparity
from fairfl.solvers.solution import CertificationError
from fairfl.theory.populations.eta import Logistic, Monotone
from fairfl.theory.populations.federation import Client, Federation
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
}


Real = Any  # mpmath.mpf, which has no annotations


def reference(fed: Federation, digits: int = 50) -> tuple[Real, Real, list[Real]]:
    """The ends of the reachable MD and λ*, from the definitions: bisection of P_0(accept) =
    P_1(accept) over λ.
    """
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


def smallest(low: Real, high: Real) -> Real:
    return max(mpf(0), low, -high)


def federation(case: str) -> Federation:
    return Federation.normal(**CASES[case])


def enclose(case: str) -> tuple[Federation, Enclosure]:
    fed = federation(case)
    return fed, enclose_min_disparity(fed)


@pytest.mark.parametrize("case", CASES)
def test_encloses_what_mpmath_finds(case: str):
    fed, found = enclose(case)
    far = "far" in case
    low, high, roots = reference(fed, 160 if far else 50)
    slack = mpf(10) ** -45  # of the reference
    assert found.reachable_low[0] - slack <= low <= found.reachable_low[1] + slack
    assert found.reachable_high[0] - slack <= high <= found.reachable_high[1] + slack
    assert found.lower - slack <= smallest(low, high) <= found.upper + slack
    for (lo, hi), root in zip(found.multipliers, roots, strict=True):
        assert lo - slack <= root <= hi + slack
    with ctx.workprec(400):
        digits = arb(found.digits)
        assert digits.overlaps(arb(mpmath.nstr(smallest(low, high), 48), 1e-44))
        assert digits.rad() < 1e-34


@pytest.mark.parametrize("case", CASES)
def test_bounds_are_tight_and_verified(case: str):
    fed, found = enclose(case)
    assert 0 <= found.lower <= found.upper
    for lo, hi in (
        (found.lower, found.upper),
        found.reachable_low,
        found.reachable_high,
        *found.multipliers,
    ):
        assert lo <= hi <= lo + 4e-16
    verify(found, fed)
    verify(found, fed, 1024)


@pytest.mark.parametrize("case", CASES)
def test_more_precision_lies_inside(case: str):
    fed = federation(case)
    coarse = [enclose_min_disparity(fed, bits) for bits in (53, 128)]
    fine = enclose_min_disparity(fed, 512)
    for found in coarse:
        assert (
            found.reachable_low[0] <= fine.reachable_low[0]
            and fine.reachable_low[1] <= found.reachable_low[1]
        )
        assert (
            found.reachable_high[0] <= fine.reachable_high[0]
            and fine.reachable_high[1] <= found.reachable_high[1]
        )
        assert found.lower <= fine.lower and fine.upper <= found.upper
        for (lo, hi), (a, b) in zip(found.roots, fine.roots, strict=True):
            assert lo <= a and b <= hi
        with ctx.workprec(600):
            assert arb(found.digits).contains(arb(fine.digits))


def test_example_1_is_below_the_printed_value():
    """FedFB prints δ ≈ 0.21, which is corollary 11's approximation (g_0(0) + g_1(0))/4; the minimum
    is 0.2043.
    """
    fed, found = enclose("example 1")
    assert found.digits.startswith("[0.2043003118780028355878848537361")
    assert found.lower <= 0.20430031187800284 <= found.upper
    assert (stats.norm.cdf(3) - stats.norm.cdf(-1)) / 4 == pytest.approx(0.21, abs=1e-5)
    assert found.upper < 0.205


def test_figure_4c():
    found = enclose("figure 4(c)")[1]
    assert found.digits.startswith("[0.16464743744885902991878511344578")
    one = np.tanh(0.5) / 2  # shared sd, q = 1/2: t_0 - t_1 = 2, so that λ* = ∓tanh(1/2)/2
    assert found.multipliers[0][0] <= one <= found.multipliers[0][1]
    assert found.roots[0][0] <= Fraction(1, 2) <= found.roots[0][1]


def test_figure_4b_is_zero_up_to_the_rounding_of_its_parameters():
    """Means 0.2 apart at both clients: with 9.8 and 0.2 as doubles they are not, and MD = 0 is
    missed by 2.6e-16.
    """
    found = enclose("figure 4(b)")[1]
    assert found.digits.startswith("[2.612512361464475189")
    assert 0 < found.lower < found.upper < 3e-16
    # the same in numbers that doubles hold
    exact = Federation.normal(mean=[[10, 9.75], [0.25, 0]], sd=0.25, q=0.2)
    found = enclose_min_disparity(exact)
    assert found.lower == 0 and 0 < found.upper < 1e-37
    assert found.reachable_low[0] < 0 < found.reachable_low[1] < 1e-37
    assert 0.17 < found.reachable_high[0]
    verify(found, exact)


def test_zero_in_the_interior_is_certain():
    fed = Federation.normal(mean=[[1, -1], [-1, 1]])
    found = enclose_min_disparity(fed)
    assert (found.lower, found.upper, found.digits) == (0.0, 0.0, "0")
    assert found.reachable_low[1] < 0 < found.reachable_high[0]
    verify(found, fed)


def test_equal_groups_have_their_root_at_exactly_zero():
    fed = Federation.normal(mean=[[1, 1], [2, 2.5]], sd=[[0.3, 0.3], [1, 1]], q=[0.3, 0.4])
    found = enclose_min_disparity(fed)
    assert found.roots[0] == (0, 0) and found.multipliers[0] == (0.0, 0.0)
    assert found.roots[1][0] > 0
    verify(found, fed)


def test_multiplier_closer_to_its_bound_than_any_double():
    """λ_0* = -0.5 + 1e-2171, with thresholds ±5000: client 0's rule takes all its own people and
    client 1's group 1.
    """
    fed = Federation.normal(mean=[[10000, 0], [0, 1]], q=0.5)
    found = enclose_min_disparity(fed)
    assert found.multipliers[0][0] <= -0.5 < found.multipliers[0][1] < -0.5 + 1e-15
    assert found.roots[0][0] < -2500 < found.roots[0][1]
    assert found.roots[1][0] < Fraction(1, 4) < found.roots[1][1]
    phi = stats.norm.cdf
    free = (1 + 0.5) / 2 - (0.5 + phi(1)) / 2
    fair0, fair1 = (1 + 0) / 2 - (1 + 1) / 2, (1 + phi(0.5)) / 2 - (phi(-0.5) + phi(0.5)) / 2
    assert found.reachable_low[0] == pytest.approx((fair0 + free) / 2, abs=1e-15)
    assert found.reachable_high[1] == pytest.approx((free + fair1) / 2, abs=1e-15)
    verify(found, fed)


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


@given(federations())
def test_agrees_with_the_float_solver(fed: Federation):
    """Where λ is further than 7e-4 m from ±m: closer, its double alone moves the thresholds by up
    to e^(2|u|) ulps.
    """
    found = enclose_min_disparity(fed)
    verify(found, fed)
    if max(abs(u) for root in found.roots for u in root) <= 4:
        low, high = LocalRules(fed, continuous_model(fed)).reachable
        assert low == pytest.approx(found.reachable_low[0], abs=1e-12, rel=0)
        assert high == pytest.approx(found.reachable_high[1], abs=1e-12, rel=0)
        assert found.lower - 1e-12 <= max(0.0, low, -high) <= found.upper + 1e-12


def test_many_clients():
    rng = np.random.default_rng(0)
    count = 200
    fed = Federation.normal(
        mean=rng.normal([0.6, 0], 1, (count, 2)),
        sd=rng.uniform(0.3, 2, (count, 2)),
        q=rng.uniform(0, 1, count),
        weight=rng.uniform(0.5, 2, count),
    )
    found = enclose_min_disparity(fed)
    low, high = LocalRules(fed, continuous_model(fed)).reachable
    assert low == pytest.approx(found.reachable_low[0], abs=1e-12, rel=0)
    assert high == pytest.approx(found.reachable_high[1], abs=1e-12, rel=0)
    verify(found, fed)


def test_precision_is_raised_to_the_tolerance():
    fed = Federation.normal(**FIGURE_4C)
    assert enclose_min_disparity(fed, 32).precision_bits == 64
    found = enclose_min_disparity(fed, 64, tolerance=1e-60)
    assert found.precision_bits == 256
    with ctx.workprec(600):
        assert arb(found.digits).rad() < 1e-60
    verify(found, fed)
    steep = Federation.normal(mean=[[1, -1], [-1, 2]], q=[0.2, 0.5], eta=Logistic(1e-80))
    found = enclose_min_disparity(steep)
    assert found.reachable_low[1] - found.reachable_low[0] < 1e-12
    verify(found, steep)


def test_scales_thirty_decades_apart():
    fed = Federation.normal(
        mean=[[1e30, -3e-20], [-1e-30, 4e12]],
        sd=[[1e18, 2e10], [5e20, 1.0]],
        q=[1e-30, 1 - 1e-15],
        weight=[1e-20, 1e20],
        eta=[Logistic(1e25, -1e28), (Logistic(1e-22, 1e15), Logistic(3.0, -1e-29))],
    )
    found = enclose_min_disparity(fed)
    assert found.upper - found.lower < 1e-12
    verify(found, fed)
    verify(found, fed, 32)  # raised as far as it takes


def test_gives_up_with_advice(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("fairfl.solvers.lft_ensemble.enclosure.LARGEST_PRECISION", 256)
    fed = Federation.normal(**FIGURE_4C)
    with pytest.raises(
        CertificationError, match="no enclosure as narrow as 1e-300 .* raise the tolerance"
    ):
        enclose_min_disparity(fed, tolerance=1e-300)


def test_leaves_the_global_precision_alone():
    before = ctx.prec
    fed, found = enclose("figure 4(c)")
    verify(found, fed)
    assert ctx.prec == before


def shifted(found: Enclosure, j: int, steps: int) -> Enclosure:
    lo, hi = found.roots[j]
    move = steps * (hi - lo)
    roots = list(found.roots)
    roots[j] = (lo + move, hi + move)
    return replace(found, roots=tuple(roots))


@pytest.mark.parametrize(
    "case", ["example 1", "figure 4(b)", "figure 4(c)", "sd by group", "one eta each", "far apart"]
)
def test_a_shifted_root_is_refused(case: str):
    fed, found = enclose(case)
    for j, (lo, hi) in enumerate(found.roots):
        if lo != hi:
            with pytest.raises(CertificationError, match=f"root {j} above"):
                verify(shifted(found, j, 1), fed)
            with pytest.raises(CertificationError, match=f"root {j} below"):
                verify(shifted(found, j, -1), fed)


def test_other_mutants_are_refused():
    fed, found = enclose("figure 4(c)")
    (low, low_top), (bottom, high) = found.reachable_low, found.reachable_high
    (lo, hi), other = found.roots
    step = 4e-16
    mutants: dict[str, Enclosure] = {
        "reachable_low within": replace(found, reachable_low=(low + step, low_top + step)),
        "reachable_high within": replace(found, reachable_high=(bottom - step, high - step)),
        "smallest disparity at least": replace(found, lower=found.upper + step),
        "smallest disparity at most": replace(found, upper=np.nextafter(found.lower, 0)),
        "smallest disparity in digits": replace(
            found, digits=found.digits.replace("8511344578", "8511344579")
        ),
        "multiplier 1 within": replace(found, multipliers=(found.multipliers[0], (-0.2, -0.1))),
        "root 0 at exactly 0": replace(found, roots=((Fraction(0), Fraction(0)), other)),
        "one side of 0": replace(found, roots=((-hi, hi), other)),
        "one root and multiplier": replace(found, roots=found.roots[:1]),
        "root 0 below": replace(found, roots=((-hi, -lo), other)),
        "root 1": replace(found, roots=((lo, hi), (lo, hi))),
    }
    for message, mutant in mutants.items():
        with pytest.raises(CertificationError, match=f"not confirmed: .*{message}"):
            verify(mutant, fed)
    wide = replace(found, roots=((lo * Fraction(1, 2), hi), other))
    with pytest.raises(CertificationError, match="within"):
        verify(wide, fed)


def test_an_enclosure_of_another_federation_is_refused():
    fed, found = enclose("figure 4(c)")
    for change in (
        {"mean": [[3, 5], [1, -1.0000001]]},
        {"sd": 1.0000001},
        {"q": 0.5000001},
        {"weight": [1, 1.000001]},
    ):
        with pytest.raises(CertificationError, match="not confirmed"):
            verify(found, Federation.normal(**{**FIGURE_4C, **change}))


def test_one_group_has_no_root():
    fed = Federation.normal(mean=MEANS_5, q=[0, 1])
    found = enclose_min_disparity(fed)
    assert found.roots == ((0, 0), (0, 0))
    assert found.reachable_low == found.reachable_high
    with pytest.raises(CertificationError, match="root 0: the client has one group"):
        verify(replace(found, roots=((Fraction(1), Fraction(2)), found.roots[1])), fed)


def test_law_of_an_absent_group_is_ignored():
    laws = (stats.norm(0, 1), stats.laplace(0, 1))
    fed = Federation([Client(laws, q=0.0), Client((stats.norm(0, 1), stats.norm(1, 1)))])
    found = enclose_min_disparity(fed)
    low, high = LocalRules(fed, continuous_model(fed)).reachable
    assert found.upper == pytest.approx(max(0.0, low, -high), abs=1e-12)
    verify(found, fed)


def test_refuses_what_it_cannot_enclose():
    normal = stats.norm(0, 1)
    with pytest.raises(
        ValueError, match=r"laws must be normal .* got ScipyLaw\(laplace.*\) for client 1, group 0"
    ):
        enclose_min_disparity(
            Federation([Client((normal, normal)), Client((stats.laplace(0, 1), normal))])
        )
    probit = Monotone(stats.norm.cdf, stats.norm.ppf)
    with pytest.raises(
        ValueError, match=r"eta must be Logistic .* got Monotone.* for client 0, group 1"
    ):
        enclose_min_disparity(Federation([Client((normal, normal))], eta=[(Logistic(), probit)]))
    finite = Federation.finite([0, 1], np.full((1, 2, 2), 0.25), [0.2, 0.8])
    with pytest.raises(ValueError, match="finite X"):
        enclose_min_disparity(finite)


@pytest.mark.parametrize("bits", [31, 0, 53.0, True])
def test_refuses_precisions(bits: object):
    with pytest.raises(ValueError, match="precision_bits must be a whole number of at least 32"):
        enclose_min_disparity(Federation.normal(**FIGURE_4C), bits)  # type: ignore[arg-type]


@pytest.mark.parametrize("tolerance", [0, -1e-3, np.inf, np.nan])
def test_refuses_tolerances(tolerance: float):
    with pytest.raises(ValueError, match="tolerance must"):
        enclose_min_disparity(Federation.normal(**FIGURE_4C), tolerance=tolerance)
