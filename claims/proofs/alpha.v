(* alpha-fairness for large alpha: of two allocations to n users the one with the larger minimum m
  has
   the larger sum of utilities x^(1 - alpha) / (1 - alpha). *)
From Coq Require Import Reals Lra List.
Open Scope R_scope.

Definition total (ks : list nat) (t : nat -> R) : R := fold_right (fun k x => t k + x) 0 ks.
Definition utility (alpha x : R) : R := Rpower x (1 - alpha) / (1 - alpha).

Theorem egalitarian : forall n alpha m l u v, (0 < n)%nat -> 0 < l < m ->
  (forall i, In i (seq 0 n) -> m <= u i /\ 0 < v i) -> (exists j, In j (seq 0 n) /\ v j = l) ->
  1 + ln (INR n) / ln (m / l) < alpha ->
  total (seq 0 n) (fun i => utility alpha (v i)) < total (seq 0 n) (fun i => utility alpha (u i)).
Proof.
intros n alpha m l u v N L P [j [J e]] A.
assert (M : 1 <= INR n) by (change 1 with (INR 1); now apply le_INR).
assert (up : forall x y, 0 < x -> x <= y -> ln x <= ln y).
{ intros x y X [l' | ->]; [left; now apply ln_increasing | lra]. }
assert (n1 := up 1 (INR n) ltac:(lra) M). rewrite ln_1 in n1.
assert (E : ln (m / l) = ln m - ln l).
{ unfold Rdiv. rewrite ln_mult, ln_Rinv; [lra | lra | lra | apply Rinv_0_lt_compat; lra]. }
assert (D : ln l < ln m) by (apply ln_increasing; lra).
assert (F : ln (INR n) < (alpha - 1) * (ln m - ln l)).
{ rewrite E in A. apply Rmult_lt_reg_r with (/ (ln m - ln l)); [apply Rinv_0_lt_compat; lra |].
  replace ((alpha - 1) * (ln m - ln l) * / (ln m - ln l)) with (alpha - 1) by (field; lra).
  unfold Rdiv in A. lra. }
assert (G : 0 < alpha - 1) by nra.
assert (K : INR n * Rpower m (1 - alpha) < Rpower l (1 - alpha)).
{ unfold Rpower. rewrite <- (exp_ln (INR n)) at 1 by lra. rewrite <- exp_plus.
  apply exp_increasing. lra. }
assert (low : forall ks, (forall i, In i ks -> m <= u i) ->
  total ks (fun i => Rpower (u i) (1 - alpha)) <= INR (length ks) * Rpower m (1 - alpha)).
{ intros ks. induction ks as [| k ks IH]; intros Q; [simpl; lra |]. cbn [total fold_right length].
  rewrite S_INR. assert (H := IH (fun i I => Q i (or_intror I))).
  assert (B := up m (u k) ltac:(lra) (Q k (or_introl eq_refl))).
  assert (C : Rpower (u k) (1 - alpha) <= Rpower m (1 - alpha)).
  { unfold Rpower. destruct (Req_dec ((1 - alpha) * ln (u k)) ((1 - alpha) * ln m)) as [-> | d];
      [lra |]. left. apply exp_increasing. nra. }
  unfold total in H. lra. }
assert (high : forall ks, In j ks ->
  Rpower l (1 - alpha) <= total ks (fun i => Rpower (v i) (1 - alpha))).
{ intros ks. induction ks as [| k ks IH]; [intros [] |]. cbn [total fold_right].
  assert (Z : forall is, 0 <= total is (fun i => Rpower (v i) (1 - alpha))).
  { intros is. induction is as [| i is Z]; cbn; [lra |]. unfold total in Z.
    assert (H := exp_pos ((1 - alpha) * ln (v i))). unfold Rpower at 1. lra. }
  intros [i | i].
  - subst k. rewrite e. specialize (Z ks). unfold total in Z. lra.
  - specialize (IH i). unfold total in IH. assert (H := exp_pos ((1 - alpha) * ln (v k))).
    unfold Rpower at 2. lra. }
assert (out : forall ks (w : nat -> R), total ks (fun i => utility alpha (w i))
  = - (total ks (fun i => Rpower (w i) (1 - alpha)) * / (alpha - 1))).
{ intros ks w. induction ks as [| k ks IH]; cbn [total fold_right]; [ring |].
  unfold total in IH. rewrite IH. unfold utility. field. lra. }
rewrite !out. apply Ropp_lt_contravar, Rmult_lt_compat_r; [now apply Rinv_0_lt_compat |].
specialize (low (seq 0 n) (fun i I => proj1 (P i I))). rewrite seq_length in low.
specialize (high (seq 0 n) J). lra.
Qed.

(* The hypotheses of each theorem can hold together. *)
Lemma egalitarian_witness : exists n alpha m l u v, ((0 < n)%nat) /\ (0 < l < m) /\ ((forall i, In
  i (seq 0 n) -> m <= u i /\ 0 < v i)) /\ ((exists j, In j (seq 0 n) /\ v j = l)) /\ (1 + ln (INR
  n) / ln (m / l) < alpha).
Proof.
exists 1%nat, 2, 2, 1, (fun _ => 2), (fun _ => 1). repeat split; try lra; try apply Nat.lt_0_1.
- exists 0%nat. simpl. auto.
- simpl. rewrite ln_1. unfold Rdiv. lra.
Qed.

(* Each theorem with one number 1 % better, or one inequality strict, or not, is false. *)
Lemma egalitarian_sharp : ~ (forall n alpha m l u v, (0 < n)%nat -> 0 < l < m -> (forall i, In i
  (seq 0 n) -> m <= u i /\ 0 < v i) -> (exists j, In j (seq 0 n) /\ v j = l) -> 1 + ln (INR n) / ln
  (m / l) < alpha -> total (seq 0 n) (fun i => utility alpha (v i)) < 101 / 100 * total (seq 0 n)
  (fun i => utility alpha (u i))).
Proof.
intros s. assert (U : forall x, 0 < x -> utility 2 x = - / x).
{ intros x p. unfold utility. replace (1 - 2) with (Ropp 1) by lra.
  rewrite Rpower_Ropp, Rpower_1 by lra. field. lra. }
specialize (s 1%nat 2 (1001 / 1000) 1 (fun _ => 1001 / 1000) (fun _ => 1)). simpl in s.
rewrite ln_1, !U in s by lra.
enough (- / 1 + 0 < 101 / 100 * (- / (1001 / 1000) + 0)) by lra.
apply s; [exact (le_n 1) | lra | intros; lra | exists 0%nat; auto |].
unfold Rdiv at 1. rewrite Rmult_0_l. lra.
Qed.
