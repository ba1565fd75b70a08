"""Faults put into claims/ and theory/, one at a time, and whether a claim or a test notices.

``make mutation`` draws them by seed and lists those that survive; docs/results/mutation.md explains
these. A mutant is a module compiled from a changed syntax tree, in a process of its own: no file is
touched. A draw hangs on seed and code, not on line numbers, so that an edit leaves the others as
they are. A stopped run goes on where it was; ``--again`` tries the survivors once more, and nothing
else.

Killed means: a claim's evidence is rejected or finds something else, one of its mutants lives, an
exception, a test that fails, or five minutes. Left out are texts, published numbers, the
entries of ``CLAIMS``, what instances are drawn from, and how much is searched. Claims and tests are
taken to pass without a fault.
"""

import argparse
import json
import os
import resource
import sys
import traceback
from functools import partial
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import wait
from pathlib import Path
from time import process_time

import pytest
from mutants import variants

ROOT = Path(__file__).resolve().parents[2]
NOT_OURS = ("__init__", "listing", "picture", "record", "registry", "runner", "dependencies")
"""Modules of claims/ that find, keep and print claims; their tests take minutes."""
COMMON = ("case", "instances", "certificates", "outcome", "verdicts")
"""Tests of what all claims are made of."""
OTHERS, LIMIT = 8.0, 300
"""Seconds of processor: for claims of other modules, and for all that is tried of a mutant."""
FINDINGS = {"holds": "holds", "open": "open"}
"""What a claim's evidence finds by the verdict that is expected; else "refuted"."""


def drawn(count, seed, only, like):
    """The mutants, one of each node: those of the smallest digests of seed and change."""
    best = {}
    for file in sorted(
        file for layer in ("claims", "theory") for file in (ROOT / layer).rglob("*.py")
    ):
        module = ".".join(("fairfl", *file.relative_to(ROOT).with_suffix("").parts))
        if file.stem not in NOT_OURS and module.startswith(only):
            for one in variants(module, file):
                if one.old.startswith(like):
                    best[one.place] = min(one, best.get(one.place, one), key=lambda m: m.rank(seed))
    return sorted(best.values(), key=lambda m: m.rank(seed))[:count]


def tests_of(module):
    """The test files of a module, or the folder of its tests."""
    layer, *inner, name = module.split(".")[1:]
    if layer == "theory":
        found = [ROOT / "tests/theory" / inner[0]]
    elif inner in ([], ["certificates"]):
        found = [ROOT / f"tests/claims/test_{one}.py" for one in dict.fromkeys((name, *COMMON))]
    else:
        found = [ROOT / "tests/claims" / inner[0] / f"test_{name}.py"]
    return [str(file) for file in found if file.exists()]


def failing(module):
    """Whether a test of a module fails."""
    # hypothesis is loaded already, and its plugin warns of that
    plain = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", "--assert=plain"]
    paths = tests_of(module)
    return f"tests of {module}" if paths and pytest.main([*plain, *paths]) else ""


def unlike(modules):
    """The first claim of these modules that does not find what it should, or a mutant of it lives.

    Of claims in other modules, those of the first few seconds.
    """
    from fairfl.claims.claim import QUICK
    from fairfl.claims.outcome import examine

    end = process_time() + OTHERS
    for module in modules:
        for claim in import_module(module).CLAIMS:
            found = examine(claim, QUICK, "")
            alive = ", ".join(f"alive: {one.name}" for one in found.survivors)
            said = found.fault.strip() or alive or found.finding
            if said != FINDINGS.get(claim.expected, "refuted"):
                return f"claim {claim.id}: {str(said).splitlines()[-1]:.120}"
        if process_time() > end:
            break
    return ""


def killer(mutant, claims):
    """What kills the mutant, empty where nothing does; ``claims``: modules of claims to ask."""
    mutant.install()
    import_module(mutant.module)
    if mutant.module in claims:  # quicker than tests
        return unlike(claims) or failing(mutant.module)
    return failing(mutant.module) or unlike(claims)


def answers(jobs, many):
    """Of each (name, work): the name, and what work says with the seconds it took, in ``many``
    processes that have what is loaded here but fairfl.
    """
    fork, running = get_context("fork"), {}
    for name, work in jobs:
        if len(running) == many:
            yield ended(running)
        pipe, end = fork.Pipe(duplex=False)
        process = fork.Process(target=answer, args=(work, end))
        process.start()
        end.close()
        running[pipe] = name, process
    while running:
        yield ended(running)


def ended(running):
    pipe = wait(list(running))[0]
    name, process = running.pop(pipe)
    try:
        found = pipe.recv()
    except EOFError:
        found = "time", LIMIT
    process.join()
    return name, *found


def answer(work, pipe):
    """In a new process: send what ``work`` says."""
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 5))
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
    pipe.send((said, process_time()))
    os._exit(0)


def main():
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
    from fairfl.claims import dependencies
    from fairfl.claims.registry import registered

    given.out.parent.mkdir(exist_ok=True)
    lines = given.out.read_text("utf-8").splitlines() if given.out.exists() else []
    known = {line["key"]: line for line in map(json.loads, lines)}

    modules = sorted({entry.module for entry in registered().values()})
    reached = {m: {owner for owner, _ in dependencies.reached(m)} for m in modules}
    mutants = drawn(given.count, given.seed, given.only, given.like)

    def jobs():
        for one in sorted(mutants, key=lambda m: m.module.startswith("fairfl.theory")):
            before = known.get(one.key, {}).get("killer")  # None where it was not tried
            if before == ("" if given.again else None):
                near = [m for m in modules if one.module in reached[m]]
                near.sort(key=lambda m: len(reached[m]))
                yield one, partial(killer, one, [one.module] if one.module in modules else near)

    for one, said, spent in answers(jobs(), given.jobs):
        known[one.key] = {"key": one.key, "killer": said, "seconds": round(spent, 1)}
        write_whole(given.out, "".join(f"{json.dumps(line)}\n" for line in known.values()))
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
