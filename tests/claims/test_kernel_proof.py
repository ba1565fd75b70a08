"""Proofs that a kernel has checked: what may stand in a file, and what a theorem must say.

The tests that compile skip where no coqc is installed; the others run everywhere.
"""

import json
import re
from dataclasses import replace

import pytest
from planted_claims import below
from planted_proofs import CHEATS, Session

from fairfl._support.manifest import sha256
from fairfl.claims.call import Call
from fairfl.claims.certificates import KernelProof, Rejected, Witness, from_json, kernel_proof
from fairfl.claims.evidence import Evidence

coqc = pytest.mark.skipif(not kernel_proof.kernel(), reason="no coqc is installed")
SQUARE = "Definition square x := x * x. Theorem positive : forall x : R, 0 <= square x."
GOOD = """(* a (* nested *) comment with an Axiom. *)
From Coq Require Import Reals Lra.
Open Scope R_scope.
Definition square x := x * x.
Theorem positive : forall x : R,
  0 <= square x.
Proof. intros x. unfold square. nra. Qed.
Lemma positive_sharp : ~ forall x : R, 0 < square x.
Proof. intros s. specialize (s 0). unfold square in s. lra. Qed.
"""
BESIDE = Witness.at(Call.of(below), "2 squared is 4", x=2)


def proof(folder, monkeypatch, text, theorems="positive"):
    (folder / "file.v").write_text(text)
    monkeypatch.setattr(kernel_proof, "FOLDER", folder)
    return KernelProof.of("file.v", theorems, BESIDE)


def altered(old, new):
    assert old in GOOD
    return GOOD.replace(old, new, 1)


COMMANDS = (
    "Set Implicit Arguments",
    "Coercion INR : nat >-> R",
    "Hypothesis false : False",
    "Parameter y : R",
    "Module M",
    "Local Open Scope nat_scope",
    "Ltac lra := idtac",
    "Inductive Rle : R -> R -> Prop := any x y : Rle x y",
    "#[global] Set Printing Width 9",
    "Time Definition none := 0",
)
"""Some of those that may not stand in a file, outside of proofs or in them."""


@pytest.mark.parametrize("command", COMMANDS)
def test_no_other_command_is_read(command, tmp_path, monkeypatch):
    outside = proof(tmp_path, monkeypatch, altered("Definition", f"{command}.\nDefinition"))
    with pytest.raises(Rejected, match="must not begin so"):
        outside.verify()
    inside = proof(tmp_path, monkeypatch, altered("nra.", f"{command}. nra."))
    with pytest.raises(Rejected, match="no tactic"):
        inside.verify()


CHAINS = {
    "0 <= 1": "True",
    "forall x y : R, 0 <= x * y": "True",
    "forall x (y : R), A x -> B y -> C": "exists x y : R, A x /\\ B y",
    "forall x y : R, A x -> A y -> A x": "exists x y : R, A x /\\ A y",
    "forall (x : R) (a : A x) (b : B x), C": "exists x : R, A x /\\ B x",
    "forall x y : R, A x -> C": "exists x : R, A x",
    "C -> forall x, B x -> C -> A 0": "C /\\ exists x, B x /\\ C",
    "forall n : {x : R | 0 < x}, C": "exists n : {x : R | 0 < x}, True",
    "forall n : {x : R | 0 < x}, C -> A 0": "exists n : {x : R | 0 < x}, C",
    "forall q : R, let r := q + 1 in A r -> C": "exists q, A (q + 1)",
    "forall x : R, A x -> C /\\ forall e, B e -> C": "exists x, A x /\\ exists e, B e",
    "forall x : R, (A x -> C) /\\ (~ A x -> C)": "(exists x, A x) /\\ exists x, ~ A x",
    "exists x : R, C \\/ (C <-> forall y, A y -> C)": "exists y, A y",
}
"""Of each goal what a witness shows, for any A, B : R -> Prop and C : Prop."""
FALSE = {
    "unproven": (altered("Qed.", "Admitted."), "the file says Admitted"),
    "a proof that prints": (altered("nra.", 'idtac "Axioms:". nra.'), "must have no strings"),
    "ended otherwise": (altered("Qed.", "Defined."), "no tactic: Defined"),
    "not ended": (GOOD.removesuffix("Qed.\n"), "not ended by Qed"),
    "an axiom": (altered("Definition", "Axiom more : 1 <= 0.\nDefinition"), "the file says Axiom"),
    "an option": (altered("Lemma", "Unset Universe Checking.\nLemma"), "the file says Unset"),
    "a theorem in a comment": (
        "From Coq Require Import Reals.\n(* " + SQUARE + " *)\n",
        "theorem must be one of  in file.v, got 'positive'",
    ),
}
LEANING = altered("nra.", "destruct (Classical_Prop.classic (0 <= x)); nra.")
UNSOUND = {
    "not proven": (altered("nra.", "idtac."), "coqc: "),
    "too strong": (GOOD.replace("0 <= square", "0 < square"), "coqc: "),
    "an assumption of the library": (
        LEANING.replace("Reals Lra", "Reals Lra Classical"),
        "assumes Classical_Prop.classic",
    ),
}


