(* The conjugate of PropFair's mean A f = M - (product of the n utilities M - f_i)^(1/n), written in
   the utilities u_i = M - f_i >= 0: v.f - A f = M (sum v - 1) - (v.u - G), G the geometric mean. *)
From Coq Require Import Reals Lra Lia List.
Open Scope R_scope.

Definition sum (ks : list nat) (t : nat -> R) : R := fold_right (fun k x => t k + x) 0 ks.
Definition product (ks : list nat) (t : nat -> R) : R := fold_right (fun k x => t k * x) 1 ks.
Definition geometric (n : nat) (u : nat -> R) (G : R) : Prop :=
  0 <= G /\ G ^ n = product (seq 0 n) u.

Lemma ln_below : forall x m, 0 < x -> 0 < m -> ln x <= ln m + x / m - 1.
Proof.
intros x m X P. assert (Q : 0 < x / m) by now apply Rdiv_lt_0_compat.
assert (L : ln (x / m) = ln x - ln m).
{ unfold Rdiv. rewrite ln_mult, ln_Rinv by (assumption || now apply Rinv_0_lt_compat). ring. }
destruct (Req_dec (ln (x / m)) 0) as [z | z].
- assert (x / m = 1) by (rewrite <- (exp_ln _ Q), z; apply exp_0). lra.
- assert (H := exp_ineq1 _ z). rewrite exp_ln in H by assumption. lra.
Qed.

Lemma ln_product : forall ks t, (forall i, In i ks -> 0 < t i) ->
  0 < product ks t /\ ln (product ks t) = sum ks (fun i => ln (t i)).
Proof.
intros ks t P. induction ks as [| k ks IH]; simpl; [split; [lra | apply ln_1] |].
destruct IH as [p e]; [intros; apply P; now right |]. assert (Q := P k (or_introl eq_refl)).
split; [now apply Rmult_lt_0_compat | rewrite ln_mult, e by assumption; reflexivity].
Qed.

Theorem inside : forall n v u G, (0 < n)%nat -> (forall i, In i (seq 0 n) -> 0 < v i) ->
  1 <= product (seq 0 n) (fun i => INR n * v i) -> (forall i, In i (seq 0 n) -> 0 <= u i) ->
  geometric n u G -> G <= sum (seq 0 n) (fun i => v i * u i).
Proof.
intros n v u G N V T U [pos root]. assert (M : 0 < INR n) by now apply lt_0_INR.
assert (S0 : 0 <= sum (seq 0 n) (fun i => v i * u i)).
{ clear - V U. induction (seq 0 n) as [| k ks IH]; simpl; [lra |].
  assert (0 <= sum ks (fun i => v i * u i)) by (apply IH; intros; [apply V | apply U]; now right).
  specialize (V k (or_introl eq_refl)). specialize (U k (or_introl eq_refl)). nra. }
