"""Theorems 1 and 2 with the remainder that they leave out: sharp for all losses of given
curvatures.
"""

from __future__ import annotations

import sympy

from fairfl.claims.forms import Claim, definite, every, identity


def remainder(share: str = "1/8", whole: bool = False) -> dict[str, sympy.Expr]:
    """FedAvg's lead of v_2 less its lower bound, where both losses are at the edge of what their
    curvatures allow; from the products of g = g_1 and h = g_2.

    By smoothness L_2(w - s) <= L_2 - g_2.s + L ||s||^2/2, and by convexity L_1(w - s) >= L_1 -
    g_1.s + mu ||s||^2/2: "models" has these two in place of the losses. "losses" has the quadratics
    of curvatures mu and L that attain them. ``whole``: L in place of L - mu.
    """
    gg, gh, hh = sympy.symbols("gg gh hh", real=True)
    eta, ell, mu = sympy.symbols("eta L mu", positive=True)
    both = gg + 2 * gh + hh
    one, two, square = eta * (gg + gh) / 2, eta * (gh + hh) / 2, eta**2 * both / 4  # g.s, h.s, s.s
    width = ell if whole else ell - mu
    claimed = eta * (hh - gg) / 2 - sympy.Rational(share) * eta**2 * width * both
    models = (two - ell * square / 2) - (one - mu * square / 2)

    def fall(curvature: sympy.Expr, along: sympy.Expr, length: sympy.Expr) -> sympy.Expr:
        """Of (c/2) ||w - x||^2 from 0 to -s, where the gradient -c x has this product with s."""
        xx, xs = length / curvature**2, -along / curvature
        return curvature * (xx - (square + 2 * xs + xx)) / 2

    losses = fall(ell, two, hh) - fall(mu, one, gg)
    return {"models": models - claimed, "losses": losses - claimed}


def product(share: str = "1/2") -> dict[str, sympy.Expr]:
    """The difference of FedAvg's and NGD's leads for quadratics of Hessians H_2 - H_1 = A, in the
    plane of the gradients.

    "gap": it is (g_2 - g_1).p - p.A q/2, p = s_F - s_N and q = s_F + s_N, for every symmetric A.
    "first": its first part is (eta/2) (b - a) (a + b - 1 - c), for g = a (1, 0), h = b (c, s).
    "attained": p.A q = K ||p|| ||q|| for the reflection A = K ((cos, sin), (sin, -cos)) at the sum
    of the angles of p and q.
    """
    x, y, z = sympy.symbols("x y z", real=True)
    a, b, k, eta, size = sympy.symbols("a b k eta K", positive=True)
    cosine, sine = (1 - k**2) / (1 + k**2), 2 * k / (1 + k**2)
    matrix = sympy.Matrix([[x, z], [z, y]])
    one, two = sympy.Matrix([1, 0]), sympy.Matrix([cosine, sine])
    g, h = a * one, b * two
    average, unit = eta * (g + h) / 2, eta * (one + two) / 2
    p, q = average - unit, average + unit

    def lead(s: sympy.Matrix) -> sympy.Expr:
        return (h - g).dot(s) - (s.T * matrix * s)[0] / 2

    half = sympy.Rational(share)
    gap = lead(average) - lead(unit) - ((h - g).dot(p) - half * (p.T * matrix * q)[0])
    first = (h - g).dot(p) - eta * (b - a) * (a + b - 1 - cosine) / 2
    even, odd = p[0] * q[0] - p[1] * q[1], p[0] * q[1] + p[1] * q[0]
    turned = size * sympy.Matrix([[even, odd], [odd, -even]])
    attained = (p.T * turned * q)[0] - size * p.dot(p) * q.dot(q)  # both times ||p|| ||q||
    return {"gap": gap, "first": first, "attained": attained}


