"""Table 1: the column 'Constraints of lambda' mixes two domains, and conjugates with maximisers."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import inf
from typing import Any

import numpy as np
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import CLASSICAL, Counterexample, KernelProof
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.instances import explore
from fairfl.claims.propfair import conjugate_fedavg as fedavg
from fairfl.claims.propfair import conjugate_propfair as propfair
from fairfl.claims.propfair import conjugate_qffl as qffl
from fairfl.claims.propfair import conjugate_term as term


def printed_alone(row: str, x: Fraction) -> bool:
    """Whether Table 1 allows the weight x of a single client, n = 1."""
    if row in ("FedAvg", "TERM", "PropFair"):
        return x == 1  # lambda = 1/n; 1'lambda = 1; prod n lambda = 1
    return 0 <= x <= 1  # AFL: 1'lambda <= 1; q-FFL: any norm of one number, n^(-1/(q+1)) = 1


def same(instance: dict[str, Any], rows: list[str]) -> Case:
    """For n = 1, A(f) = f for every row: the weights that A* allows are the same set, whatever the
    domain.
    """
    x = instance["lambda"]
    allowed = [int(printed_alone(row, x)) for row in rows]
    return Case((Relation(allowed[0], "==", allowed[1], f"{rows[0]} and {rows[1]} allow lambda"),))


def check(effort: Effort, rows: tuple[str, str] = ("FedAvg", "q-FFL")) -> Evidence:
    """One client."""
    shows = (
        "n = 1, where all five objectives are A(f) = f: lambda = 1/2 is allowed for q-FFL "
        "and AFL, not for FedAvg"
    )
    return Evidence.of(
        Counterexample.at(Call.of(same, rows=list(rows)), shows, **{"lambda": Fraction(1, 2)})
    )


def value(row: str, f: np.ndarray) -> float:
    """A(f), q = 1, alpha = 1, M = 2."""
    if row == "FedAvg":
        return float(f.mean())
    if row == "AFL":
        return float(f.max())
    if row == "q-FFL":
        return float(np.sqrt((f**2).mean()))
    if row == "TERM":
        return float(f.max() + np.log(np.exp(f - f.max()).mean()))
    return float(2 - np.prod(2 - f) ** (1 / len(f)))


def dual(row: str, domain: str, x: np.ndarray) -> float:
    """A*(lambda) by the corrected table (see the statement), lambda >= 0."""
    n, total = len(x), float(x.sum())
    near = 1e-12
    if row == "FedAvg":
        return (
            0.0
            if (np.abs(x - 1 / n).max() if domain == "native" else x.max() - 1 / n) <= near
            else inf
        )
    if row == "AFL":
        return 0.0 if (abs(total - 1) if domain == "native" else total - 1) <= near else inf
    if row == "q-FFL":  # a norm of f >= 0: its native domain
        return 0.0 if np.linalg.norm(x) <= n**-0.5 + near else inf
    if row == "TERM":
        if domain == "native":
            return (
                float((x[x > 0] * np.log(x[x > 0])).sum() + np.log(n))
                if abs(total - 1) <= near
                else inf
            )
        return _term_nonnegative(x)
    product = float(np.prod(n * x))
    if domain == "native":
        return 2 * (total - 1) if product >= 1 - near else inf
    v = x if product >= 1 - near else np.maximum(x, _water(x))
    return float(2 * (v.sum() - 1))


def _water(x: np.ndarray) -> float:
    """c with prod n max(x, c) = 1, by bisection."""
    n, low, high = len(x), 0.0, 1.0 / len(x)
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.prod(n * np.maximum(x, middle)) < 1 else (low, middle)
    return high


def _term_nonnegative(x: np.ndarray) -> float:
    """TERM on f >= 0: the least conjugate over gamma >= lambda of sum one, max(lambda, c); infinite
    if sum > 1.
    """
    if x.sum() > 1 + 1e-12:
        return inf
    low, high = 0.0, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(x, middle).sum() < 1 else (low, middle)
    gamma = np.maximum(x, high)
    return float((gamma * np.log(gamma)).sum() + np.log(len(x)))


def case(instance: dict[str, Any], row: str, domain: str, table: str = "corrected") -> Case:
    """A* as the supremum: no f of the domain beats a finite value; where it is infinite some f
    exceeds 50.

    ``table`` "native everywhere" takes the native column on f >= 0 too.
    """
    x = np.array([float(v) for v in instance["lambda"]])
    f = np.array([float(v) for v in instance["f"]])
    f = np.minimum(f, 2.0) if row == "PropFair" else f
    if domain == "nonnegative" or row == "q-FFL":
        f = np.maximum(f, 0.0)
    told = dual(row, domain if table == "corrected" else "native", x)
    if told < inf:
        return Case(
            (Relation(float(x @ f) - value(row, f), "<=", told, "no f beats A*"),),
            {"weights": True},
        )
    best = max((float(x @ g) - value(row, g) for g in rays(row, domain, x)), default=-inf)
    return Case((Relation(50.0, "<=", best, "infinite"),), {"weights": True})


def rays(row: str, domain: str, x: np.ndarray) -> list[np.ndarray]:
    """Far points of the domain, in the directions that the corrected table's proof takes."""
    n, far = len(x), 1e5
    made = [far * np.eye(n)[i] for i in range(n)] + [
        far * np.ones(n),
        far * x,
        far * np.maximum(x - 1 / n, 0),
    ]
    if row == "PropFair":
        made = [2 - far * np.eye(n)[i] - far**0.5 for i in range(n)] + [
            2 - 1e7 / np.maximum(x, 1e-9)
        ]
    if domain == "native" and row != "q-FFL":
        made += [-g for g in made if row != "PropFair"]
    return [g for g in made if domain == "native" or g.min() >= 0]


