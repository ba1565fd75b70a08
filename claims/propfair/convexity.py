"""Equation (7), sections 3.1.1 and 4.1: derivatives of the objective, and when means are convex."""

from fractions import Fraction
from typing import Any

import sympy

from fairfl.claims.forms import Claim, Decomposition, Residual, definite, every, identity


def derivatives(sign: int = 1, power: int = 2) -> dict[str, Residual]:
    """Chain rule for f(x, y) with any values of f and its derivatives: it uses the 2-jet alone."""
    x, y, c, a, b, p, q, r = sympy.symbols("x y c a b p q r", real=True)
    M = c + sympy.symbols("room", positive=True)
    f = c + a * x + b * y + p * x**2 / 2 + q * x * y + r * y**2 / 2
    phi = -sympy.log(M - f)
    origin = {x: 0, y: 0}
    gradient, hessian = {x: a, y: b}, {(x, x): p, (x, y): q, (y, y): r}
    residuals = {f"d{u}": (sympy.diff(phi, u).subs(origin), gradient[u] / (M - c)) for u in (x, y)}
    for (u, v), second in hessian.items():
        printed = ((M - c) * second + sign * gradient[u] * gradient[v]) / (M - c) ** power
        residuals[f"d{u}d{v}"] = (sympy.diff(phi, u, v).subs(origin), printed)
    return residuals


def curvature(sign: int = 1) -> Decomposition:
    """The second derivative of -log(M - f) along a line, f of slope g and curvature h >= 0."""
    t = sympy.symbols("t")
    g = sympy.symbols("g", real=True)
    h = sympy.symbols("h", nonnegative=True)
    w = sympy.symbols("w", positive=True)  # M - f
    phi = -sympy.log(w - g * t - sign * h * t**2 / 2)
    second: Any = sympy.diff(phi, t, 2).subs(t, 0)
    return second, [h / w, (g / w) ** 2]


def example(coefficient: int = 1) -> dict[str, Residual]:
    """phi o f for M - f = exp(-r), r = ||theta||^2."""
    r = sympy.symbols("r", nonnegative=True)
    return {"phi o f is the square of the norm": (-sympy.log(sympy.exp(-coefficient * r)), r)}


def halfway(factor: int = 1) -> Decomposition:
    """(M - f)(middle)^2 - (M - f)(s) (M - f)(t), f convex: its chord is above it by k there."""
    a, b = sympy.symbols("a b", positive=True)  # M - f at the ends
    k = sympy.symbols("k", nonnegative=True)
    return ((a + b) / 2 + k) ** 2 - factor * a * b, [(a - b) ** 2 / 4, k * (a + b), k**2]


def bent(side: int = 1) -> Decomposition:
    """-f'' for f = M - exp(-t^2), where t^2 = (1 + s)/2, ``side`` 1: f is not convex there."""
    t, s, M = sympy.symbols("t s M", positive=True)
    f: sympy.Expr = M - sympy.exp(-(t**2))
    second: Any = f.diff(t, 2).subs(t, sympy.sqrt((1 + side * s) / 2))
    return -second, [2 * s * sympy.exp(-(1 + side * s) / 2)]


ONE = Fraction(1)
JETS = sympy.symbols("s1:4", positive=True)
"""The first three derivatives of s at one point, as independent numbers."""


def along(expression: sympy.Expr) -> sympy.Expr:
    """d/dt of an expression in the derivatives of s."""
    terms = (sympy.diff(expression, a) * b for a, b in zip(JETS, JETS[1:], strict=False))
    return sympy.Add(*terms)


def second_order(inverted: bool = False) -> dict[str, Residual]:
    """The Hessian of A_s along v, and its relation to -s'/s''.

    With s(A) = (1/n) sum s(f_i): A'' = ((1/n) sum s''_i v_i^2 - S'' A'^2)/S', A' = (1/n) sum s'_i
    v_i / S'. By Cauchy-Schwarz it is >= 0 for all v iff (1/n) sum r(f_i) <= r(A), r = s'^2/s'': iff
    r is concave as a function of y = s(t) (for all n >= 2 and f), its slope dr/dy = r'/s' = 1 +
    (s'/s'')' never rising.
    """
    s1, s2 = JETS[:2]
    r, h = s1**2 / s2, (s2 / s1 if inverted else s1 / s2)
    n, S, T, X, Y, e = sympy.symbols("n S T X Y e", positive=True)
    first = X / (n * S)
    moved = first * e + (Y / n - T * first**2) / S * e**2 / 2
    whole = sympy.expand(S * moved + T * moved**2 / 2)  # s at A, and the mean of s at f_i
    mean = (X, Y / 2)
    orders = {f"order {k + 1}": (whole.coeff(e, k + 1), mean[k] / n) for k in range(2)}
    return {"dr/dy": (along(r) / s1 - 1, along(h))} | orders


