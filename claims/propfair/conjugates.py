"""(C.3), (C.9)-(C.22): the conjugates of the means of FedAvg, TERM and PropFair."""

from fractions import Fraction
from math import prod

from flint import arb
from hypothesis import strategies as st

from fairfl.claims.exact import Instance, ball, dot
from fairfl.claims.forms import Case, Claim, Relation, drawn, exactly, proof

FINE = Fraction(1, 10**12)
"""Of the relative entropy, for the rounding of balls."""


def level(instance: Instance, scale: int = 1, domain: str = "R^n") -> Case:
    """(C.3): 0 at ``scale``/n; elsewhere above 1000 along lambda - 1/n, or its positive part."""
    x: list[Fraction] = instance["lambda"]
    n = len(x)
    slopes = [a - Fraction(1, n) for a in x]
    ray = [max(a, Fraction(0)) for a in slopes] if domain == "f >= 0" else slopes
    size = dot(slopes, ray)
    value = 1000 + size if size else Fraction(0)  # at 1000/size + 1 times the ray
    if all(a == Fraction(scale, n) for a in x):
        return Case((Relation(value, "==", 0, "A* = 0"),))
    return Case((Relation(1000, "<=", value, "A* is infinite"),))


def weights() -> st.SearchStrategy[Instance]:
    """Any lambda, 1/n among them."""
    weight = st.integers(-6, 6).map(lambda k: Fraction(k, 4))
    equal = st.integers(1, 4).map(lambda n: [Fraction(1, n)] * n)
    return st.one_of(st.lists(weight, min_size=1, max_size=4), equal).map(lambda x: {"lambda": x})


def entropy(instance: Instance, factor: Fraction = Fraction(1), mean: bool = True) -> Case:
    """(16) in balls: no f exceeds A*(lambda), one near the maximiser comes close to it."""
    x, alpha = instance["lambda"], ball(instance["alpha"])
    values = []  # of the maximand, at f and near the maximiser
    maximiser = [(ball(v).log() if v else arb(-60)) / alpha for v in x]
    for f in ([ball(g) for g in instance["f"]], maximiser):
        total = sum(((alpha * g).exp() for g in f), arb(0)) / (len(f) if mean else 1)
        values.append(dot(map(ball, x), f) - total.log() / alpha)
    penalty = sum((ball(v) * ball(v).log() for v in x if v), arb(0)) + arb(len(x)).log()
    penalty *= ball(factor)
    bound, below = ((penalty + ball(slack)) / alpha for slack in (FINE, -Fraction(1, 10**6)))
    return Case(
        (
            Relation(values[0], "<=", bound, "bound"),
            Relation(values[1], "<=", bound, "bound, near the maximiser"),
            Relation(below, "<=", values[1], "approached"),
        ),
        {"simplex": sum(x, Fraction(0)) == 1 and min(x) >= 0, "alpha": alpha > 0},
    )


@st.composite
def on_simplex(draw: st.DrawFn) -> Instance:
    """Points of the simplex, zeros among them, and losses of any sign."""
    n = draw(st.integers(1, 4))
    w = draw(st.lists(st.integers(0, 5), min_size=n, max_size=n).filter(any))
    return {
        "lambda": [Fraction(v, sum(w)) for v in w],
        "alpha": Fraction(draw(st.integers(1, 12)), 4),
        "f": [Fraction(draw(st.integers(-9, 9)), 3) for _ in range(n)],
    }


def geometric(instance: Instance, threshold: Fraction = Fraction(1)) -> Case:
    """(C.21) at one lambda, in fractions, n-th powers for roots.

    Inside: lambda.u >= G at any u >= 0, so the maximum is M (sum lambda - 1), attained at f = M.
    Positive but outside: the maximand grows along u = c/(n lambda), as prod n lambda < 1. With some
    lambda_i <= 0 it is unbounded: u_i = s^n there, the others 1, and G - lambda.u >= s - sum of the
    other lambda.
    """
    x, u = instance["lambda"], instance["u"]
    n = len(x)
    product = prod(n * v for v in x)
    if min(x) > 0:
        if product >= threshold:
            power = dot(x, u) ** n
            scale = float(power) or 1.0
            return Case((Relation(prod(u), "<=", power, "inside: G <= lambda.u", scale),))
        ray = [1 / (n * v) for v in x]
        return Case((Relation(dot(x, ray) ** n, "<", prod(ray), "outside: G > lambda.u"),))
    index = x.index(min(x))
    others = sum((v for i, v in enumerate(x) if i != index), Fraction(0))
    size = 1000 + abs(others)
    gain = size - x[index] * size**n - others
    return Case((Relation(1000, "<=", gain, "not positive: unbounded"),))


