"""FedFB, algorithms 2 and 5: what FedAvg makes of the clients' objectives, and algorithm 5's λ."""

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

CELLS = ("00", "10", "01", "11")
"""(y, a), A = 2."""


def objectives(count: Any, loss: Any, lam: Any) -> list[Any]:
    """L^(i) = Σ_a λ_a n_{0,a}^(i) L_{0,a}^(i)/n_a + (2 n_a/n - λ_a) n_{1,a}^(i) L_{1,a}^(i)/n_a."""
    people = {a: sum(n[y + a] for n in count for y in "01") for a in "01"}
    total = sum(people.values())
    factor = {
        y + a: (lam[int(a)] if y == "0" else 2 * people[a] / total - lam[int(a)]) / people[a]
        for y in "01"
        for a in "01"
    }
    return [sum(factor[c] * n[c] * v[c] for c in CELLS) for n, v in zip(count, loss, strict=True)]


def server_weights(count: Any, kind: str) -> list[Any]:
    """FedAvg's n^(i)/n; or 1/I; or, "scaled", n^(i)/n for objectives that clients multiply by
    n/n^(i).
    """
    sizes = [sum(n.values()) for n in count]
    if kind == "equal":
        return [Fraction(1, len(count))] * len(count)
    return [size / sum(sizes) * (sum(sizes) / size if kind == "scaled" else 1) for size in sizes]


def minimiser(instance: dict[str, Any], kind: str = "FedAvg") -> Case:
    """Losses (w - b_i)²/2 in every cell of client i: the averaged objective has (7)'s minimiser.

    Its slope at w is Σ_i weight_i c_i (w - b_i), c_i from :func:`objectives` with losses of 1.
    """
    count, centre = instance["count"], instance["centre"]
    ones = [dict.fromkeys(CELLS, Fraction(1))] * len(count)
    own = objectives(count, ones, instance["lam"])
    found = []
    for weights in ([Fraction(1)] * len(count), server_weights(count, kind)):
        pull = [w * c for w, c in zip(weights, own, strict=True)]
        found.append(sum(p * b for p, b in zip(pull, centre, strict=True)) / sum(pull))
    return Case((Relation(found[1], "==", found[0], "minimiser"),))


def averaged(kind: str = "scaled", clients: int = 3) -> dict[str, Any]:
    """Σ_i weight_i L^(i) - (7) for "scaled", - (7)/I for "equal"."""
    count = [{c: sympy.Symbol(f"n{c}_{i}", positive=True) for c in CELLS} for i in range(clients)]
    loss = [{c: sympy.Symbol(f"L{c}_{i}") for c in CELLS} for i in range(clients)]
    lam = sympy.symbols("l0 l1")
    weights = server_weights(count, kind)
    mixed = sum(w * v for w, v in zip(weights, objectives(count, loss, lam), strict=True))
    people = {a: sum(n[y + a] for n in count for y in "01") for a in "01"}
    total = sum(people.values())
    whole = sum(
        (lam[int(a)] if y == "0" else 2 * people[a] / total - lam[int(a)])
        * sum(n[y + a] * v[y + a] for n, v in zip(count, loss, strict=True))
        / people[a]
        for y in "01"
        for a in "01"
    )
    return {"(7)": mixed - (whole / clients if kind == "equal" else whole)}


def parity(instance: dict[str, Any], index: str = "i") -> Case:
    """Algorithm 5: the clients' objectives add up to (126), λ^(0) whatever number it may be."""
    lam, loss = instance["lam"], instance["loss"]
    rest = sum(lam[1:], Fraction(0))
    first = 1 - ((len(lam) - 1) * lam[0] if index == "i" else rest)
    own = [first * loss[0], *(w * v for w, v in zip(lam[1:], loss[1:], strict=True))]
    whole = rest_sum(lam, loss) + (1 - rest) * loss[0]
    premises = {"Λ": min(lam[1:]) >= 0 and rest <= 1}
    return Case((Relation(sum(own), "==", whole, "(126)"),), premises)


