"""A federation from a TOML file.

    eta = {slope = 1.0, intercept = 0.0}    # P(y = 1 | x), logistic; optional, also in a client

    [[clients]]
    name = "north"                          # optional
    mean = [3, 5]                           # normal laws of x for a = 0, 1 (and 2, ...)
    sd = 1.0                                # a number, or one a group; default 1
    q = 0.5                                 # P(a = 1 | client), or a share for each group
    weight = 1.0                            # relative amount of data; default 1

    [[clients]]                             # any two laws of scipy.stats, by name
    laws = [{law = "gamma", a = 2.0, scale = 1.5}, {law = "norm", loc = 1, scale = 0.5}]

A law may also be a mixture, {mixture = [{law = ...}, {law = ...}], weights = [1, 2]}, or finite,
{points = [0, 1, 2], masses = [0.5, 0.25, 0.25]} (then all laws of the federation must be).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from fairfl._support.checks import shown, single
from fairfl._support.toml_file import read_toml
from fairfl.theory.populations.eta import Logistic
from fairfl.theory.populations.federation import Client, Federation
from fairfl.theory.populations.laws import Finite, Mixture, Normal


def read_federation(path: str | Path) -> Federation:
    """The federation that a TOML file describes (see above), its groups and clients named.

    Raises
    ------
    ValueError : what does not fit, by its place in the file.  OSError : the file cannot be read.
    """
    return federation_of(read_toml(path), Path(path).name)


def federation_of(table: dict[str, Any], where: str) -> Federation:
    """The federation that such a table, as TOML gives it, describes; errors name ``where``."""
    _only(table, {"clients", "eta"}, where)
    rows = table.get("clients")
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise ValueError(f"{where} must hold at least one [[clients]] table, got none")
    clients = [_client(row, f"clients[{i}]") for i, row in enumerate(rows)]
    shared = _eta(table["eta"], "eta") if "eta" in table else Logistic()
    own = [
        _eta(row["eta"], f"clients[{i}].eta") if "eta" in row else shared
        for i, row in enumerate(rows)
    ]
    federation = Federation(clients, eta=shared if all(eta == shared for eta in own) else own)
    federation.groups = tuple(f"a = {a}" for a in range(federation.n_groups))
    federation.client_names = tuple(str(row.get("name", i)) for i, row in enumerate(rows))
    return federation


def _client(row: dict[str, Any], where: str) -> Client:
    _only(row, {"name", "mean", "sd", "laws", "q", "weight", "eta"}, where)
    if ("mean" in row) == ("laws" in row):
        raise ValueError(
            f"{where} must have either mean (and sd) or laws, got "
            f"{shown(', '.join(row) or 'nothing')}"
        )
    if "laws" in row:
        if "sd" in row:
            raise ValueError(f"{where}.sd goes with mean, got it with laws")
        given = _by_group(row["laws"], f"{where}.laws")
        laws = tuple(_law(law, f"{where}.laws[{a}]") for a, law in enumerate(given))
    else:
        mean = _by_group(row["mean"], f"{where}.mean")
        sd = row.get("sd", 1.0)
        own = isinstance(sd, list)
        spread = _by_group(sd, f"{where}.sd", len(mean)) if own else [sd] * len(mean)
        laws = tuple(
            _placed(where, Normal, _number(m, f"{where}.mean"), _number(s, f"{where}.sd"))
            for m, s in zip(mean, spread, strict=True)
        )
    q = row.get("q")
    if isinstance(q, list):
        q = [_number(v, f"{where}.q") for v in q]
    elif q is not None:
        q = _number(q, f"{where}.q")
    weight = _number(row.get("weight", 1.0), f"{where}.weight")
    return Client(laws, q=q, weight=weight)


def _law(value: Any, where: str) -> Any:
    if not isinstance(value, dict) or len({"law", "mixture", "points"} & value.keys()) != 1:
        raise ValueError(
            f"{where} must be a table with one of law, mixture and points, got {shown(value)}"
        )
    if "mixture" in value:
        _only(value, {"mixture", "weights"}, where)
        parts = value["mixture"] if isinstance(value["mixture"], list) else [value["mixture"]]
        laws = [_law(part, f"{where}.mixture[{k}]") for k, part in enumerate(parts)]
        return _placed(where, Mixture, laws, value.get("weights"))
    if "points" in value:
        _only(value, {"points", "masses"}, where)
        if "masses" not in value:
            raise ValueError(f"{where} must give masses with its points, got none")
        return _placed(where, Finite, value["points"], value["masses"])
    name = value["law"]
    from scipy import stats  # half a second to load, and normal laws do without

    dist = getattr(stats, name, None) if isinstance(name, str) else None
    if not isinstance(dist, (stats.rv_continuous, stats.rv_discrete)):
        raise ValueError(
            f"{where}.law must be the name of a continuous law in scipy.stats, got {shown(name)}"
        )
    given = {key: _number(v, f"{where}.{key}") for key, v in value.items() if key != "law"}
    try:
        return dist(**given)
    except TypeError:
        takes = ", ".join([*filter(None, (dist.shapes or "").split(", ")), "loc", "scale"])
        got = ", ".join(given) or "none"
        raise ValueError(f"{where} must give {name} its parameters ({takes}), got {got}") from None


def _placed(where: str, build: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """``build(...)``; its errors begin with the argument, and get the place in the file before
    it.
    """
    try:
        return build(*given, **named)
    except ValueError as error:
        raise ValueError(f"{where}.{error}") from None


def _eta(value: Any, where: str) -> Logistic:
    if not isinstance(value, dict):
        raise ValueError(
            f"{where} must be a table such as {{slope = 1.0, intercept = 0.0}}, got {shown(value)}"
        )
    _only(value, {"slope", "intercept"}, where)
    return _placed(
        where, Logistic, **{key: _number(v, f"{where}.{key}") for key, v in value.items()}
    )


def _by_group(value: Any, where: str, groups: int = 0) -> list[Any]:
    """A list of a value for each of two groups or more, or of so many."""
    if not isinstance(value, list) or len(value) < 2 or len(value) != (groups or len(value)):
        count = groups or "two or more"
        raise ValueError(f"{where} must be a list of {count} values, by group, got {shown(value)}")
    return value


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{where} must be a number, got {shown(value)}")
    return single(where, value)


def _only(table: dict[str, Any], allowed: set[str], where: str) -> None:
    unknown = sorted(table.keys() - allowed)
    if unknown:
        raise ValueError(
            f"{where} must hold only {', '.join(sorted(allowed))}, got {shown(', '.join(unknown))}"
        )
