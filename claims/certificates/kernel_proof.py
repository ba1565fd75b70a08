"""Theorems that Coq's kernel has checked: a file of claims/proofs, and what it states."""

import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from shutil import which
from typing import Self

from fairfl._support.whole_file import write_whole
from fairfl.claims.certificates.base import ClaimCertificate, Rejected, require, weakest
from fairfl.claims.words import Level

FOLDER = Path(__file__).resolve().parents[1] / "proofs"
REALS = (
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
)
"""Axioms of Coq's real numbers: two principles of classical logic, and extensionality."""
CLASSICAL = (*REALS, "Classical_Prop.classic")
"""These axioms and the excluded middle, which the library's theorems on continuity use."""
CONTINUOUS = "alpha averaging entropy geometric mcdiarmid multipliers nash normal powers tilt"
"""The files that may assume the excluded middle; all others, the axioms of the reals alone."""
COMPILING = ContextVar("COMPILING", default=True)
"""Whether proof files are compiled: a current record says that the kernel has checked them."""
SECONDS = 120
"""A proof that takes longer to compile is rejected."""
NAMES = ("Definition", "Fixpoint")
"""Sentences that define terms of a statement; they are part of the statement."""
HEADS = ("From", "Require", "Import", "Open Scope", "Lemma", "Theorem", *NAMES)
"""Allowed beginnings of a sentence outside of proofs: no axiom, option, notation or module."""
TACTIC = re.compile(r"[-+*{} ]*(?:(?:all|\d+) ?: ?[{} ]*)?(?:[a-z(\[]|$)")
"""Form of a sentence inside a proof. Commands, such as ``Defined``, begin with a capital."""
HEADER = """From Coq Require Import Reals Lra Lia List Permutation Sorted.
Open Scope R_scope."""
"""Imports and scopes with which statements are read."""
WITNESS = "_witness"
"""``Lemma NAME_witness`` shows that the hypotheses of ``Theorem NAME`` can hold together: all on
the way to each part of its conclusion, definitions unfolded.
"""
CHAINS = Path(__file__).with_name("data").joinpath("chains.v").read_text("utf-8")
"""Ltac code that lists the conjunctions which a witness must show."""
UNWITNESSED = {
    "ensemble.v": ("lemma_12", "lemma_14", "lemma_15"),
    "shares.v": ("lemma_16",),
    "segregated.v": ("segregated",),
}
"""Theorems on integrals over a continuum: only Python has instances of their hypotheses."""
UNDONE = re.compile(r"\b(admit|give_up|Admitted|Abort|Axiom|Declare|Unset|bypass_check)\b")


