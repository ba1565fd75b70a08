"""A study from Python: compare, apply and judge on frames, files and counts of sites."""

import dataclasses
import json
import pickle

import numpy as np
import pandas as pd
import pytest
from text_tables import table as table_of

import fairfl as ff

pytestmark = pytest.mark.filterwarnings(
    "ignore::fairfl.theory.populations.calibration.ScoreWarning"
)
ROLES = {"score": "s", "label": "y", "group": "a", "client": "site"}
WORDS = [word for role, column in ROLES.items() for word in (f"--{role}", column)]
QUICK = {"points": 4, "at": [0.1], "schemes": ["lft_ensemble_common"]}
QUICK_WORDS = ["--points", 4, "--at", 0.1, "--schemes", "lft_ensemble_common"]


@pytest.fixture
def leveled(people):
    """People whose scores are the middles of the 20 levels that sites count by default."""
    middle = np.minimum(np.floor(people["s"] * 20 + 1e-9), 19) / 20 + 0.025
    return people.assign(s=middle.round(3))


@pytest.mark.parametrize("kind", ["pandas", "nullable", "polars", "pyarrow"])
def test_frames_are_read_as_files(people, table, kind):
    library = pytest.importorskip("pandas" if kind == "nullable" else kind)
    columns = {name: column.tolist() for name, column in people.items()}
    frame = getattr(library, "table" if kind == "pyarrow" else "DataFrame")(columns)
    if kind == "nullable":
        frame = frame.convert_dtypes().astype({"a": "category"})
    answers = [ff.compare(source, **ROLES, **QUICK, bootstraps=0) for source in (frame, table)]
    assert answers[0].to_json() == answers[1].to_json()
    columns["y"][2] = columns["y"][5] = columns["a"][7] = None
    frame = getattr(library, "table" if kind == "pyarrow" else "DataFrame")(columns)
    with pytest.raises(ValueError, match="the frame must have no .*'a' in row 8; 'y' in rows 3, 6"):
        ff.judge(frame, prediction="y", group="a")


def test_the_command_is_a_face_of_compare(cli, people, table, tmp_path):
    options = {"by_client": "cfl", "bootstraps": 20, "seed": 3}
    answer = ff.compare(people, **ROLES, **QUICK, **options)
    words = [*QUICK_WORDS, "--by-client", "cfl", "--bootstraps", 20, "--seed", 3, "--json"]
    files = ["--page", tmp_path / "p.html", "--card", tmp_path / "c.md", "--out", tmp_path / "o"]
    printed = json.loads(cli("frontier", table, *WORDS, *words, *files).stdout)
    assert printed | {"files": []} == json.loads(answer.to_json())
    assert (tmp_path / "p.html").read_text() == answer.page().replace("the frame", "people")
    text = (tmp_path / "c.md").read_text()
    assert text == answer.card().replace("the frame", "people")
    for scheme, rule in answer.rules.items():
        written = (tmp_path / "o" / f"rule_{scheme}.json").read_text()
        assert written == rule.to_json() and json.loads(written)["sha256"] in text
    frame = answer.to_frame()
    assert frame["scheme"].tolist() == ["cfl"] * 3 + ["lft_ensemble_common"] * 3
    for k, entry in enumerate(printed["schemes"]):
        row = frame.iloc[3 * k : 3 * k + 3]
        (at,) = entry["at"]
        assert row["disparity"].iloc[1] == at["disparity"] == 0.1
        values = [entry["accuracy_at_smallest"], at["accuracy"], entry["best_accuracy"]]
        assert row["accuracy"].tolist() == pytest.approx(np.array(values, float), nan_ok=True)
        ends = entry["intervals"]["best_accuracy"]
        assert row[["lower", "upper"]].iloc[2].tolist() == ends
    assert all(line in answer._repr_html_().replace("&#x27;", "'") for line in answer.words)


