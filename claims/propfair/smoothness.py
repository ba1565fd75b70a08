"""(A.44)-(A.52): the constants of the composed losses -log(M - f_i), and smaller ones that hold."""

from fractions import Fraction

import sympy

from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Decomposition
from fairfl.claims.exact import Instance
from fairfl.claims.forms import Claim, Residual, beside, definite, every, identity, witness


def residuals(scale: int = 1, c: int | Fraction = 1) -> dict[str, Residual]:
    """g/(M-f) - k/(M-h) = (g-k)/(M-h) + g (f-h)/((M-f)(M-h)); ``c``/2 for the printed 3/2."""
    M, f, h, g, k = sympy.symbols("M f h g k", real=True)
    L, s, z, L0 = sympy.symbols("L s z L0", positive=True)
    shared, smallest, factor = (M - f) * (M - h), (M / 2) ** 2, M / 2
    return {
        "difference": (
            scale * (g / (M - f) - k / (M - h)),
            (g - k) / (M - h) + g * (f - h) / shared,
        ),
        "smoothness, (A.46)": ((factor * L + L0**2) / smallest, 4 / M**2 * (c * M * L / 2 + L0**2)),
        "clients, (A.49)": ((factor * s + L0 * z) / smallest, 4 / M * (c * s / 2 + L0 / M * z)),
        "batches, (A.52)": (
            2 * ((factor * s) ** 2 + (L0 * z) ** 2) / smallest**2,
            8 / M**4 * (c**2 * M**2 * s**2 + 4 * L0**2 * z**2),
        ),
    }


def composed(instance: Instance, c: Fraction = Fraction(1)) -> Case:
    """Differences of gradients against (A.46), (A.49) and (A.52), with ``c``/2 for 3/2."""
    M, f, h, g, k = (instance[name] for name in "Mfhgk")
    L0, fall = max(abs(g), abs(k)), abs(f - h)
    distance, steep = abs(g / (M - f) - k / (M - h)), abs(g - k)
    far = max(steep, fall / L0 if L0 else Fraction(0))  # L = 1: points that are no nearer
    variance = 8 / M**4 * (c**2 * M**2 * steep**2 + 4 * L0**2 * fall**2)
    relations = (
        Relation(distance, "<=", 4 / M**2 * (c / 2 * M + L0**2) * far, "smoothness, (A.46)"),
        Relation(distance, "<=", 4 / M * (c / 2 * steep + L0 / M * fall), "clients, (A.49)"),
        Relation(distance**2, "<=", variance, "batches, (A.52)"),
    )
    premises = {"range": 0 <= min(f, h) and max(f, h) <= M / 2, "Lipschitz": M > 0}
    return Case(relations, premises)


def squares() -> Decomposition:
    """(a + b)^2 <= 2 (a^2 + b^2), the first line of (A.52)."""
    a, b = sympy.symbols("a b", real=True)
    return 2 * (a**2 + b**2) - (a + b) ** 2, [(a - b) ** 2]


def descent(step: int = 1) -> dict[str, Residual]:
    """r = M/2 - f >= 0 is L-smooth too: 0 <= r(t - r'/L) <= r - r'^2/(2L)."""
    r, L = sympy.symbols("r L", positive=True)
    g = sympy.symbols("g", real=True)
    bound = r - step * g**2 / L + (step * g) ** 2 / (2 * L)
    return {"the largest decrease": (bound, (r - g**2 / (2 * L)))}


def room(constant: Fraction = Fraction(9, 4)) -> Decomposition:
    """9/4 - 1/(1-x) - 2 (1/2-x)/(1-x)^2 = (3x-1)^2/(4(1-x)^2); x = f/M, y = 1 - x > 0."""
    y = sympy.symbols("y", positive=True)
    gap = sympy.Rational(str(constant)) - 1 / y - (2 * y - 1) / y**2
    return gap, [(2 - 3 * y) ** 2 / (4 * y**2)]


def attained(instance: Instance) -> Case:
    """M/6 + L t^2/2 up to t1 = sqrt(M/(3L)), then concave: the curvature there is 9 L/(4 M)."""
    M, L = instance["M"], instance["L"]
    square = M / (3 * L)  # t1^2
    f = M / 6 + L * square / 2
    at_end = f + L * square - L * square / 2  # f(t1) + f' t1 - L t1^2/2, slope L t1 - L t1 = 0
    second = L / (M - f) + L**2 * square / (M - f) ** 2
    return Case(
        (
            Relation(f, "==", M / 3, "value"),
            Relation(at_end, "==", M / 2, "the largest value"),
            Relation(second, "==", Fraction(9, 4) * L / M, "curvature"),
        )
    )


