"""Algorithm 4: the update that the interpolated step is merged with is not q-FedAvg."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from fairfl.claims.forms import Case, Claim, Relation, counterexample


def same(instance: dict[str, Any], power: int = 1) -> Case:
    """Without its step 8 algorithm 4, with this ``power`` of the norm in h, moves the model as
    q-FedAvg does with L = 1, on a line and with equal weights.
    """
    q, losses, steps = instance["q"], instance["losses"], instance["steps"]
    pairs = [(Fraction(f), Fraction(d)) for f, d in zip(losses, steps, strict=True)]
    delta = [f**q * d for f, d in pairs]
    own, known = ([q * f ** (q - 1) * abs(d) ** n + f**q for f, d in pairs] for n in (power, 2))
    ours = sum(d / h for d, h in zip(delta, own, strict=True)) / len(delta)
    return Case(
        (Relation(ours, "==", sum(delta) / sum(known), "update"),), {"losses": min(losses) > 0}
    )


CLAIMS = (
    Claim(
        "dynamic/algorithm-4",
        371,
        "Without its step 8, algorithm 4 is q-FedAvg",
        printed=r"$\Delta_t^{k} = F_k^q(w_t) (w_t - w_{t+1}^k)$, $h_t^k = qF_k^{q-1}(w_t) LN(w_t - "
        r"w_{t+1}^k) + F_k^q(w_t)$, $w_{t+1} \leftarrow w_t - \sum_{v \in S_t} \sum_{k \in v} p_k "
        r"\frac{\Delta_t^{k}}{h_t^k}$; 'We merged our methods (step 8) into the q-Fedavg'",
        statement=r"Algorithm 4 without step 8 makes the update of q-FedAvg with $L = 1$, $\sum_k "
        r"\Delta_k / \sum_k h_k$ with $h_k = q F_k^{q-1} \|w_t - w_{t+1}^k\|^2 + F_k^q$.",
        kind="identity",
        hypotheses={"losses": "F_k > 0"},
        scope="one client, q = 1",
        expected="refuted",
        severity="constant",
        check=counterexample(
            same,
            "one client, F = 1, q = 1, an update of 2: algorithm 4 moves by 2/3, q-FedAvg by 2/5",
            {"losses": [1], "steps": [2], "q": 1},
        ),
        mutants={
            "squared": ("q-FedAvg's h, of one client", {"power": 2}),
            "q = 0": ("where both are FedAvg", {"q": 0}),
        },
        erratum="q-FedAvg squares the norm in h_k (its bound on the local Lipschitz constant has "
        "it so), has the factors L = 1/eta, and divides the sum of the Delta_k by the sum of the "
        "h_k, not each by its own.",
        notes="Delta_k/h_k is F_k/(q n_k + F_k) times the update, of length n_k, so that q cancels "
        "but for q n/F: with normalised updates, which are short, the weights tend to one, and "
        "algorithm 4 to its step 8. In q-FedAvg the weights are F^q over a common sum.",
    ),
)
