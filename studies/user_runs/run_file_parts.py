"""Data, partition, model and algorithm of a CONFIG.toml; ``run_file.py`` lists the keys."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from fairfl._support.checks import instance, shown
from fairfl.sims.data.federated import SOURCES, FederatedData, load_federated, synthetic
from fairfl.sims.data.federated.fedfb_synthetic import fedfb_synthetic
from fairfl.sims.data.federated.split_people import split_people
from fairfl.sims.data.partition import dirichlet, iid, label_shards, two_groups
from fairfl.sims.data.table_file import Form
from fairfl.sims.data.tables import DATASETS, Dataset, load, read_people
from fairfl.sims.engine import Model, Training
from fairfl.sims.engine.algorithm import ALGORITHMS, Algorithm
from fairfl.sims.engine.draws.participation import PARTICIPATIONS, Participation
from fairfl.sims.engine.schedule import SCHEDULES, Schedule
from fairfl.sims.engine.secure_sums import SUM_ONLY
from fairfl.sims.engine.settings import RATES, check_rates
from fairfl.sims.group_fairness.agnostic import AgnosticFair
from fairfl.sims.models.builders import MODELS, ONE_OUTPUT
from fairfl.studies.grid import point_label, points, words
from fairfl.studies.row_subset import some_rows
from fairfl.studies.user_runs.toml_section import Section, built, fields_of
from fairfl.theory import aggregation
from fairfl.theory.aggregation import KolmogorovMean, Objective, RankWeighted

PARTITIONS = {kind.__name__: kind for kind in (iid, dirichlet, label_shards, two_groups)}
RANKS = ("gini", "linear", "geometric", "harmonic", "cvar")
AGNOSTIC = "agnosticfair"


def sources() -> tuple[str, ...]:
    """Names allowed in [data]; the tables and fedfb-synthetic have groups of people."""
    return ("synthetic", *SOURCES, "fedfb-synthetic", "people", *DATASETS)


def names() -> dict[str, tuple[str, ...]]:
    """The names allowed in a file, by place."""
    return {
        "data.name": sources(),
        "partition.kind": tuple(PARTITIONS),
        "model.kind": tuple(MODELS),
        "algorithm.name": tuple(known_algorithms()),
        "training.participation.kind": tuple(PARTICIPATIONS),
        "training.schedule.kind": tuple(SCHEDULES),
        "training.server_schedule.kind": tuple(SCHEDULES),
    }


def data(section: Section, partition: Section | None, seed: int) -> FederatedData:
    """[data] and [partition], split; ``seed`` is the default of their seeds."""
    with section.placing():
        name = section.text("name", sources())
        people, pooled = name in (*DATASETS, "people"), section.flag("pooled", default=False)
        data_seed, shares = section.whole("seed", seed), ()
        if not people:
            shares = section.number("validation", 0.1), section.number("test", 0.1)
        if people:
            data = split_people(_people(name, section, data_seed), seed)
        elif name in DRAWN:
            data = built(section, DRAWN[name], special, seed=data_seed)
        else:
            rows = section.done(section.whole("rows", None, 1))
            data = load_federated(name)
            data = data if rows is None else some_rows(data, rows, data_seed)
        data = data if partition is None else _assign(data, partition, seed)
        data = data.assigned(np.zeros(len(data), np.int64), 1) if pooled else data
        if "test" in section.table and len(data.rows("test")):
            raise ValueError(
                f"test must not be given for {name}, which has test rows of its own, got "
                f"{section.table['test']!r}"
            )
        return data.split(*shares, seed) if shares else data


def _fedfb(clients: int = 3, kind: str = "medium", *, seed: int) -> FederatedData:
    return fedfb_synthetic(clients, kind, seed=seed)


DRAWN = {"synthetic": synthetic, "fedfb-synthetic": _fedfb}


def _people(name: str, section: Section, seed: int) -> Dataset:
    """A table of people: one of ``DATASETS``, or a file of the user's."""
    if name in DATASETS:
        groups = section.done(section.text("groups", (), "two"))
        return load(name, groups=groups, seed=seed)
    file, label, group = (section.text(key) for key in ("file", "label", "group"))
    client, positive = section.text("client", (), None), section.text("positive", (), None)
    blind, form = section.flag("blind", default=False), Form(pos_label=positive)
    section.done(None)
    return read_people(file, label=label, group=group, client=client, blind=blind, form=form)


def _assign(data: FederatedData, section: Section, seed: int) -> FederatedData:
    kind = section.text("kind", tuple(PARTITIONS))
    if data.y.dtype.kind not in "iu" and kind != "iid":
        raise ValueError(f"{section.at('kind')} must be iid for data without classes, got {kind!r}")
    partition_seed, first = (section.whole("seed", seed), len(data) if kind == "iid" else data.y)
    owner = built(section, PARTITIONS[kind], special, first, seed=partition_seed)
    return data.assigned(owner, section.whole("clients", int(owner.max()) + 1))


