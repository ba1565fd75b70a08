"""The coordinator's side of a study on Flower: asks the sites, keeps all that it receives, and
works on it with the commands of fairfl. A study that was stopped goes on from there.
"""

import csv
import io
import json
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from hashlib import sha256
from pathlib import Path

import numpy as np
from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.serverapp import Grid, ServerApp

from fairfl._support.json_file import read_json, unsealed
from fairfl._support.whole_file import write_whole
from fairfl.flower.study_file import Study, command, log, options
from fairfl.sims.data.joined_summaries import joined
from fairfl.sims.data.score_model import ScoreModel
from fairfl.sims.data.summary import read_summary

POLL, AGAIN, LOST = 0.2, 5.0, 60.0
"""Seconds between looks for answers, until a site that failed is asked again, and until a message
counts as lost.
"""
Check = Callable[[Path, str], None]
app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    """Run the study in the run's folder, and tell the sites how it ended."""
    study = Coordinator(grid, Path(str(context.run_config["folder"])))
    for earlier in (study.folder / "received").glob("end-*"):
        earlier.unlink()
    try:
        end = study.run()
    except (ValueError, RuntimeError, OSError) as error:
        end = f"error: {error}"
    log(study.folder, end if end.startswith("error: ") else "the study is done")
    study.refused.clear()
    with suppress(RuntimeError):  # a site that cannot be told
        study.gather("end", {"text": end}, lambda file, site: None, LOST)
    write_whole(study.folder / "end.txt", end)


