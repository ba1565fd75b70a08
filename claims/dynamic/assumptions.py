"""What the paper takes for granted: the objective, which data are alike, how far the first group is
trained, and what definition 3 has to ask for.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import comb
from typing import Any

import sympy
from flint import arb
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, DefiniteForm, KernelProof, SymbolicZero
from fairfl.claims.certificates.kernel_proof import CLASSICAL
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.exact import ball
from fairfl.claims.instances import explore
from fairfl.claims.qffl.mcdiarmid import DRAWS, TWO_GROUPS


def objective(groups: int = 3) -> dict[str, sympy.Expr]:
    """The sum of L_{v_i} over ``groups`` of three groups of two clients, less (1)."""
    weights, losses = sympy.symbols("p1:7", positive=True), sympy.symbols("F1:7", real=True)
    products = [p * f for p, f in zip(weights, losses, strict=True)]
    by_group = [products[2 * i] + products[2 * i + 1] for i in range(groups)]
    return {"objective": sum(by_group, sympy.S.Zero) - sum(products, sympy.S.Zero)}


def both(base: int = 1) -> tuple[sympy.Expr, list[sympy.Expr]]:
    """The gap of A, where (4) holds by s against an algorithm of gap ``base`` x, x > 0."""
    x, s = sympy.symbols("x s", positive=True)
    return base * x + s, [x, s]


def alike(instance: dict[str, Any], mean: bool = False) -> Case:
    """Groups of clients with one and the same loss have one loss: L_{v_i} = sum_{j in v_i} p_j F_j,
    or their ``mean``.
    """
    loss = Fraction(instance["loss"])
    totals = [sum((Fraction(p) for p in group), Fraction(0)) for group in instance["p"]]
    found = [total * loss / (total if mean else 1) for total in totals]
    return Case(
        (Relation(found[0], "==", found[1], "losses of the groups"),), {"weights": sum(totals) == 1}
    )


def hoeffding(instance: dict[str, Any], exponent: str = "2", factor: int = 2) -> Case:
    """P(|mean of n - mean of m| >= eps) <= factor exp(-exponent eps^2 n m/(n + m)), samples of
    Bernoulli(p) losses.
    """
    n, m = int(instance["n"]), int(instance["m"])
    p, eps = Fraction(instance["p"]), Fraction(instance["eps"])

    def law(size: int) -> list[Fraction]:
        return [comb(size, k) * p**k * (1 - p) ** (size - k) for k in range(size + 1)]

    one, two = law(n), law(m)
    far = sum(
        (
            one[i] * two[j]
            for i in range(n + 1)
            for j in range(m + 1)
            if abs(Fraction(i, n) - Fraction(j, m)) >= eps
        ),
        Fraction(0),
    )
    power = ball(Fraction(exponent) * eps**2 * n * m / (n + m))
    return Case((Relation(ball(far), "<=", arb(factor) * (-power).exp(), "tail"),))


def samples() -> st.SearchStrategy[dict[str, Any]]:
    """Sizes up to ten, probabilities and distances in tenths; and one sample each at p = 1/2, eps =
    1: 1/2, where the bound is 2/e.
    """
    tenth = st.integers(1, 10).map(lambda k: Fraction(k, 10))
    size = st.integers(1, 10)
    drawn = st.fixed_dictionaries({"n": size, "m": size, "p": tenth, "eps": tenth})
    return st.just({"n": 1, "m": 1, "p": Fraction(1, 2), "eps": Fraction(1)}) | drawn


def away(instance: dict[str, Any]) -> Case:
    """Data of different laws have different minimisers: least squares, mean of (w - y)^2/2, at a
    minimum of the first.
    """
    one, two = ([Fraction(y) for y in instance[name]] for name in ("first", "second"))
    w = Fraction(instance["w"])
    slopes = [w - sum(y) / len(y) for y in (one, two)]
    return Case(
        (Relation(slopes[1], "!=", 0, "g_2"),),
        {"different": sorted(one) != sorted(two), "trained": slopes[0] == 0},
    )


def contracts(speed: str = "1") -> tuple[sympy.Expr, list[sympy.Expr]]:
    """(1 - speed eta mu)^2 less (1 - eta c)^2, c = mu + s: one coordinate of the gradient over one
    step of GD with eta = 1/(c + r), below 1/c.
    """
    mu, r = sympy.symbols("mu r", positive=True)
    s = sympy.symbols("s", nonnegative=True)
    eta = 1 / (mu + s + r)
    value = (1 - sympy.Rational(speed) * eta * mu) ** 2 - (1 - eta * (mu + s)) ** 2
    return value, [eta**2 * s * (s + 2 * r)]


def small_start(factor: str = "1") -> tuple[sympy.Expr, list[sympy.Expr]]:
    """``factor`` (L/2) d^2 less L_1(w_1) - L_1(w) of a quadratic of curvature c = L - m, at
    distances d and e from its minimum.
    """
    c, d, e = sympy.symbols("c d e", positive=True)
    m = sympy.symbols("m", nonnegative=True)
    value = sympy.Rational(factor) * (c + m) * d**2 / 2 - (c * d**2 / 2 - c * e**2 / 2)
    return value, [m * d**2 / 2, c * e**2 / 2]


def steep(factor: str = "1") -> tuple[sympy.Expr, list[sympy.Expr]]:
    """||g||^2 less ``factor`` mu^2 ||w - x||^2 of a quadratic of curvatures mu + s_k."""
    mu = sympy.symbols("mu", positive=True)
    s = sympy.symbols("s1:3", nonnegative=True)
    d = sympy.symbols("d1:3", real=True)
    pairs = list(zip(s, d, strict=True))
    value = sum((mu + k) ** 2 * x**2 for k, x in pairs) - sympy.Rational(factor) * mu**2 * sum(
        x**2 for x in d
    )
    return value, [k * (2 * mu + k) * x**2 for k, x in pairs]


def _check_objective(effort: Effort, groups: int = 3) -> Evidence:
    point = {**{f"p{k}": f"1/{k}" for k in range(1, 7)}, **{f"F{k}": f"{k}" for k in range(1, 7)}}
    return Evidence.of(SymbolicZero(Call.of(objective, groups=groups), "expand", (point,)))


def _check_both(effort: Effort, base: int = 1) -> Evidence:
    points = ({"x": "1/100", "s": "1/7"}, {"x": "3", "s": "1"})
    return Evidence.against(DefiniteForm(Call.of(both, base=base), "expand", points, strict=True))


def _check_alike(effort: Effort, mean: bool = False) -> Evidence:
    shows = "three clients of loss 1 and weight 1/3, one in v_1 and two in v_2: 1/3 and 2/3"
    third = Fraction(1, 3)
    instance = {"loss": 1, "p": [[third], [third, third]]}
    return Evidence.of(Counterexample.at(Call.of(alike, mean=mean), shows, **instance))


def _check_hoeffding(
    effort: Effort, exponent: str = "2", factor: int = 2, proof: str = DRAWS + TWO_GROUPS
) -> Evidence:
    call = Call.of(hoeffding, exponent=exponent, factor=factor)
    run = explore(call, Call.of(samples), effort, tolerance=0.0)
    return Evidence.of(KernelProof.of("mcdiarmid.v", proof, run, axioms=CLASSICAL))


def _check_away(effort: Effort, last: int = 2) -> Evidence:
    shows = "targets (-1, 1) and (-2, 2): both losses are least at w = 0"
    instance = {"first": [-1, 1], "second": [-2, last], "w": 0}
    return Evidence.of(Counterexample.at(Call.of(away), shows, **instance))


def _check_contracts(effort: Effort, speed: str = "1") -> Evidence:
    points = ({"mu": "1", "s": "0", "r": "1"}, {"mu": "1/3", "s": "2", "r": "1/5"})
    return Evidence.of(DefiniteForm(Call.of(contracts, speed=speed), "cancel", points))


def _check_start(effort: Effort, factor: str = "1") -> Evidence:
    points = (
        {"c": "1", "d": "2", "e": "1/100", "m": "0"},
        {"c": "3", "d": "1", "e": "5", "m": "1"},
    )
    return Evidence.of(DefiniteForm(Call.of(small_start, factor=factor), "expand", points))


def _check_steep(effort: Effort, factor: str = "1") -> Evidence:
    points = ({"mu": "2", "s1": "0", "s2": "0", "d1": "1", "d2": "-3"},)
    return Evidence.of(DefiniteForm(Call.of(steep, factor=factor), "expand", points))


PRINTED_ALIKE = (
    r"if all the data are i.i.d. and when m and each $n_i$ is large enough, then we have "
    r"$L_{v_i}(w) \approx L_{v_j}(w)$ for any group i and j [...] by the Hoeffding's inequality if "
    r"the loss function is bounded"
)
PRINTED_AWAY = (
    r"since we get $w_{t_2}$ before $v_2$ joining and we assume the each data in $v_1$ and $v_2$ "
    r"is non-i.i.d. sampled, thus we have that $w_{t_2}$ will be far from the minimizer of "
    r"$L_{v_2}(w)$, i.e., $\|\nabla_w L_{v_2}(w_{t_2})\|_2$ is large."
)
CLAIMS = (
    Claim(
        id="dynamic/objective",
        number="Section 3",
        line=50,
        title="When all groups have joined, the objective is (1)",
        printed=(
            r"its goal is to minimize $\sum_{i \leq M} L_{v_i}(w)$ at time point $t_M$ [...] when "
            r"M = S, then the objective function is equivalent to the original one in (1)."
        ),
        statement=r"With $p_j^S = p_j$: $\sum_{i \le S} L_{v_i}(w) = \sum_j p_j F_j(w)$.",
        kind="identity",
        hypotheses=(),
        scope="three groups of two",
        expected="holds",
        check=_check_objective,
        mutants=(Mutant("M < S", "two of three groups", partial(_check_objective, groups=2)),),
        notes="It needs weights that are not normalised within groups, with which benefits are no "
        "differences of one function (dynamic/definition-1): one symbol serves two ends.",
    ),
    Claim(
        id="dynamic/definition-3-both",
        number="Definition 3",
        line=84,
        title="Definition 3 has to ask that both algorithms be absolutely fair",
        printed=(
            r"in Definition 3 we require both $\mathcal{A}$ and $\tilde{\mathcal{A}}$ be "
            r"absolutely dynamically fair. This is necessary as relative dynamic fairness cannot "
            r"imply absolute dynamic fairness."
        ),
        statement=r"There are $\tilde{\mathcal{A}}$, absolutely fair, and $\mathcal{A}$, not so, "
        r"for which (4) holds.",
        kind="existence",
        hypotheses=(),
        scope="as stated, pair by pair and time by time",
        expected="refuted",
        check=_check_both,
        mutants=(
            Mutant("unfair", "the other is not absolutely fair", partial(_check_both, base=-1)),
        ),
        severity="remark",
        erratum=(
            "A gap above a positive one is positive: it is enough to ask it of the algorithm that "
            "is compared with. That alone is necessary (dynamic/definition-3)."
        ),
    ),
    Claim(
        id="dynamic/iid",
        number="Section 3",
        line=84,
        title="For groups of the same data the losses agree",
        printed=PRINTED_ALIKE,
        statement=r"If all clients have one loss $F$, then $\sum_{j \in v_1} p_j F = \sum_{j \in "
        r"v_2} p_j F$.",
        kind="identity",
        hypotheses=(("weights", "the weights of all clients sum to 1"),),
        scope="groups of one and of two",
        expected="holds-repaired",
        check=_check_alike,
        mutants=(Mutant("means", "over the group", partial(_check_alike, mean=True)),),
        severity="remark",
        erratum=(
            "L_v has the factor sum p_j: it must be a mean over the group, or groups be of one "
            "size. And Hoeffding's inequality is for a model that does not depend on the data: "
            "w_(t_2) is trained on those of v_1, whose loss is the lower for it."
        ),
    ),
    Claim(
        id="dynamic/iid/repaired",
        number="Section 3",
        line=84,
        title="For a model chosen before, the mean losses of groups of the same law are close",
        printed=PRINTED_ALIKE,
        statement=(
            r"For a fixed $w$, losses in $[0, 1]$ and $n$, $m$ samples of one law: $P(|\bar L_1 - "
            r"\bar L_2| \ge \epsilon) \le 2 \exp(-2 \epsilon^2 \frac{n m}{n + m})$."
        ),
        kind="bound",
        hypotheses=(),
        scope="laws of finitely many outcomes; beside it exact sums for up to ten samples",
        expected="holds",
        check=_check_hoeffding,
        mutants=(
            Mutant("4 for 2", "in the exponent", partial(_check_hoeffding, exponent="4")),
            Mutant(
                "2.1 for 2",
                "in the exponent of the theorem that is proved",
                partial(
                    _check_hoeffding, proof=DRAWS + TWO_GROUPS.replace("(2 * (", "(21 / 10 * (")
                ),
            ),
            Mutant("one side", "without the factor 2", partial(_check_hoeffding, factor=1)),
        ),
    ),
    Claim(
        id="dynamic/non-iid-far",
        number="Section 4, after theorem 1",
        line=96,
        title="Where the data of the groups differ, v_2's gradient is not 0 at v_1's minimum",
        printed=PRINTED_AWAY,
        statement=r"If the data of $v_1$ and $v_2$ have different laws and $g_1 = 0$, then $g_2 "
        r"\ne 0$.",
        kind="implication",
        hypotheses=(("different", "the two laws are not the same"), ("trained", "g_1 = 0")),
        scope="least squares, d = 1",
        expected="refuted",
        check=_check_away,
        mutants=(Mutant("another mean", "targets (-2, 3)", partial(_check_away, last=3)),),
        severity="remark",
        erratum="Different laws may share their minimiser. What is meant is a distance between "
        "minimisers: ||g_2|| >= mu ||w - x_2|| (dynamic/far-gradient).",
    ),
    Claim(
        id="dynamic/far-gradient",
        number="Section 4, after theorem 1",
        line=96,
        title="Far from its minimiser a strongly convex loss has a large gradient",
        printed=PRINTED_AWAY,
        statement=r"For a quadratic of curvatures at least $\mu$: $\|g_2\| \ge \mu \|w - x_2\|$.",
        kind="tight bound",
        hypotheses=(),
        scope="two curvatures",
        expected="holds",
        check=_check_steep,
        mutants=(Mutant("1 % more", "1.01 mu^2", partial(_check_steep, factor="101/100")),),
        notes="For any strongly convex loss by (g - 0).(w - x) >= mu ||w - x||^2. Without strong "
        "convexity far does not mean steep.",
    ),
    Claim(
        id="dynamic/small-first-gradient",
        number="Section 4, after theorem 1",
        line=96,
        title="Training on L_1 makes its gradient small",
        printed=(
            r"As we know $w_{t_2}$ is the model trained via $L_{v_1}$ with several rounds, which "
            r"implies that $\|\nabla_w L_{v_1}(w_{t_2})\|_2$ will be small enough."
        ),
        statement=(
            r"Gradient descent with $\eta L < 1$ on a quadratic of curvatures in $[\mu, L]$ has "
            r"$\|g(w_{T+1})\| \le (1 - \eta \mu) \|g(w_T)\|$, so $(1 - \eta \mu)^T$ after $T$ "
            r"rounds."
        ),
        kind="tight bound",
        hypotheses=(),
        scope="coordinate by coordinate along the curvatures",
        expected="holds",
        check=_check_contracts,
        mutants=(
            Mutant("1 % faster", "1 - 1.01 eta mu", partial(_check_contracts, speed="101/100")),
        ),
        notes="With mu = 0 it need not shrink at any rate, and with eta L > 2 it grows.",
    ),
    Claim(
        id="dynamic/small-head-start",
        number="Section 4, after theorem 1",
        line=96,
        title="If w_1 is close to the minimiser of L_1, the head start of v_1 is small",
        printed=(
            r"when $w_1$ is close to the minimizer of $L_{v_1}$ then $L_{v_1}(w_{t_2}) - "
            r"L_{v_1}(w_1)$ could also be small."
        ),
        statement=r"For an $L$-smooth quadratic: $L_1(w_1) - L_1(w_{t_2}) \le \frac{L}{2} \|w_1 - "
        r"x_1\|^2$.",
        kind="bound",
        hypotheses=(),
        scope="d = 1: distances to the minimum",
        expected="holds",
        check=_check_start,
        mutants=(Mutant("1 % less", "0.99 L/2", partial(_check_start, factor="99/100")),),
        notes="The printed difference is negative then; its absolute value is meant.",
    ),
)
