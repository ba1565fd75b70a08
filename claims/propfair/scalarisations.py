"""(D.2): the norm of the losses, and q-FFL's exponent."""

from __future__ import annotations

from typing import Any

from fairfl.claims.forms import Case, Claim, Relation, counterexample


def powers(instance: dict[str, Any], shift: int = 1) -> Case:
    """Of two models, (D.2) with r = 0 and exponent q prefers the one that q-FFL with q prefers."""
    q = instance["q"]
    first, second = (
        [sum(x**k for x in instance[name]) for name in ("f", "g")] for k in (q + shift - 1, q + 1)
    )
    lead = [v[0] - v[1] for v in (first, second)]
    premises = {"losses": min(*instance["f"], *instance["g"]) >= 0, "q": q >= 1}
    return Case((Relation(0, "<", lead[0] * lead[1], "one order of both models"),), premises)


CLAIMS = (
    Claim(
        "propfair/eq-D.2",
        1013,
        "(D.2) with r = 0 is q-FFL",
        number="(D.2)",
        printed=r"$\min_x \|f(x) - r\|_q^q := \sum_{i=1}^n (f_i(x) - r_i)^q$, with [...] "
        r"$\|\cdot\|_q$ the $\ell_q$-norm ($q \geq 1$). This method has been applied to Federated "
        r"Learning as $q$-FFL [10] (by assuming $r = \mathbf{0}$). [Section 4: $q$-FFL: $s(t) = "
        r"t^{q+1}$ for some $q \geq 0$.]",
        statement=r"For the same $q$, (D.2) with $r = 0$ and $\sum_i f_i^{q+1}$ order two models "
        r"alike.",
        kind="equivalence",
        hypotheses={"losses": "f >= 0", "q": "q >= 1"},
        scope="two clients, q = 1",
        severity="constant",
        check=counterexample(
            powers,
            "losses (3, 0) and (2, 2), q = 1: (D.2) has 3 and 4, q-FFL 9 and 8",
            {"q": 1, "f": [3, 0], "g": [2, 2]},
        ),
        mutants={"q + 1": ("the exponent q + 1", {"shift": 2})},
        erratum="The exponent of (D.2) is $q + 1$ of $q$-FFL: (D.2) with $q = 1$ is FedAvg, "
        "$q$-FFL with $q = 0$.",
        expected="refuted",
    ),
)
