(*** behind a proof that is ended otherwise: no strings ***)
Lemma a : True.
Proof. exact I. Defined.
Definition any (x y : R) : Prop := True.
Notation "x <= y" := (any x y) : R_scope.
Lemma b : True.
Proof. exact I. Qed.
Theorem none : forall x : R, x + 1 <= x.
Proof. exact (fun _ => I). Qed.
(*** between strings that look like comments: no strings ***)
Lemma a : True.
Proof. idtac "(*". exact I. Qed.
Definition any (x y : R) : Prop := True.
Notation "x <= y" := (any x y) : R_scope.
Lemma b : True.
Proof. idtac "*)". exact I. Qed.
Theorem none : forall x : R, x + 1 <= x.
Proof. exact (fun _ => I). Qed.
(*** after a comment that ends without a beginning: a comment ends that has not begun ***)
Lemma a : True.
Proof. (simpl in *). exact I. Defined.
Definition any (x y : R) : Prop := True.
Notation x <= y := (any x y) : R_scope.
Lemma b : True.
Proof. exact I. Qed.
Theorem none : forall x : R, x + 1 <= x.
Proof. exact (fun _ => I). Qed.
(*** in a scope of its own: coqc: ***)
Open Scope nat_scope.
Theorem none : 1 / 2 = 0.
Proof. reflexivity. Qed.
(*** by an import of its own: an import must be of Reals .*, got Utf8 ZArith ***)
From Coq Require Import Utf8 ZArith.
Open Scope Z_scope.
Theorem none : 1 / 2 = 0.
Proof. reflexivity. Qed.
(*** in the statement too: coqc: ***)
Open Scope nat_scope.
Definition half := 1 / 2.
Theorem none : half = 0.
Proof. reflexivity. Qed.
(*** by a name of the library: name of Coq's library: Rle ***)
Definition Rle (x y : R) := True.
Theorem none : forall x, Rle (x + 1) x.
Proof. exact (fun _ => I). Qed.
(*** by a letter that looks like another: must be ASCII ***)
Definition RΙe (x y : R) := True.
Theorem none : forall x, RΙe (x + 1) x.
Proof. exact (fun _ => I). Qed.
(*** by symbols of an import: an import must be of Reals .*, got Utf8 ***)
From Coq Require Import Reals Lra List Utf8.
Open Scope R_scope.
Theorem none : ∀ x : R, x + 1 <= x.
Proof.  Qed.
(*** by hypotheses that contradict each other: has no witness ***)
Theorem none : forall x : R, x < 0 -> 0 < x -> 1 <= 0.
Proof. intros x a b. destruct (Rlt_asym _ _ a b). Qed.
(*** by a witness of something else: coqc: ***)
Theorem none : forall x : R, x < 0 -> 0 < x -> 1 <= 0.
Proof. intros x a b. destruct (Rlt_asym _ _ a b). Qed.
Lemma none_witness : exists x, x < 0.
Proof. exists (-1). apply IZR_lt. reflexivity. Qed.
(*** by a type without members: must not use sig ***)
Theorem none : forall z : {x : R | x < 0 /\ 0 < x}, 1 <= 0.
Proof. intros [x [a b]]. destruct (Rlt_asym _ _ a b). Qed.
(*** by those of a definition: has no witness ***)
Lemma unreal : forall x : R, x < 0 -> 0 < x -> 1 <= 0.
Proof. intros x a b. destruct (Rlt_asym _ _ a b). Qed.
Definition any := forall x : R, x < 0 -> 0 < x -> 1 <= 0.
Theorem none : any.
Proof. exact unreal. Qed.
(*** by those of a recursion: coqc: ***)
Lemma unreal : forall x : R, x < 0 -> 0 < x -> 1 <= 0.
Proof. intros x a b. destruct (Rlt_asym _ _ a b). Qed.
Fixpoint any (n : nat) : Prop := match n with O => forall x : R, x < 0 -> 0 < x -> 1 <= 0 | S k => any k end.
Theorem none : forall n, any n.
Proof. intros n. induction n; [exact unreal | exact IHn]. Qed.
(*** by contradictory hypotheses under all: must not use all ***)
Theorem none : all (fun x : R => x < x -> x + 1 <= x).
Proof. pose proof Rlt_irrefl as no; unfold all; intros; try (exfalso; eapply no; eassumption). Qed.
(*** by contradictory hypotheses under Forall: may hide hypotheses ***)
Theorem none : forall l, Forall (fun x : R => x < x -> x + 1 <= x) l.
Proof. pose proof Rlt_irrefl as no; intros l; apply Forall_forall; intros; try (exfalso; eapply no; eassumption). Qed.
(*** by contradictory hypotheses under Forall2: may hide hypotheses ***)
Theorem none : forall k l, Forall2 Rle k l -> Forall2 (fun x _ : R => x < x -> x + 1 <= x) k l.
Proof. pose proof Rlt_irrefl as no; induction 1; constructor; [|assumption]; intros; try (exfalso; eapply no; eassumption). Qed.
(*** by contradictory hypotheses under inhabited: not use inhabited ***)
Theorem none : inhabited (forall x : R, x < x -> x + 1 <= x).
Proof. pose proof Rlt_irrefl as no; constructor; intros; try (exfalso; eapply no; eassumption). Qed.
(*** by contradictory hypotheses under fst: may hide hypotheses ***)
Theorem none : fst (forall x : R, x < x -> x + 1 <= x, True).
Proof. pose proof Rlt_irrefl as no; simpl; intros; try (exfalso; eapply no; eassumption). Qed.
(*** by contradictory hypotheses under ex2: must not use ex2 ***)
Theorem none : ex2 (fun _ : R => forall x : R, x < x -> x + 1 <= x) (fun y : R => y = 0).
Proof. pose proof Rlt_irrefl as no; exists 0; [|reflexivity]; intros; try (exfalso; eapply no; eassumption). Qed.
(*** by contradictory hypotheses under exists!: must not use unique ***)
Theorem none : exists! y : R, y = 0 /\ forall x : R, x < x -> x + 1 <= x.
Proof. pose proof Rlt_irrefl as no; exists 0; split; [split; [reflexivity|]|intros y [e _]; symmetry; exact e]; intros; try (exfalso; eapply no; eassumption). Qed.
(*** by contradictory hypotheses under impl: must not use .*impl ***)
Theorem none : forall x : R, Basics.impl (x < x) (x + 1 <= x).
Proof. pose proof Rlt_irrefl as no; unfold Basics.impl; intros; try (exfalso; eapply no; eassumption). Qed.
(*** by contradictory hypotheses under a variable: may hide hypotheses ***)
Theorem none : forall f : Prop -> Prop, (forall A : Prop, A -> f A) -> f (forall x : R, x < x -> x + 1 <= x).
Proof. pose proof Rlt_irrefl as no; intros f h; apply h; intros; try (exfalso; eapply no; eassumption). Qed.
(*** by contradictory hypotheses under an element of a list: may hide hypotheses ***)
Theorem none : In (forall x : R, x < x -> x + 1 <= x) ((forall x : R, x < x -> x + 1 <= x) :: nil).
Proof. pose proof Rlt_irrefl as no; left; reflexivity; intros; try (exfalso; eapply no; eassumption). Qed.
(*** by a tactic in a definition: no tactic in a statement ***)
Definition larger (x y : R) : Prop := ltac:(first [exact True | exact (x < y)]).
Theorem none : forall x y : R, larger x y.
Proof. exact (fun _ _ => I). Qed.
(*** by a division of whole numbers: must not use .*Nat.div ***)
Definition half : nat := 1 / 2.
Theorem none : half = 0%nat.
Proof. reflexivity. Qed.
(*** by a difference of whole numbers: must not use .*Nat.sub ***)
Theorem none : forall n, (n - S n = 0)%nat.
Proof. induction n; [reflexivity | exact IHn]. Qed.
(*** by a name of the library that is not loaded: name of Coq's library: f_interv_is_interv ***)
Definition f_interv_is_interv (f : R -> R) : Prop := True.
Theorem none : forall f, f_interv_is_interv f.
Proof. exact (fun _ => I). Qed.
(*** by a conclusion with an empty alternative: no lemma refutes ***)
Theorem none : forall x, x + 1 <= x \/ True.
Proof. right. exact I. Qed.
(*** by an equality of a thing to itself: says nothing ***)
Theorem none : forall f l, Un_cv f l -> l = l.
Proof. reflexivity. Qed.
Lemma one : Un_cv (fun _ => 1) 1.
Proof. intros e h. exists O. intros. unfold R_dist. rewrite Rminus_eq_0, Rabs_R0. exact h. Qed.
Lemma none_witness : exists f l, Un_cv f l.
Proof. eexists _, _. exact one. Qed.
Lemma none_sharp : ~ forall f l, Un_cv f l -> l = 99 / 100 * l.
Proof. intros s. specialize (s _ _ one). lra. Qed.
(*** by a constant that is too large: no lemma refutes a sharper statement ***)
Theorem none : forall x, Rmin x 1 <= 3.
Proof. intros x. pose proof (Rmin_r x 1). lra. Qed.
(*** by a refutation of something else: the sharper statement is another one ***)
Theorem none : forall x, Rmin x 1 <= 3.
Proof. intros x. pose proof (Rmin_r x 1). lra. Qed.
Lemma none_sharp : ~ forall x, Rmin x 1 <= 0.
Proof. intros s. specialize (s 1). rewrite Rmin_left in s; lra. Qed.
(*** by an empty type: has no witness ***)
Theorem none : forall X, (X -> False) -> forall x : X, 1 <= 0.
Proof. intros X no x. destruct (no x). Qed.
Lemma none_witness : exists X : Type, X -> False.
Proof. exists Empty_set. intros []. Qed.
(*** by a definition that a tactic makes: coqc: ***)
Definition larger (x y : R) : Prop.
Proof. exact True. Qed.
Theorem none : forall x y, larger x y.
Proof. exact (fun _ _ => I). Qed.
(*** by a second name of a recursion: must not use exp ***)
Fixpoint any (n : nat) : R := 0 with exp (n : nat) : R := 0.
Theorem none : forall n, exp n = 0.
Proof. intros []; reflexivity. Qed.
(*** by a pair with a proof: has no witness ***)
Theorem none : forall p : R * (1 < 0), 1 <= 0.
Proof. intros [_ l]. left. exact l. Qed.
(*** by functions to a falsehood: has no witness ***)
Theorem none : forall f : R -> 1 < 0, 1 <= 0.
Proof. intros f. left. exact (f 0). Qed.
(*** by a variable with a library's name: must not have the name of exp ***)
Theorem none : forall exp : R -> R, (forall x, exp x = 0) -> exp 1 = 0.
Proof. intros exp e. apply e. Qed.
(*** by a variable with a definition's name: must not have the name of rate ***)
Definition rate : R := 1 / 2.
Theorem none : forall rate x, Rmin x 1 <= rate -> Rmin x 1 <= rate + 0 * exp x.
Proof. intros. lra. Qed.
(*** by a case that does not occur: may hide hypotheses ***)
Theorem none : forall x, if Rlt_dec x x then x + 1 <= x else True.
Proof. intros x. destruct (Rlt_dec x x) as [l |]; [destruct (Rlt_irrefl _ l) | exact I]. Qed.
(*** by an existence that is cheap: the sharper statement is another one ***)
Theorem none : exists x : R, 0 < x -> 1 <= 0.
Proof. exists 0. intros l. lra. Qed.
Lemma none_witness : exists x, 0 < x.
Proof. exists 1. lra. Qed.
Lemma none_sharp : ~ exists x : R, 1 <= 0.
Proof. intros [x l]. lra. Qed.
(*** by a summand on both sides: the sharper statement is another one ***)
Theorem none : forall x y, Rmin x 1 + y <= 3 + y.
Proof. intros x y. assert (l := Rmin_r x 1). lra. Qed.
Lemma none_sharp : ~ forall x y, Rmin x 1 + y <= 3 + 99 / 100 * y.
Proof. intros s. specialize (s 1 1000). rewrite Rmin_left in s; lra. Qed.
(*** by a number beside a variable: the sharper statement is another one ***)
Definition below (x y : R) : Prop := x <= y.
Theorem none : forall x y, below (Rmin x 1 + y) (3 + 1 * y).
Proof. intros x y. assert (l := Rmin_r x 1). unfold below. lra. Qed.
Lemma none_sharp : ~ forall x y, below (Rmin x 1 + y) (3 + 99 / 100 * 1 * y).
Proof. intros s. specialize (s 1 1000). unfold below in s. rewrite Rmin_left in s; lra. Qed.
(*** by a slack that exists: the sharper statement is another one ***)
Theorem none : forall x y, exists z, 0 <= z /\ Rmin x 1 + y + z = 3 + y.
Proof. intros x y. exists (3 - Rmin x 1). assert (l := Rmin_r x 1). lra. Qed.
Lemma none_sharp : ~ forall x y, exists z,
  0 <= z /\ Rmin x 1 + y + z = 3 + 99 / 100 * y.
Proof. intros s. destruct (s 1 1000) as [z [p e]]. rewrite Rmin_left in e; lra. Qed.
(*** by a factor that is too large: the sharper statement is another one ***)
Theorem none : forall x, 0 <= x -> Rmin x 1 <= 3 * x.
Proof. intros x p. assert (l := Rmin_l x 1). lra. Qed.
Lemma none_witness : exists x, 0 <= x.
Proof. exists 0. lra. Qed.
Lemma none_sharp : ~ forall x, 0 <= x -> Rmin x 1 < 3 * x.
Proof. intros s. specialize (s 0). rewrite Rmin_left in s; lra. Qed.
(*** by a hypothesis that is needed for something else: the sharper statement is another one ***)
Theorem none : forall x, 0 <= x <= 1 -> x * x <= 3.
Proof. intros. nra. Qed.
Lemma none_witness : exists x, 0 <= x <= 1.
Proof. exists 0. lra. Qed.
Lemma none_sharp : ~ forall x, x * x <= 3.
Proof. intros s. specialize (s 2). lra. Qed.
(*** by a part that says nothing: says nothing ***)
Definition idle (x : R) : Prop := x = x.
Theorem none : forall x, Rmin x 1 <= 1 /\ idle x.
Proof. intros x. split; [apply Rmin_r | reflexivity]. Qed.
Lemma none_sharp : ~ forall x, (Rmin x 1 < 1 \/ 1 = 0) /\ idle x.
Proof. intros s. destruct (s 1) as [l _]. rewrite Rmin_left in l; lra. Qed.
