"""Tables as they are: separators, decimals, encodings, missing cells; and schemes asked for."""

import json

import numpy as np
import pandas as pd
import pytest

import fairfl as ff
import fairfl.reports.curves as curves

ROLES = ("--label", "y", "--group", "a", "--score", "s")
COMMANDS = {
    "frontier": (*ROLES, "--client", "site", "--bootstraps", 0, "--points", 4, "--json"),
    "judge": (*ROLES, "--client", "site", "--prediction", "p", "--json"),
    "summarize": (*ROLES, "--site", "all", "--levels", 5, "--out", "all.json"),
}


@pytest.fixture
def outputs_of(cli, quick, people, tmp_path, monkeypatch):
    """What the commands say of people, written in some way."""
    rule = ff.Classifier([[0.5], [0.25]], [[0, 1], [0.5, 1]], ["old", "young"]).to_json()
    (tmp_path / "rule.json").write_text(rule)
    monkeypatch.chdir(tmp_path)

    def outputs_of(*form, frame=None, **written):
        file = tmp_path / "table.csv"
        frame = people.assign(p=people["s"] / 2) if frame is None else frame
        frame.to_csv(file, index=False, **written)
        out = []
        for command, words in COMMANDS.items():
            done = cli(command, file, *words, *form)
            assert (done.exit_code, done.stderr) == (0, "")
            out.append(done.stdout)
        words = ("--score", "s", "--group", "a", "--out", "decided.csv", *form)
        done = cli("apply", "rule.json", file, *words)
        assert (done.exit_code, done.stderr) == (0, "")
        return [*out, done.stdout], (tmp_path / "decided.csv").read_text("utf-8")

    return outputs_of


def test_every_command_reads_every_form(outputs_of, people):
    """Nothing but the decisions' file, which keeps its form, is changed by it."""
    plain, decided = outputs_of()
    spanish = {"sep": ";", "decimal": ",", "encoding": "cp1252"}
    frame = people.assign(p=people["s"] / 2, ciudad="Ávila")
    options = (option for pair in spanish.items() for option in (f"--{pair[0]}", pair[1]))
    again, others = outputs_of(*options, frame=frame, **spanish)
    assert again == plain
    rows = [line.replace(";Ávila", "").replace(";", " ") for line in others.splitlines()[1:]]
    assert rows == [line.replace(",", " ").replace(".", ",") for line in decided.splitlines()[1:]]


def test_rows_with_missing_cells_are_left_out_and_counted(outputs_of, people):
    frame = people.assign(p=people["s"] / 2)
    plain, _ = outputs_of(frame=frame.drop(index=[3, 7]))
    frame.loc[3, "s"], frame.loc[7, "a"] = np.nan, np.nan
    again, decided = outputs_of("--missing", "drop", frame=frame)
    message = "Rows with a missing cell are left out: 2 of 240 rows with one ("
    assert all(message in text for text in again) and len(decided.splitlines()) == 239
    data, expected = json.loads(again[0]), json.loads(plain[0])
    where = data["notes"].pop(1)
    assert data == expected and where.endswith(
        "by 'site' and 'a': south & missing 1, south & young 1."
    )
    assert again[2].split("\n", 1)[1] == plain[2]


