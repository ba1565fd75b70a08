"""What an instance means: the statement that it is an instance of, and what fails there."""

from __future__ import annotations

import inspect
import json
from typing import Any, NamedTuple

from fairfl.claims.certificates import Counterexample, Witness, from_json


class Legend(NamedTuple):
    """The statement in words, the instance's numbers, and what they come to."""

    statement: str
    instance: str
    found: str


def legend(certificate: dict[str, Any]) -> Legend:
    """Of a certificate of one instance, as JSON."""
    known = from_json(certificate)
    assert isinstance(known, (Counterexample, Witness))
    said = inspect.getdoc(known.statement.resolve()) or ""
    words = " ".join(said.split("\n\n")[0].replace("``", "").split()).rstrip(".")
    given = "".join(f"; {name} = {value}" for name, value in known.statement.given.items())
    case = known.case()
    broken = case.broken
    found = f"{broken} is false" if broken else "; ".join(map(str, case.relations))
    return Legend(words + given, json.dumps(known.instance, ensure_ascii=False), found)
