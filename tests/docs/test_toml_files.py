"""docs/toml_files.md has the keys that the readers ask for, and no others; its files are read."""

import re
import tomllib
from collections import defaultdict
from contextlib import suppress
from inspect import signature
from pathlib import Path

import numpy as np
import pytest

from fairfl.flower.study_file import Study
from fairfl.sims.data.federated import FederatedData
from fairfl.sims.engine import Computing, Training
from fairfl.sims.group_fairness import FairBatch
from fairfl.studies.crosscheck.study_file import study_from_file
from fairfl.studies.grid import DRAWS
from fairfl.studies.user_runs import run_file_parts
from fairfl.studies.user_runs.federation_file import read_federation
from fairfl.studies.user_runs.run_file import read_config
from fairfl.studies.user_runs.toml_section import Section
from fairfl.sweeps.config import read_sweep
from fairfl.theory import aggregation
from fairfl.theory.aggregation import KolmogorovMean, RankWeighted

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "toml_files.md").read_text("utf-8")
FILES = dict(re.findall(r"```toml\n# (\w+)\.toml\n(.*?)```", TEXT, re.DOTALL))


def table(heading: str) -> dict[str, list[str]]:
    """First cell -> names between backticks of the second, of the table under a heading."""
    part = re.split(r"\n##+ ", TEXT.split(f" {heading}\n", 1)[1])[0]
    rows = [line.split(" | ") for line in part.splitlines() if line.startswith("| `")]
    return {row[0].strip("| "): re.findall(r"`(\w+)`", row[1]) for row in rows}


def keys(heading: str) -> set[str]:
    """All names in the first column."""
    return set(re.findall(r"`(\w+)`", " ".join(table(heading))))


def of(kind: object, skip: int = 0) -> list[str]:
    return list(signature(kind).parameters)[skip:]  # type: ignore[arg-type]


@pytest.fixture
def read(monkeypatch):
    """The keys that readers ask for, by the place of the table."""
    keys_of, raw = defaultdict(set), Section.raw

    def noted(self, key, *rest):
        keys_of[re.sub(r"\[\d+\]", "", self.where)].add(key)
        return raw(self, key, *rest)

    monkeypatch.setattr(Section, "raw", noted)
    return keys_of


def written(name: str, folder: Path) -> Path:
    file = folder / f"{name}.toml"
    file.write_text(FILES[name], "utf-8")
    return file


def test_federations(read, tmp_path):
    fed = read_federation(written("federation", tmp_path))
    assert fed.client_names == ("north", "1") and fed.q.tolist() == [0.5, 0.5]
    for law in ("mixture = [{law = 'norm'}], weights = [1]", "points = [0], masses = [1]"):
        (tmp_path / "a.toml").write_text(f"[[clients]]\nlaws = [{{{law}}}, {{{law}}}]")
        read_federation(tmp_path / "a.toml")
    assert read[""] == keys("A federation")
    assert read["clients"] == keys("Keys of a client")
    assert read["eta"] == keys("Keys of eta")
    assert read["clients.laws"] | {"law"} == keys("Keys of a law")  # "law" is looked at as it is


def test_runs_and_comparisons(read, tmp_path):
    text = re.sub(r'name = "mnist"|rows = 4000|(?s:\[partition\].*?\n\n)', "", FILES["run"])
    (tmp_path / "run.toml").write_text(
        text.replace("[data]", '[data]\nname = "synthetic"'), "utf-8"
    )
    read_config(tmp_path / "run.toml")
    assert read[""] == keys("A run") and read["run"] == keys("Keys of run")
    read.clear()
    study_from_file(written("against", tmp_path))
    assert read[""] == keys("A comparison with theory")
    assert read["run"] == {"seeds"}


def test_sweeps(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "sweeps.md").read_text("utf-8")
    (text,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "sweep.toml").write_text(text, "utf-8")
    _, units = read_sweep(tmp_path / "sweep.toml")
    assert "This makes 3 · 5 · 100 units." in page and len(units) == 1500
    assert set(re.findall(r"^\[(\w+)\]", text, re.MULTILINE)) == {"fixed", "grid", "draw"}
    laws = page.split("Draws are ")[1].split(" (mean")[0]
    assert set(re.findall(r"`(\w+)`", laws)) == set(DRAWS)