@dataclass(frozen=True)
class KernelProof(ClaimCertificate):
    """Theorems of a Coq file, compiled anew; their statements and axioms are compared.

    Attributes
    ----------
    file : its name in ``claims/proofs``.
    theorems : their names, with spaces between.
    kernel : the version of Coq that checked it, empty where none is installed.
    otherwise : certificates of the same statement. They are verified too, and give the level where
        there is no kernel.
    """

    file: str
    theorems: str
    kernel: str
    otherwise: tuple[ClaimCertificate, ...]

    @classmethod
    def of(cls, file: str, theorems: str, *otherwise: ClaimCertificate) -> Self:
        """The certificate of a file's theorems, with the kernel that is installed here.

        ``otherwise``, at least one certificate, shows the same without coqc, and refutes mutants.
        """
        if not otherwise:
            raise ValueError(
                "otherwise must be at least one certificate, for where no coqc is installed"
            )
        return cls(file, theorems, kernel(), otherwise)

    @property
    def statement(self) -> str:
        """The definitions of the file and the theorems, each a sentence of Coq, without proofs:
        what a reader has to trust.
        """
        return stated(self.file, *self.theorems.split())

    @property
    def axioms(self) -> tuple[str, ...]:
        """The axioms that the theorems of the file may assume."""
        return CLASSICAL if Path(self.file).stem in CONTINUOUS.split() else REALS

    @property
    def level(self) -> Level:
        return "proved" if self.kernel else weakest([part.level for part in self.otherwise])

    def premises(self) -> frozenset[str]:
        return frozenset[str]().union(*(part.premises() for part in self.otherwise))

    def verify(self) -> None:
        path = FOLDER / self.file
        require(path.parent == FOLDER and path.is_file(), f"no file {self.file} in claims/proofs")
        text, statement = path.read_text("utf-8"), self.statement
        for part in self.otherwise:
            part.verify()
        if self.kernel and kernel() and COMPILING.get():
            unwitnessed = UNWITNESSED.get(self.file, ())
            undeclared = sorted(_assumed(text, statement, unwitnessed) - set(self.axioms))
            require(not undeclared, f"{self.file} assumes {', '.join(undeclared)}")

    def replay(self) -> None:
        self.verify()
        for part in self.otherwise:
            part.replay()

    def unchecked(self) -> str:
        if self.kernel and not kernel():
            return f"{self.file} was not compiled: no coqc is installed here"
        return ""

    def summary(self) -> str:
        checker = f"by {self.kernel}" if self.kernel else "not compiled, no coqc was installed"
        alternatives = "; ".join(part.summary() for part in self.otherwise)
        bare = [n for n in UNWITNESSED.get(self.file, ()) if n in self.theorems.split()]
        remark = f" No instance in Coq of the hypotheses of {', '.join(bare)}." if bare else ""
        return f"proof ({self.file}, {checker}): {self.statement}{remark} Beside it: {alternatives}"


def stated(file: str, *theorems: str) -> str:
    """The definitions of a file of ``claims/proofs`` and these theorems of it, as Coq text.

    Errors: Rejected where the file has no such theorem, or sentences that are not allowed.
    """
    require(bool(theorems), f"a proof must name theorems of {file}, got none")
    outside = list(_outside((FOLDER / file).read_text("utf-8")))
    by_name = {
        sentence.split(maxsplit=2)[1]: sentence
        for sentence in outside
        if sentence.startswith("Theorem ")
    }
    for name in theorems:
        require(
            name in by_name, f"theorem must be one of {', '.join(by_name)} in {file}, got {name!r}"
        )
    chosen = [sentence for sentence in outside if sentence.startswith(NAMES)] + [
        by_name[name] for name in theorems
    ]
    return " ".join(f"{sentence}." for sentence in chosen)


@cache
def constant(file: str, name: str) -> Fraction:
    """A number that a proof's ``Definition NAME : R := p / q`` defines: Python's statement reads it
    from there, so that both have the same constant. ValueError: no such definition, or not of a
    number.
    """
    for sentence in _outside((FOLDER / file).read_text("utf-8")):
        match = re.fullmatch(rf"Definition {name} : (?:R|nat|Z) := ([0-9/ ]+)", sentence)
        if match:
            return Fraction(match[1].replace(" ", ""))
    raise ValueError(f"{file} must define the number {name}, and does not")


@cache
def kernel() -> str:
    """ "Coq" and its version where ``coqc`` is installed, else empty."""
    coqc = which("coqc")
    if coqc is None:
        return ""
    process = subprocess.run([coqc, "--print-version"], capture_output=True, text=True, check=False)
    return f"Coq {process.stdout.split()[0]}" if process.returncode == 0 and process.stdout else ""


def sentences(text: str) -> list[str]:
    """The sentences of a text of Coq, without comments and their last dots, spaces made single."""
    depth, code = 0, []
    for part in re.split(r"(\(\*|\*\))", text):
        depth += {"(*": 1, "*)": -1}.get(part, 0)
        require(depth >= 0, "a comment ends that has not begun")
        if depth == 0 and part != "*)":
            code.append(part)
    return [
        _plain(sentence)
        for sentence in re.split(r"\.(?=\s|$)", " ".join(code))
        if sentence and not sentence.isspace()
    ]


