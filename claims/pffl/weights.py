"""Sections 3.1 and 3.4: weights times shares of examples, and which family emphasises fairness
most.
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

Form = tuple[Any, list[Any]]


def product(instance: dict[str, Any], normal: bool = False) -> Case:
    """Models that all agree on u stay as they are under weights p_k times the shares n_k/n."""
    p, n, u = instance["p"], instance["n"], instance["u"]
    weights = [w * Fraction(v, sum(n)) for w, v in zip(p, n, strict=True)]
    if normal:
        weights = [w / sum(weights) for w in weights]
    premises = {"weights": min(p) >= 0 and sum(p) == 1}
    return Case((Relation(sum(w * u for w in weights), "==", u, "new model"),), premises)


def normalised(clients: int = 3, divide: bool = True) -> dict[str, Any]:
    """The same with p_k n_k divided by their sum."""
    p, n = (sympy.symbols(f"{v}1:{clients + 1}", positive=True) for v in "pn")
    u = sympy.Symbol("u")
    weights = [w * v for w, v in zip(p, n, strict=True)]
    total = sum(weights) if divide else sum(n)
    return {"agreement": sum(w / total * u for w in weights) - u}


def families(n: int) -> dict[str, list[Fraction]]:
    """The four rows of table 1, the largest loss first."""
    harmonic = [
        sum((Fraction(1, i) for i in range(1, k + 1)), Fraction(0)) for k in range(n, 0, -1)
    ]
    raw = {
        "Harmonic": harmonic,
        "Gini": [Fraction(2 * k - 1) for k in range(n, 0, -1)],
        "Geo = 0.85": [Fraction(85, 100) ** k for k in range(n)],
        "Geo = 0.5": [Fraction(1, 2) ** k for k in range(n)],
    }
    return {name: [v / sum(values) for v in values] for name, values in raw.items()}


def most(instance: dict[str, Any]) -> Case:
    """A geometric row gives the worst client more weight than Gini."""
    rows = families(instance["n"])
    return Case((Relation(rows["Gini"][0], "<", rows[instance["row"]][0], "weight of the worst"),))


def steeper(even: int = 1) -> Form:
    """(2k - 1)/H_k rises with k: (2k + 1) H_k - (2k - 1) H_{k+1} > 0 where H_k = 1 + h >= 1, k = 1
    + m.

    So Gini's weights majorise the harmonic ones: of two families, both sums one, the one whose
    ratio to the other rises has the larger partial sums from the top.
    """
    m, h = sympy.symbols("m h", nonnegative=True)
    k, H = 1 + m, 1 + h
    gap = (2 * k + even) * H - (2 * k - 1) * (H + 1 / (k + 1))
    return gap, [2 * h, 3 / (k + 1)]


def halves(z: Fraction = Fraction(1, 2), by: str = "Gini") -> Form:
    """For z = 1/2: the weight of the worst of n >= 4 is above 1/2, Gini's (2n - 1)/n² below it; n
    = 4 + m.

    (1 - z)/(1 - z^n) > 1 - z, so 1 - z - (2n - 1)/n² is enough.
    """
    m = sympy.Symbol("m", nonnegative=True)
    n = 4 + m
    return (1 - sympy.Rational(str(z))) * n**2 - (2 * n - 1), [m**2 / 2, 2 * m, sympy.Integer(1)]


def check(effort: Effort, normal: bool = False) -> Evidence:
    """Two equal clients."""
    shows = "two clients of one size, p = (1/2, 1/2): the model is halved"
    half = Fraction(1, 2)
    return Evidence.of(
        Counterexample.at(
            Call.of(product, normal=normal), shows, p=[half, half], n=[1, 1], u=Fraction(1)
        )
    )


def check_normalised(effort: Effort, divide: bool = True) -> Evidence:
    """Any sizes."""
    point = {
        **{f"p{k}": f"{k}/6" for k in (1, 2, 3)},
        **{f"n{k}": str(k + 2) for k in (1, 2, 3)},
        "u": "5/3",
    }
    return Evidence.of(SymbolicZero(Call.of(normalised, divide=divide), "together", (point,)))


def check_most(effort: Effort, n: int = 10, row: str = "Geo = 0.85") -> Evidence:
    """Ten clients a round, as in q-FFL."""
    shows = "ten clients: the worst has 0.187 with z = 0.85, and 0.19 with Gini's weights"
    return Evidence.of(Counterexample.at(Call.of(most), shows, n=n, row=row))


def check_order(effort: Effort, even: int = 1, z: Fraction = Fraction(1, 2)) -> Evidence:
    """Harmonic below Gini; Geo = 0.5 above."""
    spots = ({"m": "0", "h": "0"}, {"m": "3", "h": "1"})
    return Evidence.of(
        DefiniteForm(Call.of(steeper, even=even), "together", spots, True),
        DefiniteForm(Call.of(halves, z=z), "expand", ({"m": "0"}, {"m": "2"}), True),
    )


SHARES = (
    r"if a scenario does not allow for such selection, multiplying by the proportion of total "
    r"examples before applying the fairness-focused weighing is also a viable option. [Section "
    r"3.2:] All of the following methods divide the coefficients by their sum at the end."
)
ORDER = (
    r"The effect is expected to be least pronounced for the harmonic version of p-FedAvg and most "
    r"pronounced for the geometric version. [Section 3.3.2: $z \in \{0.85, 0.5\}$.]"
)
CLAIMS = (
    Claim(
        id="pffl/example-shares",
        whose="reading",
        number="Section 3.1",
        line=74,
        title="Models times their shares of examples, weighted by p, still average",
        printed=SHARES,
        statement=r"With weights $p_k \frac{n_k}{n}$, $\sum_k p_k = 1$: clients that all return "
        r"$u$ leave it as it is.",
        kind="implication",
        hypotheses=(("weights", "p >= 0 with sum one"),),
        scope="two clients of one size",
        expected="holds-repaired",
        check=check,
        mutants=(Mutant("normalised", "divided by their sum", partial(check, normal=True)),),
        reading="The factor multiplies what p weighs. As a factor of the losses before they are "
        "sorted it would make big clients count as badly off.",
        severity="remark",
        erratum=r"The weights $p_k n_k/n$ do not sum to one: for $m$ clients of one size the model "
        r"shrinks to $1/m$ of itself. Divide by $\sum_j p_j n_j$ after multiplying, not by $\sum_j "
        r"p_j$ before.",
    ),
    Claim(
        id="pffl/example-shares/repaired",
        number="Section 3.1",
        line=74,
        title="Weights p_k n_k over their sum leave a model as it is on which all agree",
        printed=SHARES,
        statement=r"$\sum_k \frac{p_k n_k}{\sum_j p_j n_j} u = u$.",
        kind="identity",
        hypotheses=(),
        scope="three clients, whose terms look the same for any number",
        expected="holds",
        check=check_normalised,
        mutants=(Mutant("over n", "p_k n_k/n", partial(check_normalised, divide=False)),),
    ),
    Claim(
        id="pffl/weights-order",
        whose="reading",
        number="Section 3.4",
        line=118,
        title="Geometric weights give the worst client more than Gini's",
        printed=ORDER,
        statement="With ten clients a round, the weight of the worst client is larger for z = 0.85 "
        "than for Gini's weights.",
        kind="bound",
        hypotheses=(),
        scope="z = 0.85, n = 10, the number of clients a round in q-FFL's experiments",
        expected="holds-repaired",
        check=check_most,
        mutants=(
            Mutant("Geo = 0.5", "the other term", partial(check_most, row="Geo = 0.5")),
            Mutant("11 clients", "one more: 0.180 and 0.174", partial(check_most, n=11)),
        ),
        reading="'Effect' as the weight of the worst-off client. On FMNIST, with three clients, it "
        "is 0.389 against 0.556.",
        severity="remark",
        erratum="It depends on z and on the number of clients: z = 0.85 is milder than Gini's "
        "weights up to ten clients. Only z = 0.5 is the most pronounced throughout (for four "
        "clients or more).",
    ),
    Claim(
        id="pffl/weights-order/repaired",
        number="Section 3.4",
        line=118,
        title="Harmonic weights are majorised by Gini's for every n; z = 0.5 gives the worst of "
        "four or more clients more than Gini's",
        printed=ORDER,
        statement=r"$(2k-1)/H_k$ rises with $k$, so Gini's weights have the larger sums from the "
        r"top; for $n \ge 4$, $\frac{1/2}{1 - 2^{-n}} > \frac12 > \frac{2n-1}{n^2}$.",
        kind="bound",
        hypotheses=(),
        scope="every n",
        expected="holds",
        check=check_order,
        mutants=(
            Mutant("even", "2k for 2k - 1 in the next weight", partial(check_order, even=-1)),
            Mutant("z = 0.85", "the milder term", partial(check_order, z=Fraction(85, 100))),
        ),
    ),
)
