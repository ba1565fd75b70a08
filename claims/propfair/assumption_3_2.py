"""Assumption 3.2, a bounded loss, and cross entropy, which is not."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy
from flint import arb

from fairfl.claims.exact import ball
from fairfl.claims.forms import Case, Claim, Relation, counterexample, definite, every


def bounded(instance: dict[str, Any], lead: Fraction = Fraction(1)) -> Case:
    """The cross entropy of logits that lead by M in the wrong one of two classes, log(1 + e^M), is
    at most M/2; for a mutant they lead by ``lead`` M.
    """
    M = instance["M"]
    loss: arb = (1 + ball(lead * M).exp()).log()
    return Case((Relation(loss, "<=", ball(M / 2), "loss of a batch"),), {"M": M > 0})


def clipped(half: int = 2) -> tuple[Any, list[Any]]:
    """M/2 - l M/(M + 2 l) > 0 for l >= 0."""
    M = sympy.Symbol("M", positive=True)
    loss = sympy.Symbol("l", nonnegative=True)
    return M / 2 - loss * M / (M + half * loss), [M**2 / (2 * (M + 2 * loss))]


CLAIMS = (
    Claim(
        "propfair/assumption-3.2-M",
        159,
        "Cross entropy satisfies assumption 3.2 for some M of the paper",
        number="Assumption 3.2",
        printed=r"Assumption 3.2: For any $i \in [n]$, $\theta \in \mathbb{R}^d$ and any batch "
        r"$S$: $0 \leq \ell_S(\theta) \leq \frac{M}{2}$. [Notations: $\ell$ the cross entropy "
        r"loss. Table 4: $M = 5, 2, 5, 2, 4$.]",
        statement=r"$\ell_S(\theta) \le M/2$ for all $\theta$, $M \in \{2, 3, 4, 5, 10\}$.",
        kind="bound",
        hypotheses={"M": "M > 0"},
        scope="two classes, a batch of one",
        whose="implied",
        severity="remark",
        check=every(
            *(
                counterexample(
                    bounded,
                    f"two classes, M = {M}: logits that lead by M in the wrong class cost more "
                    "than M",
                    {"M": Fraction(M)},
                )
                for M in (2, 3, 4, 5, 10)
            )
        ),
        mutants={"small logits": ("logits that lead by M/20", {"lead": Fraction(1, 20)})},
        erratum=r"Cross entropy is unbounded: logits that lead by d in a wrong class cost more "
        r"than d. Bound the loss, by $\ell M/(M + 2\ell)$ say, or assume $\ell_S \le M/2$ at the "
        r"iterates alone. With the tuned M not even a uniform prediction has $\ell \le M/2$ on "
        r"CIFAR-100 (log 100 against 1), Shakespeare and StackOverflow: theorem 3.3 says nothing "
        r"of these runs, which start at losses above M.",
        repaired=dict(
            title="The bounded loss l M/(M + 2 l) satisfies it",
            statement=r"$0 \le \frac{\ell M}{M + 2\ell} < \frac M2$ for every $\ell \ge 0$.",
            scope="every loss l >= 0 and M > 0",
            hypotheses={},
            check=definite(clipped, method="together"),
            mutants={"M + l": ("l M/(M + l), which reaches M", {"half": 1})},
        ),
    ),
)