def _outside(text: str) -> Iterator[str]:
    """The sentences outside proofs. Rejects a file with other sentences or tactics than allowed."""
    require('"' not in text, "a file must have no strings, in which comments would not end")
    proving = False
    for sentence in sentences(text):
        require(sentence.isascii(), f"letters must be ASCII outside of comments: {sentence:.80}")
        match = UNDONE.search(sentence)
        require(match is None, f"the file says {match[0] if match else ''}: {sentence:.80}")
        if proving:
            proving = sentence != "Qed"
            require(not proving or TACTIC.match(sentence) is not None, f"no tactic: {sentence:.80}")
        elif sentence == "Proof":
            proving = True
        else:
            require(sentence.startswith(HEADS), f"a sentence must not begin so: {sentence:.80}")
            yield sentence
    require(not proving, "a proof is not ended by Qed")


@cache
def _compiled(text: str) -> bytes:
    return _coqc({"proof.v": text})[1]


@cache
def _assumed(text: str, statement: str, unwitnessed: tuple[str, ...]) -> frozenset[str]:
    """The axioms that a statement's theorems assume; the kernel checks that the file proves each.

    Unless a theorem is one of ``unwitnessed``, a witness must satisfy its hypotheses.

    The statement is read in a second file, after ``HEADER`` alone, so that no import, scope or
    definition of the first one changes its meaning.
    """
    names = [sentence.split()[1] for sentence in sentences(statement) if sentence.startswith(NAMES)]
    unfold = "cbv beta iota zeta" + f" delta [{' '.join(names)}]" * bool(names)
    script = [HEADER, CHAINS, *(f"Fail Check {sentence}." for sentence in names), "Require proof."]
    lemmas = list[str]()
    for sentence in sentences(statement):
        name, _, goal = sentence.removeprefix("Theorem ").partition(":")
        name = name.strip()
        if not sentence.startswith("Theorem "):
            script.append(f"{sentence}.")
            continue
        lemmas.append(f"@proof.{name}")
        witness_check = ""
        if name not in unwitnessed:
            tactic = f'fail 9 "no witness of the hypotheses of {name}"'
            if f" {name}{WITNESS} " in text:
                tactic = f"exact (@proof.{name}{WITNESS})"
                lemmas.append(f"@proof.{name}{WITNESS}")
            witness_check = (
                f"match goal with |- ?stated => let unfolded := eval {unfold} in stated in "
                "let found := chains unfolded in let shown := all found in "
                f"assert shown by (exact I || {tactic}) end. "
            )
        script.append(f"Goal {goal}. {witness_check}exact (@proof.{name}). Qed.")
    script.append(f"Definition every := ({', '.join(lemmas)}, tt).\nPrint Assumptions every.\n")
    output, _ = _coqc({"proof.vo": _compiled(text), "ask.v": "\n".join(script)})
    if output.endswith("Closed under the global context\n"):
        return frozenset()
    _, heading, axioms = output.rpartition("Axioms:\n")
    require(bool(heading), f"coqc lists no assumptions: {output:.200}")
    return frozenset(line.split()[0] for line in axioms.splitlines() if line[:1].strip())


def _coqc(files: dict[str, bytes | str]) -> tuple[str, bytes]:
    """Write files and compile the last one: its output, and the compiled file."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            write_whole(Path(folder) / name, content)
        command = ["coqc", "-q", "-R", ".", "", list(files)[-1]]
        try:
            process = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            raise Rejected(f"compiling takes longer than {SECONDS} seconds") from None
        require(process.returncode == 0, f"coqc: {_plain(process.stderr)[-400:]}")
        return process.stdout, (Path(folder) / command[-1]).with_suffix(".vo").read_bytes()


def _plain(text: str) -> str:
    return " ".join(text.split())
