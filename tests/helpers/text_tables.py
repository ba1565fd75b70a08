r"""Texts as tables: a row a line, cells between bars; ``\n`` breaks a line, an indent goes on."""

import re


def table(text):
    """The rows, as tuples of cells."""
    lines = re.sub(r"\n +", " ", text.strip()).replace(r"\n", "\0").splitlines()
    cells = (line.split(" | ") for line in lines)
    return [tuple(cell.strip(" ").replace("\0", "\n") for cell in row) for row in cells]