def rest_sum(lam: Any, loss: Any) -> Any:
    """Σ_{i>=1} λ^(i) L^(i)."""
    return sum(w * v for w, v in zip(lam[1:], loss[1:], strict=True))


def added(clients: int = 4, index: str = "j") -> dict[str, Any]:
    """The same in symbols, with λ^(j) in client 0's sum."""
    lam, loss = (sympy.symbols(f"{n}0:{clients}") for n in "lL")
    first = 1 - (sum(lam[1:]) if index == "j" else (clients - 1) * lam[0])
    whole = rest_sum(lam, loss) + (1 - sum(lam[1:])) * loss[0]
    return {"(126)": first * loss[0] + rest_sum(lam, loss) - whole}


def kept(instance: dict[str, Any]) -> Case:
    """λ^(1) after one update stays in Λ, I = 2, where the step is α sign(μ)."""
    lam = instance["lam"] + instance["alpha"] * instance["sign"]
    premises = {"Λ": 0 <= instance["lam"] <= 1, "α": instance["alpha"] > 0}
    return Case((Relation(0, "<=", lam, "λ >= 0"), Relation(lam, "<=", 1, "λ <= 1")), premises)


def clipped(most: int = 1) -> tuple[Any, list[Any]]:
    """I = 2: |λ - λ*| less the same after a clip from λ = 1 + e to 1 is e >= 0, for λ* = 1 - s in
    Λ.
    """
    e, s = sympy.symbols("e s", nonnegative=True)
    return (most + e - (1 - s)) - (1 - (1 - s)), [e]


def _check_minimiser(effort: Effort, kind: str = "FedAvg", big: int = 3) -> Evidence:
    shows = (
        "4 and 12 people, a quarter in each cell, losses (w - 0)²/2 and (w - 1)²/2: (7) has its "
        "minimum at 3/4, FedAvg's average at 9/10"
    )
    half, one = Fraction(1, 2), Fraction(1)
    count = [dict.fromkeys(CELLS, one), dict.fromkeys(CELLS, one * big)]
    return Evidence.of(
        Counterexample.at(
            Call.of(minimiser, kind=kind), shows, count=count, centre=[0, 1], lam=[half, half]
        )
    )


def _check_averaged(effort: Effort, kinds: tuple[str, ...] = ("scaled", "equal")) -> Evidence:
    point = {"l0": "1/3", "l1": "2/5"}
    for i in range(3):
        point |= {f"n{c}_{i}": f"{3 * i + k * k + 2}" for k, c in enumerate(CELLS)}
        point |= {f"L{c}_{i}": f"{i + 2 * k + 1}/7" for k, c in enumerate(CELLS)}
    return Evidence.of(
        *(SymbolicZero(Call.of(averaged, kind=kind), "together", (point,)) for kind in kinds)
    )


def _check_parity(effort: Effort, index: str = "i") -> Evidence:
    half, quarter = Fraction(1, 2), Fraction(1, 4)
    shows = (
        "three clients of 2, 1 and 1 people: with λ^(0) = n^(0)/n = 1/2 client 0 has weight 1 - "
        "2/2 = 0, in (126) 1/2"
    )
    zero, one = Fraction(0), Fraction(1)
    return Evidence.of(
        Counterexample.at(
            Call.of(parity, index=index),
            shows,
            lam=[half, quarter, quarter],
            loss=[one, zero, zero],
        )
    )


def _check_added(effort: Effort, index: str = "j") -> Evidence:
    point = {f"{n}{k}": f"{k + 1}/{k + 6}" for n in "lL" for k in range(4)}
    return Evidence.of(SymbolicZero(Call.of(added, index=index), "expand", (point,)))


def _check_kept(effort: Effort, alpha: Fraction = Fraction(1)) -> Evidence:
    shows = "two clients of equal size, λ^(1) = 1/2, α = 1: the first update gives 3/2 or -1/2"
    return Evidence.of(
        *(
            Counterexample.at(Call.of(kept), shows, lam=Fraction(1, 2), alpha=alpha, sign=sign)
            for sign in (1, -1)
        )
    )


