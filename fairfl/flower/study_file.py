"""The agreement of a study, study.toml: who takes part, what sites count, and what is asked."""

import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from fairfl._support.checks import in_range, listed, one_of, shown
from fairfl._support.toml_file import read_toml
from fairfl.theory.populations.notions import ALIASES, NOTIONS

FITTED, RULES = "fitted_score", ("cfl", "lft_fedavg_common", "lft_fedavg")
"""Column of a score that the sites fitted; schemes whose one rule they can take."""
SENT, REFUSED = ".sent.json", ".refused.json"
"""Ends of the names of a site's texts that somebody let leave, or did not."""


class Study(SimpleNamespace):
    """What the sites agreed on: the keys of keys.toml as attributes, from the tables of study.toml.

    ``summary_options`` go to ``fairfl summarize``, ``frontier_options`` to ``fairfl frontier``;
    ``features`` are columns and values. ValueError: what does not fit, by its place in the file.
    """

    def __init__(self, tables: dict[str, Any]) -> None:
        keys = completed(tables, read_toml(Path(__file__).with_name("keys.toml")))
        super().__init__(**keys, **keys["columns"], tables=tables)
        score, question = keys["score"], keys["question"]
        edges, limits = score["edges"], (score["min_cell"], score["epsilon"], question["guarantee"])
        kinds, texts = [bool(score[name]) for name in ("column", "features")], score["features"]
        names, schemes = "".join(map(str, self.sites)), question["schemes"].split(",")
        for name, value, is_right, allowed in (
            ("sites", self.sites, len({*self.sites}) == len(self.sites) > 1, "two names or more"),
            ("sites", self.sites, _are(str, self.sites) and not {*names} & {*"/."}, "without / ."),
            ("columns", keys["columns"], all(keys["columns"].values()), "three names"),
            ("score", score, sum(kinds) == 1, "of either column or features"),
            ("score.features", texts, all(_are(str, v) for v in texts.values()), "lists of texts"),
            ("score.edges", edges, _are((int, float), edges) and len(edges) > 2, "three or more"),
            ("score.edges", edges, sorted({*edges}) == edges, "rising"),
            ("question.guarantee", limits, sum(map(bool, limits)) < 2, "without min_cell, epsilon"),
            ("question.at", question["at"], question["at"], "one disparity or more"),
            ("question.schemes", schemes, {question["scheme"], ""} & {*schemes}, "with the scheme"),
        ):
            if not is_right:
                raise ValueError(f"{name} must be {allowed}, got {shown(value)}")
        for name in ("at", "guarantee"):
            in_range(f"question.{name}", question[name], 0.0, 1.0, open_high=True)
        self.scheme = one_of("question.scheme", question.pop("scheme"), RULES)
        one_of("question.notion", question["notion"], (*NOTIONS, *ALIASES))
        self.least = self.least or len(self.sites)
        self.features = [(c, v) for c, vs in score["features"].items() for v in vs or [""]]
        self.column = score["column"] or FITTED
        self.edges = tuple(map(float, edges))
        cuts = ",".join(map(repr, self.edges))
        self.summary_options = options(edges=cuts, min_cell=limits[0], epsilon=limits[1])
        self.frontier_options = options(**question, calibrate=score["calibrate"])


def completed(tables: dict[str, Any], keys: dict[str, Any], place: str = "") -> dict[str, Any]:
    """The tables with all keys; ValueError for another key, and a value of another kind."""
    for key, value in tables.items():
        kinds = (int, float) if isinstance(keys.get(key), int | float) else type(keys.get(key))
        if not isinstance(value, kinds) or isinstance(value, bool):
            like = f"like {keys[key]!r}" if key in keys else f"one of {listed([*keys])}"
            raise ValueError(f"{place}{key} must be {like}, got {shown(value)}")
    return {
        key: completed(tables.get(key, {}), default, f"{place}{key}.")
        if isinstance(default, dict) and default
        else tables.get(key, default)
        for key, default in keys.items()
    }


def _are(kinds: Any, values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, kinds) for value in values)


def options(**values: Any) -> list[str]:
    """Options of a command: of a list each value, of None, 0 and "" none but of bootstraps."""
    rows = {k.replace("_", "-"): v if isinstance(v, list) else [v] for k, v in values.items()}
    return [f"--{k}={v}" for k, row in rows.items() for v in row if v or k == "bootstraps"]


def first_difference(ours: Any, theirs: Any, place: str = "study.toml") -> str:
    """Where the tables of two files first differ, in words; "" where they agree."""
    if not (isinstance(ours, dict) and isinstance(theirs, dict)):
        return "" if ours == theirs else f"{place} is {shown(ours)} here, {shown(theirs)} there"
    rows = (first_difference(ours.get(k), theirs.get(k), f"{place}: {k}") for k in ours | theirs)
    return next(filter(None, rows), "")


def command(*words: object) -> str:
    """What a command of fairfl prints; ValueError or RuntimeError with the line of its error."""
    line = [sys.executable, "-m", "fairfl", *map(str, words)]
    done = subprocess.run(line, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        kind = ValueError if done.returncode == 2 else RuntimeError
        raise kind(done.stderr.strip().removeprefix("fairfl: error: "))
    return done.stdout


def log(folder: Path, line: str, text: str = "") -> None:
    """Add a line with the time to study.log, and of a text its size and digest."""
    data, now = text.encode(), time.strftime("%H:%M:%S")
    size = f", {len(data):,} bytes, SHA-256 {sha256(data).hexdigest()[:16]}" if text else ""
    with (folder / "study.log").open("a", encoding="utf-8") as stream:
        stream.write(f"{now} {' '.join(line.split())}{size}\n")