@pytest.fixture
def graded(tmp_path):
    """People with a grade, in an order that no name tells."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.choice(list("ABCDE"), 900), columns=["grade"])
    frame["a"], frame["site"] = rng.choice(["f", "m"], 900), rng.choice(["n", "s"], 900)
    frame.loc[(frame["a"] == "f") & (rng.random(900) < 0.4), "grade"] = "A"
    share = frame["grade"].map({"A": 0.4, "B": 0.9, "C": 0.1, "D": 0.6, "E": 0.3})
    return frame.assign(y=(rng.random(900) < share).astype(int))


def test_each_value_of_a_categorical_score_is_a_level(cli, quick, graded, tmp_path):
    file, out = tmp_path / "graded.csv", tmp_path / "out"
    words = ("--score", "grade", *ROLES[:4], "--client", "site", "--categorical", "--points", 5)
    words = ("frontier", file, *words, "--bootstraps", 0, "--at", 0.05)
    answers = []
    for names in ("ABCDE", "EDCBA", "30421"):  # whatever they are called
        grade = graded["grade"].map(dict(zip("ABCDE", names, strict=True)))
        graded.assign(grade=grade).to_csv(file, index=False)
        answers.append(json.loads(cli(*words, "--json").stdout))
    rates = graded.groupby("grade")["y"].mean()
    assert answers[0]["schemes"][0]["best_accuracy"] == pytest.approx(
        np.maximum(rates, 1 - rates)[graded["grade"]].mean(), abs=1e-12
    )
    curves_ = [[scheme["frontier"] for scheme in answer["schemes"]] for answer in answers]
    assert curves_[0] == curves_[1] == curves_[2]
    steps = answers[2]["schemes"][0]["rule"]["steps"]["f"]
    order = "".join(name for name, _ in steps)
    assert order.translate(str.maketrans("30421", "ABCDE")) == "".join(rates.sort_values().index)
    shown = cli(*words, "--out", out).stdout
    assert "score: column 'grade', 5 names; 5 distinct scores, none merged" in shown
    rule = out / "rule_cfl.json"
    share = dict(steps)
    done = cli("apply", rule, file, "--score", "grade", "--group", "a", "--out", out / "d.csv")
    assert done.exit_code == 0 and f" % of {order[2]}, {order[3]}, {order[4]}\n" in done.stdout
    decided = pd.read_csv(out / "d.csv", dtype={"grade": str}).query("a == 'f'")
    assert decided["chance"].tolist() == pytest.approx(decided["grade"].map(share).tolist())
    file.write_text("grade,a\n3,f\nZ,m\n")
    done = cli("apply", rule, file, "--score", "grade", "--group", "a", "--out", out / "d.csv")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "score must be one of " in done.stderr and "got 'Z'" in done.stderr


@pytest.mark.parametrize("withheld", [(), ("--min-cell", 8)])
def test_sites_summarize_a_categorical_score(cli, quick, graded, summarized, tmp_path, withheld):
    """Nobody has an E in the south; without counts withheld the answers are those of the rows."""
    graded = graded[(graded["site"] == "n") | (graded["grade"] != "E")]
    roles, flags = (
        ("--score", "grade", *ROLES[:4], "--categorical"),
        ("--bootstraps", 0, "--json"),
    )
    files = summarized(graded, "--categorical", *withheld, score=("--score", "grade"))
    for file, names in zip(files, ("ABCDE", "ABCD"), strict=True):
        summary = json.loads(file.read_text())
        assert (summary["edges"], summary["names"]) == ([], [*names])
    out = tmp_path / "out"
    again = json.loads(cli("frontier", *files, "--points", 5, *flags, "--out", out).stdout)
    graded.to_csv(tmp_path / "all.csv", index=False)
    words = (tmp_path / "all.csv", *roles, "--client", "site", "--points", 5, *flags)
    plain = json.loads(cli("frontier", *words).stdout)
    for by_sites, by_rows in zip(again["schemes"], plain["schemes"], strict=True):
        margin = 0.02 if withheld else 1e-12
        assert by_sites["best_accuracy"] == pytest.approx(by_rows["best_accuracy"], abs=margin)
        assert (by_sites["rule"]["steps"] == by_rows["rule"]["steps"]) or withheld
    rule = ff.Classifier.from_json((out / "rule_cfl.json").read_text())
    assert sorted(rule.names) == list("ABCDE")
    (tmp_path / "site.csv").write_text("grade,a,y\n1,f,0\n2,m,1\n1,m,0\n")
    words = ("--score", "grade", *ROLES[:4], "--site", "x", "--edges", "0,1,2", "--out", files[0])
    assert cli("summarize", tmp_path / "site.csv", *words).exit_code == 0
    done = cli("frontier", *files)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "sites must have the same edges: 'x' has 0, 1, 2, 's' has no" in done.stderr


@pytest.mark.parametrize(
    ("schemes", "solved"),
    [
        ("lft_fedavg_common", ["cfl", "lft_fedavg_common"]),
        ("lft_ensemble, cfl", ["cfl", "lft_ensemble"]),
    ],
)
def test_only_the_schemes_asked_for_are_solved(
    cli, quick, table, tmp_path, monkeypatch, schemes, solved
):
    calls, whole = [], curves.frontier

    def frontier(fed, scheme, points, *, budgets, **options):
        calls.append(scheme + "_common" * (budgets == "common" and scheme != "cfl"))
        return whole(fed, scheme, points, budgets=budgets, **options)

    monkeypatch.setattr(curves, "frontier", frontier)
    words = ("frontier", table, *COMMANDS["frontier"][:-1], "--schemes", schemes)
    written = ("--out", tmp_path / "out", "--page", tmp_path / "page.html")
    shown = cli(*words, *written)
    assert (shown.exit_code, shown.stderr, calls) == (0, "", solved)
    assert ("A budget for each client" in shown.stdout) == ("lft_ensemble" in solved)
    assert {*pd.read_csv(tmp_path / "out" / "frontier.csv")["scheme"]} == {*solved}
    answer = json.loads(cli(*words, "--json", "--notion", "eo").stdout)
    assert [scheme["scheme"] for scheme in answer["schemes"]] == solved
    assert "only" not in answer["asked"]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda f: f.assign(site="north"), "client: north (100 %)"),
        (
            lambda f: f.assign(site=[*"abcd"] * 60),
            "clients: a (25 %), b (25 %), c (25 %), d (25 %)",
        ),
        (
            lambda f: f.assign(a=f["a"].where(f.index != 5, "x")),
            "the number of people in group x is 1: their rates",
        ),
        (lambda f: f.assign(site=f["a"]), "and so bound by no local constraint: old, young."),
        (lambda f: f[(f.site == "north") | (f.a == "old")], "no local constraint: south."),
        (
            lambda f: f.assign(a="[red]:dog:" + 5 * f["a"] + "[/b]"),  # no markup, and folded
            "│ [red]:dog:old",
        ),
        (lambda f: f.assign(y=(f.index % 40 == 0) * 1), "the most accurate rule accepts nobody"),
        (lambda f: f.assign(s=0.5), "score: column 's'; 1 distinct scores, none merged"),
        (lambda f: f.assign(y=2 - f["y"]), "y = 1 stands for y = 2; "),
        (lambda f: f.assign(s=-f["s"]), "Warning: y = 1 is likelier at smaller scores: is the"),
        (lambda f: f.assign(site=1 + f.index // 2), " in all)."),
        (lambda f: f.assign(s=f["s"] * 1e300), "240 people; score: column 's'"),
        (lambda f: f.rename(columns={"s": " s ", "a": "  a"}), "groups: old and young"),
    ],
)
def test_odd_tables_are_no_errors(cli, quick, people, tmp_path, change, text):
    """Intervals are there, too."""
    change(people).to_csv(tmp_path / "odd.csv", index=False)
    words = "--client site --points 4 --bootstraps 20 --schemes lft_ensemble_common".split()
    done = cli("frontier", tmp_path / "odd.csv", *ROLES, *words)
    assert (done.exit_code, done.stderr) == (0, "") and text in done.stdout, done.stdout
    assert "approximate 95 % intervals" in done.stdout and "…" not in done.stdout
