"""FedFB, algorithms 2 to 5: averages of the clients' objectives; assumption 7."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import sympy

from fairfl.claims.exact import Instance, dot
from fairfl.claims.fedfb.bilevel import as_printed, outer
from fairfl.claims.forms import Case, Claim, Relation, Residual, counterexample, every, identity

HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
CELLS: Sequence[str] = ("00", "10", "01", "11")
"""(y, a), A = 2."""
LABELLED: Sequence[str] = ("10", "11", "0*")
"""(1, 0), (1, 1), and label 0 of any group."""
Cells = Sequence[dict[str, Any]]
"""By client and cell: people, or their mean loss."""


def tables(cells: Sequence[str]) -> tuple[Cells, Cells]:
    """Counts and losses of three clients as symbols."""
    count = [{c: sympy.Symbol(f"n{c}_{i}", positive=True) for c in cells} for i in range(3)]
    return count, [{c: sympy.Symbol(f"L{c}_{i}") for c in cells} for i in range(3)]


def objectives(count: Cells, loss: Cells, lam: Sequence[Any]) -> list[Any]:
    """L^(i) = Σ_a λ_a n_{0,a}^(i) L_{0,a}^(i)/n_a + (2 n_a/n - λ_a) n_{1,a}^(i) L_{1,a}^(i)/n_a."""
    people = {a: sum(n[y + a] for n in count for y in "01") for a in "01"}
    share = {a: 2 * people[a] / sum(people.values()) for a in "01"}
    factor = {"0" + a: lam[int(a)] / people[a] for a in "01"}
    factor |= {"1" + a: (share[a] - lam[int(a)]) / people[a] for a in "01"}
    return [sum(factor[c] * n[c] * v[c] for c in CELLS) for n, v in zip(count, loss, strict=True)]


def server_weights(count: Cells, kind: str) -> list[Any]:
    """FedAvg's n^(i)/n; or 1/I; or, "scaled", n^(i)/n for objectives multiplied by n/n^(i)."""
    sizes = [sum(n.values()) for n in count]
    if kind == "equal":
        return [Fraction(1, len(count))] * len(count)
    return [size / sum(sizes) * (sum(sizes) / size if kind == "scaled" else 1) for size in sizes]


def minimiser(instance: Instance, kind: str = "FedAvg") -> Case:
    """Losses (w - b_i)²/2 of client i: of slope Σ_i weight_i c_i (w - b_i), c_i at losses of 1."""
    count, centre = instance["count"], instance["centre"]
    ones = [dict.fromkeys(CELLS, Fraction(1))] * len(count)
    coefficients = objectives(count, ones, instance["lam"])
    minimisers = []
    for weights in ([Fraction(1)] * len(count), server_weights(count, kind)):
        slopes = [w * c for w, c in zip(weights, coefficients, strict=True)]
        minimisers.append(dot(slopes, centre) / sum(slopes))
    return Case((Relation(minimisers[1], "==", minimisers[0], "minimiser"),))


def averaged(kinds: Sequence[str] = ("scaled", "equal")) -> dict[str, Residual]:
    """Σ_i weight_i L^(i) - (7) for "scaled", - (7)/I for "equal"; three clients."""
    count, loss = tables(CELLS)
    lam = sympy.symbols("l0 l1")
    totals = {c: sum(n[c] for n in count) for c in CELLS}
    pairs = list(zip(count, loss, strict=True))
    mean = {c: sum(n[c] * v[c] for n, v in pairs) / totals[c] for c in CELLS}
    people = {a: totals["0" + a] + totals["1" + a] for a in "01"}
    prime = {c: totals[c] * mean[c] / people[c[1]] for c in CELLS}
    pooled = sum(
        lam[a] * prime[f"0{a}"]
        + (2 * people[str(a)] / sum(totals.values()) - lam[a]) * prime[f"1{a}"]
        for a in (0, 1)
    )
    local = objectives(count, loss, lam)
    return {
        f"(7), {kind}": (
            dot(server_weights(count, kind), local),
            (pooled / 3 if kind == "equal" else pooled),
        )
        for kind in kinds
    }


