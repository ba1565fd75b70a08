"""Text with mathematics between dollars as HTML with MathML."""

from __future__ import annotations

import re
from functools import cache
from html import escape

_PIECE = re.compile(r"(?<!\\)\$(.+?)(?<!\\)\$", re.DOTALL)


class BadMathematics(ValueError):
    """LaTeX that could not be turned into MathML."""


def html(text: str) -> str:
    """Escape ``text``, and turn what stands between single dollars into inline MathML.

    Raises
    ------
    BadMathematics : a macro that is not known, or LaTeX that does not parse.
    """
    out, end = [], 0
    for piece in _PIECE.finditer(text):
        out += [_plain(text[end : piece.start()]), mathml(piece[1].strip())]
        end = piece.end()
    return "".join(out) + _plain(text[end:])


def _plain(text: str) -> str:
    return escape(text.replace(r"\$", "$"))


@cache
def mathml(latex: str) -> str:
    """One formula as MathML."""
    from latex2mathml.converter import convert
    from latex2mathml.exceptions import NoAvailableTokensError

    # the converter closes them itself
    if len(re.findall(r"(?<!\\)\{", latex)) != len(re.findall(r"(?<!\\)\}", latex)):
        raise BadMathematics(
            f"LaTeX must have as many closing braces as opening ones, got {latex!r}"
        )
    try:
        found = convert(latex)
    except (
        NoAvailableTokensError,
        ValueError,
        IndexError,
        KeyError,
        TypeError,
        AttributeError,
    ) as error:
        raise BadMathematics(f"LaTeX must parse, got {latex!r}: {error!r}") from None
    unknown = re.search(r">(\\[A-Za-z]+)<", found)
    if unknown:
        raise BadMathematics(
            f"LaTeX must use macros that MathML has, got {unknown[1]} in {latex!r}"
        )
    return found.replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "")