@st.composite
def weights(draw: st.DrawFn, row: str, domain: str) -> dict[str, Any]:
    """Weights in quarters of the bound, ones that meet it among them; losses of both signs."""
    n = draw(st.integers(1, 3))
    x = [Fraction(draw(st.integers(0, 6)), 4) for _ in range(n)]
    kind = draw(st.sampled_from(["any", "one", "level"]))
    if kind == "one" and sum(x, Fraction(0)) > 0:
        x = [v / sum(x, Fraction(0)) for v in x]
    if kind == "level":
        x = [Fraction(1, n)] * n
    return {"lambda": x, "f": [Fraction(draw(st.integers(-8, 12)), 4) for _ in range(n)]}


PROOFS = {
    "FedAvg": ("plain_mean.v", fedavg.CONJUGATE + fedavg.NONNEGATIVE),
    "AFL": ("afl.v", qffl.INSIDE + qffl.OUTSIDE + qffl.NONNEGATIVE),
    "q-FFL": ("powers.v", qffl.POWERS),
    "TERM": ("entropy.v", term.INSIDE + term.APPROACHED + term.OUTSIDE + term.NONNEGATIVE),
    "PropFair": (
        "geometric.v",
        propfair.INSIDE + propfair.BEYOND + propfair.SIGNED + propfair.CLOSED,
    ),
}


def check_repaired(
    effort: Effort, table: str = "corrected", row: str = "", old: str = "", new: str = ""
) -> Evidence:
    """The proofs of every row on both domains, and what was drawn; ``old`` is replaced in a
    row's.
    """
    count = effort.pick(40, 1000)
    parts = []
    for name, (file, proof) in PROOFS.items():
        runs = (
            explore(
                Call.of(case, row=name, domain=domain, table=table),
                Call.of(weights, row=name, domain=domain),
                effort,
                tolerance=1e-9,
                examples=count,
            )
            for domain in ("native", "nonnegative")
        )
        said = proof.replace(old, new) if name == row else proof
        parts.append(KernelProof.of(file, said, *runs, axioms=CLASSICAL))
    return Evidence.of(*parts)


