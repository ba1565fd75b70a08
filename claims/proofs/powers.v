(* The conjugate of q-FFL's mean A f = (mean of f^(q+1))^(1/(q+1)) on f >= 0, q > 0: 0 where
   sum max(v, 0)^((q+1)/q) <= n^(-1/q), which is a bound on a norm, infinite elsewhere. *)
From Coq Require Import Reals Lra Lia List.
Open Scope R_scope.

Definition total (ks : list nat) (t : nat -> R) : R := fold_right (fun k x => t k + x) 0 ks.
Definition power (x y : R) : R := if Req_EM_T x 0 then 0 else Rpower x y.
Definition mean (n : nat) (q : R) (f : nat -> R) (A : R) : Prop :=
  0 <= A /\ power A (q + 1) = total (seq 0 n) (fun i => power (f i) (q + 1)) / INR n.

Lemma ln_below : forall x m, 0 < x -> 0 < m -> ln x <= ln m + x / m - 1.
Proof.
intros x m X P. assert (Q : 0 < x / m) by now apply Rdiv_lt_0_compat.
assert (L : ln (x / m) = ln x - ln m).
{ unfold Rdiv. rewrite ln_mult, ln_Rinv by (assumption || now apply Rinv_0_lt_compat). ring. }
destruct (Req_dec (ln (x / m)) 0) as [z | z].
- assert (x / m = 1) by (rewrite <- (exp_ln _ Q), z; apply exp_0). lra.
- assert (H := exp_ineq1 _ z). rewrite exp_ln in H by assumption. lra.
Qed.

Lemma pos : forall x y, 0 <= power x y.
Proof.
intros x y. unfold power. destruct (Req_EM_T x 0); [lra |]. left. apply exp_pos.
Qed.

Lemma young : forall q a f A n, 0 < q -> 0 < a -> 0 < f -> 0 < A -> 0 < n ->
  a * f / A <= q / (q + 1) * (Rpower a ((q + 1) / q) * Rpower n (/ q))
               + / (q + 1) * (Rpower f (q + 1) / (Rpower A (q + 1) * n)).
Proof.
intros q a f A n Q a0 f0 A0 n0.
set (y := Rpower a ((q + 1) / q) * Rpower n (/ q)).
set (z := Rpower f (q + 1) / (Rpower A (q + 1) * n)).
assert (Y : 0 < y) by (apply Rmult_lt_0_compat; apply exp_pos).
assert (D : 0 < Rpower A (q + 1) * n) by (apply Rmult_lt_0_compat; [apply exp_pos | assumption]).
assert (Z : 0 < z) by (apply Rdiv_lt_0_compat; [apply exp_pos | assumption]).
assert (I : 0 < / (q + 1)) by (apply Rinv_0_lt_compat; lra).
assert (J : 0 < q / (q + 1)) by (apply Rdiv_lt_0_compat; lra).
assert (one : q / (q + 1) + / (q + 1) = 1) by (field; lra).
set (m := q / (q + 1) * y + / (q + 1) * z).
assert (M : 0 < m) by (unfold m; assert (0 < q / (q + 1) * y) by (now apply Rmult_lt_0_compat);
  assert (0 < / (q + 1) * z) by (now apply Rmult_lt_0_compat); lra).
assert (ly : ln y = (q + 1) / q * ln a + / q * ln n).
{ unfold y. rewrite ln_mult by apply exp_pos. unfold Rpower. rewrite !ln_exp. ring. }
assert (lz : ln z = (q + 1) * ln f - (q + 1) * ln A - ln n).
{ unfold z, Rdiv. rewrite ln_mult, ln_Rinv, ln_mult by
    (assumption || apply exp_pos || now apply Rinv_0_lt_compat).
  unfold Rpower. rewrite !ln_exp. ring. }
assert (b1 := ln_below y m Y M). assert (b2 := ln_below z m Z M).
assert (S : q / (q + 1) * ln y + / (q + 1) * ln z <= ln m).
{ apply (Rmult_le_compat_l (q / (q + 1))) in b1; [| lra].
  apply (Rmult_le_compat_l (/ (q + 1))) in b2; [| lra].
  assert (e : q / (q + 1) * (ln m + y / m - 1) + / (q + 1) * (ln m + z / m - 1)
    = (q / (q + 1) + / (q + 1)) * (ln m - 1) + (q / (q + 1) * y + / (q + 1) * z) * / m)
    by (unfold Rdiv; ring).
  rewrite one in e. fold m in e. rewrite Rinv_r in e by lra. lra. }
