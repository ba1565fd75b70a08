"""What is wrong in a run's file is told with its place: a file, a change, and what is told."""

import pytest
import run_files
from text_tables import table

from fairfl.studies.grid import MOST_TABLES

WRONG = table(r"""
PLAIN | [data] | [date] | date is unknown; allowed here: title, data
PLAIN | clients = 5 | clients = 2.5 | data.clients must be a whole number, got 2.5
PLAIN | clients = 5 | clients = 1000000000 | data.clients must be .*10000.*, got 1000000000
PLAIN | "fedavg" | "fedavg"\nlabel = "a\u0007b" | algorithm\[0\].label must be one printable line
PLAIN | "synthetic" | "iris" | data.name must be one of 'synthetic', 'cifar-10'
PLAIN | clients = 5 | clients = 5\ntest = 0.95 | data.validation \+ test must be less than 1
PLAIN | "softmax" | "tree" | model.kind must be one of 'char_lstm'
PLAIN | "softmax" | "softmax"\nhidden = [3] | model.hidden is unknown; allowed here: kind, classes,
    bias
PLAIN | "softmax" | "softmax"\nclasses = 3 | model.classes must be at least 8, the classes of the
    data, got 3
PLAIN | "softmax" | "char_lstm" | model.kind must be another than char_lstm for
PLAIN | "softmax" | "svm" | y must be .*LinearSVM
PLAIN | "fedavg" | "fedavgg" | algorithm\[0\].name must be one of 'afl', 'clipping_fedavg', 'ditto'
PLAIN | "fedavg" | "qfedavg"\nq = -1 | algorithm\[0\].q must be in \[0, 1e\+300\], got -1
PLAIN | "fedavg" | "pfedavg"\nranks = "gini" | algorithm\[0\].ranks must be a table, got 'gini'
PLAIN | "fedavg" | "pfedavg"\nranks = {kind = "cvar"} | algorithm\[0\].ranks.level must be given
PLAIN | "fedavg" | "dual_weighted"\nobjective = {name = "Mean"} | algorithm\[0\].objective.name
    must be one of 'AFL', 'FedAvg'
PLAIN | [[algorithm]]\nname = "fedavg" |  | algorithm must be given
PLAIN | [[algorithm]] | [[algorithm]]\nname = "fedavg"\n[[algorithm]] | algorithm must be told
    apart by name
PLAIN | rounds = 3 | rounds = 0 | training.rounds must be a whole number of at least 1, got 0
PLAIN | epochs = 1 | epochs = 1\nsteps = 2 | training.epochs and steps must not both be given
PLAIN | epochs = 1 | lr = -0.1 | training.lr must be in \(0, 1e\+38\], got -0.1
PLAIN | epochs = 1 | [run]\nseeds = [1, 1] | run.seeds must be a list of distinct whole numbers >= 0
PLAIN | epochs = 1 | [partition]\nkind = "two_groups"\nalpha = 2.0 | partition.alpha must be in
    \[0, 1\], got 2
PLAIN | rounds = 3 | rounds = | mine.toml is not a TOML file
PLAIN | epochs = 1 | epochs = 1\nparticipation = {kind = "uniform", count = 6} |
    training.participation.count must be a whole number of at most 5, got 6
DYNAMIC | [0, 2, 5] | [0, 2, 6] | .*joins must be below the 6 rounds, got 6
DYNAMIC | "modified_normalized_fedavg", beta = 0.5 | "fedavg" | .*rule must be NormalizedFedAvg
PLAIN | "fedavg" | "agnosticfair" | training.epochs must not be given: agnosticfair takes rounds and
FAIR | name = "fedfb-synthetic" | name = "fedfb-synthetic"\ntest = 0.5 | data.test must not be given
FAIR | "eo" | "eoo" | .*notion must be one of
FAIR | rounds = 2 | rounds = 2\n[computing]\nmemory_limit = "most" | .*memory_limit
OWN | "blobs" | "synthetic" | algorithm.*name must be one of .* got 'median'
GRID | grid = {beta = [0.0, 1.0]} | grid = 3 | data.grid must be a table of lists, got 3
GRID | [0.0, 1.0] | [1.0, 1.0] | data.grid.beta must be a list of distinct values
GRID | beta = [0.0, 1.0] | clients = [3] | data.grid.clients must not be beside data.clien
GRID | beta = [0.0, 1.0] | alfa = [1.0] | data.alfa is unknown; allowed here: name
GRID | rounds = 4 | rounds = 4\nlr = [0.1, 0.2] | training.lr must be a number, got
GRID | seeds = [3, 5] | grid = {seeds = [[1], [2]]} | run.grid is unknown
""")


@pytest.mark.parametrize(("name", "change", "to", "why"), WRONG)
def test_what_is_wrong_is_told_with_its_place(toml, name, change, to, why):
    text = getattr(run_files, name)
    assert change in text
    with pytest.raises(ValueError, match=f"^{why}"):
        toml(text.replace(change, to, 1))


def test_grids_together_have_an_end(toml):
    with pytest.raises(ValueError, match=f"together must have at most {MOST_TABLES} .*, got 1200"):
        toml(run_files.GRID.replace("[0.0, 1.0]", str(list(range(300)))))
