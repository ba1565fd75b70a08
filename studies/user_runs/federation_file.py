"""A federation from a TOML file: the table ``clients``, and ``eta``; see docs/toml_files.md."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from fairfl._support.checks import shown, single
from fairfl._support.toml_file import read_toml
from fairfl.studies.user_runs.toml_section import Section, numeric
from fairfl.theory.populations.eta import Logistic
from fairfl.theory.populations.federation import Client, Federation
from fairfl.theory.populations.laws import Finite, Mixture, Normal

T = TypeVar("T")


def read_federation(path: str | Path) -> Federation:
    """The federation of a TOML file, named; ValueError by its place in the file, or OSError."""
    table = Section(read_toml(Path(path)), "")
    try:
        return table.done(federation_of(table))
    except ValueError as error:
        raise ValueError(f"{Path(path).name}: {error}") from None


def federation_of(table: Section) -> Federation:
    """The federation of the keys ``clients`` and ``eta`` of a table."""
    rows = table.raw("clients", None)
    if not isinstance(rows, list) or not rows:
        raise ValueError(f"clients must be at least one [[clients]] table, got {shown(rows)}")
    parts = [Section(row, f"clients[{i}]") for i, row in enumerate(rows)]
    shared = _eta(table, Logistic())
    etas = [_eta(part, shared) for part in parts]
    names = tuple(str(part.raw("name", i)) for i, part in enumerate(parts))
    clients = [part.done(_client(part)) for part in parts]
    federation = Federation(clients, eta=shared if all(eta == shared for eta in etas) else etas)
    federation.groups = tuple(f"a = {a}" for a in range(federation.n_groups))
    federation.client_names = names
    return federation


def _client(part: Section) -> Client:
    mean, laws = part.raw("mean", None), part.raw("laws", None)
    sd, share = part.raw("sd", None), part.raw("q", None)
    if (mean is None) == (laws is None):
        names = shown(", ".join(part.table) or "nothing")
        raise ValueError(f"{part.where} must have either mean (and sd) or laws, got {names}")
    if laws is not None:
        if sd is not None:
            raise ValueError(f"{part.at('sd')} goes with mean, got it with laws")
        groups = enumerate(_by_group(part.at("laws"), laws))
        client_laws = tuple(_law(f"{part.at('laws')}[{a}]", law) for a, law in groups)
    else:
        means = _by_group(part.at("mean"), mean)
        sd = 1.0 if sd is None else sd
        has_list = isinstance(sd, list)
        spread = _by_group(part.at("sd"), sd, len(means)) if has_list else [sd] * len(means)
        client_laws = tuple(
            _placed(part.where, Normal, _number(part.at("mean"), m), _number(part.at("sd"), s))
            for m, s in zip(means, spread, strict=True)
        )
    if isinstance(share, list):
        share = [_number(part.at("q"), v) for v in share]
    elif share is not None:
        share = _number(part.at("q"), share)
    return Client(client_laws, q=share, weight=_number(part.at("weight"), part.raw("weight", 1.0)))


def _law(where: str, value: object) -> object:
    """A Mixture, a Finite or a frozen scipy law, from the table at ``where`` in the file."""
    if not isinstance(value, dict) or len({"law", "mixture", "points"} & value.keys()) != 1:
        raise ValueError(
            f"{where} must be a table with one of law, mixture and points, got {shown(value)}"
        )
    table = Section(value, where)
    if "mixture" in value:
        parts = table.raw("mixture")
        parts = parts if isinstance(parts, list) else [parts]
        laws = [_law(f"{where}.mixture[{k}]", part) for k, part in enumerate(parts)]
        return table.done(_placed(where, Mixture, laws, table.raw("weights", None)))
    if "points" in value:
        return table.done(_placed(where, Finite, table.raw("points"), table.raw("masses")))
    name = value["law"]
    from scipy import stats  # half a second to load, and normal laws do without

    family = getattr(stats, name, None) if isinstance(name, str) else None
    if not isinstance(family, (stats.rv_continuous, stats.rv_discrete)):
        raise ValueError(
            f"{where}.law must be the name of a continuous law in scipy.stats, got {shown(name)}"
        )
    parameters = {key: _number(f"{where}.{key}", v) for key, v in value.items() if key != "law"}
    try:
        return family(**parameters)
    except TypeError:
        allowed = ", ".join([*filter(None, (family.shapes or "").split(", ")), "loc", "scale"])
        raise ValueError(
            f"{where} must give {name} its parameters ({allowed}), got "
            f"{', '.join(parameters) or 'none'}"
        ) from None


def _eta(table: Section, default: Logistic) -> Logistic:
    if table.raw("eta", None) is None:
        return default
    section = table.section("eta")
    slope, intercept = (
        _number(section.at(k), section.raw(k, v)) for k, v in (("slope", 1.0), ("intercept", 0.0))
    )
    return section.done(_placed(section.where, Logistic, slope, intercept))


def _by_group(where: str, value: object, groups: int = 0) -> list[object]:
    """A list of a value for each of two groups or more, or of so many."""
    if not isinstance(value, list) or len(value) < 2 or len(value) != (groups or len(value)):
        count = groups or "two or more"
        raise ValueError(f"{where} must be a list of {count} values, by group, got {shown(value)}")
    return value


def _number(where: str, value: object) -> float:
    return single(where, numeric(where, value))


def _placed(where: str, build: Callable[..., T], *arguments: object) -> T:
    """``build(...)``; its errors begin with an argument, and the place in the file comes before."""
    try:
        return build(*arguments)
    except ValueError as error:
        raise ValueError(f"{where}.{error}") from None
