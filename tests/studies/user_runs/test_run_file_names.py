"""What a TOML file may name: group-fair algorithms, schedules, what a user's file adds."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from run_files import DYNAMIC, FAIR, OWN, PLAIN

from fairfl._support.own_parts import DIGESTS
from fairfl.cli import simulate
from fairfl.sims.algorithms.dynamic import ModifiedNormalizedFedAvg
from fairfl.sims.algorithms.dynamic_qfedavg import DynamicQFedAvg
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.engine import Exponential, Joining, Parts, Replicate, Training
from fairfl.sims.engine import simulate as simulated
from fairfl.sims.group_fairness import FairBatch, FairFed, FedFB, LocalFairBatch
from fairfl.studies.execute import run_units
from fairfl.studies.experiment import Scale
from fairfl.theory.measures import dynamic

USER_PARTS = Path(__file__).with_name("user_parts.py")


def test_rules_of_other_parameters_have_other_labels(toml):
    rules = ("{alpha = 0.05}", "{budget = 0.05}", '{notion = "eo", budget = 0.1}')
    tables = (f'[[algorithm]]\nname = "lft"\nrule = {rule}' for rule in rules)
    _, after = FAIR.split("[training]")
    before = FAIR.split("[[algorithm]]")[0]
    (unit,) = toml("\n".join([before, *tables, f"[training]{after}"])).units(Scale("quick", 1))
    assert [*unit.objectives] == [
        "lft, rule = (alpha = 0.05)",
        "lft, rule = (budget = 0.05)",
        "lft, rule = eo (budget = 0.1)",
    ]


def test_group_fair_algorithms(toml):
    experiment = toml(FAIR)
    units = experiment.units(Scale("quick", 1))
    assert [unit.name for unit in units] == ["mine-0", "mine-0-agnosticfair"]
    assert [replicate.algorithm for replicate in units[0].make().replicates[1:]] == [
        FedFB(FairBatch("eo", budget=0.1, surrogate="zero_one"), every=2),
        FairFed(0.5),
        LocalFairBatch(FairBatch(alpha=0.2)),
        LocalFairBatch(average_every=2, budgets=(0.1, 0.2, 0.3)),
    ]
    values = experiment.values(run_units(units))
    wide = values.pivot(index="objective", columns="measure", values="value")
    assert len(wide) == 7 and np.isfinite(wide.to_numpy(float)).all()
    assert {"Acc.", "disparity", "eo difference", "eodds difference", "average"} <= set(wide)
    # all people's accuracy is the clients', weighed by their people: here it is per cent
    assert (wide["Acc."] * 100 - wide["average"]).abs().max() < 1e-9


def test_pooled_people_are_one_client(toml):
    text = FAIR.replace('"fedfb-synthetic"', '"fedfb-synthetic"\npooled = true')
    text = text.replace("\nbudgets = [0.1, 0.2, 0.3]", "")
    (unit, _) = toml(text).units(Scale("quick", 1))
    assert unit.make().parts.train.clients == 1


def test_masks(toml):
    text = FAIR.replace('[[algorithm]]\nname = "fedavg"\n', "", 1)
    text += "[computing]\nmasked_updates = true\n"
    setting = toml(text).units(Scale("quick", 1))[0].make()
    assert setting.computing.masked_updates
    with pytest.raises(ValueError, match="masked_updates must be False for FedAvg"):
        toml(FAIR + "[computing]\nmasked_updates = true\n")


def test_dynamic_participants_and_rates(toml):
    experiment = toml(DYNAMIC)
    (unit,) = experiment.units(Scale("quick", 1))
    setting = unit.make()
    assert setting.training.participation == Joining((0, 2, 5), (4, 0, 0))
    assert setting.training.server_schedule == Exponential(0.9)
    (replicate,) = setting.replicates
    assert replicate.algorithm == DynamicQFedAvg(rule=ModifiedNormalizedFedAvg(0.5))
    assert replicate.rates(setting.training) == (0.1, 0.5, 0.0, 0.8)
    assert unit.objectives == (
        "dynamic_qfedavg, rule = modified_normalized_fedavg (beta = 0.5), momentum = 0.5, "
        "server_lr = 0.8",
    )
    assert np.isfinite(experiment.values(run_units([unit]))["value"]).all()


def by_hand(module):
    """The mean accuracy of OWN's two algorithms, of the objects that it names."""
    accuracies = {}
    for seed in (0, 1):
        parts = Parts.of(module.blobs(None, None).split(0.1, 0.1, seed))
        training = Training(rounds=3, schedule=module.Warmup(3), participation=module.Odd())
        replicates = [Replicate(module.Median(0.5), seed, lr=0.2), Replicate(FedAvg(), seed)]
        model = module.tanh((3,), 2, width=5)
        rows = simulated(model, parts, replicates, training, evaluate_every=1).clients
        end = rows.query("round == 3 and part == 'test'")
        for r, part in end.groupby("replicate"):
            mean = 100 * (part.accuracy * part.samples).sum() / part.samples.sum()
            accuracies.setdefault(("median, shrink = 0.5, lr = 0.2", "fedavg")[r], []).append(mean)
    return {name: sum(two) / 2 for name, two in accuracies.items()}


