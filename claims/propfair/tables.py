"""Section 5 and appendix B: the text compared with its tables, number by number."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, Witness
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.studies.papers.propfair import published_numbers as numbers
from fairfl.studies.printed_numbers import Printed


def _column(measure: str, *tables: Printed) -> dict[str, dict[str, str]]:
    """Data, or share, or batch size -> algorithm -> the mean of a measure."""
    found: dict[str, dict[str, str]] = {}
    for (data, name), cells in (item for table in tables for item in table.items()):
        found.setdefault(data, {})[name] = cells[measure][0]
    return found


WORST = _column("worst 10%", numbers.TABLE_6, numbers.TABLE_7, numbers.TABLE_8)
MEANS = _column("devices", numbers.TABLE_6)
SPLITS = {
    # Table 2: training and test set sizes; and the share that the text gives to training, appendix
    # B.1
    "CIFAR-10": (24948, 25052, Fraction(6, 10)),
    "CIFAR-100": (29636, 20364, Fraction(5, 10)),
    "CINIC-10": (134709, 134970, Fraction(1, 2)),
    "Shakespeare": (178796, 177231, Fraction(1, 2)),
    "StackOverflow": (109671, 109621, Fraction(1, 2)),
}
LANGUAGE_GRID = ("1e-3", "1e-2", "5e-2", "1e-1", "5e-1", "1", "2", "5", "10")
VISION_GRID = ("1e-4", "1e-3", "2e-3", "5e-3", "1e-2", "2e-2", "5e-2", "1e-1")
RATES = {
    # Table 5, FedAvg, q-FFL, AFL, PropFair, TERM
    "CIFAR-10": ("5e-3", "2e-3", "2e-3", "1e-2", "1e-2"),
    "CIFAR-100": ("1e-2", "1e-2", "1e-2", "1e-2", "1e-2"),
    "CINIC-10": ("1e-2", "5e-3", "1e-2", "2e-2", "1e-2"),
    "Shakespeare": ("1", "5e-1", "1", "2", "1e-1"),
    "StackOverflow": ("5e-1", "1e-1", "5e-2", "5e-1", "2e-1"),
}


def number(text: str) -> Fraction:
    """A printed decimal, exactly."""
    return Fraction(text)


def best(instance: dict[str, Any], table: str = "worst", slack: Fraction = Fraction(0)) -> Case:
    """In a row, PropFair beats every other algorithm by more than ``slack``."""
    row = (WORST if table == "worst" else MEANS)[instance["row"]]
    others = [(name, number(v)) for name, v in row.items() if name != "PropFair"]
    top = number(row["PropFair"])
    return Case(
        tuple(Relation(slack, "<", top - v, f"{name}, {instance['row']}") for name, v in others)
    )


def check_best(
    effort: Effort, rows: tuple[str, ...], table: str = "worst", slack: Fraction = Fraction(0)
) -> Evidence:
    """A witness for each row."""
    statement = Call.of(best, table=table, slack=slack)
    return Evidence.of(*(Witness.at(statement, f"{row}: PropFair first", row=row) for row in rows))


def check_not_best(effort: Effort, row: str, shows: str, slack: Fraction = Fraction(0)) -> Evidence:
    """The row that contradicts."""
    return Evidence.of(Counterexample.at(Call.of(best, slack=slack), shows, row=row))


def smaller(instance: dict[str, Any], other: str = "AFL") -> Case:
    """From the smaller training ratio to the larger, PropFair's lead over AFL falls."""
    few, many = (WORST[f"ratio {r}"] for r in instance["ratios"])
    lead = [number(row["PropFair"]) - number(row[other]) for row in (few, many)]
    return Case(
        (Relation(lead[1], "<=", lead[0], "lead over " + other),),
        {"order": instance["ratios"] == sorted(instance["ratios"])},
    )


def check_smaller(effort: Effort, ratios: tuple[str, str] = ("0.5", "0.6")) -> Evidence:
    """Two ratios."""
    shows = "from ratio 0.5 to 0.6 the lead in the worst 10 % rises from 0.98 to 1.56"
    return Evidence.of(Counterexample.at(Call.of(smaller), shows, ratios=list(ratios)))