@pytest.mark.parametrize("name", FALSE)
def test_a_file_that_says_more_or_less_than_its_statement_is_rejected(name, tmp_path, monkeypatch):
    text, reason = FALSE[name]
    for kernel in ("", kernel_proof.kernel()):
        with pytest.raises(Rejected, match=re.escape(reason)):
            replace(proof(tmp_path, monkeypatch, text), kernel=kernel).verify()


@coqc
@pytest.mark.parametrize("name", UNSOUND)
@pytest.mark.every(3)
def test_what_the_kernel_refuses_or_what_it_assumes_is_rejected(name, tmp_path, monkeypatch):
    text, reason = UNSOUND[name]
    with pytest.raises(Rejected, match=re.escape(reason)):
        proof(tmp_path, monkeypatch, text).verify()


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    session = Session(tmp_path_factory.mktemp("session"))
    yield session
    session.process.communicate("Quit.\n")


def judged_in(session, monkeypatch):
    monkeypatch.setattr(kernel_proof, "_coqc", session.compile)


@coqc
@pytest.mark.parametrize("is_alone", [False, pytest.param(True, marks=pytest.mark.deep)])
@pytest.mark.parametrize("name", CHEATS)
def test_a_file_does_not_change_what_a_statement_means(
    name, is_alone, session, tmp_path, monkeypatch
):
    """In one session, as loading the library is most of a compilation, or ``is_alone``."""
    text, reason = CHEATS[name]
    if not is_alone:
        judged_in(session, monkeypatch)
    with pytest.raises(Rejected, match=reason):
        proof(tmp_path, monkeypatch, text, "none").verify()


@coqc
def test_a_session_accepts_what_is_right_and_knows_what_is_assumed(session, tmp_path, monkeypatch):
    judged_in(session, monkeypatch)
    proof(tmp_path, monkeypatch, GOOD).verify()
    for text, reason in UNSOUND.values():
        with pytest.raises(Rejected, match=re.escape(reason)):
            proof(tmp_path, monkeypatch, text).verify()


@coqc
def test_files_are_judged_together_and_alone_where_one_is_refused(session, tmp_path, monkeypatch):
    judged_in(session, monkeypatch)
    first = proof(tmp_path, monkeypatch, GOOD)
    other = GOOD.replace("square x := x", "square x := 3 * x")  # a name of the first file
    assumes = UNSOUND["an assumption of the library"][0]
    leans = altered("intros x. unfold square. nra.", "exact proof_0.positive.")
    refused = UNSOUND["too strong"][0], assumes, leans, altered("nra.", "nra. (*")
    texts = {"file.v": GOOD, "other.v": other}
    for bad in (None, *refused):
        for name, text in (texts | {"bad.v": bad or GOOD}).items():
            (tmp_path / name).write_text(text)
        files = sorted(texts) + ["bad.v"] * bool(bad)
        expected = {sha256(text.encode()) for text in texts.values()} if bad is None else set()
        assert kernel_proof.accept(*files) == expected
        if bad:
            with pytest.raises(Rejected):
                replace(first, file="bad.v").verify()
    first.verify()


@coqc
def test_the_kernel_accepts_every_proof():
    files = {file.name: sha256(file) for file in kernel_proof.FOLDER.iterdir()}
    accepted = kernel_proof.accept(*files)
    assert [name for name, digest in files.items() if digest not in accepted] == []


@coqc
def test_an_exemption_is_of_one_text(session, tmp_path, monkeypatch):
    judged_in(session, monkeypatch)
    text = (kernel_proof.FOLDER / "segregated.v").read_text("utf-8")
    assert "Theorem segregated : forall F" in text and "\nintros F rule" in text
    text = text.replace("segregated : forall F", "segregated : 1 < 0 -> forall F", 1)
    text = text.replace("\nintros F rule", "\nintros _ F rule", 1)
    with pytest.raises(Rejected, match="has no witness"):
        proof(tmp_path, monkeypatch, text, "segregated").verify()


