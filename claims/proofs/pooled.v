(* The ensemble's mean difference through the clients' own, with a common q. r i a j is the rate at
   which rule j accepts group a at client i; the pooled rate weights clients by Bayes' rule. *)
From Coq Require Import Reals Lra List.
Open Scope R_scope.

Definition total (ks : list nat) (t : nat -> R) : R := fold_right (fun k x => t k + x) 0 ks.
Definition pooled (ks : list nat) (share : bool -> R) (r : nat -> bool -> nat -> R)
  (a : bool) (j : nat) : R :=
  total ks (fun i => share a * r i a j) / total ks (fun _ => share a).

Theorem ensemble : forall n q r, 0 < q < 1 ->
  let ks := seq 0 (S n) in
  let difference j := pooled ks (fun a : bool => if a then q else 1 - q) r false j
    - pooled ks (fun a : bool => if a then q else 1 - q) r true j in
  (forall j, difference j = total ks (fun i => r i false j - r i true j) / INR (S n))
  /\ total ks difference / INR (S n)
     = total ks (fun j => total ks (fun i => r i false j - r i true j)) / (INR (S n) * INR (S n)).
Proof.
intros n q r Q ks difference.
assert (N : 0 < INR (S n)) by apply lt_0_INR, Nat.lt_0_succ.
assert (times : forall l c t, total l (fun i => c * t i) = c * total l t).
{ intros l c t. induction l; simpl; [ring | rewrite IHl; ring]. }
assert (minus : forall l s t, total l (fun i => s i - t i) = total l s - total l t).
{ intros l s t. induction l; simpl; [ring | rewrite IHl; ring]. }
assert (count : forall l (c : R), total l (fun _ => c) = c * INR (length l)).
{ intros l c. induction l; [simpl; ring |]. cbn [length total fold_right]. rewrite S_INR.
  fold (total l (fun _ => c)). rewrite IHl. ring. }
assert (L : INR (length ks) = INR (S n)) by (unfold ks; now rewrite seq_length).
assert (D : forall j, difference j = total ks (fun i => r i false j - r i true j) / INR (S n)).
{ intros j. unfold difference, pooled. rewrite !times, !count, L, minus. field. lra. }
split; [exact D |].
assert (E : forall l, total l difference
  = / INR (S n) * total l (fun j => total ks (fun i => r i false j - r i true j))).
{ intros l. rewrite <- times. induction l as [| j l IH]; [reflexivity |].
  cbn [total fold_right] in *. unfold total in IH at 1 2. rewrite IH, D. unfold Rdiv, total. ring. }
rewrite E. field. lra.
Qed.

Theorem within : forall n q r eps j, 0 < q < 1 ->
  (forall i, In i (seq 0 (S n)) -> Rabs (r i false j - r i true j) <= eps) ->
  Rabs (pooled (seq 0 (S n)) (fun a : bool => if a then q else 1 - q) r false j
    - pooled (seq 0 (S n)) (fun a : bool => if a then q else 1 - q) r true j) <= eps.
Proof.
intros n q r eps j Q small.
assert (N : 0 < INR (S n)) by apply lt_0_INR, Nat.lt_0_succ.
destruct (ensemble n q r Q) as [mean _]. rewrite mean.
assert (bound : forall l t, (forall i, In i l -> Rabs (t i) <= eps) ->
  Rabs (total l t) <= eps * INR (length l)).
{ intros l t. induction l as [| i l IH]; intros each.
  - simpl. rewrite Rabs_R0. lra.
  - cbn [length total fold_right]. rewrite S_INR. fold (total l t).
    assert (one := each i (or_introl eq_refl)).
    assert (rest := IH (fun k h => each k (or_intror h))).
    assert (two := Rabs_triang (t i) (total l t)). lra. }
assert (whole := bound (seq 0 (S n)) (fun i => r i false j - r i true j) small).
rewrite seq_length in whole. unfold Rdiv. rewrite Rabs_mult, Rabs_inv, (Rabs_pos_eq (INR (S n)))
  by lra.
apply (Rmult_le_reg_r (INR (S n))); [exact N |]. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

(* The hypotheses of each theorem can hold together. *)
Lemma ensemble_witness : exists q, (0 < q < 1).
Proof.
exists (1/2). lra.
Qed.

Lemma within_witness : exists n q (r : nat -> bool -> nat -> R) eps j, (0 < q < 1)
  /\ (forall i, In i (seq 0 (S n)) -> Rabs (r i false j - r i true j) <= eps).
Proof.
exists 0%nat, (1/2), (fun _ _ _ => 0), 0, 0%nat. split; [lra |]. intros i _.
rewrite Rminus_0_r, Rabs_R0. lra.
Qed.

(* Each theorem with one number 1 % better, or one inequality strict, or not, is false. *)
Lemma ensemble_sharp : ~ (forall n q r, 0 < q < 1 -> let ks := seq 0 (S n) in let difference j :=
  pooled ks (fun a : bool => if a then q else 1 - q) r false j - pooled ks (fun a : bool => if a
  then q else 1 - q) r true j in (forall j, difference j = 99 / 100 * total ks (fun i => r i false
  j - r i true j) / INR (S n)) /\ total ks difference / INR (S n) = total ks (fun j => total ks
  (fun i => r i false j - r i true j)) / (INR (S n) * INR (S n))).
Proof.
intros s. destruct (s 0%nat (1 / 2) (fun _ a _ => if a then 0 else 1) ltac:(lra)) as [e _].
specialize (e 0%nat). unfold pooled in e. simpl in e. field_simplify in e; lra.
Qed.
Lemma within_sharp : ~ (forall n q r eps j, 0 < q < 1 -> (forall i, In i (seq 0 (S n)) -> Rabs (r i
  false j - r i true j) <= eps) -> Rabs (pooled (seq 0 (S n)) (fun a : bool => if a then q else 1 -
  q) r false j - pooled (seq 0 (S n)) (fun a : bool => if a then q else 1 - q) r true j) < eps \/
  eps = 0).
Proof.
intros s. destruct (s 0%nat (1 / 2) (fun _ a _ => if a then 0 else 1) 1 0%nat) as [l | l];
  [lra | intros; rewrite Rminus_0_r, Rabs_R1; lra | | lra].
unfold pooled in l. simpl in l. rewrite Rabs_right in l; field_simplify in l; lra.
Qed.