def split(instance: dict[str, Any], swapped: bool = False) -> Case:
    """The training share of Table 2 is within a point of the text's."""
    name = str(instance["dataset"])
    told = {"CIFAR-10": "CIFAR-100", "CIFAR-100": "CIFAR-10"}.get(name, name) if swapped else name
    train, test, _ = SPLITS[name]
    share = Fraction(train, train + test)
    return Case(
        (Relation(abs(share - SPLITS[told][2]), "<=", Fraction(1, 100), f"training share, {name}"),)
    )


def check_split(effort: Effort, swapped: bool = False) -> Evidence:
    """CIFAR-10 and CIFAR-100."""
    shows = "{}: {} training of 50000, the text says {}"
    statement = Call.of(split, swapped=swapped)
    return Evidence.of(
        Counterexample.at(statement, shows.format("CIFAR-10", 24948, "60 %"), dataset="CIFAR-10"),
        Counterexample.at(statement, shows.format("CIFAR-100", 29636, "50 %"), dataset="CIFAR-100"),
    )


def grid(instance: dict[str, Any], added: str = "") -> Case:
    """Every best learning rate is in the grid that it was searched in."""
    name = instance["dataset"]
    allowed = {number(v) for v in (VISION_GRID if name.startswith("CI") else LANGUAGE_GRID)}
    allowed |= {number(added)} if added else set()
    outside = [v for v in RATES[name] if number(v) not in allowed]
    return Case((Relation(len(outside), "==", 0, f"rates outside the grid, {name}"),))


def check_grid(effort: Effort, added: str = "") -> Evidence:
    """StackOverflow."""
    shows = "StackOverflow, TERM: 2e-1 is the best of a grid that has 1e-1 and 5e-1, not 2e-1"
    return Evidence.of(
        Counterexample.at(Call.of(grid, added=added), shows, dataset="StackOverflow")
    )


def repeated(instance: dict[str, Any]) -> Case:
    """One setting (CIFAR-100, ratio 0.6, batch 64) in two tables: worst 10 % within three joint
    standard deviations.
    """
    a, s, b, t = (number(v) for v in instance["entries"])
    return Case(
        (Relation((a - b) ** 2, "<=", 9 * (s**2 + t**2), "squared difference and nine variances"),)
    )


def check_repeated(effort: Effort, second: str | None = None) -> Evidence:
    """AFL's entry."""
    one, other = (
        table[row, "AFL"]["worst 10%"]
        for table, row in ((numbers.TABLE_7, "ratio 0.6"), (numbers.TABLE_8, "batch 64"))
    )
    shows = "AFL: 52.48 +- 0.17 in Table 7, 53.72 +- 0.10 in Table 8, for one setting"
    return Evidence.of(
        Counterexample.at(Call.of(repeated), shows, entries=[*one, second or other[0], other[1]])
    )


