"""A theorem that Coq's kernel has checked: a file of claims/proofs, and what it must say."""

from __future__ import annotations

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
from fairfl.claims.certificates.base import ClaimCertificate, Level, Rejected, require, weakest

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
"""Form of a sentence inside of a proof. Commands, such as ``Defined``, begin with a capital."""
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
    """Theorems of a Coq file, compiled anew; what they state and assume is compared.

    Attributes
    ----------
    file : of ``claims/proofs``.
    statement : the definitions of the file and the theorems, each a sentence of Coq, without
        proofs: what a reader has to trust. The file must have them word for word, and no other
        definition. A sentence that is given again counts once.
    axioms : the only ones that the theorems of the file may rest on.
    kernel : the version of Coq that checked it, empty where none is installed.
    otherwise : certificates of the same. They are verified too, and give the level where there is
        no kernel.
    """

    file: str
    statement: str
    axioms: tuple[str, ...]
    kernel: str
    otherwise: tuple[ClaimCertificate, ...]

    @classmethod
    def of(cls, file: str, theorems: str, *otherwise: ClaimCertificate) -> Self:
        """The certificate of a file's theorems, named with spaces between, with the kernel that is
        installed here.

        ``otherwise``, at least one, shows the same where no coqc is installed, and refutes mutants.
        """
        if not otherwise:
            raise ValueError(
                "otherwise must be at least one certificate, for where no coqc is installed"
            )
        said = theorems if "Theorem " in theorems else stated(file, *theorems.split())
        once = " ".join(f"{one}." for one in dict.fromkeys(sentences(said)))
        axioms = CLASSICAL if Path(file).stem in CONTINUOUS.split() else REALS
        return cls(file, once, axioms, kernel(), otherwise)

    @property
    def level(self) -> Level:
        return "proved" if self.kernel else weakest([one.level for one in self.otherwise])

    def premises(self) -> frozenset[str]:
        return frozenset[str]().union(*(one.premises() for one in self.otherwise))

    def verify(self) -> None:
        path = FOLDER / self.file
        require(path.parent == FOLDER and path.is_file(), f"no file {self.file} in claims/proofs")
        text = path.read_text("utf-8")
        said = sentences(self.statement)
        theorems = [one for one in said if one.startswith("Theorem ")]
        require(bool(theorems), f"a statement must have a theorem, got {self.statement}")
        outside = list(_outside(text))
        for theorem in theorems:
            require(theorem in outside, f"{self.file} does not state: {theorem}")
        defined = [one for one in outside if one.startswith(NAMES)]
        names = [one for one in said if one not in theorems]
        require(defined == names, f"{self.file} defines: {'; '.join(defined) or 'nothing'}")
        for one in self.otherwise:
            one.verify()
        if self.kernel and kernel() and COMPILING.get():
            bare = UNWITNESSED.get(self.file, ())
            more = sorted(_assumed(text, self.statement, bare) - set(self.axioms))
            require(not more, f"{self.file} assumes {', '.join(more)}")

    def replay(self) -> None:
        self.verify()
        for one in self.otherwise:
            one.replay()

    def unchecked(self) -> str:
        if self.kernel and not kernel():
            return f"{self.file} was not compiled: no coqc is installed here"
        return ""

    def summary(self) -> str:
        by = f"by {self.kernel}" if self.kernel else "not compiled, no coqc was installed"
        beside = "; ".join(one.summary() for one in self.otherwise)
        bare = [n for n in UNWITNESSED.get(self.file, ()) if f"Theorem {n} " in self.statement]
        but = f" No instance in Coq of the hypotheses of {', '.join(bare)}." if bare else ""
        return f"proof ({self.file}, {by}): {self.statement}{but} Beside it: {beside}"


def stated(file: str, *theorems: str) -> str:
    """The definitions of a file of ``claims/proofs`` and these theorems of it, as Coq text.

    Raises
    ------
    ValueError : no such theorem.
    """
    outside = list(_outside((FOLDER / file).read_text("utf-8")))
    found = {one.split(maxsplit=2)[1]: one for one in outside if one.startswith("Theorem ")}
    for name in theorems:
        if name not in found:
            raise ValueError(f"theorem must be one of {', '.join(found)} in {file}, got {name!r}")
    kept = [one for one in outside if one.startswith(NAMES)] + [found[name] for name in theorems]
    return " ".join(f"{one}." for one in kept)


@cache
def constant(file: str, name: str) -> Fraction:
    """A number that a proof's ``Definition NAME : R := p / q`` gives: Python's statement takes it
    from there, so that both speak of one constant.

    Raises
    ------
    ValueError : no such definition, or not of a number.
    """
    for one in _outside((FOLDER / file).read_text("utf-8")):
        found = re.fullmatch(rf"Definition {name} : (?:R|nat|Z) := ([0-9/ ]+)", one)
        if found:
            return Fraction(found[1].replace(" ", ""))
    raise ValueError(f"{file} must define the number {name}, and does not")


