"""Modules with a NAME are found by their files; one without a part, or misnamed, is an error."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from fairfl._support.registry import Named, Registry


@pytest.fixture
def package(tmp_path):
    """An empty package, of which nothing is left loaded."""
    module = ModuleType("planted_package")
    module.__path__ = [str(tmp_path)]
    sys.modules["planted_package"] = module
    yield module, tmp_path
    for name in [name for name in sys.modules if name.split(".")[0] == "planted_package"]:
        del sys.modules[name]


def seen(package, constants, several=""):
    """``draw`` by name."""

    def entry(module):
        return SimpleNamespace(name=module.NAME, draw=getattr(module, "draw", None))

    figures = Registry("figures", package.__name__, constants, entry, several)
    return {name: figure.draw for name, figure in figures.items()}


def test_files_with_a_name_or_several_parts_are_found_in_the_order_of_names(package):
    module, folder = package
    (folder / "shared.py").write_text("draw = 3")
    (folder / "one.py").write_text("NAME, draw = 'b', 2")
    several = (
        "from types import SimpleNamespace as S\nMANY = S(name='c', draw=3), S(name='a', draw=1)"
    )
    (folder / "many.py").write_text(several)
    assert seen(module, ("NAME",)) == {"b": 2}
    assert list(seen(module, ("NAME",), "MANY").items()) == [("a", 1), ("b", 2), ("c", 3)]
    (folder / "two.py").write_text("from planted_package.many import MANY")  # the same ones
    assert len(seen(module, ("NAME",), "MANY")) == 3
    (folder / "three.py").write_text("NAME, draw = 'c', 4")
    with pytest.raises(ValueError, match=r"got 'c' in three\.py, taken by many\.py"):
        seen(module, ("NAME",), "MANY")


def test_a_missing_part_is_named(package):
    module, folder = package
    (folder / "half.py").write_text("NAME, TITLE = 'a', 't'")
    with pytest.raises(
        ValueError,
        match=r"half\.py, one of the figures, must define NAME, TITLE, units, it has no un",
    ):
        seen(module, ("NAME", "TITLE", "units"))


def test_a_subclass_with_a_name_is_registered_once():
    class Law(Named):
        registry = Registry("algorithms", __name__)

    class Normal(Law):
        name = "normal"

    class Nameless(Normal):
        pass

    assert Law.registry.parts() == {"normal": Normal} and Nameless.name == "normal"
    with pytest.raises(ValueError, match=r"name must be new, got 'normal' in test_registry\.py"):
        type("Gaussian", (Law,), {"name": "normal", "__module__": __name__})
    Law.registry.register("uniform")(len)
    assert list(Law.registry) == ["normal", "uniform"] and Law.registry["uniform"] is len
