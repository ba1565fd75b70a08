"""Claims of: Improving Fairness via Federated Learning."""

from fairfl.claims.claim import Paper

PAPER = Paper(
    key="fedfb",
    title="Improving Fairness via Federated Learning",
    authors="Y. Zeng, H. Chen, K. Lee",
    text="arXiv:2110.15545, https://arxiv.org/abs/2110.15545, the HTML rendering with "
    "appendices A to C.6; the text carries no date",
    names={
        "q": "the share of group 1, of each client where they differ",
        "laws": "by client and group: masses, up to a factor, of equal parts of (0, 1), the "
        "range of u = η(x), or of the points x",
        "law": "by client, where there are several, and group: the masses of the points x",
        "eta": "η at the points x",
        "eps": "the budget ε, of each client where they differ",
        "lam": "λ, by group or client",
        "lams": "λ_i by client, or λ'",
        "split": "the two subsets of clients",
        "alpha": "the step size",
        "sign": "of μ",
        "shares": "n_a/n by group, or n_y/n by label",
        "share": "n_y/n",
        "count": "people by label and group, of each client",
        "wrong": "people classified wrongly, by label and group",
        "centre": "where a client's or label's losses are least",
        "loss": "of each client, by label and group",
        "groups": "A, or the number of clients",
        "notion": "dp: demographic parity, eo: equal opportunity, eodds: equalised odds, cp: "
        "client parity",
        "constants": "n_00/n_0 - n_0a/n_a for a = 1, 2, ...",
        "losses": "L = h w²/2 - b w + r as [h, b, r], by label and group, or client",
        "first": "of a = 0: its Hessian; or the thresholds (t_0, t_1) of the first rule",
        "other": "the Hessian of every other group",
        "wide": "client 0's means (μ_0, μ_1)",
        "narrow": "client 1's means (μ_0, μ_1)",
        "sd": "(σ^(0), σ^(1))",
        "local": "each client's budget ε_i, or MD_i",
        "error": "each client's P(ŷ ≠ y | i)",
        "part": "ε over |g(0)|",
        "place": "each λ_i over that of perfect fairness",
        "step": "λ_i/q_i",
        "delta": "δ",
        "ends": "of the box, one for each λ",
        "levels": "columns of table 2",
        "steps": "a_t",
        "goal": "λ_1*",
        "zero": "λ_1 where F_1 = 0",
    },
)
