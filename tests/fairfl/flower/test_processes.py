"""A study as processes on 127.0.0.1: a SuperLink and three SuperNodes, each in its own folder."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time

import pytest

pytest.importorskip("flwr", reason="the extra 'flower' is not installed")
CERTIFICATE = (
    "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=study -addext subjectAltName=IP:127.0.0.1 "
    "-keyout server.key -out server.pem"
)
SERVER = (
    "ssl-ca-certfile=../server.pem",
    "ssl-certfile=../server.pem",
    "ssl-keyfile=../server.key",
)


class Site:
    """``fairfl study`` in a folder; somebody who types ``words`` decides on what is to leave."""

    def __init__(self, folder, *words, answer=None):
        self.output = folder / "output.txt"
        line = [sys.executable, "-m", "fairfl", "study", "../study.toml", *words]
        with self.output.open("w") as out:
            self.process = subprocess.Popen(
                line, cwd=folder, stdin=subprocess.PIPE, stdout=out, stderr=out, text=True,
                start_new_session=True,
            )  # fmt: skip
        if answer:
            self.process.stdin.write(answer)
            self.process.stdin.flush()

    def kill(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.end(10)

    def end(self, seconds):
        code = self.process.wait(seconds)
        self.process.stdin.close()
        return code, self.output.read_text()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_one_is_killed_one_refuses_and_one_sends_other_edges(world):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        world.study(least=2, port=free.getsockname()[1])
    (world.folder / "center").mkdir()
    is_encrypted = shutil.which("openssl") is not None
    if is_encrypted:
        subprocess.run(CERTIFICATE.split(), cwd=world.folder, check=True, capture_output=True)

    def flower(*words):
        return [f"--flower=--{word}" for word in words if is_encrypted]

    leaving = world.folder / "west" / "study" / "leaving"
    words = "summarize people.csv --score s --label y --positive yes --group sex --site west"
    words = f"{words} --edges 0,0.5,1 --out study/leaving/counts/counts.json"
    line = [sys.executable, "-m", "fairfl", *words.split()]
    subprocess.run(line, cwd=world.folder / "west", check=True, capture_output=True)
    assert (leaving / "counts" / "counts.json").exists()

    def joined(name, *words, **answer):
        tables = ("--table", "people.csv", "--new", "new.csv")
        words = *tables, *words, *flower("root-certificates=../server.pem")
        return Site(world.folder / name, "--site", name, *words, **answer)

    running = [
        Site(world.folder / "center", "--out", ".", *flower(*SERVER)),
        joined("west", "--yes"),
        joined("south", answer="n\n"),
        joined("north"),
    ]
    try:
        center, west, south, north = running
        while "Send it? [y/N]" not in north.output.read_text():
            assert center.process.poll() is None, center.output.read_text()
            time.sleep(0.2)
        north.kill()
        north = joined("north", "--yes")
        running.append(north)
        code, log = center.end(500)
        assert code == 0, log
        for site in (west, south, north):
            assert site.end(60) == (0, site.output.read_text())
    finally:
        for site in running:
            if site.process.poll() is None:
                site.kill()
    world.check(["north", "west"])
    line = (
        "west is asked again for counts-west.json: edges must be (0.0, 0.2, 0.35, 0.5, 0.65, 1.0)"
    )
    assert log.count("asked again") == 1 and line in log
    assert log.count("south did not send counts: refused\n") == 1
    judgement = (world.folder / "center" / "judgement.txt").read_text()
    for site in (north, west):  # what left was shown before, and the end is known
        shown = site.output.read_text()
        for kind in ("counts", "decisions"):
            text = (
                world.folder
                / site.output.parent.name
                / "study"
                / "leaving"
                / kind
                / f"{kind}.sent.json"
            )
            assert text.read_text() in shown
        assert shown.endswith(judgement)
