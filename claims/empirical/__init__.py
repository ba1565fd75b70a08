"""Claims on measurements: verdicts of ``fairfl crosscheck``, each with the learned rules that it
rests on.
"""

from __future__ import annotations

from fairfl.claims.claim import Paper

PAPER = Paper(
    key="empirical",
    title="Practice held against theory (fairfl crosscheck)",
    authors="measured by this project",
    printed=False,
    names={
        "mean": "μ by client and group",
        "eps": "the budget ε",
        "world": "the federation",
        "rounds": "of training",
        "budget": "of each client",
        "rows": "people in the sample",
        "lam": "λ by group",
    },
)
