"""What tests start from: hypothesis profiles, no screen, real data, maybe another rounding."""

import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import matplotlib
import pytest
from hypothesis import settings

matplotlib.use("Agg")

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # so begins what a script starts with &
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples in each run, so that a change is judged by its own doing.
settings.register_profile("ci", derandomize=True, deadline=None, max_examples=25)
# New examples in each run, and the way back to a failing one printed.
settings.register_profile("deep", deadline=None, max_examples=2000, print_blob=True)
# A few examples, for ``make test-fast``.
settings.register_profile("fast", derandomize=True, deadline=None, max_examples=5)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


ASKED = 2
"""Test functions of each file that ``--fast`` asks."""


def pytest_addoption(parser: pytest.Parser) -> None:
    rows = "two quick rows of every file, and all of those marked whole"
    parser.addoption("--fast", action="store_true", help=rows)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of a test's rows all but every k-th are deep where it says ``every(k)``.

    Under ``--fast`` the first row of the first test functions of every file, of those that are not
    slow: a file is a family of tests, so that every family of every layer is asked. Files marked
    ``whole`` are asked in full: what they test, conjugates and domains, differs from row to row.
    """
    rows: Counter[str] = Counter()
    for item in items:
        if marker := item.get_closest_marker("every"):
            name = item.nodeid.partition("[")[0]
            if rows[name] % marker.args[0]:
                item.add_marker("deep")
            rows[name] += 1
    if not config.getoption("--fast"):
        return
    names_of_file: dict[str, set[str]] = {}
    selected, left = [], []
    for item in items:
        file, name = item.nodeid.partition("::")[0], item.nodeid.partition("[")[0]
        seen = names_of_file.setdefault(file, set())
        slow = item.get_closest_marker("slow") or item.get_closest_marker("deep")
        is_first = name not in seen and len(seen) < ASKED
        is_selected = not slow and (is_first or item.get_closest_marker("whole") is not None)
        (selected if is_selected else left).append(item)
        if is_selected:
            seen.add(name)
    config.hook.pytest_deselected(items=left)
    items[:] = selected


@pytest.fixture(scope="session")
def fairfl_data() -> Path:
    """The folder with copies of the public data sets; the test is skipped where there is none."""
    folder = os.environ.get("FAIRFL_DATA")
    if not folder:
        pytest.skip(
            "FAIRFL_DATA is unset: it names the folder with adult/, compas/, bank/, mnist/ and "
            "vehicle/"
        )
    if not Path(folder).is_dir():
        pytest.fail(f"FAIRFL_DATA must name a folder, got {folder!r}")
    return Path(folder)


@cache
def command_of(app):
    """The tree of commands, which typer builds anew, in 50 ms, for each command line."""
    from typer.main import get_command

    return get_command(app)


@pytest.fixture
def cli(monkeypatch):
    """Run a command line; the result has exit_code, stdout, stderr."""
    from typer.testing import CliRunner

    from fairfl.cli.lib import progress
    from fairfl.cli.main import app

    monkeypatch.setattr("typer.testing._get_command", command_of)
    monkeypatch.setattr(progress, "LONG", 1e6)  # a busy machine is told of on stderr
    runner = CliRunner()

    def run(*words):
        result = runner.invoke(app, [str(word) for word in words])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception  # a traceback, which no user should see
        return result

    return run


@pytest.fixture
def own_parts_forgotten(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a test imports of a user's own leaves nothing behind."""
    from fairfl._support import own_parts
    from fairfl.claims.registry import papers, registered
    from fairfl.sims.data.federated.sources import SOURCES
    from fairfl.sims.engine.algorithm import ALGORITHMS
    from fairfl.sims.engine.draws.participation import PARTICIPATIONS
    from fairfl.sims.engine.schedule import SCHEDULES
    from fairfl.sims.models.builders import MODELS
    from fairfl.theory.aggregation._base import OBJECTIVES

    monkeypatch.setenv(own_parts.VARIABLE, "[]")
    own_parts.PLACES.clear()
    registries = OBJECTIVES, ALGORITHMS, MODELS, SOURCES, PARTICIPATIONS, SCHEDULES
    assert all(registry.parts() is not None for registry in registries)  # before a copy is taken
    tables = (*(registry.entries for registry in registries), own_parts.DIGESTS)
    copies = [dict(table) for table in tables]
    for cached in (papers, registered):
        cached.cache_clear()
    yield
    for name, module in list(sys.modules.items()):
        if getattr(module, "__file__", None) in own_parts.PLACES:
            del sys.modules[name]
    for table, before in zip(tables, copies, strict=True):
        table.clear()
        table.update(before)
    for cached in (papers, registered):
        cached.cache_clear()
    own_parts.PLACES.clear()


# Helpers that several test files share: importlib mode puts nothing on the path by itself. Not
# tests/, where tests/fairfl would pass for the package.
sys.path.append(str(Path(__file__).parent / "helpers"))
sys.path.append(str(Path(__file__).parents[1]))  # benchmarks/, which no package holds


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache folder of the tests' own: theirs must not serve a user, nor a user's them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session", autouse=True)
def another_rounding() -> Iterator[None]:
    """Under the environment variable PERTURB, one of ``perturbed.KINDS``; as it is without."""
    kind = os.environ.get("PERTURB")
    if not kind:
        yield
        return
    from perturbed import perturbed  # torch is slow to import

    with perturbed(kind):
        yield
