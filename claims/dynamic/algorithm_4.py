"""Algorithm 4: the update that the interpolated step is merged with is not q-FedAvg."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import sympy

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence


def updates(losses: list[Any], steps: list[Any], q: int, corrected: bool) -> tuple[Any, Any]:
    """w_t - w_(t+1) by algorithm 4 (or corrected) and by q-FedAvg with L = 1, on a line; equal
    weights.
    """
    squares = 2 if corrected else 1
    delta = [f**q * d for f, d in zip(losses, steps, strict=True)]
    own = [q * f ** (q - 1) * abs(d) ** squares + f**q for f, d in zip(losses, steps, strict=True)]
    known = [q * f ** (q - 1) * d**2 + f**q for f, d in zip(losses, steps, strict=True)]
    if corrected:
        return sum(delta) / sum(own), sum(delta) / sum(known)
    return sum(d / h for d, h in zip(delta, own, strict=True)) / len(delta), sum(delta) / sum(known)


def same(instance: dict[str, Any], corrected: bool = False) -> Case:
    """Without its step 8 algorithm 4 moves the model as q-FedAvg does."""
    losses, steps = ([Fraction(v) for v in instance[name]] for name in ("losses", "steps"))
    ours, theirs = updates(losses, steps, instance["q"], corrected)
    return Case((Relation(ours, "==", theirs, "update"),), {"losses": min(losses) > 0})


def plain(q: int = 0) -> dict[str, sympy.Expr]:
    """At q = 0 algorithm 4 is FedAvg: the mean of the updates."""
    losses, steps = sympy.symbols("F1:4", positive=True), sympy.symbols("d1:4", positive=True)
    ours, _ = updates(list(losses), list(steps), q, corrected=False)
    return {"update": ours - sum(steps) / 3}


def _check(effort: Effort, corrected: bool = False) -> Evidence:
    shows = "one client, F = 1, q = 1, an update of 2: algorithm 4 moves by 2/3, q-FedAvg by 2/5"
    return Evidence.of(
        Counterexample.at(Call.of(same, corrected=corrected), shows, losses=[1], steps=[2], q=1)
    )


def _check_plain(effort: Effort, q: int = 0) -> Evidence:
    point = {**{f"F{k}": f"{k}/2" for k in (1, 2, 3)}, **{f"d{k}": f"{k + 3}/5" for k in (1, 2, 3)}}
    return Evidence.of(SymbolicZero(Call.of(plain, q=q), "simplify", (point,)))


PRINTED = (
    r"$\Delta_t^{k} = F_k^q(w_t) (w_t - w_{t+1}^k)$, $h_t^k = qF_k^{q-1}(w_t) LN(w_t - "
    r"w_{t+1}^k) + F_k^q(w_t)$, $w_{t+1} \leftarrow w_t - \sum_{v \in S_t} \sum_{k \in v} p_k "
    r"\frac{\Delta_t^{k}}{h_t^k}$; 'We merged our methods into the q-Fedavg'"
)
CLAIMS = (
    Claim(
        id="dynamic/algorithm-4",
        number="Algorithm 4",
        line=371,
        title="Without its step 8, algorithm 4 is q-FedAvg",
        printed=PRINTED,
        statement=(
            r"Algorithm 4 without step 8 makes the update of q-FedAvg with $L = 1$, $\sum_k "
            r"\Delta_k / \sum_k h_k$ with $h_k = q F_k^{q-1} \|w_t - w_{t+1}^k\|^2 + F_k^q$."
        ),
        kind="identity",
        hypotheses=(("losses", "F_k > 0"),),
        scope="one client, q = 1",
        expected="refuted",
        check=_check,
        mutants=(
            Mutant(
                "squared, one ratio",
                "q-FedAvg's h and ratio of sums",
                partial(_check, corrected=True),
            ),
        ),
        erratum=(
            "q-FedAvg squares the norm in h_k (its bound on the local Lipschitz constant has it "
            "so), has the factors L = 1/eta, and divides the sum of the Delta_k by the sum of "
            "the h_k, not each by its own."
        ),
    ),
    Claim(
        id="dynamic/algorithm-4-plain",
        number="Algorithm 4",
        line=371,
        title="At q = 0, algorithm 4 without its step 8 is FedAvg",
        printed=PRINTED,
        statement=r"For $q = 0$ the update of algorithm 4 is the mean of the clients' updates.",
        kind="identity",
        hypotheses=(),
        scope="three clients, equal weights",
        expected="holds",
        check=_check_plain,
        mutants=(Mutant("q = 1", "another q", partial(_check_plain, q=1)),),
    ),
)
