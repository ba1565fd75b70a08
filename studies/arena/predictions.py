"""A file of predictions at the published points: any other system's rules, scored as the arena's
own.
"""

from collections.abc import Iterable
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from fairfl._support.checks import Array, one_of
from fairfl.sims.data.table_file import PLAIN, Table, read_table
from fairfl.studies.arena.entrants import Entrant
from fairfl.studies.arena.published import Published, federations
from fairfl.studies.arena.scores import AboveOptimum
from fairfl.studies.arena.unit import people_of, scored
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
        columns = {
            "client": people.owner,
            "group": people.group,
            "x": people.x[:, 0],
            "y": people.y,
        }
        parts.append(pd.DataFrame({"federation": name, "seed": seed, **columns}))
    return pd.concat(parts, ignore_index=True)


def predicted(path: str | Path) -> tuple[Entrant, pd.DataFrame]:
    """The entrant of a file, and its scores, a row for each federation and seed.

    Columns ``COLUMNS``, and ``client`` of rules that are told the client, whose bound is the
    client-aware optimum. A rule is constant around each point, half-way to the next.

    Errors: ValueError for a file that is not a rule of the published points: a prediction outside
    [0, 1], a point that is not published, is missing or is there twice, or a rule better than a
    certified optimum; OSError for one that cannot be read.
    """
    table = read_table(path, PLAIN, {name: [name] for name in COLUMNS}, None)
    label, (texts, codes, _) = Path(path).stem, table.columns["federation"]
    for text in texts:
        one_of(f"federation of {table.path.name}", text, tuple(federations()))
    aim = "client_aware" if "client" in table.columns else "cfl"
    keys, lines = np.stack([codes, table.numbers("seed")], axis=1), []
    for code, seed in np.unique(keys, axis=0):
        place = federations()[texts[int(code)]]
        rows = np.flatnonzero((keys == (code, seed)).all(axis=1))
        try:
            members = [Classifier.on_points(place.points, t) for t in _rule(table, place, rows)]
            rule = members[0] if aim == "cfl" else ClientClassifiers(members)
            scores = scored(place, aim, rule)
        except (AboveOptimum, ValueError) as error:
            name = f"{table.path.name} is not a rule of the published points of {place.name}"
            raise ValueError(f"{name}: {error}") from None
        names = {"federation": place.name, "entrant": label, "seed": int(seed)}
        lines.append({**names, "setting": "predictions", **scores})
    return Entrant(label, aim), pd.DataFrame(lines)


def _rule(table: Table, place: Published, rows: Array) -> Array:
    """(1 or I, A, n) the predictions of one federation and seed; each point must be there once."""
    x, group, prediction = (table.numbers(key)[rows] for key in ("x", "group", "prediction"))
    is_told, fed, points = "client" in table.columns, place.federation, place.points
    client = table.numbers("client")[rows] if is_told else np.zeros(len(rows))
    shape = (fed.n_clients if is_told else 1, fed.n_groups, len(points))
    keys = list(zip(client, group, x, strict=True))
    places = {
        (i, a, v): (i, a, k)
        for i in range(shape[0])
        for a in range(shape[1])
        for k, v in enumerate(points.tolist())
    }
    if wrong := [key for key in keys if key not in places]:
        raise ValueError(f"client, group and x must be those of a point, got {wrong[0]}")
    if len(keys) != len(places) or len(set(keys)) != len(keys):
        raise ValueError(f"each of {len(places)} points must be there once, got {len(keys)} rows")
    if not ((prediction >= 0) & (prediction <= 1)).all():
        worst = prediction[np.argmax(np.abs(prediction - 0.5))]
        raise ValueError(f"prediction must be in [0, 1], got {worst:g}")
    rule = np.empty(shape)
    rule[tuple(np.array([places[key] for key in keys]).T)] = prediction
    return rule
