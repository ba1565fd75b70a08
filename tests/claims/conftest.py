"""Statements of the tests' own, planted where calls may look for them."""

import sys
from fractions import Fraction
from types import ModuleType

import pytest
import sympy
from flint import arb

from fairfl.claims.case import Case, Relation

PLANTED = "fairfl.claims.planted"


def below(instance, bound=4):
    """x^2 <= bound, for x >= 0."""
    x = instance["x"]
    return Case((Relation(x * x, "<=", bound, "square"),), {"sign": x >= 0})


def residual(wrong=0):
    x, y = sympy.symbols("x y", real=True)
    return {"binomial": (x + y) ** 2 - x**2 - y**2 - 2 * x * y + wrong * x}


def form(factor=1, lost=0):
    x, y = sympy.symbols("x y", real=True)
    return x**2 + y**2 - 2 * factor * x * y + lost, [(x - factor * y) ** 2, (1 - factor**2) * y**2]


def gap(x: list[arb], bound: int = 2) -> arb:
    return bound - x[0] * x[0] - x[1] * x[1]


def inside(x: list[arb]) -> arb | None:
    """Positive on x <= 1, and nothing is claimed beyond."""
    return None if x[0] > 1 else arb(2) - x[0]


def programme(value="3"):
    """min x0 + x1, x0 + 2 x1 >= 4, 2 x0 + x1 >= 5: at (2, 1)."""
    return ([1, 1], [[1, 2], [2, 1]], [4, 5], Fraction(value))


@pytest.fixture(autouse=True)
def planted(monkeypatch):
    """fairfl.claims.planted, a module with the functions above."""
    module = ModuleType(PLANTED)
    for function in (below, residual, form, gap, inside, programme):
        monkeypatch.setattr(function, "__module__", PLANTED)
        setattr(module, function.__name__, function)
    monkeypatch.setitem(sys.modules, PLANTED, module)
    return module
