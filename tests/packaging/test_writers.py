"""One module writes files: no other opens one for writing, moves one, or lets a library write."""

import re

import pytest
from checkout import LAYERS, ROOT
from text_tables import table

PACKAGES = (*LAYERS, "benchmarks", "docs")
ONE = "_support/whole_file.py"
EXEMPT = {
    "sims/runs/files.py": {".write_text("},  # of the process that holds it
    "sims/runs/metrics.py": {"write_table("},  # into what write_whole gave
    "fairfl/sweeps/folder.py": {"write_table("},  # likewise
    "docs/conf.py": {".write_text(", ".savefig("},  # of the site, by Sphinx
    "figures/lib/saved.py": {".savefig("},  # into memory
    "benchmarks/jobs.py": {".write_text("},  # into a folder that goes with the job
    "fairfl/cli/lib/output.py": {"os.open("},  # of the null device
    "fairfl/cli/study.py": {"open(", ".touch("},  # of the logs of one study, added to
    "fairfl/flower/study_file.py": {"open("},  # likewise
    "fairfl/flower/site.py": {".rename("},  # of a text that was written whole
    "fairfl/flower/coordinator.py": {".rename("},  # likewise
    "docs/examples/my_sites.py": {"np.savetxt("},  # of people who are drawn
    "_support/tabular.py": {".to_html("},  # into a text
    "fairfl/cli/frontier.py": {".to_json("},  # likewise
}
WRITES = re.compile(
    r"""\.write_(?:text|bytes)\(|\bwrite_table\(|\.savefig\(|\bimsave\(|\b(?:np|torch)\.save\w*\(
    |\b(?:open|ZipFile)\((?=[^()\n]*["'][rbt]*[wax+]) | \bNamedTemporaryFile\(
    |\bos\.(?:write|replace|renames?|link|symlink|truncate)\( | \bos\.open\((?!.*O_RDONLY)
    |\bshutil\.(?:copy|move|unpack|make)\w*\( | \b(?:json|pickle)\.dump\(
    |\.(?:touch|symlink_to|hardlink_to|extractall|extract|tofile|writelines|write_dataset)\(
    |\.rename\((?!\w+=) | \.replace\((?=[^,(){}]+\))
    |\.to_(?:csv|parquet|json|html|latex|markdown|pickle|feather|excel|hdf)\(
    (?!\s*\) | \s*(?!path)\w+=)
    """,
    re.VERBOSE,
)


def faults(text: str) -> list[tuple[int, str]]:
    """The lines that may write a file, and what does; ``write_whole`` gives a stream."""
    lines = enumerate(text.splitlines(), 1)
    return [
        (number, match[0])
        for number, line in lines
        if "write_whole(" not in line and (match := WRITES.search(line))
    ]


def test_no_other_module_writes_files():
    files = [file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py"))]
    names = {str(file.relative_to(ROOT)): file.read_text("utf-8") for file in files}
    assert len(files) > 300
    lines = [
        f"{name}:{line}: {call}"
        for name, text in names.items()
        for line, call in faults(text)
        if name != ONE and call not in EXEMPT.get(name, ())
    ]
    assert not lines, "\n".join(lines)
    assert {call for _, call in faults(names[ONE])} == {"open(", "os.replace("}


WRONG = r"""
open(path, 'w') | open(path, mode='ab') | path.open('x') | path.write_text('a')
path.write_bytes(b'') | table.to_csv(path, index=False) | table.to_csv(path_or_buf=path)
table.to_parquet(path) | figure.savefig(files[1]) | np.save(path, x) | np.savez(folder / 'a', x)
torch.save(model, path) | pq.write_table(table, path) | os.replace(a, b) | (a / b).replace(other)
path.rename(other) | shutil.copy(a, b) | json.dump(data, file) | pickle.dump(data, file)
archive.extractall(folder) | os.open(path, os.O_WRONLY) | gzip.open(path, 'wb') | path.touch()
NamedTemporaryFile() | zipfile.ZipFile(path, 'w')
"""


@pytest.mark.parametrize("text", [cell for row in table(WRONG) for cell in row])
def test_what_writes_is_found(text):
    assert len(faults(text)) == 1, text
