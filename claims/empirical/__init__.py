"""Claims of ours on populations: FedFB's statements on the algorithms that ``fairfl crosscheck``
runs.
"""

from __future__ import annotations

from fairfl.claims.claim import Paper

PAPER = Paper(
    key="empirical",
    title="Practice held against theory (fairfl crosscheck)",
    authors="measured by this project",
    printed=False,
    names={
        "eps": "the budget ε",
        "world": "the federation",
        "rounds": "of training",
        "lam": "λ by group",
    },
)
