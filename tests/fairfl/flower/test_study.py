"""A study in this process: sites that are stopped, refuse or send what does not fit."""

import json

import numpy as np
import pytest

flwr_app = pytest.importorskip("flwr.app", reason="the extra 'flower' is not installed")

from flwr.serverapp import Grid  # noqa: E402
from flwr.supercore.task_identity import TaskIdentity  # noqa: E402

from fairfl._support.json_file import sealed, unsealed  # noqa: E402
from fairfl.cli.study import _approve  # noqa: E402
from fairfl.flower import coordinator, site  # noqa: E402
from fairfl.sims.data.score_model import ScoreModel  # noqa: E402

SITES = ["north", "south", "west"]


class LocalGrid(Grid):
    """Sites of this process, in the place of SuperLink and SuperNodes.

    ``human(site, kind, number)`` says what happens to a text that is to leave: True, it is sent;
    False, it is refused; a function, it is changed; None, the site is stopped and comes back.
    """

    def __init__(self, folder, human):
        self.folder, self.human, self.replies, self.sent = folder, human, {}, []
        self.nodes = dict(enumerate(SITES, start=1))

    def set_run(self, run):
        raise NotImplementedError

    create_message = send_and_receive = run = set_run

    def get_node_ids(self):
        return list(self.nodes)

    def push_messages(self, messages):
        (message,) = messages
        node, kind = message.metadata.dst_node_id, message.content["study"]["kind"]
        name = self.nodes[node]
        folder, number = self.folder / name / "study", f"{len(self.sent)}"
        self.sent.append((name, kind))
        context = flwr_app.Context(0, node, {"folder": str(folder)}, flwr_app.RecordDict(), {})
        reply, made = site.app(message, context), folder / "leaving" / kind / f"{kind}.json"
        if made.exists():
            word = self.human(name, kind, self.sent.count((name, kind)))
            if word is None:  # its answer is lost, and it returns as another node
                self.nodes[node + 10] = self.nodes.pop(node)
                return [number]
            if callable(word):
                made.write_text(word(made.read_text()))
            if word is False:
                made.rename(made.with_suffix(site.REFUSED))
            else:
                _approve(folder / "leaving", True)
        self.replies[number] = reply
        return [number]

    def pull_messages(self, message_ids):
        return [self.replies.pop(key) for key in message_ids if key in self.replies]


@pytest.fixture
def run(world, monkeypatch, cli):
    """Run a study, and return its end, the coordinator's log and who was asked for what."""

    def command(*words):
        done = cli(*words)
        if done.exit_code:
            raise ValueError(done.stderr.strip().removeprefix("fairfl: error: "))
        return done.stdout

    for module in (site, coordinator):
        monkeypatch.setattr(module, "command", command)  # in this process: it is faster
    monkeypatch.setattr(site, "WAIT", 0.0)
    TaskIdentity.run_id = TaskIdentity.node_id = TaskIdentity.task_id = 1
    for name in ("POLL", "AGAIN"):
        monkeypatch.setattr(coordinator, name, 0.0)

    def run(human=lambda *_: True, theirs=lambda name, tables: tables, **options):
        tables, center = world.study(**options), world.folder / "center"
        for name in SITES:
            table, new = (str(world.folder / name / f"{part}.csv") for part in ("people", "new"))
            own = {"study": theirs(name, tables), "site": name, "table": table, "new": new}
            (world.folder / name / "study").mkdir(exist_ok=True)
            text = json.dumps(own | {"form": {}})
            (world.folder / name / "study" / "study.json").write_text(text)
        center.mkdir(exist_ok=True)
        (center / "study.json").write_text(json.dumps({"study": tables}))
        grid = LocalGrid(world.folder, human)
        context = flwr_app.Context(0, 0, {}, flwr_app.RecordDict(), {"folder": str(center)})
        coordinator.app(grid, context)
        return (center / "end.txt").read_text(), (center / "study.log").read_text(), grid.sent

    return run


def once(name, kind, word):
    """A human who says so of one text, once, and sends all others."""
    return lambda *text: word if text == (name, kind, 1) else True


def test_a_study_is_that_of_the_pooled_rows(run, world):
    end, log, _ = run()
    world.check(SITES)
    received = world.folder / "center" / "received"
    for name in SITES:
        folder = world.folder / name / "study"
        assert (folder / "end.txt").read_text() == end
        for kind in ("counts", "decisions"):  # what left is what was received
            sent = folder / "leaving" / kind / f"{kind}.sent.json"
            assert sent.read_bytes() == (received / f"{kind}-{name}.json").read_bytes()
    assert log.count("SHA-256") == 9 and "the study is done" in log
    _, _, sent = run()  # nobody is asked again for what was received
    assert sent == [(name, "end") for name in SITES]


def resealed(**fields):
    """A change of a summary's fields, which its digest follows."""
    return lambda text: sealed({**unsealed(json.loads(text)), **fields})


