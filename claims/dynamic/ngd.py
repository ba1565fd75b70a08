"""Normalised gradient descent: the largest benefit of one step, and when the algorithm is fair."""

from typing import Any

import sympy

from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Decomposition
from fairfl.claims.dynamic.setting import gap, normalised, on_line
from fairfl.claims.forms import Claim, Instance, Residual, counterexample, definite, every, identity


def step() -> tuple[sympy.Expr, sympy.Symbol, sympy.Symbol]:
    """(eta/2) ||u + v|| for unit vectors whose half angle has the cosine 1/(1+z); eta and z."""
    eta, z = sympy.Symbol("eta", positive=True), sympy.Symbol("z", nonnegative=True)
    cosine = 2 / (1 + z) ** 2 - 1
    return eta / 2 * sympy.sqrt(sympy.factor(2 + 2 * cosine)), eta, z


def longest(share: str = "1") -> Decomposition:
    """``share`` eta less the length of the step."""
    length, eta, z = step()
    return sympy.Rational(share) * eta - length, [eta * z / (1 + z)]


def residuals(divisor: str = "2") -> dict[str, Residual]:
    """f less its quadratic at w - eta g/||g||: eta ||g|| - eta^2 c/2, for c = L and c = mu."""
    length = sympy.symbols("length", positive=True)
    eta, c = sympy.symbols("eta c", real=True)
    quadratic = -eta / length * length**2 + c * (eta / length) ** 2 * length**2 / 2
    claimed = eta * length - eta**2 * c / sympy.Rational(divisor)
    w, new = length / c, length / c - eta  # f = c w^2/2
    return {
        "f(w) less the quadratic": (-quadratic, claimed),
        "equal where L = mu": (c * w**2 / 2 - c * new**2 / 2, claimed),
    }


def one_round(needed: str = "2") -> Decomposition:
    """The gap: a head start ``needed`` eta + s, plus gains of v_1 less v_2 within the step."""
    length, eta, z = step()
    s, p, q = sympy.Symbol("s", positive=True), *sympy.symbols("p q", nonnegative=True)
    gains = (-length + p) - (length - q)
    return sympy.Rational(needed) * eta + s + gains, [s, p, q, 2 * eta * z / (1 + z)]


def later(centre: int = 4, rounds: int = 0) -> Decomposition:
    """NGD's lead of v_2 less a head start of C eta, for C = 1 + s: L_1 = (w-2)^2/2, L_2 =
    (w-``centre``)^2/2, w = 0, eta = 1/(C+1), after C + 1 rounds (or ``rounds``).

    Both unit gradients are -1 up to w = 2, so that w = T eta.
    """
    s = sympy.symbols("s", nonnegative=True)
    c = 1 + s
    eta = 1 / (c + 1)
    w = (rounds or c + 1) * eta
    gains = [(x**2 - (w - x) ** 2) / 2 for x in (sympy.Integer(2), sympy.Integer(centre))]
    return gains[1] - gains[0] - c * eta, [1 + 1 / (s + 2)]


def flow(speed: str = "2", sign: int = -1) -> dict[str, Residual]:
    """Along w' = -(u_1 + u_2)/2, u_i the unit vectors from x_1 = 0 and x_2 = (D, 0): r_2 - r_1 does
    not change, and e = r_1 + r_2 falls as ``speed`` (e^2 - D^2)/(e^2 - delta^2).

    "lead" is L_2 - L_1 for one curvature 1; "time" is that t(e) = (s - e)/2 + (D^2 -
    delta^2)/(4D) log(...) has this speed, and is 0 at s = e(0).
    """
    x, y = sympy.symbols("X Y", real=True)
    d, e, delta, start = sympy.symbols("D e delta s", positive=True)
    r_1, r_2 = sympy.sqrt(x**2 + y**2), sympy.sqrt((x - d) ** 2 + y**2)
    velocity = [-(x / r_1 + (x - d) / r_2) / 2, -(y / r_1 + y / r_2) / 2]
    rate_1, rate_2 = (
        sympy.diff(r, x) * velocity[0] + sympy.diff(r, y) * velocity[1] for r in (r_1, r_2)
    )
    factor = sympy.Rational(speed)
    square, difference = (r_1 + r_2) ** 2, (r_2 - r_1) ** 2
    time = (start - e) / 2 + (d**2 - delta**2) / (4 * d) * sympy.log(
        (start - d) * (e + d) / ((start + d) * (e - d))
    )
    return {
        "difference": (rate_2, -sign * rate_1),
        "sum": ((rate_1 + rate_2) * (square - difference), -factor * (square - d**2)),
        "lead": ((r_2**2 - r_1**2) / 2, lead(r_2 - r_1, r_1 + r_2)),
        "no time at e = s": (time.subs(e, start), 0),
        "time": (sympy.diff(time, e) * factor * (e**2 - d**2) + e**2, delta**2),
    }


