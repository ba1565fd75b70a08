"""Predictions at the published points: any other system's rules, scored as the arena's own."""

from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from fairfl._support.checks import Array, listed, one_of
from fairfl.sims.data.table_file import PLAIN, read_table
from fairfl.studies.arena.entrants import Entrant
from fairfl.studies.arena.published import Published, federations
from fairfl.studies.arena.scores import AboveOptimum
from fairfl.studies.arena.unit import people_of, scored
from fairfl.studies.frames import among, floats, groups, loose
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.client_classifiers import ClientClassifiers

COLUMNS = ("federation", "seed", "group", "x", "prediction")


def published_points() -> pd.DataFrame:
    """Columns federation, group, x: where a rule must say P(ŷ = 1)."""
    parts = []
    for name, place in federations().items():
        group, x = np.meshgrid(np.arange(place.federation.n_groups), place.points, indexing="ij")
        parts.append(pd.DataFrame({"federation": name, "group": group.ravel(), "x": x.ravel()}))
    return pd.concat(parts, ignore_index=True)


def published_samples(seeds: Iterable[int]) -> pd.DataFrame:
    """Columns federation, seed, client, group, x, y: what to train on."""
    parts = []
    for (name, place), seed in product(federations().items(), seeds):
        people = people_of(place, seed)
        names = {"federation": name, "seed": seed, "client": people.owner}
        values = {"group": people.group, "x": people.x[:, 0], "y": people.y}
        parts.append(pd.DataFrame({**names, **values}))
    return pd.concat(parts, ignore_index=True)


def predicted(
    path: str | Path, seeds: Sequence[int], federation_names: Sequence[str]
) -> tuple[Entrant, pd.DataFrame]:
    """The entrant of a file, and its scores, a row for each federation that is named and seed.
    Columns ``COLUMNS``, and ``client`` of rules that are told the client, whose bound is the
    client-aware optimum. A rule is constant around each point, half-way to the next.

    Errors: ValueError for a file that is not a rule of the published points, or one better than a
    certified optimum, or without a federation that is asked; OSError for one that cannot be read.
    """
    table = read_table(path, PLAIN, {name: [name] for name in COLUMNS}, None)
    label, (texts, codes, _) = Path(path).stem, table.columns["federation"]
    for text in texts:
        one_of(f"federation of {table.path.name}", text, tuple(federations()))
    if not set(texts) & set(federation_names):
        raise ValueError(
            f"federation of {table.path.name} must be of this run, {listed(federation_names)}, got "
            f"{listed(texts)}"
        )
    for seed in np.setdiff1d(table.numbers("seed"), seeds):
        raise ValueError(f"seed of {table.path.name} must be below {len(seeds)}, got {seed:g}")
    is_told = "client" in table.columns
    columns = {key: table.numbers(key) for key in (*COLUMNS[1:], *["client"] * is_told)}
    frame = pd.DataFrame({"federation": np.array(texts)[codes], "client": 0.0, **columns})
    frame = among(frame, "federation", federation_names)
    aim, lines = "client_aware" if is_told else "cfl", []
    for (name, seed), part in groups(frame, ["federation", "seed"]):
        place = federations()[name]
        try:
            members = [Classifier.on_points(place.points, t) for t in _rule(part, place, is_told)]
            scores = scored(place, aim, ClientClassifiers(members) if is_told else members[0])
        except (AboveOptimum, ValueError) as error:
            where = f"{table.path.name} is not a rule of the published points of {name}"
            raise ValueError(f"{where}: {error}") from None
        names = {"federation": name, "entrant": label, "seed": int(seed)}
        lines.append({**names, "setting": "predictions", **scores})
    return Entrant(label, aim), pd.DataFrame(lines)


def _rule(part: pd.DataFrame, place: Published, is_told: bool) -> Array:
    """(1 or I, A, n) the predictions of one federation and seed; each point must be there once."""
    fed, prediction = place.federation, floats(part, "prediction")
    axes = range(fed.n_clients if is_told else 1), range(fed.n_groups), place.points
    rows = pd.MultiIndex.from_frame(loose(part)[["client", "group", "x"]])
    points = pd.MultiIndex.from_product(axes, names=rows.names)
    if len(elsewhere := rows.difference(points)):
        raise ValueError(f"client, group and x must be those of a point, got {elsewhere[0]}")
    if len(rows) != len(points) or rows.has_duplicates:
        raise ValueError(f"each of {len(points)} points must be there once, got {len(rows)} rows")
    if not ((prediction >= 0) & (prediction <= 1)).all():
        worst = prediction[np.argmax(np.abs(prediction - 0.5))]
        raise ValueError(f"prediction must be in [0, 1], got {worst:g}")
    return prediction[rows.get_indexer(points)].reshape([len(axis) for axis in axes])
