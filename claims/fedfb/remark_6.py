"""FedFB, remark 6: what the conditions of lemma 10 say of the ensemble and of the ERM."""

from __future__ import annotations

from typing import Any

from fairfl.claims.fedfb.lemma_10 import INCREASE, PREMISES, ZERO, conditions, opposed, psi
from fairfl.claims.fedfb.worlds import HALF, Clients
from fairfl.claims.forms import Case, Claim, Relation, drawn


def favoured(instance: dict[str, Any], by: str = "ERM", sign: int = 1) -> Case:
    """c is the smallest local disparity of the ERM, and at budgets in [0, c]² the MD of the
    ensemble is ψ, of the sign of the MD of the ERM.

    ``by``: "ERM", of all people, or "client 0", the ERM there. ``sign`` multiplies its MD.
    """
    world = Clients.of(instance["laws"], instance["q"])
    premises, _, pair = conditions(world)
    local = [client.difference(client.rule(ZERO)) for client in world.clients]
    c = min(abs(client.g(ZERO)) for client in world.clients)
    eps = [c * share for share in instance["eps"]]
    ensemble = world.ensemble(world.multipliers(eps))[0]
    erm = world.ensemble([ZERO, ZERO])[0] if by == "ERM" else local[0]
    return Case(
        (
            Relation(min(map(abs, local)), "==", c, "c"),
            Relation(ensemble, "==", psi(pair, (HALF, HALF), eps), "MD of the ensemble"),
            Relation(ZERO, "<", sign * erm * ensemble, "the same group"),
        ),
        premises,
    )


CLAIMS = (
    Claim(
        "fedfb/remark-6",
        654,
        "under lemma 10's conditions LFT+Ensemble at budgets in [0, c] favours the group that the "
        "ERM favours, and is not fair",
        printed=r"Note that $c$ is the smallest local demographic disparity the ERM achieves on "
        r"clients. The condition $g_0(0)g_1(0)<0$ implies that the ERM is favoring different "
        r"groups in different clients. The condition "
        r"$\psi(\varepsilon_0,\varepsilon_1)(g_0(0)+g_1(0))>0$ for all "
        r"$\varepsilon_0,\varepsilon_1\in[0,c]$ implies that "
        r"$f^{LFT+Ensemble}_{\varepsilon_0,\varepsilon_1}$ favors the same group as ERM when the "
        r"constraint is very tight. [...] In particular, if the conditions above hold, "
        r"LFT+Ensemble fails to achieve perfect demographic parity.",
        statement=r"For $\varepsilon_0,\varepsilon_1\in[0,c]$: "
        r"$MD(f^{LFT+Ensemble}_{\varepsilon_0,\varepsilon_1})=\psi(\varepsilon_0,\varepsilon_1)$, "
        r"and $MD(f^{LFT+Ensemble}_{\varepsilon_0,\varepsilon_1})\,MD(f^{ERM})>0$; "
        r"$c=\min_i|MD_i(f^{ERM})|$.",
        kind="implication",
        hypotheses={**PREMISES, **INCREASE},
        scope="each g_i strictly increasing",
        size="n = 2",
        check=drawn(favoured, opposed, tolerance=0.0),
        mutants={
            "client 0": ("the ERM of client 0 in place of that of all people", {"by": "client 0"}),
            "other group": ("the other group than the ERM", {"sign": -1}),
        },
        rests_on=("fedfb/eq-32",),
        notes="All budgets in [0, c], not very tight ones alone. That no budgets are fair is "
        "lemma 10; that its conditions can hold is corollary 11.",
    ),
)
