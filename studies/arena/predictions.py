"""A file of predictions at the published points: any other system's rules, scored as the arena's
own.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from fairfl._support.checks import Array, one_of
from fairfl.sims.data.table_file import PLAIN, Table, read_table
from fairfl.studies.arena.entrants import Entrant
from fairfl.studies.arena.published import Published, federations
from fairfl.studies.arena.scores import AboveOptimum
from fairfl.studies.arena.unit import scored
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.client_classifiers import ClientClassifiers

COLUMNS = ("federation", "seed", "group", "x", "prediction")
NO_RULE = "is not a rule of the published points"


def published_points(names: list[str]) -> pd.DataFrame:
    """Columns federation, group, x: where a rule must say P(ŷ = 1)."""
    parts = []
    for place in map(federations().__getitem__, names):
        groups, points = place.federation.n_groups, place.points
        columns = {"group": np.repeat(np.arange(groups), len(points)), "x": np.tile(points, groups)}
        parts.append(pd.DataFrame({"federation": place.name, **columns}))
    return pd.concat(parts, ignore_index=True)


def predicted(path: str | Path) -> tuple[Entrant, pd.DataFrame]:
    """The entrant of a file, and its scores, a row for each federation and seed.

    Columns ``COLUMNS``, and ``client`` of rules that are told the client, which are compared with
    the client-aware optimum. A rule is constant from half-way to the last point to half-way to the
    next.

    Errors: ValueError for a file that is no rule: a prediction outside [0, 1], a point that is not
    published, is missing, or is there twice; OSError for one that cannot be read.
    """
    table = read_table(path, PLAIN, {name: [name] for name in COLUMNS}, None)
    aim = "client_aware" if "client" in table.columns else "cfl"
    name, numbers = table.path.name, {key: table.numbers(key) for key in COLUMNS[1:]}
    texts, codes, _ = table.columns["federation"]
    for text in texts:
        one_of(f"federation of {name}", text, tuple(federations()))
    outside = np.flatnonzero(~((numbers["prediction"] >= 0) & (numbers["prediction"] <= 1)))
    if outside.size:
        value, row = numbers["prediction"][outside[0]], table.rows[outside[0]]
        raise ValueError(f"{name} {NO_RULE}: prediction must be in [0, 1], got {value:g} in {row=}")
    lines = []
    for code, seed in np.unique(np.stack([codes, numbers["seed"]]), axis=1).T:
        rows = np.flatnonzero((codes == code) & (numbers["seed"] == seed))
        place = federations()[texts[int(code)]]
        members = [Classifier.on_points(place.points, t) for t in _tables(table, place, rows)]
        rule = members[0] if aim == "cfl" else ClientClassifiers(members)
        try:
            scores = scored(place, aim, rule)
        except AboveOptimum as error:
            raise ValueError(f"{name} {NO_RULE}: {error}") from None
        line = {"federation": place.name, "entrant": Path(name).stem, "seed": int(seed)}
        lines.append(line | {"setting": "predictions", **scores})
    return Entrant(Path(name).stem, _untrained, aim=aim), pd.DataFrame(lines)


def _untrained() -> None:
    raise TypeError("an entrant of predictions is not trained here")


def _tables(table: Table, place: Published, rows: Array) -> Array:
    """(1 or I, A, n) the predictions of one federation and seed, each point's once."""
    fed, points, is_told = place.federation, place.points, "client" in table.columns
    x, group, value = (table.numbers(key)[rows] for key in ("x", "group", "prediction"))
    client = table.numbers("client")[rows] if is_told else np.zeros(len(rows))
    shape = (fed.n_clients if is_told else 1, fed.n_groups, len(points))
    near = np.clip(np.searchsorted(points, x), 0, len(points) - 1)
    names = np.stack([client, group]), np.array(shape[:2])[:, None]
    is_point = (points[near] == x) & np.isin(names[0], np.arange(max(shape))).all(axis=0)
    is_point &= (names[0] < names[1]).all(axis=0)
    if not is_point.all():
        wrong = table.rows[rows[np.argmin(is_point)]]
        raise ValueError(
            f"{table.path.name} {NO_RULE}: row {wrong} is at no point of {place.name}, see "
            "fairfl arena --publish"
        )
    place_of = np.ravel_multi_index((client.astype(int), group.astype(int), near), shape)
    counts = np.bincount(place_of, minlength=int(np.prod(shape)))
    if (counts != 1).any():
        wrong = np.flatnonzero(counts != 1)[0]
        i, a, k = np.unravel_index(wrong, shape)
        where = f"group {a}, x = {points[k]:g}" + f", client {i}" * is_told
        raise ValueError(
            f"{table.path.name} {NO_RULE}: each must be there once for each seed, got "
            f"{counts[wrong]} rows of {place.name} at {where}"
        )
    predictions = np.empty(len(counts))
    predictions[place_of] = value
    return predictions.reshape(shape)
