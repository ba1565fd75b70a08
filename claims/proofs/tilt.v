(* Lemma 9's counterexample: the covariance of F'/F and log F under shares F^s, three losses
   F0 < F1 < F2 with F'/F = g, h, k, over F0^s F1^s. Where it is positive at s = 1, and k > h, it is
   positive for every s >= 1. *)
From Coq Require Import Reals Lra.
Open Scope R_scope.

Definition tilt (x y z g h k s : R) : R :=
  (h - g) * (y - x) + (k - h) * (z - y) * exp (s * (z - x)) + (k - g) * (z - x) * exp (s * (z - y)).

Theorem grows : forall F0 F1 F2 g h k s, 0 < F0 -> F0 < F1 -> F1 < F2 -> 1 <= s ->
  0 < k - h -> 0 < tilt (ln F0) (ln F1) (ln F2) g h k 1 ->
  0 < tilt (ln F0) (ln F1) (ln F2) g h k s.
Proof.
intros F0 F1 F2 g h k s p o1 o2 S kh one.
set (x := ln F0) in *. set (y := ln F1) in *. set (z := ln F2) in *.
assert (xy : x < y) by (apply ln_increasing; lra).
assert (yz : y < z) by (apply ln_increasing; lra).
assert (up : forall w, 0 < w -> exp (1 * w) <= exp (s * w)).
{ intros w W. destruct S as [S | e]; [left; apply exp_increasing; nra | rewrite <- e; lra]. }
assert (A := up (z - y)). assert (B := up (y - x)). assert (P := exp_pos (1 * (z - y))).
unfold tilt in *. replace (s * (z - x)) with (s * (z - y) + s * (y - x)) by ring.
replace (1 * (z - x)) with (1 * (z - y) + 1 * (y - x)) in one by ring. rewrite exp_plus in *.
set (c := (k - g) * (z - x)) in *. set (b := (k - h) * (z - y)) in *.
set (D := exp (s * (z - y))) in *. set (V := exp (s * (y - x))) in *.
set (d := exp (1 * (z - y))) in *. set (v := exp (1 * (y - x))) in *.
assert (0 < b) by (apply Rmult_lt_0_compat; lra).
assert (dD : d <= D) by lra. assert (vV : v <= V) by lra.
assert (v0 : 0 < v) by apply exp_pos.
(* the sum of the last two terms at s = 1 is positive: else g <= k, or the first is positive *)
assert (Q : 0 < b * v + c).
{ destruct (Rle_or_lt g k) as [gk | gk].
  - assert (0 <= c) by (apply Rmult_le_pos; lra). assert (0 < b * v) by (apply Rmult_lt_0_compat; lra). lra.
  - assert ((h - g) * (y - x) < 0) by nra. nra. }
assert (b * v + c <= b * V + c) by nra. nra.
Qed.

(* The hypotheses of each theorem can hold together. *)
Lemma grows_witness : exists F0 F1 F2 g h k s, (0 < F0) /\ (F0 < F1) /\ (F1 < F2) /\ (1 <= s) /\
  (0 < k - h) /\ (0 < tilt (ln F0) (ln F1) (ln F2) g h k 1).
Proof.
exists 1, 2, 3, 0, 0, 1, 1. repeat split; try lra.
assert (ln 1 < ln 2) by (apply ln_increasing; lra). assert (ln 2 < ln 3) by (apply ln_increasing; lra).
unfold tilt. assert (A := exp_pos (1 * (ln 3 - ln 1))). assert (B := exp_pos (1 * (ln 3 - ln 2))). nra.
Qed.

(* Each theorem with one number 1 % better, or one inequality strict, or not, is false. *)
Lemma grows_sharp : ~ (forall F0 F1 F2 g h k s, 0 < F0 -> F0 < F1 -> F1 < F2 -> 1 <= s -> 0 < k - h
  -> 0 <= tilt (ln F0) (ln F1) (ln F2) g h k 1 -> 0 < tilt (ln F0) (ln F1) (ln F2) g h k s).
Proof.
intros s. specialize (s 1 2 4 (8 / 5) 0 1 1). unfold tilt in s. rewrite ln_1, !Rmult_1_l in s.
assert (e : ln 4 = 2 * ln 2) by (replace 4 with (2 * 2) by lra; rewrite ln_mult; lra).
rewrite e in s. replace (2 * ln 2 - 0) with (ln 4) in s by lra.
replace (2 * ln 2 - ln 2) with (ln 2) in s by lra. rewrite !exp_ln in s by lra. lra.
Qed.
