"""Client parity's measures: accuracies, log losses and their disparities."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fairfl.sims.data.federated.fedfb_synthetic import chance_of_label
from fairfl.sims.engine import Result
from fairfl.sims.engine.losses import measure
from fairfl.sims.engine.task import Floats
from fairfl.studies.execute import last_round
from fairfl.studies.frames import among, floats, groups
from fairfl.studies.frames import rows as kept_rows
from fairfl.studies.papers.fedfb.parity_limits import (
    best_by_group,
    levelled_margins,
    levelling_down,
    margin_loss,
)

LEVELLED = "FedAvg, levelled scores"
COLUMNS = ["Acc.", "CP disp.", "Acc. gap", "E Acc.", "E gap", "best E Acc."]


def by_client(
    objectives: tuple[str, ...], seed: int, result: Result, *, synthetic: bool
) -> pd.DataFrame:
    """The engine's table of clients; on synthetic data with expected accuracies on test."""
    clients = result.clients
    objective = np.array(objectives, dtype=object)[clients["replicate"].to_numpy()]
    named = clients.assign(objective=objective, seed=seed, expected=np.nan)
    if not synthetic:
        return named
    last = result.simulation.round
    for r, replicate in enumerate(result.simulation.replicates):
        own = replicate.algorithm.personal(result.simulation.states[r])
        for which in ("global", *(() if own is None else ("personal",))):
            here = (named["replicate"] == r) & (named["part"] == "test") & (named["model"] == which)
            named.loc[here & (named["round"] == last), "expected"] = expected_accuracies(
                result, r, which
            )
    return named


def expected_accuracies(result: Result, replicate: int, which: str) -> Floats:
    """By client's test people (K,), labels by the true P(y=1 | x), by the model ``which``."""
    simulation = result.simulation
    data, own = simulation.parts["test"], which == "personal"
    params = simulation.params[replicate]
    if own:
        personal = simulation.replicates[replicate].algorithm.personal(simulation.states[replicate])
        assert personal is not None
        params = personal
    found = measure(simulation.model, params, data, np.arange(data.clients), own=own).correct
    assert found is not None
    accepted = found.cpu().numpy() == (data.y.cpu().numpy() == 1)
    eta = chance_of_label(data.x[:, :2].double().cpu().numpy())
    owner = np.repeat(np.arange(data.clients), data.sizes)
    return np.bincount(owner, np.where(accepted, eta, 1 - eta)) / data.sizes


def measures(clients: pd.DataFrame) -> pd.DataFrame:
    """A row a run, COLUMNS on test at the end (Ditto: its own models); NaN if not known."""
    rows, levelled = [], []
    personal = [str(name).startswith("Ditto") for name in clients["objective"]]
    for which, mine in (("global", np.logical_not(personal)), ("personal", personal)):
        shown = kept_rows(clients, mine)
        test, held = (last_round(shown, part, which) for part in ("test", "validation"))
        for key, run in groups(test, ["dataset", "objective", "seed"]):
            rows.append((*key, *_of(run, floats(run, "loss"))))
            if key[1] == "FedAvg":
                losses = levelled_losses(
                    among(among(held, "dataset", key[:1]), "seed", key[2:]), run
                )
                levelled += (
                    [] if losses is None else [(key[0], LEVELLED, key[2], *_of(run, losses))]
                )
    return pd.DataFrame([*rows, *levelled], columns=["dataset", "objective", "seed", *COLUMNS])


def levelled_losses(held: pd.DataFrame, test: pd.DataFrame) -> Floats | None:
    """FedAvg's log losses on test (K,) with the scores 1/2 ± t_k, t_k by its accuracies on
    validation.

    None where it is right for half of a client's people or fewer, or for all: then there are no
    such scores.
    """
    mine = among(held, "objective", ["FedAvg"])
    right = floats(mine, "accuracy")
    if not ((right > 0.5) & (right < 1)).all():
        return None
    return margin_loss(floats(test, "accuracy"), levelled_margins(right))


def _of(run: pd.DataFrame, losses: Floats) -> tuple[float, ...]:
    samples, right, expected = (floats(run, name) for name in ("samples", "accuracy", "expected"))
    drawn = (float(np.average(right, weights=samples)), float(np.ptp(losses)), float(np.ptp(right)))
    if np.isnan(expected).any():
        return (*drawn, np.nan, np.nan, np.nan)
    gap = float(np.ptp(expected))
    share, best = best_by_group(str(run["dataset"].iloc[0]))
    return (
        *drawn,
        float(np.average(expected, weights=samples)),
        gap,
        float(levelling_down(share, best, [gap])[0]),
    )
