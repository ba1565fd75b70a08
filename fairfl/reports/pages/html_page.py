"""Pages that load nothing: a template, with the style sheet and the script that stand beside it."""

import json
from collections.abc import Mapping
from pathlib import Path
from string import Template

from fairfl._support.version import __version__


def html_page(template: Path, **parts: str) -> str:
    """The page of a template NAME.html: NAME.css, NAME.js and ``parts`` stand where it names them
    ($style, $script, ...), and $version is fairfl's.
    """
    files = {"style": template.with_suffix(".css"), "script": template.with_suffix(".js")}
    beside = {name: file.read_text("utf-8") for name, file in files.items() if file.exists()}
    return Template(template.read_text("utf-8")).substitute(beside, version=__version__, **parts)


def as_json(data: Mapping[str, object]) -> str:
    """Data as they can stand in a page, for its script."""
    return json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
