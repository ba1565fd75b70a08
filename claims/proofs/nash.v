(* PropFair, proposition 2.3: between u and v the Nash product rises above that of u iff u is not
   proportionally fair towards v. *)
From Coq Require Import Reals Lra Lia List.
Open Scope R_scope.

Definition total (ks : list nat) (t : nat -> R) : R := fold_right (fun k x => t k + x) 0 ks.
Definition product (ks : list nat) (t : nat -> R) : R := fold_right (fun k x => t k * x) 1 ks.

Lemma product_positive : forall ks t, (forall i, In i ks -> 0 < t i) -> 0 < product ks t.
Proof.
intros ks t. induction ks as [| k ks IH]; intros P; [simpl; lra |].
apply Rmult_lt_0_compat; [apply P; now left |]. apply IH. intros i I. apply P. now right.
Qed.

Lemma tangent : forall x, 1 + x <= exp x.
Proof.
intros x. destruct (Req_dec x 0) as [-> | N]; [rewrite exp_0; lra |].
left. now apply exp_ineq1.
Qed.

Lemma factored : forall ks t u v, (forall i, In i ks -> 0 < u i) ->
  product ks (fun i => u i + t * (v i - u i))
  = product ks u * product ks (fun i => 1 + t * ((v i - u i) / u i)).
Proof.
intros ks t u v. induction ks as [| k ks IH]; intros P; [simpl; ring |].
change (product (k :: ks) (fun i => u i + t * (v i - u i))) with
  ((u k + t * (v k - u k)) * product ks (fun i => u i + t * (v i - u i))).
change (product (k :: ks) u) with (u k * product ks u).
change (product (k :: ks) (fun i => 1 + t * ((v i - u i) / u i))) with
  ((1 + t * ((v k - u k) / u k)) * product ks (fun i => 1 + t * ((v i - u i) / u i))).
rewrite IH by (intros i I; apply P; now right).
assert (0 < u k) by (apply P; now left). field. lra.
Qed.

Lemma above : forall ks x, (forall i, In i ks -> 0 < 1 + x i) ->
  product ks (fun i => 1 + x i) <= exp (total ks x).
Proof.
intros ks x. induction ks as [| k ks IH]; intros P; [simpl; rewrite exp_0; lra |].
change (product (k :: ks) (fun i => 1 + x i)) with ((1 + x k) * product ks (fun i => 1 + x i)).
change (total (k :: ks) x) with (x k + total ks x). rewrite exp_plus.
apply Rmult_le_compat; [left; apply P; now left | | apply tangent |].
- left. apply product_positive. intros i I. apply P. now right.
- apply IH. intros i I. apply P. now right.
Qed.

Lemma below : forall ks x, (forall i, In i ks -> -1 < x i) ->
  exists C, 0 <= C /\ forall t, 0 <= t <= 1 ->
  1 + t * total ks x - C * t ^ 2 <= product ks (fun i => 1 + t * x i).
Proof.
intros ks x. induction ks as [| k ks IH]; intros P.
- exists 0. split; [lra |]. intros t T. simpl. lra.
- destruct IH as [C [C0 B]]; [intros i I; apply P; now right |].
  assert (X : -1 < x k) by (apply P; now left).
  set (S := total ks x) in *. exists (C + Rabs (S * x k) + C * Rabs (x k)). split.
  { assert (0 <= Rabs (S * x k)) by apply Rabs_pos. assert (0 <= Rabs (x k)) by apply Rabs_pos.
    assert (0 <= C * Rabs (x k)) by now apply Rmult_le_pos. lra. }
  intros t T. specialize (B t T).
  change (product (k :: ks) (fun i => 1 + t * x i)) with
    ((1 + t * x k) * product ks (fun i => 1 + t * x i)).
  change (total (k :: ks) x) with (x k + S). set (Q := product ks (fun i => 1 + t * x i)) in *.
  assert (0 <= 1 + t * x k) by nra.
  assert (L : (1 + t * x k) * (1 + t * S - C * t ^ 2) <= (1 + t * x k) * Q)
    by now apply Rmult_le_compat_l.
  assert (A := Rle_abs (- (S * x k))). rewrite Rabs_Ropp in A.
  assert (D := Rle_abs (x k)). assert (0 <= t ^ 2) by nra.
  assert (t ^ 3 <= t ^ 2) by nra. assert (0 <= t ^ 3) by nra.
  assert (0 <= Rabs (x k)) by apply Rabs_pos.
  assert (t ^ 2 * - (S * x k) <= t ^ 2 * Rabs (S * x k)) by now apply Rmult_le_compat_l.
  assert (C * t ^ 3 * x k <= C * t ^ 3 * Rabs (x k))
    by (apply Rmult_le_compat_l; [now apply Rmult_le_pos | exact D]).
  assert (C * Rabs (x k) * t ^ 3 <= C * Rabs (x k) * t ^ 2)
    by (apply Rmult_le_compat_l; [now apply Rmult_le_pos | assumption]).
  nra.