def test_federations_and_summaries_give_the_answer_of_rows(summarized, leveled):
    files = summarized(leveled)
    rows = ff.compare(leveled, **ROLES, **QUICK, levels=0)
    columns = (leveled[name] for name in ROLES.values())
    for source in (
        files,
        ff.Federation.from_summaries(files),
        ff.Federation.from_samples(*columns, levels=0),
    ):
        answer = ff.compare(source, **QUICK)
        assert answer.title == (
            ", ".join(sorted({*leveled["site"]})) if source is files else "federation"
        )
        frame = answer.to_frame()
        pd.testing.assert_frame_equal(frame, rows.to_frame(), rtol=0, atol=1e-9)
    weighted = ff.Federation.from_samples(
        *(leveled[name] for name in ROLES.values()), levels=0, weight=[1, 3]
    )
    assert ff.compare(weighted, **QUICK).comparison.spread is None
    for wrong in (files[0], []):
        with pytest.raises(ValueError, match="paths must be those of one summary or more"):
            ff.Federation.from_summaries(wrong)


def test_frontiers_have_the_intervals_of_their_points(people):
    answer = ff.compare(people, **ROLES, points=5, schemes=["lft_ensemble"])
    for curve in answer.frontiers.values():
        assert (curve.lower <= curve.accuracy).all() and (curve.accuracy <= curve.upper).all()
        assert pickle.loads(pickle.dumps(curve)).lower.tolist() == curve.lower.tolist()
        at = float(curve.disparity[2])
        twin = ff.compare(people, **ROLES, points=5, schemes=["lft_ensemble"], at=[at])
        row = twin.to_frame().query("scheme == @curve.scheme").iloc[1]
        frame = curve.to_frame().iloc[2]
        assert frame[["lower", "upper"]].tolist() == pytest.approx(
            row[["lower", "upper"]].tolist(), abs=5e-3
        )
    assert ff.frontier(answer.read.federation, "cfl", 3).lower is None
    for costs in ("balanced", (5, 1)):
        costly = ff.compare(people, **ROLES, points=3, schemes=["cfl"], costs=costs)
        curve = costly.frontiers["cfl"]
        assert (curve.lower <= curve.utility).all() and (curve.utility <= curve.upper).all()


def test_people_are_decided_as_by_the_rule(cli, people, table, tmp_path):
    rule = ff.compare(people, **ROLES, **QUICK, bootstraps=0).rules["cfl"]
    (tmp_path / "rule.json").write_text(rule.to_json())
    for decided in (
        ff.apply(rule, people, score="s", group="a", seed=1),
        ff.apply(tmp_path / "rule.json", table, score=["s"], group=["a"], seed=1),
    ):
        frame = decided.to_frame()
        assert frame["chance"].to_numpy() == pytest.approx(rule(people["s"], people["a"]))
        assert frame["group"].tolist() == people["a"].tolist()
        draws = np.random.default_rng(1).random(len(people))
        assert frame["decision"].tolist() == (draws < frame["chance"]).tolist()
        assert json.loads(decided.to_json())[0]["row"] == 1 and "<p>old: " in decided._repr_html_()
    words = ("--score", "s", "--group", "a", "--seed", 1, "--out", tmp_path / "d.csv")
    done = cli("apply", tmp_path / "rule.json", table, *words)
    assert done.stdout.splitlines()[:2] == decided.words
    assert (pd.read_csv(tmp_path / "d.csv")["decision"] == decided.decision).all()


def test_a_rule_judges_counts_as_rows(cli, summarized, leveled, tmp_path):
    """To rounding, whatever the order of the groups; the command prints the same."""
    files = summarized(leveled)
    rule = ff.compare(files, **QUICK, bootstraps=0).rules["cfl"]
    chance = ff.apply(rule, leveled, score="s", group="a").chance
    rows = ff.judge(leveled.assign(p=chance), prediction="p", **ROLES)
    turned = ff.Classifier(rule.edges[::-1], rule.values[::-1], groups=rule.groups[::-1])
    for same in (rule, turned):
        counts = ff.judge(files, rule=same)
        numbers = [counts.to_frame().select_dtypes("number"), rows.to_frame()]
        pd.testing.assert_frame_equal(numbers[0], numbers[1][numbers[0].columns], atol=1e-9)
        for name in ("accuracy", "disparity"):
            pair = (dataclasses.astuple(getattr(j, name)) for j in (counts, rows))
            assert next(pair) == pytest.approx(next(pair), abs=1e-9)
    (tmp_path / "rule.json").write_text(rule.to_json())
    words = ("judge", *files, "--rule", tmp_path / "rule.json")
    assert json.loads(cli(*words, "--json").stdout) == json.loads(counts.to_json())
    shown = cli(*words, "--since", files[0], "--since", files[1]).stdout
    assert "Since the study 0 of " in shown and "y - score" in shown


