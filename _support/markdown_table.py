"""Tables in Markdown."""

from collections.abc import Iterable, Sequence


def markdown_table(rows: Iterable[Sequence[str]]) -> str:
    """Rows of cells as a table, whose head is the first row; no line end."""
    head, *body = ([cell.replace("|", r"\|") for cell in row] for row in rows)
    lines = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
