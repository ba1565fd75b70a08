"""Theorems that Coq's kernel has checked: a file of claims/proofs, and what it states."""

import json
import re
import subprocess
import tempfile
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from shutil import which
from typing import Self

from fairfl._support.manifest import sha256
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
SECONDS = 600
"""A proof that takes longer to compile is rejected."""
HEAP = "OCAMLRUNPARAM=s=4M,o=400"
"""Settings of coqc's memory, with which it collects garbage less often."""
NAMES = ("Definition", "Fixpoint")
"""Sentences that define terms of a statement; they are part of the statement."""
HEADS = ("From Coq Require Import", "Open Scope", "Lemma", "Theorem", *NAMES)
"""Allowed beginnings of a sentence outside of proofs: no axiom, option, notation or module."""
LIBRARY = "Reals Lra Lia List Permutation Sorted"
"""Parts of Coq's library with which statements are read."""
LOADED = f"{LIBRARY} Classical FunctionalExtensionality"
"""Parts that a file may import, loaded before any file: an import opens names in its file alone."""
TACTIC = re.compile(r"[-+*{} ]*(?:(?:all|\d+) ?: ?[{} ]*)?(?:[a-z(\[]|$)")
"""Form of a sentence inside a proof. Commands, such as ``Defined``, begin with a capital."""
HEADER = f"From Coq Require Import {LIBRARY}.\nOpen Scope R_scope."
"""Imports and scopes with which statements are read."""
DATA = Path(__file__).with_name("data")
GATE = DATA.joinpath("gate.v").read_text("utf-8")
"""The rules for a theorem and its lemmas ``NAME_witness`` and ``NAME_sharp``, as tactics."""
EXEMPT = json.loads(DATA.joinpath("exempt.json").read_text("utf-8"))
"""Statements with no witness, or whose sharp lemma is loose: with a hypothesis changed or dropped.
The key is the beginning of the SHA-256 of definitions and theorem: no other statement is exempt.
"""
DEFINED = re.compile(r"\b(?:Definition|Fixpoint|Inductive|Record|Lemma|Theorem) ([\w']+)")
ACCEPTED = set[str]()
"""The SHA-256 of files that the kernel has accepted for this process, see :func:`accept`."""
UNDONE = re.compile(
    r"\b(admit|give_up|Admitted|Abort|Axiom|Declare|Unset|bypass_check|ltac2|proof_\d+)\b"
)
"""Words that no file may say: gaps, options, the gate's language, another file's module."""


@dataclass(frozen=True)
class KernelProof(ClaimCertificate):
    """Theorems, named with spaces between, of a file in ``claims/proofs``, checked anew; their
    axioms are compared. ``kernel`` is the version of Coq that did, empty where none is installed:
    there ``otherwise``, certificates of the same statement that are verified too, give the level.
    """

    file: str
    theorems: str
    kernel: str
    otherwise: tuple[ClaimCertificate, ...]

    @classmethod
    def of(cls, file: str, theorems: str, *otherwise: ClaimCertificate) -> Self:
        """The certificate of theorems, with the kernel that is installed here. ``otherwise``, at
        least one certificate, shows the same without coqc, and refutes mutants.
        """
        if not otherwise:
            raise ValueError("otherwise must be at least one certificate, for a place without coqc")
        return cls(file, theorems, kernel(), otherwise)

    @property
    def statement(self) -> str:
        """What a reader has to trust: the file's definitions and the theorems, as Coq text."""
        return stated(self.file, *self.theorems.split())

    @property
    def level(self) -> Level:
        return "proved" if self.kernel else weakest([part.level for part in self.otherwise])

    @property
    def inner(self) -> tuple[ClaimCertificate, ...]:
        return self.otherwise

    def verify(self) -> None:
        path = FOLDER / self.file
        require(path.parent == FOLDER and path.is_file(), f"no file {self.file} in claims/proofs")
        stated(self.file, *self.theorems.split())
        for part in self.otherwise:
            part.verify()
        is_compiled = self.kernel and kernel() and COMPILING.get()
        if is_compiled and sha256(path) not in ACCEPTED:
            text = path.read_text("utf-8")
            undeclared = sorted(_assumed(text).difference(_allowed(self.file)))
            require(not undeclared, f"{self.file} assumes {', '.join(undeclared)}")

    def unchecked(self) -> str:
        remark = f"{self.file} was not compiled: no coqc is installed here"
        return remark if self.kernel and not kernel() else ""

    def summary(self) -> str:
        checker = f"by {self.kernel}" if self.kernel else "not compiled, no coqc was installed"
        alternatives = "; ".join(part.summary() for part in self.otherwise)
        texts = (self.statement, *(_exempt(stated(self.file, n)) for n in self.theorems.split()))
        statement = " ".join(text for text in texts if text)
        return f"proof ({self.file}, {checker}): {statement} Beside it: {alternatives}"


