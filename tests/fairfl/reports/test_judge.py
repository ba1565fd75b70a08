"""fairfl judge: predictions beside the frontiers of a score."""

import json
import re
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq
from scipy.stats import binomtest
from scipy.stats.contingency import relative_risk

import fairfl as ff
from fairfl.reports.curves import frontiers
from fairfl.reports.judgement.judge import judge, sentences
from fairfl.reports.judgement.parts import table as parts_table
from fairfl.reports.judgement.parts import wilson

pytestmark = pytest.mark.filterwarnings(
    "ignore::fairfl.theory.populations.calibration.ScoreWarning"
)
COLUMNS = {"prediction": "p", "label": "y", "group": "a", "client": "site", "score": "s"}
ETA = np.linspace(0.05, 0.95, 10)


def random_people(seed, count=3000):
    """People of a law on ten levels, and its CFL rule's chances at the budget 0.1."""
    rng = np.random.default_rng(seed)
    law = np.array([[np.arange(1, 11), np.arange(10, 0, -1)], [np.ones(10), np.arange(1, 11)]])
    law = law / law.sum(axis=(1, 2), keepdims=True)
    fed = ff.Federation.finite(ETA, law, ETA)
    rule = ff.solve(fed, "cfl", 0.1).classifier
    site = rng.integers(0, 2, count)
    cell = np.array([rng.choice(20, p=law[i].ravel()) for i in site])
    a, x = cell // 10, ETA[cell % 10]
    y = (rng.random(count) < x).astype(int)
    return pd.DataFrame({"s": x, "y": y, "a": a, "site": site, "p": rule(x, a)})


def judged(people, tmp_path, **columns):
    people.to_csv(tmp_path / "people.csv", index=False)
    return judge(tmp_path / "people.csv", **(COLUMNS | columns))


@pytest.mark.parametrize("notion", ["dp", "eo", "equalized_odds", "accuracy_parity"])
@pytest.mark.parametrize("difference", ["pairwise", "overall"])
def test_accuracy_and_disparity_by_their_definitions(tmp_path, notion, difference):
    people = random_people(0, 400)
    judgement = judged(people, tmp_path, notion=notion, difference=difference, score=None)
    right = np.where(people["y"] == 1, people["p"], 1 - people["p"])
    events = {
        "dp": [(people["p"], people["y"] >= 0)],
        "eo": [(people["p"], people["y"] == 1)],
        "equalized_odds": [(people["p"], people["y"] == 1), (people["p"], people["y"] == 0)],
        "accuracy_parity": [(pd.Series(right), people["y"] >= 0)],
    }[notion]
    gaps = []
    for served, event in events:
        rates = [served[event & (people["a"] == a)].mean() for a in (0, 1)]
        of_all = served[event].mean()
        gaps += [abs(r - of_all) for r in rates] if difference == "overall" else [np.ptp(rates)]
    assert judgement.accuracy.value == pytest.approx(right.mean(), abs=1e-12)
    assert judgement.disparity.value == pytest.approx(max(gaps), abs=1e-12)
    assert [(part.client, part.group) for part in judgement.parts] == [
        *((client, None) for client in (None, "0", "1")),
        *((client, group) for client in (None, "0", "1") for group in ("0", "1")),
    ]
    for part in judgement.parts:
        there = people["y"] >= 0
        for column, name in (("site", part.client), ("a", part.group)):
            there &= (people[column].astype(str) == name) | (name is None)
        positive = people["y"] == 1
        shares = (part.right, part.accepted, part.true_positive, part.false_positive)
        events_of_part = (
            (pd.Series(right), there),
            *((people["p"], there & e) for e in (there, positive, ~positive)),
        )
        assert part.people == there.sum()
        for share, (served, event) in zip(shares, events_of_part, strict=True):
            assert share is not None and share.low < share.value < share.high
            assert share.value == pytest.approx(served[event].mean(), abs=1e-12)
            ends = binomtest(round(share.value * 1000), 1000).proportion_ci(method="wilson")
            interval = wilson(round(share.value * 1000) / 1000, 1000)
            assert interval.ends == pytest.approx((ends.low, ends.high), abs=1e-9)
    assert judgement.parts[0].disparity.value == judgement.disparity.value
    (_, high), (_, low) = judgement.parts[0].ends
    assert judgement.parts[0].ratio is not None
    assert judgement.parts[0].ratio.value == pytest.approx(low / high, abs=1e-12)
    assert judgement.distances == () and len(sentences(judgement)) == 2


