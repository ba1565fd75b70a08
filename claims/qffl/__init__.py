"""Claims of: Fair Resource Allocation in Federated Learning."""

from __future__ import annotations

from fairfl.claims.claim import Paper

PAPER = Paper(
    key="qffl",
    title="Fair Resource Allocation in Federated Learning",
    authors="anonymous (double-blind version)",
)