@st.composite
def near_border(draw: st.DrawFn) -> Instance:
    """Weights of any sign; or near prod n lambda = 1, with the utilities 1/lambda of equality."""
    n = draw(st.integers(1, 3))
    if draw(st.booleans()):
        x = [Fraction(draw(st.integers(1, 12)), 4) for _ in range(n)]
        product = draw(st.sampled_from([Fraction(999, 1000), Fraction(1), Fraction(1001, 1000)]))
        x[-1] = product / (n * prod(n * v for v in x[:-1]))
        return {"lambda": x, "u": [1 / v for v in x]}
    x = [Fraction(draw(st.integers(-2, 12)), 4) for _ in range(n)]
    return {"lambda": x, "u": [Fraction(draw(st.integers(0, 12)), 4) for _ in range(n)]}


def closed(instance: Instance, capped: bool = True) -> Case:
    """(C.22) = M (sum v - 1), v = max(lambda, c) with prod n v_i = 1, c = min v; by a primal and a
    dual point in fractions.

    Primal: u_i = M c/v_i <= M, so f_i = M - u_i >= 0, and the geometric mean of u is n M c, as prod
    n v = 1. Dual: for 0 <= f <= M, lambda.f <= v.f, and (C.21) at v.
    """
    v, c = instance["v"], min(instance["v"])
    premises = {"level": prod(len(v) * a for a in v) == 1 and c > 0}
    premises["below"] = min(instance["lower"]) >= 0
    n, M = len(v), instance["M"]
    x = [a - d if a == c else a for a, d in zip(v, instance["lower"], strict=True)]
    u = [M * c / (a if capped else max(b, Fraction(1, 10**9))) for a, b in zip(v, x, strict=True)]
    G = n * M * c
    value = sum((a * (M - b) for a, b in zip(x, u, strict=True)), Fraction(0)) + G - M
    return Case(
        (
            Relation(G**n, "==", prod(u), "G is the geometric mean", float(G**n)),
            Relation(value, "==", M * (sum(v, Fraction(0)) - 1), "primal and dual values"),
            Relation(0, "<=", M - max(u), "f >= 0"),
        ),
        premises,
    )


@st.composite
def levels(draw: st.DrawFn) -> Instance:
    """v > 0 with prod n v = 1, and the distance of lambda below its minimum (also below 0)."""
    n = draw(st.integers(1, 4))
    w = [Fraction(draw(st.integers(1, 9)), draw(st.integers(1, 4))) for _ in range(n)]
    w[-1] = 1 / (prod(w[:-1]) * n**n)
    lower = [Fraction(draw(st.integers(0, 8)), 4) for _ in range(n)]
    return {"v": w, "lower": lower, "M": Fraction(draw(st.integers(1, 6)), 2)}


