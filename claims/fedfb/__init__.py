"""Claims of: Improving Fairness via Federated Learning."""

from __future__ import annotations

from fairfl.claims.claim import Paper

PAPER = Paper(
    key="fedfb",
    title="Improving Fairness via Federated Learning",
    authors="Y. Zeng, H. Chen, K. Lee",
)