def test_data(read, monkeypatch):
    def refused(*args, **options):
        raise ValueError("nothing is fetched here")

    for name in ("load", "load_federated", "read_people"):
        monkeypatch.setattr(run_file_parts, name, refused)
    for name in run_file_parts.sources():
        values = {"name": name, "file": "a.csv", "label": "y", "group": "a"}
        with suppress(ValueError):
            run_file_parts.data(
                Section(values if name == "people" else {"name": name}, "data"), None, 0
            )
    assert read["data"] == keys("Keys of data")
    assert set(run_file_parts.sources()) == set(
        re.findall(r"`([\w-]+)`", TEXT.split("`name` is one of ")[1].split(". The last five")[0])
    )


def test_models(read):
    y, owner = np.arange(4) % 2, np.arange(4)
    plain, image = np.zeros((4, 3)), np.zeros((4, 1, 32, 32))
    for kind, row in table("Kinds of model").items():
        x = {"char_lstm": np.zeros((4, 3), np.int64), "lenet": image, "resnet18gn": image}
        data = FederatedData("mine", x.get(kind.strip("`"), plain), y, owner)
        read.clear()
        run_file_parts.model(Section({"kind": kind.strip("`")}, "model"), data)
        assert read["model"] - {"kind"} == set(row), kind
    assert {kind.strip("`") for kind in table("Kinds of model")} == set(run_file_parts.MODELS)


@pytest.mark.parametrize(
    "heading, kinds",
    [
        ("Kinds of partition", {k: of(v, 1) for k, v in run_file_parts.PARTITIONS.items()}),
        ("Kinds of algorithm", {k: of(v) for k, v in run_file_parts.known_algorithms().items()}),
        ("Kinds of participation", {k: of(v) for k, v in run_file_parts.PARTICIPATIONS.items()}),
        ("Kinds of schedule", {k: of(v) for k, v in run_file_parts.SCHEDULES.items()}),
    ],
)
def test_kinds(heading, kinds):
    documented = {k.strip("`"): row for k, row in table(heading).items()}
    ours = {k: row for k, row in kinds.items() if k in documented or not k.startswith("my_")}
    assert documented == ours


@pytest.mark.parametrize(
    "heading, kind",
    [
        ("Keys of training", Training),
        ("Keys of computing", Computing),
        ("Keys of the rule of fedfb and lft", FairBatch),
    ],
)
def test_fields(heading, kind):
    assert keys(heading) == set(of(kind))


def test_tables_within_algorithms():
    arguments = {kind: of(getattr(RankWeighted, kind)) for kind in run_file_parts.RANKS}
    ranks, objectives = re.findall(r"^- `(?:ranks|objective)` of (.*)$", TEXT, re.MULTILINE)
    assert set(re.findall(r'"(\w+)"', ranks)) == set(arguments)
    assert set(re.findall(r"(\w+) = [\d.]", ranks)) == set(sum(arguments.values(), []))
    kinds = [kind for kind in aggregation.objectives().values() if kind.__module__[:7] == "fairfl."]
    names = {kind.__name__ for kind in kinds if kind is not KolmogorovMean}
    assert set(re.findall(r'"(\w+)"', objectives)) == names | {"gini"}
    assert set(re.findall(r"(\w+) = [\d.]", objectives)) == {"q", "alpha", "M"}


def test_the_agreement_of_a_study_can_be_run():
    """As it is printed, and with the guarantee in place of small cells."""
    page = (DOCS / "flower.md").read_text("utf-8")
    (agreement,) = re.findall(r"^```\n(sites = .*?)^```", page, re.MULTILINE | re.DOTALL)
    assert Study(tomllib.loads(agreement)).summary_options
    other = agreement.replace("# guarantee", "guarantee").replace("min_cell = 5", "")
    assert "--guarantee=0.95" in Study(tomllib.loads(other)).frontier_options