@cache
def kernel() -> str:
    """ "Coq" and its version where ``coqc`` is installed, else empty."""
    found = which("coqc")
    if found is None:
        return ""
    done = subprocess.run([found, "--print-version"], capture_output=True, text=True, check=False)
    return f"Coq {done.stdout.split()[0]}" if done.returncode == 0 and done.stdout else ""


def sentences(text: str) -> list[str]:
    """The sentences of a text of Coq, without comments and their last dots, spaces made single."""
    depth, kept = 0, []
    for part in re.split(r"(\(\*|\*\))", text):
        depth += {"(*": 1, "*)": -1}.get(part, 0)
        require(depth >= 0, "a comment ends that has not begun")
        if depth == 0 and part != "*)":
            kept.append(part)
    return [
        _plain(one) for one in re.split(r"\.(?=\s|$)", " ".join(kept)) if one and not one.isspace()
    ]


def _outside(text: str) -> Iterator[str]:
    """The sentences outside of proofs, once all of them and the proofs are such as may be there."""
    require('"' not in text, "a file must have no strings, in which comments would not end")
    proving = False
    for one in sentences(text):
        require(one.isascii(), f"letters must be ASCII outside of comments: {one:.80}")
        found = UNDONE.search(one)
        require(found is None, f"the file says {found[0] if found else ''}: {one:.80}")
        if proving:
            proving = one != "Qed"
            require(not proving or TACTIC.match(one) is not None, f"no tactic: {one:.80}")
        elif one == "Proof":
            proving = True
        else:
            require(one.startswith(HEADS), f"a sentence must not begin so: {one:.80}")
            yield one
    require(not proving, "a proof is not ended by Qed")


@cache
def _compiled(text: str) -> bytes:
    return _coqc({"proof.v": text})[1]


@cache
def _assumed(text: str, statement: str, bare: tuple[str, ...]) -> frozenset[str]:
    """What the theorems of a statement assume, by the kernel; each must be what the file proves.

    Unless it is one of ``bare`` its hypotheses must be shown to hold somewhere.

    The statement is read in a second file, after ``HEADER`` alone: nothing that the first one
    imports, opens, defines or prints has a say in what the statement means.
    """
    names = [one.split()[1] for one in sentences(statement) if one.startswith(NAMES)]
    unfold = "cbv beta iota zeta" + f" delta [{' '.join(names)}]" * bool(names)
    asked = [HEADER, CHAINS, *(f"Fail Check {one}." for one in names), "Require proof."]
    used = list[str]()
    for one in sentences(statement):
        name, _, goal = one.removeprefix("Theorem ").partition(":")
        name = name.strip()
        if not one.startswith("Theorem "):
            asked.append(f"{one}.")
            continue
        used.append(f"@proof.{name}")
        held = ""
        if name not in bare:
            shown = f'fail 9 "no witness of the hypotheses of {name}"'
            if f" {name}{WITNESS} " in text:
                shown = f"exact (@proof.{name}{WITNESS})"
                used.append(f"@proof.{name}{WITNESS}")
            held = (
                f"match goal with |- ?stated => let unfolded := eval {unfold} in stated in "
                "let found := chains unfolded in let shown := all found in "
                f"assert shown by (exact I || {shown}) end. "
            )
        asked.append(f"Goal {goal}. {held}exact (@proof.{name}). Qed.")
    asked.append(f"Definition every := ({', '.join(used)}, tt).\nPrint Assumptions every.\n")
    said, _ = _coqc({"proof.vo": _compiled(text), "ask.v": "\n".join(asked)})
    if said.endswith("Closed under the global context\n"):
        return frozenset()
    _, found, rest = said.rpartition("Axioms:\n")
    require(bool(found), f"coqc lists no assumptions: {said:.200}")
    return frozenset(line.split()[0] for line in rest.splitlines() if line[:1].strip())


def _coqc(files: dict[str, bytes | str]) -> tuple[str, bytes]:
    """Write files, and compile the last one: what it prints, and what it is compiled to."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            write_whole(Path(folder) / name, content)
        line = ["coqc", "-q", "-R", ".", "", list(files)[-1]]
        try:
            done = subprocess.run(
                line, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            raise Rejected(f"compiling takes longer than {SECONDS} seconds") from None
        require(done.returncode == 0, f"coqc: {_plain(done.stderr)[-400:]}")
        return done.stdout, (Path(folder) / line[-1]).with_suffix(".vo").read_bytes()


def _plain(text: str) -> str:
    return " ".join(text.split())
