"""Claims of: Proportional Fairness in Federated Learning."""

from fairfl.claims.claim import Paper

PAPER = Paper(
    key="propfair",
    title="Proportional Fairness in Federated Learning",
    authors="G. Zhang, S. Malekmohammadi, X. Chen, Y. Yu",
    text="arXiv:2202.01666, https://arxiv.org/abs/2202.01666, dated June 1, 2022, with "
    "appendices A to D",
    names={
        "low": "the smaller batch loss",
        "high": "the larger batch loss",
        "M": "as in the paper",
        "eps": "epsilon",
        "h": "the curvature, of each client where they differ",
        "steps": "K_i",
        "eta": "the step size",
        "noise": "the variance of the noise, of each client where they differ",
        "lambda": "the one weight",
        "dataset": "the row",
        "entries": "of AFL: mean and deviation, in table 7 and in table 8",
        "L": "the smoothness",
        "T": "how many rounds",
        "sizes": "n_i",
        "slopes": "each client's slope at 0",
        "rho": "eta over the largest that is allowed",
        "law": "sets of clients and their probabilities",
    },
)
