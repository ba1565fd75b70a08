"""Files of Coq that prove what their theorem ``none`` does not mean, and why each is rejected."""

import re
import subprocess
from itertools import count
from pathlib import Path

from fairfl.claims.certificates import kernel_proof
from fairfl.claims.certificates.base import require

REALS = "From Coq Require Import Reals Lra List.\nOpen Scope R_scope.\n"
_, *PLANTED = re.split(
    r"^\(\*\*\* (.*?): (.*) \*\*\*\)\n",
    Path(__file__).with_suffix(".v").read_text("utf-8"),
    flags=re.MULTILINE,
)
CHEATS = {
    name: (text if "Reals" in text.partition("\n")[0] else REALS + text, reason)
    for name, reason, text in zip(PLANTED[::3], PLANTED[1::3], PLANTED[2::3], strict=True)
}
"""By how they cheat: the file, and the words of its rejection."""


class Session:
    """A process of Coq that has the library loaded and judges one file after another: for the gate
    it stands for ``coqc``, which loads the library twice for each.
    """

    def __init__(self, folder):
        self.folder = folder
        (folder / "gate.vo").write_bytes(kernel_proof._gate())
        self.process = subprocess.Popen(
            ["coqtop", "-q", "-emacs", "-w", "none", "-R", ".", ""],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.numbers = count()
        self.output(
            f"From Coq Require {kernel_proof.LOADED}.\nRequire gate.\nDefinition loaded := 0.\n"
        )

    def output(self, text):
        """What Coq says of a text, of which nothing stays but what is loaded."""
        end, lines = f"end_{next(self.numbers)}", list[str]()
        self.process.stdin.write(
            f"{text}\nFail Check {end}.\nReset loaded. Definition loaded := 0.\n"
        )
        self.process.stdin.flush()
        while end not in "".join(lines[-1:]):
            lines.append(self.process.stdout.readline())
            assert lines[-1], "".join(lines)
        return re.sub("<prompt>.*?</prompt>", "\0", "".join(lines[:-2]), flags=re.S)

    def compile(self, files):
        """As ``kernel_proof._coqc``."""
        for name in files.keys() - {"gate.vo"}:
            (self.folder / name).write_text(files[name])
        text, output = files["ask.v"], ""
        # a session goes on after an error; what is assumed takes a second to say
        for part in (text.partition("Print Assumptions")[0], text):
            output = self.output(part)
            error = output.partition("Error:")[2].partition("\0")[0]
            require(not error, f"coqc: {' '.join(error.split())[-400:]}")
        return output.replace("\0", ""), b""
