"""Personal models in tables: rows of their own, each measured on its own client."""

import json

import numpy as np
import pytest
from run_files import PLAIN

from fairfl.sims.data.federated.data import FederatedData
from fairfl.sims.engine import simulate
from fairfl.sims.engine.task import as_floats
from fairfl.studies.crosscheck.population.frontier_distance import exact
from fairfl.studies.crosscheck.population.worlds import World
from fairfl.studies.crosscheck.study_file import study_from_file
from fairfl.studies.execute import run_unit, run_units
from fairfl.studies.experiment import Scale
from fairfl.studies.user_runs import run_file_parts
from fairfl.theory.populations.classifiers import Classifier

ALGORITHMS = """
[[algorithm]]
name = "fedavg"
[[algorithm]]
name = "ditto"
lam = 0.01
[[algorithm]]
name = "lft"
"""
DITTO, LFT = "ditto, lam = 0.01", "lft"
NAMES = ["fedavg", DITTO, f"{DITTO}, personal models", LFT, f"{LFT}, personal models"]


@pytest.fixture
def opposite(monkeypatch, toml):
    """Two sites with opposite labels: no model serves both."""
    rng = np.random.default_rng(0)
    owner, group = np.arange(1200) % 2, rng.integers(0, 2, 1200)
    x = rng.normal(size=(1200, 2)) + 0.3 * group[:, None]
    y = ((x[:, 0] + 0.2 * rng.normal(size=1200) > 0) ^ (owner == 1)).astype(int)
    data = FederatedData("opposite", x, y, owner, 2, group=group)
    monkeypatch.setitem(run_file_parts.DRAWN, "synthetic", lambda clients, *, seed: data)
    text = PLAIN.replace('"softmax"', '"logistic"').replace("rounds = 3", "rounds = 20\nlr = 0.3")
    return toml(text.replace('[[algorithm]]\nname = "fedavg"\n', ALGORITHMS))


def by_hand(params, data, owners):
    """Accuracies of the clients and of all, and the difference of the groups' acceptance, where the
    rows ``owners`` (N,) of ``params`` decide; averaged over its first axis.
    """
    x, y = data.x.numpy(), data.y.numpy()
    scores = np.einsum("mnf,nf->mn", params[:, owners], x)  # prepared rows end in a one
    accept = (scores > 0).mean(0)
    right = np.where(y == 1, accept, 1 - accept)
    clients = [part.mean() for part in np.split(right, data.offsets[1:-1])]
    rates = [accept[data.group == a].mean() for a in (0, 1)]
    return clients, right.mean(), abs(rates[0] - rates[1])


def test_a_row_is_of_one_model(opposite):
    (unit,) = opposite.units(Scale("quick", 1))
    table = opposite.values(run_units([unit]))
    wide = table.pivot(index="objective", columns="measure", values="value")
    assert sorted(wide.index) == sorted(NAMES)
    setting = unit.make()
    result = simulate(*setting.arguments)
    data, states = result.simulation.parts["test"], result.simulation.states
    client = np.repeat([0, 1], data.sizes)
    ditto, lft = as_floats(states[1]["personal"]), as_floats(states[2]["own.models"])
    expected = {
        "fedavg": by_hand(result.params[:1, None], data, 0 * client),
        DITTO: by_hand(result.params[1:2, None], data, 0 * client),
        LFT: by_hand(lft[:, None], data, 0 * client),
        f"{DITTO}, personal models": by_hand(ditto[None], data, client),
        f"{LFT}, personal models": by_hand(lft[None], data, client),
    }
    for name, (clients, accuracy, disparity) in expected.items():
        measures = wide.loc[name]
        assert measures["devices"] == pytest.approx(100 * np.mean(clients))
        assert measures["Acc."] == pytest.approx(accuracy)
        assert measures["average"] == pytest.approx(100 * accuracy)
        assert measures["disparity"] == pytest.approx(disparity)
    assert wide.loc[DITTO, "average"] < 65 < 85 < wide.loc[f"{DITTO}, personal models", "average"]


def test_pictures_show_every_classifier_once(opposite):
    clients = run_units(opposite.units(Scale("quick", 1)))
    points = opposite.points(clients)
    assert sorted(points["objective"]) == sorted(NAMES)
    models = clients.groupby("objective")["model"].unique().map(sorted)
    shared = {**dict.fromkeys(NAMES[:2], ["global", "people"]), LFT: ["ensemble", "people"]}
    assert models.to_dict() == shared | dict.fromkeys(NAMES[2::2], ["people", "personal"])


def test_a_cross_check_has_the_client_aware_frontier_beside_them(tmp_path):
    file = tmp_path / "mine.toml"
    clients = "[[clients]]\nmean = [3, 5]\n[[clients]]\nmean = [1, -1]\n"
    training = "[training]\nrounds = 10\n[run]\nseeds = [3]\n"
    file.write_text("people = 400\n" + clients + ALGORITHMS + training, "utf-8")
    study = study_from_file(file)
    (unit,) = study.units(Scale("quick", 1))
    rows = run_unit(unit).set_index("algorithm")
    assert list(rows.index) == NAMES
    assert list(rows["bound"]) == ["cfl", "cfl", "client_aware", "cfl", "client_aware"]
    world = World("", ((3.0, 5.0), (1.0, -1.0)), ((1.0, 1.0),) * 2, (0.5, 0.5), (0.5, 0.5))
    for name in NAMES[2::2]:
        members = [Classifier.from_json(text) for text in json.loads(rows.loc[name, "rule"])]
        alone = [world.alone(k).federation for k in range(2)]
        accuracy = np.mean([f.accuracy(fed) for f, fed in zip(members, alone, strict=True)])
        rates = np.mean([f.group_rates(fed) for f, fed in zip(members, alone, strict=True)], 0)
        assert rows.loc[name, "accuracy"] == pytest.approx(accuracy, abs=1e-10)
        assert rows.loc[name, "disparity"] == pytest.approx(np.ptp(rates), abs=1e-10)
        assert rows.loc[name, "accuracy"] != rows.loc["fedavg", "accuracy"]
    # members are those of the last name, LFT's
    lft = Classifier.average(members, unit.make().parts.p)
    assert rows.loc[LFT, "accuracy"] == pytest.approx(lft.accuracy(world.federation), abs=1e-12)
    measures = rows.reset_index()
    table = study.tables(measures)["algorithms"].set_index("algorithm")
    for name, bound in rows["bound"].items():
        fed, absent = ("below CFL", "below Client-aware")[:: 1 if bound == "cfl" else -1]
        best = exact(world, bound).accuracy_at(rows.loc[name, "disparity"])
        assert table.loc[name, fed] == pytest.approx(best - rows.loc[name, "accuracy"], abs=1e-9)
        assert table.loc[name, fed] >= 0 and np.isnan(table.loc[name, absent])
    verdicts = {row.name: row.holds for row in study.verdicts(measures)}
    assert verdicts == {"below-cfl-frontier": True, "below-client-aware-frontier": True}
    picture = study.pictures[0].table(measures)
    assert "Client-aware, exact" in set(picture["series"])
