"""Text with mathematics between dollars as HTML with MathML."""

import re
from functools import cache
from html import escape

SIGNS = {"<=": "≤", ">=": "≥", "!=": "≠", "->": "→"}
GREEK: dict[str, str] = dict(
    zip(
        "alpha beta delta eps epsilon eta lambda mu nu phi pi psi rho sigma tau theta Psi "
        "Omega Delta".split(),
        "αβδεεηλμνφπψρστθΨΩΔ",
        strict=True,
    )
)
LONG, WIDE = 25, 90
"""Lengths in characters of LaTeX from which a formula may be wider than a phone, and than any page.
It then scrolls by itself.
"""
_WORDS = re.compile(rf"(?<![\w.-])(?<![a-z]/)({'|'.join(GREEK)})(?![A-Za-z0-9=]|/[a-z])")
_SCRIPT = re.compile(
    r"([\w\u0300-\u036f)|~>;\]])([_^])"
    r"(\((?:[^()]|\([^()]*\))*\)|\{[^{}]*\}|-?[A-Za-zα-ω0-9]{1,2}(?![^\W²³]|[.:]\w))"
)
_PIECE = re.compile(r"(?<!\\)\$(.+?)(?<!\\)\$", re.DOTALL)


class BadMathematics(ValueError):
    """LaTeX that could not be turned into MathML."""


def html(text: str) -> str:
    """Escape ``text``, turn what stands between single dollars into inline MathML, and typeset what
    is written like mathematics outside of it: ``lambda_i^(t) >= 0``.

    Raises
    ------
    BadMathematics : a macro that is not known, or LaTeX that does not parse.
    """
    out, end = [], 0
    for piece in _PIECE.finditer(text):
        latex = piece[1].strip()
        wide = " wide" if len(latex) > WIDE else " long" if len(latex) > LONG else ""
        out += [_plain(text[end : piece.start()]), f'<span class="m{wide}">{mathml(latex)}</span>']
        end = piece.end()
    return "".join(out) + _plain(text[end:])


def _plain(text: str) -> str:
    text = text.replace(r"\$", "$").replace("+-", "±")
    for plain, sign in SIGNS.items():
        text = text.replace(f" {plain} ", f" {sign} ")
    return _scripts(_WORDS.sub(lambda word: GREEK[word[1]], escape(text)))


def _scripts(text: str) -> str:
    """x_1 and x^(k + 1) with their indices below and above; a number or name of a client or round
    keeps its parentheses, x^(k).
    """

    def script(match: re.Match[str]) -> str:
        tag, inner = ("sub" if match[2] == "_" else "sup"), match[3]
        if inner[0] in "({" and (tag == "sub" or not inner[1:-1].isalnum()):
            inner = inner[1:-1]
        return f"{match[1]}<{tag}>{_scripts(inner)}</{tag}>"

    once = _SCRIPT.sub(script, text)
    return once if once == text else _scripts(once)


@cache
def mathml(latex: str) -> str:
    """One formula as MathML."""
    from latex2mathml.converter import convert

    # the converter closes them itself
    if len(re.findall(r"(?<!\\)\{", latex)) != len(re.findall(r"(?<!\\)\}", latex)):
        raise BadMathematics(
            f"LaTeX must have as many closing braces as opening ones, got {latex!r}"
        )
    try:
        markup = convert(latex)
    except Exception as error:  # whatever the converter runs into
        raise BadMathematics(f"LaTeX must parse, got {latex!r}: {error!r}") from None
    unknown = re.search(r">(\\[A-Za-z]+)<", markup)
    if unknown:
        raise BadMathematics(
            f"LaTeX must use macros that MathML has, got {unknown[1]} in {latex!r}"
        )
    return markup.replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "")
