"""(A.18): a cross term that is dropped, though later drift depends on earlier noise; and (A.25),
which holds.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import sympy
from hypothesis import strategies as st

from fairfl.claims.claim import Claim
from fairfl.claims.forms import Case, Relation, counterexample, definite, drawn, every, identity


def moments(world: dict[str, Any]) -> dict[str, Fraction]:
    """E of the squares in (A.18), over all signs of the noise +-s_i of every step, in fractions.

    Client i: f_i = h_i theta^2/2 + b_i theta, of any sign of h_i; F is their plain mean; shares
    p_i; K_i steps.
    """
    n, eta, p = len(world["h"]), world["eta"], world["p"]
    centre = (
        sum((h * world["theta"] + b for h, b in zip(world["h"], world["b"], strict=True)), 0) / n
    )
    squares = sum((x * x for x in p), Fraction(0))
    found = dict.fromkeys(("whole", "noise", "drift", "bound"), Fraction(0))
    outcomes = list(product(*(list(product((-1, 1), repeat=k)) for k in world["steps"])))
    for outcome in outcomes:
        noise = drift = Fraction(0)
        for i in range(n):
            at = world["theta"]
            for sign in outcome[i]:
                exact = world["h"][i] * at + world["b"][i]
                error = sign * world["s"][i]
                noise += p[i] * error
                drift += p[i] * (exact - centre)
                found["bound"] += squares * world["steps"][i] * (error**2 + (exact - centre) ** 2)
                at -= eta * (exact + error)
        found["whole"] += (noise + drift) ** 2
        found["noise"] += noise**2
        found["drift"] += drift**2
    return {name: total / len(outcomes) for name, total in found.items()}


def split(instance: dict[str, Any], operator: str = "==") -> Case:
    """(A.18) as printed: E||noise + drift||^2 = E||noise||^2 + E||drift||^2."""
    found = moments(instance)
    parts = found["noise"] + found["drift"]
    told = Relation(found["whole"], operator, parts, "(A.18)")  # type: ignore[arg-type]
    return Case((told,), premises(instance))


def premises(world: dict[str, Any]) -> dict[str, bool]:
    """Assumption 3.1 with L = max |h_i| along the path, the step size, and shares."""
    L = max(abs(h) for h in world["h"])
    return {
        "step size": all(6 * world["eta"] * L * k <= 1 for k in world["steps"]),
        "shares": sum(world["p"], Fraction(0)) == 1 and min(world["p"]) > 0,
    }


def joint(instance: dict[str, Any]) -> Case:
    """Cauchy-Schwarz first, then unbiasedness at each step: the bound that (A.19) and (A.20) add up
    to.
    """
    found = moments(instance)
    relation = Relation(found["whole"], "<=", found["bound"], "sum of (A.19), (A.20)")
    return Case((relation,), premises(instance))


WORLD: dict[str, Any] = {
    **{"h": [Fraction(-1)], "b": [Fraction(0)], "s": [Fraction(1)], "p": [Fraction(1)]},
    **{"steps": [2], "eta": Fraction(1, 12), "theta": Fraction(1)},
}
"""One client of curvature -1 at theta = 1, noise +-1."""


@st.composite
def worlds(draw: st.DrawFn) -> dict[str, Any]:
    """One or two clients, curvatures of any sign, one to three steps, the step size up to its
    limit.
    """
    n = draw(st.integers(1, 2))

    def numbers(low: int, high: int) -> list[Fraction]:
        return [Fraction(draw(st.integers(low, high)), 2) for _ in range(n)]

    h, sizes = numbers(-4, 4), numbers(1, 8)
    steps = [draw(st.integers(1, 3 if n == 1 else 2)) for _ in range(n)]
    L = max(*(abs(x) for x in h), Fraction(1, 2))
    return {
        "h": h,
        "b": numbers(-4, 4),
        "s": numbers(0, 6),
        "p": [w / sum(sizes, Fraction(0)) for w in sizes],
        "steps": steps,
        "eta": draw(st.sampled_from([Fraction(1, 4), Fraction(1)])) / (6 * L * max(steps)),
        "theta": Fraction(draw(st.integers(-4, 4)), 2),
    }


def schwarz(factor: Any = 1) -> tuple[Any, list[Any]]:
    """(sum p_i c_i)^2 <= (sum p_i^2)(sum c_i^2) by Lagrange's identity; three clients, or three
    steps with p_i = 1.
    """
    p, c = sympy.symbols("p1:4", real=True), sympy.symbols("c1:4", real=True)
    squares = sum(x**2 for x in p) * sum(x**2 for x in c)
    gap = sympy.Rational(str(factor)) * squares - sum(x * y for x, y in zip(p, c, strict=True)) ** 2
    return gap, [(p[i] * c[j] - p[j] * c[i]) ** 2 for i in range(3) for j in range(i + 1, 3)]


def step(mean: int = 0) -> dict[str, Any]:
    """E (x + d)^2 = E x^2 + d^2 at one step, d known before the noise x: any law on three values of
    mean 0.
    """
    w1, w2, w3 = sympy.symbols("w1:4", positive=True)
    x1, x2, d = sympy.symbols("x1 x2 d", real=True)
    x3 = (mean - w1 * x1 - w2 * x2) / w3
    law = [(w / (w1 + w2 + w3), x) for w, x in ((w1, x1), (w2, x2), (w3, x3))]
    return {"split": sum(w * ((x + d) ** 2 - x**2) for w, x in law) - d**2}


CLAIMS = (
    Claim(
        "propfair/eq-A.18",
        487,
        "The squared error of a round is that of the noise plus that of the drift",
        number="(A.18)",
        printed=r"(A.18): the last term of (A.13) can be simplified as $\mathbb{E} \| \sum_i p_i "
        r"\sum_j (g_{t,j}^{(i)} - \nabla f_i(\theta_{t,j-1}^{(i)})) \|^2 + \mathbb{E} \| \sum_i "
        r"p_i \sum_j (\nabla f_i(\theta_{t,j-1}^{(i)}) - \nabla F(\theta_t)) \|^2$",
        statement=r"$E\|N + D\|^2 = E\|N\|^2 + E\|D\|^2$, $N = \sum_i p_i \sum_j \xi_{ij}$ the "
        r"noise, $D$ the drift.",
        kind="identity",
        hypotheses={"step size": "6 eta L K_i <= 1", "shares": "p_i > 0, sum one"},
        scope="one client, two steps",
        severity="step",
        check=counterexample(
            split,
            "one client, K = 2, f = -theta^2/2, theta = 1, noise +-1, eta = 1/12: the left side is "
            "larger by 1/6",
            WORLD,
        ),
        mutants={
            "K = 1": ("one local step, where the drift is known before the noise", {"steps": [1]}),
            "differs": ("the two sides are not equal", {"operator": "!="}),
        },
        erratum="Unbiasedness makes the noise of step j orthogonal to what precedes it, not to the "
        "drift of later steps, which it causes. For f = h theta^2/2 and K = 2 the sides differ by "
        "-2 eta h sigma^2; for h < 0 the printed right side is too small. Apply Cauchy-Schwarz to "
        "the whole first, then split at each step: (A.25) and all that follows stand.",
        repaired=dict(
            number="(A.18)-(A.25)",
            title="The squared error of a round is at most what (A.19) and (A.20) add up to",
            statement=r"$E\|N + D\|^2 \le (\sum_i p_i^2) \sum_i K_i \sum_j (E\|\xi_{ij}\|^2 + "
            r"E\|\nabla f_i(\theta_{j-1}) - \nabla F\|^2)$: Cauchy-Schwarz, then $E\|\xi + d\|^2 = "
            r"E\|\xi\|^2 + E\|d\|^2$ at each step, where $d$ precedes $\xi$.",
            kind="bound",
            scope="Cauchy-Schwarz for three terms, which looks the same for any; drawn: "
            "quadratics, every outcome of the noise",
            size="three terms",
            check=every(
                definite(schwarz),
                identity(step),
                extra=[drawn(joint, worlds, tolerance=0.0, examples=(60, 2000))],
            ),
            mutants={
                "9/10": ("nine tenths of the bound", {"factor": Fraction(9, 10)}),
                "biased": ("noise of mean other than 0", {"mean": 1}),
            },
        ),
    ),
)
