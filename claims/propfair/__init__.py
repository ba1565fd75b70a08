"""Claims of: Proportional Fairness in Federated Learning."""

from __future__ import annotations

from fairfl.claims.claim import Paper

PAPER = Paper(
    key="propfair",
    title="Proportional Fairness in Federated Learning",
    authors="G. Zhang, S. Malekmohammadi, X. Chen, Y. Yu",
    text="arXiv:2202.01666, https://arxiv.org/abs/2202.01666, dated June 1, 2022, with "
    "appendices A to D",
)
