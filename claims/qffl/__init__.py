"""Claims of: Fair Resource Allocation in Federated Learning."""

from fairfl.claims.claim import Paper

PAPER = Paper(
    key="qffl",
    title="Fair Resource Allocation in Federated Learning",
    authors="anonymous (double-blind version)",
    text="the anonymous version under double-blind review, of the work at "
    "https://arxiv.org/abs/1905.10497; the text carries no date",
    names={
        "w": "the model before",
        "L": "the Lipschitz constant",
        "at": "intervals in which w_q* of either q lies",
        "tables": "by device: the losses of each hypothesis at outcomes 0 and 1",
        "chance": "of outcome 1 on each device",
        "n": "samples of each device",
        "q": "as in the paper",
        "a": "F_k at w = 0",
        "b": "the slopes of F_k at w = 0",
        "c": "the curvature of F_k",
        "row": "of the table",
    },
)
