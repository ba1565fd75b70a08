"""Lemma 12: a bound of the Hessian of a powered loss, and the step sizes that use it."""

from typing import Any

import sympy

from fairfl.claims.certificates import Decomposition
from fairfl.claims.exact import Instance
from fairfl.claims.forms import Case, Claim, Relation, counterexample, definite, every, identity


def residuals(sign: int = 1) -> dict[str, Any]:
    """(28), entry by entry: f(x, y) with arbitrary value and derivatives at 0."""
    x, y, a, b, p, r, s = sympy.symbols("x y a b p r s", real=True)
    q, c = sympy.symbols("q c", positive=True)
    f = c + a * x + b * y + p * x**2 / 2 + r * x * y + s * y**2 / 2
    gradient, hessian = {x: a, y: b}, {(x, x): p, (x, y): r, (y, y): s}
    power = f ** (q + 1) / (q + 1)
    attained = sympy.diff(power, x, x).subs({x: 0, y: 0, b: 0})
    return {"along the gradient, f'' = L": (attained, local_bound(c, q, p, a**2))} | {
        f"d{u}d{v}": (
            sympy.diff(power, u, v).subs({x: 0, y: 0}),
            (sign * q * c ** (q - 1) * gradient[u] * gradient[v] + c**q * second),
        )
        for (u, v), second in hessian.items()
    }


def local_bound(f: Any, q: Any, L: Any, square: Any, factor: int = 1) -> Any:
    """(27), ``square`` that of the gradient."""
    return L * f**q + factor * q * f ** (q - 1) * square


def quadratic(side: int, factor: int = 1) -> Decomposition:
    """L_q |v|^2 -+ v' (28) v >= 0 in two dimensions; by smoothness L I -+ Hess = A A'."""
    q, f, L = sympy.symbols("q f L", positive=True)
    a, b, v, w, i, j, k = sympy.symbols("a b v w i j k", real=True)
    lost = (i * v + j * w) ** 2 + (k * w) ** 2  # v'(L I -+ Hess) v
    outer = q * f ** (q - 1)
    bound = local_bound(f, q, L, a**2 + b**2, factor)
    along = side * outer * (a * v + b * w) ** 2 + f**q * (L * (v**2 + w**2) - lost)
    terms = [f**q * (i * v + j * w) ** 2, f**q * (k * w) ** 2]
    terms.append(outer * (a * w - b * v) ** 2)
    if side < 0:
        terms.append(2 * outer * (a * v + b * w) ** 2)
    return bound * (v**2 + w**2) - along, terms


def vanishing(vanish: int = 2) -> Decomposition:
    """(1 + 2q) L f^q - L_q >= 0, as |grad f|^2 = 2 L f - slack: L_q tends to 0 with f."""
    q, f, L = sympy.symbols("q f L", positive=True)
    slack = sympy.symbols("z", nonnegative=True)
    g2 = 2 * L * f - slack
    outer = q * f ** (q - 1)
    return (1 + vanish * q) * L * f**q - local_bound(f, q, L, g2), [outer * slack]


def undefined(instance: Instance) -> Case:
    """(27), with ``square`` = ||grad f||^2, is a number: f > 0 or q >= 1."""
    f, q, L, square = (sympy.Rational(str(instance[name])) for name in ("f", "q", "L", "square"))
    missing = int(local_bound(f, q, L, square).is_finite is not True)
    return Case((Relation(0, "==", missing, "(27) is not a number"),), {"losses": f >= 0})


PRINTED = (
    r"for any $q \ge 0$ and at any point w, $L_q(w) = Lf(w)^q + qf(w)^{q-1} \|\nabla f(w)\|^2$ "
    r"is an upper-bound for the local Lipschitz constant of the gradient of "
    r"$\frac{1}{q+1}f^{q+1}(\cdot)$ at point w."
)
CLAIMS = (
    Claim(
        "qffl/lemma-12",
        405,
        "L f^q + q f^(q-1) |grad f|^2 bounds the local smoothness of f^(q+1)/(q+1)",
        printed=PRINTED,
        statement=r"For $f(w) > 0$ the Hessian (28) has norm at most $L_q(w)$: $v^\top (L_q I \mp "
        r"(28)) v$ is a sum of squares; $L_q$ is continuous, and at most $(1 + 2q) L f^q$, as "
        r"$\|\nabla f\|^2 \le 2Lf$.",
        kind="bound",
        hypotheses={"smooth": "f >= 0 twice differentiable, |Hess| <= L", "losses": "f(w) > 0"},
        scope="two dimensions, which hold the gradient and v; every q > 0 (q = 0 is L)",
        check=every(
            identity(residuals, "1.96049; 1.96049; 2.65091; 3.40136"),
            definite(quadratic, "107.91", side=1),
            definite(quadratic, "191.438", side=-1),
            definite(vanishing, "1.53103"),
        ),
        mutants={
            "minus": ("the outer product subtracted in (28)", {"sign": -1}),
            "no gradient": ("L f^q alone", {"factor": 0}),
            "1 + q": ("(1 + q) L f^q for the limit", {"vanish": 1}),
        },
        reading="'At point w' is the norm of the Hessian there, and so the Lipschitz constant of "
        "small neighbourhoods, in the limit. Where f(w) = 0 see qffl/lemma-12-zero.",
        gap="A Lipschitz gradient does not make f twice differentiable; the statement survives, as "
        "the Hessian exists almost everywhere and L_q is continuous. (28) bounds the Hessian from "
        "above only; from below -L f^q does.",
    ),
    Claim(
        "qffl/lemma-12-zero",
        405,
        "L_q(w) is defined for any q >= 0 at any point w",
        number="Lemma 12, Algorithms 1 and 3",
        printed=PRINTED,
        kind="existence",
        hypotheses={"losses": "f >= 0"},
        scope="f = 0, q = 1/2",
        whose="implied",
        severity="step",
        check=counterexample(
            undefined,
            "f(w) = 0, q = 1/2: (27) has 0^(-1/2) |0|^2",
            {"f": 0, "q": "1/2", "L": 3, "square": 0},
            "0 == 1",
        ),
        mutants={"f = 1": ("a positive loss", {"f": 1})},
        erratum="For 0 < q < 1 and f(w) = 0 it is infinity times 0, and so are h_k in Algorithms 1 "
        "and 3, for a device that has reached zero loss. The limit is 0 (as grad f = 0 there, and "
        "|grad f|^2 <= 2 L f): say so, and take it.",
    ),
)