FAULTS = {
    "it is stopped": (None, ""),
    "an altered count": (lambda text: text.replace(": 600", ": 601"), "it was altered after it"),
    "no summary": (lambda text: "{}", "is no summary as fairfl summarize writes it: format must"),
    "other edges": (
        resealed(edges=[0.0, 0.2, 0.35, 0.5, 0.6, 1.0]),
        "edges must be (0.0, 0.2, 0.35, 0.5, 0.65, 1.0) as in study.toml, got (0.0, 0.2, 0.35,",
    ),
    "another's": (resealed(site="south"), "site must be 'west' as in study.toml, got 'south'"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_costs_a_line_and_nothing_else(run, world, fault):
    word, line = FAULTS[fault]
    _, log, sent = run(once("west", "counts", word))
    world.check(SITES)
    assert sent.count(("west", "counts")) == (3 if word is None else 4)
    assert log.count("west is asked again for counts-west.json: ") == bool(line) and line in log
    rejected = list((world.folder / "center" / "received").glob("rejected-counts-west-*.json"))
    assert len(rejected) == bool(line)  # all that was received is kept


def test_small_counts_are_withheld_of_people_and_of_decisions(run, world):
    end, _, _ = run(score='column = "s"\nmin_cell = 60')
    assert not end.startswith("error")  # the decisions are of as many, other people
    for kind in ("counts", "decisions"):
        files = world.folder.glob(f"center/received/{kind}-*.json")
        counts = [np.ravel(json.loads(file.read_text())["counts"]) for file in files]
        assert any(None in row for row in counts)
        assert not any(0 < count < 60 for row in counts for count in row if count is not None)


def test_who_refuses_is_left_out_where_enough_are_left(run, world):
    _, log, sent = run(once("south", "counts", False), least=2)
    world.check(["north", "west"])
    assert log.count("south did not send counts: refused\n") == 1
    assert ("south", "decisions") not in sent and ("south", "end") in sent
    assert [file.name for file in world.folder.rglob("*-south*")] == ["end-south.json"]


def test_too_few_sites_end_a_study_for_all_and_it_goes_on_later(run, world):
    end, _, _ = run(once("south", "counts", False))
    assert end == "error: 3 sites must send counts: south refused"
    assert (world.folder / "north" / "study" / "end.txt").read_text() == end
    counts = world.folder / "center" / "received" / "counts-north.json"
    before = counts.stat().st_mtime_ns
    (world.folder / "south" / "study" / "leaving" / "counts" / "counts.refused.json").unlink()
    run()  # south changed its mind
    world.check(SITES)
    assert counts.stat().st_mtime_ns == before


def test_a_site_with_another_study_is_named(run, world, monkeypatch):
    def theirs(name, tables):
        question = tables["question"] | ({"at": [0.1]} if name == "west" else {})
        return tables | {"question": question}

    monkeypatch.setattr(coordinator, "AGAIN", 0.2)
    _, log, _ = run(theirs=theirs, least=2, wait=5.0)
    line = "west did not send counts: the coordinator has another study: study.toml: question: at "
    assert log.count(line + "is [0.1] here, [0.05] there") == 1
    world.check(["north", "south"])


def test_the_sites_fit_a_model_together(run, world):
    features = 'features = {age = [], work = ["private", "state"]}\nrounds = 2\nsteps = 3'
    run(score=features)
    text = (world.folder / "west" / "study" / "score_model.json").read_bytes()
    model, files = ScoreModel.from_json(text), world.folder.glob("center/received/update-2-*")
    rows = [json.loads(file.read_text()) for file in files]
    assert {row["site"]: row["people"] for row in rows} == {"north": 400, "south": 500, "west": 600}
    mean = sum(np.array(row["parameters"]) * row["people"] for row in rows) / 1500
    assert np.append(model.intercepts, model.coefficients) == pytest.approx(mean, abs=1e-12)

    def score(people):
        private = people["work"] == "private"
        z = mean[0] + mean[1] * people["age"] + np.where(private, mean[2], mean[3])
        return 1 / (1 + np.exp(-z))

    world.check(SITES, score)


def test_local_steps_lead_to_the_maximum_of_the_likelihood():
    rng = np.random.default_rng(0)
    x = np.stack([rng.normal(1e5, 1e4, 800), rng.random(800), np.zeros(800)], axis=1)
    y = (rng.random(800) < 1 / (1 + np.exp(3 - x[:, 0] / 5e4 - x[:, 1]))).astype(int)
    theta = site.locally_fitted(x, y, np.zeros(4), 100)
    wide = np.column_stack([np.ones(800), x])
    chance = 1 / (1 + np.exp(-wide @ theta))
    assert (wide / [1, 1e5, 1, 1]).T @ (y - chance) == pytest.approx(np.zeros(4), abs=1e-8)
