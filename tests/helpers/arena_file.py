"""What ``studies/data/arena.json`` is made of: ``python tests/helpers/arena_file.py`` draws the
federations, solves their frontiers (some two minutes), and writes it.
"""

from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

import numpy as np

import fairfl as ff
from fairfl._support.json_file import sealed
from fairfl._support.whole_file import write_whole
from fairfl.solvers.schemes import SOLVED
from fairfl.studies.arena.published import FILE, Published
from fairfl.studies.crosscheck.population.worlds import by_name

POINTS = 31
UNFAIR = 0.1
"""A drawn federation is the first whose most accurate rule has at least this |MD|."""
Table = dict[str, Any]


def tables() -> dict[str, tuple[str, Table]]:
    """Note and table of each federation."""
    drawn = {
        f"{kind}-{clients}": ("drawn by seed", first_unfair(partial(draw, clients)))
        for kind, draw, counts in (("normal", normal, (2, 5, 10, 50)), ("table", finite, (2, 3)))
        for clients in counts
    }
    labels = of_laws([[1.0, 0.0], [0.0, -1.0]], [0.5, 0.5])
    for row, intercept in zip(labels["clients"], (1.0, -1.0), strict=True):
        row["eta"] = {"intercept": intercept}
    alike = of_laws([[1.0, -1.0]] * 3, [0.5] * 3)
    hard = of_laws([[2.0, 1.5], [-2.0, -1.5]], [0.2, 0.8])
    return {
        **{name: ("FedFB", of_world(name)) for name in ("figure-5a", "figure-5d", "figure-9d")},
        **drawn,
        "three-groups": ("three groups", of_world("random-0-3-3")),
        "agree": ("local and global fairness agree", alike),
        "hard": ("local fairness leaves a large disparity", hard),
        "labels-differ": ("P(y = 1 | x) differs by client", labels),
    }


def of_laws(mean: Any, q: Any, sd: Any = None) -> Table:
    """Clients of normal laws."""
    sds = [[1.0] * len(row) for row in mean] if sd is None else map(list, sd)
    shares = [list(v) if isinstance(v, tuple) else v for v in q]
    rows = zip(map(list, mean), sds, shares, strict=True)
    return {"clients": [{"mean": m, "sd": s, "q": share} for m, s, share in rows]}


def of_world(name: str) -> Table:
    """A world of the cross-check."""
    world = by_name(name)
    table = of_laws(world.mean, world.q, world.sd)
    for row, weight in zip(table["clients"], world.weight, strict=True):
        row["weight"] = weight
    return table


def normal(clients: int, seed: int) -> Table:
    """Normal laws."""
    return of_world(f"random-{seed}-{clients}")


def finite(clients: int, seed: int) -> Table:
    """Eight points, P(x | a, i) by Dirichlet's law, and a logistic η whose intercept is i's own."""
    rng, points = np.random.default_rng([seed, 5077]), np.linspace(-2.1, 2.1, 8).round(1).tolist()
    rows = []
    for q, intercept in rng.uniform([0.2, -1.0], [0.8, 1.0], (clients, 2)).round(2).tolist():
        masses = rng.dirichlet(np.ones(len(points)), 2).tolist()
        laws = [{"points": points, "masses": row} for row in masses]
        rows.append({"laws": laws, "q": q, "eta": {"slope": 1.0, "intercept": intercept}})
    return {"clients": rows}


def first_unfair(draw: Callable[[int], Table]) -> Table:
    """The first draw whose most accurate rule has at least the disparity ``UNFAIR``."""
    for table in map(draw, count()):
        if ff.solve(federation(table), "cfl", np.inf).disparity >= UNFAIR:
            return table
    raise AssertionError


def federation(table: Table) -> ff.Federation:
    """The federation of a table."""
    return Published("", "", table, {}).federation


def curves(table: Table) -> dict[str, dict[str, list[float]]]:
    """The frontiers."""
    solved = {scheme: ff.frontier(federation(table), scheme, POINTS) for scheme in SOLVED}
    return {
        scheme: {"disparity": F.disparity.tolist(), "accuracy": F.accuracy.tolist()}
        for scheme, F in solved.items()
    }


if __name__ == "__main__":
    entries = {
        name: {"note": note, "table": table, "frontiers": curves(table)}
        for name, (note, table) in tables().items()
    }
    write_whole(FILE, sealed(entries))