def test_an_optimal_rule_is_not_distinguishable_and_a_worse_one_is(tmp_path):
    people = random_people(1)
    cfl = judged(people, tmp_path).distances[0]
    assert cfl.scheme == "cfl" and cfl.above is not None
    assert cfl.above.low < 0 < cfl.above.high and abs(cfl.above.value) < 0.01
    text = " ".join(sentences(judged(people, tmp_path)))
    assert "CFL's best rule of the score" in text and "not distinguishable" in text
    lazy = people["p"] * 0.7 + 0.15  # 15 % decide against the rule, and the disparity is 0.7 of its
    worse = judged(people.assign(p=lazy), tmp_path).distances[0].above
    assert worse is not None and worse.low > 0.03
    knows = judged(people.assign(p=people["y"] * 1.0), tmp_path).distances[0]
    assert knows.above is None or knows.above.high < 0  # predictions that know more than the score


def test_a_score_of_names_is_judged_by_its_levels(tmp_path):
    """As its places among the levels, in the order of their shares of y = 1."""
    people = random_people(1)
    share = people.groupby("s")["y"].mean().rank()
    plain = judged(people.assign(s=people["s"].map(share)), tmp_path)
    names = people["s"].map(dict(zip(ETA, "qwertyuiop", strict=True)))
    assert judged(people.assign(s=names), tmp_path, categorical=True) == plain
    with pytest.raises(ValueError, match="categorical goes with a score, got score=None"):
        judged(people, tmp_path, categorical=True, score=None)


def test_a_scheme_that_does_not_get_so_fair_says_so(tmp_path):
    people = random_people(1).assign(p=0.5)  # by lot: no disparity
    judgement = judged(people, tmp_path)
    assert judgement.disparity.value == 0
    for distance in judgement.distances[1:]:
        assert (distance.above is None) == (distance.smallest > 0)
    assert "does not get so fair" in " ".join(sentences(judgement)) or all(
        distance.smallest == 0 for distance in judgement.distances
    )


def test_standard_errors_are_those_of_people_drawn_anew(tmp_path):
    """The twin: the same numbers of 80 other samples; their spread is known to 8 %."""
    numbers = []
    for seed in range(80):
        judgement = judged(random_people(seed, 300), tmp_path, score=None)
        both = judgement.accuracy, judgement.disparity
        numbers.append([n.value for n in both] + [(n.high - n.low) / 2 / 1.96 for n in both])
    spread, errors = np.std(numbers, axis=0, ddof=1)[:2], np.mean(numbers, axis=0)[2:]
    assert errors / spread == pytest.approx(np.ones(2), abs=0.25)


