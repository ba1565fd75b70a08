"""The part of a network's Hessian that its scores' slopes make, where softmax regression has all of
it.
"""

from __future__ import annotations

from functools import partial
from itertools import combinations

import sympy

from fairfl.claims.call import Call
from fairfl.claims.certificates import DefiniteForm
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence


def entropy(share: str = "1/2") -> tuple[sympy.Expr, list[sympy.Expr]]:
    """``share`` |z|² - z'(diag p - pp')z for the softmax p of three classes, p_i = q_i / sum q:
    (1 - 2 p_i)² z_i² / 2 and p_i p_j (z_i + z_j)², summed.
    """
    q, z = sympy.symbols("q1:4", positive=True), sympy.symbols("z1:4", real=True)
    p = [x / sum(q) for x in q]
    mean = sum(a * b for a, b in zip(p, z, strict=True))
    variance = sum(a * b**2 for a, b in zip(p, z, strict=True)) - mean**2
    terms = [(1 - 2 * a) ** 2 * b**2 / 2 for a, b in zip(p, z, strict=True)]
    terms += [p[i] * p[j] * (z[i] + z[j]) ** 2 for i, j in combinations(range(3), 2)]
    return sympy.Rational(share) * sum(b**2 for b in z) - variance, terms


def slope(part: str = "1") -> tuple[sympy.Expr, list[sympy.Expr]]:
    """(1 + h² + v² (1 + x²)) |d|² less the square of how far the scores can move, h d_1 + d_2 + v x
    d_3 + v d_4: d the lengths of the changes of V, c, W and b, and h, v, x those of the hidden
    units, V and the inputs; ``part`` of the first 1.
    """
    h, v, x = sympy.symbols("h v x", nonnegative=True)
    d = sympy.symbols("d1:5", nonnegative=True)
    a = h, sympy.Integer(1), v * x, v
    moved = sum(s * t for s, t in zip(a, d, strict=True)) ** 2
    bound = (sympy.Rational(part) + h**2 + v**2 * (1 + x**2)) * sum(t**2 for t in d)
    pairs = combinations(range(4), 2)
    return bound - moved, [(a[i] * d[j] - a[j] * d[i]) ** 2 for i, j in pairs]


def _check(effort: Effort, share: str = "1/2", part: str = "1") -> Evidence:
    first = {f"q{i}": str(i) for i in (1, 2, 3)} | {"z1": "1", "z2": "-2", "z3": "1/3"}
    second = {"h": "1", "v": "2", "x": "1/2", "d1": "1", "d2": "3", "d3": "0", "d4": "1/5"}
    return Evidence.of(
        DefiniteForm(Call.of(entropy, share=share), "cancel", (first,)),
        DefiniteForm(Call.of(slope, part=part), "expand", (second,)),
    )


CLAIMS = (
    Claim(
        id="dynamic/network-curvature",
        number="Section 4, before (5)",
        line=98,
        title="Of a network with one hidden layer the slopes of the scores make a curvature of at "
        "most C / 2",
        printed=r"both $\mathbf{L}_{v_1}(w)$ and $\mathbf{L}_{v_2}(w)$ are *L*-smooth",
        statement=(
            r"For cross entropy of scores $V h + c$, $h = \mathrm{relu}(W x + b)$, the Hessian's "
            r"part $E J^\top (\mathrm{diag}\, p - p p^\top) J$, $J$ the slope of the scores, has a "
            r"norm of at most $C / 2$, $C = E [1 + |h|^2 + \|V\|^2 (1 + |x|^2)]$."
        ),
        kind="bound",
        hypotheses=(),
        scope="three classes; any numbers of units and features; where no unit is at its kink",
        expected="holds",
        check=_check,
        mutants=(
            Mutant("0.495", "C 0.495", partial(_check, share="99/200")),
            Mutant("no bias", "0.99 + |h|^2 + ...", partial(_check, part="99/100")),
        ),
        whose="ours",
        reading=(
            "The rest of the Hessian vanishes where the scores are linear in the weights. No "
            "number times C bounds it: at kinks the slopes jump. So 0.018 C for the remainder of a "
            "round (crosscheck joining) is measured, not proven."
        ),
    ),
)
