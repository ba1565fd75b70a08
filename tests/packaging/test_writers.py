"""One module writes files: no other opens one for writing, moves one, or has a library write
one.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from text_tables import table

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = "_support theory solvers sims studies claims figures fairfl benchmarks docs".split()
ONE = ROOT / "_support" / "whole_file.py"
EXEMPT = {
    ROOT / "sims" / "runs" / "files.py": {".write_text"},  # of the process that holds it
    ROOT / "benchmarks" / "jobs.py": {".write_text"},  # into a folder that goes with the job
    ROOT / "fairfl" / "cli" / "output.py": {"os.open"},  # of the null device
}
METHODS = set(
    """write_text write_bytes touch symlink_to hardlink_to extractall extract tofile dump imsave
    write_image export_html save_html export_text to_pickle to_feather to_excel to_hdf
    writelines write_dataset write_metadata""".split()
)
"""Methods and functions that write, whatever they belong to."""
MODULES = {"os", "shutil", "numpy", "np", "torch", "pq", "pyarrow", "pickle", "json"}
FUNCTIONS = {
    "os": {"write", "replace", "rename", "renames", "link", "symlink", "truncate", "open"},
    "shutil": {"copy", "copy2", "copyfile", "copytree", "move", "unpack_archive", "make_archive"},
}
FIRST = "savefig save savez savez_compressed savetxt to_csv to_parquet to_json to_markdown to_html"
STREAMS = {"write_table": 1, **dict.fromkeys([*FIRST.split(), "to_latex"], 0)}
"""Functions that write to their argument of this number: to a stream in memory, or one that
``write_whole`` gave.
"""
IN_MEMORY = {"BytesIO", "StringIO"}


def faults(text: str) -> Iterator[tuple[int, str]]:
    """Every call that may write a file."""
    tree = ast.parse(text)
    given = {
        a.arg for node in ast.walk(tree) if isinstance(node, ast.Lambda) for a in node.args.args
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            targets = [
                name.id for t in node.targets for name in ast.walk(t) if isinstance(name, ast.Name)
            ]
            values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            if all(isinstance(v, ast.Call) and _name(v.func)[1] in IN_MEMORY for v in values):
                given.update(targets)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (found := _writes(node, given)):
            yield node.lineno, found


def _name(function: ast.expr) -> tuple[str, str]:
    """What it belongs to, where that is a name, and its own name."""
    if isinstance(function, ast.Attribute):
        return (function.value.id if isinstance(function.value, ast.Name) else "?"), function.attr
    return "", function.id if isinstance(function, ast.Name) else "?"


def _writes(call: ast.Call, given: set[str]) -> str:
    owner, name = _name(call.func)
    if name in ("open", "fdopen", "NamedTemporaryFile", "ZipFile"):
        if owner == "os" and name == "open":
            return "" if "O_RDONLY" in ast.unparse(call) else "os.open"
        place = 0 if owner not in ("", "io", "os", "gzip", "zipfile", "tarfile", "tempfile") else 1
        mode = next((k.value for k in call.keywords if k.arg == "mode"), None)
        mode = mode or (call.args[place] if len(call.args) > place else None)
        unknown = "?" if place else "r"  # the first argument of a method need not be a mode
        text = mode.value if isinstance(mode, ast.Constant) else ("r" if mode is None else unknown)
        plain = name == "NamedTemporaryFile" or (isinstance(text, str) and set("wax+?") & set(text))
        return f"{owner}.{name}" if plain else ""
    if name in FUNCTIONS.get(owner, ()):
        return f"{owner}.{name}"
    if name in ("rename", "replace") and owner and len(call.args) == 1 and not call.keywords:
        # of a table; with two arguments it would be of a text, else of a path
        if isinstance(call.args[0], ast.Dict):
            return ""
        return f".{name}"
    if name in METHODS and owner not in MODULES - {"pickle", "json"}:
        return f".{name}"
    if name in STREAMS:
        place = STREAMS[name]
        argument = call.args[place] if len(call.args) > place else None
        argument = argument or next(
            (k.value for k in call.keywords if k.arg in ("path", "path_or_buf", "fname")), None
        )
        taken = isinstance(argument, ast.Name) and argument.id in given
        # ours, of the same name
        own = name in ("save", "to_csv", "to_json") and owner in ("", "checkpoint")
        return "" if argument is None or taken or own else f".{name}"
    return ""


def test_no_other_module_writes_files():
    files = [file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py"))]
    assert ONE in files and len(files) > 300
    found = [
        f"{file.relative_to(ROOT)}:{line}: {what}"
        for file in files
        if file != ONE
        for line, what in faults(file.read_text("utf-8"))
        if what not in EXEMPT.get(file, ())
    ]
    assert not found, "\n".join(found)


def test_the_one_is_seen_to_write():
    assert {what for _, what in faults(ONE.read_text("utf-8"))} == {".open", "os.replace"}


WRITES = r"""
open(path, 'w') | open(path, mode='ab') | path.open('x') | open(path, mode)
path.write_text('a') | path.write_bytes(b'') | table.to_csv(path, index=False)
table.to_csv(path_or_buf=path) | table.to_parquet(path) | figure.savefig(files[1])
figure.savefig(path) | np.save(path, x) | np.savez(folder / 'a', x) | torch.save(model, path)
pq.write_table(table, path) | os.replace(a, b) | (a / b).replace(other) | path.rename(other)
shutil.copy(a, b) | json.dump(data, file) | pickle.dump(data, file) | archive.extractall(folder)
os.open(path, os.O_WRONLY) | gzip.open(path, 'wb') | NamedTemporaryFile()
zipfile.ZipFile(path, 'w') | path.touch()
"""
READS = r"""
open(path) | open(path, 'rb') | path.open(encoding='utf-8') | table.to_csv(index=False)
frame.to_json() | out = io.BytesIO()\nfigure.savefig(out, format='svg')
a, b = io.BytesIO(), io.BytesIO()\nf.savefig(b)
write_whole(path, lambda file: np.savez(file, x=x)) | text.replace('a', 'b') | json.dumps(data)
os.open(folder, os.O_RDONLY) | zipfile.ZipFile(path) | gzip.open(path) | tarfile.open(path)
"""


def calls(text: str) -> list[str]:
    return [cell for row in table(text) for cell in row]


@pytest.mark.parametrize("text", calls(WRITES))
def test_what_writes_is_found(text):
    assert len(list(faults(text))) == 1, text


@pytest.mark.parametrize("text", calls(READS))
def test_what_reads_is_left_alone(text):
    assert list(faults(text)) == [], text