def test_people_with_weights(tmp_path):
    """Shares are those of rows repeated; intervals are person by person, of a stratified sample."""
    people = random_people(2, 1500)
    times = np.random.default_rng(0).integers(1, 6, 1500)
    judgement = judged(people.assign(w=times), tmp_path, weight="w", score=None)
    rows = judged(people.loc[people.index.repeat(times)], tmp_path, score=None)
    assert judgement.people == 1500 and rows.people == times.sum()
    for part, twin in zip(judgement.parts, rows.parts, strict=True):
        for name in ("positive", "right", "accepted", "true_positive", "false_positive"):
            share, other = getattr(part, name), getattr(twin, name)
            assert share.value == pytest.approx(other.value, abs=1e-12)
            assert np.ptp(share.ends) > 1.2 * np.ptp(other.ends)
        assert part.ends == tuple((of, pytest.approx(value)) for of, value in twin.ends)
    right = np.where(people["y"] == 1, people["p"], 1 - people["p"])
    of_person = times * (right - np.average(right, weights=times))
    centred = of_person - pd.Series(of_person).groupby(people["site"]).transform("mean")
    half = 1.96 * np.sqrt((centred**2).sum()) / times.sum()
    assert np.ptp(judgement.accuracy.ends) / 2 == pytest.approx(half, rel=1e-4)
    size = round(times.sum() ** 2 / (times**2).sum())
    assert f"1,500 people with weights, as good as {size:,} of equal ones" in " ".join(
        sentences(judgement)
    )
    by_score = judged(people.assign(w=times), tmp_path, weight="w")
    assert by_score.distances[0].above is not None
    assert by_score.distances[0].above.low < 0 < by_score.distances[0].above.high


def table(tmp_path, rows):
    """A file of people from (site, group, y, prediction, how many), and options to judge it."""
    columns = [np.repeat(column, [n for *_, n in rows]) for column in zip(*rows, strict=True)]
    names = ("site", "a", "y", "p")
    frame = pd.DataFrame(dict(zip(names, columns, strict=False)))
    frame.assign(copy=frame["y"]).to_csv(tmp_path / "people.csv", index=False)
    return frame, {"people": tmp_path / "people.csv", **COLUMNS, "score": None}


FEW = [("n", "a", 1, 1, 60), ("n", "a", 0, 0, 40), ("n", "b", 0, 1, 10), ("n", "b", 0, 0, 40)]
C = [("n", "c", 1, 1, 15), ("n", "c", 1, 0, 15), ("n", "c", 0, 0, 20)]


def test_a_rate_of_nobody_is_undefined_and_says_why(tmp_path):
    """Of groups a and b, b has nobody with y = 1; of c half of those with y = 1 are accepted."""
    _, options = table(tmp_path, FEW)
    judgement = judge(**options, notion="eo")
    assert judgement.disparity is judgement.parts[0].disparity is None and judgement.rate == ""
    assert sentences(judgement)[0].endswith("an undefined disparity: nobody of group b has y = 1.")
    rows = [row[-3:] for row in parts_table(judgement.parts, "site", "a")]
    assert rows[0] == ("disparity", "ratio", "between") and rows[2:] == [("", "", "")] * 2
    assert rows[1] == ("undefined", "undefined", "nobody of group b has y = 1")
    odds = judge(**options, notion="eodds")
    assert odds.disparity is not None and odds.disparity.value == pytest.approx(0.2)  # y = 0
    lines = sentences(odds)
    assert "where y = 0, group b is accepted at a rate of 0.2, group a of 0 (" in lines[0]
    assert lines[0].endswith("0 (left out: nobody of group b has y = 1).") and len(lines) == 2
    assert lines[1].startswith("The ratio of these rates is 0 (0 to 0.")
    cells = [row[-1] for row in parts_table(odds.parts, "site", "a")]
    assert cells[1] == "group b and group a; nobody of group b has y = 1"
    _, options = table(tmp_path, FEW + C)
    three = judge(**options, notion="eo")
    assert three.disparity is not None and three.disparity.value == pytest.approx(0.5)
    assert three.parts[0].ends == (("group a", 1.0), ("group c", 0.5))
    assert three.parts[0].undefined == ("nobody of group b has y = 1",)
    overall = judge(**options, notion="eo", difference="overall")  # 75 of 90 are accepted
    assert overall.disparity is not None and overall.disparity.value == pytest.approx(75 / 90 - 0.5)
    assert overall.parts[0].ends == (("the population", pytest.approx(75 / 90)), ("group c", 0.5))


