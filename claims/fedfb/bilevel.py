"""FairBatch's bilevel problem: min_λ Σ_j G_j(w_λ)², w_λ = argmin_w Σ_k c_k(λ) L_k(w).

The losses are quadratics of a real w, L = h w²/2 - b w + r: the slope of the outer objective
depends on their gradients and Hessians at w_λ alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy
from hypothesis import strategies as st

from fairfl.claims.exact import Instance, dot
from fairfl.claims.forms import Case, Relation, Residual

LOSSES = ["0*", *(f"{y}{a}" for y in ("", 0, 1) for a in range(4))]
"""Names of all notions' losses: label and group, or a client."""
Term = int | Fraction | sympy.Expr


@dataclass(frozen=True)
class Outer:
    """A notion with its losses by name.

    Attributes
    ----------
    weight : c_k as (constant, {index of λ: coefficient}).
    gap : G_j as (constant, {loss: coefficient}).
    direction : the row of G's coefficients that makes each μ_l: μ_l = Σ_j direction[l][j] G_j.
    """

    weight: dict[str, tuple[Term, dict[int, int]]]
    gap: Sequence[tuple[Term, dict[str, int]]]
    direction: list[list[int]]

    def weights(self, lam: Sequence[Any], base: int = 1) -> dict[str, Any]:
        """The c_k at λ; their change along a step ``lam`` for ``base`` 0."""
        return {
            name: base * constant + sum(lam[j] * c for j, c in rate.items())
            for name, (constant, rate) in self.weight.items()
        }


def outer(notion: str, groups: int, shares: Sequence[Term], constants: Sequence[Term]) -> Outer:
    """The problem (6)-(7), (89)-(90), (101)-(103) or (125)-(126).

    ``shares`` : n_a/n for each group ("dp"), (n_0/n, n_1/n) of the labels ("eo", "eodds"), unused
    ("cp"). ``constants`` : n_00/n_0 - n_0a/n_a for a = 1, 2, ... ("dp").
    """
    others = range(1, groups)
    if notion == "dp":
        weight: dict[str, tuple[Term, dict[int, int]]] = {}
        for a in range(groups):
            weight |= {f"0{a}": (0, {a: 1}), f"1{a}": (2 * shares[a], {a: -1})}
        gap = [(constants[a - 1], {"00": -1, "10": 1, f"0{a}": 1, f"1{a}": -1}) for a in others]
        unit = [[int(a == b) for b in others] for a in others]
        return Outer(weight, gap, [[-1] * len(others), *unit])
    if notion == "cp":
        weight = {"0": (1, dict.fromkeys(range(groups - 1), -1))}
        weight |= {str(i): (0, {i - 1: 1}) for i in others}
        gap = [(0, {str(i): 1, "0": -1}) for i in others]
        return Outer(weight, gap, _unit(groups - 1))
    labels = (1,) if notion == "eo" else (0, 1)
    weight = {"0*": (shares[0], {})} if notion == "eo" else {}
    gap = []
    for position, y in enumerate(labels):
        index = {a: position * (groups - 1) + a - 1 for a in others}
        weight[f"{y}0"] = (shares[y], dict.fromkeys(index.values(), -1))
        weight |= {f"{y}{a}": (0, {index[a]: 1}) for a in others}
        gap += [(0, {f"{y}{a}": 1, f"{y}0": -1}) for a in others]
    return Outer(weight, gap, _unit(len(gap)))


def as_printed(notion: str, groups: int) -> dict[str, Any]:
    """The inner objective, gaps and μ, and (6)-(7), (89)-(91), (101)-(103), (108), (125)-(127)."""
    s, k = sympy.symbols(f"s0:{groups}"), sympy.symbols(f"k1:{groups}")
    problem = outer(notion, groups, s, k)
    L = {name: sympy.Symbol(f"L{name}") for name in [*problem.weight, *LOSSES]}
    lam, others = sympy.symbols(f"l0:{2 * groups}"), range(1, groups)
    if notion == "dp":
        cells = ((lam[a] * L[f"0{a}"], 2 * s[a] - lam[a], L[f"1{a}"]) for a in range(groups))
        inner = sum(first + rest * second for first, rest, second in cells)
        gaps = [-L["00"] + L["10"] + L[f"0{a}"] - L[f"1{a}"] + k[a - 1] for a in others]
        mu = [-sum(gaps), *gaps]
    else:
        rows = {"cp": [("", 1)], "eo": [("1", s[1])], "eodds": [("0", s[0]), ("1", s[1])]}[notion]
        inner, mu = L["0*"] * s[0] if notion == "eo" else sympy.Integer(0), []
        for place, (y, share) in enumerate(rows):
            part = lam[place * (groups - 1) :]
            inner += sum(part[a - 1] * L[f"{y}{a}"] for a in others)
            inner += (share - sum(part[a - 1] for a in others)) * L[f"{y}0"]
            mu += [L[f"{y}{a}"] - L[f"{y}0"] for a in others]
        gaps = mu
    ours = [constant + sum(c * L[n] for n, c in parts.items()) for constant, parts in problem.gap]
    ours += [dot(row, ours) for row in problem.direction]
    rows = enumerate(zip(ours, [*gaps, *mu], strict=True))
    weights = problem.weights(lam[: groups if notion == "dp" else len(mu)])
    return {"inner": (dot(weights.values(), [L[name] for name in weights]), inner)} | {
        str(j): (x, y) for j, (x, y) in rows
    }


