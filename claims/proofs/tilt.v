(* Lemma 9's counterexample: the covariance of F'/F and log F under shares F^s, three losses
   F0 < F1 < F2 with F'/F = g, h, k, over F0^s F1^s. Where it is positive at s = 1, and
   k - h > 0 and (k - h) + (k - g) > 0, it is positive for every s >= 1. *)
From Coq Require Import Reals Lra.
Open Scope R_scope.

Definition tilt (x y z g h k s : R) : R :=
  (h - g) * (y - x) + (k - h) * (z - y) * exp (s * (z - x)) + (k - g) * (z - x) * exp (s * (z - y)).

Theorem grows : forall F0 F1 F2 g h k s, 0 < F0 -> F0 < F1 -> F1 < F2 -> 1 <= s ->
  0 < k - h -> 0 < (k - h) + (k - g) -> 0 < tilt (ln F0) (ln F1) (ln F2) g h k 1 ->
  0 < tilt (ln F0) (ln F1) (ln F2) g h k s.
Proof.
intros F0 F1 F2 g h k s p o1 o2 S kh both one.
set (x := ln F0) in *. set (y := ln F1) in *. set (z := ln F2) in *.
assert (x < y) by (apply ln_increasing; lra). assert (y < z) by (apply ln_increasing; lra).
destruct S as [S | e]; [| now rewrite <- e].
set (d := fun t => (k - h) * (z - y) * ((z - x) * exp (t * (z - x))) + (k - g) * (z - x) * ((z -
  y) * exp (t * (z - y)))).
destruct (MVT_cor2 (tilt x y z g h k) d 1 s S) as [c [E [c1 c2]]].
{ intros t _. unfold tilt, d.
  assert (D : forall w, derivable_pt_lim (fun t => exp (t * w)) t (w * exp (t * w))).
  { intros w. rewrite Rmult_comm. apply (derivable_pt_lim_comp (fun t => t * w) exp);
    [| apply derivable_pt_lim_exp].
    intros eps P. exists (mkposreal 1 Rlt_0_1). intros u nz _.
    replace (((t + u) * w - t * w) / u - w) with 0 by (field; assumption). now rewrite Rabs_R0. }
  apply (derivable_pt_lim_plus (fun t => (h - g) * (y - x) + (k - h) * (z - y) * exp (t * (z -
    x)))).
  - replace ((k - h) * (z - y) * ((z - x) * exp (t * (z - x)))) with (0 + (k - h) * (z - y) * ((z
    - x) * exp (t * (z - x)))) by ring.
    apply (derivable_pt_lim_plus (fun _ => (h - g) * (y - x))); [apply derivable_pt_lim_const |].
    apply (derivable_pt_lim_scal (fun t => exp (t * (z - x)))), D.
  - apply (derivable_pt_lim_scal (fun t => exp (t * (z - y)))), D. }
assert (Q : 0 < d c).
{ unfold d. replace (_ + _) with ((z - y) * (z - x) * ((k - h) * exp (c * (z - x)) + (k - g) * exp
  (c * (z - y)))) by ring.
  apply Rmult_lt_0_compat; [nra |].
  assert (I : exp (c * (z - y)) < exp (c * (z - x))) by (apply exp_increasing; nra).
  assert (J := exp_pos (c * (z - y))). nra. }
assert (0 < d c * (s - 1)) by nra. lra.
Qed.

(* The hypotheses of each theorem can hold together. *)
Lemma grows_witness : exists F0 F1 F2 g h k s, (0 < F0) /\ (F0 < F1) /\ (F1 < F2) /\ (1 <= s) /\
  (0 < k - h) /\ (0 < (k - h) + (k - g)) /\ (0 < tilt (ln F0) (ln F1) (ln F2) g h k 1).
Proof.
exists 1, 2, 3, 0, 0, 1, 1. repeat split; try lra.
assert (ln 1 < ln 2) by (apply ln_increasing; lra). assert (ln 2 < ln 3) by (apply ln_increasing; lra).
unfold tilt. assert (A := exp_pos (1 * (ln 3 - ln 1))). assert (B := exp_pos (1 * (ln 3 - ln 2))). nra.
Qed.

(* Each theorem with one number 1 % better, or one inequality strict, or not, is false. *)
Lemma grows_sharp : ~ (forall F0 F1 F2 g h k s, 0 < F0 -> F0 < F1 -> F1 < F2 -> 1 <= s -> 0 < k - h
  -> 0 < (k - h) + (k - g) -> 0 <= tilt (ln F0) (ln F1) (ln F2) g h k 1 -> 0 < tilt (ln F0) (ln F1)
  (ln F2) g h k s).
Proof.
intros s. specialize (s 1 2 4 (8 / 5) 0 1 1). unfold tilt in s. rewrite ln_1, !Rmult_1_l in s.
assert (e : ln 4 = 2 * ln 2) by (replace 4 with (2 * 2) by lra; rewrite ln_mult; lra).
rewrite e in s. replace (2 * ln 2 - 0) with (ln 4) in s by lra.
replace (2 * ln 2 - ln 2) with (ln 2) in s by lra. rewrite !exp_ln in s by lra. lra.
Qed.
