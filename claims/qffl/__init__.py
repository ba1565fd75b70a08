"""Claims of: Fair Resource Allocation in Federated Learning."""

from __future__ import annotations

from fairfl.claims.claim import Paper

PAPER = Paper(
    key="qffl",
    title="Fair Resource Allocation in Federated Learning",
    authors="anonymous (double-blind version)",
    text="the anonymous version under double-blind review, of the work at "
    "https://arxiv.org/abs/1905.10497; the text carries no date",
)
