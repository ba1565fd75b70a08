"""Table 1: the column 'Constraints of lambda' mixes two domains, and conjugates with maximisers."""

from fractions import Fraction
from functools import partial
from math import inf
from typing import Any

import numpy as np
from hypothesis import strategies as st

from fairfl.claims.forms import Case, Claim, Instance, Relation, counterexample, drawn, every, proof
from fairfl.theory.aggregation import AFL, QFFL, TERM, FedAvg, PropFair

OBJECTIVES = {
    "FedAvg": FedAvg(),
    "q-FFL": QFFL(q=1.5),
    "AFL": AFL(),
    "TERM": TERM(alpha=2.0),
    "PropFair": PropFair(M=2.0),
}
ROWS = {
    "FedAvg": ("plain_mean.v", "conjugate nonnegative"),
    "AFL": ("afl.v", "inside outside nonnegative"),
    "q-FFL": ("powers.v", "inside outside zero"),
    "TERM": ("entropy.v", "inside approached outside nonnegative raised"),
    "PropFair": ("geometric.v", "inside beyond signed topped capped raised"),
}
"""The theorems on the objectives' conjugates on both domains."""


def allowed(row: str, x: Fraction) -> bool:
    """Whether Table 1 allows the weight x of a single client, n = 1."""
    if row in ("FedAvg", "TERM", "PropFair"):
        return x == 1  # lambda = 1/n; 1'lambda = 1; prod n lambda = 1
    return 0 <= x <= 1  # AFL: 1'lambda <= 1; q-FFL: any norm of one number, n^(-1/(q+1)) = 1


def same(instance: Instance, rows: tuple[str, str] = ("FedAvg", "q-FFL")) -> Case:
    """For n = 1, A(f) = f for every row: A* allows the same weights, whatever the domain."""
    first, second = (int(allowed(row, instance["lambda"])) for row in rows)
    return Case((Relation(first, "==", second, f"{rows[0]} and {rows[1]} allow lambda"),))


def case(instance: Instance, row: str, domain: str, table: str = "corrected") -> Case:
    """A* as the supremum: no f exceeds it; where it is infinite some f exceeds 50."""
    premises = {"weights": min(instance["lambda"]) >= 0}
    if not premises["weights"]:
        return Case.outside(premises)
    objective = OBJECTIVES[row]
    x = np.array([float(v) for v in instance["lambda"]])
    f = np.array([float(v) for v in instance["f"]])
    f = np.minimum(f, 2.0) if row == "PropFair" else f
    if domain == "nonnegative" or row == "q-FFL":
        f = np.maximum(f, 0.0)
    inner = np.clip(f, 0.125, 1.75)  # inside of every domain
    pairs: Any = ((x, f, "<="), (objective.dual_weights(inner), inner, "=="))
    relations = []
    for weights, losses, operator in pairs:
        column = domain if table == "corrected" else "native"
        conjugate = float(objective.conjugate(weights, domain=column))
        value = maximand(row, weights, losses)
        if conjugate < inf:
            relations.append(
                Relation(value, operator, conjugate, "no f beats A*, which is reached")
            )
        else:
            values = [maximand(row, weights, g) for g in rays(row, domain, weights)]
            relations.append(Relation(50.0, "<=", max(values, default=-inf), "infinite"))
    return Case(tuple(relations), premises)


def maximand(row: str, x: np.ndarray, f: np.ndarray) -> float:
    """lambda.f - A(f)."""
    return float(x @ f) - float(OBJECTIVES[row].value(f))


def rays(row: str, domain: str, x: np.ndarray) -> list[np.ndarray]:
    """Far points of the domain, along the rays of the corrected table's proof."""
    n, far = len(x), 1e5 if row == "PropFair" else 1e8
    if row == "PropFair":
        points = [2 - far * axis - far**0.5 for axis in np.eye(n)] + [2 - 1e7 / np.maximum(x, 1e-9)]
    else:
        points = [far * g for g in (*np.eye(n), np.ones(n), x, np.maximum(x - 1 / n, 0))]
        if domain == "native" and row != "q-FFL":
            points += [-g for g in points]
    return [g for g in points if domain == "native" or g.min() >= 0]


