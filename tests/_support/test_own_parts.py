"""A user's own parts: files and modules imported once, in all processes; errors of one line."""

import json
import os
import subprocess
import sys
from hashlib import sha256
from importlib import metadata

import pytest

from fairfl._support import own_parts
from fairfl._support.processes import as_done

FIGURE = """
NAME, TITLE = "planted", "Planted"
def data(): ...
def draw(data): ...
"""


@pytest.fixture(autouse=True)
def clean(monkeypatch):
    monkeypatch.setenv(own_parts.VARIABLE, "[]")
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.startswith("planted"):
            del sys.modules[name]
    own_parts.DIGESTS.clear()
    own_parts.PLACES.clear()


def names_here() -> list[str]:
    return [module.__name__ for module in own_parts.own_modules("figures")]


def test_a_file_is_run_once_and_known_in_every_process(tmp_path):
    (tmp_path / "planted_a.py").write_text(
        "import sys; sys.planted = getattr(sys, 'planted', 0) + 1"
    )
    for _ in range(2):
        own_parts.import_parts([str(tmp_path / "planted_a.py")])
    assert sys.planted == 1  # type: ignore[attr-defined]
    assert names_here() == ["planted_a"]
    digest = sha256((tmp_path / "planted_a.py").read_bytes()).hexdigest()
    assert own_parts.DIGESTS == {"planted_a.py": digest}
    assert json.loads(os.environ[own_parts.VARIABLE]) == [str(tmp_path / "planted_a.py")]
    code = "from fairfl._support.own_parts import own_modules; print(own_modules('claims'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "planted_a" in done.stdout


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("planted_b.py", "1 / 0", "ZeroDivisionError: division by zero"),
        ("planted_b.py", "def", "SyntaxError"),
        ("random.py", "", "must have a name that no other module has, random is "),
        ("planted-b.py", "", "must be that of a module, got planted-b.py"),
        ("planted_c", None, "No module named 'planted_c'"),
    ],
)
def test_what_cannot_be_imported_is_told_in_a_line(tmp_path, name, text, why):
    place = name
    if text is not None:
        (tmp_path / name).write_text(text)
        place = str(tmp_path / name)
    with pytest.raises(ValueError, match=f"--import .*{name}.* cannot be run: ") as caught:
        own_parts.import_parts([place])
    assert why in str(caught.value) and names_here() == []


def test_the_users_modules_that_a_file_imports_count(tmp_path, monkeypatch):
    """In functions, relative, and of folders without __init__.py; nothing of a computed name."""
    monkeypatch.syspath_prepend(tmp_path)
    files = {
        "planted_a": "import numpy, json, fairfl\ndef f():\n    from planted_ns import planted_b",
        "planted_ns.planted_b": "from planted_p.planted_c import x\n__import__('planted_z')",
        "planted_p": "from . import planted_d",
        "planted_p.planted_c": "from .planted_d import x",
        "planted_p.planted_d": "x = 1\nimport planted_a",
        "planted_z": "",
    }
    for name, text in files.items():
        file = tmp_path / f"{name.replace('.', '/')}{'/__init__' * (name == 'planted_p')}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    own_parts.import_parts([str(tmp_path / "planted_a.py")])
    digests = {f"{k}.py": sha256(v.encode()).hexdigest() for k, v in files.items()}
    del digests["planted_z.py"]
    assert own_parts.DIGESTS == digests
    own_parts.DIGESTS.clear()
    own_parts.import_parts(["planted_p.planted_c"])  # by name
    assert own_parts.DIGESTS.keys() == digests.keys()


@pytest.mark.parametrize("value", ["5", "[1]", '"a"', "{}", "mine.py"])
def test_a_variable_that_is_no_list_is_an_error_that_names_it(monkeypatch, value):
    monkeypatch.setenv(own_parts.VARIABLE, value)
    for call in (own_parts.named_modules, lambda: own_parts.import_parts([])):
        with pytest.raises(ValueError, match="FAIRFL_IMPORT must be a JSON list of what --import"):
            call()


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing.py"):
        own_parts.import_parts([str(tmp_path / "nothing.py")])


def test_entry_points_of_installed_packages(tmp_path, monkeypatch):
    (tmp_path / "planted_d.py").write_text(FIGURE)
    folder = tmp_path / "planted-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: planted\nVersion: 1.0\n")
    points = "[fairfl.figures]\nmine = planted_d\n[fairfl.claims]\nbad = planted_none\n"
    (folder / "entry_points.txt").write_text(points)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(own_parts, "_offered", own_parts._offered.__wrapped__)
    assert metadata.version("planted") == "1.0"
    assert names_here() == ["planted_d"]
    from fairfl.figures.catalog.all_figures import registered

    assert registered()["planted"].title == "Planted"
    with pytest.raises(ValueError, match="entry point bad = planted_none of group fairfl.claims"):
        own_parts.own_modules("claims")


def test_workers_have_them_from_anywhere_and_say_where_they_fail(tmp_path):
    """From a folder that Python does not look into."""
    text = FIGURE.replace("data(): ...", "data():\n    1 / 0")
    (tmp_path / "planted_f.py").write_text(f"{text}import os\ndef process(): return os.getpid()")
    own_parts.import_parts([str(tmp_path / "planted_f.py")])
    planted = sys.modules["planted_f"]
    assert planted.process() not in list(as_done(planted.process, [(), ()], 2))
    with pytest.raises(ZeroDivisionError) as raised:
        list(as_done(planted.data, [(), ()], 2))
    assert own_parts.place_of(raised.value) == "planted_f.py, line 4"


def test_all_files_that_define_what_was_called_are_named(tmp_path):
    for name in ("planted_h", "planted_g"):
        (tmp_path / f"{name}.py").write_text(FIGURE.replace("data():", "data(points):"))
        own_parts.import_parts([str(tmp_path / f"{name}.py")])
    with pytest.raises(TypeError) as raised:
        own_parts.own_modules("figures")[0].data()
    assert own_parts.place_of(raised.value) == "planted_g.py or planted_h.py"
