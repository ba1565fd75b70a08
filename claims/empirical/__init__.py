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
        "place": "which of the steps or draws that were kept",
        "mean": "mu by client and group",
        "eps": "the budget epsilon",
        "world": "the federation",
        "rounds": "of training",
        "surrogate": "what F_a is made of",
        "schedule": "the step sizes alpha_t",
    },
)