def test_a_client_without_a_group_has_no_disparity(tmp_path):
    _, options = table(tmp_path, [*FEW, ("s", "a", 1, 1, 30), ("s", "a", 0, 0, 9)])
    parts = judge(**options).parts
    (south,) = (part for part in parts if (part.client, part.group) == ("s", None))
    assert south.disparity is None and south.undefined == ("nobody of group b is there",)


@pytest.mark.parametrize("p", [1, 0])
def test_predictions_that_are_all_alike_have_an_interval(tmp_path, p):
    """Newcombe's (1998), of the groups of which least is known."""
    sizes = {"a": 300, "b": 50, "c": 20}
    _, options = table(tmp_path, [("n", a, k % 2, p, n) for k, (a, n) in enumerate(sizes.items())])
    disparity = judge(**options).disparity
    assert disparity is not None and disparity.value == 0.0
    ends = binomtest(20 * p, 20).proportion_ci(method="wilson")
    assert disparity.low <= 0 and disparity.high == pytest.approx(ends.high - ends.low, abs=1e-9)
    right = judge(**(options | {"prediction": "y", "label": "copy"})).accuracy
    assert right is not None and right.value == 1.0
    assert right.low == pytest.approx(370 / (370 + 1.959964**2))


def test_one_group_that_is_decided_alike_has_wilsons_interval(tmp_path):
    """The other one has the interval that it has everywhere; both are joined by MOVER."""
    frame, options = table(tmp_path, FEW)
    disparity = judge(**options, notion="false_positive_rate_parity").disparity
    ends = binomtest(0, 40).proportion_ci(method="wilson")
    error = np.sqrt(0.2 * 0.8 / 50)
    assert disparity is not None and len(frame) == 150
    assert disparity.high - 0.2 == pytest.approx(1.96 * error, rel=0.02)
    assert 0.2 - disparity.low == pytest.approx(np.hypot(1.96 * error, ends.high), rel=0.02)


@pytest.mark.parametrize(
    ("accepted", "people", "words"),
    [
        ((60, 24), (100, 50), ": not distinguishable from four fifths."),
        ((90, 24), (100, 50), ": below four fifths."),
        ((900, 480), (1000, 500), ": not below four fifths."),
        ((50, 6), (50, 20), ": below four fifths."),
        ((0, 10), (10, 20), ": below four fifths."),
        ((0, 0), (9, 9), ""),
    ],
)
def test_the_ratio_of_rates(tmp_path, accepted, people, words):
    """Its interval ends where that of low - r high, by MOVER of two intervals of Wilson's, is at 0;
    with many people it is that of a relative risk in scipy.
    """
    shares = list(zip(accepted, people, strict=True))
    rows = [("n", a, 1, k, n) for a, (yes, m) in zip("ab", shares, strict=True)
            for k, n in ((1, yes), (0, m - yes)) if n]  # fmt: skip
    _, options = table(tmp_path, rows)
    judgement = judge(**(options | {"label": None}))
    if not words:
        assert judgement.parts[0].ratio is None and len(sentences(judgement)) == 1
        return
    low, high = sorted(shares, key=lambda share: share[0] / share[1])
    wilsons = [binomtest(*share).proportion_ci(method="wilson") for share in (low, high)]
    (p, (under, over)), (q, (below, above)) = zip(
        (low[0] / low[1], high[0] / high[1]), wilsons, strict=True
    )
    first, last = (
        lambda r: p - r * q - np.hypot(p - under, r * (above - q)),
        lambda r: p - r * q + np.hypot(over - p, r * (q - below)),
    )
    ends = brentq(first, 0, 1) if p else 0.0, min(brentq(last, 0, 9), 1.0)
    ratio = judgement.parts[0].ratio
    assert ratio is not None and ratio.value == pytest.approx(p / q)
    assert ratio.ends == pytest.approx(ends, abs=1e-6)
    assert sentences(judgement)[1].endswith(words)
    if min(people) >= 500:
        twin = relative_risk(*low, *high).confidence_interval(0.95)
        assert ratio.ends == pytest.approx((twin.low, twin.high), rel=0.01)


