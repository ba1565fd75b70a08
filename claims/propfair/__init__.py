"""Claims of: Proportional Fairness in Federated Learning."""

from __future__ import annotations

from fairfl.claims.claim import Paper

PAPER = Paper(
    key="propfair",
    title="Proportional Fairness in Federated Learning",
    authors="G. Zhang, S. Malekmohammadi, X. Chen, Y. Yu",
)
