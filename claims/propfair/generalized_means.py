"""Equations (9)-(13): five objectives as generalised means s^-1((1/n) sum s(f_i))."""

from fractions import Fraction

import sympy
from flint import arb
from hypothesis import strategies as st

from fairfl.claims.exact import Instance, ball
from fairfl.claims.forms import Case, Claim, Relation, Residual, drawn, every, identity, proof


def residuals(
    root: int = 1, mean: bool = True, base: bool = True, plain: bool = True
) -> dict[str, Residual]:
    """s(A) - (1/n) sum s(f_i) for every printed s and A, with the sums S of f_i, P of f_i^(q+1), E
    of exp(alpha f_i) and L of log(M - f_i); (6) is -L/n.
    """
    n, q, alpha, M, S, P, E = sympy.symbols("n q alpha M S P E", positive=True)
    L = sympy.symbols("L", real=True)
    power = n ** (-root / (q + 1)) * P ** (1 / (q + 1))
    tilted = sympy.log(E / (n if mean else 1)) / alpha
    propfair = (M if base else 0) - sympy.exp(L / n)
    return {
        "FedAvg (10)": (S / (n if plain else 1), S / n),
        "q-FFL": (power ** (q + 1), P / n),
        "TERM (12)": (sympy.exp(alpha * tilted), E / n),
        "PropFair (13)": (-sympy.log(M - propfair), -L / n),
        "(13) increases with (6)": (propfair, (M - sympy.exp(L / n))),
    }


def case(instance: Instance, lower: Fraction = Fraction(1), upper: Fraction = Fraction(1)) -> Case:
    """max n^(-1/(q+1)) <= A <= max for q-FFL, max - log(n)/alpha <= A <= max for TERM."""
    f, k, alpha = instance["f"], instance["power"], instance["alpha"]
    n, top = len(f), max(f)
    powers = sum((x**k for x in f), Fraction(0))
    tilted = sum((ball(alpha * x).exp() for x in f), arb(0))
    peak = ball(alpha * top).exp()
    room, scale, high = ball(Fraction(1, 10**12)), float(top**k) or 1.0, float(peak.mid())
    return Case(
        (
            Relation(lower * top**k, "<=", powers, "q-FFL from below", scale),
            Relation(powers, "<=", upper * n * top**k, "q-FFL from above", scale),
            Relation(ball(lower) * peak, "<=", tilted + peak * room, "TERM from below", high),
            Relation(tilted, "<=", n * peak * (ball(upper) + room), "TERM from above", high),
        ),
        {"losses": min(f) >= 0, "alpha": alpha > 0},
    )


@st.composite
def losses(draw: st.DrawFn) -> Instance:
    """Losses >= 0, with ties and zeros: one positive one, and equal ones, reach the bounds."""
    n, size = draw(st.integers(1, 5)), draw(st.sampled_from([0, 4, 12]))
    return {
        "f": [Fraction(draw(st.integers(0, size)), 4) for _ in range(n)],
        "power": draw(st.integers(1, 12)),
        "alpha": Fraction(draw(st.integers(1, 30)), 3),
    }


RUN = drawn(case, losses, tolerance=1e-11, moved="f alpha")


CLAIMS = (
    Claim(
        "propfair/generalized-means",
        185,
        "FedAvg, q-FFL, AFL, TERM and PropFair minimise generalised means",
        number="Eqs. (9)-(13)",
        printed=r"$A_s(f) := s^{-1}( \frac{1}{n} \sum_{i=1}^n s(f_i) )$; $s(t) = t$; $s(t) = "
        r"t^{q+1}$: $n^{-\frac{1}{q+1}} \|f\|_{q+1}$, and AFL for $q \rightarrow \infty$; $s(t) = "
        r"e^{\alpha t}$: $\frac{1}{\alpha} \log ( \frac{1}{n} \sum_i e^{\alpha f_i} )$, AFL for "
        r"$\alpha \to \infty$; $s(t) = -\log(M - t)$: $M - \prod (M - f_i)^{1/n}$",
        statement=r"$s(A) = \frac1n\sum s(f_i)$ for each printed $A$; (13) is $M - e^{-\pi}$, "
        r"increasing in (6).",
        kind="identity",
        hypotheses={"losses": "f_i > 0; f_i < M for PropFair"},
        scope="every n",
        check=identity(residuals, "140/153; 55/68; 4/17; -25/51; -0.489779"),
        mutants={
            "n^(2/(q+1))": ("another power of n", {"root": 2}),
            "no 1/n": ("the sum for the mean in TERM", {"mean": False}),
            "no M": ("minus the geometric mean for (13)", {"base": False}),
            "no 1/n in (10)": ("the sum for FedAvg's mean", {"plain": False}),
        },
    ),
    Claim(
        "propfair/generalized-means-limits",
        185,
        "q-FFL's and TERM's means lie within a factor and a summand of the maximum, AFL",
        number="Eqs. (11), (12)",
        printed=r"AFL for $q \rightarrow \infty$; AFL for $\alpha \to \infty$",
        statement=r"$\max f \cdot n^{-1/(q+1)} \le A \le \max f$ for q-FFL and $\max f - "
        r"\log(n)/\alpha \le A \le \max f$ for TERM, so that both tend to $\max f$.",
        kind="limit",
        hypotheses={"losses": "f_i >= 0", "alpha": "alpha > 0"},
        scope="as stated, n >= 1, q > 0, alpha > 0",
        check=every(proof("powers.v", "near", RUN), proof("entropy.v", "near", RUN)),
        mutants={
            "lower, 1 %": ("the sums from below, times 1.01", {"lower": "101/100"}),
            "upper, 1 %": ("the sums from above, times 0.99", {"upper": "99/100"}),
        },
        notes="The limits q, alpha to infinity are of values, uniform in f. Minimisers converge "
        "to minimisers of the maximum where the set of losses is compact; not every minimiser of "
        "the maximum is such a limit.",
    ),
)