Qed.

Theorem fair : forall n u v, (forall i, In i (seq 0 n) -> 0 < u i /\ 0 < v i) ->
  (total (seq 0 n) (fun i => (v i - u i) / u i) <= 0 ->
     product (seq 0 n) v <= product (seq 0 n) u)
  /\ (0 < total (seq 0 n) (fun i => (v i - u i) / u i) -> exists t, 0 < t <= 1
     /\ product (seq 0 n) u < product (seq 0 n) (fun i => u i + t * (v i - u i))).
Proof.
intros n u v P. set (ks := seq 0 n) in *. set (x := fun i => (v i - u i) / u i).
assert (U : 0 < product ks u) by (apply product_positive; intros i I; now apply P).
assert (X : forall i, In i ks -> -1 < x i).
{ intros i I. destruct (P i I) as [u0 v0]. unfold x.
  replace ((v i - u i) / u i) with (v i / u i - 1) by (field; lra).
  assert (0 < v i / u i) by now apply Rdiv_lt_0_compat. lra. }
assert (F : forall t, product ks (fun i => u i + t * (v i - u i))
  = product ks u * product ks (fun i => 1 + t * x i))
  by (intros t; apply factored; intros i I; now apply P).
split; intros S.
- assert (E : product ks v = product ks (fun i => u i + 1 * (v i - u i))).
  { unfold product. clear. induction ks as [| k ks IH]; [reflexivity |].
    cbn [fold_right]. rewrite IH. f_equal. ring. }
  rewrite E, F. assert (product ks (fun i => 1 + 1 * x i) <= exp (total ks (fun i => 1 * x i)))
    by (apply (above ks (fun i => 1 * x i)); intros i I; specialize (X i I); lra).
  assert (N : total ks (fun i => 1 * x i) = total ks x).
  { unfold total. clear. induction ks as [| k ks IH]; [reflexivity |].
    cbn [fold_right]. rewrite IH. f_equal. ring. }
  rewrite N in H. assert (exp (total ks x) <= 1).
  { destruct S as [S | S]; [| fold x in S; rewrite S, exp_0; lra].
    left. rewrite <- exp_0. now apply exp_increasing. }
  rewrite <- (Rmult_1_r (product ks u)) at 2. apply Rmult_le_compat_l; lra.
- destruct (below ks x X) as [C [C0 B]]. fold x in S. set (s := total ks x) in *.
  assert (T : 0 < s / (s + C)) by (apply Rdiv_lt_0_compat; lra).
  assert (T1 : s / (s + C) <= 1).
  { apply (Rmult_le_reg_r (s + C)); [lra |]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  exists (s / (s + C)). split; [lra |]. rewrite F.
  specialize (B (s / (s + C)) (conj (Rlt_le _ _ T) T1)).
  assert (G : s / (s + C) * s - C * (s / (s + C)) ^ 2 = (s / (s + C)) ^ 2 * s)
    by (field; lra).
  assert (0 < (s / (s + C)) ^ 2 * s) by (apply Rmult_lt_0_compat; [now apply pow_lt | lra]).
  rewrite <- (Rmult_1_r (product ks u)) at 1. apply Rmult_lt_compat_l; [exact U | lra].
Qed.

(* The hypotheses of the theorem can hold together. *)
Lemma fair_witness : (exists n u v, (forall i, In i (seq 0 n) -> 0 < u i /\ 0 < v i)
  /\ total (seq 0 n) (fun i => (v i - u i) / u i) <= 0)
  /\ exists n u v, (forall i, In i (seq 0 n) -> 0 < u i /\ 0 < v i)
  /\ 0 < total (seq 0 n) (fun i => (v i - u i) / u i).
Proof.
split; [exists 1%nat, (fun _ => 1), (fun _ => 1) | exists 1%nat, (fun _ => 1), (fun _ => 2)];
  (split; [intros; lra |]); unfold total; simpl; lra.
Qed.

(* Each theorem with one number 1 % better, or one inequality strict, or not, is false. *)
Lemma fair_sharp : ~ (forall n u v, (forall i, In i (seq 0 n) -> 0 < u i /\ 0 < v i) -> (total (seq
  0 n) (fun i => (v i - u i) / u i) <= 0 -> (product (seq 0 n) v < product (seq 0 n) u \/ product
  (seq 0 n) u = 0)) /\ (0 < total (seq 0 n) (fun i => (v i - u i) / u i) -> exists t, 0 < t <= 1 /\
  product (seq 0 n) u < product (seq 0 n) (fun i => u i + t * (v i - u i)))).
Proof.
intros s. destruct (s 1%nat (fun _ => 1) (fun _ => 1)) as [l _]; [intros; lra |].
simpl in l. lra.
Qed.