@pytest.mark.parametrize("words", [("--min-cell", 12), ("--epsilon", 1), ("--round", 5)], ids=str)
def test_intervals_of_altered_counts_hold_the_counts(summarized, leveled, words):
    """Of withheld counts always, of noise in most cases; and they are wider."""
    plain, altered = (summarized(leveled, "--levels", 5, *more) for more in ((), words))
    cuts = [[np.nextafter(cut, 0)] for cut in (0.6, 0.4)]
    rule = ff.Classifier(cuts, [[0, 1]] * 2, groups=["old", "young"])
    counts, judgement = ff.judge(plain, rule=rule), ff.judge(altered, rule=rule)
    assert judgement.words[0].startswith("Withheld counts") == ("--min-cell" in words)
    names = ["positive", "right", "accepted", "true_positive", "false_positive", "disparity"]
    pairs = [
        (getattr(exact, name), getattr(part, name))
        for exact, part in zip(counts.parts, judgement.parts, strict=True)
        for name in [*names, "auc", "calibration"]
    ]
    both = [pair for pair in pairs if None not in pair]
    held = [part.low - 1e-9 <= exact.value <= part.high + 1e-9 for exact, part in both]
    assert np.mean(held) >= (1.0 if "--min-cell" in words else 0.85)
    assert np.ptp(judgement.disparity.ends) > np.ptp(counts.disparity.ends)


def test_names_are_judged_by_the_rule_of_the_study(summarized, leveled):
    named = leveled.assign(s=leveled["s"].map(lambda s: "qwert"[int(s * 5)]))
    files = summarized(named, "--categorical")
    rule = ff.compare(files, **QUICK, bootstraps=0).rules["cfl"]
    new = named.assign(y=1 - named["y"])  # so that the names have the opposite order
    judgement = ff.judge(summarized(new, "--categorical"), rule=rule)
    chance = ff.apply(rule, named, score="s", group="a").chance
    assert judgement.parts[0].accepted.value == pytest.approx(chance.mean())
    assert judgement.accuracy.value == pytest.approx(
        np.where(new["y"] == 1, chance, 1 - chance).mean()
    )


@pytest.mark.parametrize("kind", ["score", "share"])
def test_a_change_since_the_study_is_named_and_whose(kind):
    """People of one law at both times, but for a group at one site at the later one."""
    rng = np.random.default_rng(5)
    frames = []
    for changed in (False, True):
        n = 4000
        frame = pd.DataFrame({"a": rng.choice(["f", "m"], n), "site": rng.choice(["n", "s"], n)})
        s = rng.random(n).round(3)
        odd = changed & (frame["a"] == "f") & (frame["site"] == "s")
        chance = np.where(odd & (kind == "score"), 0.5, s)
        frame = frame.assign(s=s, y=(rng.random(n) < chance).astype(int))
        frames.append(frame.assign(p=(s > np.where(odd & (kind == "share"), 0.7, 0.5)) * 1))
    judgements = [ff.judge(frame, prediction="p", **ROLES | {"score": None}) for frame in frames]
    options = {"prediction": "p", **ROLES, "score": None}
    later = ff.judge(frames[1], since=frames[0], **options)
    assert later.drift == ff.judge(frames[1], since=judgements[0], **options).drift
    clearest = later.drift[0]
    assert (clearest.client, clearest.group) == ("s", "f") and clearest.least > 0.1
    assert clearest.rate in {"score": ("right", "true_positive", "false_positive")}.get(
        kind, ("accepted", "true_positive", "false_positive")
    )
    (line,) = [line for line in later.words if line.startswith("Since the study")]
    assert f"{len(later.drift)} of {later.n_compared} numbers" in line
    assert any("group f at s: " in line for line in later.words)
    elsewhere = [d for d in later.drift if d.client == "n"]
    assert len(elsewhere) <= 0.15 * later.n_compared


