"""Options that several commands have, and the folder of ``--out``."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated, Any

import typer

from fairfl._support.whole_file import of_file as of_file
from fairfl._support.whole_file import target_of


def option(help: str, *names: str, **settings: Any) -> object:
    """An option, its help first."""
    return typer.Option(*names, help=help, **settings)


def optional(kind: Any, help: str, *names: str, **settings: Any) -> object:
    """A row of a table of options: the annotation of one that need not be given."""
    return Annotated[kind if kind is bool else kind | None, option(help, *names, **settings)]


def place(metavar: str) -> dict[str, object]:
    """The rest of an option that names a file or folder to be written, which "" does not."""
    return {"metavar": metavar, "parser": _path}


def _path(text: str | Path) -> Path:
    if not str(text):
        raise typer.BadParameter("must not be empty, got ''")
    return Path(text)


def listed(package: str, kind: str) -> list[dict[str, Any]]:
    """The package's own list of what can be run, which docs/fill_papers.py wrote."""
    return json.loads((files(f"fairfl.{package}") / f"{kind}.json").read_text("utf-8"))


def completed(package: str, kind: str) -> Callable[[str], list[str]]:
    """What a shell completes a name to: those on the list, for which nothing is imported."""
    return lambda incomplete: [
        row["name"] for row in listed(package, kind) if row["name"].startswith(incomplete)
    ]


NOTION = "Rates that must be equal over groups: {notions}."
"""Help, in which ``Command`` names the notions."""
Out = Annotated[Path, option("Folder of the files.", "--out", **place("DIR"))]
Jobs = Annotated[int, option("Processes; 0: one per core, four at most.", "--jobs", "-j", min=0)]
Force = Annotated[bool, option("Draw again what is there already.", "--force")]
Listed = Annotated[bool, option("List what can be run, and run none.", "--list")]
AsJson = Annotated[bool, option("Print JSON.", "--json")]


def _imported(names: list[str] | None) -> list[str]:
    """Import what ``--import`` names, before the command looks for anything."""
    from fairfl._support.own_parts import import_parts

    import_parts(names or ())
    return names or []


Imports = Annotated[
    list[str] | None,
    option("Python file or module with parts of your own; repeat.", "--import", callback=_imported),
]


FORM = {
    "sep": optional(str, r"Character between cells, such as ';' or '\t' (a tab)."),
    "decimal": optional(str, "Sign before decimals: . or a comma.", metavar="SIGN"),
    "encoding": optional(str, "Of a text file, such as cp1252; default utf-8."),
    "pos_label": optional(
        str, "Label's value that is y = 1; needed of two texts.", "--positive", metavar="VALUE"
    ),
    "missing": optional(
        str, "Rows with a missing cell: error (default), or drop, which leaves them out."
    ),
}
"""Options that say how a table's file is written."""


def with_form(
    command: Callable[..., None], names: Sequence[str] = (), table: Mapping[str, object] = FORM
) -> Callable[..., None]:
    """The command, with options of ``table`` in place of ``form``, a dict of a user's."""
    rows = {name: (table[name], None) for name in names or table}
    return expanded(command, "form", rows, nonempty)


def expanded(
    command: Callable[..., None],
    argument: str,
    rows: Mapping[str, tuple[object, object]],
    build: Callable[..., object],
) -> Callable[..., None]:
    """The command with named options in place of an argument, which ``build`` makes of them."""
    parameters = []
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        options = rows if parameter.name == argument else {}
        parameters += [
            parameter.replace(name=name, annotation=annotation, default=default)
            for name, (annotation, default) in options.items()
        ] or [parameter]

    @wraps(command)
    def run(**options: object) -> None:
        values = {name: options.pop(name) for name in rows}
        command(**options, **{argument: build(**values)})

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


Categorical = Annotated[
    bool, option("The score's values are names: each is a level, in no order.", "--categorical")
]

Weight = Annotated[str | None, option("Column of the people's weights, positive numbers.")]
GROUP = "Column of the protected groups, a; repeat for the groups of several columns."
PEOPLE = {
    "label": optional(str, "Column of two values, y."),
    "group": optional(list[str], GROUP),
    "client": optional(str, "Column of the clients; without it all are one client."),
    "weight": Weight,
    "categorical": Categorical,
}
QUESTION = {
    "notion": optional(str, f"{NOTION} Default: demographic_parity."),
    "difference": optional(
        str, "Of groups' rates: pairwise (default), or overall (from the population's)."
    ),
}
"""Options of a table of people, and of what is asked of them."""


def nonempty(**options: Any) -> dict[str, Any]:
    """The options that a user gave: without None, False and empty lists."""
    return {
        name: value
        for name, value in options.items()
        if value is not None and value is not False and value != []
    }


def out_folder(path: Path, *files: str, option: str = "--out") -> Path:
    """The folder of ``--out``, which can be written: tried before the work, in the folder above it
    that is there. What is written makes it. ``files`` will be written there.

    Raises
    ------
    RuntimeError, OSError : it, or one of the files, cannot be made or written; what was asked for
        cannot be done, which is exit code 1.
    """
    for name in files:
        target_of(path / name)
    try:
        with TemporaryFile(dir=next(folder for folder in (path, *path.parents) if folder.exists())):
            pass
    except OSError as error:
        raise RuntimeError(
            f"{option} must be a folder that can be written, got {path}: {error.strerror}"
        ) from None
    return path


def out_file(path: Path, option: str = "--out") -> None:
    """As ``out_folder``, of the folder of one file."""
    out_folder(path.parent, path.name, option=f"the folder of {option}")