destruct (Req_dec G 0) as [z | nz]; [lra |]. assert (P : 0 < G) by lra.
assert (U' : forall i, In i (seq 0 n) -> 0 < u i).
{ assert (R : product (seq 0 n) u <> 0) by (rewrite <- root; apply pow_nonzero; lra).
  clear - U R. intros i I. destruct (U i I) as [l | e]; [exact l | exfalso]. apply R.
  clear R U. induction (seq 0 n) as [| k ks IH]; [destruct I |]. simpl.
  destruct I as [q | I]; [subst; rewrite <- e; ring | rewrite IH by assumption; ring]. }
set (m := sum (seq 0 n) (fun i => v i * u i)) in *.
assert (m0 : 0 < m).
{ unfold m. destruct n as [| n]; [lia |]. simpl.
  assert (0 < v 0%nat * u 0%nat) by (apply Rmult_lt_0_compat; [apply V | apply U']; now left).
  assert (H0 : forall i, In i (seq 1 n) -> 0 < v i * u i).
  { intros i I. apply Rmult_lt_0_compat; [apply V | apply U']; now right. }
  assert (0 <= sum (seq 1 n) (fun i => v i * u i)).
  { clear - H0. induction (seq 1 n) as [| k ks IH]; simpl; [lra |].
    assert (A := H0 k (or_introl eq_refl)).
    assert (0 <= sum ks (fun i => v i * u i)) by (apply IH; intros; apply H0; now right). lra. }
  lra. }
destruct (ln_product (seq 0 n) u U') as [_ Lu].
destruct (ln_product (seq 0 n) (fun i => INR n * v i)) as [_ Lv].
{ intros i I. apply Rmult_lt_0_compat; [assumption | now apply V]. }
assert (Z : 0 <= sum (seq 0 n) (fun i => ln (INR n * v i))).
{ rewrite <- Lv, <- ln_1. destruct T as [T | T]; [left; apply ln_increasing; lra | rewrite <- T;
  lra]. }
assert (Lg : INR n * ln G = sum (seq 0 n) (fun i => ln (u i))).
{ rewrite <- Lu, <- root. clear - P. induction n as [| n IH]; [simpl; rewrite ln_1; ring |].
  rewrite S_INR. simpl pow. rewrite ln_mult, <- IH by (assumption || now apply pow_lt). ring. }
assert (J : sum (seq 0 n) (fun i => ln (INR n * v i)) + sum (seq 0 n) (fun i => ln (u i))
  <= INR n * ln m + INR n * m / m - INR n).
{ assert (K : forall ks, (forall i, In i ks -> 0 < v i /\ 0 < u i) ->
    sum ks (fun i => ln (INR n * v i)) + sum ks (fun i => ln (u i))
    <= INR (length ks) * ln m + INR n * sum ks (fun i => v i * u i) / m - INR (length ks)).
  { intros ks. induction ks as [| k ks IH]; intros Q; [simpl; unfold Rdiv; lra |].
    assert (I := IH (fun i H => Q i (or_intror H))). destruct (Q k (or_introl eq_refl)) as [a b].
    assert (H := ln_below (INR n * v k * u k) m ltac:(repeat apply Rmult_lt_0_compat;
      assumption) m0).
    rewrite ln_mult in H by (assumption || now apply Rmult_lt_0_compat).
    cbn [sum fold_right length]. rewrite S_INR. unfold sum in I. unfold Rdiv in *. nra. }
  assert (F := K (seq 0 n) (fun i I => conj (V i I) (U' i I))). rewrite seq_length in F. exact F. }
replace (INR n * m / m) with (INR n) in J by (field; lra).
destruct (Rle_lt_dec G m) as [| bad]; [assumption | exfalso].
assert (ln m < ln G) by now apply ln_increasing. nra.
Qed.

Theorem beyond : forall n v, (0 < n)%nat -> (forall i, In i (seq 0 n) -> 0 < v i) ->
  product (seq 0 n) (fun i => INR n * v i) < 1 ->
  forall B, exists u G, (forall i, In i (seq 0 n) -> 0 <= u i) /\ geometric n u G
    /\ B < G - sum (seq 0 n) (fun i => v i * u i).
Proof.
intros n v N V T B. assert (M : 0 < INR n) by now apply lt_0_INR.
assert (W : forall i, In i (seq 0 n) -> 0 < INR n * v i) by (intros; apply Rmult_lt_0_compat; auto).
destruct (ln_product (seq 0 n) (fun i => INR n * v i) W) as [p L].
set (P := product (seq 0 n) (fun i => INR n * v i)) in *. set (r := exp (- ln P / INR n)).
assert (neg : ln P < 0) by (rewrite <- ln_1; now apply ln_increasing).
assert (big : 1 < r).
{ unfold r. rewrite <- exp_0. apply exp_increasing. unfold Rdiv.
  apply Rmult_lt_0_compat; [lra | now apply Rinv_0_lt_compat]. }
assert (rn : r ^ n * P = 1).
{ assert (E : forall k, r ^ k = exp (INR k * (- ln P / INR n))).
  { intros k. induction k as [| k IH]; [simpl; now rewrite Rmult_0_l, exp_0 |].
    simpl pow. rewrite IH. unfold r at 1. rewrite <- exp_plus, S_INR. f_equal. ring. }
  rewrite E. replace (INR n * (- ln P / INR n)) with (- ln P) by (field; lra).
  rewrite exp_Ropp, exp_ln by assumption. field. lra. }
set (c := (Rabs B + 1) / (r - 1)). assert (H := Rle_abs B). assert (H' := Rabs_pos B).
assert (C : 0 < c) by (apply Rdiv_lt_0_compat; lra).
exists (fun i => c / (INR n * v i)), (c * r). split; [| split; [split |]].
- intros i I. left. apply Rdiv_lt_0_compat; auto.
- nra.
- assert (Q : forall ks, (forall i, In i ks -> 0 < INR n * v i) ->
    product ks (fun i => c / (INR n * v i)) * product ks (fun i => INR n * v i) = c ^ length ks).
  { intros ks. induction ks as [| k ks IH]; intros K; [simpl;
    ring |]. cbn [product fold_right length pow].
    rewrite <- IH by (intros; apply K; now right). assert (A := K k (or_introl eq_refl)).
    assert (v k <> 0) by (intros z; rewrite z in A; lra). unfold product. field. repeat split;
      lra. }
  specialize (Q (seq 0 n) W). rewrite seq_length in Q. fold P in Q. rewrite Rpow_mult_distr.
  apply Rmult_eq_reg_r with P; [| lra]. rewrite Rmult_assoc, rn, Q. ring.
- assert (E : forall ks, (forall i, In i ks -> 0 < v i) ->
    sum ks (fun i => v i * (c / (INR n * v i))) = INR (length ks) * (c / INR n)).
  { intros ks. induction ks as [| k ks IH]; intros K; [simpl; ring |]. cbn [sum fold_right length].
    rewrite S_INR. unfold sum in IH. rewrite IH by (intros; apply K; now right).
    assert (A := K k (or_introl eq_refl)). field. lra. }
  rewrite (E (seq 0 n) V), seq_length. replace (INR n * (c / INR n)) with c by (field; lra).
  replace (c * r - c) with (c * (r - 1)) by ring.
  replace (c * (r - 1)) with (Rabs B + 1) by (unfold c; field; lra). lra.
Qed.

Theorem signed : forall n v, (exists j, In j (seq 0 n) /\ v j <= 0) ->
  forall B, exists u G, (forall i, In i (seq 0 n) -> 0 <= u i) /\ geometric n u G
    /\ B < G - sum (seq 0 n) (fun i => v i * u i).
Proof.
intros n v [j [J neg]] B. set (T := sum (seq 0 n) (fun i => Rabs (v i))).
assert (T0 : 0 <= T).
{ unfold T. clear. induction (seq 0 n) as [| k ks IH]; simpl; [lra |].
  assert (A := Rabs_pos (v k)). lra. }
assert (H := Rle_abs B). assert (H' := Rabs_pos B). set (s := Rabs B + T + 1).
assert (P : 0 <= s ^ n) by (apply pow_le; unfold s; lra).
exists (fun i => if Nat.eq_dec i j then s ^ n else 1), s. split; [| split; [split |]].
- intros i _. destruct (Nat.eq_dec i j); lra.
- unfold s. lra.
- assert (U := seq_NoDup n 0). revert J U. generalize (s ^ n). clear. intros x.
  induction (seq 0 n) as [| k ks IH]; intros J U; [destruct J |]. inversion U. subst. simpl.
  destruct (Nat.eq_dec k j) as [e | e].
  + subst. enough (Z : product ks (fun i => if Nat.eq_dec i j then x else 1) = 1) by (rewrite Z;
    ring).
    clear - H1. induction ks as [| i ks IH]; [reflexivity |]. simpl.
    destruct (Nat.eq_dec i j); [exfalso; subst; apply H1; now left |].
    rewrite IH; [ring | intros K; apply H1; now right].
  + destruct J as [J | J]; [contradiction |]. rewrite <- IH by assumption. ring.
- assert (L : sum (seq 0 n) (fun i => v i * (if Nat.eq_dec i j then s ^ n else 1)) <= T).
  { unfold T. revert P. generalize (s ^ n). clear - neg. intros x P.
  induction (seq 0 n) as [| k ks IH]; simpl; [lra |].
    assert (A := Rle_abs (v k)). assert (A' := Rabs_pos (v k)).
    destruct (Nat.eq_dec k j) as [e | e].
    - subst k. assert (v j * x <= 0) by nra. lra.
    - lra. }
  unfold s in *. lra.
Qed.