@pytest.mark.slow
@pytest.mark.usefixtures("own_parts_forgotten")
def test_a_file_of_ones_own(cli, tmp_path, monkeypatch):
    """All by name from a TOML: the numbers of the objects. (Other processes: test_own_parts.)"""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(OWN, "utf-8")
    (tmp_path / "user_parts.py").write_text(USER_PARTS.read_text("utf-8"), "utf-8")
    run = ("simulate", "mine.toml", "--import", "user_parts.py", "--json", "--out")
    table = json.loads(cli(*run, "out").stdout)["table"]
    means = {row["objective"]: row["mean"] for row in table if row["measure"] == "average"}
    expected = by_hand(sys.modules["user_parts"])
    assert len(expected) == 2 and means == pytest.approx(expected, rel=1e-9)
    # and it goes on from what is there, with the code that made it alone
    assert json.loads(cli(*run, "out", "--resume").stdout)["table"] == table
    DIGESTS["user_parts.py"] = "of another code"
    changed = cli(*run, "out", "--resume")
    assert changed.exit_code == 2 and "imported.user_parts.py" in changed.stderr


@pytest.mark.usefixtures("own_parts_forgotten")
def test_the_list_shows_what_a_file_adds(cli):
    plain = cli("simulate", "--list").stdout
    shown = cli("simulate", "--list", "--import", USER_PARTS).stdout
    for line, name in (
        ("algorithm.name", "median"),
        ("model.kind", "tanh"),
        ("data.name", "blobs"),
        ("training.schedule.kind", "warmup"),
        ("training.server_schedule.kind", "warmup"),
        ("training.participation.kind", "odd"),
    ):
        with_it, without = (
            next(row for row in text.splitlines() if row.startswith(line)).split(": ")[1]
            for text in (shown, plain)
        )
        assert name in with_it.split(", ") and name not in without.split(", ")


NAMED = (
    ('"blobs"', '"synthetic"', "data.name"),
    ('"tanh"\nwidth = 5', '"softmax"', "model.kind"),
    ('"median"\nshrink = 0.5', '"fedsgd"', r"algorithm\[0\].name"),
    ('{kind = "warmup", over = 3}', '{kind = "constant"}', "training.schedule.kind"),
    ('{kind = "odd"}', '{kind = "everyone"}', "training.participation.kind"),
)
"""What OWN names of user_parts.py, what the package has in its place, and where it stands."""


@pytest.mark.parametrize(("name", "to", "place"), NAMED)
def test_a_file_alone_runs_no_code(toml, tmp_path, name, to, place):
    """A file of one's own is refused without --import, also where the TOML names it."""
    text = OWN
    for own_name, public_name, _ in NAMED:
        assert own_name in text
        text = text if own_name == name else text.replace(own_name, public_name)
    (tmp_path / "user_parts.py").write_text("raise SystemExit('run')", "utf-8")
    with pytest.raises(ValueError, match=f"^{place} must be one of "):
        toml(text)
    assert toml(text.replace(name, to)).units(Scale("quick", 1))
    for key in ("import", "imports"):
        with pytest.raises(ValueError, match=f"^{key} is unknown"):
            toml(f'{key} = ["user_parts.py"]\n' + text)


def test_units_by_name(toml):
    units = toml(DYNAMIC + "[run]\nseeds = [0, 1, 10]\n").units(Scale("quick", 3))
    for patterns, names in (
        ((), ["mine-0", "mine-1", "mine-10"]),
        (("mine-1",), ["mine-1"]),
        (("*0", "mine-1"), ["mine-0", "mine-1", "mine-10"]),
    ):
        assert [unit.name for unit in simulate._chosen(units, patterns)] == names
    with pytest.raises(ValueError, match="--only must name units of mine-0, mine-1, .*got x"):
        simulate._chosen(units, ("mine-*", "x*"))


def joining(lr=0.1, every=1):
    text = PLAIN.replace("clients = 5", "clients = 4").replace("rounds = 3", "rounds = 5")
    groups = "participation = {kind = 'joining', joins = [3, 0, 3], groups = [1, 0, 2, 1]}\n"
    return f"{text.replace('epochs = 1', f'lr = {lr}')}{groups}[run]\nevaluate_every = {every}\n"


def test_groups_that_join_have_a_group_benefit(toml):
    """As the measures' definitions have it; groups that join together are one."""
    experiment = toml(joining())
    clients = run_units(experiment.units(Scale("quick", 1)))
    benefits = experiment.values(clients).set_index("measure")["value"]
    test = clients[clients["part"] == "test"].sort_values(["round", "client"])
    losses = test["loss"].to_numpy().reshape(6, 4)  # the first model, and five rounds
    samples = test["samples"].to_numpy()[:4]
    groups = dynamic.group_losses(losses, np.array([0, 1, 1, 0]), samples)
    for name, form in (("GB (9)", "loss"), ("GB (20)", "benefit")):
        assert benefits[name] == pytest.approx(dynamic.group_benefit(groups, [0, 3], form)[-1])
    assert benefits["least gap"] == pytest.approx(dynamic.fairness_margin(groups, [0, 3])[-1])


def test_a_run_that_diverged_has_no_group_benefit(toml):
    experiment = toml(joining(lr=1e12, every=3))
    values = experiment.values(run_units(experiment.units(Scale("quick", 1))))
    assert len(values) == 5 and not values["measure"].str.startswith("GB").any()


def test_rounds_of_joining_are_measured(toml):
    with pytest.raises(ValueError, match="evaluate_every must divide .* 3, 0, 3, got 2"):
        toml(joining(every=2))
    free = toml(joining().split("[run]")[0] + "[run]")
    assert free.units(Scale("quick", 1))[0].make().evaluate_every == 1
