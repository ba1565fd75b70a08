"""A federation from a table of people: read, two groups chosen, scores merged into levels that many people share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fairfl.sims.data.csv import Samples, read_samples
from fairfl.theory.checks import Array, whole
from fairfl.theory.federation import Federation

LEVELS = 100
"""The most levels that scores are merged into, unless more are asked for."""
PEOPLE = 10
"""People a level, client and group, on average, below which fewer levels are taken."""


@dataclass(frozen=True)
class People:
    """A federation of people, and what to call its parts.

    Attributes
    ----------
    federation : see :meth:`Federation.from_samples`.
    groups, clients : names, in the federation's order.
    notes : what was done to the table, in words.
    """

    federation: Federation
    groups: tuple[str, str]
    clients: tuple[str, ...]
    notes: tuple[str, ...]


def read_people(
    path: str | Path,
    *,
    score: str | None,
    label: str,
    group: str,
    client: str | None,
    features: Sequence[str] | None = None,
    group_pair: str | None = None,
    levels: int | None = None,
    calibrate: str = "shared",
) -> People:
    """Read a CSV or Parquet file as a federation of two groups.

    Parameters
    ----------
    path, score, label, group, client, features : see :func:`fairfl.sims.data.csv.read_samples`.
    group_pair : "A,B", the two groups to keep where the column has more.
    levels : merge the scores into so many levels of (nearly) equal numbers of people, 0: keep every score. By default
        up to 100, fewer where people are few.
    calibrate : see :meth:`Federation.from_samples`.

    Raises
    ------
    ValueError : what does not fit.  OSError : the file cannot be read.  RuntimeError : no score could be fitted.

    Notes
    -----
    Were every person a level, x would name the person and with that the client: a rule that is never told the client
    could tell them apart all the same, and η would be fitted to single labels.
    """
    if levels is not None:
        whole("levels", levels, 0)
    samples = read_samples(path, score, label=label, group=group, client=client, features=features)
    kept, notes = _two_groups(samples, group, group_pair)
    x, told = _merged(samples.score[kept], _levels(samples, kept, levels))
    federation = Federation.from_samples(
        x, samples.label[kept], samples.group[kept], samples.client[kept], calibrate=calibrate
    )
    first, second = (samples.group_names[code] for code in federation.groups)
    clients = tuple(samples.client_names[code] for code in federation.client_names)
    lines = [f"{int(kept.sum()):,} people; score: {samples.score_source}; {told}.", *notes]
    lines.append(f"y = 1 stands for {label} = {samples.label_names[1]}; accuracies count the fitted P(y = 1 | x).")
    lonely = [name for name, ok in zip(clients, federation.defined, strict=True) if not ok]
    if lonely:
        lines.append(f"Without people of both groups, and so bound by no local constraint: {', '.join(lonely)}.")
    return People(federation, (first, second), clients, tuple(lines))


def _two_groups(samples: Samples, column: str, pair: str | None) -> tuple[np.ndarray, list[str]]:
    """Which rows to keep, and what to say about the others."""
    names = samples.group_names
    if pair is None:
        if len(names) > 2:
            raise ValueError(
                f"two groups are needed, column {column!r} has {len(names)}: {_some(names)}; "
                "choose two with --group-pair A,B"
            )
        return np.ones(len(samples), bool), []
    cuts = [k for k, sign in enumerate(pair) if sign == ","]
    splits = [(pair[:k].strip(), pair[k + 1 :].strip()) for k in cuts]  # a name may hold commas
    fits = [split for split in splits if split[0] in names and split[1] in names and split[0] != split[1]]
    if not fits:
        raise ValueError(f"--group-pair must be two of {_some(names)} with a comma between, got {pair!r}")
    codes = [names.index(name) for name in fits[0]]
    kept = np.isin(samples.group, codes)
    out = len(samples) - int(kept.sum())
    return kept, [f"{out:,} people of other groups are left out."] if out else []


def _levels(samples: Samples, kept: np.ndarray, asked: int | None) -> int:
    """How many levels; 0 for as many as there are scores."""
    if asked is not None:
        return asked
    cells = 2 * len(np.unique(samples.client[kept]))
    return int(np.clip(kept.sum() // (PEOPLE * cells), 2, LEVELS))


def _merged(score: Array, levels: int) -> tuple[Array, str]:
    """Scores with those of one level replaced by their mean, and what to say about it."""
    distinct = np.unique(score).size
    if levels == 0 or distinct <= levels:
        return score, f"{distinct} distinct scores, none merged"
    edges = np.unique(np.quantile(score, np.linspace(0, 1, levels + 1)[1:-1]))
    code = np.searchsorted(edges, score, side="right")
    used, code = np.unique(code, return_inverse=True)
    mean = np.bincount(code, weights=score) / np.bincount(code)
    if (np.diff(mean) <= 0).any():  # scores so close that their means round together
        mean = np.arange(used.size, dtype=np.float64)
    return mean[code], f"{distinct:,} distinct scores merged into {used.size} levels (--levels 0 keeps all)"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:12]) + (f", ... ({len(names)} in all)" if len(names) > 12 else "")