def schwarz(factor: Fraction = ONE) -> Decomposition:
    """c v^2 less ``factor`` times its term of Cauchy-Schwarz, t = X/W: 0 at v = t a/c."""
    a, c = sympy.symbols("a c", positive=True)
    v, t = sympy.symbols("v t", real=True)
    square = sympy.Rational(str(factor)) * (2 * t * a * v - t**2 * a**2 / c)
    return c * v**2 - square, [c * (v - t * a / c) ** 2]


CLAIMS = (
    Claim(
        "propfair/eq-7",
        139,
        "Gradient and Hessian of -log(M - f)",
        printed=r"$\nabla(\varphi \circ f_i) = \frac{\nabla f_i}{M - f_i}, \quad \nabla^2(\varphi "
        r"\circ f_i) = \frac{(M - f_i)\nabla^2 f_i + (\nabla f_i)(\nabla f_i)^\top}{(M - f_i)^2}$",
        statement="As printed, entry by entry: of f, two first derivatives and one second one.",
        kind="identity",
        hypotheses={"smooth": "f twice differentiable, f < M"},
        scope="every dimension",
        check=identity(derivatives, "4/17; 25/51; 1472/2023; 3205/3468; 3005/2601"),
        mutants={
            "minus": ("the outer product subtracted", {"sign": -1}),
            "cubed": ("the denominator to the third power", {"power": 3}),
        },
    ),
    Claim(
        "propfair/section-3.1.1",
        131,
        "The PropFair objective is convex if every loss is, or if every M - f_i is log-concave",
        printed=r"for convex losses, our optimization problem (6) is still convex ... one client "
        r"and $f_1(\theta) = M - e^{-\|\theta\|^2}$. In fact, it suffices to require each $M - "
        r"f_i$ to be log-concave.",
        statement=r"Along any line $(\varphi \circ f)'' = f''/(M-f) + (f'/(M-f))^2$, which is "
        r"$\ge 0$ where $f'' \ge 0$, and midpoints of kinks obey $(M - f)(\frac{s+t}2)^2 \ge (M - "
        r"f)(s)\,(M - f)(t)$; a sum of convex functions is convex, and $-\log(M - f)$ convex is "
        r"what '$M - f$ log-concave' means. For $M - f = e^{-\|\theta\|^2}$ it is $\|\theta\|^2$, "
        r"while $f$ is not convex.",
        kind="implication",
        hypotheses={"below M": "f_i < M", "smooth": "for the formula; midpoints need none"},
        scope="every n and dimension",
        check=every(
            definite(curvature, "511/600"),
            definite(halfway, "2.76259"),
            identity(example, "2/5"),
            definite(bent, "0.397268", strict=True),
        ),
        mutants={
            "near 0": ("f'' < 0 for t^2 < 1/2", {"side": -1}),
            "concave": ("losses with f'' <= 0", {"sign": -1}),
            "exp(-2r)": ("another example with the same right side", {"coefficient": 2}),
            "factor 2": ("twice the product of the ends", {"factor": 2}),
        },
        reading="'Our objective is convex even when f_i's are not' as 'can be convex': for M = 2 "
        "and f = 1 - theta^2 on [-1, 1] it is not.",
        notes="The example needs M >= 1 for its loss to be non-negative.",
    ),
    Claim(
        "propfair/convexity-criterion",
        223,
        "For s increasing and convex, the mean A_s is convex iff -s'/s'' is",
        number="Section 4.1",
        printed="let s be (strictly) increasing, convex and thrice differentiable. Then, the "
        "generalized mean function A_s is convex iff -s'/s'' is convex (Theorem 1 of [31])",
        statement=r"For $s' > 0$, $s'' > 0$: the Hessian of $A_s$ is positive semidefinite at $f$ "
        r"iff $\frac1n\sum r(f_i) \le r(A_s(f))$, $r = s'^2/s''$; that is concavity of $r$ in $y "
        r"= s(t)$, and $dr/dy = r'/s' = 1 + (s'/s'')'$: three derivatives do.",
        kind="equivalence",
        hypotheses={"strict": "s'' > 0, without which -s'/s'' is undefined; n >= 2"},
        scope="every n",
        check=every(
            identity(second_order, "533/15680; 7/20; 35/96"), definite(schwarz, "0.569153")
        ),
        mutants={
            "s''/s'": ("the ratio turned over", {"inverted": True}),
            "1 % more": ("1.01 times the square in Cauchy-Schwarz", {"factor": "101/100"}),
        },
        reading="s'' > 0. For s(t) = t the ratio is undefined, while A_s is convex.",
        notes="s must be convex: for s = log t, -s'/s'' = t is convex, the geometric mean is not.",
    ),
)
