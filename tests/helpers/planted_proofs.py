"""Files of Coq that prove what their theorem ``none`` does not mean, and why each is rejected."""

import re
import subprocess
from itertools import count

from fairfl.claims.certificates import kernel_proof
from fairfl.claims.certificates.base import require

HIDDEN = """Definition any (x y : R) : Prop := True.
Notation "x <= y" := (any x y) : R_scope.
"""
"""Makes every inequality true."""
REALS = "From Coq Require Import Reals Lra List.\nOpen Scope R_scope.\n"
CHANGED = f"{HIDDEN}Lemma b : True.\nProof. exact I. Qed.\n"


def cheat(goal, proof, reason="has no witness", before="", defined="", head=REALS):
    """A file that proves what its theorem ``none`` does not mean, and why it is rejected: what
    stands ``before`` the theorem, and what it is ``defined`` with.
    """
    return f"{head}{before}{defined}Theorem none : {goal}.\nProof. {proof} Qed.\n", reason


NESTED = "forall x : R, x < 0 -> 0 < x -> 1 <= 0"
NEVER = "intros x a b. destruct (Rlt_asym _ _ a b)."
UNREAL = f"Lemma unreal : {NESTED}.\nProof. {NEVER} Qed.\n"
BELOW = "forall x : R, x + 1 <= x"
ANY = "Definition R{}e (x y : R) := True. "
CHEATS = {
    "behind a proof that is ended otherwise": cheat(
        BELOW,
        "exact (fun _ => I).",
        "no strings",
        f"Lemma a : True.\nProof. exact I. Defined.\n{CHANGED}",
    ),
    "between strings that look like comments": cheat(
        BELOW,
        "exact (fun _ => I).",
        "no strings",
        'Lemma a : True.\nProof. idtac "(*". exact I. Qed.\n'
        + CHANGED.replace("exact", 'idtac "*)". exact'),
    ),
    "after a comment that ends without a beginning": cheat(
        BELOW,
        "exact (fun _ => I).",
        "a comment ends that has not begun",
        f"Lemma a : True.\nProof. (simpl in *). exact I. Defined.\n{CHANGED}".replace('"', ""),
    ),
    "in a scope of its own": cheat(
        "1 / 2 = 0", "reflexivity.", "coqc: ", "Open Scope nat_scope.\n"
    ),
    "by an import of its own": cheat(
        "1 / 2 = 0",
        "reflexivity.",
        "coqc: ",
        "From Coq Require Import Utf8 ZArith.\nOpen Scope Z_scope.\n",
    ),
    "in the statement too": cheat(
        "half = 0",
        "reflexivity.",
        "coqc: ",
        "Open Scope nat_scope.\n",
        "Definition half := 1 / 2. ",
    ),
    "by a name of the library": cheat(
        "forall x, Rle (x + 1) x",
        "exact (fun _ => I).",
        "name of Coq's library: Rle",
        "",
        ANY.format("l"),
    ),
    "by a letter that looks like another": cheat(
        "forall x, R\u0399e (x + 1) x",
        "exact (fun _ => I).",
        "must be ASCII",
        "",
        ANY.format("\u0399"),
    ),
    "by symbols of an import": cheat(
        "\u2200 x : R, x + 1 <= x", "", "must be ASCII", head=REALS.replace("List.", "List Utf8.")
    ),
    "by hypotheses that contradict each other": cheat(NESTED, NEVER),
    "by a witness of something else": cheat(
        NESTED,
        f"{NEVER} Qed.\nLemma none_witness : exists x, x < 0.\n"
        "Proof. exists (-1). apply IZR_lt. reflexivity.",
        "coqc: ",
    ),
    "by a type without members": cheat(
        "forall z : {x : R | x < 0 /\\ 0 < x}, 1 <= 0",
        "intros [x [a b]]. destruct (Rlt_asym _ _ a b).",
        "must not use sig",
    ),
    "by those of a definition": cheat(
        "any", "exact unreal.", before=UNREAL, defined=f"Definition any := {NESTED}. "
    ),
    "by those of a recursion": cheat(
        "forall n, any n",
        "intros n. induction n; [exact unreal | exact IHn].",
        "coqc: ",
        UNREAL,
        f"Fixpoint any (n : nat) : Prop := match n with O => {NESTED} | S k => any k end. ",
    ),
}
IMPOSSIBLE = "x < x -> x + 1 <= x"
UNDER = {
    "all": ("unfold all", f"all (fun x : R => {IMPOSSIBLE})", "must not use all"),
    "Forall": (
        "intros l; apply Forall_forall",
        f"forall l, Forall (fun x : R => {IMPOSSIBLE}) l",
        "may hide hypotheses",
    ),
    "Forall2": (
        "induction 1; constructor; [|assumption]",
        f"forall k l, Forall2 Rle k l -> Forall2 (fun x _ : R => {IMPOSSIBLE}) k l",
        "may hide hypotheses",
    ),
    "inhabited": ("constructor", f"inhabited (forall x : R, {IMPOSSIBLE})", "not use inhabited"),
    "fst": ("simpl", f"fst (forall x : R, {IMPOSSIBLE}, True)", "may hide hypotheses"),
    "ex2": (
        "exists 0; [|reflexivity]",
        f"ex2 (fun _ : R => forall x : R, {IMPOSSIBLE}) (fun y : R => y = 0)",
        "must not use ex2",
    ),
    "exists!": (
        "exists 0; split; [split; [reflexivity|]|intros y [e _]; symmetry; exact e]",
        f"exists! y : R, y = 0 /\\ forall x : R, {IMPOSSIBLE}",
        "must not use unique",
    ),
    "impl": (
        "unfold Basics.impl",
        "forall x : R, Basics.impl (x < x) (x + 1 <= x)",
        "must not use .*impl",
    ),
    "a variable": (
        "intros f h; apply h",
        f"forall f : Prop -> Prop, (forall A : Prop, A -> f A) -> f (forall x : R, {IMPOSSIBLE})",
        "may hide hypotheses",
    ),
    "an element of a list": (
        "left; reflexivity",
        f"In (forall x : R, {IMPOSSIBLE}) ((forall x : R, {IMPOSSIBLE}) :: nil)",
        "may hide hypotheses",
    ),
}
"""Hypotheses that contradict each other, under a word that is no connective."""
CHEATS |= {
    f"by contradictory hypotheses under {word}": cheat(
        goal,
        f"pose proof Rlt_irrefl as no; {tactic}; intros; try (exfalso; eapply no; eassumption).",
        reason,
    )
    for word, (tactic, goal, reason) in UNDER.items()
}
SLACK = cheat(
    "forall x, Rmin x 1 <= 3",
    "intros x. pose proof (Rmin_r x 1). lra.",
    "no lemma refutes a sharper statement",
)
CHEATS |= {
    "by a tactic in a definition": cheat(
        "forall x y : R, larger x y",
        "exact (fun _ _ => I).",
        "no tactic in a statement",
        defined="Definition larger (x y : R) : Prop := ltac:(first [exact True | exact (x < y)]). ",
    ),
    "by a division of whole numbers": cheat(
        "half = 0%nat",
        "reflexivity.",
        "must not use .*Nat.div",
        defined="Definition half : nat := 1 / 2. ",
    ),
    "by a difference of whole numbers": cheat(
        "forall n, (n - S n = 0)%nat",
        "induction n; [reflexivity | exact IHn].",
        "must not use .*Nat.sub",
    ),
    "by a name of the library that is not loaded": cheat(
        "forall f, f_interv_is_interv f",
        "exact (fun _ => I).",
        "name of Coq's library: f_interv_is_interv",
        defined="Definition f_interv_is_interv (f : R -> R) : Prop := True. ",
    ),
    "by a conclusion with an empty alternative": cheat(
        "forall x, x + 1 <= x \\/ True", "right. exact I.", "no lemma refutes"
    ),
    "by an equality of a thing to itself": (
        f"{REALS}Theorem none : forall f l, Un_cv f l -> l = l.\nProof. reflexivity. Qed.\n"
        "Lemma one : Un_cv (fun _ => 1) 1.\nProof. intros e h. exists O. intros. unfold R_dist. "
        "rewrite Rminus_eq_0, Rabs_R0. exact h. Qed.\n"
        "Lemma none_witness : exists f l, Un_cv f l.\nProof. eexists _, _. exact one. Qed.\n"
        "Lemma none_sharp : ~ forall f l, Un_cv f l -> l = 99 / 100 * l.\n"
        "Proof. intros s. specialize (s _ _ one). lra. Qed.\n",
        "says nothing",
    ),
    "by a constant that is too large": SLACK,
    "by a refutation of something else": (
        f"{SLACK[0]}Lemma none_sharp : ~ forall x, Rmin x 1 <= 0.\n"
        "Proof. intros s. specialize (s 1). rewrite Rmin_left in s; lra. Qed.\n",
        "the sharper statement is another one",
    ),
    "by an empty type": cheat(
        "forall X, (X -> False) -> forall x : X, 1 <= 0",
        "intros X no x. destruct (no x). Qed.\nLemma none_witness : exists X : Type, X -> False.\n"
        "Proof. exists Empty_set. intros [].",
        "has no witness",
    ),
    "by a definition that a tactic makes": cheat(
        "forall x y, larger x y",
        "exact (fun _ _ => I).",
        "coqc: ",
        "Definition larger (x y : R) : Prop.\nProof. exact True. Qed.\n",
    ),
    "by a second name of a recursion": cheat(
        "forall n, exp n = 0",
        "intros []; reflexivity.",
        "must not use exp",
        defined="Fixpoint any (n : nat) : R := 0 with exp (n : nat) : R := 0. ",
    ),
    "by a pair with a proof": cheat(
        "forall p : R * (1 < 0), 1 <= 0", "intros [_ l]. left. exact l.", "has no witness"
    ),
    "by functions to a falsehood": cheat(
        "forall f : R -> 1 < 0, 1 <= 0", "intros f. left. exact (f 0).", "has no witness"
    ),
    "by a variable with a library's name": cheat(
        "forall exp : R -> R, (forall x, exp x = 0) -> exp 1 = 0",
        "intros exp e. apply e.",
        "must not have the name of exp",
    ),
    "by a variable with a definition's name": cheat(
        "forall rate x, Rmin x 1 <= rate -> Rmin x 1 <= rate + 0 * exp x",
        "intros. lra.",
        "must not have the name of rate",
        defined="Definition rate : R := 1 / 2. ",
    ),
    "by a case that does not occur": cheat(
        "forall x, if Rlt_dec x x then x + 1 <= x else True",
        "intros x. destruct (Rlt_dec x x) as [l |]; [destruct (Rlt_irrefl _ l) | exact I].",
        "may hide hypotheses",
    ),
    "by an existence that is cheap": cheat(
        "exists x : R, 0 < x -> 1 <= 0",
        "exists 0. intros l. lra. Qed.\nLemma none_witness : exists x, 0 < x.\n"
        "Proof. exists 1. lra. Qed.\nLemma none_sharp : ~ exists x : R, 1 <= 0.\n"
        "Proof. intros [x l]. lra.",
        "the sharper statement is another one",
    ),
    "by a summand on both sides": cheat(
        "forall x y, Rmin x 1 + y <= 3 + y",
        "intros x y. assert (l := Rmin_r x 1). lra. Qed.\n"
        "Lemma none_sharp : ~ forall x y, Rmin x 1 + y <= 3 + 99 / 100 * y.\n"
        "Proof. intros s. specialize (s 1 1000). rewrite Rmin_left in s; lra.",
        "the sharper statement is another one",
    ),
    "by a number beside a variable": cheat(
        "forall x y, below (Rmin x 1 + y) (3 + 1 * y)",
        "intros x y. assert (l := Rmin_r x 1). unfold below. lra. Qed.\n"
        "Lemma none_sharp : ~ forall x y, below (Rmin x 1 + y) (3 + 99 / 100 * 1 * y).\n"
        "Proof. intros s. specialize (s 1 1000). unfold below in s. rewrite Rmin_left in s; lra.",
        "the sharper statement is another one",
        defined="Definition below (x y : R) : Prop := x <= y. ",
    ),
    "by a slack that exists": cheat(
        "forall x y, exists z, 0 <= z /\\ Rmin x 1 + y + z = 3 + y",
        "intros x y. exists (3 - Rmin x 1). assert (l := Rmin_r x 1). lra. Qed.\n"
        "Lemma none_sharp : ~ forall x y, exists z,\n"
        "  0 <= z /\\ Rmin x 1 + y + z = 3 + 99 / 100 * y.\n"
        "Proof. intros s. destruct (s 1 1000) as [z [p e]]. rewrite Rmin_left in e; lra.",
        "the sharper statement is another one",
    ),
    "by a factor that is too large": cheat(
        "forall x, 0 <= x -> Rmin x 1 <= 3 * x",
        "intros x p. assert (l := Rmin_l x 1). lra. Qed.\n"
        "Lemma none_witness : exists x, 0 <= x.\nProof. exists 0. lra. Qed.\n"
        "Lemma none_sharp : ~ forall x, 0 <= x -> Rmin x 1 < 3 * x.\n"
        "Proof. intros s. specialize (s 0). rewrite Rmin_left in s; lra.",
        "the sharper statement is another one",
    ),
    "by a hypothesis that is needed for something else": cheat(
        "forall x, 0 <= x <= 1 -> x * x <= 3",
        "intros. nra. Qed.\n"
        "Lemma none_witness : exists x, 0 <= x <= 1.\nProof. exists 0. lra. Qed.\n"
        "Lemma none_sharp : ~ forall x, x * x <= 3.\nProof. intros s. specialize (s 2). lra.",
        "the sharper statement is another one",
    ),
    "by a part that says nothing": cheat(
        "forall x, Rmin x 1 <= 1 /\\ idle x",
        "intros x. split; [apply Rmin_r | reflexivity]. Qed.\n"
        "Lemma none_sharp : ~ forall x, (Rmin x 1 < 1 \\/ 1 = 0) /\\ idle x.\n"
        "Proof. intros s. destruct (s 1) as [l _]. rewrite Rmin_left in l; lra.",
        "says nothing",
        defined="Definition idle (x : R) : Prop := x = x. ",
    ),
}


class Session:
    """A process of Coq that has the library loaded and judges one file after another: for the gate
    it stands for ``coqc``, which loads the library twice for each.
    """

    def __init__(self, folder):
        (folder / "gate.vo").write_bytes(kernel_proof._compiled("gate.v", kernel_proof.GATE))
        self.process = subprocess.Popen(
            ["coqtop", "-q", "-emacs", "-R", folder, ""],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.numbers = count()
        library = kernel_proof.HEADER.partition(".\n")[0].replace("Import ", "")
        self.output(f"{library}.\nRequire gate.\nDefinition loaded := 0.\n")

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
        """As ``kernel_proof._coqc`` of the gate's files, where a file of proofs is a module."""
        text = f"Module proof.\n{files['proof.vo'].decode()}\nEnd proof.\n{files['ask.v']}"
        text, output = text.replace("Require proof.", ""), ""
        # a session goes on after an error; what is assumed takes a second to say
        for part in (text.partition("Print Assumptions")[0], text):
            output = self.output(part)
            error = output.partition("Error:")[2].partition("\0")[0]
            require(not error, f"coqc: {' '.join(error.split())[-400:]}")
        return output.replace("\0", ""), b""
