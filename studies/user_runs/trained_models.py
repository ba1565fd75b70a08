"""Models that were trained on a table of people, as files that ``fairfl apply`` takes."""

import re
from collections.abc import Callable

import numpy as np

from fairfl._support.checks import Array
from fairfl.sims.data.federated.data import FederatedData
from fairfl.sims.data.score_model import ScoreModel
from fairfl.sims.data.tables.encode import scale
from fairfl.sims.data.tables.score import feature_columns
from fairfl.sims.data.tables.table import Dataset
from fairfl.sims.engine import Result
from fairfl.studies.papers.fedfb.fedfb_runs import last_models
from fairfl.theory.populations.classifiers import Classifier

RULE = "rule.json"


def model_files(
    read: Callable[[], tuple[Dataset, FederatedData]], objectives: tuple[str, ...], result: Result
) -> dict[str, str]:
    """Texts of files: each replicate's last model or models, and the rule of a chance above 1/2."""
    people, data = read()
    groups, scales = people.group_names, scale(people.features, data.part == 0)
    cuts = [[0.5]] * len(groups), [[0.0, 1.0]] * len(groups)
    files = {RULE: Classifier(*cuts, groups=groups).to_json()}
    for r, objective in enumerate(objectives):
        title = f"{objective}, seed {result.simulation.replicates[r].seed}"
        name = re.sub("[^a-z0-9.]+", "-", title.lower().replace("ε", "eps"))
        files[f"{name}.json"] = _trained(people, scales, result, r, title).to_json()
    return files


def _trained(
    people: Dataset, scales: tuple[Array, Array], result: Result, r: int, title: str
) -> ScoreModel:
    """The last model of replicate ``r``, of features less ``scales[0]``, over ``scales[1]``,
    undone.
    """
    (low, width), model = scales, result.simulation.model
    rows, shares = last_models(result.simulation, r)
    first, *last = (block.double().cpu().numpy() for block in model.blocks(rows))
    layer = first.swapaxes(1, 2) if last else first  # (d, units, features + 1)
    weights = layer[..., :-1] / width
    offsets, hidden = layer[..., -1] - weights @ low, None
    if last:  # of two classes the log odds of the second
        hidden, (outputs, biases) = (weights, offsets), last
        weights, offsets = np.diff(outputs, axis=1), np.diff(biases[:, 0])
    columns = feature_columns(people), weights[:, 0], offsets[:, 0], hidden
    if result.simulation.replicates[r].algorithm.is_ensemble:
        return ScoreModel(people.client_names, *columns, tuple(shares.tolist()), title)
    return ScoreModel(("y",), *columns, title=title)
