"""Section 3.3: L inferred at q = 0, the step 1/L_q for one device, and local SGD on a power."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import sympy

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, DefiniteForm, SymbolicZero, Witness
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence

Form = tuple[Any, list[Any]]
GRID = tuple(Fraction(1, k) for k in (8, 6, 5, 4, 3, 2, 1))


def inferred(instance: dict[str, Any], times: int = 1) -> Case:
    """1/η of the best step size for Σ c_k w_k²/2 at q = 0 is at least L = max c_k.

    A step multiplies w_k by 1 - η c_k; the best η has the smallest of the largest factors.
    """
    curves = instance["curves"]
    best = min(instance["grid"], key=lambda step: max(abs(1 - step * c) for c in curves))
    relation = Relation(max(curves), "<=", times / best, "L, and what is inferred")
    return Case((relation,), {"L in the grid": Fraction(1, max(curves)) in instance["grid"]})


def stable(over: int = 2) -> Form:
    """1 - (1 - x)² >= 0 for a step x = η c < 2 that does not diverge: x = 2/(1 + z)."""
    z = sympy.Symbol("z", nonnegative=True)
    x = over / (1 + z)
    return 1 - (1 - x) ** 2, [4 * z / (1 + z) ** 2]


def diverges(over: int = 2) -> Form:
    """(1 - x)² - 1 > 0 for x = 2 + z: so a step that converges has 2/η > L."""
    z = sympy.Symbol("z", positive=True)
    x = over + z
    return (1 - x) ** 2 - 1, [2 * z, z**2]


def descent(gain: Fraction = Fraction(1, 2)) -> Form:
    """f - f_new - τ g²/2 for the step τ ∇f, τ = f/(L f + q g²), by the descent lemma f_new <= f -
    τ g² + L τ² g²/2 (with slack r); g² = |∇f|².
    """
    f, L, q, g = sympy.symbols("f L q g", positive=True)
    r = sympy.Symbol("r", nonnegative=True)
    step = f / (L * f + q * g)
    new = f - step * g + L * step**2 * g / 2 - r
    return f - new - sympy.Rational(str(gain)) * step * g, [
        r,
        f * q * g**2 / (2 * (L * f + q * g) ** 2),
    ]


def same_step(power: int = 0) -> dict[str, Any]:
    """1/L_q times the gradient of f^(q+1)/(q+1) is τ ∇f."""
    f, L, q, g, slope = sympy.symbols("f L q g slope", positive=True)
    bound = L * f**q + q * f ** (q - 1) * g
    return {"step": f ** (q + power) * slope / bound - f / (L * f + q * g) * slope}


def biased(instance: dict[str, Any]) -> Case:
    """The mean over samples of l^q l' differs from F^q F': a sample's step on F^(q+1) is biased."""
    q, losses, slopes = instance["q"], instance["losses"], instance["slopes"]
    count = len(losses)
    sampled = sum(v**q * s for v, s in zip(losses, slopes, strict=True)) / count
    whole = (sum(losses) / count) ** q * sum(slopes) / count
    return Case((Relation(sampled, "!=", whole, "mean over samples, and F^q F'"),))


def rising(sign: int = 1) -> Form:
    """d/dx x^(q+1) = (q+1) x^q > 0 for x > 0: F and F^(q+1) have the same minimisers, F >= 0."""
    q, x = sympy.symbols("q x", positive=True)
    return sympy.diff(x ** (sign * q + 1), x), [(q + 1) * x**q]


def check_inferred(effort: Effort, curves: tuple[int, ...] = (1, 3), times: int = 1) -> Evidence:
    """Two parameters."""
    shows = "curvatures 1 and 3, L = 3: the best step of 1/8, ..., 1/3, 1/2, 1 is 1/2, and 1/η = 2"
    call = Call.of(inferred, times=times)
    values = [Fraction(c) for c in curves]
    return Evidence.of(Counterexample.at(call, shows, curves=values, grid=list(GRID)))


def check_stable(effort: Effort, over: int = 2) -> Evidence:
    """Two over the step."""
    return Evidence.of(
        DefiniteForm(Call.of(stable, over=over), "together", ({"z": "0"}, {"z": "3"})),
        DefiniteForm(Call.of(diverges, over=over), "expand", ({"z": "1/9"},), True),
    )


def check_descent(effort: Effort, gain: Fraction = Fraction(1, 2), power: int = 0) -> Evidence:
    """One device."""
    point = {"f": "2", "L": "3", "q": "1/2", "g": "1", "r": "1/5", "slope": "-1"}
    return Evidence.of(
        DefiniteForm(Call.of(descent, gain=gain), "together", (point,)),
        SymbolicZero(Call.of(same_step, power=power), "simplify", (point,)),
    )


def check_biased(effort: Effort, q: int = 1) -> Evidence:
    """Two samples."""
    shows = "losses (1, 0) with slopes (1, 0), q = 1: 1/2 over samples, F F' = 1/4"
    one, zero = Fraction(1), Fraction(0)
    return Evidence.of(
        Witness.at(Call.of(biased), shows, q=q, losses=[one, zero], slopes=[one, zero])
    )


