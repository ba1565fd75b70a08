"""Command lines that ask for what cannot be: one line, exit code 2, and no work begun."""

import shlex

import pytest
from run_files import PLAIN
from text_tables import table as rows_of

LAWS = "[[clients]]\nmean = [3, 5]\n[[clients]]\nmean = [1, -1]\n"
PEOPLE = "people.csv --score s --label y --group a --client site"
TWO = "--label y --group a"
SITE = "people.csv --score s --label y --group a --site n"
ROWS = rows_of(r"""
frontier | FILE
frontir | frontir | frontier
--nosuch | --nosuch
claims check --nosuch | --nosuch
frontier two.toml --points 1 | --points | 2 | got 1
figures nosuch | 'nosuch' | fedfb_figure_5
frontier two.toml --at 0.1 --at b | --at | number | got b
frontier two.toml --at nan | at
frontier PEOPLE --calibrate all | --calibrate must be one of | 'all' | 'client_group'
frontier two.toml --seed | --seed | requires
frontier two.toml --levels 99999999999 | --levels
frontier two.toml --label y --calibrate client | --label, --calibrate goes with a table of people
frontier two.toml --bootstraps 10 --seed 1 | --bootstraps, --seed goes with a table of people
frontier none.toml | no such file: 'none.toml'
frontier dir.toml | path must be a file, got the folder 'dir.toml'
frontier people.csv | --label, --group must name columns of people.csv, got none
frontier people.csv --score s TWO --feature z | --feature must not be given together with a score
frontier PEOPLE --out o --page p/x.html --at 1.5 | --at must be in [0, 1]
frontier PEOPLE --out o --bootstraps 19 | --bootstraps must be 0, or from 20 to 100000, got 19
frontier PEOPLE --bootstraps 1000000000000 | --bootstraps must be 0, or from 20 to 100000
frontier PEOPLE --group-pair young,nobody | 'young,nobody'
frontier PEOPLE --group a | must be different columns | 'a, a'
frontier PEOPLE --notion parity | --notion must be one of | 'accuracy_parity' | 'parity'
frontier PEOPLE --difference mean | difference must be one of | 'overall' | 'mean'
frontier PEOPLE --score z --monotone | --monotone goes with one score | got s, z
frontier PEOPLE --sees y | sees must be one of | 'xa' | 'y'
frontier PEOPLE --costs 5 | --costs must be balanced, or FN:FP | '5'
frontier PEOPLE --out o --costs 1,2,3:1 | --costs must be | each of 2 groups | (1.0, 2.0, 3.0)
frontier PEOPLE --schemes best | --schemes must be one of 'cfl' | got 'best'
frontier PEOPLE --guarantee 1 | --guarantee must be in (0, 1)
frontier people.csv TWO --feature s --guarantee 0.95 | guarantee goes with a score
frontier PEOPLE --local-eps -0.1 | --local-eps must be non-negative, got -0.1
simulate | NAME or CONFIG.toml must be given
simulate qffl-table-99 | experiment must be one of
simulate qffl-table-9 --profile slow | --profile
simulate qffl-table-9 --label y --blind | --label, --blind goes with a table of people
simulate run.toml --seeds 0 | --seeds | 1 | got 0
simulate run.toml --seeds 99999999999 | seeds | 1000
simulate two.toml --out o | two.toml: algorithm must be given
simulate none.toml | no such file: 'none.toml'
simulate none.csv TWO | no such file: 'none.csv'
simulate people.csv | --label, --group must name columns of people.csv, got none
simulate people.csv TWO --feature nothing | feature 'nothing' must be a column of people.csv
simulate people.csv TWO --budget -1 | --budget must be
simulate people.csv TWO --notion cp | notion
simulate people.csv TWO --hidden -1 | --hidden
crosscheck nothing | study must be one of 'dual-weights' | got 'nothing'
crosscheck ensemble --seeds 0 | --seeds
crosscheck ensemble --profile long | --profile
arena --algorithm FedAvgg --out o | algorithm must be
arena --federation atlantis --out o | federation must be
arena --algorithm AFL --federation agree --out o | must be such as can ask AFL
arena --predictions nowhere.csv --out o | nowhere.csv
arena --seeds 1 --out o | seeds
arena --profile paper --out o | profile
summarize SITE --levels 5 --edges 0,1 | of --levels, --edges and --categorical one at most must be
summarize SITE --edges 0,x | --edges must be numbers with commas | '0,x'
summarize SITE --edges 0,1 | edges must be three or more increasing
summarize SITE --levels 99999999999 | --levels | 10000
summarize SITE --min-cell 1 | --min-cell
summarize SITE --epsilon 2 --min-cell 5 | --min-cell, --epsilon and --round must not be given tog
summarize people.csv --score s TWO --site "" | site must not be empty
""")
"""A command line, and parts of what is told."""


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_what_cannot_be_asked_is_one_line(refused, table, tmp_path, row):
    line, *messages = row
    for name, text in (("two.toml", LAWS), ("run.toml", PLAIN)):
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "dir.toml").mkdir()
    for name, words in (("PEOPLE", PEOPLE), ("TWO", TWO), ("SITE", SITE)):
        line = line.replace(name, words)
    refused(shlex.split(line), *messages)
