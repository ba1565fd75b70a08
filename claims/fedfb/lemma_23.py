"""FedFB, lemmas 23, 25, 26, 27: FairBatch's update descends; where its slope vanishes."""

from fractions import Fraction

from fairfl.claims.fedfb.bilevel import as_printed, equality, jets, outer
from fairfl.claims.forms import Claim, Instance, counterexample, every, identity

HALF, ZERO = Fraction(1, 2), Fraction(0)
FLAT = [Fraction(2), ZERO, ZERO]
"""w²."""
RAISED = [Fraction(2), ZERO, Fraction(1)]
"""w² + 1, the mean of (w - 1)² and (w + 1)²."""
UP, DOWN = ([Fraction(2), -slope, Fraction(1)] for slope in (Fraction(1), Fraction(-1)))
"""w² ± w + 1."""


def flat(notion: str, groups: int) -> Instance:
    """w_λ = 0; of two groups ∇G_1 = 0 and G_1 ≠ 0, of three ∇G_1 = 1, ∇G_2 = -1: Σ G_a ∇G_a = 0."""
    is_parity = notion == "dp"  # its groups differ in the losses of label 0 alone
    shares = [Fraction(1, groups)] * groups if is_parity else [HALF, HALF]
    problem = outer(notion, groups, shares, [ZERO] * (groups - 1))
    by_group = [FLAT, RAISED] if groups == 2 else [FLAT, UP, DOWN]
    names = [n for n in problem.weight if n != "0*" and not (is_parity and n[0] == "1")]
    by_name = {name: by_group[int(name[-1])] for name in names}
    weight = HALF if notion in ("eo", "eodds") else Fraction(1)
    return {
        "notion": notion,
        "groups": groups,
        "shares": shares,
        "constants": [ZERO] * (groups - 1),
        "lam": [weight / groups] * (groups if is_parity else len(problem.direction)),
        "losses": dict.fromkeys(problem.weight, FLAT) | by_name,
    }


def lemma(
    number: int,
    line: int,
    notion: str,
    name: str,
    objective: str,
    direction: str,
    assumption: int,
    notes: str = "",
) -> Claim:
    """A lemma and its repaired form: the four differ in the notion alone."""
    return Claim(
        f"fedfb/lemma-{number}",
        line,
        f"{name}: μ·∇F ≤ 0 along the update, with equality iff μ = 0",
        number=f"Lemma {number}",
        printed=rf"If assumption {assumption} holds, then on the direction {direction} we have "
        rf"$\mu(\lambda)\cdot\nabla {objective}(\lambda)"
        rf"\le0$, and the equality holds {'if and' if notion == 'cp' else 'if'} only if "
        r"$\mu(\lambda)=0$.",
        statement=r"$\mu\cdot\nabla F=0$ only if $\mu=0$.",
        kind="bound",
        hypotheses={
            "assumption": f"assumption {assumption}: the inner problem's Hessian is positive "
            "definite at w_λ"
        },
        scope="two groups and three, as stated",
        check=every(
            counterexample(
                equality,
                "two groups, quadratic losses: ∇G_1 = 0 at w_λ, G_1 ≠ 0",
                flat(notion, 2),
                "0 != 0",
            ),
            counterexample(
                equality,
                "three groups: G_1 ∇G_1 + G_2 ∇G_2 = 0 with no term zero",
                flat(notion, 3),
                "0 != 0",
            ),
            identity(as_printed, notion=notion, groups=3),
        ),
        mutants={"V = 0": ("equality iff Σ G_a ∇G_a = 0", {"condition": "V"})},
        severity="theorem",
        erratum="μ·∇F <= 0 is right, 'equality only if μ = 0' is not: μ·∇F = -2 V·H⁻¹V with V = "
        "Σ_a G_a ∇G_a(w_λ), which vanishes with μ ≠ 0 where ∇G_1(w_λ) = 0 (two groups) or where "
        "the terms cancel (three). The update then has no first-order effect.",
        notes=notes,
        repaired=dict(
            title=f"{name}: μ·∇F = -2 V·H⁻¹V ≤ 0, with equality iff V = Σ_a G_a ∇G_a(w_λ) = 0",
            statement=r"$\mu\cdot\nabla F=-2V^\top H^{-1}V\le0$, $V=\sum_aG_a\nabla "
            r"G_a(w_\lambda)$, $H$ the inner Hessian; it is $0$ iff $V=0$. For two groups: iff "
            r"$G_1=0$ or $\nabla G_1(w_\lambda)=0$.",
            kind="identity",
            scope="two parameters; λ inside its region",
            size="A = 2, 3, 4",
            check=every(
                *(identity(jets, notion=notion, groups=count) for count in (2, 3, 4)),
                *(identity(as_printed, notion=notion, groups=count) for count in (2, 3, 4)),
            ),
            mutants={"ascent": ("the slope with the other sign", {"sign": -1})},
        ),
    )


CLAIMS = (
    lemma(
        23,
        1180,
        "dp",
        "demographic parity",
        r"F_{dp}",
        r"$\mu_0=-\sum_{a=1}^{A-1}F_a(w_\lambda)$, $\mu_a=F_a(w_\lambda)$",
        1,
        "Theorem 24 needs the missing part: fedfb/theorem-24.",
    ),
    lemma(
        25,
        1336,
        "eo",
        "equal opportunity",
        r"F_{eo}",
        r"$\mu_a=L_{1,a}(w_\lambda)-L_{1,0}(w_\lambda)$",
        6,
        "In (94)-(95) ∂w/∂λ_j must multiply the bracket.",
    ),
    lemma(
        26,
        1429,
        "eodds",
        "equalised odds",
        r"F_{eod}",
        r"$\mu_{y,a}=L_{y,a}(w_\lambda)-L_{y,0}(w_\lambda)$",
        7,
        "Assumption 7's bracket (106)-(107) takes the terms of a = 0 into the sum over a, A - 1 "
        "times: for A > 2 it is not the Hessian that the proof inverts.",
    ),
    lemma(
        27,
        1527,
        "cp",
        "client parity",
        r"F_{cp}",
        r"$\mu^{(i)}=L^{(i)}(w_\lambda)-L^{(0)}(w_\lambda)$",
        8,
        "Assumption 8 should include i = 0, and hold for all λ in Λ.",
    ),
)
