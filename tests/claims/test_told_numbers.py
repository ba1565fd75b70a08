"""The numbers that a counterexample's or a witness's line tells are the certificate's own."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fairfl.claims.certificates import Counterexample, Witness
from fairfl.claims.exact import decode
from fairfl.claims.runner import recorded

IN_PASSING = Path(__file__).with_name("told_in_passing.txt")
"""Numbers on the way to the relation, or of the paper's tables: "id number" a line."""
TOLD = re.compile(r"(?<![\w.^)])(\d+\.\d+|\d+/[1-9]\d*)(?![\w^])")
"""Decimals and fractions; whole numbers count things, name equations and exponents too."""
DIGITS = re.compile(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?(?:/[1-9]\d*)?")


def number(text: str) -> float:
    top, _, bottom = text.partition("/")
    return float(top) / float(bottom or 1)


def numbers(data: Any) -> Iterator[float]:
    """The numbers in an instance; those in a string too."""
    if isinstance(data, dict):
        data = list(data.values())
    if isinstance(data, (list, tuple)):
        for item in data:
            yield from numbers(item)
    elif isinstance(data, str):
        yield from map(number, DIGITS.findall(data))
    elif data is not None:
        yield float(data)


def untold(certificate: Counterexample | Witness) -> set[str]:
    """The numbers of its line that are neither in the instance or its call, nor a side of a
    relation or the sides' difference, to the digits given.
    """
    texts = TOLD.findall(certificate.shows)
    if not texts:
        return set()
    values = [*numbers(decode(certificate.instance)), *numbers(certificate.statement.to_json())]
    for relation in certificate.case.relations:
        values += [float(relation.left), float(relation.right)]
        values.append(values[-1] - values[-2])

    def met(text: str) -> bool:
        unit = 0.5 * 10.0 ** -len(text.partition(".")[2]) if "." in text else 0.0
        value = number(text)
        return any(abs(abs(v) - value) <= unit + 1e-12 * max(1, value) for v in values)

    return {text for text in texts if not met(text)}


def test_every_number_is_told_by_the_certificate_or_listed() -> None:
    current = {
        c.claim.id: c.outcome.evidence.parts for c in recorded() if c.outcome and c.outcome.evidence
    }
    unexplained = set()
    for id, parts in current.items():
        for part in parts:
            if isinstance(part, (Counterexample, Witness)):
                unexplained |= {f"{id} {text}" for text in untold(part)}
    listed = IN_PASSING.read_text("utf-8").splitlines()
    assert unexplained == {line for line in listed if line.split()[0] in current}