PRINTED = (
    r"Constraints of $\lambda$: FedAvg $\lambda_1 = \dots = \lambda_n = 1/n$; Agnostic FL "
    r"$\lambda \geq \mathbf{0}, \mathbf{1}^\top \lambda \leq 1$; $q$-FFL $\lambda \geq "
    r"\mathbf{0}, \|\lambda\|_{(q+1)/q} \leq n^{-\frac{1}{q+1}}$; TERM $\lambda_i \propto "
    r"e^{\alpha f_i}, \lambda \geq \mathbf{0}, \mathbf{1}^\top \lambda = 1$; PropFair $\lambda_i "
    r"\propto \frac{1}{M-f_i}, \prod_i (n\lambda_i) = 1$"
)
CLAIMS = (
    Claim(
        id="propfair/table-1",
        number="Table 1",
        line=227,
        title="Table 1 lists the constraints on lambda that A_s* induces",
        printed=PRINTED + "; 'the constraints of $\\lambda$ induced by $A_s^*$'",
        statement="There is one domain of f on which each row's constraint is the domain of its "
        "$A_s^*$.",
        kind="identity",
        hypotheses=(),
        scope="n = 1",
        expected="holds-repaired",
        check=check,
        mutants=(
            Mutant("FedAvg, TERM", "two rows that agree", partial(check, rows=("FedAvg", "TERM"))),
            Mutant("AFL, q-FFL", "two others that do", partial(check, rows=("AFL", "q-FFL"))),
        ),
        reading=(
            "As the domain of A*, by the text; read as 'what the maximiser satisfies' the rows "
            "of AFL and q-FFL are too wide. For n = 1 all objectives are A(f) = f, so no reading "
            "makes the rows agree."
        ),
        severity="theorem",
        erratum=(
            "FedAvg and TERM are conjugates on R^n, AFL and q-FFL on f >= 0 (AFL on R^n has sum "
            "lambda = 1); TERM and PropFair print the maximiser (lambda proportional to ..., "
            "prod n lambda = 1) where the others print the domain, which for PropFair is prod n "
            "lambda >= 1. As q tends to 0 the row of q-FFL becomes lambda <= 1/n, not FedAvg's "
            "lambda = 1/n."
        ),
    ),
    Claim(
        id="propfair/table-1/repaired",
        number="Table 1",
        line=227,
        title="Table 1 with a column for each domain",
        printed=PRINTED,
        statement=(
            r"Domain of $A^*$ among $\lambda \ge 0$, native | on $f \ge 0$. FedAvg: $\lambda = "
            r"\frac1n$ | $\lambda \le \frac1n$. AFL: $\sum\lambda = 1$ | $\sum\lambda \le 1$. "
            r"q-FFL: $\|\lambda\|_{(q+1)/q} \le n^{-1/(q+1)}$, both. TERM: $\sum\lambda = 1$ | "
            r"$\sum\lambda \le 1$. PropFair: $\prod n\lambda_i \ge 1$ | every $\lambda$. Values "
            r"as in the conjugate claims, and for $f \ge 0$ those of the least $\gamma \ge "
            r"\lambda$."
        ),
        kind="identity",
        hypotheses=(("weights", "lambda >= 0"),),
        scope="as stated, n >= 1; PropFair for every sign of lambda",
        expected="holds",
        check=check_repaired,
        mutants=(
            Mutant(
                "one column",
                "the native one on f >= 0",
                partial(check_repaired, table="native everywhere"),
            ),
            Mutant(
                "1 % wider",
                "lambda <= 1.01/n for FedAvg on f >= 0, in the theorem that is proved",
                partial(
                    check_repaired, row="FedAvg", old="v i <= / INR n", new="v i <= 1.01 / INR n"
                ),
            ),
            Mutant(
                "TERM below one",
                "a level for sum lambda <= 1, in the theorem that is proved",
                partial(check_repaired, row="TERM", old="(seq 0 n) v < 1", new="(seq 0 n) v <= 1"),
            ),
        ),
    ),
)
