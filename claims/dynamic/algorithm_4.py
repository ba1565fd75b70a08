"""Algorithm 4: the update that the interpolated step is merged with is not q-FedAvg; the weights
that it gives, and whether they make a group's losses equal.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import sympy

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, DefiniteForm, SymbolicZero
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


def weight(share: str = "1") -> dict[str, sympy.Expr]:
    """Delta/h of a client by its update, of length n, less F/(``share`` q n + F)."""
    loss, q, n = sympy.symbols("F q n", positive=True)
    own = loss**q / (q * loss ** (q - 1) * n + loss**q)
    return {"weight": own - loss / (sympy.Rational(share) * q * n + loss)}


def grows(turned: int = 1) -> tuple[sympy.Expr, list[sympy.Expr]]:
    """The weight F/(q n + F) of a larger loss F + s, less that of F, at one length n."""
    loss, q, n, s = sympy.symbols("F q n s", positive=True)
    value = turned * ((loss + s) / (q * n + loss + s) - loss / (q * n + loss))
    return value, [q * n * s / ((q * n + loss + s) * (q * n + loss))]


def moves(model: str, steep: int = 4) -> tuple[sympy.Expr, list[sympy.Expr]]:
    """How far algorithm 4 moves the model, times 2, where L_1 = w^2/2 and L_2 = ``steep``
    (w-1)^2/2 are equal.

    With steep = 4 that is at w = 2/3 and w = 2; both clients have one group, p = 1/2, and local
    steps of eta. The weight is F/(q n + F) for updates of length n.
    """
    q, eta = sympy.symbols("q eta", positive=True)
    w = sympy.Rational(model)
    losses = w**2 / 2, steep * (w - 1) ** 2 / 2
    slopes = w, steep * (w - 1)
    parts = [eta * g * f / (q * eta * abs(g) + f) for f, g in zip(losses, slopes, strict=True)]
    total = sum(parts, sympy.S.Zero) * (1 if w > 1 else -1)
    apart = sympy.fraction(sympy.cancel(total))
    return total, [apart[0] / apart[1]]


def _check(effort: Effort, corrected: bool = False, clients: int = 1) -> Evidence:
    shows = "one client, F = 1, q = 1, an update of 2: algorithm 4 moves by 2/3, q-FedAvg by 2/5"
    losses, steps = [1, 3][:clients], [2, 1][:clients]
    call = Call.of(same, corrected=corrected)
    return Evidence.of(Counterexample.at(call, shows, losses=losses, steps=steps, q=1))


def _check_plain(effort: Effort, q: int = 0) -> Evidence:
    point = {**{f"F{k}": f"{k}/2" for k in (1, 2, 3)}, **{f"d{k}": f"{k + 3}/5" for k in (1, 2, 3)}}
    return Evidence.of(SymbolicZero(Call.of(plain, q=q), "simplify", (point,)))


def _check_weight(effort: Effort, share: str = "1", turned: int = 1) -> Evidence:
    point = {"F": "3", "q": "1/2", "n": "2"}
    return Evidence.of(
        SymbolicZero(Call.of(weight, share=share), "simplify", (point,)),
        DefiniteForm(Call.of(grows, turned=turned), "cancel", ({**point, "s": "1/3"},), True),
    )


def _check_moves(effort: Effort, steep: int = 4) -> Evidence:
    models = ("2/3", "2") if steep == 4 else ("1/2",)
    points = ({"q": "1/10", "eta": "1/100"}, {"q": "9", "eta": "3"})
    return Evidence.against(
        *(
            DefiniteForm(Call.of(moves, model=model, steep=steep), "cancel", points, strict=True)
            for model in models
        )
    )


PRINTED = (
    r"$\Delta_t^{k} = F_k^q(w_t) (w_t - w_{t+1}^k)$, $h_t^k = qF_k^{q-1}(w_t) LN(w_t - "
    r"w_{t+1}^k) + F_k^q(w_t)$, $w_{t+1} \leftarrow w_t - \sum_{v \in S_t} \sum_{k \in v} p_k "
    r"\frac{\Delta_t^{k}}{h_t^k}$; 'We merged our methods (step 8) into the q-Fedavg'"
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
            Mutant("of two clients", "the same", partial(_check, corrected=True, clients=2)),
        ),
        severity="constant",
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
    Claim(
        id="dynamic/algorithm-4-weights",
        number="Algorithm 4",
        line=371,
        title="Algorithm 4 gives a client the weight F/(q n + F), which grows with its loss and is "
        "below one",
        printed=PRINTED,
        statement=(
            r"$\Delta_k / h_k = \frac{F_k}{q n_k + F_k} (w_t - w_{t+1}^k)$ for updates of length "
            r"$n_k$ after step 8: of two of one length the one with the larger loss counts more, "
            r"and none more than in step 8 alone."
        ),
        kind="identity",
        hypotheses=(),
        scope="as stated",
        expected="holds",
        check=_check_weight,
        mutants=(
            Mutant("1 % more", "1.01 q n", partial(_check_weight, share="101/100")),
            Mutant("turned", "the smaller loss counts more", partial(_check_weight, turned=-1)),
        ),
        reading="LN gives a norm for each layer, so that h_k, the weight and the step are by "
        "layer; the statement is that of a layer.",
        notes=(
            "So q cancels but for q n/F: with normalised updates, which are short, the weights "
            "tend to one, and algorithm 4 to its step 8. In q-FedAvg the weights are F^q over a "
            "common sum."
        ),
    ),
    Claim(
        id="dynamic/algorithm-4-uniform",
        number="Definition 4, eq. (16)",
        line=353,
        title="Algorithm 4 can bring the losses within a group together",
        printed=(
            r"we can achieve within-group fairness [...] Within-group fairness: "
            r"$\operatorname{std}_{k\in v}\left\{F_k(w)\right\} \to 0$"
        ),
        statement=(
            r"For some $q > 0$ and $\eta > 0$, algorithm 4 without step 8 can come to rest where "
            r"$F_1 = F_2$, for $L_1 = w^2/2$ and $L_2 = 2 (w-1)^2$ in one group."
        ),
        kind="existence",
        hypotheses=(),
        scope="every q and eta; one local step",
        expected="refuted",
        check=_check_moves,
        mutants=(Mutant("one curvature", "L_2 = (w-1)^2/2", partial(_check_moves, steep=1)),),
        severity="remark",
        erratum=(
            "The losses are equal at w = 2/3 and w = 2 only, and from there algorithm 4 moves "
            "away: a sequence that converged to one would have to stay. q-FedAvg's limit is the "
            "minimiser of sum F^(q+1), which is uniform only as q grows beyond bounds. Ask for a "
            "smaller spread, as (18) does, not for one that vanishes."
        ),
    ),
)
