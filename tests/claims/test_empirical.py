"""Claims on measured data: found without torch, checked anew where their data change, and able to
fail.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fairfl.claims import sources
from fairfl.claims.empirical import cfl_frontier
from fairfl.claims.empirical import crosscheck_files as kept
from fairfl.claims.registry import registered
from fairfl.solvers.api import solve
from fairfl.studies.crosscheck.population.frontier_distance import TOLERANCE, exact
from fairfl.studies.crosscheck.population.kept_rules import read, rule_of, short
from fairfl.studies.crosscheck.population.learned_rules import Found, to_text
from fairfl.theory.populations.classifiers import Classifier

EMPIRICAL = sorted(id for id in registered() if id.startswith("empirical/"))
LARGEST = 300_000
"""Bytes of one committed file."""


def test_they_are_found_and_loaded_without_torch():
    code = (
        "import sys\n"
        "class No:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'torch':\n"
        "            raise ImportError('torch is not installed')\n"
        "sys.meta_path.insert(0, No())\n"
        "from fairfl.claims.registry import registered; from fairfl.claims.claim import QUICK\n"
        "claim = registered()['empirical/cfl-frontier-is-a-bound'].claim\n"
        "print([part.finding for part in claim.check(QUICK).parts])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert shown.stdout.strip() == "['holds']", shown.stderr


@pytest.mark.parametrize("file", sorted(kept.FOLDER.glob("*.json")), ids=lambda file: file.stem)
def test_files_are_small_and_belong_to_a_claim(file):
    assert file.stat().st_size <= LARGEST
    modules = {registered()[id].module for id in EMPIRICAL}
    assert any(
        f'"{file.name}"' in Path(str(sources.source(module))).read_text("utf-8")
        for module in modules
    )


def test_a_file_that_is_not_there_says_what_writes_it():
    with pytest.raises(FileNotFoundError, match="fairfl crosscheck nothing --record writes it"):
        kept.load("nothing.json")


def test_the_kept_rules_are_sound_and_one_above_the_frontier_is_caught():
    world, entry, _ = next(read(kept.load(cfl_frontier.FRONTIER)))
    instance = {"file": cfl_frontier.FRONTIER, "world": world.name}
    case = cfl_frontier.case(instance)
    assert case.margin >= -TOLERANCE
    best = solve(world.federation, "cfl", 0.1)
    assert abs(Found.of(best.classifier, world.federation).accuracy - best.accuracy) < 1e-12
    # above by as much as it was below
    pushed = cfl_frontier.case(instance, push=2 * case.margin)
    assert pushed.margin == pytest.approx(-case.margin, abs=1e-9)
    assert exact(world).accuracy_at(best.disparity) == pytest.approx(best.accuracy, abs=1e-10)
    assert set(entry) >= {"scheme", "degree", "rows", "seed", "budget"}


def test_rules_survive_their_short_form():
    sharp = Classifier.from_intervals([[(-float("inf"), 0.25), (1.5, 2.0)], []])
    vote = Classifier.average([sharp, Classifier.thresholds([0.0, 1.0])], [0.25, 0.75])
    for rule in (sharp, vote):
        again = rule_of(json.loads(json.dumps(short(to_text(rule)))))
        assert all(
            (a == b).all()
            for a, b in zip(again.edges + again.values, rule.edges + rule.values, strict=True)
        )
    assert short(to_text(sharp))["values"] == [1, 0]
