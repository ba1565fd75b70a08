"""Claims of: Fairness of Federated Learning with Dynamic Participants."""

from __future__ import annotations

from fairfl.claims.claim import Paper

PAPER = Paper(
    key="dynamic",
    title="Fairness of Federated Learning with Dynamic Participants",
    authors="anonymous",
    text="the anonymous version under double-blind review; the text carries no date and no address",
)
