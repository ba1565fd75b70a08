"""(A.18): a cross term that is dropped, though later drift depends on earlier noise; and (A.25),
which holds.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import sympy
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, DefiniteForm, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.instances import explore


def moments(world: dict[str, Any]) -> dict[str, Fraction]:
    """E of the squares in (A.18), over all signs of the noise +-s_i of every step, in fractions.

    Client i: f_i = h_i theta^2/2 + b_i theta, of any sign of h_i; F is their plain mean; shares
    p_i; K_i steps.
    """
    n, eta, theta = len(world["h"]), world["eta"], world["theta"]
    gradients = [world["h"][i] * theta + world["b"][i] for i in range(n)]
    centre = sum(gradients, Fraction(0)) / n
    signs = [product((-1, 1), repeat=k) for k in world["steps"]]
    found = {"whole": Fraction(0), "noise": Fraction(0), "drift": Fraction(0), "bound": Fraction(0)}
    outcomes = list(product(*[list(s) for s in signs]))
    for outcome in outcomes:
        whole = noise = drift = Fraction(0)
        for i in range(n):
            at = theta
            for sign in outcome[i]:
                exact = world["h"][i] * at + world["b"][i]
                error = sign * world["s"][i]
                noise += world["p"][i] * error
                drift += world["p"][i] * (exact - centre)
                squares = sum((x * x for x in world["p"]), Fraction(0))
                found["bound"] += (
                    squares * world["steps"][i] * (error**2 + (exact - centre) ** 2) / len(outcomes)
                )
                at -= eta * (exact + error)
        whole = noise + drift
        for name, value in (("whole", whole), ("noise", noise), ("drift", drift)):
            found[name] += value**2 / len(outcomes)
    return found


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


def joint(instance: dict[str, Any], factor: Fraction = Fraction(1)) -> Case:
    """Cauchy-Schwarz first, then unbiasedness at each step: the bound that (A.19) and (A.20) add up
    to.
    """
    found = moments(instance)
    return Case(
        (Relation(found["whole"], "<=", factor * found["bound"], "sum of (A.19), (A.20)"),),
        premises(instance),
    )


def world(h: int, steps: int = 2) -> dict[str, Any]:
    """One client of curvature h at theta = 1, noise +-1, eta = 1/12."""
    one = [Fraction(1)]
    theta = Fraction(1)
    return {
        "h": [Fraction(h)],
        "b": [Fraction(0)],
        "s": one,
        "p": one,
        "steps": [steps],
        "eta": theta / 12,
        "theta": theta,
    }


def check(effort: Effort, operator: str = "==", steps: int = 2) -> Evidence:
    """The printed equality, at a concave loss."""
    shows = (
        "one client, K = 2, f = -theta^2/2, theta = 1, noise +-1, eta = 1/12: the left side "
        "is larger by 1/6"
    )
    return Evidence.of(
        Counterexample.at(Call.of(split, operator=operator), shows, **world(-1, steps))
    )


@st.composite
def worlds(draw: st.DrawFn) -> dict[str, Any]:
    """One or two clients, curvatures of any sign, one to three steps, the step size up to its
    limit.
    """
    n = draw(st.integers(1, 2))

    def numbers(low: int, high: int) -> list[Fraction]:
        return [Fraction(draw(st.integers(low, high)), 2) for _ in range(n)]

    h = numbers(-4, 4)
    steps = [draw(st.integers(1, 3 if n == 1 else 2)) for _ in range(n)]
    L = max(max(abs(x) for x in h), Fraction(1, 2))
    sizes = numbers(1, 8)
    eta = draw(st.sampled_from([Fraction(1, 4), Fraction(1)])) / (6 * L * max(steps))
    p = [w / sum(sizes, Fraction(0)) for w in sizes]
    theta = Fraction(draw(st.integers(-4, 4)), 2)
    return {
        "h": h,
        "b": numbers(-4, 4),
        "s": numbers(0, 6),
        "p": p,
        "steps": steps,
        "eta": eta,
        "theta": theta,
    }


def schwarz(scale: int = 1, factor: int | Fraction = 1) -> tuple[Any, list[Any]]:
    """(sum p_i c_i)^2 <= (sum p_i^2)(sum c_i^2) by Lagrange's identity; three clients, or three
    steps with p_i = 1.
    """
    p, c = sympy.symbols("p1:4", real=True), sympy.symbols("c1:4", real=True)
    gap = (
        factor * sum(x**2 for x in p) * sum(x**2 for x in c)
        - scale * sum(x * y for x, y in zip(p, c, strict=True)) ** 2
    )
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


def check_repaired(
    effort: Effort, factor: Fraction = Fraction(1), mean: int = 0, scale: int = 1
) -> Evidence:
    """The two steps of the proof; and every outcome of the noise, enumerated."""
    run = explore(
        Call.of(joint, factor=factor),
        Call.of(worlds),
        effort,
        tolerance=0.0,
        examples=effort.pick(60, 2000),
    )
    spot = {f"{v}{k}": str(k + len(v)) for v in "pc" for k in (1, 2, 3)}
    at = {"w1": "1", "w2": "2", "w3": "1/2", "x1": "1", "x2": "-3", "d": "2"}
    return Evidence.of(
        DefiniteForm(Call.of(schwarz, scale=scale, factor=factor), "expand", (spot,)),
        SymbolicZero(Call.of(step, mean=mean), "together", (at,)),
        extra=(run,),
    )


HYPOTHESES = (("step size", "6 eta L K_i <= 1"), ("shares", "p_i > 0, sum one"))
PRINTED = (
    r"(A.18): the last term of (A.13) can be simplified as $\mathbb{E} \| \sum_i p_i \sum_j "
    r"(g_{t,j}^{(i)} - \nabla f_i(\theta_{t,j-1}^{(i)})) \|^2 + \mathbb{E} \| \sum_i p_i \sum_j "
    r"(\nabla f_i(\theta_{t,j-1}^{(i)}) - \nabla F(\theta_t)) \|^2$"
)
CLAIMS = (
    Claim(
        id="propfair/eq-A.18",
        number="(A.18)",
        line=487,
        title="The squared error of a round is that of the noise plus that of the drift",
        printed=PRINTED,
        statement=r"$E\|N + D\|^2 = E\|N\|^2 + E\|D\|^2$, $N = \sum_i p_i \sum_j \xi_{ij}$ the "
        r"noise, $D$ the drift.",
        kind="identity",
        hypotheses=HYPOTHESES,
        scope="one client, two steps",
        expected="holds-repaired",
        check=check,
        mutants=(
            Mutant(
                "K = 1",
                "one local step, where the drift is known before the noise",
                partial(check, steps=1),
            ),
            Mutant("differs", "the two sides are not equal", partial(check, operator="!=")),
        ),
        severity="step",
        erratum=(
            "Unbiasedness makes the noise of step j orthogonal to what precedes it, not to the "
            "drift of later steps, which it causes. For f = h theta^2/2 and K = 2 the sides "
            "differ by -2 eta h sigma^2; for h < 0 the printed right side is too small. Apply "
            "Cauchy-Schwarz to the whole first, then split at each step: (A.25) and all that "
            "follows stand."
        ),
    ),
    Claim(
        id="propfair/eq-A.18/repaired",
        number="(A.18)-(A.25)",
        line=487,
        title="The squared error of a round is at most what (A.19) and (A.20) add up to",
        printed=PRINTED,
        statement=(
            r"$E\|N + D\|^2 \le (\sum_i p_i^2) \sum_i K_i \sum_j (E\|\xi_{ij}\|^2 + E\|\nabla "
            r"f_i(\theta_{j-1}) - \nabla F\|^2)$: Cauchy-Schwarz, then $E\|\xi + d\|^2 = "
            r"E\|\xi\|^2 + E\|d\|^2$ at each step, where $d$ precedes $\xi$."
        ),
        kind="bound",
        hypotheses=HYPOTHESES,
        scope=(
            "Cauchy-Schwarz for three terms, which looks the same for any; drawn: quadratics, "
            "every outcome of the noise"
        ),
        expected="holds",
        check=check_repaired,
        mutants=(
            Mutant(
                "9/10", "nine tenths of the bound", partial(check_repaired, factor=Fraction(9, 10))
            ),
            Mutant("biased", "noise of mean other than 0", partial(check_repaired, mean=1)),
            Mutant(
                "twice", "half of the bound in Cauchy-Schwarz", partial(check_repaired, scale=2)
            ),
        ),
    ),
)
