"""Data, partition, model and algorithm of a CONFIG.toml; ``config.py`` lists what may be
written.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from fairfl._support.checks import shown
from fairfl.sims.algorithms import Algorithm, algorithms
from fairfl.sims.data.federated import SOURCES, FederatedData, load_federated, synthetic
from fairfl.sims.data.partition import dirichlet, iid, label_shards, two_groups
from fairfl.sims.engine import MLP, LeastSquares, LinearSVM, Logistic, Model, Module, Softmax
from fairfl.studies.own.config_reader import REQUIRED, Section, numeric
from fairfl.studies.row_subset import some_rows
from fairfl.theory import aggregation
from fairfl.theory.aggregation import Objective, RankWeighted

UNCLASSED = ("logistic", "svm", "least_squares")
"""Models whose outputs are as many as they are, whatever the data's classes."""
MODELS = ("softmax", "logistic", "svm", "least_squares", "mlp", "lenet", "resnet18gn", "char_lstm")
PARTITIONS = ("iid", "dirichlet", "label_shards", "two_groups")
RANKS = ("gini", "linear", "geometric", "harmonic", "cvar")
OBJECTIVES = ("FedAvg", "QFFL", "AFL", "TERM", "PropFair")


def data(section: Section, partition: Section | None, seed: int) -> FederatedData:
    """[data] and [partition], split; ``seed`` draws what has no seed of its own."""
    name = section.text("name", ("synthetic", *sorted(SOURCES)))
    validation, test = section.number("validation", 0.1), section.number("test", 0.1)
    if name == "synthetic":
        found = synthetic(
            section.number("alpha", 1.0),
            section.number("beta", 1.0),
            section.whole("clients", 100, 1),
            section.text("kind", ("non-iid", "iid", "hybrid"), "non-iid"),
            section.whole("seed", seed),
        )
        section.done(None)
    else:
        rows = section.whole("rows", None, 1)
        own = section.whole("seed", seed)
        section.done(None)
        found = load_federated(name)
        found = found if rows is None else some_rows(found, rows, own)
    if partition is not None:
        found = _assign(found, partition, seed)
    return found.split(validation, test, seed)


def _assign(found: FederatedData, section: Section, seed: int) -> FederatedData:
    kind = section.text("kind", PARTITIONS)
    own = section.whole("seed", seed)
    if found.y.dtype.kind not in "iu" and kind != "iid":
        raise ValueError(f"{section.at('kind')} must be iid for data without classes, got {kind!r}")
    if kind == "two_groups":
        alpha, each = section.number("alpha"), section.whole("clients_per_group", 5, 1)
        owner, clients = section.done(lambda: two_groups(found.y, alpha, each, own)), 2 * each
    else:
        clients = section.whole("clients", REQUIRED, 1)
        if kind == "dirichlet":
            beta, least = section.number("beta"), section.whole("min_size", 1)
            owner = section.done(
                lambda: dirichlet(found.y, clients, beta, min_size=least, seed=own)
            )
        elif kind == "label_shards":
            shards = section.whole("shards_per_client", 2, 1)
            owner = section.done(lambda: label_shards(found.y, clients, shards, own))
        else:
            owner = section.done(lambda: iid(len(found), clients, own))
    return found.assigned(owner(), clients)


