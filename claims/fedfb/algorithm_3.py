"""FedFB, algorithms 3 and 4: what the clients minimise, and what the server needs; assumption 7."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence

CELLS = ("10", "11", "0*")
"""(y, a) = (1, 0), (1, 1) and label 0 of any group: A = 2."""


def objectives(
    loss: list[dict[str, Any]], count: list[dict[str, Any]], lam: Any, weighting: str
) -> tuple[Any, Any, Any, Any]:
    """(90) on all the data, and as the clients' objectives average it; L_11 - L_10, and as the
    clients' add up to it.

    ``loss``, ``count`` : by client and cell, the mean loss and the number of people. ``weighting``
    : "own", the client's own mean L^(i), as printed; or "share", n^(i)_{y,a}/n_{y,a} of it, times I
    in the objective.
    """
    people = {c: sum(n[c] for n in count) for c in CELLS}
    total = sum(people.values())
    whole = {
        c: sum(n[c] * v[c] for n, v in zip(count, loss, strict=True)) / people[c] for c in CELLS
    }
    part = {
        "11": lam,
        "10": (people["10"] + people["11"]) / total - lam,
        "0*": people["0*"] / total,
    }
    clients = len(count)

    def local(i: int, c: str) -> Any:
        return loss[i][c] if weighting == "own" else count[i][c] / people[c] * loss[i][c]

    scale = 1 if weighting == "own" else clients
    mean = sum(part[c] * scale * local(i, c) for i in range(clients) for c in CELLS) / clients
    gap = sum(local(i, "11") - local(i, "10") for i in range(clients)) / (
        clients if weighting == "own" else 1
    )
    return sum(part[c] * whole[c] for c in CELLS), mean, whole["11"] - whole["10"], gap


def printed(instance: dict[str, Any], weighting: str = "own") -> Case:
    """Clients of equal size: their objectives average to (90), and their μ^(i) to μ."""
    losses = [{c: Fraction(v[c]) for c in CELLS} for v in instance["loss"]]
    counts = [{c: Fraction(v[c]) for c in CELLS} for v in instance["count"]]
    whole, mean, gap, local = objectives(losses, counts, instance["lam"], weighting)
    equal = len({sum(v.values()) for v in counts}) == 1
    return Case(
        (Relation(mean, "==", whole, "(90)"), Relation(local, "==", gap, "μ_1")),
        {"equal sizes": equal},
    )


def residuals(weighting: str = "share", clients: int = 3) -> dict[str, sympy.Expr]:
    """The same with symbols, clients of any size."""
    losses = [{c: sympy.Symbol(f"L{k}_{i}") for k, c in enumerate(CELLS)} for i in range(clients)]
    counts = [
        {c: sympy.Symbol(f"n{k}_{i}", positive=True) for k, c in enumerate(CELLS)}
        for i in range(clients)
    ]
    whole, mean, gap, local = objectives(losses, counts, sympy.Symbol("lam"), weighting)
    return {"(90)": mean - whole, "μ_1": local - gap}


def assumption(bracket: str = "outside", groups: int = 3) -> dict[str, Any]:
    """(106)-(107) minus the Hessian of (102)-(103): the terms of a = 0 inside or outside of the sum
    over a.
    """
    curve = {(y, a): sympy.Symbol(f"H{y}{a}") for y in (0, 1) for a in range(groups)}
    lam = {(y, a): sympy.Symbol(f"l{y}{a}") for y in (0, 1) for a in range(1, groups)}
    share = sympy.symbols("p0 p1")
    first = sum((share[y] - sum(lam[y, a] for a in range(1, groups))) * curve[y, 0] for y in (0, 1))
    rest = [sum(lam[y, a] * curve[y, a] for y in (0, 1)) for a in range(1, groups)]
    matrix = sum(r + first for r in rest) if bracket == "inside" else sum(rest) + first
    objective = sum(rest) + first
    return {"Hessian": matrix - objective}


def _check_printed(effort: Effort, weighting: str = "own") -> Evidence:
    shows = (
        "two clients of 8 people; with label 1, group 1: 1 of loss 1 and 3 of loss 0, mean "
        "1/4, not (1 + 0)/2"
    )
    instance: dict[str, Any] = {
        "loss": [{"10": 0, "11": 1, "0*": 0}, {"10": 0, "11": 0, "0*": 0}],
        "count": [{"10": 3, "11": 1, "0*": 4}, {"10": 1, "11": 3, "0*": 4}],
        "lam": Fraction(1, 4),
    }
    return Evidence.of(Counterexample.at(Call.of(printed, weighting=weighting), shows, **instance))


def _check_repaired(effort: Effort, weighting: str = "share") -> Evidence:
    point = {"lam": "1/5"}
    for i in range(3):
        point |= {f"L{k}_{i}": f"{i + 2 * k + 1}/7" for k in range(3)}
        point |= {f"n{k}_{i}": f"{3 * i + k * k + 2}" for k in range(3)}
    return Evidence.of(SymbolicZero(Call.of(residuals, weighting=weighting), "together", (point,)))


def _check_assumption(effort: Effort, groups: int = 3, bracket: str = "inside") -> Evidence:
    one, half = Fraction(1), Fraction(1, 2)
    shows = (
        "A = 3, Hessians 1 for a = 0 and -1 else, λ = 3/20, shares 1/2: (106)-(107) is positive, "
        "the Hessian negative"
    )
    instance = {
        "groups": groups,
        "first": one,
        "other": -one,
        "lam": Fraction(3, 20),
        "share": half,
    }
    return Evidence.of(Counterexample.at(Call.of(same_matrix, bracket=bracket), shows, **instance))


def same_matrix(instance: dict[str, Any], bracket: str = "inside") -> Case:
    """The matrix of assumption 7 is the Hessian that (115)-(117) inverts."""
    residual = assumption(bracket, instance["groups"])["Hessian"]
    value = {"H": instance["other"], "l": instance["lam"], "p": instance["share"]}
    values: Any = {}
    for s in residual.free_symbols:
        first = str(s) in ("H00", "H10")
        values[s] = sympy.Rational(str(instance["first"] if first else value[str(s)[0]]))
    return Case((Relation(residual.subs(values), "==", 0, "matrix - Hessian"),))


def _check_assumption_repaired(effort: Effort, bracket: str = "outside") -> Evidence:
    point = {
        f"{n}{y}{a}": f"{a + 2 * y + 1}/{a + 3}" for n in "Hl" for y in (0, 1) for a in range(4)
    }
    point |= {"p0": "1/3", "p1": "2/3"}
    return Evidence.of(
        SymbolicZero(Call.of(assumption, bracket=bracket, groups=4), "expand", (point,))
    )


ALGORITHM = (
    r"$w^{(i)}\leftarrow$ Gradient descent w.r.t objective function "
    r"$\sum_{a=1}^{A-1}\lambda_aL_{1,a}^{(i)}(w)+(\frac{n_{1,\star}}n-\sum_{a="
    r"1}^{A-1}\lambda_a)L^{(i)}_{1,0}(w)+\frac{n_{0,\star}}nL^{(i)}_{0,\star}(w)$; "
    r"$\mu_a\leftarrow SecAgg(\{\mu_a^{(i)}\})$; "
    r"$L_{y,a}^{(i)}(w):=\sum_{y,a,i}\ell/n_{y,a}^{(i)}$."
)
BRACKET = (
    r"$\sum_{a=1}^{A-1}[(\lambda_{1,a}\nabla^2L_{1,a}+\lambda_{0,a}\nabla^2L_{0,a}+(\frac{n_{0,"
    r"\star}}n-\sum_{a=1}^{A-1}\lambda_{0,a})\nabla^2L_{0,0}+(\frac{n_{1,\star}}n-\sum_{a="
    r"1}^{A-1}\lambda_{1,a})\nabla^2L_{1,0})]\succ0$."
)

CLAIMS = (
    Claim(
        id="fedfb/algorithm-3",
        number="Algorithms 3 and 4",
        line=1390,
        title="the clients' objectives of algorithm 3 average to (90), and their μ^(i) to μ",
        printed=ALGORITHM,
        statement=r"For clients of equal size, $\frac1I\sum_iF^{(i)}$ is (90), and "
        r"$\frac1I\sum_i(L_{1,1}^{(i)}-L_{1,0}^{(i)})=L_{1,1}-L_{1,0}$.",
        kind="identity",
        hypotheses=(("equal sizes", "the clients have as many people each"),),
        scope="A = 2, I = 2",
        expected="holds-repaired",
        check=_check_printed,
        mutants=(
            Mutant(
                "shares",
                "n^(i)_{y,a}/n_{y,a} times the local mean",
                lambda e: _check_printed(e, "share"),
            ),
        ),
        severity="theorem",
        erratum="Local means do not average to global ones where groups are spread unevenly: "
        "weight L^(i)_{y,a} by n^(i)_{y,a}/n_{y,a}, as algorithm 2 does with n_{*,a}. μ_a^(i) is "
        "nowhere defined; it must be the weighted difference too. Algorithm 4 has the same two "
        "faults.",
        reading="μ_a^(i) = L^(i)_{1,a} - L^(i)_{1,0}, SecAgg a mean, FedAvg's weights equal.",
    ),
    Claim(
        id="fedfb/algorithm-3/repaired",
        number="Algorithms 3 and 4",
        line=1390,
        title="with L^(i)_{y,a} weighted by n^(i)_{y,a}/n_{y,a} the clients' objectives and "
        "μ^(i) sum to (90) and μ",
        printed=ALGORITHM,
        statement=r"With $\frac{n^{(i)}_{y,a}}{n_{y,a}}L^{(i)}_{y,a}$ for $L^{(i)}_{y,a}$ both "
        r"sums are exact.",
        kind="identity",
        hypotheses=(),
        scope="A = 2, I = 3, clients of any size",
        expected="holds",
        check=_check_repaired,
        mutants=(Mutant("own means", "as printed", lambda e: _check_repaired(e, "own")),),
    ),
    Claim(
        id="fedfb/assumption-7",
        number="Assumption 7",
        line=1418,
        title="the matrix of assumption 7 is the inner problem's Hessian",
        printed=BRACKET,
        statement=r"(106)-(107) equals the Hessian of (102)-(103), which (115)-(117) invert.",
        kind="identity",
        hypotheses=(),
        scope="A = 3",
        expected="holds-repaired",
        check=_check_assumption,
        mutants=(
            Mutant("two groups", "A = 2", lambda e: _check_assumption(e, groups=2)),
            Mutant(
                "outside",
                "the terms of a = 0 outside",
                lambda e: _check_assumption(e, bracket="outside"),
            ),
        ),
        severity="constant",
        erratum="The terms of a = 0 must stand outside of the sum over a, where they are counted "
        "A - 1 times. For A > 2 the assumption as printed may hold where the Hessian is "
        "negative. For A = 2 it makes no difference.",
    ),
    Claim(
        id="fedfb/assumption-7/repaired",
        number="Assumption 7",
        line=1418,
        title="with the terms of a = 0 outside of the sum, assumption 7's matrix is the inner "
        "problem's Hessian",
        printed=BRACKET,
        statement=r"$\sum_{a\ge1}\sum_y\lambda_{y,a}\nabla^2L_{y,a}+\sum_y(\frac{n_{y,"
        r"\star}}n-\sum_{a\ge1}\lambda_{y,a})\nabla^2L_{y,0}$ is the Hessian.",
        kind="identity",
        hypotheses=(),
        scope="A = 4",
        expected="holds",
        check=_check_assumption_repaired,
        mutants=(
            Mutant(
                "as printed", "inside of the sum", lambda e: _check_assumption_repaired(e, "inside")
            ),
        ),
    ),
)