CLAIMS = (
    Claim(
        "propfair/conjugate-fedavg",
        865,
        "The conjugate of the mean is 0 at lambda = 1/n and infinite elsewhere",
        number="(C.3)",
        printed=r"$A_s^*(\lambda) = 0$ if $\lambda_1 = \dots = \lambda_n = \frac{1}{n}$, $\infty$ "
        r"otherwise, where we extend the domain of f to be $\mathbb{R}^n$",
        statement=r"On $R^n$: the maximand is $0$ for every $f$ at $\lambda = 1/n$, and unbounded "
        r"for every other $\lambda$: it is $t\|\lambda - 1/n\|^2$ along $f = t(\lambda - 1/n)$.",
        kind="identity",
        scope="as stated, n >= 1",
        check=proof("plain_mean.v", "conjugate", exactly(level, weights, moved="lambda")),
        mutants={
            "2/n": ("another point", {"scale": 2}),
            "f >= 0": ("the paper's losses, where lambda <= 1/n gives 0", {"domain": "f >= 0"}),
        },
        reading="On R^n. On f >= 0 it is 0 wherever lambda <= 1/n: see propfair/table-1.",
    ),
    Claim(
        "propfair/conjugate-term",
        246,
        "The conjugate of TERM's mean is a relative entropy on the simplex; weights are softmax",
        number="Eq. (16), (C.14)",
        printed=r"$A_s^*(\lambda) = \frac{1}{\alpha} \sum_i \lambda_i \log \lambda_i + "
        r"\frac{1}{\alpha} \log n$, if $\lambda^\top \mathbf{1} = 1, \lambda \geq \mathbf{0}$, "
        r"and $\infty$ otherwise. The maximizer is achieved at $\lambda_i = \frac{\exp(\alpha "
        r"f_i)}{\sum_i \exp(\alpha f_i)}$",
        statement=r"On $R^n$: $A^*(\lambda) - (\lambda^\top f - A(f)) = \frac1\alpha KL(\lambda "
        r"\| softmax(\alpha f)) \ge 0$, which is $0$ at $\lambda = softmax(\alpha f)$ and comes "
        r"near $0$ for every $\lambda$ of the simplex; elsewhere $f = t\mathbf{1}$, or $f_i \to "
        r"-\infty$ for $\lambda_i < 0$, is unbounded.",
        kind="identity",
        hypotheses={"simplex": "lambda >= 0 of sum one; 0 log 0 = 0", "alpha": "alpha > 0"},
        scope="as stated, n >= 1",
        check=proof(
            "entropy.v",
            "inside equality approached outside",
            drawn(entropy, on_simplex, moved="lambda alpha f"),
        ),
        mutants={
            "no 1/n": ("the sum for the mean in A", {"mean": False}),
            "1.01 A*": ("the conjugate 1 % larger", {"factor": "101/100"}),
            "0.99 A*": ("the conjugate 1 % smaller", {"factor": "99/100"}),
        },
        reading="On R^n, as (C.9) says. On f >= 0 it is another one: see propfair/table-1.",
        gap="(C.12) cannot 'always be satisfied': where some lambda_i = 0, as at (1, 0), no f has "
        "these weights; the statement survives: there the supremum is approached as f_i tends to "
        "minus infinity, and has the same value.",
    ),
    Claim(
        "propfair/conjugate-propfair",
        967,
        "PropFair's conjugate: M (sum lambda - 1) where prod n lambda_i >= 1, else infinite",
        number="(C.21)",
        printed=r"$A_s^*(\lambda) = M(\lambda^\top \mathbf{1} - 1)$, if $\lambda \geq \mathbf{0}$ "
        r"and $\prod_{i=1}^n (n\lambda_i) \geq 1$, $\infty$ otherwise",
        statement=r"On $f \le M$: with $u = M - f$ the maximand is $M(\sum\lambda_i - 1) + G(u) - "
        r"\lambda^\top u$; $\lambda^\top u \ge (\prod n\lambda_i)^{1/n} G(u)$ by AM-GM. Outside, "
        r"$u_i = c/(n\lambda_i)$, or $u_i \to \infty$ where $\lambda_i \le 0$, is unbounded.",
        kind="identity",
        scope="as stated, n >= 1",
        check=proof(
            "geometric.v", "inside beyond signed", exactly(geometric, near_border, moved="lambda")
        ),
        mutants={
            "prod >= 0.999": ("a larger domain", {"threshold": "999/1000"}),
            "prod >= 1.001": ("a smaller domain", {"threshold": "1001/1000"}),
        },
        gap="'M_s^*' should be A_s^*, and its domain is closed because every conjugate's sublevel "
        "sets are; the statement survives: both are slips of the pen.",
    ),
    Claim(
        "propfair/eq-C.22",
        971,
        "(ours) On 0 <= f <= M the conjugate is M (sum v - 1), v = max(lambda, c), finite",
        number="(C.22)",
        printed=r"$\bar{A}_s^*(\lambda) = \inf_{\lambda \leq \gamma} A_s^*(\gamma)$. However, the "
        r"formula for $A_s^*$ suffices for our purpose so we need not compute the above "
        r"explicitly.",
        statement=r"$\bar A^*(\lambda) = M(\sum_i v_i - 1)$, $v = \lambda$ where $\lambda > 0$, "
        r"$\prod n\lambda_i \ge 1$, and else $v = \max(\lambda, c)$ with $c > 0$ such that $\prod "
        r"n v_i = 1$; attained at $f_i = M(1 - c/v_i)$.",
        kind="identity",
        hypotheses={"level": "prod n v_i = 1", "below": "lambda = v, or below c where v = c"},
        scope="as stated, n >= 1",
        whose="ours",
        check=proof(
            "geometric.v", "topped capped raised", exactly(closed, levels, moved="v lower")
        ),
        mutants={"lambda for v": ("f_i = M (1 - c/lambda_i)", {"capped": False})},
    ),
)