def model(section: Section, data: FederatedData) -> Model:
    """[model], its inputs and outputs as the data have them."""
    kind, shape = section.text("kind", tuple(MODELS)), data.x.shape[1:]
    seen = int(data.y.max()) + 1 if data.y.dtype.kind in "iu" else 1
    classes = seen if kind in ONE_OUTPUT else section.whole("classes", seen, 2)
    if classes < seen:
        raise ValueError(
            f"{section.at('classes')} must be at least {seen}, the classes of the data, got "
            f"{classes}"
        )
    build, tokens = MODELS[kind], data.x.dtype.kind in "iu" and data.x.dtype != np.uint8
    if tokens != (kind == "char_lstm") and build.__module__.startswith("fairfl."):
        allowed = "char_lstm" if tokens else "another than char_lstm"
        raise ValueError(f"{section.at('kind')} must be {allowed} for {data!r}, got {kind!r}")
    try:
        return instance(section.at("kind"), built(section, build, special, shape, classes), Model)
    except TypeError as error:  # it does not take shape and classes, or a value is no number
        message = f"{section.where} must be of values that {kind} takes: {error}"
        raise ValueError(" ".join(message.split())) from error


def known_algorithms() -> Mapping[str, Callable[..., Algorithm | AgnosticFair]]:
    """Names allowed in [[algorithm]]: the engine's, the group-fair ones, and AgnosticFair."""
    return {**ALGORITHMS.parts(), **SUM_ONLY.parts(), AGNOSTIC: AgnosticFair}


@dataclass(frozen=True)
class NamedAlgorithm:
    """One [[algorithm]]: its label in tables, and its rates where they differ from [training]."""

    label: str
    algorithm: Algorithm | AgnosticFair
    rates: dict[str, float]


def algorithms_of(listed: object) -> list[NamedAlgorithm]:
    """All [[algorithm]] tables, those with a grid as often as it has combinations."""
    if not isinstance(listed, list) or not listed:
        raise ValueError(f"algorithm must be one or more [[algorithm]] tables, got {shown(listed)}")
    named: list[NamedAlgorithm] = []
    for k, row in enumerate(listed):
        where = f"algorithm[{k}]"
        for table, chosen in points(Section(row, where).table, where):
            entry = algorithm(Section(table, where))
            if chosen and "label" in table:
                entry = replace(entry, label=f"{entry.label}, {point_label(chosen)}")
            named.append(entry)
    labels = [entry.label for entry in named]
    if len(set(labels)) < len(labels):
        raise ValueError(
            f"algorithm must be told apart by name, parameters or label, got {', '.join(labels)}"
        )
    return named


def training(section: Section) -> Training:
    """Its fields by name; a batch of 0 is all of a client's samples."""
    fields = section.done(fields_of(section, Training, special))
    if fields.get("batch_size") == 0:
        fields["batch_size"] = None
    with section.placing():
        return Training(**fields)


def algorithm(section: Section) -> NamedAlgorithm:
    """``name``, parameters by the names of its dataclass, and rates."""
    kinds = known_algorithms()
    name = section.text("name", tuple(kinds))
    label = section.text("label", default=None)
    parameters = fields_of(section, kinds[name], special)
    rates = {
        key: float(value)
        for key in (RATES if name != AGNOSTIC else RATES[:1])
        if key not in parameters and (value := section.number(key, None)) is not None
    }
    section.done(None)
    shown = ", ".join(f"{key} = {words(section.table[key])}" for key in (*parameters, *rates))
    with section.placing():
        method = kinds[name](**parameters)
        check_rates(*(rates.get(key, low) for key, low in zip(RATES, (1, 0, 0, 1), strict=True)))
    return NamedAlgorithm(label or (f"{name}, {shown}" if shown else name), method, rates)


def special(kind: type, section: Section) -> object:
    """A field that is a table: by the name of its class, or with its fields."""
    if issubclass(kind, RankWeighted):
        return _ranks(section)
    if issubclass(kind, Objective):
        return _objective(section)
    if issubclass(kind, Algorithm):
        return built(section, ALGORITHMS[section.text("name", tuple(ALGORITHMS))], special)
    for base, kinds in ((Participation, PARTICIPATIONS), (Schedule, SCHEDULES)):
        if kind is base:
            return built(section, kinds[section.text("kind", tuple(kinds))], special)
    return built(section, kind, special)


def _ranks(section: Section) -> RankWeighted:
    return built(section, getattr(RankWeighted, section.text("kind", RANKS)), special)


def _objective(section: Section) -> Objective:
    """By the name of its class, or by the one that it registers; a function of losses has none."""
    kinds = [kind for kind in aggregation.objectives().values() if kind is not KolmogorovMean]
    by_name = {kind.__name__: kind for kind in kinds} | {kind.name: kind for kind in kinds}
    kind = by_name[section.text("name", tuple(by_name))]
    return _ranks(section) if kind is RankWeighted else built(section, kind, special)
