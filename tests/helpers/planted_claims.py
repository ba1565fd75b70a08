"""Statements of the tests' own at ``fairfl.claims.planted``, where calls may look for them."""

import sys
from fractions import Fraction

import sympy
from hypothesis import strategies as st

from fairfl.claims import edges
from fairfl.claims.case import Case, Relation
from fairfl.claims.claim import Claim
from fairfl.claims.instances import rows

PLANTED = "fairfl.claims.planted"


def below(instance, bound=4):
    """x^2 <= bound, for x >= 0."""
    x = instance["x"]
    return Case((Relation(x * x, "<=", bound, "square"),), {"sign": x >= 0})


rows()["planted:below()"] = {
    "values": [[{"x": x}, f"{x * x} <= 4"] for x in (1, 2, 3)],
    "outside": {"sign": [{"x": -3}]},
}
NEAR = [({"x": "-1/1000000"}, "sign"), ({"x": 0}, "")]
edges.rows()["planted:below()"] = [({"x": 1}, NEAR, "53bca9c35ca2")]


def parts(low, high, by=8):
    """x from low to high in parts of one."""
    return st.integers(low * by, high * by).map(lambda k: {"x": Fraction(k, by)})


def wide():
    """x from 0 to 2 in floats."""
    return st.floats(0, 2).map(lambda x: {"x": x})


def residual(wrong=0, count=1, vanishing=0, pieces=False):
    """``wrong`` by x, or by an expression that is 0 at x = 2/5 alone; with |x| for x."""
    x, y = sympy.symbols("x y", real=True)
    x = sympy.Abs(x) if pieces else x
    error = wrong * x + vanishing * (5 * x - 2)
    sides = (x + y) ** 2 + error, x**2 + y**2 + 2 * x * y
    return dict.fromkeys(["binomial"][:count], sides)


def form(factor=1, lost=0, term=0):
    x, y = sympy.symbols("x y", real=True)
    squares = [(x - factor * y) ** 2, (1 - factor**2) * y**2]
    return x**2 + y**2 - 2 * factor * x * y + lost, [*squares, sympy.Integer(term)]


def unchecked(effort):
    raise AssertionError("not to be run")


def claim(id, *rests_on, expected="holds"):
    """A claim of pffl that says nothing."""
    words = {"number": "1", "line": 1, "title": "t", "printed": "p", "statement": "s"}
    words |= {"kind": "bound", "whose": "ours", "scope": "all", "expected": expected}
    words["rests_on"] = tuple(f"pffl/{premise}" for premise in rests_on)
    words["erratum"] = "e" * (expected in ("refuted", "holds-repaired"))
    return Claim(f"pffl/{id}", check=unchecked, mutants={"m": ("c", unchecked)}, **words)


module = sys.modules[__name__]
sys.modules[PLANTED] = module
for function in (below, parts, wide, residual, form):
    function.__module__ = PLANTED
