"""fairfl figures and fairfl reproduce."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fairfl.claims import record, runner
from fairfl.claims.certificates import kernel_proof
from fairfl.claims.registry import registered

MAIN = "from fairfl.cli.main import main; main()"


def test_figures_are_drawn_once_unless_forced_and_skipped_without_data(
    cli, small_registry, tmp_path
):
    everything = cli("figures", "--out", tmp_path)
    assert everything.exit_code == 0
    assert "skipped    nodata: people.data is not available" in everything.stdout
    kinds = ("png", "svg", "csv", "manifest.json")
    assert {file.name for file in tmp_path.iterdir()} == {f"line.{kind}" for kind in kinds}
    assert cli("figures", "nodata", "--out", tmp_path).exit_code == 1
    assert "unchanged" in cli("figures", "line", "--out", tmp_path).stdout
    assert small_registry.drawn == ["line"]
    cli("figures", "line", "--out", tmp_path, "--force")
    assert small_registry.drawn == ["line", "line"]


def test_reproduce_writes_a_page_with_relative_links_to_files_that_exist(
    cli, small_registry, planted_study, monkeypatch, tmp_path
):
    # reports/claims tests the report of all
    monkeypatch.setattr("fairfl.claims.runner.recorded", lambda: [])
    monkeypatch.setattr("fairfl.cli.reproduce.STUDIES", ("planted",))
    result = cli("reproduce", "--out", tmp_path, "--jobs", 1)
    assert result.exit_code == 0, result.stderr
    page = (tmp_path / "index.html").read_text("utf-8")
    links = re.findall(r'(?:href|src)="([^"]*)"', page)
    # three places of the page, the claims, the studies' picture and a link to one study's, and for
    # the one figure a picture, its link and three files
    assert len(links) == 11
    anchors = [link for link in links if link.startswith("#")]
    assert all(f'<section id="{link[1:]}">' in page for link in anchors) and len(anchors) == 3
    assert all((tmp_path / link).is_file() for link in links if link not in anchors)
    assert "<li>planted (hard): holds. It holds. Found: 2 rules.</li>" in page
    assert "A line &lt;with&gt; a title" in page
    assert "Not drawn: people.data is not available" in page
    again = cli("reproduce", "--out", tmp_path, "--jobs", 1)
    assert "unchanged" in again.stdout and small_registry.drawn == ["line"]
    assert (tmp_path / "index.html").read_text("utf-8") == page
    planted_study.holds = False
    assert cli("reproduce", "--out", tmp_path, "--jobs", 1).exit_code == 1
    assert "DOES NOT HOLD" in (tmp_path / "index.html").read_text("utf-8")


def test_reproduce_verifies_certificates_and_goes_without_torch(
    cli, small_registry, monkeypatch, tmp_path
):
    """A record that was altered ends with code 1 and is named on the page."""

    def forged(*_):
        raise ValueError("of <another> value")

    def no_torch(names):
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    entry = registered()["pffl/eq-8"]
    outcome = runner.on_record(record.Record(record.COMMITTED), entry)
    assert outcome is not None, "its record is stale"
    (checked,) = runner.judge([entry], {"pffl/eq-8": outcome})
    monkeypatch.setattr("fairfl.claims.runner.recorded", lambda: [checked])
    monkeypatch.setattr("fairfl.cli.reproduce.STUDIES", ("frontier",))
    monkeypatch.setattr("fairfl.studies.crosscheck.studies.all_studies.find", no_torch)
    result = cli("reproduce", "--out", tmp_path, "--jobs", 1)
    page = (tmp_path / "index.html").read_text("utf-8")
    assert result.exit_code == 0 and "the extra &#x27;sims&#x27; is not installed" in page
    assert 'href="claims.html#pffl"' in page
    monkeypatch.setattr(type(outcome), "verify", forged)
    assert cli("reproduce", "--out", tmp_path, "--jobs", 1).exit_code == 1
    page = (tmp_path / "index.html").read_text("utf-8")
    assert "pffl/eq-8: its certificates do not verify: of &lt;another&gt; value" in page
    assert kernel_proof.COMPILING.get()  # for what this process checks next


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc for the processes")
def test_ctrl_c_stops_the_processes_too(tmp_path):
    # the terminal sends the signal to the whole group
    words = "figures fedfb_figure_5 fedfb_figure_9 --jobs 2 --out".split()
    line = [sys.executable, "-c", MAIN, *words, tmp_path]
    run = subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    children = Path(f"/proc/{run.pid}/task/{run.pid}/children")
    until = time.monotonic() + 60
    # two workers, and python's tracker
    while run.poll() is None and len(children.read_text().split()) < 3 and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(0.5)
    begin = time.monotonic()
    os.killpg(run.pid, signal.SIGINT)
    out, err = run.communicate(timeout=120)
    assert run.returncode == 130
    assert err == "fairfl: stopped\n"
    assert time.monotonic() - begin < 60
    with pytest.raises(ProcessLookupError):
        for _ in range(50):
            os.killpg(run.pid, 0)
            time.sleep(0.1)
    assert not list(Path(tmp_path).glob("*.png"))