def model(section: Section, found: FederatedData) -> Model:
    """[model], its inputs and outputs as the data have them."""
    kind = section.text("kind", MODELS)
    features = int(np.prod(found.x.shape[1:]))
    seen = int(found.y.max()) + 1 if found.y.dtype.kind in "iu" else 1
    classes = section.whole("classes", seen, 2) if kind not in UNCLASSED else seen
    if classes < seen:
        raise ValueError(
            f"{section.at('classes')} must be at least {seen}, the classes of the data, got "
            f"{classes}"
        )
    tokens = found.x.dtype.kind in "iu" and found.x.dtype != np.uint8
    if tokens != (kind == "char_lstm"):
        wanted = "char_lstm" if tokens else "another than char_lstm"
        raise ValueError(f"{section.at('kind')} must be {wanted} for {found!r}, got {kind!r}")
    if kind == "char_lstm":
        from fairfl.sims.models import CharLSTM

        shape = [
            section.whole(key, default, 1)
            for key, default in (("embedding", 8), ("width", 256), ("layers", 2))
        ]
        return section.done(
            Module(lambda: CharLSTM(classes, *shape), name=f"char_lstm{tuple(shape)}")
        )
    if kind in ("lenet", "resnet18gn"):
        from fairfl.sims.models import LeNet, ResNet18GN

        if found.x.ndim != 4:
            raise ValueError(
                f"{section.at('kind')} {kind} must have images (channels, height, width), got "
                f"{found!r}"
            )
        channels, size = found.x.shape[1], found.x.shape[2]
        made: dict[str, Callable[[], Any]] = {
            "lenet": lambda: LeNet(channels, size, classes),
            "resnet18gn": lambda: ResNet18GN(channels=channels, classes=classes),
        }
        return section.done(Module(made[kind], name=kind))
    if kind == "mlp":
        hidden = section.wholes("hidden", [64], 1, distinct=False)
        return section.done(MLP((features, *hidden, classes)))
    bias = section.flag("bias", True)
    if kind == "softmax":
        return section.done(Softmax(features, classes, bias))
    if kind == "least_squares":
        return section.done(LeastSquares(features, 1, bias))
    return section.done({"logistic": Logistic, "svm": LinearSVM}[kind](features, bias=bias))


def algorithm(section: Section) -> tuple[str, Algorithm]:
    """One [[algorithm]]: ``name``, and its parameters by the names of its dataclass; what the table
    calls it.
    """
    known = algorithms()
    name = section.text("name", tuple(known))
    given: dict[str, Any] = {}
    fields = {field.name: field for field in dataclasses.fields(known[name])}
    label = section.text("label", default=None)
    for key in fields:
        value = section.raw(key, None)
        if key not in section.table:
            continue
        if key == "ranks":
            value = _ranks(Section(value, section.at(key)))
        elif key == "objective":
            value = _objective(Section(value, section.at(key)))
        else:
            value = _parameter(section.at(key), value, fields[key])
        given[key] = value
    section.done(None)
    shown = ", ".join(f"{key} = {_words(section.table[key])}" for key in given)
    return label or (f"{name}, {shown}" if shown else name), known[name](**given)


def _words(value: Any) -> str:
    """A parameter as the table shows it: {kind = "geometric", z = 0.85} is geometric (z = 0.85)."""
    if not isinstance(value, dict):
        return str(value)
    first, *others = value.items()
    return (
        f"{first[1]} ({', '.join(f'{key} = {other}' for key, other in others)})"
        if others
        else str(first[1])
    )


def _parameter(where: str, value: Any, field: dataclasses.Field[Any]) -> Any:
    """The value, of the kind that the parameter's annotation names (a text): a number, a text, a
    list of codes.
    """
    kind = str(field.type)
    if "tuple" in kind:
        if not isinstance(value, list) or not all(type(v) is int for v in value):
            raise ValueError(f"{where} must be a list of whole numbers, got {shown(value)}")
        return tuple(value)
    if "float" in kind:
        return numeric(where, value)
    wanted, told = (bool, "true or false") if "bool" in kind else (str, "a text")
    if not isinstance(value, wanted):
        raise ValueError(f"{where} must be {told}, got {shown(value)}")
    return value


def _ranks(section: Section) -> RankWeighted:
    kind = section.text("kind", RANKS)
    if kind in ("geometric", "cvar"):
        value = section.number({"geometric": "z", "cvar": "level"}[kind])
        section.done(None)
        return getattr(RankWeighted, kind)(value)
    section.done(None)
    return getattr(RankWeighted, kind)()


def _objective(section: Section) -> Objective:
    name = section.text("name", OBJECTIVES)
    parameter = {"QFFL": "q", "TERM": "alpha", "PropFair": "M"}.get(name)
    given = {} if parameter is None else {parameter: section.number(parameter)}
    section.done(None)
    return getattr(aggregation, name)(**given)
