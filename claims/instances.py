"""Instances that hold the statements of claims to numbers, and their hypotheses to edges.

``instances.json`` has a row for each statement, named as by ``str(Call)``:

- ``values``: pairs of an instance and the numbers of all its relations, and what it breaks; of
  algebra, the numbers of all left sides. A statement that is weaker, or another one, has others.
- ``outside``: for each premise, instances next to its edge that break it and no other premise. A
  hypothesis that is dropped or wider does not break there.
- ``idle``: why the statement fails at none of a premise's instances outside; else it fails at one.

A claim's row, named by its id, has the digest of its ``text``, and in ``assumed`` where each
hypothesis stands that is no premise of a case.
"""

import json
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

from fairfl.claims import edges
from fairfl.claims.call import ROOT
from fairfl.claims.certificates import Counterexample, PropertyRun, SymbolicZero, Witness
from fairfl.claims.certificates.base import Rejected, require
from fairfl.claims.certificates.slips import copied
from fairfl.claims.evidence import Evidence
from fairfl.claims.exact import decode

FILE = Path(__file__).with_suffix(".json")
Row = dict[str, Any]


@cache
def rows() -> dict[str, Row]:
    """The rows by statement."""
    return json.loads(FILE.read_text("utf-8"))


def rows_of(function: str) -> str:
    """The rows of a function, "MODULE:NAME", as text."""
    return _texts().get(function.removeprefix(ROOT), "")


@cache
def _texts() -> dict[str, str]:
    texts = defaultdict[str, str](str)
    for call, row in (*rows().items(), *edges.rows().items()):
        texts[call.partition("(")[0]] += f"{call}\0{json.dumps(row)}\0"
    return texts


def unheld(evidence: Evidence) -> str:
    """Why a statement is not held to its row, or no slip breaks an identity; "" if all is well."""
    try:
        for part in (inner for outer in evidence.parts for inner in outer.every()):
            if isinstance(part, SymbolicZero):
                call = part.residuals
                unbroken = sorted(part.unbroken())
                require(not unbroken, f"{call}: no slip breaks {', '.join(unbroken)}")
                hold = _algebra
            elif isinstance(part, (Counterexample, Witness, PropertyRun)):
                call, hold = part.statement, _statement
            else:
                continue
            sides = copied(call.resolve())
            require(not sides, f"{call}: one side stands in the other: {'; '.join(sides)}")
            if call.function.startswith(ROOT):
                hold(part, rows().get(str(call), {}))  # pyright: ignore[reportArgumentType]
    except Rejected as error:
        return f"rejected: {error}"
    return ""


def _algebra(part: SymbolicZero, row: Row) -> None:
    """All left sides are quoted, beside the algebra or in its row."""
    text, values = part.numbers or row.get("values", ""), part.values()
    require(values == text, f"{part.residuals} has the numbers {values}, not {text or 'quoted'}")
    digest = part.elsewhere()
    require(digest == row.get("points"), f"the row of {part.residuals} must have points {digest}")


def _statement(part: Counterexample | Witness | PropertyRun, row: Row) -> None:
    """The numbers and edges of the row are the statement's, and it has what the part needs."""
    call, values, outside = part.statement, row.get("values", []), row.get("outside", {})
    for instance, text in values:
        value = call(decode(instance)).numbers
        require(value == text, f"{call} has the numbers {value}, not {text}, at {instance}")
    start = part.worst["instance"] if isinstance(part, PropertyRun) else part.instance
    edges.hold(call, start, part.premises())
    if isinstance(part, PropertyRun):
        require(bool(values), f"instances.json must have values of {call}, as at {part.worst}")
    else:
        is_quoted = part.numbers == part.case.numbers or part.instance in [v[0] for v in values]
        require(is_quoted, f"{call} must quote {part.case.numbers}")
    for name in () if isinstance(part, Counterexample) else part.premises():
        require(name in outside or name in row.get("idle", {}), f"{call}: no edge of {name!r}")
    for name, instances in outside.items():
        cases = [call(decode(instance)) for instance in instances]
        broken = [{n for n, holds in case.premises.items() if not holds} for case in cases]
        require(all(b == {name} for b in broken), f"{call}: {broken} breaks outside of {name!r}")
        if isinstance(part, PropertyRun) and name not in row.get("idle", {}):
            is_needed = any(not case.margin >= -part.tolerance for case in cases)
            require(is_needed, f"{call}: the statement needs no {name!r}")