@coqc
def test_a_witness_is_asked_for_all_on_the_way_to_each_conclusion():
    goals = "".join(
        f"Goal forall (A B : R -> Prop) (C : Prop), {goal}. intros A B C. match goal with |- ?g => "
        f"let g := eval cbv beta zeta in g in let l := chains g in let w := all l in "
        f"first [constr_eq w ({shown}) | fail 1 w] end. Abort.\n"
        for goal, shown in CHAINS.items()
    )
    header = f"{kernel_proof.HEADER}\nRequire Import gate.\n"
    kernel_proof._coqc({"gate.vo": kernel_proof._gate(), "ask.v": header + goals})


@coqc
def test_a_true_theorem_is_proved_and_survives_json(tmp_path, monkeypatch):
    good = proof(tmp_path, monkeypatch, GOOD)
    good.verify()
    assert good.level == "proved" and good.kernel in good.summary() and SQUARE in good.summary()
    again = from_json(json.loads(json.dumps(good.to_json())))
    assert again == good and Evidence.of(good).verify() == ()
    again.verify()


def test_without_a_kernel_the_level_is_that_of_what_stands_beside(tmp_path, monkeypatch):
    with_one = replace(proof(tmp_path, monkeypatch, GOOD), kernel="Coq 8.16.1")
    monkeypatch.setattr(kernel_proof, "kernel", lambda: "")
    proved = proof(tmp_path, monkeypatch, GOOD)
    proved.verify()
    assert proved.level == BESIDE.level == "certified" and "not compiled" in proved.summary()
    assert Evidence.of(proved).verify() == ()
    assert with_one.level == "proved"  # as recorded elsewhere; here it is said to be unchecked
    assert Evidence.of(with_one).verify() == ("file.v was not compiled: no coqc is installed here",)
    wrong = replace(proved, otherwise=(Witness.at(Call.of(below), "3 squared", x=3),))
    with pytest.raises(Rejected, match="not certain"):
        wrong.verify()
    with pytest.raises(ValueError, match="otherwise must be at least one"):
        KernelProof.of("file.v", "positive")


def test_a_constant_is_read_where_a_theorem_says_it(tmp_path, monkeypatch):
    proof(tmp_path, monkeypatch, GOOD)
    constant = kernel_proof.constant.__wrapped__
    for number, value in (("R := 1 / 4", "1/4"), ("nat := 3", "3")):
        text = GOOD.replace("square x := x", f"rate : {number}. Definition square x := rate * x")
        (tmp_path / "file.v").write_text(text)
        assert str(constant("file.v", "rate")) == value
    for wrong in ("nat := 1 / 2", "Z := 1 / 2", "R := 1 / 0", "R := 1 / 2 / 3", "R := 1 - 2"):
        text = GOOD.replace("square x := x", f"rate : {wrong}. Definition square x := rate * x")
        (tmp_path / "file.v").write_text(text)
        with pytest.raises(ValueError, match="must define the number rate and use it"):
            constant("file.v", "rate")
    text = GOOD.replace("square x := x", "rate : R := 2. Definition square x := x")
    (tmp_path / "file.v").write_text(text)
    with pytest.raises(ValueError, match="use it in a theorem"):
        constant("file.v", "rate")


def test_a_file_elsewhere_is_not_read(tmp_path, monkeypatch):
    certificate = proof(tmp_path, monkeypatch, GOOD)
    for name in ("other.v", "../file.v", str(tmp_path / "sub" / "file.v")):
        with pytest.raises(Rejected, match="no file"):
            replace(certificate, file=name).verify()


def test_several_theorems_are_one_certificate(session, tmp_path, monkeypatch):
    judged_in(session, monkeypatch)
    second = "Theorem even : forall x : R, square (- x) = square x."
    text = GOOD + second.replace("R, ", "R,\n  ") + "\nProof. intros. unfold square. ring. Qed.\n"
    text += "Lemma even_sharp : ~ forall x : R, square (- x) = 99 / 100 * square x.\n"
    text += "Proof. intros s. specialize (s 1). unfold square in s. lra. Qed.\n"
    both = proof(tmp_path, monkeypatch, text, "positive even")
    both.verify()
    assert both.statement == f"{SQUARE} {second}"
    with pytest.raises(Rejected, match="must be one of positive, even in file.v, got 'odd'"):
        replace(both, theorems="positive odd").verify()
    with pytest.raises(Rejected, match="must name theorems"):
        replace(both, theorems="").verify()
