r"""Texts as tables: a row a line, cells between bars; ``\n`` breaks a line, an indent goes on."""

import re


def table(text):
    """The rows, as tuples of cells."""
    lines = re.sub(r"\n +", " ", text.strip()).replace(r"\n", "\0").splitlines()
    cells = (re.split(r" \|(?= |$)", line) for line in lines)  # a cell may be empty: a | | b
    return [tuple(cell.strip(" ").replace("\0", "\n") for cell in row) for row in cells]