def stated(file: str, *theorems: str) -> str:
    """The definitions of a file of ``claims/proofs`` and these theorems of it, as Coq text.

    Errors: Rejected where the file has no such theorem, or sentences that are not allowed.
    """
    require(bool(theorems), f"a proof must name theorems of {file}, got none")
    outside = _outside((FOLDER / file).read_text("utf-8"))
    stating = _begun(outside, "Theorem ")
    for name in theorems:
        message = f"theorem must be one of {', '.join(stating)} in {file}, got {name!r}"
        require(name in stating, message)
    return " ".join((*_begun(outside, *NAMES).values(), *(stating[name] for name in theorems)))


@cache
def constant(file: str, name: str) -> Fraction:
    """A number that a proof's ``Definition NAME : R := p / q`` defines and a theorem uses: Python's
    statement has it from there. ValueError: no such definition, not of a number, or not used.
    """
    outside = _outside((FOLDER / file).read_text("utf-8"))
    number = rf"Definition {name} : (?:(?:nat|Z) := \d+|R := \d+(?: / [1-9]\d*)?)\."
    match = re.fullmatch(number, outside.get(name, ""))
    text = " ".join(_begun(outside, "Theorem ", *NAMES).values())
    if match is None or len(re.findall(rf"\b{name}\b", text)) < 2:
        raise ValueError(f"{file} must define the number {name} and use it in a theorem")
    return Fraction(match[0].partition(":=")[2].replace(" ", "").strip("."))


@cache
def kernel() -> str:
    """ "Coq" and its version where ``coqc`` is installed, else empty."""
    command = ["coqc", "--print-version"]
    words = subprocess.check_output(command, text=True).split() if which("coqc") else []
    return f"Coq {words[0]}" if words else ""


def sentences(text: str) -> list[str]:
    """The sentences of a text of Coq, without comments and their last dots, spaces made single."""
    depth, code = 0, []
    for part in re.split(r"(\(\*|\*\))", text):
        depth += {"(*": 1, "*)": -1}.get(part, 0)
        require(depth >= 0, "a comment ends that has not begun")
        if depth == 0 and part != "*)":
            code.append(part)
    require(depth == 0, "a comment does not end")
    return [
        _plain(sentence)
        for sentence in re.split(r"\.(?=\s|$)", " ".join(code))
        if sentence and not sentence.isspace()
    ]


@cache
def _outside(text: str) -> dict[str, str]:
    """The definitions, lemmas and theorems of a file. Rejected: other sentences or tactics."""
    require('"' not in text, "a file must have no strings, in which comments would not end")
    outside, proving = dict[str, str](), False
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
            require("ltac" not in sentence, f"no tactic in a statement: {sentence:.80}")
            imports = sentence.split()[4:] if sentence.startswith("From") else []
            unknown = [name for name in imports if name not in LOADED.split()]
            require(not unknown, f"an import must be of {LOADED}, got {' '.join(unknown)}")
            outside["".join(sentence.split()[1:2])] = f"{sentence}."
    require(not proving, "a proof is not ended by Qed")
    return outside


def _begun(outside: dict[str, str], *heads: str) -> dict[str, str]:
    return {name: sentence for name, sentence in outside.items() if sentence.startswith(heads)}


def _exempt(statement: str) -> str:
    return EXEMPT.get(sha256(statement.encode())[:12], "")


@cache
def _library() -> frozenset[str]:
    """The names that the parts of Coq's library define which statements are read with."""
    coq = subprocess.run(["coqc", "-where"], capture_output=True, text=True, check=True).stdout
    parts = (Path(coq.strip(), "theories", part) for part in ("Reals", "Arith", "Lists", "Sorting"))
    texts = (file.read_text("utf-8") for part in parts for file in part.rglob("*.v"))
    return frozenset(name for text in texts for name in DEFINED.findall(text))


