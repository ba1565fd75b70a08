"""A run from TOML: what may be written, and one clear error for everything else."""

import re
from pathlib import Path

import numpy as np
import pytest
from run_files import PLAIN

from fairfl.sims.data.federated.data import FederatedData
from fairfl.sims.engine import MLP, ByWeight, Cosine, Softmax
from fairfl.studies.execute import run_units
from fairfl.studies.experiment import Scale
from fairfl.studies.user_runs import run_file_parts
from fairfl.studies.user_runs.run_file_parts import algorithm
from fairfl.studies.user_runs.toml_section import Section
from fairfl.theory.aggregation import QFFL, RankWeighted
from fairfl.theory.aggregation._base import OBJECTIVES


def test_the_example_of_the_documentation_runs(toml, files):
    """All that it names is known; shortened, for its rounds would take a while."""
    page = (Path(__file__).parents[3] / "docs" / "toml_files.md").read_text("utf-8")
    (text,) = re.findall("```toml\n# run.toml\n(.*?)```", page, flags=re.S)
    text = text.replace("rows = 4000", "rows = 600").replace("rounds = 40", "rounds = 2")
    experiment = toml(text.replace("[0, 1, 2]", "[0, 1]"))
    units = experiment.units(Scale("quick", 2))
    assert [u.name for u in units] == [f"mine-{s}-batch_size={b}" for s in (0, 1) for b in (10, 50)]
    assert units[0].objectives == (
        "fedavg",
        *(f"qfedavg, q = {q}, lr = {lr}" for q in (0.1, 1.0) for lr in (0.05, 0.1)),
        "pfedavg, ranks = geometric (z = 0.85)",
        "q = 1",
    )
    setting = units[0].make()
    assert isinstance(setting.model, MLP) and setting.model.widths == (784, 64, 10)
    assert setting.training.participation == ByWeight(5, replace=False)
    assert setting.training.schedule == Cosine()
    assert setting.parts.train.clients == 20 and setting.evaluate_every == 5
    values = experiment.values(run_units(units))
    assert set(values["dataset"]) == {"mnist; batch_size = 10", "mnist; batch_size = 50"}
    assert len(values) == 2 * 2 * 7 * 5 and np.isfinite(values["value"]).all()


def test_defaults(toml):
    experiment = toml(PLAIN)
    (unit,) = experiment.units(Scale("quick", experiment.seeds["quick"]))
    setting = unit.make()
    assert setting.model == Softmax(60, 8)  # the classes of the first seed's five clients
    assert setting.training.batch_size == 10 and setting.training.lr == 0.1
    assert (
        experiment.name == "mine" and unit.objectives == ("fedavg",) and experiment.published.empty
    )


def test_more_classes_than_the_data_show(toml):
    text = PLAIN.replace('"softmax"', '"softmax"\nclasses = 10')
    assert toml(text).units(Scale("quick", 1))[0].make().model == Softmax(60, 10)


def test_seeds_of_the_file_or_of_the_command(toml):
    experiment = toml(PLAIN + "[run]\nseeds = [4, 7]\n")
    assert experiment.seeds["quick"] == 2
    assert [unit.seed for unit in experiment.units(Scale("quick", 2))] == [4, 7]
    assert [unit.seed for unit in experiment.units(Scale("quick", 3))] == [0, 1, 2]


def test_partitions_give_images_clients(toml, files):
    head = PLAIN.replace('"synthetic"\nclients = 5', '"mnist"\nrows = 300')
    for partition, clients in (
        ('kind = "iid"\nclients = 4', 4),
        ('kind = "label_shards"\nclients = 5\nshards_per_client = 2', 5),
        ('kind = "two_groups"\nalpha = 0.9\nclients_per_group = 3', 6),
        ('kind = "dirichlet"\nclients = 3\nbeta = 5.0\nmin_size = 10', 3),
    ):
        setting = toml(f"{head}\n[partition]\n{partition}\n").units(Scale("quick", 1))[0].make()
        assert setting.parts.train.clients == clients
        assert sum(int(part.sizes.sum()) for part in setting.parts.parts.values()) == 300
    with pytest.raises(ValueError, match="data.rows must be at most 700 for 'mnist', got 701"):
        toml(head.replace("300", "701"))


@pytest.fixture
def planted(monkeypatch):
    """Three clients' rows take the place of the synthetic data."""

    def plant(name, x, y):
        data = FederatedData(name, x, y, np.arange(60) % 3, 3)
        monkeypatch.setitem(run_file_parts.DRAWN, "synthetic", lambda clients, *, seed: data)

    return plant


def ran(experiment):
    return experiment.values(run_units(experiment.units(Scale("quick", 1))))


def test_regression_has_losses(toml, planted):
    """Without classes there is no accuracy: the table has losses."""
    rng = np.random.default_rng(0)
    planted("line", rng.normal(size=(60, 2)), rng.normal(size=60))
    wide = ran(toml(PLAIN.replace('"softmax"', '"least_squares"'))).set_index("measure")["value"]
    assert set(wide.index) == {"mean loss", "worst loss"}
    assert 0 < wide["mean loss"] <= wide["worst loss"]


def test_letters_have_a_model_of_their_own(toml, planted):
    rng = np.random.default_rng(0)
    planted("text", rng.integers(0, 5, (60, 6)), rng.integers(0, 5, 60))
    message = "model.kind must be char_lstm for .*'text'.*, got 'softmax'"
    with pytest.raises(ValueError, match=message):
        toml(PLAIN)
    small = '"char_lstm"\nembedding = 2\nwidth = 3\nlayers = 1'
    assert np.isfinite(ran(toml(PLAIN.replace('"softmax"', small)))["value"]).all()


class Softened(QFFL):
    """An objective in a file of the tree."""


@pytest.mark.parametrize(
    ("objective", "expected"),
    [
        ({"name": "softened", "q": 3}, Softened(3)),
        ({"name": "Softened", "q": 3}, Softened(3)),
        ({"name": "qffl", "q": 2}, QFFL(2)),
        ({"name": "rank_weighted", "kind": "geometric", "z": 0.5}, RankWeighted.geometric(0.5)),
    ],
    ids=str,
)
def test_objectives_of_the_tree_are_named(monkeypatch, objective, expected):
    monkeypatch.setattr(Softened, "__module__", "fairfl.theory.aggregation.softened")
    monkeypatch.setattr(Softened, "name", "softened")
    monkeypatch.setitem(OBJECTIVES.entries, "softened", (Softened, __name__))
    row = {"name": "dual_weighted", "objective": objective}
    assert algorithm(Section(row, "algorithm[0]")).algorithm.objective == expected
