"""Claims of: Fairness of Federated Learning with Dynamic Participants."""

from fairfl.claims.claim import Paper

PAPER = Paper(
    key="dynamic",
    title="Fairness of Federated Learning with Dynamic Participants",
    authors="anonymous",
    text="the anonymous version under double-blind review; the text carries no date and no address",
    names={
        "eta": "the step size",
        "g": "the gradient of v_1",
        "h": "the gradient of v_2",
        "c": "the curvatures of v_1's loss",
        "d": "the curvatures of v_2's loss",
        "gained": "by v_1 before v_2 joins: L_1(w_1) - L_1(w_(t_2))",
        "g1": "the gradient of v_1",
        "g2": "the gradient of v_2",
        "chosen": "the clients that are drawn",
        "losses": "F_k of each client",
        "steps": "w_t - w_(t+1)^k of each client",
        "loss": "of the group's client",
        "before": "the group's weight when it joins",
        "after": "its weight later",
        "joined": "each group's loss when it joins",
        "now": "each group's loss at t",
    },
)