def accept(*files: str) -> frozenset[str]:
    """The SHA-256 of those of some files of ``claims/proofs`` that the kernel accepts together: one
    session of Coq for each list of axioms loads the library once. Where one is refused, all of
    its session are left out, to be checked alone.
    """
    accepted = set[str]()
    for axioms in (REALS, CLASSICAL) if kernel() else ():
        texts = [(FOLDER / file).read_text("utf-8") for file in files if _allowed(file) == axioms]
        with suppress(Rejected):
            if texts and _assumed(*texts) <= set(axioms):
                accepted.update(sha256(text.encode()) for text in texts)
    return frozenset(accepted)


def _allowed(file: str) -> tuple[str, ...]:
    """The axioms that a file may assume."""
    return CLASSICAL if Path(file).stem in CONTINUOUS.split() else REALS


@cache
def _assumed(*texts: str) -> frozenset[str]:
    """The axioms that the theorems of some files assume; the kernel checks that each is proved.

    Each file is a module without what the others import and open. Then, after ``HEADER``, their
    statements are read, so that no import, scope or definition of a file changes their meaning.
    There they must pass the rules of ``gate.v``.
    """
    rules = _gate()
    names = [f"proof_{k}" for k in range(len(texts))]
    script = [f"From Coq Require {LOADED}.", "Require gate."]
    script += [f'Module {name}. Load "{name}". End {name}.' for name in names]
    script += [HEADER, "Import gate."]
    script += map(_questions, names, texts)
    script.append(f"Definition every := ({', '.join(f'{name}_asked.every' for name in names)}).")
    script.append("Print Assumptions every.\n")
    proofs = {f"{name}.v": text for name, text in zip(names, texts, strict=True)}
    output, _ = _coqc({"gate.vo": rules, **proofs, "ask.v": "\n".join(script)})
    _, heading, axioms = output.rpartition("Axioms:\n")
    require(bool(heading) or output.endswith("Closed under the global context\n"), output[:200])
    return frozenset(re.findall(r"^\S+", axioms * bool(heading), re.M))


def _questions(module: str, text: str) -> str:
    """The module in which the statements of a file are read anew and judged."""
    outside = _outside(text)
    definitions = _begun(outside, *NAMES)
    names = [*definitions]
    taken = sorted(_library().intersection(names))
    require(not taken, f"a definition has a name of Coq's library: {', '.join(taken)}")
    unfold = f" delta [{' '.join([*names, *(f'{module}.{name}' for name in names)])}]" * bool(names)
    script = [f"Module {module}_asked.", *(f"Fail Check {name}." for name in names)]
    script += definitions.values()
    script.append(f"Ltac plain t := let u := eval cbv beta iota zeta{unfold} in t in u.")
    proven = list[str]()
    for name, theorem in _begun(outside, "Theorem ").items():
        reason = _exempt(" ".join((*definitions.values(), theorem)))
        witness, sharp = (
            f"@{module}.{lemma}" if lemma in outside else "tt" if kind in reason else "I"
            for lemma, kind in ((f"{name}_witness", "no witness"), (f"{name}_sharp", "not sharp"))
        )
        goal = theorem.partition(":")[2]
        refuted = outside.get(f"{name}_sharp", "").partition(":")[2] or "True."
        script.append(
            f"Definition {name}_sharp := {refuted} Goal {goal} "
            f"judge plain {name}_sharp ({witness}) ({sharp}) {str('loose' in reason).lower()}. "
            f"Abort. Goal {goal} exact (@{module}.{name}). Qed."
        )
        proven += [f"@{module}.{name}", witness, sharp]
    script += [f"Definition every := ({', '.join(proven)}).", f"End {module}_asked."]
    return "\n".join(script)


@cache
def _gate() -> bytes:
    """The rules, compiled."""
    return _coqc({"gate.v": GATE})[1]


def _coqc(files: dict[str, bytes | str]) -> tuple[str, bytes]:
    """Write files and compile the last one: its output, and the compiled file."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            write_whole(Path(folder) / name, content)
        command = ["env", HEAP, "coqc", "-q", "-w", "none", "-R", ".", "", list(files)[-1]]
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
