"""Sections 3.2 and 4.2: does the largest loss fall as q grows? For two devices, not for three."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import sympy

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, DefiniteForm, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.exact import ball

Form = tuple[Any, list[Any]]


def case(instance: dict[str, Any], slack: Fraction = Fraction(0), device: int = 0) -> Case:
    """A device's loss at w_1* is at most the largest at w_0*, F_k = a_k/2 (w - b_k)^2 + c_k.

    w_0* = Σ a b/Σ a. Σ F_k^2 is strictly convex, so w_1* lies where Σ F_k F_k' changes sign:
    between the two ends ``at``.
    """
    terms = list(zip(*(instance[key] for key in "abc"), strict=True))
    start = sum(a * b for a, b, _ in terms) / sum(a for a, _, _ in terms)
    slope = [
        sum((a / 2 * (w - b) ** 2 + c) * a * (w - b) for a, b, c in terms) for w in instance["at"]
    ]
    largest = max(a / 2 * (start - b) ** 2 + c for a, b, c in terms)
    a, b, c = terms[device]
    low, high = instance["at"]
    loss = ball(a) / 2 * (ball(low).union(ball(high)) - ball(b)) ** 2 + ball(c)
    premises = {
        "convex": min(instance["a"]) > 0,
        "losses": min(instance["c"]) >= 0,
        "optimal": slope[0] < 0 < slope[1],
    }
    return Case((Relation(loss, "<=", ball(largest + slack), "loss of the device"),), premises)


def _world() -> tuple[Any, ...]:
    """At w_q*: F_2 = y, F_1 = y e^t with t > 0; F_1's gradient g; the Hessian of Σ F^(q+1)/(q+1)
    is R R', R lower triangular with a positive diagonal.
    """
    q, y, t = sympy.symbols("q y t", positive=True)
    one, three = sympy.symbols("r1 r3", positive=True)
    two, g1, g2 = sympy.symbols("r2 g1 g2", real=True)
    first = y * sympy.exp(t)
    gradient = sympy.Matrix([g1, g2])
    other = -((first / y) ** q) * gradient  # F_2's, by stationarity
    root = sympy.Matrix([[one, 0], [two, three]])
    return q, y, t, first, gradient, other, root


def moved(sign: int = 1) -> tuple[Any, ...]:
    """dw/dq = -H^-1 d/dq Σ F^q F' = -H^-1 F_1^q F_1' (log F_1 - log F_2)."""
    q, y, t, first, gradient, other, root = _world()
    inverse = (root * root.T).inv()
    step = -sign * inverse * gradient * first**q * t
    part = root.inv() * gradient
    return first, other, gradient, step, [first**q * t * part[0] ** 2, first**q * t * part[1] ** 2]


def stationary() -> dict[str, Any]:
    """d/dq of Σ F_k^q F_k' at fixed w, with F_2' from Σ F_k^q F_k' = 0."""
    q, y, t, first, gradient, other, _ = _world()
    power = sympy.Symbol("s", positive=True)
    whole: Any = first**power * gradient + y**power * other
    rate = whole.diff(power).subs(power, q)
    return {
        "first": rate[0] - first**q * gradient[0] * t,
        "second": rate[1] - first**q * gradient[1] * t,
        "zero": whole.subs(power, q)[0],
    }


def largest(sign: int = 1) -> Form:
    """-d F_1/dq >= 0 for the larger loss."""
    _, _, gradient, step, terms = moved(sign)
    return -(gradient.T * step)[0], terms


def smallest(sign: int = 1) -> Form:
    """d F_2/dq >= 0 for the smaller loss."""
    q, y, *_ = _world()
    first, other, _, step, terms = moved(sign)
    return (other.T * step)[0], [(first / y) ** q * v for v in terms]


WORLD: dict[str, Any] = {
    "a": [Fraction(2), Fraction(4), Fraction(5)],
    "b": [Fraction(1), Fraction(-1), Fraction(-4)],
    "c": [Fraction(3), Fraction(0), Fraction(2)],
    "at": [Fraction(-2168, 1000), Fraction(-2167, 1000)],
}


def check(effort: Effort, slack: str = "0", device: int = 0) -> Evidence:
    """Three devices."""
    shows = (
        "F = (w-1)^2 + 3, 2 (w+1)^2, 5/2 (w+4)^2 + 2: the losses are (12, 2, 12) at q = 0 and "
        "(13.03, 2.73, 10.40) at q = 1"
    )
    call = Call.of(case, slack=Fraction(slack), device=device)
    return Evidence.of(Counterexample.at(call, shows, **WORLD))


def check_two(effort: Effort, sign: int = 1) -> Evidence:
    """The derivatives in q."""
    point = {
        "q": "1/2",
        "y": "2",
        "t": "1/3",
        "r1": "1",
        "r3": "2",
        "r2": "-1",
        "g1": "1",
        "g2": "3",
    }
    return Evidence.of(
        SymbolicZero(Call.of(stationary), "simplify", (point,)),
        DefiniteForm(Call.of(largest, sign=sign), "simplify", (point,)),
        DefiniteForm(Call.of(smallest, sign=sign), "simplify", (point,)),
    )


