"""Claims of: Improving Fairness via Federated Learning."""

from __future__ import annotations

from fairfl.claims.claim import Paper

PAPER = Paper(
    key="fedfb",
    title="Improving Fairness via Federated Learning",
    authors="Y. Zeng, H. Chen, K. Lee",
    text="arXiv:2110.15545, https://arxiv.org/abs/2110.15545, the HTML rendering with "
    "appendices A to C.6; the text carries no date",
)
