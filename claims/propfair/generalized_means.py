"""Equations (9)-(13): five objectives as generalised means s^-1((1/n) sum s(f_i))."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import sympy
from flint import arb
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import CLASSICAL, KernelProof, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.exact import ball
from fairfl.claims.instances import explore
from fairfl.claims.propfair import conjugate_qffl as qffl
from fairfl.claims.propfair import conjugate_term as term

N = 3
"""Clients in the identities: sums over i, which look the same for every n."""

NEAR = (
    qffl.POWER
    + r"""
Theorem near : forall n q f A M, (0 < n)%nat -> 0 < q -> mean n q f A ->
  (forall i, In i (seq 0 n) -> 0 <= f i <= M) -> (exists j, In j (seq 0 n) /\ f j = M) ->
  M * Rpower (INR n) (- / (q + 1)) <= A <= M.
"""
)
NEAR_TERM = (
    term.DEFINITIONS
    + r"""
Theorem near : forall n a f M, (0 < n)%nat -> 0 < a -> (forall i, In i (seq 0 n) -> f i <= M) ->
  (exists j, In j (seq 0 n) /\ f j = M) -> M - ln (INR n) / a <= term n a f <= M.
"""
)


def residuals(
    root: int = 1, mean: bool = True, base: bool = True, plain: bool = True
) -> dict[str, Any]:
    """s(A) - (1/n) sum s(f_i) for every printed s and A; PropFair's utilities are M - f_i =
    exp(v_i).
    """
    q, alpha, M = sympy.symbols("q alpha M", positive=True)
    f = sympy.symbols(f"f1:{N + 1}", positive=True)
    v = sympy.symbols(f"v1:{N + 1}", real=True)
    norm = sum(x ** (q + 1) for x in f) ** (1 / (q + 1))
    power = sympy.Integer(N) ** (-root / (q + 1)) * norm
    tilted = sympy.log(sum(sympy.exp(alpha * x) for x in f) / (N if mean else 1)) / alpha
    geometric = sympy.exp(sum(v) / N)
    propfair = (M if base else 0) - geometric
    pi = sum(-x for x in v) / N  # (6): -(1/n) sum log(M - f_i)
    utility = [M - sympy.exp(x) for x in v]
    printed = {
        "FedAvg (10)": (lambda t: t, f, sum(f) / (N if plain else 1)),
        "q-FFL": (lambda t: t ** (q + 1), f, power),
        "TERM (12)": (lambda t: sympy.exp(alpha * t), f, tilted),
        "PropFair (13)": (lambda t: -sympy.log(M - t), utility, propfair),
    }
    return {
        **{name: s(A) - sum(map(s, x)) / N for name, (s, x, A) in printed.items()},
        "(13) increases with (6)": propfair - (M - sympy.exp(-pi)),
    }


def limits() -> dict[str, Any]:
    """What the bounds of :func:`case` leave in the limit."""
    n, q, alpha = sympy.symbols("n q alpha", positive=True)
    return {
        "n^(-1/(q+1)) to 1": sympy.limit(n ** (-1 / (q + 1)), q, sympy.oo) - 1,
        "log(n)/alpha to 0": sympy.limit(sympy.log(n) / alpha, alpha, sympy.oo),
    }


def case(
    instance: dict[str, Any], lower: Fraction = Fraction(1), upper: Fraction = Fraction(1)
) -> Case:
    """max n^(-1/(q+1)) <= A <= max for q-FFL, max - log(n)/alpha <= A <= max for TERM, in powers
    and exponentials.
    """
    f, k, alpha = instance["f"], instance["power"], instance["alpha"]
    n, top = len(f), max(f)
    powers = sum((x**k for x in f), Fraction(0))
    tilted = sum((ball(alpha * x).exp() for x in f), arb(0))
    peak = ball(alpha * top).exp()
    return Case(
        (
            Relation(lower * top**k, "<=", powers, "q-FFL from below", float(top**k) or 1.0),
            Relation(powers, "<=", upper * n * top**k, "q-FFL from above", float(top**k) or 1.0),
            Relation(
                ball(lower) * peak,
                "<=",
                tilted + peak * ball(Fraction(1, 10**12)),
                "TERM from below",
                float(peak.mid()),
            ),
            Relation(
                tilted,
                "<=",
                n * peak * ball(upper + Fraction(1, 10**12)),
                "TERM from above",
                float(peak.mid()),
            ),
        ),
        {"losses": min(f) >= 0},
    )


@st.composite
def losses(draw: st.DrawFn) -> dict[str, Any]:
    """Non-negative losses, with ties and zeros."""
    one = st.integers(0, 12).map(lambda k: Fraction(k, 4))
    f = draw(st.lists(one, min_size=1, max_size=5))
    return {
        "f": f,
        "power": draw(st.integers(1, 12)),
        "alpha": Fraction(draw(st.integers(1, 30)), 3),
    }


def check(
    effort: Effort, root: int = 1, mean: bool = True, base: bool = True, plain: bool = True
) -> Evidence:
    """The identities."""
    spot = {
        "q": "2",
        "alpha": "1/2",
        "M": "3",
        "f1": "1",
        "f2": "1/3",
        "f3": "2",
        "v1": "1/2",
        "v2": "-1",
        "v3": "1/3",
    }
    return Evidence.of(
        SymbolicZero(
            Call.of(residuals, root=root, mean=mean, base=base, plain=plain), "simplify", (spot,)
        )
    )


def check_bounds(
    effort: Effort, lower: Fraction = Fraction(1), upper: Fraction = Fraction(1), powers: str = NEAR
) -> Evidence:
    """The proofs, and what was drawn: from below one positive loss reaches the bound, from above
    equal ones.
    """
    run = explore(Call.of(case, lower=lower, upper=upper), Call.of(losses), effort, tolerance=1e-11)
    return Evidence.of(
        KernelProof.of("powers.v", powers, run, axioms=CLASSICAL),
        KernelProof.of("entropy.v", NEAR_TERM, run, axioms=CLASSICAL),
        SymbolicZero(Call.of(limits), "simplify", ({"n": "5"},)),
    )


CLAIMS = (
    Claim(
        id="propfair/generalized-means",
        number="Eqs. (9)-(13)",
        line=185,
        title="FedAvg, q-FFL, AFL, TERM and PropFair minimise generalised means",
        printed=(
            r"$A_s(f) := s^{-1}( \frac{1}{n} \sum_{i=1}^n s(f_i) )$; $s(t) = t$; $s(t) = "
            r"t^{q+1}$: $n^{-\frac{1}{q+1}} \|f\|_{q+1}$, and AFL for $q \rightarrow \infty$; "
            r"$s(t) = e^{\alpha t}$: $\frac{1}{\alpha} \log ( \frac{1}{n} \sum_i e^{\alpha f_i} "
            r")$, AFL for $\alpha \to \infty$; $s(t) = -\log(M - t)$: $M - \prod (M - f_i)^{1/n}$"
        ),
        statement=(
            r"$s(A) = \frac1n\sum s(f_i)$ for each printed $A$; "
            r"(13) is $M - e^{-\pi}$, increasing in (6)."
        ),
        kind="identity",
        hypotheses=(("losses", "f_i > 0; f_i < M for PropFair"),),
        scope="three clients, whose sums look the same for any n",
        expected="holds",
        check=check,
        mutants=(
            Mutant("n^(2/(q+1))", "another power of n", partial(check, root=2)),
            Mutant("no 1/n", "the sum for the mean in TERM", partial(check, mean=False)),
            Mutant("no M", "minus the geometric mean for (13)", partial(check, base=False)),
            Mutant("no 1/n in (10)", "the sum for FedAvg's mean", partial(check, plain=False)),
        ),
    ),
    Claim(
        id="propfair/generalized-means-limits",
        number="Eqs. (11), (12)",
        line=185,
        title="q-FFL's and TERM's means lie within a factor and a summand of the maximum, AFL",
        printed=r"AFL for $q \rightarrow \infty$; AFL for $\alpha \to \infty$",
        statement=(
            r"$\max f \cdot n^{-1/(q+1)} \le A \le \max f$ for q-FFL and "
            r"$\max f - \log(n)/\alpha \le A \le \max f$ for TERM, so that both tend to $\max f$."
        ),
        kind="limit",
        hypotheses=(("losses", "f_i >= 0"),),
        scope="as stated, n >= 1, q > 0, alpha > 0",
        expected="holds",
        check=check_bounds,
        mutants=(
            Mutant(
                "lower, 1 %",
                "the sums from below, times 1.01",
                partial(check_bounds, lower=Fraction(101, 100)),
            ),
            Mutant(
                "upper, 1 %",
                "the sums from above, times 0.99",
                partial(check_bounds, upper=Fraction(99, 100)),
            ),
            Mutant(
                "1 % of n",
                "(0.99 n)^(-1/(q+1)), in the theorem that is proved",
                partial(
                    check_bounds,
                    powers=NEAR.replace("Rpower (INR n) (-", "Rpower (0.99 * INR n) (-"),
                ),
            ),
        ),
        notes=(
            "The limits q, alpha to infinity are of values, uniform in f. Minimisers converge to "
            "minimisers of the maximum where the set of losses is compact; not every minimiser "
            "of the maximum is such a limit."
        ),
    ),
)
