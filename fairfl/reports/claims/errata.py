"""The errata of a paper, each once, though several statements may have it."""

from collections.abc import Iterable

from fairfl.claims.claim import Claim
from fairfl.claims.words import SEVERITIES, WHOSE


def errata(claims: Iterable[Claim]) -> dict[str, list[list[Claim]]]:
    """By whose statements they are, the printed ones first, which alone are the paper's errors: of
    each erratum the claims that have it, the most severe first, then in the order of the paper.
    """

    def rank(claim: Claim) -> tuple[int, int, int]:
        return WHOSE.index(claim.whose), SEVERITIES.index(str(claim.severity)), claim.line

    by_author: dict[str, dict[str, list[Claim]]] = {whose: {} for whose in WHOSE}
    for claim in sorted((c for c in claims if c.severity), key=rank):
        existing = next((groups for groups in by_author.values() if claim.erratum in groups), None)
        (existing or by_author[claim.whose]).setdefault(claim.erratum, []).append(claim)
    return {whose: list(groups.values()) for whose, groups in by_author.items() if groups}
