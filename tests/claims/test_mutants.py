"""The faults that ``make mutation`` draws: which, that each is put in, that a draw is stable."""

import builtins
import sys
from fractions import Fraction
from importlib import import_module
from importlib.machinery import SourceFileLoader

import pytest
from mutants import NUDGED, variants

SOURCE = '''"""A module."""

WORDS = "7"
TABLE = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)


def bound(x, limit=4):
    """At most 5."""
    if not x:
        raise ValueError(f"{x} + 1")
    return 2 * x <= limit


CLAIMS = (3,)
'''
NAME = "mutated_module"


def keys(file):
    return {variant.key: variant for variant in variants(NAME, file)}


@pytest.fixture
def file(tmp_path, monkeypatch):
    path = tmp_path / f"{NAME}.py"
    path.write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(SourceFileLoader, "get_code", SourceFileLoader.get_code)
    monkeypatch.setattr(builtins, NUDGED, None, raising=False)
    yield path
    sys.modules.pop(NAME, None)


def test_texts_tables_and_the_list_of_claims_are_left_alone(file):
    changes = {key.removeprefix(f"{NAME}:bound: ") for key in keys(file)}
    assert changes == {
        "4 -> 5 #1",
        "4 -> 3 #1",
        "if not x: raise ValueError(f'{x} + 1') -> nothing #1",
        "not x -> x #1",
        "2 * x <= limit -> 2 * x < limit #1",
        "2 * x <= limit -> 2 * x > limit #1",
        "2 * x -> 2 / x #1",
        "2 -> 3 #1",
        "2 -> 1 #1",
        "2 -> __nudged__(2, 101) #1",
        "2 -> __nudged__(2, 99) #1",
    }


@pytest.mark.parametrize(
    ("change", "at", "expected"),
    [
        ("2 * x <= limit -> 2 * x < limit", 2, False),
        ("2 -> __nudged__(2, 101)", 2, False),
        ("2 -> __nudged__(2, 99)", Fraction(200, 99), True),
        ("if not x: raise ValueError(f'{x} + 1') -> nothing", 0, True),
    ],
)
def test_a_fault_is_in_the_imported_module_and_not_in_the_file(file, change, at, expected):
    keys(file)[f"{NAME}:bound: {change} #1"].install()
    assert import_module(NAME).bound(at) is expected
    assert file.read_text() == SOURCE
