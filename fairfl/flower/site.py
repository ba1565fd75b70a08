"""A site's side of a study on Flower: makes what the coordinator asks for, and sends what somebody
at the site approves. Nothing is made twice: a site that was stopped goes on where it was.
"""

import csv
import io
import json
import time
from pathlib import Path

import numpy as np
from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.clientapp import ClientApp

from fairfl._support.checks import Array
from fairfl._support.json_file import read_json, sealed
from fairfl._support.whole_file import write_whole
from fairfl.flower.study_file import (
    FITTED,
    REFUSED,
    SENT,
    Study,
    command,
    first_difference,
    log,
    options,
)
from fairfl.sims.data.score_model import ScoreModel
from fairfl.sims.data.table_file import Form, Table, read_table

WAIT = 20.0
"""Seconds to wait for an approval before the answer is that there is none yet."""
FILES = {"rule": "rule.json", "model": "score_model.json", "page": "page.html"}
"""What the coordinator sends, and where it is kept."""
app = ClientApp()


@app.query()
def query(message: Message, context: Context) -> Message:
    """Answer one message of the coordinator; what goes wrong is part of the answer, in one line."""
    site, request = Site(Path(str(context.node_config["folder"]))), message.content["study"]
    try:
        status, text = site.answer({name: str(value) for name, value in request.items()})
    except (ValueError, RuntimeError, OSError) as error:
        status, text = "failed", " ".join(str(error).split())
    log(site.folder, f"{request['kind']}: {status} {text if status == 'failed' else ''}", text)
    answer = ConfigRecord({"site": site.name, "status": status, "text": text})
    return Message(RecordDict({"study": answer}), reply_to=message)


class Site:
    """A site by its folder, where study.json has its name, its tables and their form, the study."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.settings = folder, read_json(folder / "study.json")
        self.name, self.study = str(self.settings["site"]), Study(self.settings["study"])
        self.form = options(**self.settings["form"])

    def answer(self, request: dict[str, str]) -> tuple[str, str]:
        """A status (sent, pending, refused), and the text that is sent."""
        if (kind := request["kind"]) == "end":
            write_whole(self.folder / "end.txt", request["text"])
            return "sent", "received"
        if other := first_difference(self.study.tables, json.loads(request["study"])):
            raise ValueError(f"the coordinator has another study: {other}")
        if not kind.replace("-", "").isalnum():  # it names a file
            raise ValueError(f"kind must be of letters, digits and -, got {kind!r}")
        draft = self.folder / "leaving" / kind / f"{kind}.json"
        sent, refused = draft.with_suffix(SENT), draft.with_suffix(REFUSED)
        if request["problem"] and sent.exists():  # it stays beside what is sent next
            log(self.folder, f"{kind} was rejected: {request['problem']}")
            sent.rename(sent.with_suffix(f".{time.time_ns()}.json"))
        if not any(file.exists() for file in (draft, sent, refused)):
            for name in FILES.keys() & request.keys():
                write_whole(self.folder / FILES[name], request[name])
            {"counts": self.count, "decisions": self.decide}.get(kind, self.fit)(draft)
        end = time.monotonic() + WAIT
        while draft.exists() and time.monotonic() < end:
            time.sleep(0.1)
        if sent.exists():
            return "sent", sent.read_text("utf-8")
        return "refused" if refused.exists() else "pending", ""

    def count(self, draft: Path) -> None:
        """Count people by their score, which the model of the sites gives if there is one."""
        table, form, study = self.settings["table"], self.form, self.study
        if study.features:
            model, people = self.modelled()
            columns = people.labels(study.label), people.categories(study.group)
            texts = [np.array(names)[codes] for codes, names in columns]
            rows = zip(map(repr, model(people)[:, 0].tolist()), *texts, strict=True)
            csv.writer(text := io.StringIO()).writerows([(FITTED, study.label, study.group), *rows])
            table, form = write_whole(self.folder / "scored.csv", text.getvalue()), []
        self.summarize(table, draft, *options(score=study.column), *form, *study.summary_options)

    def decide(self, draft: Path) -> None:
        """Decide on the people of the new table by the rule, and count the decisions."""
        study, decisions = self.study, self.folder / "decisions.csv"
        score = (
            {"model": self.folder / FILES["model"]} if study.features else {"score": study.column}
        )
        words = *options(**score, group=study.group, out=decisions), *self.form
        log(self.folder, command("apply", self.folder / "rule.json", self.settings["new"], *words))
        form = [word for word in self.form if not word.startswith("--encoding")]  # it is UTF-8
        words = (
            "--score=decision",
            "--categorical",
            *form,
            *study.summary_options[1:],
        )  # without edges
        self.summarize(decisions, draft, *words)

    def fit(self, draft: Path) -> None:
        """Take local steps from the model of the round, on the site's people."""
        model, table = self.modelled()
        y, _ = table.labels(self.study.label)
        theta = np.append(model.intercepts, model.coefficients)
        theta = locally_fitted(model.design(table), y, theta, self.study.score["steps"]).tolist()
        write_whole(draft, sealed({"site": self.name, "people": len(y), "parameters": theta}))

    def summarize(self, table: Path, draft: Path, *words: str) -> None:
        """Count the people of a table."""
        roles = {name: self.study.columns[name] for name in ("label", "group", "positive")}
        command("summarize", table, *options(**roles, site=self.name, out=draft), *words)

    def modelled(self) -> tuple[ScoreModel, Table]:
        """The model that the coordinator sent, and the table with its features."""
        model = ScoreModel.from_json((self.folder / FILES["model"]).read_bytes())
        roles = {"label": [self.study.label], "group": [self.study.group]}
        form = Form(**self.settings["form"], pos_label=self.study.positive)
        return model, read_table(self.settings["table"], form, roles, model.columns)


def locally_fitted(x: Array, y: Array, theta: Array, steps: int) -> Array:
    """Parameters (1 + p,) after steps of logistic regression on features (n, p), each by the bound
    XᵀX / 4 of the second derivative (Böhning, 1992), in any units of the features.
    """
    x = np.column_stack([np.ones(len(x)), x])
    size = np.maximum(np.linalg.norm(x, axis=0), np.finfo(float).tiny)
    inverse = 4 * np.linalg.pinv((x / size).T @ (x / size), rcond=1e-10, hermitian=True)
    for _ in range(steps):
        chance = 0.5 + 0.5 * np.tanh(0.5 * (x @ theta))
        theta = theta + inverse @ ((x / size).T @ (y - chance)) / size
    return theta
