"""Ids of claims: "paper/name", and "paper/name/repaired" of the form that holds."""

from collections.abc import Iterable

REPAIRED = "/repaired"


def paper_of(id: str) -> str:
    """The key of the paper of a claim."""
    return id.partition("/")[0]


def matching(ids: Iterable[str] | None, all_ids: Iterable[str]) -> list[str]:
    """Those of ``all_ids`` that equal one of ``ids`` or lie below it ("pffl", "pffl/eq-7"), each
    once; all where ``ids`` is empty. ValueError: one that no claim has; the message lists the ids
    of its paper, or the papers.
    """
    all_ids = list(all_ids)
    chosen: dict[str, None] = {}
    for prefix in ids or ():
        stem = prefix.rstrip("/")
        matches = [id for id in all_ids if id == stem or id.startswith(stem + "/")]
        if not matches:
            papers = {paper_of(id): None for id in all_ids}
            candidates = [id for id in all_ids if paper_of(id) == paper_of(prefix)] or papers
            raise ValueError(f"claim must be one of {', '.join(candidates)}, got {prefix!r}")
        chosen.update(dict.fromkeys(matches))
    return list(chosen) if ids else all_ids