WEIGHTS = (
    r"FedAvg [...] iteratively compute[s] a weighted average of the local model parameters, with "
    r"the weights proportional to the local datasets' sizes. [...] "
    r"$L(w,\lambda)=\sum_iL^{(i)}(w,\lambda)$, "
    r"$L^{(i)}:=\sum_a[\lambda_an_{0,a}^{(i)}L_{0,a}^{(i)}/n_{\star,a}+(2\frac{n_{\star,a}}n-"
    r"\lambda_a)n_{1,a}^{(i)}L_{1,a}^{(i)}/n_{\star,a}]$. The global objective can be seen as a "
    r"weighted sum of the client objective function. Therefore, we can use FedAvg to solve the "
    r"inner optimization problem."
)
ALGORITHM_5 = (
    r"$w^{(i)}\leftarrow$ Gradient descent w.r.t objective function "
    r"$[[i\ne0]]\lambda^{(i)}L^{(i)}(w)+[[i=0]](1-\sum_{j=1}^{I-1}\lambda^{(i)})L^{(0)}(w)$; "
    r"Initialize $\lambda^{(i)}$ as $\frac{n^{(i)}}n$ for all $i\in[I]\setminus\{0\}$."
)
SIMPLEX = ("Λ", "λ^(i) >= 0, Σ_{i>=1} λ^(i) <= 1")

