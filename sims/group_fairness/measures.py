"""Accuracy and disparities on people: differences as in the theory, deviations as in FedFB."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from fairfl._support.checks import as_floats, coded, shown
from fairfl.sims.engine import ClientData, Model
from fairfl.sims.engine.losses import measure_models


@dataclass(frozen=True)
class FairMeasures:
    r"""Measures of one classifier on a set of people; NaN where a share that a measure compares is
    of nobody, as P(ŷ=1 \| a, y=1) is where nobody of a group has y = 1.

    Attributes
    ----------
    accuracy : float
    spd, eo_difference, eodds_difference : the disparity of demographic parity, max_{a, b} \|P(ŷ=1
        \| a) - P(ŷ=1 \| b)\|, as everywhere in fairfl
        (``fairfl.theory.populations.notions.disparity``); the same among people of y = 1; the
        larger of that and the same among people of y = 0.
    dp, eo, eodds : the same with the deviation max_a \|P(ŷ=1 \| a) - P(ŷ=1)\| of FedFB's section
        5.3, the shares as they are among the people. With two groups dp = max(p_0, p_1) spd.
    accepted : P(ŷ=1): 0 or 1 for a trivial classifier.
    """

    accuracy: float
    dp: float
    spd: float
    eo: float
    eodds: float
    eo_difference: float
    eodds_difference: float
    accepted: float

    @classmethod
    def of(cls, accept: ArrayLike, y: ArrayLike, group: ArrayLike) -> FairMeasures:
        """Measures from each person's P(ŷ=1) (N,) in [0, 1], labels 0 or 1, groups of any name."""
        chance = as_floats("accept", accept)
        if chance.ndim != 1 or not chance.size:
            raise ValueError(f"accept must have shape (N,), N >= 1, got {chance.shape}")
        labels, label_codes = coded("y", y, chance.size, "accept")
        groups, group_codes = coded("group", group, chance.size, "accept")
        if not {*labels} <= {0, 1}:
            raise ValueError(f"y must be 0 or 1, got {shown(labels)}")
        label = np.array(labels, int)[label_codes]
        right = np.where(label == 1, chance, 1 - chance)
        tables = (
            np.bincount(2 * group_codes + label, weights, 2 * len(groups)).reshape(-1, 2)
            for weights in (None, chance)
        )
        # (3, A) of all, of y = 1 and of y = 0
        size, accepted = (np.stack([t.sum(axis=1), *t.T[::-1]]) for t in tables)
        with np.errstate(invalid="ignore"):  # 0 / 0 of nobody
            rates = accepted / size
            of_all = accepted.sum(axis=1, keepdims=True) / size.sum(axis=1, keepdims=True)
        deviations, spreads = np.abs(rates - of_all).max(axis=1), np.ptp(rates, axis=1)
        return cls(
            accuracy=float(right.mean()),
            dp=float(deviations[0]),
            spd=float(spreads[0]),
            eo=float(deviations[1]),
            eodds=float(deviations[1:].max()),
            eo_difference=float(spreads[1]),
            eodds_difference=float(spreads[1:].max()),
            accepted=float(chance.mean()),
        )


def accepts(
    model: Model, params: Tensor, data: ClientData, *, personal: bool = False
) -> NDArray[np.bool_]:
    """ŷ = 1 for every row of prepared data, of each of the models (M, P): (M, N); or ``personal``,
    of each client's rows by its own of the models (K, P): (1, N).
    """
    everyone, positive = np.arange(data.clients), data.y.cpu().numpy() == 1
    models = params[None] if personal else params
    with torch.no_grad():
        correct = measure_models(model, models, data, everyone, personal=personal).correct
    if correct is None:
        raise ValueError(f"model must classify, got {model.describe()}")
    return correct.view(len(models), -1).cpu().numpy() == positive


def trivial(y: ArrayLike, group: ArrayLike) -> dict[str, FairMeasures]:
    """The constant classifiers, of which every table has a line: disparity 0 is free."""
    size = len(np.asarray(y))
    return {f"all {v}": FairMeasures.of(np.full(size, float(v)), y, group) for v in (0, 1)}
