"""Units outside of the engine: resumed with the same arguments, else refused."""

from dataclasses import dataclass, replace
from functools import partial

import pandas as pd
import pytest

from fairfl.sims.data.fetch import Remote, locate
from fairfl.studies.execute import run_unit
from fairfl.studies.experiment import Scale, Unit
from fairfl.studies.unit_results import MANIFEST, MEASURED, configuration

CALLS = []


@dataclass(frozen=True)
class World:
    """An argument with parts."""

    name: str
    mean: tuple[float, ...]


def measured(world, scale, budgets=(0.0, 0.1), *, rounds=3):
    """A table that tells its arguments."""
    CALLS.append(rounds)
    return pd.DataFrame(
        {"mean": [*world.mean], "rounds": rounds, "seeds": scale.seeds, "budgets": len(budgets)}
    )


def unit(world=World("w", (1.0, 0.1 + 0.2)), **changed):
    return Unit("u", "w", 0, (), partial(measured, world, Scale(), **changed))


@pytest.fixture(autouse=True)
def calls():
    CALLS.clear()
    return CALLS


def test_the_same_unit_is_read_and_not_run_again(tmp_path, calls):
    first = run_unit(unit(), tmp_path)
    again = run_unit(unit(), tmp_path, resume=True)
    pd.testing.assert_frame_equal(again, first)
    assert calls == [3] and not again.attrs
    # defaults are arguments like others
    spelt_out = run_unit(unit(budgets=(0.0, 0.1), rounds=3), tmp_path, resume=True)
    assert calls == [3] and len(spelt_out) == 2


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (partial(unit, rounds=4), "unit.arguments.rounds = 3, not 4"),
        (partial(unit, budgets=(0.0,)), "the number of unit.arguments.budgets = 2, not 1"),
        (
            partial(unit, World("w", (1.0, 0.3))),
            r"unit.arguments.world.mean\[1\] = 0.30000000000000004, not 0.3",
        ),
        (lambda: replace(unit(), seed=1), "unit.seed = 0, not 1"),
        (
            lambda: replace(unit(), make=partial(twin, World("w", (1.0, 0.1 + 0.2)), Scale())),
            "unit.function",
        ),
    ],
)
def test_another_configuration_under_the_same_name_is_refused(tmp_path, calls, changed, message):
    run_unit(unit(), tmp_path)
    with pytest.raises(ValueError, match=message):
        run_unit(changed(), tmp_path, resume=True)
    assert calls == [3]


def twin(world, scale, budgets=(0.0, 0.1), *, rounds=3):
    """The same arguments, another function."""
    return measured(world, scale, budgets, rounds=rounds)


def test_measures_without_a_manifest_are_measured_anew(tmp_path, calls):
    (tmp_path / "u").mkdir()
    pd.DataFrame({"mean": [9.0]}).to_parquet(tmp_path / "u" / MEASURED)
    assert run_unit(unit(), tmp_path, resume=True)["mean"].tolist() == [1.0, 0.1 + 0.2]
    run_unit(unit(), tmp_path, resume=True)
    assert calls == [3]


@pytest.mark.parametrize("name", [MEASURED, MANIFEST])
def test_what_was_altered_is_told_and_measured_anew(name, tmp_path, calls, caplog):
    first = run_unit(unit(), tmp_path)
    file = tmp_path / "u" / name
    file.write_bytes(file.read_bytes()[:-9])
    pd.testing.assert_frame_equal(run_unit(unit(), tmp_path, resume=True), first)
    assert calls == [3, 3]
    assert [str(file) in record.getMessage() for record in caplog.records] == [True]
    run_unit(unit(), tmp_path, resume=True)
    assert calls == [3, 3]


def of_people():
    """Measures the length of a file of data."""
    CALLS.append(0)
    return pd.DataFrame({"mean": [len(locate([Remote("people.csv")]).read_bytes())]})


def test_other_data_are_measured_anew(tmp_path, calls, caplog, monkeypatch):
    monkeypatch.setenv("FAIRFL_DATA", str(tmp_path))
    people = Unit("p", "p", 0, (), partial(of_people))
    for content, runs in (("a,b", 1), ("a,b", 1), ("a,b,c", 2)):
        (tmp_path / "people.csv").write_text(content)
        assert run_unit(people, tmp_path, resume=True)["mean"].tolist() == [len(content)]
        assert len(calls) == runs
    assert "people.csv" in caplog.text


def test_every_unit_of_the_studies_says_what_it_is_run_with():
    """Twice the same, and no address of an object in it."""
    from fairfl.studies.crosscheck.studies.all_studies import studies

    for study in studies().values():
        units = [study.units(Scale("quick", 1)) for _ in range(2)]
        first, second = ([configuration(planned) for planned in run] for run in units)
        assert len({unit.name for unit in units[0]}) == len(units[0]) > 0
        assert first == second and " at 0x" not in repr(first)


def outer(make, rule):
    """A unit's function, as those of AgnosticFair and of studies are, which take another."""


def test_functions_among_the_arguments_count_by_name_and_arguments():
    nested = Unit("u", "w", 0, (), partial(outer, partial(measured, "w", rounds=4), measured))
    arguments = configuration(nested)["arguments"]
    name = f"{__name__}.measured"
    assert arguments["make"]["function"] == arguments["rule"]["function"] == name
    assert arguments["make"]["arguments"] == {"world": "w", "budgets": [0.0, 0.1], "rounds": 4}
