"""Equations (9)-(14), (17): means of losses, and as largest weighted sums less a penalty."""

from fractions import Fraction
from math import prod

import sympy
from flint import arb
from hypothesis import strategies as st

from fairfl.claims.case import Case, Relation
from fairfl.claims.exact import Instance, ball
from fairfl.claims.forms import Claim, Residual, counterexample, drawn, every, identity, proof
from fairfl.claims.propfair.table_1 import OBJECTIVES, runs


def residuals(
    root: int = 1, mean: bool = True, base: bool = True, plain: bool = True
) -> dict[str, Residual]:
    """s(A) less (1/n) sum s(f_i); S, P, E, L: sums of f, f^(q+1), exp(alpha f), log(M - f)."""
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


def equalities(turned: int = 1) -> dict[str, Residual]:
    """A(f) = lambda.f - A*(lambda) at lambda = grad A(f): (f_i/A)^q/n of q-FFL, P the mean of
    f_i^(q+1); exp(alpha f_i)/E of TERM, D = lambda.f; PropFair's as in at_weights.
    """
    n, q, alpha, P, E, D = sympy.symbols("n q alpha P E D", positive=True)
    A = P ** (1 / (q + 1))
    entropy = (alpha * D - sympy.log(E) + sympy.log(n)) / alpha  # log lambda_i = alpha f_i - log E
    return {
        "q-FFL": (P / A**q, A),
        "q-FFL, norm": (P / A ** (q + 1), 1),  # the mean of (n lambda_i)^((q+1)/q)
        "TERM": (D - entropy, sympy.log(E / n) / alpha),
        **{f"PropFair, {name}": residual for name, residual in at_weights(turned).items()},
    }


def attained(instance: Instance) -> Case:
    """(17) attains A(f) = M where some but not all f_i = M: the maximand M - lambda.u is M only for
    lambda_i = 0 wherever u_i = M - f_i > 0, and then prod n lambda_i = 0.
    """
    u = [instance["M"] - v for v in instance["f"]]
    forced = [Fraction(0) if v > 0 else Fraction(1, len(u)) for v in u]
    product = prod(len(u) * v for v in forced)
    premises = {"range": min(u) >= 0, "some f_i = M": min(u) == 0}
    relation = Relation(1, "<=", product, "the constraint, at every lambda that attains")
    return Case((relation,), premises)


def at_weights(turned: int = 1, bound: int | Fraction = 1) -> dict[str, Residual]:
    """At ``turned`` times lambda_i = G/(n u_i), u_i = M - f_i, S their sum, the maximand is M - G =
    A(f), and prod n lambda_i = 1, or ``bound``; of B^(1/n) times as large weights it is B.
    """
    n, M, G, S, B = sympy.symbols("n M G S B", positive=True)
    product = turned * sympy.Rational(str(bound)) ** (1 / n) * G / n  # lambda_i u_i
    return {
        "value": ((M * S - n * product) - M * (S - 1), (M - G)),
        "product": ((n * product * B ** (1 / n)) ** n / G**n, sympy.Rational(str(bound)) * B),
    }


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
    Claim(
        "propfair/eq-14",
        225,
        "Minimising A_s is minimising the largest weighted sum of losses less A_s*(lambda)",
        printed=r"$\min_{\theta} A_s(f(\theta)) \equiv \min_{\theta} \max_{\lambda \geq 0} \sum_i "
        r"\lambda_i f_i(\theta) - A_s^*(\lambda)$",
        statement=r"$A(f) = \max_{\lambda \ge 0} \lambda^\top f - A^*(\lambda)$ for the five "
        r"objectives: $\le$ by the definition of $A^*$, $=$ at $\lambda = \nabla A(f) \ge 0$, "
        r"which lies in the domain of $A^*$.",
        kind="identity",
        hypotheses={
            "convex": "A_s convex, closed and increasing in each loss, as the five are",
            "losses": "f >= 0, and f < M for PropFair (see propfair/proposition-4.1)",
            "weights": "lambda >= 0",
        },
        scope="every n; for AFL the weight 1 on a largest loss makes the two equal",
        check=every(
            identity(equalities, "1.18858; 1; -0.291973; 13/72; 2/5"),
            proof(
                "fenchel_young.v",
                "supports",
                *(runs(row=row, domain="native") for row in OBJECTIVES),
            ),
        ),
        mutants={"2 lambda": ("twice PropFair's weights", {"turned": 2})},
        rests_on=(
            "propfair/conjugate-afl",
            "propfair/conjugate-fedavg",
            "propfair/conjugate-qffl/repaired",
            "propfair/conjugate-term",
            "propfair/conjugate-propfair",
        ),
        gap="the sentence before (14) does not suppose A_s convex, which (14) needs (the geometric "
        "mean, s = log, is positive, and (14) gives 0, as A_s* is infinite at every lambda >= 0 "
        "but 0); and lambda >= 0 suffices because A_s increases in each loss, not because f >= 0 "
        "(A = f_1 - f_2); the statement survives: the five are convex and increasing.",
    ),
    Claim(
        "propfair/proposition-4.1",
        250,
        "PropFair's mean is a maximum of weighted sums, of weights proportional to 1/(M - f_i)",
        printed=r"$A_s(f) = \max_{\lambda \geq \mathbf{0}, \prod_i (n\lambda_i) \geq 1} "
        r"\lambda^\top f - M(\lambda^\top \mathbf{1} - 1)$. Solving the inner maximization of "
        r"(14) gives $\prod_{i=1}^n (n\lambda_i) = 1$ and $\lambda_i \propto \frac{1}{M-f_i}$.",
        statement=r"(17) for $f \le M$, the domain of (C.16), with a maximum that is attained.",
        kind="identity",
        hypotheses={"range": "f <= M", "some f_i = M": "and f differs from (M, ..., M)"},
        scope="n = 2",
        severity="step",
        check=counterexample(
            attained,
            "M = 1, f = (1, 0): A = 1, the maximand is 1 - lambda_2, and lambda_2 = 0 is not "
            "allowed: no maximum",
            {"M": Fraction(1), "f": [Fraction(1), Fraction(0)]},
            "1 <= 0",
        ),
        mutants={"all f_i = M": ("where every lambda attains", {"f": [Fraction(1)] * 2})},
        erratum="Suppose f_i < M. Where some f_i = M (not all) the supremum M is not attained, "
        "and 1/(M - f_i) undefined; where all are, every feasible lambda attains, and prod n "
        "lambda_i = 1 does not follow.",
        repaired=dict(
            title="For f < M, it is a maximum, attained at lambda = G/(n (M - f_i)) alone",
            statement=r"For $f_i < M$ (17) holds, attained only at $\lambda_i = G/(n(M - f_i))$, "
            r"$G = \prod(M-f_i)^{1/n}$, where $\prod n\lambda_i = 1$: $\lambda^\top u \ge "
            r"n(\prod\lambda_i)^{1/n} G \ge G$, with equality iff $\lambda_i u_i$ are equal and "
            r"the product is 1.",
            hypotheses={"range": "f < M", "feasible": "lambda > 0, prod n lambda_i >= 1"},
            scope="every n; the bound is (4) for lambda_i u_i",
            check=identity(at_weights, "13/42; 2/5"),
            mutants={
                "1 % more": ("1.01 times these weights", {"turned": Fraction(101, 100)}),
                "prod >= 1/2": ("a larger set of weights", {"bound": "1/2"}),
            },
            rests_on=("propfair/eq-4",),
        ),
    ),
)
