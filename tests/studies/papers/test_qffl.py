"""q-FFL's protocol: the chosen q, each device's own, tuned curves, table 2's weights."""

import numpy as np
import pandas as pd
import pytest

from fairfl.sims.engine import ByWeight, LinearSVM
from fairfl.studies.experiment import Scale
from fairfl.studies.papers.qffl import figures_3_6_9 as qffl_efficiency
from fairfl.studies.papers.qffl import qffl_runs
from fairfl.studies.papers.qffl.tables_1_4_to_10 import own_best, values


def clients(accuracy, part="validation", unit="u", loss=1.0):
    """Rows of two devices with 10 samples each, from {objective: (accuracy of either)}."""
    rows = [
        (name, k, a, r)
        for r, (name, both) in enumerate(accuracy.items())
        for k, a in enumerate(both)
    ]
    table = pd.DataFrame(rows, columns="objective client accuracy replicate".split())
    constants = {"dataset": "Synthetic", "seed": 0, "round": 5, "model": "global", "samples": 10}
    return table.assign(**constants, unit=unit, part=part, loss=loss)


def family(**changed):
    """Accuracies of all q: (0.2, 1) but for those given as q_1=(...)."""
    accuracies = {qffl_runs.name_of(q): (0.2, 1.0) for q in qffl_runs.QS}
    return accuracies | {name.replace("_", " = "): both for name, both in changed.items()}


def test_the_papers_q_are_shown():
    both = pd.concat([clients(family(q_1=(0.4, 0.6)), part) for part in ("validation", "test")])
    averages = values(both, measures=("average",)).set_index("objective")["value"]
    assert averages.to_dict() == {"q = 0": pytest.approx(60.0), "q = 1": pytest.approx(50.0)}


def test_each_device_keeps_its_best_model():
    # 15 is not among the parallel ones
    validation = clients(family(q_1=(0.9, 0.1), q_15=(1.0, 1.0)))
    test = clients(family(q_1=(0.7, 0.0)), "test")
    best = own_best(pd.concat([validation, test], ignore_index=True)).set_index("client")
    assert best["accuracy"].to_dict() == {0: 0.7, 1: 1.0}
    assert set(best["objective"]) == {"multiple q"}


def test_tuning_takes_the_rate_that_is_best_at_q_0():
    """Training losses by rate: 0.1 is best for FedSGD at q = 0, 0.3 for FedAvg, 3 for q = 1 by a
    fixed step.

    The curves of q itself are best elsewhere, at 1: they are not asked.
    """
    q, parts = 1.0, []
    judges = {"FedAvg": 0.3, "FedSGD, q = 0": 0.1, "FedSGD": 3.0, "q-FedAvg": 1.0, "q-FedSGD": 1.0}
    for curve, best in judges.items():
        for rate in qffl_efficiency.RATES:
            for t in (5, 10):
                rows = clients(
                    {f"{curve} {rate:g}": (0.5, 0.5)}, "train", "full", loss=1 + abs(rate - best)
                )
                parts.append(rows.assign(round=t))
    diverged = parts[0]["objective"].iloc[0]
    rows = pd.concat(parts, ignore_index=True)
    rows.loc[rows["objective"] == diverged, "loss"] = np.nan
    data = {"Synthetic": ("Synthetic", "non-iid", q)}
    curves = qffl_efficiency.curves(rows, data)
    ends = curves[curves["round"] == 10].groupby("objective")["loss"].first()
    assert ends.to_dict() == pytest.approx({"FedSGD": 1.0, "q-FedAvg": 1.7, "q-FedSGD": 1.9})
    values = qffl_efficiency.values(rows, data)
    assert values[values["objective"] == "q-FedAvg"]["value"].tolist() == pytest.approx([1.7] * 3)


def test_settings_are_those_of_appendix_e(files):
    model, parts = qffl_runs.parts_of("Vehicle", 3)
    training = qffl_runs.training_of("Vehicle", 7)
    assert isinstance(model, LinearSVM) and training.participation == ByWeight(10, replace=False)
    # the published rate is of a sum of 64 losses
    assert training.lr / training.batch_size == pytest.approx(0.01)
    assert training.lr * training.weight_decay == pytest.approx(0.01)  # and of ||w||²/2
    sizes = [part.sizes.sum() for part in parts.parts.values()]
    assert np.array(sizes) / sum(sizes) == pytest.approx([0.8, 0.1, 0.1], abs=0.03)
    assert qffl_runs.training_of("Synthetic", 7).lr == 0.1
    assert qffl_runs.training_of("Synthetic", 7).batch_size == 10


def test_all_q_see_the_same_devices(tiny):
    """The same devices and batches: after one round only the updates' weights differ."""
    unit = qffl_runs.family(Scale("quick", 1), ("Synthetic",))[0]
    setting = unit.make()
    ids = setting.parts.train.names
    chosen = [
        setting.training.participation.choose(r.seed, 0, ids, setting.parts.p)[0]
        for r in setting.replicates
    ]
    assert all(np.array_equal(chosen[0], clients) for clients in chosen) and len(chosen[0]) == 10
