"""Accuracy and disparities on people: differences as in the theory, deviations as in FedFB."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from fairfl._support.checks import as_floats, as_labels, coded, shown
from fairfl.sims.engine.data import ClientData
from fairfl.sims.engine.kernels.model import Model
from fairfl.sims.engine.losses import measure_models
from fairfl.sims.engine.task import Floats
from fairfl.theory.populations.notions import largest_difference


@dataclass(frozen=True)
class FairMeasures:
    r"""Measures of one classifier on a set of people; NaN where a share that a measure compares is
    of nobody, as P(ŷ=1 \| a, y=1) is where nobody of a group has y = 1.

    Attributes
    ----------
    accuracy : float
    spd, eo_difference, eodds_difference : float
        The disparity of demographic parity, max_{a, b} \|P(ŷ=1 \| a) - P(ŷ=1 \| b)\|, as everywhere
        in fairfl (``fairfl.theory.populations.notions.largest_difference``); the same among people
        of y = 1; the larger of that and the same among people of y = 0.
    dp, eo, eodds : float
        The same with the deviation max_a \|P(ŷ=1 \| a) - P(ŷ=1)\| of FedFB's section 5.3, the
        shares as they are among the people. With two groups dp = max(p_0, p_1) spd.
    accepted : float
        P(ŷ=1): 0 or 1 for a trivial classifier.
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
        chance, label, code = as_floats("accept", accept), as_labels("y", y), np.asarray(group)
        if not (chance.shape == label.shape == code.shape and chance.ndim == 1 and len(chance)):
            raise ValueError(
                f"accept, y and group must have one shape (N,), N >= 1, got {chance.shape}, "
                f"{label.shape}, {code.shape}"
            )
        code = coded("group", group, len(chance))[1]
        if not np.isin(label, (0, 1)).all():
            raise ValueError(f"y must be 0 or 1, got {shown(label[~np.isin(label, (0, 1))][0])}")
        right = np.where(label == 1, chance, 1 - chance)
        everybody = np.ones(len(code), bool)
        eo, other = (_deviation(chance, code, label == v) for v in (1, 0))
        spd, eo_spd, other_spd = (
            _difference(chance, code, who) for who in (everybody, label == 1, label == 0)
        )
        deviations = _deviation(chance, code, everybody), spd, eo, float(np.maximum(eo, other))
        differences = eo_spd, float(np.maximum(eo_spd, other_spd))
        return cls(float(right.mean()), *deviations, *differences, float(chance.mean()))


def _rates(chance: Floats, group: NDArray[np.int64], among: NDArray[np.bool_]) -> Floats:
    """P(ŷ=1 | a) of each group; NaN of a group without people among these."""
    size, total = (
        np.bincount(group[among], weights, group.max() + 1) for weights in (None, chance[among])
    )
    return np.divide(total, size, out=np.full(len(size), np.nan), where=size > 0)


def _difference(chance: Floats, group: NDArray[np.int64], among: NDArray[np.bool_]) -> float:
    return largest_difference(_rates(chance, group, among))


def _deviation(chance: Floats, group: NDArray[np.int64], among: NDArray[np.bool_]) -> float:
    if not among.any():
        return float("nan")
    return float(np.abs(_rates(chance, group, among) - chance[among].mean()).max())


def accepts(model: Model, params: Tensor, data: ClientData) -> NDArray[np.bool_]:
    """ŷ = 1 for every row of prepared data, of each of the models (M, P): (M, N)."""
    everyone, positive = np.arange(data.clients), data.y.cpu().numpy() == 1
    with torch.no_grad():
        found = measure_models(model, params, data, everyone).correct
    if found is None:
        raise ValueError(f"model must classify, got {model.describe()}")
    return found.view(len(params), -1).cpu().numpy() == positive


def trivial(y: ArrayLike, group: ArrayLike) -> dict[str, FairMeasures]:
    """The constant classifiers, of which every table has a line: disparity 0 is free."""
    size = len(np.asarray(y))
    return {f"all {v}": FairMeasures.of(np.full(size, float(v)), y, group) for v in (0, 1)}
