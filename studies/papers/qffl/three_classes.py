"""Fashion-MNIST's three tops, a client a class; else MNIST's digits (``stand_ins``)."""

from dataclasses import replace

import numpy as np

from fairfl.sims.data.federated import FederatedData, load_federated
from fairfl.sims.engine import Parts
from fairfl.studies.stand_ins import those_at_hand

FASHION, DIGITS = "Fashion-MNIST", "MNIST 4, 7, 9"
CLASSES = {FASHION: (0, 2, 6), DIGITS: (4, 7, 9)}
"""T-shirt, pullover, shirt; and the three most similar digits."""
CLIENTS = {FASHION: ("T-shirt", "pullover", "shirt"), DIGITS: ("digit 4", "digit 7", "digit 9")}


def which() -> str:
    """Fashion-MNIST where it is at hand, else digits."""
    return those_at_hand([FASHION], [DIGITS])[0]


def three_classes(dataset: str, seed: int = 0, rows: int | None = None) -> FederatedData:
    """The three classes as labels 0, 1, 2, each a client; pixels standardised by training mean and
    spread, raised by 0.001 x 255 as in q-FFL's published code. ``rows``: so many training rows at
    random (seeded); all test rows stay.
    """
    whole = load_federated("fashion-mnist" if dataset == FASHION else "mnist")
    classes = np.array(CLASSES[dataset])
    test = whole.rows("test")
    pixels = whole.x.reshape(len(whole), -1)
    train = whole.rows("train")
    mean, spread = pixels[train].mean(axis=0), pixels[train].std(axis=0)
    selected = np.flatnonzero(np.isin(whole.y, classes))
    if rows is not None:
        chosen = np.intersect1d(selected, train)
        chosen = np.random.default_rng(seed).permutation(chosen)[:rows]
        selected = np.sort(np.concatenate([chosen, np.intersect1d(selected, test)]))
    label = np.searchsorted(classes, whole.y[selected])
    x = ((pixels[selected] - mean) / (spread + 0.255)).astype(np.float32)
    part = np.where(np.isin(selected, test), 2, 0).astype(np.int8)
    names = {"client_names": CLIENTS[dataset], "name": dataset}
    return replace(whole, x=x, y=label, owner=label, n_clients=3, part=part, **names)


def parts(dataset: str, *, equal: bool, seed: int = 0, rows: int | None = None) -> Parts:
    """The engine's parts; ``equal``: client weights 1/3 each."""
    data = Parts.of(three_classes(dataset, seed, rows))
    return replace(data, weights=np.full(3, 1 / 3)) if equal else data