PRINTED = (
    r"(A.46): $\frac{4}{M^2}(\frac{3}{2}ML + L_0^2)$; (A.49): $\frac{4}{M}(\frac{3}{2}\sigma_g + "
    r"\frac{L_0}{M}\sigma_{0,g})$; (A.52): $\frac{8}{M^4}(9M^2\sigma_{l,i}^2 + "
    r"4L_0^2\sigma_{0,l,i}^2)$"
)
HYPOTHESES = {
    "range": "0 <= f_i, l_S <= M/2 everywhere (assumption 3.2)",
    "Lipschitz": "the gradients of the f_i, and of the batch losses for (A.52) by symmetry, no "
    "longer than L_0",
}


CLAIMS = (
    Claim(
        "propfair/smoothness",
        648,
        "The losses -log(M - f_i) are L~-smooth, and vary between clients and batches as stated",
        number="(A.44)-(A.52)",
        printed=PRINTED,
        statement=r"With $\varphi(t) = -\log(M - t)$, the differences of $\nabla(\varphi \circ "
        r"f)$ between two points, two clients, or a client and its batch are at most "
        r"$\frac{4}{M^2}(\frac12 M \|\nabla f - \nabla f'\| + L_0 |f - f'|)$: the constants hold "
        r"with 1/2 for 3/2, (A.52) with $M^2$ for $9M^2$, by $(a+b)^2 \le 2a^2 + 2b^2$.",
        kind="bound",
        hypotheses=HYPOTHESES,
        scope="every dimension",
        check=every(
            identity(residuals, "-4424/1287; 8141/2880; 203/24; 42973/576"),
            definite(squares, "169/900"),
            beside(
                witness(
                    composed,
                    "losses 0 and M/2 of opposite gradients",
                    {"M": Fraction(1), "f": 0, "h": "1/2", "g": "-1/2", "k": "3/4"},
                    "2 <= 85/16; 2 <= 4; 4 <= 17",
                )
            ),
        ),
        mutants={
            "1/4": ("half of 1/2", {"c": "1/2"}),
            "twice": ("twice the difference in (A.44)", {"scale": 2}),
        },
        gap="(A.52) bounds the mean square of grad(phi o l_S) - grad(phi o f_i), as printed; it "
        "is no variance, since E grad(phi o l_S) is not grad(phi o f_i): see "
        "propfair/theorem-3.3. (A.50) defines l_S with a gradient too many.",
        notes="No quadratic satisfies assumption 3.2, which asks for losses in [0, M/2] on all of "
        "R^d. The bounds have more room: see propfair/smoothness-sharp.",
    ),
    Claim(
        "propfair/smoothness-sharp",
        658,
        "(ours) By assumptions 3.1, 3.2 composed losses are (9/4)(L/M)-smooth, which is attained",
        number="(A.46)",
        printed=r"(A.46): $\tilde L = \frac{4}{M^2}\left(\frac{3}{2}ML + L_0^2\right)$",
        statement=r"$f \le M/2$ on all of $R^d$ and $L$-smooth gives $\|\nabla f\|^2 \le 2L(M/2 - "
        r"f)$, and with $x = f/M$ the Hessian of $\varphi \circ f$ is at most "
        r"$\frac{L}{M}\left(\frac{1}{1-x} + \frac{1-2x}{(1-x)^2}\right) \le \frac94 \frac{L}{M}$, "
        r"attained at $x = 1/3$ by a loss in $[M/6, M/2]$. ($L_0$ does not enter; the printed "
        r"constant is at least $6L/M$.)",
        kind="tight bound",
        hypotheses={
            "range": "f <= M/2 everywhere",
            "smooth": "grad f L-Lipschitz: its derivative exists almost everywhere",
        },
        scope="every dimension",
        whose="ours",
        check=every(
            identity(descent, "277/1008"),
            definite(room, "1"),
            witness(
                attained,
                "attained at f = M/3",
                {"M": Fraction(2), "L": Fraction(3)},
                "2/3 == 2/3; 1 == 1; 27/8 == 27/8",
            ),
        ),
        mutants={
            "2 for 9/4": ("a smaller constant", {"constant": "2/1"}),
            "step 2/L": ("twice the step in the descent inequality", {"step": 2}),
        },
    ),
)
