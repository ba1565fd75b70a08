"""Algorithm 2: its first round, what beta does to fairness, and how fast it is against algorithm
1.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import sympy

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.dynamic.setting import Round, fedavg, normalised
from fairfl.claims.evidence import Evidence


def first_round(instance: dict[str, Any], late: int = 1) -> Case:
    """(4) at t_2 + 1 for algorithm 2 against FedAvg: it normalises from t = t_2 + ``late`` on."""
    round_ = Round.of(instance)
    gap = round_.gap(fedavg if late > 0 else normalised)
    return Case((Relation(round_.gap(fedavg), "<", gap, "gap of benefits"),))


def more_beta(instance: dict[str, Any]) -> Case:
    """The lead of v_2 at t_2 + 2 is smaller with beta = 1 than with beta = 0, L_i = (w - x_i)^2/2.

    The round of t_2 is FedAvg's, and its length G; at t_2 + 1 the coefficient is G/2.
    """
    first, second = (Fraction(x) for x in instance["x"])
    eta, start = Fraction(instance["eta"]), Fraction(instance["w"])
    w = start - eta * (2 * start - first - second) / 2
    length = abs(w - start) / 2
    signs = [(w > x) - (w < x) for x in (first, second)]
    ends = [w - length * sum(signs) / 2, w - eta * (2 * w - first - second) / 2]
    leads = [(second - first) * (end - start) for end in ends]
    return Case(
        (Relation(leads[0], "<", leads[1], "lead of v_2"),), {"gradient": abs(start - second) >= 2}
    )


def affine(share: str = "1/2") -> dict[str, sympy.Expr]:
    """The lead under (8) in a round, less FedAvg's, is beta ``share`` (b - a) (G' (1 + cos) - eta
    (a + b)); one curvature, so that the first order is exact. G' is the coefficient of (7).
    """
    a, b, k, eta, length, beta = sympy.symbols("a b k eta G beta", positive=True)
    cosine, sine = (1 - k**2) / (1 + k**2), 2 * k / (1 + k**2)
    one, two = sympy.Matrix([1, 0]), sympy.Matrix([cosine, sine])
    g, h = a * one, b * two

    def lead(weight: sympy.Expr) -> sympy.Expr:
        sizes = (weight * length + (1 - weight) * eta * size for size in (a, b))
        s = sum(
            (size * u / 2 for size, u in zip(sizes, (one, two), strict=True)), sympy.zeros(2, 1)
        )
        return (h - g).dot(s)

    slope = sympy.Rational(share) * (b - a) * (length * (1 + cosine) - eta * (a + b))
    return {"lead": lead(beta) - lead(sympy.S.Zero) - beta * slope}


def faster(instance: dict[str, Any], rounds: int = 720) -> Case:
    """Algorithm 2 is no farther from the minimum x than algorithm 1 after some rounds, both groups
    at (w - x)^2/2, from w = 0.

    Algorithm 1 moves by eta a round. Algorithm 2 first by G = eta x, then by G/2, G/3, ...
    """
    x, eta = Fraction(instance["x"]), Fraction(instance["eta"])
    one = min(x, rounds * eta)
    two = sum((eta * x / n for n in range(1, rounds + 1)), Fraction(0))
    return Case(
        (Relation(x - two, "<=", x - one, "distance"),), {"far": two <= x and rounds * eta <= x}
    )


def _check_first(effort: Effort, late: int = 1) -> Evidence:
    instance = {
        "L1": {"c": [1], "x": [1]},
        "L2": {"c": [1], "x": [4]},
        "w1": [-2],
        "w": [0],
        "eta": Fraction(1, 2),
    }
    shows = (
        "L_1 = (w-1)^2/2, L_2 = (w-4)^2/2: the models at t_2 + 1 are the same, and (4) is strict"
    )
    return Evidence.of(Counterexample.at(Call.of(first_round, late=late), shows, **instance))


def _check_beta(effort: Effort, first: int = 3) -> Evidence:
    shows = (
        "x_1 = 3, x_2 = 2, w = 0, eta = 1/10: the models at t_2 + 2 are 3/8 and 19/40, and v_2 "
        "loses on v_1 by as much"
    )
    instance = {"x": [first, 2], "w": 0, "eta": Fraction(1, 10)}
    return Evidence.of(Counterexample.at(Call.of(more_beta), shows, **instance))


def _check_affine(effort: Effort, share: str = "1/2") -> Evidence:
    point = {"a": "2", "b": "3", "k": "1/2", "eta": "1/7", "G": "2/5", "beta": "1/3"}
    return Evidence.of(SymbolicZero(Call.of(affine, share=share), "cancel", (point,)))


def _check_faster(effort: Effort, rounds: int = 720) -> Evidence:
    shows = "x = 100, eta = 1/10: after 720 rounds algorithm 1 has gone 72, algorithm 2 less"
    call = Call.of(faster, rounds=rounds)
    return Evidence.of(Counterexample.at(call, shows, x=100, eta=Fraction(1, 10)))


PRINTED_BETA = (
    r"If the value of $\beta$ is close to 1, the algorithm will be more fair; And if the value is "
    r"close to 0, the algorithm will converge faster and close to Fedavg."
)
CLAIMS = (
    Claim(
        id="dynamic/algorithm-2-first",
        number="Algorithm 2",
        line=219,
        title="Algorithm 2 is dynamically fairer than FedAvg at t_2 + 1",
        printed=(
            "To summary, both of Algorithm 1 and 2 demonstrate greater dynamic fairness than "
            r"Fedavg. [Algorithm 2, line 8:] if $t \ge t_2 + 1$ do"
        ),
        statement=r"(4) holds at $t_2 + 1$ for algorithm 2 against FedAvg.",
        kind="implication",
        hypotheses=(),
        scope="every training: the two models are the same; one of them, d = 1",
        expected="refuted",
        check=_check_first,
        mutants=(Mutant("from t_2 on", "as in algorithm 1", partial(_check_first, late=0)),),
        severity="theorem",
        whose="implied",
        erratum=(
            "Algorithm 2 needs the round of t_2 to measure G, and does not normalise it: at t_2 + "
            "1 it is FedAvg, so theorem 2, which speaks of that time alone, says nothing of it. "
            "In the round where v_2 gains most the newcomer is not limited. Take G from v_1's "
            "last round, as algorithm 3 does, or ask for (4) from t_2 + 2 on."
        ),
    ),
    Claim(
        id="dynamic/beta-fair",
        number="Eq. (8)",
        line=174,
        title="A larger beta makes (8) fairer",
        printed=PRINTED_BETA,
        statement=r"If $\|g_2\| \ge 2$, the lead of $v_2$ at $t_2 + 2$ is smaller with $\beta = 1$ "
        r"than with $\beta = 0$.",
        kind="implication",
        hypotheses=(("gradient", "||g_2|| >= 2"),),
        scope="d = 1, one curvature",
        expected="holds-repaired",
        check=_check_beta,
        mutants=(Mutant("x_1 = 1", "||g_1|| < ||g_2||", partial(_check_beta, first=1)),),
        severity="theorem",
        erratum=(
            "As theorem 2 does, this needs ||g_1|| < ||g_2||: else the shorter step of beta = 1 "
            "is the less fair one."
        ),
    ),
    Claim(
        id="dynamic/beta-fair/repaired",
        number="Eq. (8)",
        line=174,
        title="A larger beta makes a round of (8) fairer iff (b - a)(eta (a + b) - G' (1 + cos)) > "
        "0",
        printed=PRINTED_BETA,
        statement=(
            r"With one curvature, $a = \|g_1\|$, $b = \|g_2\|$ and the coefficient $G' = "
            r"\mathcal{G}/(1+t-t_2)$, the lead of $v_2$ in a round of (8) is FedAvg's plus "
            r"$\frac{\beta}{2} (b - a)(G' (1 + \cos) - \eta (a + b))$: affine in $\beta$."
        ),
        kind="identity",
        hypotheses=(),
        scope="as stated (the plane of the gradients)",
        expected="holds",
        check=_check_affine,
        mutants=(Mutant("1 % more", "0.505 for 1/2", partial(_check_affine, share="101/200")),),
        notes=(
            "So beta regulates fairness in proportion, as figure 7(b) says, while G' (1 + cos) < "
            "eta (a + b). G' falls like 1/t, gradients under FedAvg faster: late in training the "
            "normalised step is the longer one, and the order of the two rules turns."
        ),
    ),
    Claim(
        id="dynamic/algorithm-2-faster",
        number="Section 5",
        line=217,
        title="Algorithm 2 converges faster than algorithm 1",
        printed=(
            "Meanwhile, we can conclude that Algorithm 2 converges faster than Algorithm 1, which "
            "shows the effectiveness of our proposed Algorithm 2."
        ),
        statement="From any start algorithm 2 is no farther from the minimum than algorithm 1 "
        "after the same number of rounds.",
        kind="bound",
        hypotheses=(("far", "neither has reached the minimum before"),),
        scope="d = 1, both groups alike, one start",
        expected="refuted",
        check=_check_faster,
        mutants=(
            Mutant("700 rounds", "where algorithm 2 is ahead", partial(_check_faster, rounds=700)),
        ),
        reading="The sentence reports two figures; here it is taken as a statement on the "
        "algorithms.",
        severity="remark",
        whose="reading",
        erratum=(
            "Algorithm 2 goes G (1 + 1/2 + ... + 1/n), algorithm 1 eta n: the first is ahead "
            "early, where G > eta, and behind after about (G/eta) log n rounds. It is the one "
            "that comes to rest, as its length falls."
        ),
    ),
)