@st.composite
def weights(draw: st.DrawFn) -> Instance:
    """Weights in quarters, some of them at the bound; losses of both signs."""
    n = draw(st.integers(1, 3))
    x = [Fraction(draw(st.integers(0, 6)), 4) for _ in range(n)]
    kind = draw(st.sampled_from(["any", "one", "level"]))
    if kind == "one" and sum(x, Fraction(0)) > 0:
        x = [v / sum(x, Fraction(0)) for v in x]
    if kind == "level":
        x = [Fraction(1, n)] * n
    return {"lambda": x, "f": [Fraction(draw(st.integers(-8, 12)), 4) for _ in range(n)]}


runs = partial(drawn, case, weights, examples=(8, 500), moved="lambda")


CLAIMS = (
    Claim(
        "propfair/table-1",
        227,
        "Table 1 lists the constraints on lambda that A_s* induces",
        printed=r"Constraints of $\lambda$: FedAvg $\lambda_1 = \dots = \lambda_n = 1/n$; "
        r"Agnostic FL $\lambda \geq \mathbf{0}, \mathbf{1}^\top \lambda \leq 1$; $q$-FFL $\lambda "
        r"\geq \mathbf{0}, \|\lambda\|_{(q+1)/q} \leq n^{-\frac{1}{q+1}}$; TERM $\lambda_i "
        r"\propto e^{\alpha f_i}, \lambda \geq \mathbf{0}, \mathbf{1}^\top \lambda = 1$; PropFair "
        r"$\lambda_i \propto \frac{1}{M-f_i}, \prod_i (n\lambda_i) = 1$; 'the constraints of "
        r"$\lambda$ induced by $A_s^*$'",
        statement="On one domain of f each row's constraint is the domain of its $A_s^*$.",
        kind="identity",
        scope="n = 1",
        severity="constant",
        check=counterexample(
            same,
            "n = 1, where all five objectives are A(f) = f: lambda = 1/2 is allowed for q-FFL "
            "and AFL, not for FedAvg",
            {"lambda": "1/2"},
            "0 == 1",
        ),
        mutants={"FedAvg, TERM": ("two rows that agree", {"rows": ("FedAvg", "TERM")})},
        reading="As the domain of A*, by the text; read as 'what the maximiser satisfies' the rows "
        "of AFL and q-FFL are too wide. For n = 1 no reading makes the rows agree.",
        erratum="FedAvg and TERM are conjugates on R^n, AFL and q-FFL on f >= 0 (AFL on R^n has "
        "sum lambda = 1); TERM and PropFair print the maximiser (lambda proportional to ..., prod "
        "n lambda = 1) where the others print the domain, which for PropFair is prod n lambda >= "
        "1. As q tends to 0 the row of q-FFL becomes lambda <= 1/n, not FedAvg's lambda = 1/n.",
        repaired=dict(
            title="Table 1 with a column for each domain",
            statement=r"Domain of $A^*$ among $\lambda \ge 0$, native | on $f \ge 0$. FedAvg: "
            r"$\lambda = \frac1n$ | $\lambda \le \frac1n$. AFL: $\sum\lambda = 1$ | $\sum\lambda "
            r"\le 1$. q-FFL: $\|\lambda\|_{(q+1)/q} \le n^{-1/(q+1)}$, both. TERM: $\sum\lambda = "
            r"1$ | $\sum\lambda \le 1$. PropFair: $\prod n\lambda_i \ge 1$ | every $\lambda$. "
            r"Values as in the conjugate claims, and for $f \ge 0$ those of the least $\gamma \ge "
            r"\lambda$.",
            hypotheses={"weights": "lambda >= 0"},
            scope="as stated, n >= 1; PropFair for every sign of lambda",
            check=every(
                *(
                    proof(
                        file,
                        theorems,
                        runs(row=row, domain="native"),
                        runs(row=row, domain="nonnegative"),
                    )
                    for row, (file, theorems) in ROWS.items()
                )
            ),
            mutants={"one column": ("the native one on f >= 0", {"table": "native everywhere"})},
        ),
    ),
)
