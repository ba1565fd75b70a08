"""Faults put into claims/ and theory/, one at a time, and whether a claim or a test notices.

``make mutation`` draws them by seed and lists those that survive; docs/results/mutation.md explains
these. A mutant is a module compiled from a changed syntax tree, in a process of its own: no file is
touched. A draw hangs on seed and code, not on line numbers, so that an edit leaves the others as
they are. A stopped run goes on where it was; ``--again`` tries the survivors once more, and nothing
else.

Killed means: a claim's evidence is rejected or finds something else, one of its mutants lives, an
exception, a test that fails, or three times the time. Left out are texts, published numbers, the
entries of ``CLAIMS``, what instances are drawn from, and how much is searched.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from mutants import Mutant, variants

ROOT = Path(__file__).resolve().parents[2]
NOT_OURS = ("__init__", "listing", "picture", "record", "registry", "runner", "sources")
"""Modules of claims/ that find, keep and print claims; their tests take minutes."""
COMMON = ("case", "instances", "certificates", "outcome", "verdicts")
"""Tests of what all claims are made of."""
OTHERS = 8.0
"""Of a module without claims, those of others are checked for so many seconds."""
Looks = dict[str, tuple[str, str, float]]
"""Of claims by id: what is wrong, the finding, and how long it took."""


def drawn(count: int, seed: int, only: str, like: str) -> list[Mutant]:
    """The mutants, one of each node: those of the smallest digests of seed and change."""
    best: dict[Any, Mutant] = {}
    for layer in ("claims", "theory"):
        for file in sorted((ROOT / layer).rglob("*.py")):
            module = ".".join(("fairfl", *file.relative_to(ROOT).with_suffix("").parts))
            if file.stem not in NOT_OURS and module.startswith(only):
                for one in variants(module, file):
                    if one.old.startswith(like):
                        other = best.get(one.place, one)
                        best[one.place] = min(one, other, key=lambda m: m.rank(seed))
    return sorted(best.values(), key=lambda m: m.rank(seed))[:count]


def tests_of(module: str) -> list[str]:
    """The test files of a module, or the folder of its tests."""
    layer, *inner, name = module.split(".")[1:]
    if layer == "theory":
        found = [ROOT / "tests/theory" / inner[0]]
    elif inner in ([], ["certificates"]):
        found = [ROOT / f"tests/claims/test_{one}.py" for one in dict.fromkeys((name, *COMMON))]
    else:
        found = [ROOT / "tests/claims" / inner[0] / f"test_{name}.py"]
    return [str(file) for file in found if file.exists()]


def failing(paths: list[str]) -> str:
    """The first test that fails, empty where all pass."""
    first: list[str] = []
    if not paths:
        return ""

    class Watch:
        def pytest_runtest_logreport(self, report: Any) -> None:
            first.extend([report.nodeid] if report.failed else [])

        pytest_collectreport = pytest_runtest_logreport

    # hypothesis is loaded already, and its plugin warns of that
    plain = ["-p", "no:cacheprovider", "-p", "no:hypothesispytest", "--assert=plain"]
    code = pytest.main(["-x", "-q", *plain, *paths], [Watch()])
    return f"test {first[0]}" if first else f"pytest ends with {code}" if code else ""


def looked_at(module: str) -> Looks:
    """The claims of a module, checked."""
    from fairfl.claims.claim import QUICK
    from fairfl.claims.outcome import examine

    found = {}
    for claim in import_module(module).CLAIMS:
        begin = process_time()
        outcome = examine(claim, QUICK, "")
        wrong = outcome.fault.strip() or ", ".join(f"alive: {m.name}" for m in outcome.survivors)
        found[claim.id] = wrong, outcome.finding or "", process_time() - begin
    return found


def killer(mutant: Mutant, claims: list[str], sound: dict[str, Looks]) -> str:
    """What kills the mutant, empty where nothing does; ``claims``: modules of claims to ask."""
    mutant.install()
    import_module(mutant.module)
    stages = [lambda: failing(tests_of(mutant.module)), lambda: unlike(claims, sound)]
    own = mutant.module in claims  # quicker than tests
    return next(filter(None, (stage() for stage in (stages[::-1] if own else stages))), "")


def unlike(modules: list[str], sound: dict[str, Looks]) -> str:
    """The first claim of these modules that fails, or finds something else than it should."""
    for module in modules:
        for id, (wrong, finding, _) in looked_at(module).items():
            if wrong or finding != sound[module][id][1]:
                return f"claim {id}: {(wrong or finding).splitlines()[-1][:120]}"
    return ""


class Processes:
    """Work in processes that have what is loaded here but fairfl, some at a time."""

    def __init__(self, many: int) -> None:
        self.many = many
        self.running: dict[int, tuple[Any, Any]] = {}

    def run(self, jobs: Iterator[tuple[Any, Callable[[], Any], float]]) -> Iterator[tuple]:
        """Of each (name, work, seconds of processor): the name, what work says, None past these."""
        for name, work, seconds in jobs:
            if len(self.running) == self.many:
                yield self.ended()
            answer = tempfile.TemporaryFile("w+")
            pid = os.fork()
            if not pid:
                self.child(work, answer, int(seconds) + 1)
            self.running[pid] = name, answer
        while self.running:
            yield self.ended()

    def ended(self) -> tuple[Any, Any, float]:
        pid, _, usage = os.wait3(0)
        name, answer = self.running.pop(pid)
        with answer:
            answer.seek(0)
            text = answer.read()
        return name, json.loads(text) if text else None, usage.ru_utime + usage.ru_stime

    def child(self, work: Callable[[], Any], answer: Any, seconds: int) -> None:
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
            os.environ["PATH"] = ""  # no coqc: the files of the proofs are not changed
            quiet = os.open(os.devnull, os.O_WRONLY)
            os.dup2(quiet, 1)
            os.dup2(quiet, 2)
            for name in [name for name in sys.modules if name.partition(".")[0] == "fairfl"]:
                del sys.modules[name]
            try:
                said = work()
            except BaseException:
                said = f"exception {traceback.format_exc().strip().splitlines()[-1][:120]}"
            json.dump(said, answer)
            answer.flush()
        finally:
            os._exit(0)


def main() -> None:
    parse = argparse.ArgumentParser(description="Which faults of claims/ and theory/ pass.")
    parse.add_argument("--count", type=int, default=300)
    parse.add_argument("--seed", type=int, default=1)
    parse.add_argument("--only", default="fairfl.", help="modules whose names begin so")
    parse.add_argument("--jobs", type=int, default=2)
    parse.add_argument("--like", default="", help="only what is changed in text that begins so")
    parse.add_argument("--again", action="store_true", help="only the survivors, once more")
    parse.add_argument("--out", type=Path, default=ROOT / "out/mutation.jsonl")
    given = parse.parse_args()

    from fairfl._support.whole_file import write_whole
    from fairfl.claims import sources
    from fairfl.claims.registry import registered

    given.out.parent.mkdir(exist_ok=True)
    lines = given.out.read_text("utf-8").splitlines() if given.out.exists() else []
    known = {line["key"]: line for line in map(json.loads, lines)}

    def keep(line: dict[str, Any]) -> None:
        known[line["key"]] = line
        write_whole(given.out, "".join(f"{json.dumps(one)}\n" for one in known.values()))

    processes = Processes(given.jobs)
    modules = sorted({entry.module for entry in registered().values()})
    todo = ((m, lambda m=m: looked_at(m), 600.0) for m in modules if m not in known)
    for module, looks, _ in processes.run(todo):
        keep({"key": module, "sound": looks})
    sound: dict[str, Looks] = {m: known[m]["sound"] for m in modules}
    seconds = {m: sum(look[2] for look in sound[m].values()) for m in modules}
    unsound = [f"{m}: {look[0]}" for m in modules for look in sound[m].values() if look[0]]
    if unsound:
        raise SystemExit("\n".join(["claims that fail by themselves:", *unsound]))
    reached = {module: sources.reached(module) for module in modules}

    def plan(module: str) -> list[str]:
        """Its own claims, or of those that reach it, those first that import it, the quickest."""
        found, total = [], 0.0
        for m in sorted(modules, key=lambda m: (module not in sources.imported(m), seconds[m])):
            if module in reached[m] and total < OTHERS:
                found.append(m)
                total += seconds[m]
        return [module] if module in modules else found

    def jobs(mutants: list[Mutant]) -> Iterator[tuple[Mutant, Callable[[], str], float]]:
        for one in sorted(mutants, key=lambda m: m.module.startswith("fairfl.theory")):
            before = known.get(one.key, {}).get("killer")  # None where it was not tried
            if before == ("" if given.again else None):
                claims = plan(one.module)
                limit = 3 * sum(seconds[m] for m in claims) + (150 if tests_of(one.module) else 20)
                yield one, lambda one=one, claims=claims: killer(one, claims, sound), limit

    mutants = drawn(given.count, given.seed, given.only, given.like)
    for one, said, spent in processes.run(jobs(mutants)):
        said = "time" if said is None else said
        keep({"key": one.key, "killer": said, "seconds": round(spent, 1)})
        print(f"{said or 'SURVIVES':40.100} {spent:5.1f} s  {one.key:.160}", flush=True)
    tried = [one for one in mutants if one.key in known]
    alive = [one for one in tried if known[one.key]["killer"] == ""]
    print(f"{len(tried)} drawn, {len(tried) - len(alive)} killed, {len(alive)} survive:")
    for one in sorted(alive, key=lambda m: (m.module, m.line)):
        line = one.file.read_text("utf-8").splitlines()[one.line - 1].strip()
        where = f"{one.file.relative_to(ROOT)}:{one.line}"
        print(f"{where} {one.scope}: {one.old} -> {one.new}\n    {line}")


if __name__ == "__main__":
    main()