def test_the_score_of_a_part_is_judged(people):
    """AUC by pairs; calibration with the standard error of a mean."""
    judgement = ff.judge(people.assign(p=1), prediction="p", **ROLES)
    for part in judgement.parts:
        there = np.ones(len(people), bool)
        for column, name in (("site", part.client), ("a", part.group)):
            there &= (people[column] == name) | (name is None)
        s, y = people["s"][there].to_numpy(), people["y"][there].to_numpy()
        pairs = s[y == 1][:, None] - s[y == 0]
        assert part.auc.value == pytest.approx(((pairs > 0) + 0.5 * (pairs == 0)).mean())
        assert part.calibration.value == pytest.approx((y - s).mean())
        half = 1.96 * (y - s).std() / np.sqrt(len(y))
        assert np.ptp(part.calibration.ends) / 2 == pytest.approx(half, rel=1e-4)


WRONG = table_of(r"""
compare(3) | people must be a path, or a frame .*, got 3
compare(T, label="y") | group must name columns of people.csv
compare(F, score="s") | score goes with a table of people
compare(T, label="y", group="a", score=["s", "z"], monotone=True) | monotone goes with one score,
    several have no order, got s, z
apply(R, T, group="a") | score or model must be given, and not bo
apply(R, T, group="a", score="s", client="site") | client goes with a model that has one for each
    client, got 'site'
apply(G, T, group="a", score="s") | group must be one of 'f', 'm' of the rule, got 'old' in row 1
judge(T, group="a") | prediction must name columns of people
judge(S) | rule must be given for summaries of sites, got none
judge(S, group="a", rule=R) | group goes with a table of people, got summaries
judge(T, group="a", prediction="y", rule=R) | rule goes with summaries of sites, got the table peo
judge(S, rule=R) | does not from 0.2 to 0.4
judge(S, rule=G) | group must be one of the groups of the rul
judge(S, rule=N) | rule must be of the same score, or scores
""")
"""Calls with a table T, a federation F, summaries S and rules R, G and N; and what is told."""


@pytest.mark.parametrize(("call", "message"), WRONG)
def test_what_does_not_fit_is_one_error(summarized, people, table, call, message):
    values, things = [[0, 1]] * 2, {"T": table, "F": ff.Federation.normal([[0, 1]])}
    things["R"] = ff.Classifier([[0.65], [0.3]], values, groups=["old", "young"])
    things["G"] = ff.Classifier([[0.6], [0.2]], values, groups=["f", "m"])
    groups = {"groups": ["old", "young"], "names": ["q", "w"]}
    things["N"] = ff.Classifier([[0.5], [0.5]], values, **groups)
    if "(S" in call:
        things["S"] = summarized(people, "--levels", 5)
    with pytest.raises(ValueError, match=message):
        eval(f"ff.{call}", {"ff": ff, **things})


def test_an_unknown_option_is_that_of_the_function(table):
    rule = ff.Classifier([[0.65], [0.3]], [[0, 1]] * 2)
    for function, arguments in ((ff.compare, ()), (ff.judge, ()), (ff.apply, (rule,))):
        with pytest.raises(TypeError, match=rf"^{function.__name__}\(\) got .* 'lable'$"):
            function(*arguments, table, group="a", lable="y")


@pytest.mark.parametrize("label", [0, 1])
def test_labels_without_any_scatter_have_wilsons_interval(label):
    """All 40 of group f have one label and one score: y less the score, and its change."""
    half, judgements = 1.96**2 / (40 + 1.96**2), []
    columns = {"p": [1, 0] * 40, "y": [label, label, 0, 1] * 20, "a": list("ffmm") * 20}
    for score in (0.45, 0.75):
        people = pd.DataFrame(columns | {"s": [score, score, 0.2, 0.6] * 20})
        options = {"prediction": "p", "label": "y", "group": "a", "score": "s"}
        with pytest.warns(ff.ScoreWarning):
            judgements.append(ff.judge(people, **options, since=(judgements or [None])[-1]))
        (part,) = [p for p in judgements[-1].parts if p.group == "f"]
        ends = [label - half - score, 1 - score] if label else [-score, half - score]
        assert part.calibration.ends == pytest.approx(ends, abs=1e-4)
    least = {(d.group, d.rate): d.least for d in judgements[1].drift}
    assert least["f", "calibration"] == pytest.approx(0.3 - half, abs=1e-4)
