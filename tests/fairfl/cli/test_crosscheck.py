"""fairfl crosscheck: verdicts, files, exit codes, resuming, records, and users' mistakes."""

import json

import pandas as pd
import pytest

from fairfl.studies.crosscheck.practice import CFL, ENSEMBLE


@pytest.fixture
def study(planted_study):
    return planted_study


def test_verdicts_and_files(cli, study, tmp_path):
    result = cli("crosscheck", "planted", "--out", tmp_path)
    assert result.exit_code == 0 and result.stderr == ""
    assert "- planted (hard): holds. It holds. Found: 2 rules." in result.stdout
    assert "1 seed\n" in result.stdout
    # what groupby left as the rows' names is a column
    means = pd.read_csv(tmp_path / "planted" / "means.csv")
    assert list(means) == ["scheme", "accuracy"]
    assert sorted(means["scheme"]) == sorted([CFL, ENSEMBLE])
    assert "means\n" in result.stdout and "scheme        accuracy\n" in result.stdout
    names = {"measures.csv", "means.csv", "verdicts.json"}
    names |= {f"crosscheck-planted.{end}" for end in ("csv", "svg", "png", "manifest.json")}
    names.add("verdicts.manifest.json")
    assert {file.name for file in (tmp_path / "planted").iterdir()} == names
    assert pd.read_csv(tmp_path / "planted" / "measures.csv")["scheme"].tolist() == [CFL, ENSEMBLE]
    assert (
        json.loads((tmp_path / "planted" / "verdicts.json").read_text("utf-8"))[0]["holds"] is True
    )
    again = cli("crosscheck", "planted", "--out", tmp_path)
    assert again.exit_code == 2 and "--resume" in again.stderr
    resumed = cli("crosscheck", "planted", "--out", tmp_path, "--resume", "--json")
    assert resumed.exit_code == 0
    answer = json.loads(resumed.stdout)[0]
    assert (
        answer["seeds"] == 1
        and answer["verdicts"][0]["hard"]
        and len(answer["tables"]["means"]) == 2
    )


@pytest.mark.parametrize(
    ("holds", "hard", "code"), [(False, True, 1), (False, False, 0), (None, True, 0)]
)
def test_a_hard_verdict_that_fails_is_exit_code_1(cli, study, tmp_path, holds, hard, code):
    study.holds, study.hard = holds, hard
    result = cli("crosscheck", "planted", "--out", tmp_path)
    assert result.exit_code == code
    assert ("undecided" if holds is None else "DOES NOT HOLD") in result.stdout
