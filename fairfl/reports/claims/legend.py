"""What an instance means: its statement, its numbers by name, and what fails there."""

import inspect
import re
from itertools import groupby
from typing import Any, NamedTuple

from fairfl.claims.call import Call
from fairfl.claims.certificates import ClaimCertificate, Counterexample, Witness
from fairfl.claims.registry import papers

RUN = 4
"""Shortest run of equal numbers that is written as "x (n times)"."""


class Legend(NamedTuple):
    """The statement in words, the instance's numbers as (name, value, meaning), and what they come
    to. A meaning is empty where the words have the name.
    """

    statement: str
    numbers: tuple[tuple[str, str, str], ...]
    finding: str


def legend(certificate: Counterexample | Witness) -> Legend:
    """Of a certificate of one instance."""
    statement = words(certificate.statement)
    names = papers()[certificate.statement.function.split(".")[2]].names
    numbers = tuple(
        (name, value(data), "" if _named(name, statement) else names.get(name, ""))
        for name, data in certificate.instance.items()
    )
    case = certificate.case
    broken = case.broken
    finding = f"{broken} is false" if broken else "; ".join(map(str, case.relations))
    return Legend(statement, numbers, finding.replace(" == ", " = "))


def subject(certificate: ClaimCertificate) -> str:
    """What a certificate is of, in words, empty where it names no function."""
    data = vars(certificate).values()
    return next((words(call) for call in data if isinstance(call, Call)), "")


def words(call: Call) -> str:
    """The first sentence or two of a function, and the arguments that are given."""
    docstring = inspect.getdoc(call.resolve()) or ""
    plain = " ".join(docstring.split("\n\n")[0].replace("``", "").split()).rstrip(".")
    return plain + "".join(f"; {name} = {value(argument)}" for name, argument in call.given.items())


def value(data: Any) -> str:
    """An instance's data as people write it: 1/2, [1, 0 (9 times)], {c: 2}."""
    if isinstance(data, list):
        runs = [(item, len(list(group))) for item, group in groupby(map(value, data))]
        parts = (
            [f"{item} ({n} times)"] if n >= RUN else [item] * n for item, n in runs
        )  # equal neighbours
        return f"[{', '.join(part for run in parts for part in run)}]"
    if isinstance(data, dict):
        return f"{{{', '.join(f'{key}: {value(item)}' for key, item in data.items())}}}"
    return re.sub(r"\A(-?\d+)/1\Z", r"\1", str(data))


def _named(name: str, text: str) -> bool:
    return re.search(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", text) is not None
