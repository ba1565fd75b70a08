"""Client parity's measures: by hand, and expected accuracies of the rules' decisions."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fairfl.sims.algorithms.ditto import Ditto
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.engine import MLP, Parts, Replicate, Training, simulate
from fairfl.sims.group_fairness.measures import accepts
from fairfl.studies.papers.fedfb.data import fedfb_data
from fairfl.studies.papers.fedfb.limits import expected_accuracy
from fairfl.studies.papers.fedfb.parity_limits import entropy, margin_loss
from fairfl.studies.papers.fedfb.parity_measures import (
    LEVELLED,
    by_client,
    levelled_losses,
    measures,
)


def rows(objective, part, model, accuracy, loss):
    """Two clients, 30 and 10 people."""
    shared = {"dataset": "Adult", "objective": objective, "seed": 0, "unit": "u", "round": 1}
    shared |= {"part": part, "model": model}
    return [
        shared | {"client": k, "samples": n, "accuracy": r, "loss": value, "expected": np.nan}
        for k, (n, r, value) in enumerate(zip((30, 10), accuracy, loss, strict=True))
    ]


def test_by_hand():
    table = pd.DataFrame(
        rows("FedAvg", "test", "global", (0.8, 0.6), (0.5, 0.9))
        + rows("FedAvg", "validation", "global", (0.7, 0.6), (0.6, 0.8))
        + rows("Ditto, λ = 1", "test", "global", (0.1, 0.1), (9.0, 1.0))
        + rows("Ditto, λ = 1", "test", "personal", (0.9, 0.7), (0.2, 0.5))
        + rows("Ditto, λ = 1", "validation", "personal", (0.9, 0.7), (0.2, 0.5))
    )
    found = measures(table).set_index("objective")
    assert found.loc["FedAvg", ["Acc.", "CP disp.", "Acc. gap"]].tolist() == pytest.approx(
        [0.75, 0.4, 0.2]
    )
    assert found.loc["Ditto, λ = 1", ["Acc.", "CP disp.", "Acc. gap"]].tolist() == pytest.approx(
        [0.85, 0.3, 0.2]
    )
    # the second client, right for .6 on validation, keeps the entropy's margin .1; the first is
    # given its loss there
    level = float(entropy(0.6))
    margins = np.linspace(0, 0.2, 200_001)
    first = margins[np.argmin(np.abs(margin_loss(0.7, margins) - level))]
    gap = abs(float(margin_loss(0.8, first)) - float(margin_loss(0.6, 0.1)))
    assert found.loc[LEVELLED, ["Acc.", "CP disp.", "Acc. gap"]].tolist() == pytest.approx(
        [0.75, gap, 0.2], abs=1e-4
    )


@pytest.mark.parametrize("right", [0.5, 0.3, 1.0])
def test_decisions_without_such_scores_are_not_levelled(right):
    held = pd.DataFrame(rows("FedAvg", "validation", "global", (0.7, right), (0.6, 0.8)))
    assert (
        levelled_losses(
            held, pd.DataFrame(rows("FedAvg", "test", "global", (0.8, 0.6), (0.5, 0.9)))
        )
        is None
    )


def test_expected_accuracies_are_those_of_the_decisions():
    """The mean is the global model's ``expected_accuracy``; Ditto's own models have theirs."""
    data = fedfb_data("Synthetic")
    parts = Parts.of(replace(data, owner=data.group, n_clients=2, client_names=()))
    model = MLP((parts.train.x.shape[1], 4, 2))
    replicates = [Replicate(FedAvg(), 3), Replicate(Ditto(1.0), 3)]
    result = simulate(
        model,
        parts,
        replicates,
        Training(rounds=1, epochs=1, lr=0.05, batch_size=128),
        evaluate_every=1,
    )
    table = by_client(("FedAvg", "Ditto, λ = 1"), 3, result, synthetic=True)
    test = result.simulation.parts["test"]
    here = table[(table["part"] == "test") & (table["round"] == 1) & (table["model"] == "global")]
    accept = accepts(model, result.simulation.params[:1], test)[0]
    mine = here[here["objective"] == "FedAvg"]
    wanted = expected_accuracy(accept, test.x[:, :2].double().numpy())
    assert np.average(mine["expected"], weights=mine["samples"]) == pytest.approx(wanted, abs=1e-12)
    personal = table[
        (table["model"] == "personal") & (table["part"] == "test") & (table["round"] == 1)
    ]
    assert personal["expected"].notna().all()
    assert table.loc[table["part"] != "test", "expected"].isna().all()
