"""Modules with a NAME are found by their files; one without a part, or with another's name, is an
error.
"""

import sys
from types import ModuleType

import pytest

from fairfl._support.discovery import has_parts, named_modules


@pytest.fixture
def package(tmp_path):
    """An empty package, of which nothing is left loaded."""
    found = ModuleType("planted_package")
    found.__path__ = [str(tmp_path)]
    sys.modules["planted_package"] = found
    yield found, tmp_path
    for name in [name for name in sys.modules if name.split(".")[0] == "planted_package"]:
        del sys.modules[name]


def test_files_with_a_name_are_found_in_the_order_of_names(package):
    found, folder = package
    (folder / "last.py").write_text("NAME, draw = 'a', 1")
    (folder / "first.py").write_text("NAME, draw = 'b', 2")
    (folder / "shared.py").write_text("draw = 3")
    known = named_modules(found, "figure", ("NAME", "draw"))
    assert list(known) == ["a", "b"]
    assert [module.draw for module in known.values()] == [1, 2]


def test_a_name_taken_twice_names_both_files(package):
    found, folder = package
    (folder / "one.py").write_text("NAME = 'a'")
    (folder / "two.py").write_text("NAME = 'a'")
    with pytest.raises(ValueError, match=r"NAME must be new, got 'a' in two\.py, taken by one\.py"):
        named_modules(found, "figure", ("NAME",))


def test_a_missing_part_is_named(package):
    found, folder = package
    (folder / "half.py").write_text("NAME, TITLE = 'a', 't'")
    with pytest.raises(
        ValueError,
        match=r"study planted_package\.half must define NAME, TITLE, units, it has no un",
    ):
        named_modules(found, "study", ("NAME", "TITLE", "units"))
    assert not has_parts(ModuleType("shared"), "study", ("NAME", "units"))