def check_rising(effort: Effort, sign: int = 1) -> Evidence:
    """The slope of the power."""
    spot = ({"q": "1/2", "x": "2"},)
    return Evidence.of(DefiniteForm(Call.of(rising, sign=sign), "simplify", spot, True))


INFER = (
    r"We propose estimating the local Lipschitz constant for the family of $q$-FFL objectives by "
    r"using the Lipschitz constant we infer via grid search on just one $q$ (e.g., $q = 0$). [...] "
    r"we only need to estimate $L$ once by tuning the step-size (e.g., on $q = 0$) and can then "
    r"reuse it for all values of $q > 0$."
)
CLAIMS = (
    Claim(
        id="qffl/inferred-L",
        whose="implied",
        number="Section 3.3",
        line=98,
        title="The inverse of the best step size at q = 0 is a Lipschitz constant of the gradient",
        printed=INFER,
        statement=r"If $\eta$ is the best step size of a grid that has $1/L$, then $1/\eta \ge L$, "
        r"as lemma 12 needs.",
        kind="bound",
        hypotheses=(("L in the grid", "1/L is among the step sizes tried"),),
        scope="a quadratic in two parameters",
        expected="holds-repaired",
        check=check_inferred,
        mutants=(
            Mutant("one curvature", "equal curvatures", partial(check_inferred, curves=(3, 3))),
            Mutant("2/η", "twice the inverse", partial(check_inferred, times=2)),
        ),
        severity="remark",
        erratum=(
            "The best step for curvatures from mu to L is 2/(L + mu), longer than 1/L, so the "
            "inferred constant may be as small as L/2, and L_q no bound. Infer 2/eta from the "
            "best, or from the largest that converges."
        ),
        reading="Of the loss; a step tuned by accuracy on sampled devices is further from it.",
    ),
    Claim(
        id="qffl/inferred-L/repaired",
        number="Section 3.3",
        line=98,
        title="Twice the inverse of a step size that converges is a Lipschitz constant, for "
        "quadratics",
        printed=INFER,
        statement=r"$|1 - \eta c| \le 1$ iff $0 \le \eta c \le 2$: if gradient descent with step "
        r"$\eta$ does not diverge on a quadratic, $2/\eta \ge L$.",
        kind="equivalence",
        hypotheses=(),
        scope="every curvature of a quadratic",
        expected="holds",
        check=check_stable,
        mutants=(Mutant("1/η", "once the inverse", partial(check_stable, over=1)),),
        notes="For other losses it holds of the curvature where training ends.",
    ),
    Claim(
        id="qffl/step-one-device",
        whose="reading",
        number="Section 3.3",
        line=98,
        title="For one device, the step 1/L_q(w) descends for every q",
        printed=r"We can use the step-size $1/L_q(w)$ for any $q > 0$ after we estimate $L$ once "
        r"on $q = 0$.",
        statement=(
            r"The step is $\tau\nabla f$ with $\tau = f/(Lf + q\|\nabla f\|^2) \le 1/L$, and "
            r"lowers $f$ by at least $\frac\tau2\|\nabla f\|^2$, if $\nabla f$ is $L$-Lipschitz, "
            r"$f(w) > 0$."
        ),
        kind="bound",
        hypotheses=(("smooth", "f(w - τ∇f) <= f - τ|∇f|² + Lτ²|∇f|²/2 (the descent lemma)"),),
        scope="one device, every q > 0",
        expected="holds",
        check=check_descent,
        mutants=(
            Mutant("0.505", "1 % more descent", partial(check_descent, gain=Fraction(101, 200))),
            Mutant("f^(q+1)", "the gradient of f^(q+2)", partial(check_descent, power=1)),
        ),
        notes="L_q(w) bounds the Hessian at w alone, so this needs an argument: the step is one of "
        "f itself, shorter than 1/L. For several devices it fails: qffl/algorithm-3-descent.",
    ),
    Claim(
        id="qffl/local-objective",
        number="Section 3.3",
        line=102,
        title="Minimising F_k is equivalent to minimising F_k^(q+1)",
        printed=r"we propose instead optimizing $F_k$ locally, as minimizing $F_k$ is equivalent "
        r"to minimizing $F_k^{q+1}$.",
        statement=r"$x \mapsto x^{q+1}$ is strictly increasing on $x \ge 0$: both have the same "
        r"minimisers.",
        kind="equivalence",
        hypotheses=(("losses", "F_k >= 0"),),
        scope="every q > 0",
        expected="holds",
        check=check_rising,
        mutants=(Mutant("1 - q", "the power 1 - q", partial(check_rising, sign=-1)),),
    ),
    Claim(
        id="qffl/local-sgd",
        number="Section 3.3",
        line=102,
        title="A sample's gradient step on F^(q+1) is biased",
        printed=r"it is not straightforward to simply apply FedAvg to problem (2) when $q > 0$, as "
        r"the $F_k^{q+1}$ term prevents the use of local SGD.",
        statement=r"$\frac1n\sum_j l_j^q l_j' \ne F^q F'$ for some losses, $q = 1$.",
        kind="existence",
        hypotheses=(),
        scope="two samples",
        expected="holds",
        check=check_biased,
        mutants=(Mutant("q = 0", "the loss itself", partial(check_biased, q=0)),),
    ),
)
