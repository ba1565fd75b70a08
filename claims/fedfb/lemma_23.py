"""FedFB, lemmas 23, 25, 26 and 27: FairBatch's update is a direction of descent, and when its slope
vanishes.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

from fairfl.claims.call import Call
from fairfl.claims.certificates import Counterexample, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.fedfb.bilevel import descent, equality, instances, jets, point
from fairfl.claims.instances import explore

HALF, ONE, ZERO = Fraction(1, 2), Fraction(1), Fraction(0)
FLAT = [2 * ONE, ZERO, ZERO]
"""w²."""


def scaled(h: Fraction) -> list[Fraction]:
    """h w²/2."""
    return [h, ZERO, ZERO]


def lifted(by: Fraction, slope: Fraction = ZERO) -> list[Fraction]:
    """w² + slope w + by: for slope 0 and by = 1 the mean of (w - 1)² and (w + 1)²."""
    return [2 * ONE, -slope, by]


TWO: dict[str, dict[str, Any]] = {
    # every loss w²: n_00, n_10 = 1, 1; n_01, n_11 = 1, 3, so L'_{y,a} = (n_{y,a}/n_a) w² and F_1 =
    # 1/4 - w²/2
    "dp": {
        "shares": [Fraction(1, 3), Fraction(2, 3)],
        "constants": [Fraction(1, 4)],
        "lam": [Fraction(1, 3), Fraction(2, 3)],
        "losses": {
            "00": scaled(ONE),
            "10": scaled(ONE),
            "01": scaled(HALF),
            "11": scaled(3 * HALF),
        },
    },
    "eo": {
        "shares": [HALF, HALF],
        "lam": [HALF / 2],
        "losses": {"0*": FLAT, "10": FLAT, "11": lifted(ONE)},
    },
    "eodds": {
        "shares": [HALF, HALF],
        "lam": [HALF / 2, HALF / 2],
        "losses": {"00": FLAT, "01": lifted(ONE), "10": FLAT, "11": lifted(ONE)},
    },
    "cp": {"shares": [], "lam": [HALF], "losses": {"0": FLAT, "1": lifted(ONE)}},
}
"""Two groups, w_λ = 0, ∇G_1(w_λ) = 0 and G_1(w_λ) ≠ 0."""

THREE: dict[str, dict[str, Any]] = {
    "dp": {
        "shares": [Fraction(1, 3)] * 3,
        "constants": [HALF, HALF],
        "lam": [Fraction(1, 3)] * 3,
        "losses": {
            "00": FLAT,
            "10": FLAT,
            "01": lifted(ZERO, ONE),
            "11": FLAT,
            "02": lifted(ZERO, -ONE),
            "12": FLAT,
        },
    },
    "eo": {
        "shares": [HALF, HALF],
        "lam": [Fraction(1, 6)] * 2,
        "losses": {"0*": FLAT, "10": FLAT, "11": lifted(ONE, ONE), "12": lifted(ONE, -ONE)},
    },
    "eodds": {
        "shares": [HALF, HALF],
        "lam": [Fraction(1, 6)] * 4,
        "losses": {
            "00": FLAT,
            "01": lifted(ONE, ONE),
            "02": lifted(ONE, -ONE),
            "10": FLAT,
            "11": lifted(ONE, ONE),
            "12": lifted(ONE, -ONE),
        },
    },
    "cp": {
        "shares": [],
        "lam": [Fraction(1, 3)] * 2,
        "losses": {"0": FLAT, "1": lifted(ONE, ONE), "2": lifted(ONE, -ONE)},
    },
}
"""Three groups, w_λ = 0, ∇G_1 = 1 and ∇G_2 = -1: no gradient vanishes, and Σ G_a ∇G_a does."""


def _check_printed(effort: Effort, notion: str, condition: str = "mu") -> Evidence:
    call = Call.of(equality, condition=condition)
    base = {"notion": notion, "constants": []}
    two = Counterexample.at(
        call,
        "two groups, quadratic losses: ∇G_1 = 0 at w_λ, G_1 ≠ 0",
        **{**base, "groups": 2, **TWO[notion]},
    )
    three = Counterexample.at(
        call,
        "three groups: G_1 ∇G_1 + G_2 ∇G_2 = 0 with no term zero",
        **{**base, "groups": 3, **THREE[notion]},
    )
    return Evidence.of(two, three)


def _check_repaired(effort: Effort, notion: str, sign: int = 1) -> Evidence:
    algebra = []
    for count in (2, 3, 4):
        call = Call.of(jets, notion=notion, groups=count, sign=sign)
        algebra.append(SymbolicZero(call, "together", (point(notion, count),)))
    drawn = Call.of(instances, notion=notion, groups=3)
    run = explore(Call.of(descent, sign=sign), drawn, effort, tolerance=0.0)
    iff = explore(Call.of(equality, condition="V"), drawn, effort, tolerance=0.0)
    return Evidence.of(*algebra, extra=(run, iff))


def pair(
    id: str,
    number: str,
    line: int,
    notion: str,
    what: str,
    objective: str,
    direction: str,
    assumption: str,
    notes: str = "",
) -> tuple[Claim, Claim]:
    """A lemma and its repaired form: the four differ in the notion alone."""
    printed = (
        rf"If {assumption} holds, then on the direction {direction} we have "
        rf"$\mu(\lambda)\cdot\nabla {objective}(\lambda)"
        r"\le0$, and the equality holds if only if $\mu(\lambda)=0$."
    )
    hypotheses = (
        ("assumption", f"{assumption}: the inner problem's Hessian is positive definite at w_λ"),
    )
    false = Claim(
        id=id,
        number=number,
        line=line,
        title=f"{what}: μ·∇F ≤ 0 along the update, with equality iff μ = 0",
        printed=printed,
        statement=r"$\mu\cdot\nabla F=0$ only if $\mu=0$.",
        kind="bound",
        hypotheses=hypotheses,
        scope="two groups and three, as stated",
        expected="holds-repaired",
        check=partial(_check_printed, notion=notion),
        mutants=(
            Mutant(
                "V = 0",
                "equality iff Σ G_a ∇G_a = 0",
                partial(_check_printed, notion=notion, condition="V"),
            ),
        ),
        severity="theorem",
        erratum="μ·∇F <= 0 is right, 'equality only if μ = 0' is not: μ·∇F = -2 V·H⁻¹V with V = "
        "Σ_a G_a ∇G_a(w_λ), which vanishes with μ ≠ 0 where ∇G_1(w_λ) = 0 (two groups) or where "
        "the terms cancel (three). The update then has no first-order effect on an unfair "
        "classifier.",
        notes=notes,
    )
    true = Claim(
        id=f"{id}/repaired",
        number=number,
        line=line,
        title=f"{what}: μ·∇F = -2 V·H⁻¹V ≤ 0, with equality iff V = Σ_a G_a ∇G_a(w_λ) = 0",
        printed=printed,
        statement=r"$\mu\cdot\nabla F=-2V^\top H^{-1}V\le0$, $V=\sum_aG_a\nabla G_a(w_\lambda)$, "
        r"$H$ the inner Hessian; it is $0$ iff $V=0$. For two groups: iff $G_1=0$ or $\nabla "
        r"G_1(w_\lambda)=0$.",
        kind="identity",
        hypotheses=hypotheses,
        scope="2, 3 and 4 groups, two parameters; λ inside its region",
        expected="holds",
        check=partial(_check_repaired, notion=notion),
        mutants=(
            Mutant(
                "ascent",
                "the slope with the other sign",
                partial(_check_repaired, notion=notion, sign=-1),
            ),
        ),
        notes="The second look differentiates Σ G² along μ for quadratic losses from the "
        "definition of w_λ.",
    )
    return false, true


CLAIMS = (
    *pair(
        "fedfb/lemma-23",
        "Lemma 23",
        1180,
        "dp",
        "demographic parity",
        r"F_{dp}",
        r"$\mu_0=-\sum_{a=1}^{A-1}F_a(w_\lambda)$, $\mu_a=F_a(w_\lambda)$",
        "assumption 1",
        "Theorem 24 needs the missing part: fedfb/theorem-24.",
    ),
    *pair(
        "fedfb/lemma-25",
        "Lemma 25",
        1336,
        "eo",
        "equal opportunity",
        r"F_{eo}",
        r"$\mu_a=L_{1,a}(w_\lambda)-L_{1,0}(w_\lambda)$",
        "assumption 6",
        "In (94)-(95) ∂w/∂λ_j must multiply the bracket.",
    ),
    *pair(
        "fedfb/lemma-26",
        "Lemma 26",
        1429,
        "eodds",
        "equalised odds",
        r"F_{eod}",
        r"$\mu_{y,a}=L_{y,a}(w_\lambda)-L_{y,0}(w_\lambda)$",
        "assumption 7",
        "Assumption 7's bracket (106)-(107) takes the terms of a = 0 into the sum over a, A - 1 "
        "times: for A > 2 it is not the Hessian that the proof inverts.",
    ),
    *pair(
        "fedfb/lemma-27",
        "Lemma 27",
        1527,
        "cp",
        "client parity",
        r"F_{cp}",
        r"$\mu^{(i)}=L^{(i)}(w_\lambda)-L^{(0)}(w_\lambda)$",
        "assumption 8",
        "Assumption 8 should include i = 0, and hold for all λ in Λ.",
    ),
)