DATASETS = ("CIFAR-10", "CIFAR-100", "CINIC-10", "Shakespeare", "StackOverflow")
BATCHES = ("batch 32", "batch 64", "batch 128", "batch 256")
CLAIMS = (
    Claim(
        id="propfair/table-6-worst",
        number="Section 5.2, Table 6",
        line=287,
        title="PropFair has the best worst 10 % accuracy on all five data sets",
        printed="PropFair is the state-of-the-art in terms of the worst 10% performance over "
        "baselines, across various",
        statement="In each of the five blocks of Table 6, PropFair's worst (10%) is larger than "
        "the other four.",
        kind="figure",
        hypotheses=(),
        scope="means over three runs, as printed",
        expected="holds",
        check=partial(check_best, rows=DATASETS),
        mutants=(
            Mutant(
                "by 1/2",
                "by half a point each",
                partial(check_best, rows=DATASETS, slack=Fraction(1, 2)),
            ),
        ),
        notes="On CINIC-10 the lead is 0.33 with standard deviations of 0.34 and 0.12.",
    ),
    Claim(
        id="propfair/table-6-language",
        number="Section 5.2, Table 6",
        line=285,
        title="PropFair has the best mean accuracy on the language data sets",
        printed="PropFair remains competitive, and has the best efficiency for language datasets.",
        statement="On Shakespeare and StackOverflow PropFair's mean is larger than the other four.",
        kind="figure",
        hypotheses=(),
        scope="means over three runs, as printed",
        expected="holds",
        check=partial(check_best, rows=("Shakespeare", "StackOverflow"), table="mean"),
        mutants=(
            Mutant(
                "by 1/10",
                "by a tenth of a point each",
                partial(
                    check_best,
                    rows=("Shakespeare", "StackOverflow"),
                    table="mean",
                    slack=Fraction(1, 10),
                ),
            ),
        ),
    ),
    Claim(
        id="propfair/table-6-shakespeare",
        number="Section 5.2, Table 6",
        line=287,
        title="On Shakespeare PropFair beats the baselines by nearly 2 % in the worst 10 % "
        "accuracy",
        printed=(
            r"for the Shakespeare dataset, PropFair is better than the baselines by **nearly "
            r"2%** w.r.t. the worst 10% test accuracy"
        ),
        statement=(
            "PropFair's worst (10%) on Shakespeare is larger than that of every baseline by more "
            "than 1.5 points."
        ),
        kind="figure",
        hypotheses=(),
        scope="as printed; 'nearly 2' read as more than 1.5",
        expected="refuted",
        check=partial(
            check_not_best,
            row="Shakespeare",
            shows="PropFair is ahead of FedAvg by 1.99, of AFL by 1.40, of TERM by 0.84",
            slack=Fraction(3, 2),
        ),
        mutants=(
            Mutant(
                "by 4/5",
                "by more than 0.8 points",
                partial(
                    check_not_best,
                    row="Shakespeare",
                    shows="no contradiction",
                    slack=Fraction(4, 5),
                ),
            ),
        ),
        severity="remark",
        erratum="0.84 points over TERM, the best baseline; 1.99 over FedAvg.",
    ),
    Claim(
        id="propfair/table-7-best",
        number="Appendix B.4.1, Table 7",
        line=785,
        title="PropFair has the best worst 10 % accuracy at every training set size",
        printed=(
            "PropFair outperforms other algorithms in terms of the worst 10% accuracy, "
            "especially when the training set size is small."
        ),
        statement="At each training set ratio of Table 7 PropFair's worst (10%) is larger than "
        "the other four.",
        kind="figure",
        hypotheses=(),
        scope="as printed",
        expected="refuted",
        check=partial(check_not_best, row="ratio 0.7", shows="ratio 0.7: AFL is ahead by 0.02"),
        mutants=(
            Mutant(
                "ratio 0.6",
                "another row",
                partial(check_not_best, row="ratio 0.6", shows="no contradiction"),
            ),
        ),
        severity="remark",
        erratum="At a ratio of 0.7 AFL is ahead, 56.62 to 56.60 (within the spread of the runs).",
    ),
    Claim(
        id="propfair/table-7-difference",
        number="Appendix B.4.1, Table 7",
        line=785,
        title="As the training set grows, PropFair's lead over AFL shrinks",
        printed="As the training set gets larger, the difference between PropFair and AFL gets "
        "smaller.",
        statement="PropFair's lead over AFL in worst (10%) does not rise from one training set "
        "ratio to the next.",
        kind="figure",
        hypotheses=(("order", "the smaller ratio first"),),
        scope="as printed",
        expected="refuted",
        check=check_smaller,
        mutants=(
            Mutant(
                "0.6 and 0.7", "the next two ratios", partial(check_smaller, ratios=("0.6", "0.7"))
            ),
        ),
        severity="remark",
        erratum="The leads are 1.47, 0.98, 1.56 and -0.02 at ratios 0.4, 0.5, 0.6 and 0.7.",
    ),
    Claim(
        id="propfair/table-8-best",
        number="Appendix B.4.2, Table 8",
        line=820,
        title="PropFair has the best worst 10 % accuracy at every batch size",
        printed=(
            "PropFair consistently outperforms other algorithms in terms of fairness (worst 10% "
            "performances) for all batch sizes."
        ),
        statement="At each batch size of Table 8 PropFair's worst (10%) is larger than the other "
        "four.",
        kind="figure",
        hypotheses=(),
        scope="as printed",
        expected="holds",
        check=partial(check_best, rows=BATCHES),
        mutants=(
            Mutant(
                "by 1/2",
                "by half a point each",
                partial(check_best, rows=BATCHES, slack=Fraction(1, 2)),
            ),
        ),
        notes="The leads are 0.47, 0.10, 0.13 and 0.80 points, the standard deviations up to 0.28.",
    ),
    Claim(
        id="propfair/table-7-and-8",
        number="Tables 7 and 8",
        line=783,
        title="Tables 7 and 8 agree where their settings do",
        printed="we fix the training set ratio to 0.6 for CIFAR-100 dataset; fix the default "
        "batch size to 64",
        statement=(
            "For AFL, the worst (10%) of Table 7 at ratio 0.6 and of Table 8 at batch size 64 "
            "differ by at most three joint standard deviations of the runs."
        ),
        kind="figure",
        hypotheses=(),
        scope="AFL, as printed",
        expected="refuted",
        check=check_repeated,
        mutants=(
            Mutant("52.72", "another entry in Table 8", partial(check_repeated, second="52.72")),
        ),
        reading=(
            "Both are CIFAR-100 with ratio 0.6 and batch size 64, in one section 'with a "
            "different data split and different seeds than Table 6'. TERM's rows are the same "
            "but for one digit (69.85 and 69.89), so they are one run."
        ),
        severity="remark",
        erratum=(
            "AFL has 52.48 and 53.72, in the other columns 61.63/62.09 and 69.63/70.16. Say what "
            "differs, or give one set of runs. In Table 7, TERM's best (10%) at ratio 0.4 "
            "repeats AFL's, 60.46 +- 0.21."
        ),
        whose="implied",
    ),
    Claim(
        id="propfair/table-2-split",
        number="Table 2, appendix B.1",
        line=706,
        title="Table 2 has the training shares that the text gives",
        printed=(
            "60% training data and 40% test data for CIFAR-10. For CIFAR-100 ... 50% training "
            "data and 50% test data."
        ),
        statement="Training set size over all samples is 60 % for CIFAR-10 and 50 % for "
        "CIFAR-100, within a point.",
        kind="figure",
        hypotheses=(),
        scope="as printed",
        expected="refuted",
        check=check_split,
        mutants=(
            Mutant(
                "swapped",
                "50 % for CIFAR-10, 60 % for CIFAR-100",
                partial(check_split, swapped=True),
            ),
        ),
        severity="misprint",
        erratum=(
            "Table 2 has 24948 of 50000 for CIFAR-10 and 29636 of 50000 for CIFAR-100: text or "
            "table has the two swapped. (Ratio 0.6 for CIFAR-100 in appendix B.4 speaks for the "
            "table.) CINIC-10 adds up to 269679, not 270000."
        ),
    ),
    Claim(
        id="propfair/table-5-grid",
        number="Table 5, appendix B.2",
        line=759,
        title="The best learning rates are in the grids that were searched",
        printed=(
            "we find the best learning rate from a grid ... StackOverflow: {1e-3, 1e-2, 5e-2, "
            "1e-1, 5e-1, 1, 2, 5, 10}"
        ),
        statement="Each entry of Table 5 is in the grid of its data set.",
        kind="figure",
        hypotheses=(),
        scope="as printed",
        expected="refuted",
        check=check_grid,
        mutants=(Mutant("2e-1", "the grid with 2e-1", partial(check_grid, added="2e-1")),),
        severity="remark",
        erratum="TERM on StackOverflow has 2e-1, which is not in the grid (1e-1 and 5e-1 are). "
        "All other entries are.",
    ),
)