assert (T : q / (q + 1) * ln y + / (q + 1) * ln z = ln (a * f / A)).
{ unfold Rdiv at 2. rewrite !ln_mult, ln_Rinv, ly, lz by (repeat apply Rmult_lt_0_compat; assumption
    || now apply Rinv_0_lt_compat). field. lra. }
rewrite T in S. destruct (Rle_lt_dec (a * f / A) m) as [| bad]; [assumption | exfalso].
apply ln_increasing in bad; [lra | assumption].
Qed.

Theorem inside : forall n q v, (0 < n)%nat -> 0 < q ->
  total (seq 0 n) (fun i => power (Rmax (v i) 0) ((q + 1) / q)) <= Rpower (INR n) (- / q) ->
  forall f A, (forall i, In i (seq 0 n) -> 0 <= f i) -> mean n q f A ->
  total (seq 0 n) (fun i => v i * f i) - A <= 0.
Proof.
intros n q v N Q S f A F [A0 root]. assert (M : 0 < INR n) by now apply lt_0_INR.
destruct (Req_dec A 0) as [z | nz].
- subst A. unfold power at 1 in root. destruct (Req_EM_T 0 0) as [_ | x]; [| contradiction].
  assert (T : total (seq 0 n) (fun i => power (f i) (q + 1)) = 0).
  { apply Rmult_eq_reg_r with (/ INR n); [unfold Rdiv in root; lra |].
    apply Rinv_neq_0_compat. lra. }
  enough (E : total (seq 0 n) (fun i => v i * f i) = 0) by lra. clear - T.
  induction (seq 0 n) as [| k ks IH]; simpl; [reflexivity |]. simpl in T.
  assert (P := pos (f k) (q + 1)).
  assert (P' : 0 <= total ks (fun i => power (f i) (q + 1))).
  { clear. induction ks as [| k ks IH]; simpl; [lra | assert (P := pos (f k) (q + 1)); lra]. }
  rewrite IH by lra. assert (e : power (f k) (q + 1) = 0) by lra. unfold power in e.
  destruct (Req_EM_T (f k) 0) as [-> |]; [ring |]. assert (X := exp_pos ((q + 1) * ln (f k))).
  unfold Rpower in e. lra.
- assert (A1 : 0 < A) by lra. unfold power in root at 1.
  destruct (Req_EM_T A 0) as [| _]; [contradiction |].
  assert (P : 0 < Rpower A (q + 1)) by apply exp_pos.
  assert (B : 0 < Rpower (INR n) (/ q)) by apply exp_pos.
  assert (I : 0 < / (q + 1)) by (apply Rinv_0_lt_compat; lra).
  assert (J : 0 < q / (q + 1)) by (apply Rdiv_lt_0_compat; lra).
  assert (K : forall ks, (forall i, In i ks -> 0 <= f i) -> total ks (fun i => v i * f i) / A
    <= q / (q + 1) * (total ks (fun i => power (Rmax (v i) 0) ((q + 1) / q)) * Rpower (INR n) (/ q))
       + / (q + 1) * (total ks (fun i => power (f i) (q + 1)) / (Rpower A (q + 1) * INR n))).
  { intros ks. induction ks as [| k ks IH]; intros G; [simpl; unfold Rdiv; lra |].
    specialize (IH (fun i H => G i (or_intror H))). specialize (G k (or_introl eq_refl)).
    cbn [total fold_right]. fold (total ks (fun i => v i * f i)).
    fold (total ks (fun i => power (Rmax (v i) 0) ((q + 1) / q))).
    fold (total ks (fun i => power (f i) (q + 1))).
    enough (H : v k * f k / A
      <= q / (q + 1) * (power (Rmax (v k) 0) ((q + 1) / q) * Rpower (INR n) (/ q))
         + / (q + 1) * (power (f k) (q + 1) / (Rpower A (q + 1) * INR n))).
    { unfold Rdiv in *. lra. }
    assert (D : 0 < Rpower A (q + 1) * INR n) by now apply Rmult_lt_0_compat.
    assert (X := pos (Rmax (v k) 0) ((q + 1) / q)). assert (Y := pos (f k) (q + 1)).
    assert (X' : 0 <= q / (q + 1) * (power (Rmax (v k) 0) ((q + 1) / q) * Rpower (INR n) (/ q)))
      by (apply Rmult_le_pos; [lra | apply Rmult_le_pos; lra]).
    assert (Y' : 0 <= / (q + 1) * (power (f k) (q + 1) / (Rpower A (q + 1) * INR n)))
      by (apply Rmult_le_pos; [lra | apply Rmult_le_pos; [lra |]; left; now apply
        Rinv_0_lt_compat]).
    assert (IA : 0 < / A) by now apply Rinv_0_lt_compat.
    destruct (Rle_lt_dec (v k) 0) as [neg | p]; [| destruct G as [g | g]].
    - assert (v k * f k / A <= 0); [| lra]. unfold Rdiv.
      assert (0 <= - v k * f k) by (apply Rmult_le_pos; lra).
      assert (0 <= - v k * f k * / A) by (apply Rmult_le_pos; lra). lra.
    - assert (H := young q (v k) (f k) A (INR n) Q p g A1 M). unfold power.
      rewrite Rmax_left by lra. destruct (Req_EM_T (v k) 0); [lra |].
      destruct (Req_EM_T (f k) 0); [lra | exact H].
    - rewrite <- g in *. unfold Rdiv at 1. lra. }
  specialize (K (seq 0 n) F).
  assert (e : total (seq 0 n) (fun i => power (f i) (q + 1)) / (Rpower A (q + 1) * INR n) = 1).
  { rewrite root. field. split; [lra |]. intros z. rewrite z in root. unfold Rdiv in root. lra. }
  rewrite e in K.
  assert (le : total (seq 0 n) (fun i => power (Rmax (v i) 0) ((q + 1) / q)) * Rpower (INR n) (/ q)
    <= 1).
  { apply (Rmult_le_compat_r (Rpower (INR n) (/ q))) in S; [| lra].
    rewrite <- Rpower_plus in S. replace (- / q + / q) with 0 in S by ring.
    rewrite Rpower_O in S by assumption. exact S. }
  apply (Rmult_le_compat_l (q / (q + 1))) in le; [| lra].
  assert (one : q / (q + 1) + / (q + 1) = 1) by (field; lra).
  assert (last : total (seq 0 n) (fun i => v i * f i) / A <= 1) by lra.
  apply (Rmult_le_compat_r A) in last; [| lra]. unfold Rdiv in last.
  rewrite Rmult_assoc, Rinv_l in last by assumption. lra.
Qed.

Theorem outside : forall n q v, (0 < n)%nat -> 0 < q ->
  Rpower (INR n) (- / q) < total (seq 0 n) (fun i => power (Rmax (v i) 0) ((q + 1) / q)) ->
  forall B, exists f A, (forall i, In i (seq 0 n) -> 0 <= f i) /\ mean n q f A
    /\ B < total (seq 0 n) (fun i => v i * f i) - A.
Proof.
intros n q v N Q out B. assert (M : 0 < INR n) by now apply lt_0_INR.
set (S := total (seq 0 n) (fun i => power (Rmax (v i) 0) ((q + 1) / q))) in *.
assert (S0 : 0 < S) by (assert (H := exp_pos (- / q * ln (INR n))); unfold Rpower in out; lra).
set (C := Rpower (S / INR n) (/ (q + 1))).
assert (less : C < S).
{ unfold C. rewrite <- (exp_ln S S0) at 2. apply exp_increasing.
  assert (l : - / q * ln (INR n) < ln S).
  { rewrite <- (ln_exp (- / q * ln (INR n))). now apply ln_increasing; [apply exp_pos |]. }
  unfold Rdiv. rewrite ln_mult, ln_Rinv by (assumption || now apply Rinv_0_lt_compat).
  apply Rmult_lt_reg_l with (q + 1); [lra |]. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra.
  apply (Rmult_lt_compat_l q) in l; [| lra].
  replace (q * (- / q * ln (INR n))) with (- ln (INR n)) in l by (field; lra). lra. }
set (t := (Rabs B + 1) / (S - C)). assert (H := Rabs_pos B). assert (H' := Rle_abs B).
assert (T : 0 < t) by (apply Rdiv_lt_0_compat; lra).
assert (C0 : 0 < C) by apply exp_pos.
assert (scale : forall x y, 0 <= x -> power (t * x) y = Rpower t y * power x y).
{ intros x y X. unfold power. destruct (Req_EM_T x 0) as [-> | n0].
  - destruct (Req_EM_T (t * 0) 0) as [_ | b]; [ring | exfalso; apply b; ring].
  - destruct (Req_EM_T (t * x) 0) as [z | _];
      [apply Rmult_integral in z; destruct z; [lra | contradiction] |].
    symmetry. rewrite Rpower_mult_distr by lra. reflexivity. }
assert (twice : forall x y z, 0 <= x -> power (power x y) z = power x (y * z)).
{ intros x y z X. unfold power. destruct (Req_EM_T x 0).
  - destruct (Req_EM_T 0 0); [reflexivity | contradiction].
  - assert (P := exp_pos (y * ln x)). destruct (Req_EM_T (Rpower x y) 0) as [e |];
      [unfold Rpower in e; lra | apply Rpower_mult]. }
assert (w : forall i, 0 <= Rmax (v i) 0) by (intros; apply Rmax_r).
assert (sums : forall ks c s, total ks (fun i => c * s i) = c * total ks s).
{ intros ks c s. induction ks; simpl; [ring | rewrite IHks; ring]. }
assert (same : forall ks s s', (forall i, s i = s' i) -> total ks s = total ks s').
{ intros ks s s' e. induction ks; simpl; [reflexivity | now rewrite IHks, e]. }
exists (fun i => t * power (Rmax (v i) 0) (/ q)), (t * C). split; [| split; [split |]].
- intros i _. apply Rmult_le_pos; [lra | apply pos].
- apply Rmult_le_pos; lra.
- rewrite scale by lra. rewrite (same _ _ (fun i => Rpower t (q + 1)
    * power (Rmax (v i) 0) ((q + 1) / q))).
  + rewrite sums. fold S. unfold C, power. destruct (Req_EM_T (Rpower _ _) 0) as [e | _];
      [unfold Rpower in e; assert (P := exp_pos (/ (q + 1) * ln (S / INR n))); lra |].
    rewrite Rpower_mult. replace (/ (q + 1) * (q + 1)) with 1 by (field; lra).
    rewrite Rpower_1 by now apply Rdiv_lt_0_compat. unfold Rdiv. ring.
  + intros i. rewrite scale, twice by (apply pos || apply w).
    replace (/ q * (q + 1)) with ((q + 1) / q) by (field; lra). reflexivity.
- rewrite (same _ (fun i => v i * (t * power (Rmax (v i) 0) (/ q)))
    (fun i => t * power (Rmax (v i) 0) ((q + 1) / q))).
  + rewrite sums. fold S. replace (t * S - t * C) with (Rabs B + 1) by (unfold t; field; lra). lra.
  + intros i. unfold power. destruct (Rle_lt_dec (v i) 0) as [neg | p].
    * rewrite Rmax_right by assumption. destruct (Req_EM_T 0 0); [ring | contradiction].
    * rewrite Rmax_left by lra. destruct (Req_EM_T (v i) 0); [lra |].
      replace ((q + 1) / q) with (1 + / q) by (field; lra). rewrite Rpower_plus, Rpower_1 by
        assumption.
      ring.
Qed.

Theorem zero : forall n q, 0 < q -> mean n q (fun _ => 0) 0.
Proof.
intros n q Q. unfold mean, power. destruct (Req_EM_T 0 0); [| contradiction]. split; [lra |].
assert (E : total (seq 0 n) (fun _ => 0) = 0).
{ induction (seq 0 n) as [| k ks IH]; simpl; [reflexivity |]. rewrite IH. ring. }
rewrite E. unfold Rdiv. ring.
Qed.

Theorem near : forall n q f A M, (0 < n)%nat -> 0 < q -> mean n q f A ->
  (forall i, In i (seq 0 n) -> 0 <= f i <= M) -> (exists j, In j (seq 0 n) /\ f j = M) ->
  M * Rpower (INR n) (- / (q + 1)) <= A <= M.
Proof.
intros n q f A M N Q [A0 root] F [j [J e]]. assert (K : 0 < INR n) by now apply lt_0_INR.
assert (M0 : 0 <= M) by (rewrite <- e; apply F; exact J).
assert (P : 0 < Rpower (INR n) (- / (q + 1))) by apply exp_pos.
assert (up : forall x y, 0 <= x -> 0 <= y -> x <= y -> power x (q + 1) <= power y (q + 1)).
{ intros x y X Y [l | ->]; [| lra]. destruct X as [X | <-].
  - unfold power. destruct (Req_EM_T x 0); [lra |]. destruct (Req_EM_T y 0); [lra |].
    left. apply Rlt_Rpower_l; lra.
  - unfold power at 1. destruct (Req_EM_T 0 0); [apply pos | contradiction]. }
assert (back : forall x y, 0 <= x -> 0 <= y -> power x (q + 1) <= power y (q + 1) -> x <= y).
{ intros x y X Y le. apply Rnot_lt_le. intros l. unfold power in le.
  destruct (Req_EM_T x 0); [lra |]. destruct (Req_EM_T y 0) as [z | z].
  - assert (H := exp_pos ((q + 1) * ln x)). unfold Rpower in le. lra.
  - assert (H := Rlt_Rpower_l y x (q + 1) ltac:(lra) ltac:(lra)). lra. }
assert (top : total (seq 0 n) (fun i => power (f i) (q + 1)) <= INR n * power M (q + 1)).
{ replace (INR n) with (INR (length (seq 0 n))) by (now rewrite seq_length). revert F. clear - up
  M0.
  intros F. induction (seq 0 n) as [| k ks IH]; [simpl; lra |].
  cbn [total fold_right length]. rewrite S_INR.
  assert (B := IH (fun i I => F i (or_intror I))). destruct (F k (or_introl eq_refl)) as [a b].
  assert (C := up (f k) M a M0 b). unfold total in B. lra. }
assert (one : power M (q + 1) <= total (seq 0 n) (fun i => power (f i) (q + 1))).
{ rewrite <- e. clear - J. assert (Z : forall ks, 0 <= total ks (fun i => power (f i) (q + 1))).
  { intros ks. induction ks as [| k ks Z]; simpl; [lra |]. assert (B := pos (f k) (q + 1)). lra. }
  induction (seq 0 n) as [| k ks IH]; [destruct J |]. simpl. specialize (Z ks).
  destruct J as [-> | J]; [lra |]. specialize (IH J). assert (B := pos (f k) (q + 1)). lra. }
assert (I : 0 < / INR n) by now apply Rinv_0_lt_compat.
split; apply back; try assumption; try (apply Rmult_le_pos; lra); rewrite root; unfold Rdiv.
- assert (E : power (M * Rpower (INR n) (- / (q + 1))) (q + 1) = power M (q + 1) * / INR n).
  { unfold power. destruct (Req_EM_T M 0) as [-> | z].
    - destruct (Req_EM_T _ 0) as [_ | b]; [ring | exfalso; apply b; ring].
    - destruct (Req_EM_T _ 0) as [b | _]; [apply Rmult_integral in b; destruct b; lra |].
      rewrite <- Rpower_mult_distr by lra. rewrite Rpower_mult.
      replace (- / (q + 1) * (q + 1)) with (- (1)) by (field; lra).
      rewrite Rpower_Ropp, Rpower_1 by assumption. reflexivity. }
  rewrite E. apply Rmult_le_compat_r; lra.
- apply (Rmult_le_compat_r (/ INR n)) in top; [| lra].
  replace (INR n * power M (q + 1) * / INR n) with (power M (q + 1)) in top by (field; lra). exact
    top.
Qed.

(* The hypotheses of each theorem can hold together. *)
Lemma inside_witness : exists n q v, ((0 < n)%nat) /\ (0 < q) /\ (total (seq 0 n) (fun i => power
  (Rmax (v i) 0) ((q + 1) / q)) <= Rpower (INR n) (- / q)) /\ exists f A, ((forall i, In i (seq 0
  n) -> 0 <= f i)) /\ (mean n q f A).
Proof.
assert (Z : forall y, power 0 y = 0).
{ intros y. unfold power. destruct (Req_EM_T 0 0) as [_ | c]; [reflexivity | contradiction c; reflexivity]. }
exists 1%nat, 1, (fun _ => 0). split; [lia |]. split; [lra |]. split.
- unfold total. simpl. rewrite Rmax_left, Z by lra. rewrite Rplus_0_l. left. apply exp_pos.
- exists (fun _ => 0), 0. split; [intros; lra |]. split; [lra |]. unfold total. simpl. rewrite !Z. lra.
Qed.
Lemma outside_witness : exists n q v, ((0 < n)%nat) /\ (0 < q) /\ (Rpower (INR n) (- / q) < total
  (seq 0 n) (fun i => power (Rmax (v i) 0) ((q + 1) / q))) /\ exists i, In i (seq 0 n).
Proof.
exists 1%nat, 1, (fun _ => 2). split; [lia |]. split; [lra |].
split; [| exists 0%nat; simpl; auto]. unfold total, power. simpl.
rewrite Rmax_left by lra. destruct (Req_EM_T 2 0) as [c | _]; [lra |].
assert (A : Rpower 2 0 < Rpower 2 ((1 + 1) / 1)) by (apply Rpower_lt; lra).
rewrite Rpower_O in A by lra. unfold Rpower at 1. rewrite ln_1, Rmult_0_r, exp_0. lra.
Qed.
Lemma zero_witness : exists q, (0 < q).
Proof.
exists 1. lra.
Qed.
Lemma near_witness : exists n q f A M, ((0 < n)%nat) /\ (0 < q) /\ (mean n q f A) /\ ((forall i,
  In i (seq 0 n) -> 0 <= f i <= M)) /\ ((exists j, In j (seq 0 n) /\ f j = M)).
Proof.
assert (Z : forall y, power 0 y = 0).
{ intros y. unfold power. destruct (Req_EM_T 0 0) as [_ | c]; [reflexivity | contradiction c; reflexivity]. }
exists 1%nat, 1, (fun _ => 0), 0, 0. split; [lia |]. split; [lra |]. split.
- split; [lra |]. unfold total. simpl. rewrite !Z. lra.
- split; [intros; lra |]. exists 0%nat. simpl. auto.
Qed.

(* Each theorem with one number 1 % better, or one inequality strict, or not, is false. *)
Lemma power_0 : forall y, power 0 y = 0.
Proof. intros y. unfold power. destruct (Req_EM_T 0 0); lra. Qed.
Lemma power_1 : forall y, power 1 y = 1.
Proof.
intros y. unfold power. destruct (Req_EM_T 1 0); [lra |].
unfold Rpower. rewrite ln_1, Rmult_0_r. apply exp_0.
Qed.
Lemma level : mean 1 1 (fun _ => 1) 1.
Proof. split; [lra |]. simpl. rewrite !power_1. lra. Qed.
Lemma inside_sharp : ~ (forall n q v, (0 < n)%nat -> 0 < q -> total (seq 0 n) (fun i => power (Rmax
  (v i) 0) ((q + 1) / q)) <= Rpower (INR n) (- / q) -> forall f A, (forall i, In i (seq 0 n) -> 0
  <= f i) -> mean n q f A -> total (seq 0 n) (fun i => v i * f i) - A < 0).
Proof.
intros s. assert (L : 1 * 1 + 0 - 1 < 0); [| lra].
apply (s 1%nat 1 (fun _ => 1) (le_n 1) Rlt_0_1) with (f := fun _ => 1).
- simpl. rewrite Rmax_left, power_1 by lra. unfold Rpower. rewrite ln_1, Rmult_0_r, exp_0. lra.
- intros. lra.
- exact level.
Qed.
Lemma outside_sharp : ~ (forall n q v, (0 < n)%nat -> 0 < q -> Rpower (INR n) (- / q) <= total (seq
  0 n) (fun i => power (Rmax (v i) 0) ((q + 1) / q)) -> forall B, exists f A, (forall i, In i (seq
  0 n) -> 0 <= f i) /\ mean n q f A /\ B < total (seq 0 n) (fun i => v i * f i) - A).
Proof.
intros s. destruct (s 1%nat 1 (fun _ => 1) (le_n 1) Rlt_0_1) with (B := 0) as (f & A & P & M & l).
- simpl. rewrite Rmax_left, power_1 by lra. unfold Rpower. rewrite ln_1, Rmult_0_r, exp_0. lra.
- assert (L := inside 1 1 (fun _ => 1) (le_n 1) Rlt_0_1). simpl in *.
  assert (C : 1 * f 0%nat + 0 - A <= 0); [| lra]. apply L; [| exact P | exact M].
  rewrite Rmax_left, power_1 by lra. unfold Rpower. rewrite ln_1, Rmult_0_r, exp_0. lra.
Qed.
Lemma near_sharp : ~ (forall n q f A M, (0 < n)%nat -> 0 < q -> mean n q f A -> (forall i, In i
  (seq 0 n) -> 0 <= f i <= M) -> (exists j, In j (seq 0 n) /\ f j = M) -> M * Rpower (INR n) (- /
  (q + 1)) <= A /\ (A < M \/ M = 0)).
Proof.
intros s. destruct (s 1%nat 1 (fun _ => 1) 1 1 (le_n 1) Rlt_0_1 level) as [_ [l | l]]; [| | lra | lra].
- intros. lra.
- exists 0%nat. simpl. auto.
Qed.
Lemma zero_sharp : ~ (forall n q, 0 < q -> 0 < 0 /\ power 0 (q + 1) = total (seq 0 n) (fun i =>
  power 0 (q + 1)) / INR n).
Proof.
intros s. destruct (s 1%nat 1 Rlt_0_1). lra.
Qed.
