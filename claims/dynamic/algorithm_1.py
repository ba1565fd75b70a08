"""Algorithm 1: where it is normalised gradient descent, whom its weights forget, and which norm
converges.
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
from fairfl.claims.dynamic.setting import Quadratic, unit
from fairfl.claims.evidence import Evidence


def one_step(local: int = 1, length: str = "1") -> dict[str, sympy.Expr]:
    """Line 8 after ``local`` steps of gradient descent on two curvatures, less the normalised step
    ``length`` eta g/||g|| ; g = c w at a w > 0.
    """
    curvatures, w = sympy.symbols("c1:3", positive=True), sympy.symbols("w1:3", positive=True)
    eta = sympy.symbols("eta", positive=True)
    slope = [c * x for c, x in zip(curvatures, w, strict=True)]
    moved = [x - x * (1 - eta * c) ** local for c, x in zip(curvatures, w, strict=True)]

    def normed(v: list[sympy.Expr]) -> list[sympy.Expr]:
        size = sympy.sqrt(sum(x**2 for x in v))
        return [eta * x / size for x in v]

    pairs = zip(normed(moved), normed(slope), strict=True)
    return {f"coordinate {k}": a - sympy.Rational(length) * b for k, (a, b) in enumerate(pairs)}


def locally(instance: dict[str, Any], local: int = 2) -> Case:
    """Line 8 after ``local`` steps of SGD moves the model as ``local`` normalised steps do, on a
    line.
    """
    loss, eta = Quadratic((1,), (0,)), instance["eta"]
    start = [instance["w"]]
    plain, normed = start, start
    for _ in range(local):
        plain = [v - eta * g for v, g in zip(plain, loss.gradient(plain), strict=True)]
        normed = [v - eta * g for v, g in zip(normed, unit(loss.gradient(normed)), strict=True)]
    server = start[0] - eta * unit([start[0] - plain[0]])[0]
    return Case((Relation(server, "==", normed[0], "model"),), {"defined": normed[0] != 0})


def unmoved(instance: dict[str, Any], renormalised: bool = False) -> Case:
    """Line 9 keeps the model where no client moves it: sum over S_t of p_k w is w."""
    weights = [Fraction(instance["p"][k]) for k in instance["chosen"]]
    total = sum(weights) if renormalised else 1
    found = sum(p * instance["w"] for p in weights) / total
    return Case(
        (Relation(found, "==", instance["w"], "model"),),
        {"weights": sum(map(Fraction, instance["p"])) == 1},
    )


def kept(power: int = 1) -> dict[str, sympy.Expr]:
    """sum p_k w/sum p_k less w, over two chosen clients."""
    p, q, w = sympy.symbols("p q w", positive=True)
    return {"model": (p * w + q * w) / (p + q) ** power - w}


def by_layer(instance: dict[str, Any]) -> Case:
    """Two rounds with each coordinate a layer: the second one is closer to 0 than at the start.

    L_i = ||w - x_i||^2/2, so that the layers' directions are the signs of w - x_i.
    """
    start = [Fraction(v) for v in instance["w"]]
    w = start
    for _ in range(2):
        steps = [
            [unit([v - y])[0] if v != y else Fraction(0) for v, y in zip(w, x, strict=True)]
            for x in instance["x"]
        ]
        mean = [sum(column) / 2 for column in zip(*steps, strict=True)]
        w = [v - instance["eta"] * m for v, m in zip(w, mean, strict=True)]
    return Case(
        (Relation(abs(w[1]), "<", abs(start[1]), "distance in the second layer"),),
        {"symmetric": start[0] == sum(x[0] for x in instance["x"]) == 0},
    )


def whole(largest: str = "2") -> tuple[sympy.Expr, list[sympy.Expr]]:
    """The same start (0, h) by the norm of the whole: h^2 less its square after a round, for every
    eta = ``largest`` U/(U + V) below 2.

    The mean of the two unit vectors (1, h)/r and (-1, h)/r is (0, h/r), r^2 = 1 + h^2, r = 1 + s.
    """
    s, u, v = sympy.symbols("s U V", positive=True)
    r = 1 + s
    square = s * (2 + s)  # h^2
    eta = sympy.Rational(largest) * u / (u + v)
    left = square - square * (1 - eta / r) ** 2
    return left, [square * eta / r**2 * 2 * (s + v / (u + v))]


def _check_one(effort: Effort, local: int = 1, length: str = "1") -> Evidence:
    point = {"c1": "2", "c2": "1/3", "w1": "1/2", "w2": "5", "eta": "1/7"}
    call = Call.of(one_step, local=local, length=length)
    return Evidence.of(SymbolicZero(call, "simplify", (point,)))


def _check_local(effort: Effort, local: int = 2) -> Evidence:
    shows = "L = w^2/2 at w = 1, eta = 1/10, two local steps: line 8 goes to 9/10, NSGD to 8/10"
    call = Call.of(locally, local=local)
    return Evidence.of(Counterexample.at(call, shows, w=Fraction(1), eta=Fraction(1, 10)))


def _check_unmoved(effort: Effort, second: bool = False) -> Evidence:
    shows = "two clients of weight 1/2, one of them drawn: the model 1 becomes 1/2"
    chosen = [0, 1] if second else [0]
    instance = {"p": [Fraction(1, 2)] * 2, "chosen": chosen, "w": 1}
    return Evidence.of(Counterexample.at(Call.of(unmoved), shows, **instance))


def _check_kept(effort: Effort, power: int = 1) -> Evidence:
    point = {"p": "1/3", "q": "1/5", "w": "7"}
    return Evidence.of(SymbolicZero(Call.of(kept, power=power), "cancel", (point,)))


def _check_layer(effort: Effort, height: str = "3/4") -> Evidence:
    shows = "x_1, x_2 = (-1, 0), (1, 0), w = (0, 3/4), eta = 3/2: to (0, -3/4) and back, for ever"
    instance = {"x": [[-1, 0], [1, 0]], "w": [0, Fraction(height)], "eta": Fraction(3, 2)}
    return Evidence.of(Counterexample.at(Call.of(by_layer), shows, **instance))


def _check_whole(effort: Effort, largest: str = "2") -> Evidence:
    points = ({"s": "1/100", "U": "999", "V": "1"}, {"s": "1/4", "U": "3", "V": "1"})
    return Evidence.against(
        DefiniteForm(Call.of(whole, largest=largest), "cancel", points, strict=True)
    )


PRINTED_NSGD = (
    "our method could be thought of as a normalized version of Fedavg where we use the normalized "
    "SGD instead of SGD for local training"
)
PRINTED_LINE_9 = r"$w_{t+1} \leftarrow \sum_{k \in S_t} p_k^i w_{t+1}^k$"
PRINTED_NORMS = (
    "the global norm for all parameters of model update in algorithm 2 prevents the model from "
    "converging. On the contrary, the layer norm (LN) is able to make the model converge."
)
NORMS_READING = (
    "With a constant step size, as in algorithm 1, of which section 4 says the same ('using the "
    "global norm could lead to non-convergence'). Line 8 of algorithm 1 prints the global norm, "
    "the text beside it prescribes the norm by layer. With one layer, as in the linear model of "
    "figure 8, the two are the same."
)
CLAIMS = (
    Claim(
        id="dynamic/algorithm-1",
        number="Algorithm 1",
        line=126,
        title="With one full local step, algorithm 1 is normalised gradient descent",
        printed=PRINTED_NSGD,
        statement=r"After one local step of gradient descent line 8 moves a client by $\eta_t "
        r"g/\|g\|$.",
        kind="identity",
        hypotheses=(),
        scope="two dimensions, quadratics of any two curvatures",
        expected="holds",
        check=_check_one,
        mutants=(
            Mutant("two local steps", "on two curvatures", partial(_check_one, local=2)),
            Mutant("1 % longer", "1.01 eta", partial(_check_one, length="101/100")),
        ),
        notes="So theorem 2 speaks of algorithm 1 with E = 1 and full batches only; multiplying a "
        "client's loss by a constant changes nothing then.",
    ),
    Claim(
        id="dynamic/algorithm-1-local",
        number="Section 1, algorithm 1",
        line=22,
        title="Algorithm 1 is FedAvg with normalised SGD for local training",
        printed=PRINTED_NSGD,
        statement="Line 8 after several steps of SGD moves a client as several normalised steps "
        "do.",
        kind="identity",
        hypotheses=(("defined", "no normalised step ends at a minimum"),),
        scope="two local steps, d = 1",
        expected="refuted",
        check=_check_local,
        mutants=(Mutant("one step", "where they agree", partial(_check_local, local=1)),),
        severity="remark",
        erratum=(
            "Algorithm 1 takes SGD steps and normalises their sum once, at the server, as section "
            "4 says. It is at most eta long, n normalised local steps n eta."
        ),
    ),
    Claim(
        id="dynamic/algorithm-1-sampling",
        number="Algorithm 1, line 9",
        line=131,
        title="Line 9 keeps the model where no client moves it",
        printed=PRINTED_LINE_9,
        statement=r"If $w_{t+1}^k = w_t$ for all $k \in S_t$, then $w_{t+1} = w_t$.",
        kind="identity",
        hypotheses=(("weights", "the weights of all clients sum to 1"),),
        scope="one of two clients",
        expected="holds-repaired",
        check=_check_unmoved,
        mutants=(
            Mutant("everybody", "both clients are drawn", partial(_check_unmoved, second=True)),
        ),
        reading="p_k^i is a weight among all who have joined (p_k = n_k/sum n in (1)), S_t a "
        "random part of them.",
        severity="constant",
        erratum=(
            "With C < 1 the weights of those who are drawn do not sum to one, and line 9 shrinks "
            "the model towards 0 in every round (algorithms 2 to 4 likewise; C also leaves C |v| "
            "clients, which need not be a whole number). Divide by their sum, or add updates "
            "instead of models."
        ),
    ),
    Claim(
        id="dynamic/algorithm-1-sampling/repaired",
        number="Algorithm 1, line 9",
        line=131,
        title="With weights of sum one among those drawn, the model stays where no client moves it",
        printed=PRINTED_LINE_9,
        statement=r"$\sum_{k \in S_t} p_k w_t / \sum_{k \in S_t} p_k = w_t$.",
        kind="identity",
        hypotheses=(),
        scope="two clients drawn",
        expected="holds",
        check=_check_kept,
        mutants=(Mutant("squared", "another divisor", partial(_check_kept, power=2)),),
    ),
    Claim(
        id="dynamic/layer-norm",
        number="Section D.1, figure 7(a)",
        line=414,
        title="Normalised by layer, the model converges",
        printed=PRINTED_NORMS,
        statement="On two quadratics of one curvature the model comes closer to the limit every "
        "two rounds, if normalised by layer.",
        kind="implication",
        hypotheses=(("symmetric", "in the first layer the model is at its limit"),),
        scope="two layers of one parameter",
        expected="refuted",
        check=_check_layer,
        mutants=(
            Mutant("h = 151/100", "more than a step away", partial(_check_layer, height="151/100")),
        ),
        reading=NORMS_READING,
        severity="remark",
        whose="reading",
        erratum=(
            "With a constant length a layer that is closer to its minimum than the step goes back "
            "and forth over it, unless its direction shrinks. Length has to fall, as in algorithm "
            "2."
        ),
    ),
    Claim(
        id="dynamic/global-norm",
        number="Section D.1, figure 7(a)",
        line=414,
        title="Normalised as a whole, the model does not converge",
        printed=PRINTED_NORMS,
        statement=(
            r"At $x_1, x_2 = (-1, 0), (1, 0)$ and $w = (0, h)$, where the norm by layer goes back "
            r"and forth, the global norm does not bring the model closer to its limit (0, 0)."
        ),
        kind="implication",
        hypotheses=(),
        scope="every h and every eta < 2",
        expected="refuted",
        check=_check_whole,
        mutants=(
            Mutant(
                "eta up to 2.02",
                "1 % beyond, where it may oscillate",
                partial(_check_whole, largest="101/50"),
            ),
        ),
        reading=NORMS_READING,
        severity="remark",
        whose="reading",
        erratum=(
            "|h| falls in every round, by the factor |1 - eta/sqrt(1 + h^2)|, to 0. Which norm "
            "converges depends on the losses; that figure 7(a) shows the one order is a "
            "finding on LeNet."
        ),
    ),
)
