"""Claims of: Fairness of Federated Learning with Dynamic Participants."""

from __future__ import annotations

from fairfl.claims.claim import Paper

PAPER = Paper(
    key="dynamic",
    title="Fairness of Federated Learning with Dynamic Participants",
    authors="anonymous",
    text="the anonymous version under double-blind review; the text carries no date and no address",
    names={
        "w": "the model at t_2, or before the step",
        "w1": "the model at t_1",
        "eta": "the step size",
        "x": "where each group's loss is least",
        "g": "the gradient of v_1, or of each group",
        "h": "the gradient of v_2",
        "g1": "the gradient of v_1",
        "g2": "the gradient of v_2",
        "chosen": "the clients that are drawn",
        "losses": "F_k of each client",
        "steps": "w_t - w_(t+1)^k of each client",
        "loss": "of the group's client",
        "before": "the group's weight when it joins",
        "after": "its weight later",
        "scale": "G",
        "rounds": "t - t_2",
        "joined": "each group's loss when it joins",
        "now": "each group's loss at t",
        "ours": "losses by group and client",
        "theirs": "likewise, of the other algorithm",
        "first": "targets y of v_1",
        "second": "targets y of v_2",
        "constant": "C_2",
        "bound": "C",
        "L": "the loss of the group: sum over k of c_k (w_k - x_k)^2/2",
        "L1": "the loss of v_1: sum over k of c_k (w_k - x_k)^2/2",
        "L2": "the loss of v_2: sum over k of c_k (w_k - x_k)^2/2",
    },
)