def opportunity(count: Cells, loss: Cells, lam: Any, weighting: str) -> dict[str, Residual]:
    """The clients' average and (90); their μ^(i) and μ_1. ``weighting``: "own", the client's mean
    as printed; or "share", n^(i)_{y,a}/n_{y,a} of it.
    """
    people = {c: sum(n[c] for n in count) for c in LABELLED}
    total, clients = sum(people.values()), len(count)
    first, zero = (people["10"] + people["11"]) / total, people["0*"] / total
    local = {"11": lam, "10": first - lam, "0*": zero}
    pairs = zip(count, loss, strict=True)
    scaled = [{c: n[c] * v[c] / people[c] for c in LABELLED} for n, v in pairs]
    terms = loss if weighting == "own" else scaled
    means = {c: sum(v[c] for v in terms) / (clients if weighting == "own" else 1) for c in LABELLED}
    sums = {c: sum(n[c] * v[c] for n, v in zip(count, loss, strict=True)) for c in LABELLED}
    pooled = {c: sums[c] / people[c] for c in LABELLED}
    printed = lam * pooled["11"] + ((total - people["0*"]) / total - lam) * pooled["10"]
    printed += people["0*"] / total * pooled["0*"]
    return {
        "(90)": (sum(local[c] * means[c] for c in LABELLED), printed),
        "μ_1": (means["11"] - means["10"], pooled["11"] - pooled["10"]),
    }


def unequal(instance: Instance, weighting: str = "own") -> Case:
    """Clients of equal size: their objectives average to (90), and their μ^(i) to μ."""
    losses, counts = (
        [{c: Fraction(v[c]) for c in LABELLED} for v in instance[name]]
        for name in ("loss", "count")
    )
    pairs = opportunity(counts, losses, instance["lam"], weighting)
    is_equal = len({sum(v.values()) for v in counts}) == 1
    return Case(
        tuple(Relation(mean, "==", whole, name) for name, (mean, whole) in pairs.items()),
        {"equal sizes": is_equal},
    )


def residuals(weighting: str = "share") -> dict[str, Residual]:
    """Differences of the pairs of :func:`opportunity`, three clients of any size, in symbols."""
    return opportunity(*tables(LABELLED), sympy.Symbol("lam"), weighting)


def matrix(
    hessians: dict[str, Any], lam: Any, share: Any, groups: int, place: str
) -> tuple[Any, Any]:
    """(106)-(107), and the Hessian of (102)-(103); terms of a = 0 inside or outside of the sum."""
    multipliers = [[lam[y * (groups - 1) + a] for a in range(groups - 1)] for y in (0, 1)]
    base = sum((share[y] - sum(multipliers[y])) * hessians[f"{y}0"] for y in (0, 1))
    others = sum(
        multipliers[y][a - 1] * hessians[f"{y}{a}"] for y in (0, 1) for a in range(1, groups)
    )
    weights = outer("eodds", groups, share, []).weights(lam)
    hessian = sum(weight * hessians[name] for name, weight in weights.items())
    return others + (groups - 1 if place == "inside" else 1) * base, hessian


def same_matrix(instance: Instance, place: str = "inside") -> Case:
    """The matrix of assumption 7 is the Hessian that (115)-(117) inverts."""
    groups, other_hessian = instance["groups"], instance["other"]
    hessians = {
        f"{y}{a}": other_hessian if a else instance["first"] for y in (0, 1) for a in range(groups)
    }
    lam, share = [instance["lam"]] * (2 * groups - 2), [instance["share"]] * 2
    value, hessian = matrix(hessians, lam, share, groups, place)
    return Case((Relation(value, "==", hessian, "matrix and Hessian"),))


def any_matrix(place: str = "outside", groups: int = 4) -> dict[str, Residual]:
    """The same with symbols."""
    hessians = {f"{y}{a}": sympy.Symbol(f"H{y}{a}") for y in (0, 1) for a in range(groups)}
    lam, share = sympy.symbols(f"l0:{2 * groups - 2}"), sympy.symbols("p0 p1")
    return {"matrix and Hessian": matrix(hessians, lam, share, groups, place)}