CLAIMS = (
    Claim(
        id="fedfb/algorithm-2-weights",
        number="Algorithm 2, appendix B.1",
        line=1225,
        title="FedAvg, which weighs models by the clients' sizes, solves (7) from the objectives "
        "L^(i)",
        printed=WEIGHTS,
        statement=r"$\sum_i\frac{n^{(i)}}nL^{(i)}$, which FedAvg minimises, has the minimiser of "
        r"$L=\sum_iL^{(i)}$.",
        kind="equivalence",
        hypotheses=(),
        scope="I = 2, quadratic losses",
        expected="holds-repaired",
        check=_check_minimiser,
        mutants=(
            Mutant("equal sizes", "clients of one size", partial(_check_minimiser, big=1)),
            Mutant("1/I", "an unweighted mean", partial(_check_minimiser, kind="equal")),
        ),
        severity="theorem",
        erratum=r"$L^{(i)}$ contains $n^{(i)}_{y,a}$ already, so FedAvg's weights count the sizes "
        r"twice: a client enters by the square of its size. Average the models with weights "
        r"$\frac1I$, or let client $i$ descend on $\frac n{n^{(i)}}L^{(i)}$.",
        reading="Section 3 assumes clients of one size, for which there is no difference; section "
        "4's algorithms and the experiments do not.",
    ),
    Claim(
        id="fedfb/algorithm-2-weights/repaired",
        number="Algorithm 2, appendix B.1",
        line=1225,
        title="with weights 1/I, or objectives n/n^(i) L^(i), the clients' objectives average to "
        "(7)",
        printed=WEIGHTS,
        statement=r"$\frac1I\sum_iL^{(i)}=\frac1IL$ and $\sum_i\frac{n^{(i)}}n\cdot\frac "
        r"n{n^{(i)}}L^{(i)}=L$, the objective of (7).",
        kind="identity",
        hypotheses=(),
        scope="A = 2, I = 3, clients of any size",
        expected="holds",
        check=_check_averaged,
        mutants=(Mutant("as printed", "n^(i)/n", partial(_check_averaged, kinds=("FedAvg",))),),
        notes="The objective. That FedAvg with several local steps minimises it is another matter.",
    ),
    Claim(
        id="fedfb/algorithm-5",
        number="Algorithm 5",
        line=1590,
        title="the clients' objectives of algorithm 5 add up to (126)",
        printed=ALGORITHM_5,
        statement=r"$\sum_{i\ge1}\lambda^{(i)}L^{(i)}+(1-\sum_{j=1}^{I-1}\lambda^{(0)})L^{(0)}$ is "
        r"(126).",
        kind="identity",
        hypotheses=(SIMPLEX,),
        scope="I = 3",
        expected="holds-repaired",
        check=_check_parity,
        mutants=(Mutant("λ^(j)", "λ^(j) in the sum over j", partial(_check_parity, index="j")),),
        severity="misprint",
        erratum=r"Write $1-\sum_{j=1}^{I-1}\lambda^{(j)}$: with $\lambda^{(i)}$ the sum is "
        r"$(I-1)\lambda^{(0)}$, and $\lambda^{(0)}$ is never set.",
        reading="λ^(0) = n^(0)/n, as the other λ^(i) start. No number fits all λ in Λ.",
    ),
    Claim(
        id="fedfb/algorithm-5/repaired",
        number="Algorithm 5",
        line=1590,
        title="with λ^(j) in client 0's sum, the clients' objectives add up to (126)",
        printed=ALGORITHM_5,
        statement=r"$\sum_{i\ge1}\lambda^{(i)}L^{(i)}+(1-\sum_{j=1}^{I-1}\lambda^{(j)})L^{(0)}$ is "
        r"(126).",
        kind="identity",
        hypotheses=(),
        scope="I = 4",
        expected="holds",
        check=_check_added,
        mutants=(Mutant("as printed", "λ^(0)", partial(_check_added, index="i")),),
        notes="A sum: a server that weighs models by n^(i)/n changes it, as in "
        "fedfb/algorithm-2-weights.",
    ),
    Claim(
        id="fedfb/algorithm-5-region",
        whose="implied",
        number="Algorithm 5, appendix C.1",
        line=1571,
        title="the update of algorithm 5 keeps λ in Λ, for the step sizes of appendix C.1",
        printed=r"$\Lambda=\{0\le\lambda^{(i)}\le1,\sum_i\lambda^{(i)}\le1\}$; "
        r"$\lambda^{(i)}\leftarrow\lambda^{(i)}+\frac{\alpha_t}{\|\mu\|_2}\mu^{(i)}$; "
        r"$\alpha\in\{0.001,0.05,0.08,0.1,0.2,0.5,1,2\}$.",
        statement=r"$\lambda^{(1)}\in[0,1]$ after the first update, $\alpha=1$.",
        kind="implication",
        hypotheses=(SIMPLEX, ("α", "the step size is positive")),
        scope="I = 2, equal sizes",
        expected="holds-repaired",
        check=_check_kept,
        mutants=(
            Mutant("α = 1/2", "a step to the end", partial(_check_kept, alpha=Fraction(1, 2))),
        ),
        severity="theorem",
        erratum=r"Project onto $\Lambda$ after each step. Outside of it a client's loss has a "
        r"negative weight, and (126) need have no minimiser.",
        reading="The paper does not say what happens at the boundary, as for fedfb/eq-9.",
    ),
    Claim(
        id="fedfb/algorithm-5-region/repaired",
        number="Algorithm 5",
        line=1571,
        title="projected onto Λ, λ is no farther from any λ* in Λ",
        printed="see fedfb/algorithm-5-region",
        statement=r"For $I=2$ and $\lambda=1+e$, $\lambda^\star\in[0,1]$: "
        r"$|\lambda-\lambda^\star|-|1-\lambda^\star|=e\ge0$; mirrored at 0.",
        kind="bound",
        hypotheses=(),
        scope="I = 2",
        expected="holds",
        check=lambda e: _check_clipped(e),
        mutants=(
            Mutant("beyond", "clipped at 1, from 2 + e", lambda e: _check_clipped(e, most=2)),
        ),
    ),
)


def _check_clipped(effort: Effort, most: int = 1) -> Evidence:
    return Evidence.of(
        DefiniteForm(Call.of(clipped, most=most), "expand", ({"e": "1/2", "s": "1/3"},))
    )
