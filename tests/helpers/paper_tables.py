"""Tables as the papers' texts print them, read cell by cell."""

import re
from collections.abc import Sequence
from fractions import Fraction

Cell = tuple[Fraction, Fraction | None]
"""A mean and its spread, where one is printed."""

NUMBER = r"\d*\.?\d+(?:e-?\d+)?"
CELL = re.compile(rf"({NUMBER})(?: +({NUMBER}))*")
MARKUP = re.compile(r"</?\w+>|±plus-or-minus\\pm|\\[a-z]+|[{}$~±*|]")
MISPRINTS = {"006.": ".006"}
"""FedFB, table 4, LFT+Ensemble on Adult: the point stands behind the digits."""


def printed(text: str, start: str, labels: Sequence[str]) -> list[list[Cell]]:
    """The cells of the lines below ``start`` that bear these labels, in this order; ``start`` must
    be there once.
    """
    assert text.count(start) == 1, f"{start!r} stands {text.count(start)} times in the text"
    rest = iter(text[text.index(start) + len(start) :].splitlines())
    found = []
    for label in labels:
        line = next(
            filter(
                None, (cells(line, label) for line in rest if squeezed(label) in squeezed(line))
            ),
            None,
        )
        assert line is not None, f"no numbers behind {label!r} below {start!r}"
        found.append(line)
    return found


def cells(line: str, label: str) -> list[Cell]:
    """The cells that hold a number, with or without a spread, behind the one with the label."""
    for wrong, right in MISPRINTS.items():
        line = line.replace(wrong, right)
    if "\t" in line:
        parts = line.split("\t")
    else:  # blanks between cells, none within
        parts = line.replace("|||", "").split(" ")
    behind = next((k + 1 for k, part in enumerate(parts) if squeezed(label) in squeezed(part)), 0)
    plain = (
        re.sub(r"(?<=\d),(?=\d{3}\b)", "", MARKUP.sub(" ", part)).strip() for part in parts[behind:]
    )
    read = (CELL.fullmatch(re.sub(r" +", " ", part)) for part in plain)
    return [(Fraction(cell[1]), Fraction(cell[2]) if cell[2] else None) for cell in read if cell]


def squeezed(text: str) -> str:
    """Letters, digits, + and = alone, no mark-up."""
    return re.sub(r"[^\w+=]", "", MARKUP.sub("", text))