def test_parts_of_the_people_are_judged_each_alone(cli, tmp_path):
    """As tables of their own; dates are of months, and a column may have a role."""
    people = random_people(4, 900)
    days = pd.date_range("2024-01-01", periods=90).repeat(10)
    people = people.assign(day=days.astype(str), month=days.strftime("%Y-%m"))
    months = [part for part in judged(people, tmp_path, score=None, by="day").parts if part.by]
    assert [part.by for part in months] == ["2024-01", "2024-02", "2024-03"]
    for part in months:
        single = judged(people[people["month"] == part.by], tmp_path, score=None).parts[0]
        for name, value in asdict(single).items():
            expected = {"by": part.by}.get(name, value)
            if name == "ends":
                assert [of for of, _ in part.ends] == [of for of, _ in single.ends]
            else:
                assert asdict(part)[name] == pytest.approx(expected, abs=1e-12)
    people.to_csv(tmp_path / "people.csv", index=False)
    words = ("judge", tmp_path / "people.csv", "--prediction", "p", "--group", "a")
    done = cli(*words, "--client", "site", "--by", "site")
    assert (done.exit_code, done.stderr) == (0, "")
    rows = [line[6:] for line in done.stdout.splitlines() if re.match(r"site [01]  ", line)]
    assert len(rows) == 4 and rows[:2] == rows[2:]
    people.assign(day=range(900)).to_csv(tmp_path / "people.csv", index=False)
    wrong = cli(*words, "--by", "day")
    assert wrong.exit_code == 2
    assert "by 'day' must have at most 200 values or months, got 900" in wrong.stderr


@pytest.mark.parametrize("failing", ["cfl", "lft_ensemble_common"])
def test_the_judgement_goes_on_where_a_scheme_fails(cli, tmp_path, monkeypatch, failing):
    people = random_people(1)
    whole = judged(people, tmp_path)

    def frontier(*arguments):
        if arguments[-1] == [failing]:
            raise ff.CertificationError("not certified")
        return frontiers(*arguments)

    monkeypatch.setattr("fairfl.reports.judgement.judge.frontiers", frontier)
    judgement = judged(people, tmp_path)
    assert judgement.failures == {failing: "not certified"}
    assert judgement.distances == tuple(d for d in whole.distances if d.scheme != failing)
    expected = {s: d for s, d in whole.below_cfl.items() if failing not in (s, "cfl")}
    assert judgement.below_cfl == expected and judgement.disparity == whole.disparity
    words = ("--prediction", "p", "--label", "y", "--group", "a", "--score", "s")
    done = cli("judge", tmp_path / "people.csv", *words)
    assert done.exit_code == 1 and "failed: not certified" in done.stdout
    assert "failed: not certified" in done.stderr and "best rule of the score" in done.stdout


def test_acceptance_alone_needs_no_label(cli, tmp_path):
    frame, options = table(tmp_path, FEW + C)
    unlabelled = judge(**(options | {"label": None}))
    labelled = judge(**options)
    assert unlabelled.disparity == labelled.disparity
    assert unlabelled.parts[0].ends == labelled.parts[0].ends
    assert unlabelled.accuracy is None and unlabelled.parts[0].true_positive is None
    rates = frame.groupby("a")["p"].mean()
    assert unlabelled.parts[0].ends == (("group a", rates["a"]), ("group b", rates["b"]))
    words = ("judge", tmp_path / "people.csv", "--prediction", "p", "--group", "a")
    done = cli(*words)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "The predictions for these 200 people have a disparity of 0.4" in done.stdout
    assert json.loads(cli(*words, "--json").stdout)["accuracy"] is None
    for extra in (["--notion", "eo"], ["--score", "y"]):
        wrong = cli(*words, *extra)
        assert wrong.exit_code == 2 and "label must be a column for" in wrong.stderr
