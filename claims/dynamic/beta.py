"""Equations (7), (8): interpolation from the normalised step to FedAvg, and its first
coefficient.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import sympy
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.instances import explore
from fairfl.theory.bounds.updates import interpolated_update


def update(beta: Any, scale: Any, rounds: Any, step: sympy.Matrix) -> sympy.Matrix:
    """w_t - w_(t+1)^k after (8), where step = w_t - w_(t+1)^k before it."""
    length = sympy.sqrt(step.dot(step))
    return (beta * scale / (1 + rounds) + (1 - beta) * length) * step / length


def residuals(late: int = 1, turned: bool = False) -> dict[str, sympy.Expr]:
    """(8) at beta = 0 is FedAvg's step, at beta = 1 that of (7), and between them it is the mixture
    of the two.
    """
    step = sympy.Matrix(sympy.symbols("d1:4", positive=True))
    beta, scale, rounds = sympy.symbols("beta G n", positive=True)
    normalised = scale / (late + rounds) * step / sympy.sqrt(step.dot(step))
    ends = {
        "beta = 0": (0, step),
        "beta = 1": (1, normalised),
        "between": (beta, beta * normalised + (1 - beta) * step),
    }
    found = {}
    for name, (value, claimed) in ends.items():
        difference = update(1 - value if turned else value, scale, rounds, step) - claimed
        found |= {f"{name}, coordinate {k}": entry for k, entry in enumerate(difference)}
    return found


def agrees(instance: dict[str, Any]) -> Case:
    """The code's (8) against the formula, coordinate by coordinate."""
    step = np.array([float(x) for x in instance["step"]])
    beta, scale = float(instance["beta"]), float(instance["scale"])
    length = float(np.sqrt((step**2).sum()))
    claimed = (beta * scale / (1 + instance["rounds"]) + (1 - beta) * length) * step / length
    found = interpolated_update(step, beta, scale, instance["rounds"])
    pairs = zip(found.tolist(), claimed.tolist(), strict=True)
    return Case(
        tuple(Relation(a, "==", b, scale=1 + scale + length) for a, b in pairs),
        {"defined": length > 0},
    )


def begins(instance: dict[str, Any], late: int = 1) -> Case:
    """The coefficient of (7) at its first use, t = t_2 + 1, is G."""
    scale = Fraction(instance["scale"])
    return Case(
        (Relation(scale / (late + instance["rounds"]), "==", scale, "first coefficient"),),
        {"first": instance["rounds"] == 1},
    )


def instances() -> st.SearchStrategy[dict[str, Any]]:
    """Updates, beta with both ends, and rounds from the first."""
    step = st.lists(
        st.integers(-8, 8).map(lambda k: Fraction(k, 4)), min_size=1, max_size=4
    ).filter(any)
    share = st.integers(0, 8).map(lambda k: Fraction(k, 8))
    scale = st.integers(0, 12).map(lambda k: Fraction(k, 3))
    return st.fixed_dictionaries(
        {"step": step, "beta": share, "scale": scale, "rounds": st.integers(1, 50)}
    )


def _check(effort: Effort, late: int = 1, turned: bool = False) -> Evidence:
    point = {"d1": "1/2", "d2": "3", "d3": "2/7", "beta": "2/5", "G": "7/3", "n": "4"}
    return Evidence.of(
        SymbolicZero(Call.of(residuals, late=late, turned=turned), "simplify", (point,)),
        extra=(explore(Call.of(agrees), Call.of(instances), effort, tolerance=1e-14),),
    )


def _check_start(effort: Effort, late: int = 1) -> Evidence:
    return Evidence.of(
        Counterexample.at(
            Call.of(begins, late=late), "G = 1 at t = t_2 + 1: 1/2", scale=1, rounds=1
        )
    )


def _check_start_repaired(effort: Effort, late: int = 0) -> Evidence:
    return Evidence.of(SymbolicZero(Call.of(start, late=late), "simplify", ({"G": "7/3"},)))


def start(late: int = 0) -> dict[str, sympy.Expr]:
    """G/(late + t - t_2) at t = t_2 + 1, less G."""
    scale, t2 = sympy.symbols("G t_2", positive=True)
    t = sympy.Symbol("t", positive=True)
    return {"first coefficient": (scale / (late + t - t2)).subs(t, t2 + 1) - scale}


PRINTED = (
    r"$w_{t+1}^k := w_t - \left(\beta \frac{\mathcal{G}}{1+t-t_2} + (1-\beta)\|w_t - "
    r"w_{t+1}^k\|_2\right) \frac{w_t - w_{t+1}^k}{\|w_t - w_{t+1}^k\|_2}$; if the value is close "
    r"to 0, the algorithm will converge faster and close to Fedavg"
)
PRINTED_START = (
    r"We choose the model update norm $\mathcal{G}$ at the time point when group $v_2$ joined in "
    r"the training as the initial value of this coefficient; $\frac{\mathcal{G}}{1+t-t_2}$ where "
    r"$t \ge t_2 + 1$"
)
FIRST = (("first", "t = t_2 + 1, from where (7) is used"),)
CLAIMS = (
    Claim(
        id="dynamic/beta",
        number="Eqs. (7), (8)",
        line=172,
        title="(8) is FedAvg at beta = 0, the normalised step (7) at beta = 1, and their mixture "
        "between",
        printed=PRINTED,
        statement=(
            r"The update of (8) is $\beta$ times that of (7) plus $1 - \beta$ times FedAvg's, "
            r"for every $\beta \in [0, 1]$."
        ),
        kind="identity",
        hypotheses=(("defined", "the update is not 0, else it has no direction"),),
        scope="as stated (three dimensions written out)",
        expected="holds",
        check=_check,
        mutants=(
            Mutant("2 + t - t_2", "another decay in (7)", partial(_check, late=2)),
            Mutant("1 - beta", "the ends exchanged", partial(_check, turned=True)),
        ),
        reading=(
            "The norm is that of the whole update, as printed in (8). Algorithm 2 takes it layer "
            "by layer, where the identity holds for each layer. That beta near 1 is 'more fair' "
            "is an observation of the experiments, and not checked here."
        ),
    ),
    Claim(
        id="dynamic/eq-7-start",
        number="Eq. (7)",
        line=165,
        title="The coefficient of (7) has the initial value G",
        printed=PRINTED_START,
        statement=r"At $t = t_2 + 1$ the coefficient $\mathcal{G}/(1 + t - t_2)$ is $\mathcal{G}$.",
        kind="identity",
        hypotheses=FIRST,
        scope="every G > 0 (it is half of G)",
        expected="holds-repaired",
        check=_check_start,
        mutants=(Mutant("t - t_2", "without the 1", partial(_check_start, late=0)),),
        severity="constant",
        erratum="(7) is used from t = t_2 + 1 on, where G/(1 + t - t_2) is G/2. Write G/(t - "
        "t_2), or 'half of G'.",
    ),
    Claim(
        id="dynamic/eq-7-start/repaired",
        number="Eq. (7)",
        line=165,
        title="The coefficient G/(t - t_2) has the initial value G",
        printed=PRINTED_START,
        statement=r"At $t = t_2 + 1$ the coefficient $\mathcal{G}/(t - t_2)$ is $\mathcal{G}$.",
        kind="identity",
        hypotheses=FIRST,
        scope="every G > 0",
        expected="holds",
        check=_check_start_repaired,
        mutants=(Mutant("1 + t - t_2", "as printed", partial(_check_start_repaired, late=1)),),
    ),
)