def _unit(size: int) -> list[list[int]]:
    return [[int(k == j) for j in range(size)] for k in range(size)]


def slope(problem: Outer, loss: dict[str, Sequence[Term]], lam: Sequence[Term]) -> Instance:
    """w_λ = B/H, the G_j, μ, V = Σ G_j G_j', H, and the derivative of Σ G_j² along μ."""
    coefficients = list(zip(*(loss[name] for name in problem.weight), strict=True))[:2]
    hessian, linear = (dot(problem.weights(lam).values(), c) for c in coefficients)
    w = linear / hessian
    values = {k: v[0] * w * w / 2 - v[1] * w + v[2] for k, v in loss.items()}
    gradients = {k: v[0] * w - v[1] for k, v in loss.items()}
    gaps = [start + sum(c * values[k] for k, c in parts.items()) for start, parts in problem.gap]
    gap_gradients = [sum(c * gradients[k] for k, c in parts.items()) for _, parts in problem.gap]
    mu = [dot(row, gaps) for row in problem.direction]
    hessian_rate, linear_rate = (dot(problem.weights(mu, 0).values(), c) for c in coefficients)
    derivative = (linear_rate * hessian - linear * hessian_rate) / hessian**2
    V = dot(gaps, gap_gradients)
    return {"mu": mu, "V": V, "H": hessian, "slope": 2 * V * derivative}


def equality(instance: Instance, condition: str = "mu") -> Case:
    """The slope is zero iff μ = 0 (or, repaired, iff V = 0)."""
    fields = ("notion", "groups", "shares", "constants")
    problem = outer(*(instance[name] for name in fields))
    terms = slope(problem, instance["losses"], instance["lam"])
    is_zero = all(m == 0 for m in terms["mu"]) if condition == "mu" else terms["V"] == 0
    relation = Relation(terms["slope"], "==" if is_zero else "!=", 0, "slope")
    return Case((relation,), {"assumption": terms["H"] > 0})


def jets(notion: str, groups: int, sign: int = 1) -> dict[str, Residual]:
    """The slope from gradients and Hessians at w_λ, H w' + Σ_k c_k'(μ) g_k = 0: -2 V·H⁻¹V."""
    problem = outer(notion, groups, sympy.symbols(f"s0:{groups}"), sympy.symbols(f"k1:{groups}"))
    names = problem.weight
    gradients = {k: sympy.Matrix(sympy.symbols(f"x{k} y{k}")) for k in names}
    gaps = [sympy.Symbol(f"G{j}") for j in range(len(problem.gap))]
    origin: Any = sympy.zeros(2, 1)
    gap_gradients = [
        sum((c * gradients[k] for k, c in parts.items()), origin) for _, parts in problem.gap
    ]
    mu = [dot(row, gaps) for row in problem.direction]
    h, o, v = sympy.symbols("h o v")
    inverse = sympy.Matrix([[h, o], [o, v]]).inv()
    rates = problem.weights(mu, 0)
    weight_gradient = sum((rates[k] * gradients[k] for k in rates), origin)
    V: Any = sum((g * t for g, t in zip(gaps, gap_gradients, strict=True)), origin)
    derivative = 2 * (V.T * (-inverse * weight_gradient))[0]
    return {"slope": (sign * derivative, -2 * (V.T * inverse * V)[0])}


@st.composite
def instances(draw: st.DrawFn, notion: str, groups: int) -> Instance:
    """Quadratics with h > 0, and λ inside its region: fractions of 2 s_a, or of label weights."""
    unit, part = st.integers(1, 9), st.integers(-8, 8).map(lambda k: Fraction(k, 4))
    counts = draw(st.lists(unit, min_size=groups, max_size=groups))
    shares = [Fraction(k, sum(counts)) for k in counts]
    ends = [2 * share for share in shares]
    if notion != "dp":
        weights = {"cp": [Fraction(1)], "eo": shares[1:2], "eodds": shares[:2]}[notion]
        ends = [weight / groups for weight in weights for _ in range(groups - 1)]
    return {
        "notion": notion,
        "groups": groups,
        "shares": shares,
        "constants": [draw(part) for _ in range(groups)],
        "losses": {
            name: [Fraction(draw(unit), 2), draw(part), draw(part)]
            for name in outer(notion, groups, shares, [0] * groups).weight
        },
        "lam": [end * Fraction(draw(unit), 10) for end in ends],
    }