class Coordinator:
    """A study in a folder, and the sites on Flower."""

    def __init__(self, grid: Grid, folder: Path) -> None:
        self.grid, self.folder = grid, folder
        self.study = Study(read_json(folder / "study.json")["study"])
        self.refused, self.site_of, self.lines = set[str](), dict[int, str](), set[str]()

    def run(self) -> str:
        """Counts, frontier, report, rules and decisions; returns the judgement."""
        folder, study, content = self.folder, self.study, dict[str, str]()
        if study.features:
            content["model"] = self.fitted()
        check = partial(self.check_summary, {"score": study.column, "edges": study.edges})
        counts = self.gather("counts", content, check)
        rule, page = folder / "rules" / f"rule_{study.scheme}.json", folder / "page.html"
        rule.unlink(missing_ok=True)
        words = *study.frontier_options, *options(out=rule.parent, page=page)
        write_whole(folder / "report.txt", command("frontier", *counts, *words))
        log(folder, f"report.txt, page.html and rules are of {len(counts)} sites")
        if not rule.exists():
            raise RuntimeError(f"report.txt says why there is no rule of {study.scheme}")
        content |= {"rule": rule.read_text("utf-8"), "page": page.read_text("utf-8")}
        check = partial(self.check_summary, {"score": "decision", "edges": ()})
        people = people_of(self.gather("decisions", content, check))
        roles = {"prediction": "decision", "label": "y", "group": "group", "client": "site"}
        words = write_whole(folder / "judged.csv", people), *options(**roles)
        judgement = command("judge", *words, f"--notion={study.question['notion']}")
        write_whole(folder / "judgement.txt", judgement)
        return judgement

    def fitted(self) -> str:
        """A logistic model by federated averaging: sites' models weighed by their people."""
        features, theta = tuple(self.study.features), np.zeros(1 + len(self.study.features))

        def model() -> str:
            return ScoreModel(("y",), features, theta[None, 1:], theta[:1]).to_json()

        for number in range(1, self.study.score["rounds"] + 1):
            files = self.gather(f"update-{number}", {"model": model()}, self.check_update)
            rows = [unsealed(read_json(file)) for file in files]
            models, people = zip(*((r["parameters"], r["people"]) for r in rows), strict=True)
            theta = np.average(models, axis=0, weights=people)
        return model()

    def gather(
        self, kind: str, content: dict[str, str], check: Check, wait: float | None = None
    ) -> list[Path]:
        """The sites' texts of a kind that passed the check; RuntimeError where they are too few."""
        sites, site_of = self.study.sites, self.site_of
        files = {site: self.folder / "received" / f"{kind}-{site}.json" for site in sites}
        problems, free, sent = dict[str, str](), dict[int, float](), set[str]()
        end = time.monotonic() + (wait or self.study.wait)
        missing = {site for site in sites if not files[site].exists()} - self.refused
        while missing and (now := time.monotonic()) < end:
            for node in self.grid.get_node_ids():
                if free.get(node, 0.0) <= now and (site := site_of.get(node, "")) in {"", *missing}:
                    free[node], problem = now + LOST, problems.pop(site, "")
                    fields = {"kind": kind, "study": json.dumps(self.study.tables), **content}
                    record = RecordDict({"study": ConfigRecord({"problem": problem, **fields})})
                    sent.update(self.grid.push_messages([Message(record, node, "query")]))
            time.sleep(POLL)
            for reply in self.grid.pull_messages([*sent]):
                sent.discard(reply.metadata.reply_to_message_id)
                node, names = reply.metadata.src_node_id, ("site", "status", "text")
                answer = ["a site", "failed", ""]
                if reply.has_content():
                    answer = [str(reply.content["study"][name]) for name in names]
                    site_of[node] = answer[0]
                site, status, text = answer
                free[node] = now + AGAIN * (status == "failed")
                if status == "sent" and site in missing:
                    problems[site] = self.problem(files[site], site, text, check)
                    missing -= set() if problems[site] else {site}
                elif status == "refused":
                    self.refused.add(site)
                    missing.discard(site)
                line = f"{site} did not send {kind}: {text or status}"
                if status in ("refused", "failed") and line not in self.lines:
                    log(self.folder, line)
                    self.lines.add(line)
        absent = [site for site in sites if not files[site].exists()]
        if len(sites) - len(absent) < self.study.least:
            why = [f"{s} {'refused' if s in self.refused else 'did not answer'}" for s in absent]
            raise RuntimeError(f"{self.study.least} sites must send {kind}: {', '.join(why)}")
        return [file for file in files.values() if file.exists()]

    def problem(self, file: Path, site: str, text: str, check: Check) -> str:
        """Keep a text, and return what is wrong with it."""
        log(self.folder, f"{site} sent {file.name}", text)
        digest = sha256(text.encode()).hexdigest()[:8]
        unchecked = write_whole(file.with_name(f"rejected-{file.stem}-{digest}.json"), text)
        try:
            check(unchecked, site)
        except (ValueError, KeyError, TypeError) as error:
            log(self.folder, f"{site} is asked again for {file.name}: {error}")
            return str(error)
        unchecked.rename(file)
        return ""

    def check_update(self, file: Path, site: str) -> None:
        """ValueError unless the file is a site's model, unaltered."""
        data, size = unsealed(read_json(file)), 1 + len(self.study.features)
        is_finite = np.isfinite(np.array(data["parameters"], float))
        if (data["site"], is_finite.sum(), data["people"] > 0) != (site, size, True):
            raise ValueError(f"an update must have {site!r}, people and {size} finite parameters")

    def check_summary(self, fields: dict[str, object], file: Path, site: str) -> None:
        """ValueError unless the file is a summary as agreed, unaltered."""
        summary, study = read_summary(file), self.study
        agreed = fields | {"site": site, "label": study.label, "group": study.group}
        agreed |= {"min_cell": study.score["min_cell"], "epsilon": study.score["epsilon"] or None}
        for name, value in agreed.items():
            if (sent := getattr(summary, name)) != value:
                raise ValueError(f"{name} must be {value!r} as in study.toml, got {sent!r}")


def people_of(files: list[Path]) -> str:
    """The people whose decisions were counted, as a table."""
    summaries = [read_summary(file) for file in files]
    (counts, *_), _, groups, names = joined(summaries)
    rows = [("site", "group", "y", "decision")]
    for i, a, y, d in np.argwhere(counts).tolist():
        rows += [(summaries[i].site, groups[a], str(y), names[d])] * int(counts[i, a, y, d])
    csv.writer(text := io.StringIO()).writerows(rows)
    return text.getvalue()