PRINTED = (
    r"A larger $q$ means that we emphasize devices with higher local empirical losses, $F_k(w)$, "
    r"thus imposing more uniformity to the training accuracy distribution. [Figure 1:] by setting "
    r"$q>0$, the distributions shift towards the center as low accuracies increase at the cost of "
    r"potentially decreasing high accuracies on some devices."
)
CONVEX = (("convex", "every F_k has a positive second derivative"), ("losses", "F_k >= 0"))

CLAIMS = (
    Claim(
        id="qffl/worst-device",
        whose="reading",
        number="Section 3.2, figure 1",
        line=65,
        title="With q = 1 the largest loss is no larger than with q = 0",
        printed=PRINTED,
        statement=r"$\max_k F_k(w_1^*) \le \max_k F_k(w_0^*)$.",
        kind="bound",
        hypotheses=(*CONVEX, ("optimal", "w_0* and w_1* minimise sum F and sum F^2")),
        scope="m = 3, one parameter, quadratics",
        expected="holds-repaired",
        check=check,
        mutants=(
            Mutant("larger by 1.04", "worse by no more than 1.04", partial(check, slack="1.04")),
            Mutant("third device", "the loss of the other worst device", partial(check, device=2)),
        ),
        reading="Of the losses, which q-FFL weighs. That low accuracies increase is what is seen "
        "on four data sets (qffl/table-4-metrics).",
        severity="remark",
        erratum=(
            "For three devices or more the worst may get worse: from q = 0 to 1 the step helps the "
            "device whose loss is as large and steeper. For two it cannot. As q grows the largest "
            "loss tends to its minimum: it is at most m^(1/(q+1)) times that "
            "(qffl/worst-device-bound)."
        ),
    ),
    Claim(
        id="qffl/worst-device/repaired",
        number="Section 3.2, figure 1",
        line=65,
        title="For two devices, the larger loss falls and the smaller rises with q, and so does "
        "their variance fall",
        printed=PRINTED,
        statement=(
            r"For $m = 2$, $F_1 > F_2$ at $w_q^*$, $H$ the Hessian of $\sum_k F_k^{q+1}/(q+1)$ "
            r"there: $\frac{d}{dq} F_1(w_q^*) = -F_1^q \log\frac{F_1}{F_2}\, \nabla F_1^\top "
            r"H^{-1} \nabla F_1 \le 0 \le \frac{d}{dq} F_2(w_q^*)$. Max and variance do not "
            r"increase in $q$."
        ),
        kind="implication",
        hypotheses=(("smooth", "F_k > 0 twice differentiable, H positive definite"),),
        scope="two parameters, which hold the gradient; every q >= 0",
        expected="holds",
        check=check_two,
        mutants=(Mutant("turned", "w moves the other way", partial(check_two, sign=-1)),),
        notes="Equal losses stay equal: dw/dq is then 0.",
    ),
    Claim(
        id="qffl/worst-device-bound",
        whose="ours",
        number="Section 3.2",
        line=65,
        title="(ours) The largest loss of q-FFL's optimum is at most m^(1/(q+1)) times the least "
        "possible",
        printed=r"Setting $f_q(w)$ with a large enough $q$ reduces to classical min-max fairness, "
        r"as the device with the worst performance (largest loss) will dominate the objective.",
        statement=r"$\max_k F_k(w_q^*)^{q+1} \le m \min_w \max_k F_k(w)^{q+1}$.",
        kind="bound",
        hypotheses=(("losses", "F_k >= 0"), ("optimal", "w_q* minimises sum F^(q+1)")),
        scope="m = 3, whose terms look the same for any number; tight at one device, and as the "
        "others tend to the same loss",
        expected="holds",
        check=lambda e: check_bound(e),
        mutants=(
            Mutant("0.99 m", "1 % less", lambda e: check_bound(e, Fraction(99, 100))),
            Mutant("m - 1", "one device less", lambda e: check_bound(e, Fraction(2, 3))),
        ),
    ),
)


def bound(factor: Fraction = Fraction(1)) -> Form:
    """m b - x_1 >= 0 for x = F^(q+1) at w_q*, x_1 its largest, z = Σ y - Σ x >= 0 and y_k = b -
    s_k at the model with the least maximum b.
    """
    b = sympy.Symbol("b", positive=True)
    z = sympy.Symbol("z", nonnegative=True)
    s, x = sympy.symbols("s1:4", nonnegative=True), sympy.symbols("x2:4", nonnegative=True)
    top = sum(b - v for v in s) - z - sum(x)  # x_1
    return sympy.Rational(str(factor)) * 3 * b - top, [*s, z, *x]


def check_bound(effort: Effort, factor: Fraction = Fraction(1)) -> Evidence:
    """Sums between maxima."""
    point = {"b": "2", "z": "1/3", "s1": "0", "s2": "1", "s3": "1/2", "x2": "1/4", "x3": "0"}
    return Evidence.of(DefiniteForm(Call.of(bound, factor=factor), "expand", (point,)))
