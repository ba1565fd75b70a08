"""What the report's words mean: verdicts, levels, severities, whose a statement is, evidence."""

from collections.abc import Mapping
from html import escape
from pathlib import Path

from fairfl._support.json_file import read_json

WORDS: dict[str, dict[str, str]] = read_json(Path(__file__).with_suffix(".json"))
"""Words and their meanings: verdicts, levels, whose, severities, evidence."""
WHOSE, SEVERITY = WORDS["whose"], WORDS["severities"]
HEADS = {"verdicts": "Verdicts", "levels": "Levels", "severities": "Severities", "whose": "Marks"}


def vocabulary() -> dict[str, str]:
    """All of them, as HTML lists by kind."""
    return {kind: _list(words) for kind, words in WORDS.items()}


def in_short() -> str:
    """Verdicts, levels, severities and whose a statement is, as lines of Markdown."""
    lines = (
        f"- {head}: {'; '.join(f'*{word}*: {text}' for word, text in WORDS[kind].items())}."
        for kind, head in HEADS.items()
    )
    return "\n".join(lines) + "\n"


def tag(text: str, verdict: str | None = None) -> str:
    """A verdict in its colour; ``text`` may say more than that."""
    return f'<span class="tag {escape(verdict or text)}">{escape(text)}</span>'


def _list(words: Mapping[str, str]) -> str:
    is_verdict = words is WORDS["verdicts"]
    terms = ((tag(word) if is_verdict else word, text) for word, text in words.items())
    return f"<dl>{''.join(f'<dt>{term}</dt><dd>{text}</dd>' for term, text in terms)}</dl>"