def lead(delta: Any, fall: Any) -> Any:
    """v_2's lead when e has fallen by ``fall``: L_i = r_i^2/2, so L_2 - L_1 = delta e/2."""
    return delta * fall / 2


def lasting(share: str = "1") -> Decomposition:
    """A head start ``share`` a (b - a) + h, less the lead delta (e_0 - e)/2 of the flow.

    b - a = delta, D = delta + m, e = D + n, e_0 = 2a + delta.
    """
    a, delta, h = sympy.symbols("a delta h", positive=True)
    m, n = sympy.symbols("m n", nonnegative=True)
    e, start = delta + m + n, 2 * a + delta
    margin = sympy.Rational(share) * a * delta + h - lead(delta, start - e)
    return margin, [h, delta * (m + n) / 2]


def fair(instance: Instance) -> Case:
    """(3) after a normalised round, if v_1 has a head start."""
    relation = Relation(0, "<", gap(instance, normalised), "benefit of v_1 less that of v_2")
    is_defined = any(instance["g"]) and any(instance["h"])
    premises = {"head start": instance["gained"] > 0, "defined": is_defined}
    return Case((relation,), premises)


CLAIMS = (
    Claim(
        "dynamic/ngd-bounds",
        110,
        "A normalised step brings at most 2 eta, and locally eta ||g|| - O(eta^2)",
        number="Section 4, before and after theorem 2",
        printed=r"$L_{v_2}(w_{t_2+1}) - L_{v_2}(w_{t_2}) \le \|w_{t_2+1} - w_{t_2}\|_2 \le 2\eta$, "
        r"i.e., the benefit now is bounded by $\eta$; $\eta \| \nabla_w L_{v_2}(w_{t_2}+q) \|_2 - "
        r"\frac{\eta^2 L}{2} \le L_{v_2}(w_{t_2+q}) - L_{v_2}(\tilde{w}_{t_2+q+1}^2) \le \eta \| "
        r"\nabla_w L_{v_2}(w_{t_2+q}) \|_2 - \frac{\eta^2 \mu}{2}$",
        statement=r"For a 1-Lipschitz $f$ and the mean $w'$ of two normalised steps: $|f(w') - "
        r"f(w)| \le \|w' - w\| \le \eta$. For an $L$-smooth, $\mu$-strongly convex $f$ and $\tilde "
        r"w = w - \eta g/\|g\|$: $\eta \|g\| - \eta^2 L/2 \le f(w) - f(\tilde w) \le \eta \|g\| - "
        r"\eta^2 \mu/2$.",
        kind="bound",
        check=every(definite(longest, "2/11"), identity(residuals, "205/252; 205/252")),
        mutants={
            "1 % less": ("||w' - w|| <= 0.99 eta", {"share": "99/100"}),
            "eta^2 L/2.02": ("1 % less than the half", {"divisor": "101/50"}),
        },
        reading="Neither gradient is 0. The first display bounds a loss; as |.| it bounds the "
        "benefit. The gradients are at w_{t_2+q}, not w_{t_2}+q.",
        notes="2 eta can be eta: ||u + v|| <= 2 for unit vectors, and the step is (eta/2)(u + v). "
        "The text says so in the next line, and 2 eta again after it.",
    ),
    Claim(
        "dynamic/ngd-fair",
        112,
        "If v_1 has gained more than 2 eta, one normalised step stays absolutely fair",
        number="Section 4, before theorem 2",
        printed=r"This indicates that as long as the benefit of $v_1$ at $t_2$, i.e., "
        r"$L_{v_1}(w_{t_1}) - L_{v_i}(w_t) > 2\eta$ then the algorithm will be absolutely "
        r"dynamically fair at $t_2 + 1$.",
        statement=r"For 1-Lipschitz $L_1, L_2$: if $L_1(w_{t_1}) - L_1(w_{t_2}) > 2 \eta$, then "
        r"the benefit of $v_1$ at $t_2 + 1$ exceeds that of $v_2$.",
        kind="implication",
        hypotheses={"head start": "L_1(w_(t_1)) - L_1(w_(t_2)) > 2 eta"},
        check=definite(one_round, "74153/19320", strict=True),
        mutants={"1 % less": ("a head start of 1.98 eta", {"needed": "99/50"})},
        rests_on=("dynamic/ngd-bounds",),
        reading="The second loss is L_{v_1}(w_{t_2}); printed is L_{v_i}(w_t).",
    ),
    Claim(
        "dynamic/ngd-fair-later",
        124,
        "A head start of C eta keeps normalised gradient descent fair at every later time",
        number="Section 4, after theorem 2",
        printed=r"when $\| \nabla_w L_{v_i}(w_{t_2}+q) \|_2$ is large, then if $L_{v_1}(w_{t_1}) - "
        r"L_{v_i}(w_{t_2}) \ge \omega(\eta)$, our previous algorithm will be dynamically fair.",
        kind="implication",
        scope="every C >= 1: L_1 = (w-2)^2/2, L_2 = (w-4)^2/2, w = 0, eta = 1/(C+1), C + 1 rounds",
        severity="theorem",
        check=every(definite(later, "17/12", strict=True), negation=True),
        mutants={
            "one minimum": ("x_2 = x_1: v_2 has no lead", {"centre": 2}),
            "one round": ("t_2 + 1 alone", {"rounds": 1}),
        },
        reading="omega(eta) as more than any multiple of eta; the second loss is L_1(w_{t_2}).",
        erratum="2 eta is enough for one round (dynamic/ngd-fair). What v_2 gains adds up over the "
        "rounds, and its sum does not shrink with eta: ask for a head start of ||g_1|| (||g_2|| - "
        "||g_1||), which is small where v_1 has been trained.",
        repaired=dict(
            title="A head start above ||g_1|| (||g_2|| - ||g_1||) keeps the normalised flow fair",
            statement=r"For quadratics of one curvature 1 and the normalised flow: if "
            r"$L_1(w_{t_1}) - L_1(w_{t_2}) > a (b - a)$, $a = \|g_1\| < b = \|g_2\|$, then $v_1$ "
            r"has the larger benefit at every $t > t_2$.",
            kind="bound",
            check=definite(lasting, "14297/6048", strict=True),
            mutants={"1 % less": ("0.99 a (b - a)", {"share": "99/100"})},
            rests_on=("dynamic/ngd-flow",),
            notes="The lead never exceeds (b - a)(a + b - D)/2, and D >= b - a; equal where x_1 "
            "and x_2 lie in one direction. FedAvg's lead tends to (b^2 - a^2)/2, which does not "
            "vanish with a: this is the paper's point, and on quadratics it is exact.",
        ),
    ),
    Claim(
        "dynamic/guarantee",
        225,
        "Normalising guarantees absolute dynamic fairness",
        number="Section 6",
        printed="We developed algorithms with normalization to guarantee the dynamic fairness "
        "based on Fedavg.",
        statement="If $v_1$ has gained before $t_2$, it has the larger benefit at $t_2 + 1$ under "
        "normalised gradient descent.",
        kind="implication",
        hypotheses={"head start": "L_1(w_(t_1)) > L_1(w_(t_2))", "defined": "no gradient is 0"},
        scope="d = 1",
        severity="remark",
        check=counterexample(
            fair,
            "slopes -3/2 and -9/2, curvatures 3/4 and 5/6, eta = 2/5, a head start of 4/7",
            on_line("-3/2", "-9/2", "2/5", "4/7", "3/4", "5/6"),
            "0 < -653/1050",
        ),
        mutants={"1.52": ("v_1 has gained 1.52", {"gained": "38/25"})},
        reading="'Guarantee' as (3) at any head start. As 'improve' it is theorem 2.",
        erratum="Normalising makes the newcomer's lead smaller, not zero. What guarantees (3) is a "
        "head start above the lead: 2 eta for a round (dynamic/ngd-fair), ||g_1|| (||g_2|| - "
        "||g_1||) for all (dynamic/ngd-fair-later/repaired).",
    ),
    Claim(
        "dynamic/ngd-flow",
        116,
        "The normalised flow on two quadratics keeps the difference of the distances to their "
        "minima, and rests on the segment between them",
        number="Theorem 2, continued",
        printed="Note that although in the previous theorem we only considered the time point $t_2 "
        "+ 1$. As we can see from the experimental part, our algorithm is fairer than Fedavg in "
        "practice at each time point.",
        statement=r"Let $L_i = \frac{\ell_i}{2}\|w - x_i\|^2$, $r_i = \|w - x_i\|$, $D = \|x_1 - "
        r"x_2\|$ and $w' = -\frac12(u_1 + u_2)$, $u_i = (w - x_i)/r_i$. Then $\delta = r_2 - r_1$ "
        r"is constant and $e = r_1 + r_2$ has $e' = -2 \frac{e^2 - D^2}{e^2 - \delta^2}$, so $e "
        r"\to D$. With $\ell_i = 1$ the benefit of $v_2$ exceeds that of $v_1$ by $\frac12 (b - "
        r"a)(e_0 - e)$.",
        kind="identity",
        scope="as stated: the motion stays in the plane of w, x_1 and x_2",
        whose="ours",
        check=identity(flow, "-0.982202; -13.584; -19/75; 0; 121/64"),
        mutants={
            "2.02": ("1 % faster", {"speed": "101/50"}),
            "the sum": ("r_1 + r_2 is claimed to be kept", {"sign": 1}),
        },
        reading="The flow is the limit of small steps, time eta times rounds.",
        notes="Normalised steps of two clients descend on the sum of distances, not on that of the "
        "losses: every point of the segment is a minimum of it. The limit depends on where v_2 "
        "finds the model, which FedAvg's does not. There GB (9) is positive, exp((b - a) D/2) - 1; "
        "under FedAvg it tends to 0.",
    ),
)
