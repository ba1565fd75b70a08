"""The baseline M: assumption 3.2 for the tuned values, the grids, and the rule of thumb."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import prod
from typing import Any

import sympy
from flint import arb

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, DefiniteForm, Witness
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.exact import ball

GRIDS = {"alpha": ("0.01", "0.1", "0.5", "1"), "M": ("2", "3", "4", "5")}
TUNED = {
    "alpha": ("0.01", "0.1", "0.01", "0.1", "0.5"),  # table 3
    "M": ("5", "2", "5", "2", "4"),  # table 4
}
"""For CIFAR-10, CIFAR-100, CINIC-10, Shakespeare, StackOverflow."""


def entropy(classes: int, gap: Fraction) -> arb:
    """The cross entropy log(1 + (C - 1) e^gap) where each wrong class leads the true one by
    ``gap``.
    """
    return (1 + (classes - 1) * ball(gap).exp()).log()


def bounded(instance: dict[str, Any], share: Fraction = Fraction(1, 2)) -> Case:
    """Assumption 3.2: the loss is at most M/2 for a model whose logits lead by ``gap`` in every
    wrong class.
    """
    M, loss = instance["M"], entropy(instance["classes"], instance["gap"])
    return Case((Relation(loss, "<=", ball(share * M), "loss of a batch"),), {"M": M > 0})


def clipped(half: int = 2) -> tuple[Any, list[Any]]:
    """M/2 - l M/(M + 2 l) > 0 for l >= 0."""
    M = sympy.Symbol("M", positive=True)
    loss = sympy.Symbol("l", nonnegative=True)
    return M / 2 - loss * M / (M + half * loss), [M**2 / (2 * (M + 2 * loss))]


def grids(instance: dict[str, Any], without: str = "") -> Case:
    """Every tuned value is in its grid."""
    relations = []
    for name, values in TUNED.items():
        allowed = {Fraction(v) for v in GRIDS[name] if v != without}
        outside = sum(Fraction(v) not in allowed for v in values)
        relations.append(Relation(outside, "==", 0, f"{name}: values outside the grid"))
    return Case(tuple(relations))


def reduced(instance: dict[str, Any], judge: str = "worst") -> Case:
    """From the larger M to the smaller, the worst loss of the model that (6) picks does not
    rise.
    """
    models = instance["models"]
    picked = [max(models, key=lambda f, M=M: prod(M - v for v in f)) for M in instance["M"]]
    value = max if judge == "worst" else lambda f: sum((v - sum(f) / len(f)) ** 2 for v in f)
    premises = {
        "range": max(map(max, models)) < min(instance["M"]),
        "reduced": instance["M"][0] > instance["M"][1],
    }
    return Case((Relation(value(picked[1]), "<=", value(picked[0]), judge),), premises)


def weight(sign: int = 1) -> tuple[Any, list[Any]]:
    """-d/dM of (M - f)/(M - f - d), the weight of a client of loss f + d over that of one of f, at
    u = M - f - d > 0.
    """
    M, d, u = sympy.symbols("M d u", positive=True)
    f = M - d - u
    top = sympy.Symbol("top", positive=True)
    ratio: Any = (top - f) / (top - f - sign * d)
    return -ratio.diff(top).subs(top, M), [d / u**2]


def check_bounded(effort: Effort, classes: int = 100, M: int = 2) -> Evidence:
    """A model that cannot tell the classes apart."""
    shows = "CIFAR-100, M = 2 (table 4): a uniform prediction has loss log 100 = 4.6; M/2 is 1"
    return Evidence.of(
        Counterexample.at(Call.of(bounded), shows, classes=classes, gap=Fraction(0), M=Fraction(M))
    )


def check_unbounded(effort: Effort, lead: Fraction = Fraction(1)) -> Evidence:
    """Every M of the paper."""
    return Evidence.of(
        *(
            Counterexample.at(
                Call.of(bounded),
                f"two classes, M = {M}: logits that lead by M in the wrong class cost more than M",
                classes=2,
                gap=lead * M,
                M=Fraction(M),
            )
            for M in (2, 3, 4, 5, 10)
        )
    )


def check_clipped(effort: Effort, half: int = 2) -> Evidence:
    """A bounded loss."""
    spots = ({"M": "2", "l": "0"}, {"M": "2", "l": "9"})
    return Evidence.of(DefiniteForm(Call.of(clipped, half=half), "together", spots))


def check_grids(effort: Effort, without: str = "") -> Evidence:
    """Tables 3 and 4."""
    return Evidence.of(Witness.at(Call.of(grids, without=without), "ten values in their grids"))


def check_reduced(effort: Effort, M: tuple[int, int] = (20, 10), judge: str = "worst") -> Evidence:
    """Two models."""
    half, five = Fraction(1, 2), Fraction(5)
    shows = (
        "losses (5, 5, 0) and (5.5, 2.5, 2.5): (6) picks the first at M = 20, the second, whose "
        "worst loss is larger, at M = 10"
    )
    models = [[five, five, 0 * half], [five + half, five / 2, five / 2]]
    return Evidence.of(
        Counterexample.at(
            Call.of(reduced, judge=judge), shows, models=models, M=[Fraction(m) for m in M]
        )
    )


def check_weight(effort: Effort, sign: int = 1) -> Evidence:
    """The weights."""
    spot = ({"M": "5", "d": "1", "u": "1/2"},)
    return Evidence.of(DefiniteForm(Call.of(weight, sign=sign), "together", spot, strict=True))


ASSUMED = (
    r"Assumption 3.2: For any $i \in [n]$, $\theta \in \mathbb{R}^d$ and any batch $S$: $0 \leq "
    r"\ell_S(\theta) \leq \frac{M}{2}$. [Notations: $\ell$ the cross entropy loss. Table 4: $M = "
    r"5, 2, 5, 2, 4$.]"
)
RULE = (
    r"For PropFair we tune $M$ from $M = 2, 3, 4, 5$. Table 4 shows the optimal values of $M$ used "
    r"for different datasets. A rule of thumb is to first take a large $M$ (say $M = 10$) and then "
    r"gradually reduce this value so as to obtain better performance."
)
RANGE = ("range", "all losses are below every M")
CLAIMS = (
    Claim(
        id="propfair/assumption-3.2-tuned",
        whose="implied",
        number="Assumption 3.2, Table 4",
        line=159,
        title="With the tuned M, a model that predicts all classes alike satisfies assumption 3.2",
        printed=ASSUMED,
        statement=r"On CIFAR-100, $M = 2$: the loss of a uniform prediction, $\log 100$, is at "
        r"most $M/2$.",
        kind="bound",
        hypotheses=(("M", "M > 0"),),
        scope="CIFAR-100; Shakespeare and StackOverflow have M/2 = 1 and 2, and more classes than "
        "e and e^2",
        expected="refuted",
        check=check_bounded,
        mutants=(
            Mutant(
                "CIFAR-10",
                "10 classes, M = 5: 2.30 <= 2.5",
                partial(check_bounded, classes=10, M=5),
            ),
        ),
        severity="remark",
        erratum=(
            "Theorem 3.3 says nothing of the runs on CIFAR-100, Shakespeare and StackOverflow: "
            "training starts at losses above M, where Algorithm 1 uses l/M instead of the "
            "logarithm. The assumption must be on the iterates, and M above twice the losses met "
            "there (9.3 for CIFAR-100)."
        ),
    ),
    Claim(
        id="propfair/assumption-3.2-M",
        whose="implied",
        number="Assumption 3.2",
        line=159,
        title="Cross entropy satisfies assumption 3.2 for some M of the paper",
        printed=ASSUMED,
        statement=r"$\ell_S(\theta) \le M/2$ for all $\theta$, $M \in \{2, 3, 4, 5, 10\}$.",
        kind="bound",
        hypotheses=(("M", "M > 0"),),
        scope="two classes, a batch of one",
        expected="holds-repaired",
        check=check_unbounded,
        mutants=(
            Mutant(
                "small logits",
                "logits that lead by M/20",
                partial(check_unbounded, lead=Fraction(1, 20)),
            ),
        ),
        severity="remark",
        erratum=(
            "Cross entropy is unbounded: logits that lead by d in a wrong class cost more than d. "
            "Bound the "
            r"loss, by $\ell M/(M + 2\ell)$ say, or assume $\ell_S \le M/2$ at the iterates alone."
        ),
    ),
    Claim(
        id="propfair/assumption-3.2-M/repaired",
        number="Assumption 3.2",
        line=159,
        title="The bounded loss l M/(M + 2 l) satisfies it",
        printed=ASSUMED,
        statement=r"$0 \le \frac{\ell M}{M + 2\ell} < \frac M2$ for every $\ell \ge 0$.",
        kind="bound",
        hypotheses=(),
        scope="every loss l >= 0 and M > 0",
        expected="holds",
        check=check_clipped,
        mutants=(Mutant("M + l", "l M/(M + l), which reaches M", partial(check_clipped, half=1)),),
    ),
    Claim(
        id="propfair/tuning-grids",
        number="Appendix B.2, Tables 3 and 4",
        line=737,
        title="The tuned alpha and M are in the grids that were searched",
        printed=r"we tune $\alpha$ from $\{0.01, 0.1, 0.5, 1\}$. [...] For PropFair we tune $M$ "
        r"from $M = 2, 3, 4, 5$.",
        statement="All ten entries of Tables 3 and 4 are in their grids.",
        kind="figure",
        hypotheses=(),
        scope="as printed",
        expected="holds",
        check=check_grids,
        mutants=(Mutant("without 4", "M from 2, 3, 5", partial(check_grids, without="4")),),
        notes="M = 10, where the rule of thumb starts, is not in the grid. Learning rates: "
        "propfair/table-5-grid.",
    ),
    Claim(
        id="propfair/smaller-M",
        whose="reading",
        number="Appendix B.2, rule of thumb",
        line=739,
        title="Reducing M does not raise the worst loss",
        printed=RULE,
        statement="From a larger M to a smaller, the worst client's loss at the optimum of (6) "
        "does not rise.",
        kind="implication",
        hypotheses=(RANGE, ("reduced", "M falls")),
        scope="three clients, two models, M from 20 to 10",
        expected="holds-repaired",
        check=check_reduced,
        mutants=(
            Mutant("10 to 6", "where the choice stays", partial(check_reduced, M=(10, 6))),
            Mutant(
                "variance", "the variance of the losses", partial(check_reduced, judge="variance")
            ),
        ),
        reading="'Performance' as fairness, the worst clients' (footnote 1); mean performance can "
        "only get worse at the optimum.",
        severity="remark",
        erratum=(
            "A smaller M gives worse-off clients larger weights at the same losses; what becomes "
            "of the worst loss at the new optimum depends on the others. Say that M is a parameter "
            "to be tuned."
        ),
    ),
    Claim(
        id="propfair/smaller-M/repaired",
        number="Appendix B.2, rule of thumb",
        line=739,
        title="At the same losses, a smaller M gives the worse-off client more weight",
        printed=RULE,
        statement=r"For $f_i > f_j$, $\lambda_i/\lambda_j = (M - f_j)/(M - f_i)$ falls as $M$ "
        r"grows, for all $M > f_i$.",
        kind="implication",
        hypotheses=(),
        scope="every M and losses",
        expected="holds",
        check=check_weight,
        mutants=(Mutant("turned", "f_i < f_j", partial(check_weight, sign=-1)),),
    ),
)