PEOPLE, ALIKE = (
    [dict(zip(CELLS, map(Fraction, cells), strict=True)) for cells in clients]
    for clients in (((2, 3, 5, 7), (11, 13, 4, 9)), ((2, 3, 5, 7), (7, 5, 2, 3)))
)
"""Two clients of different and of one size; no cells of a client are equal."""
CLAIMS = (
    Claim(
        "fedfb/algorithm-2-weights",
        1225,
        "FedAvg, which weighs models by the clients' sizes, solves (7) from the objectives L^(i)",
        number="Algorithm 2, appendix B.1",
        printed=r"FedAvg [...] iteratively compute[s] a weighted average of the local model "
        r"parameters, with the weights proportional to the local datasets' sizes. [...] "
        r"$L(w,\lambda)=\sum_iL^{(i)}(w,\lambda)$, "
        r"$L^{(i)}:=\sum_a[\lambda_an_{0,a}^{(i)}L_{0,a}^{(i)}/n_{\star,a}+(2\frac{n_{\star,a}}n-"
        r"\lambda_a)n_{1,a}^{(i)}L_{1,a}^{(i)}/n_{\star,a}]$. The global objective can be seen as "
        r"a weighted sum of the client objective function. Therefore, we can use FedAvg to solve "
        r"the inner optimization problem.",
        statement=r"$\sum_i\frac{n^{(i)}}nL^{(i)}$, which FedAvg minimises, has the minimiser of "
        r"$L=\sum_iL^{(i)}$.",
        kind="equivalence",
        scope="I = 2, quadratic losses",
        check=counterexample(
            minimiser,
            "17 and 37 people, losses (w - 2/7)²/2 and (w - 3)²/2: the minimum of (7), and of "
            "FedAvg's average",
            {"count": PEOPLE, "centre": ["2/7", 3], "lam": ["3/8", "5/7"]},
            "2.52236 == 2.13874",
        ),
        mutants={
            "equal sizes": ("clients of one size", {"count": ALIKE}),
            "1/I": ("an unweighted mean", {"kind": "equal"}),
        },
        severity="step",
        erratum=r"$L^{(i)}$ contains $n^{(i)}_{y,a}$ already, so FedAvg's weights count the sizes "
        r"twice: a client enters by the square of its size. Average the models with weights "
        r"$\frac1I$, or let client $i$ descend on $\frac n{n^{(i)}}L^{(i)}$.",
        reading="Section 3 assumes clients of one size, for which there is no difference; section "
        "4's algorithms and the experiments do not.",
        repaired=dict(
            title="with weights 1/I, or n/n^(i) L^(i), the clients' objectives average to (7)",
            statement=r"$\frac1I\sum_iL^{(i)}=\frac1IL$ and $\sum_i\frac{n^{(i)}}n\cdot\frac "
            r"n{n^{(i)}}L^{(i)}=L$, the objective of (7).",
            kind="identity",
            scope="A = 2, I = 3, clients of any size",
            size="I = 3",
            check=identity(averaged, "-0.0304745; -0.0101582"),
            mutants={"as printed": ("n^(i)/n", {"kinds": ("FedAvg",)})},
            notes="Of the objective alone, not of FedAvg's several local steps.",
        ),
    ),
    Claim(
        "fedfb/algorithm-3",
        1390,
        "the clients' objectives of algorithm 3 average to (90), and their μ^(i) to μ",
        number="Algorithms 3 and 4",
        printed=r"$w^{(i)}\leftarrow$ Gradient descent w.r.t objective function "
        r"$\sum_{a=1}^{A-1}\lambda_aL_{1,a}^{(i)}(w)+(\frac{n_{1,\star}}n-\sum_{a="
        r"1}^{A-1}\lambda_a)L^{(i)}_{1,0}(w)+\frac{n_{0,\star}}nL^{(i)}_{0,\star}(w)$; "
        r"$\mu_a\leftarrow SecAgg(\{\mu_a^{(i)}\})$; "
        r"$L_{y,a}^{(i)}(w):=\sum_{y,a,i}\ell/n_{y,a}^{(i)}$.",
        statement=r"For clients of equal size, $\frac1I\sum_iF^{(i)}$ is (90), and "
        r"$\frac1I\sum_i(L_{1,1}^{(i)}-L_{1,0}^{(i)})=L_{1,1}-L_{1,0}$.",
        kind="identity",
        hypotheses={"equal sizes": "the clients have as many people each"},
        scope="A = 2, I = 2",
        check=counterexample(
            unequal,
            "two clients of 8 people; with label 1, group 1: 1 of loss 1 and 3 of loss 0, mean "
            "1/4, not (1 + 0)/2",
            {
                "loss": [{"10": 0, "11": 1, "0*": 0}, {"10": 0, "11": 0, "0*": 0}],
                "count": [{"10": 3, "11": 1, "0*": 4}, {"10": 1, "11": 3, "0*": 4}],
                "lam": QUARTER,
            },
            "1/8 == 1/16; 1/2 == 1/4",
        ),
        mutants={"shares": ("n^(i)_{y,a}/n_{y,a} times the local mean", {"weighting": "share"})},
        severity="theorem",
        erratum="Local means do not average to global ones where groups are spread unevenly: "
        "weight L^(i)_{y,a} by n^(i)_{y,a}/n_{y,a}, as algorithm 2 does with n_{*,a}. μ_a^(i) is "
        "nowhere defined; it must be weighted too. Algorithm 4 has the same two faults.",
        reading="μ_a^(i) = L^(i)_{1,a} - L^(i)_{1,0}, SecAgg a mean, FedAvg's weights equal.",
        repaired=dict(
            title="weighted by n^(i)_{y,a}/n_{y,a} the clients' objectives sum to (90), μ^(i) to μ",
            statement=r"With $\frac{n^{(i)}_{y,a}}{n_{y,a}}L^{(i)}_{y,a}$ for $L^{(i)}_{y,a}$ both "
            r"sums are exact.",
            hypotheses={},
            scope="A = 2, I = 3, clients of any size",
            size="I = 3",
            check=identity(residuals, "2.06917; 0.367082"),
            mutants={"own means": ("as printed", {"weighting": "own"})},
        ),
    ),
    Claim(
        "fedfb/assumption-7",
        1418,
        "the matrix of assumption 7 is the inner problem's Hessian",
        printed=r"$\sum_{a=1}^{A-1}[(\lambda_{1,a}\nabla^2L_{1,a}+\lambda_{0,a}\nabla^2L_{0,a}+"
        r"(\frac{n_{0,\star}}n-\sum_{a=1}^{A-1}\lambda_{0,a})\nabla^2L_{0,0}+(\frac{n_{1,\star}}n"
        r"-\sum_{a=1}^{A-1}\lambda_{1,a})\nabla^2L_{1,0})]\succ0$.",
        statement=r"(106)-(107) equals the Hessian of (102)-(103), which (115)-(117) invert.",
        kind="identity",
        scope="A = 3",
        check=counterexample(
            same_matrix,
            "A = 3, Hessians 1 for a = 0 and -1 else, λ = 3/20, shares 1/2: (106)-(107) is "
            "positive, the Hessian negative",
            {
                "groups": 3,
                "first": Fraction(1),
                "other": Fraction(-1),
                "lam": "3/20",
                "share": HALF,
            },
            "1/5 == -1/5",
        ),
        mutants={
            "two groups": ("A = 2", {"groups": 2}),
            "outside": ("the terms of a = 0 outside", {"place": "outside"}),
        },
        severity="misprint",
        erratum="The terms of a = 0 must stand outside of the sum over a, where they are counted "
        "A - 1 times. For A > 2 the assumption as printed may hold where the Hessian is "
        "negative. For A = 2 it makes no difference.",
        repaired=dict(
            title="with the terms of a = 0 outside of the sum, it is the inner Hessian",
            statement=r"$\sum_{a\ge1}\sum_y\lambda_{y,a}\nabla^2L_{y,a}+\sum_y(\frac{n_{y,"
            r"\star}}n-\sum_{a\ge1}\lambda_{y,a})\nabla^2L_{y,0}$ is the Hessian.",
            size="A = 2, 3, 4",
            check=every(
                *(identity(any_matrix, groups=groups) for groups in (2, 3, 4)),
                identity(as_printed, notion="eodds", groups=4),
            ),
            mutants={"as printed": ("inside of the sum", {"place": "inside"})},
        ),
    ),
)
