"""Faults put into claims/ and theory/, one at a time, and whether a claim or a test notices.

``make mutation`` is a sweep over faults drawn by seed, and lists those that survive;
docs/results/mutation.md explains these. A mutant is a module compiled from a changed syntax tree,
in a process of its own: no file is touched. A draw hangs on seed and code, not on line numbers, so
that an edit leaves the others as they are.

Killed means: a claim's evidence is rejected or finds something else, one of its mutants lives, an
exception, a test that fails, or five minutes. Left out are texts, published numbers, the
entries of ``CLAIMS``, what instances are drawn from, and how much is searched. Claims and tests are
taken to pass without a fault.
"""

import argparse
import os
import resource
import sys
import traceback
from functools import cache, partial
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from time import process_time

import pandas as pd
import pytest
from mutants import variants

from fairfl._support.processes import begin

ROOT = Path(__file__).resolve().parents[2]
NOT_OURS = ("__init__", "listing", "picture", "record", "registry", "runner", "dependencies")
"""Modules of claims/ that find, keep and print claims; their tests take minutes."""
COMMON = ("case", "property_run", "certificates", "outcome", "verdicts")
"""Tests of what all claims are made of."""
OTHERS, LIMIT = 8.0, 300
"""Seconds of processor: for claims of other modules, and for all that is tried of a mutant."""
FINDINGS = {"holds": "holds", "open": "open"}
"""What a claim's evidence finds by the verdict that is expected; else "refuted"."""


@cache
def sampled(seed):
    """The mutants, one of each node: those of the smallest digests of seed and change first."""
    best = {}
    for file in sorted(
        file for layer in ("claims", "theory") for file in (ROOT / layer).rglob("*.py")
    ):
        module = ".".join(("fairfl", *file.relative_to(ROOT).with_suffix("").parts))
        if file.stem not in NOT_OURS:
            for mutant in variants(module, file):
                best[mutant.place] = min(
                    mutant, best.get(mutant.place, mutant), key=lambda m: m.rank(seed)
                )
    return sorted(best.values(), key=lambda m: m.rank(seed))


@cache
def modules_reached():
    """The modules of claims, and what each imports."""
    from fairfl.claims import dependencies
    from fairfl.claims.registry import registered

    modules = sorted({entry.module for entry in registered().values()})
    return {m: {owner for owner, _ in dependencies.reached(m)} for m in modules}


def tests_of(module):
    """The test files of a module, or the folder of its tests."""
    layer, *inner, name = module.split(".")[1:]
    if layer == "theory":
        files = [ROOT / "tests/theory" / inner[0], ROOT / "tests/theory/test_bad_input.py"]
    elif inner in ([], ["certificates"]):
        files = [ROOT / f"tests/claims/test_{stem}.py" for stem in dict.fromkeys((name, *COMMON))]
    else:
        files = [ROOT / "tests/claims" / inner[0] / f"test_{name}.py"]
    return [str(file) for file in files if file.exists()]


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
    from fairfl.claims.effort import QUICK
    from fairfl.claims.outcome import examine

    end = process_time() + OTHERS
    for module in modules:
        for claim in (form for entry in import_module(module).CLAIMS for form in entry.forms()):
            outcome = examine(claim, QUICK)
            alive = ", ".join(f"alive: {entry.name}" for entry in outcome.survivors)
            said = outcome.fault.strip() or alive or outcome.finding
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


def tried(number, seed=1):
    """A unit of the sweep: what kills the mutant of this number, "" where nothing does."""
    mutant, reached = sampled(seed)[number], modules_reached()
    nearest = sorted(
        (m for m in reached if mutant.module in reached[m]), key=lambda m: len(reached[m])
    )
    claims = [mutant.module] if mutant.module in reached else nearest
    fork = get_context("fork")
    pipe, end = fork.Pipe(duplex=False)
    process = fork.Process(target=answer, args=(partial(killer, mutant, claims), end))
    process.start()
    end.close()
    try:
        said = pipe.recv()
    except EOFError:
        said = "time"
    process.join()
    line = mutant.file.read_text("utf-8").splitlines()[mutant.line - 1].strip()
    where = f"{mutant.file.relative_to(ROOT)}:{mutant.line}"
    return {"killer": said, "mutant": mutant.key, "where": where, "line": line}


def answer(work, pipe):
    """In a new process, that ends with its parent: send what ``work`` says."""
    begin()
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
    pipe.send(said)
    os._exit(0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The faults of a sweep's table that survive.")
    parser.add_argument("table", type=Path)
    mutants = pd.read_parquet(parser.parse_args().table)
    alive = mutants[mutants.killer == ""]
    print(f"{len(mutants)} drawn, {len(mutants) - len(alive)} killed, {len(alive)} survive:")
    for survivor in alive.sort_values("where").itertuples():
        print(f"{survivor.number} {survivor.where} {survivor.mutant}\n    {survivor.line}")