def largest(sign: int, norm: str = "1") -> tuple[sympy.Expr, list[sympy.Expr]]:
    """K P Q - p.A q >= 0 for a symmetric 2x2 matrix of norm at most ``norm`` K.

    A is sign X times the identity plus R times a reflection, of norm X + R; p = P (cos, sin) and q
    likewise, so p.A q = P Q (sign X cos 2t + R cos 2u), 2t the angle between them.
    """
    p, q = sympy.symbols("P Q", positive=True)
    x, r, m = sympy.symbols("X R m", nonnegative=True)
    t, u = sympy.symbols("t u", real=True)
    size = sympy.Rational(norm) * (x + r + m)
    value = p * q * (size - sign * x * sympy.cos(2 * t) - r * sympy.cos(2 * u))
    turned = sympy.sin(t) ** 2 if sign > 0 else sympy.cos(t) ** 2
    return value, [2 * p * q * x * turned, 2 * p * q * r * sympy.sin(u) ** 2, p * q * m]


CLAIMS = (
    Claim(
        "dynamic/theorem-1-exact",
        94,
        "When FedAvg is unfair at t_2 + 1 for all losses of given curvatures: the sharp condition",
        printed=r"Fedavg is not dynamically fair at the timepoint $t_2 + 1$ if $\|\nabla_w "
        r"L_{v_2}(w_{t_2})\|_2$ is sufficiently large",
        statement=r"For $L$-smooth, $\mu$-strongly convex losses the benefit of $v_2$ in the round "
        r"is at least that of $v_1$ plus $\frac{\eta}{2}(\|g_2\|^2 - \|g_1\|^2) - \frac{\eta^2 (L "
        r"- \mu)}{8} \|g_1 + g_2\|^2$, and quadratics attain this. So FedAvg is unfair whatever "
        r"the losses iff $v_1$ has gained no more than this before.",
        kind="tight bound",
        whose="ours",
        check=identity(remainder),
        mutants={
            "1 % less": ("99/800 for 1/8", {"share": "99/800"}),
            "L for L - mu": ("a remainder of each loss", {"whole": True}),
        },
        reading="The theorem says 'sufficiently large', and this says how large.",
        notes="mu may be negative, down to -L, in the bound; what attains it is written out for mu "
        "> 0. With mu = L the first order is exact, for any step size.",
    ),
    Claim(
        "dynamic/theorem-2-exact",
        114,
        "When normalised gradient descent is fairer for all quadratics of given curvatures: the "
        "sharp condition",
        printed=r"if $\|\nabla_w L_{v_2}(w_{t_2})\|_2 \geq \Omega(1)$ we have NGD is dynamically "
        r"fairer than the above Fedavg at time point $t_2 + 1$",
        statement=r"For quadratics of curvatures in $[\mu, L]$, with $s_F, s_N$ the steps of "
        r"FedAvg and of NGD: NGD is fairer at $t_2 + 1$ whatever the quadratics iff "
        r"$\frac{\eta}{2} (\|g_2\| - \|g_1\|)(\|g_1\| + \|g_2\| - 1 - \cos) > \frac{L - \mu}{2} "
        r"\|s_F - s_N\| \|s_F + s_N\|$.",
        kind="equivalence",
        whose="ours",
        check=every(identity(product), definite(largest, sign=1), definite(largest, sign=-1)),
        mutants={
            "1 % less": ("99/200 for 1/2", {"share": "99/200"}),
            "1 % of the norm": ("p.A q <= 0.99 K P Q", {"norm": "99/100"}),
        },
        reading="Omega(1) made a condition that cannot be weakened.",
        notes="H_2 - H_1 may be any symmetric matrix of norm at most L - mu, of which the plane of "
        "the gradients sees a 2x2 matrix. With one curvature the right side is 0, and NGD is "
        "fairer iff (b - a)(a + b - 1 - cos) > 0, for any step size: for b > a everywhere but in "
        "the triangle a + b <= 1 + cos. For losses that are no quadratics put (||s_F||^2 + "
        "||s_N||^2)/2 for the product.",
    ),
)
