(* Two clients with normal laws of spread sd0 and sd1, q = 1/2 and a logistic eta. Phi is an
   antiderivative of the normal density, t = eta^-1(1/2 + lambda) stands for the multiplier. Client
     0
   favours group 1, client 1 group 0; difference is the ensemble's mean difference. *)
From Coq Require Import Reals Lra.
Open Scope R_scope.

Definition density (x : R) : R := exp (- (x * x / 2)) / sqrt (2 * PI).
Definition g (Phi : R -> R) (m0 m1 sd t : R) : R := Phi ((t - m1) / sd) - Phi ((- t - m0) / sd).
Definition difference (g0 g1 : R -> R) (t0 t1 : R) : R := (g0 t0 + g1 t0 + g0 t1 + g1 t1) / 4.

Lemma root : 0 < sqrt (2 * PI).
Proof. apply sqrt_lt_R0. assert (H := PI_RGT_0). lra. Qed.

Lemma dense : forall x, 0 < density x <= / sqrt (2 * PI) /\ (x <> 0 -> density x < / sqrt (2 * PI)).
Proof.
intros x. assert (I := Rinv_0_lt_compat _ root). assert (P := exp_pos (- (x * x / 2))).
unfold density, Rdiv. set (c := / sqrt (2 * PI)) in *.
assert (Q : x <> 0 -> exp (- (x * x * / 2)) < 1).
{ intros n. rewrite <- exp_0. apply exp_increasing. assert (A := Rsqr_pos_lt x n). unfold Rsqr in A.
  lra. }
unfold Rdiv in P. split; [split; [now apply Rmult_lt_0_compat |] | intros n; specialize (Q n); nra].
destruct (Req_dec x 0) as [-> | n]; [| specialize (Q n); nra].
replace (- (0 * 0 * / 2)) with 0 by ring. rewrite exp_0. lra.
Qed.

Lemma between : forall Phi a b, (forall x, derivable_pt_lim Phi x (density x)) -> a < b ->
  0 < Phi b - Phi a < (b - a) / sqrt (2 * PI).
Proof.
intros Phi a b D l. set (m := (a + b) / 2).
destruct (MVT_cor2 Phi density a m) as [c [ec [c0 c1]]]; [unfold m; lra | intros; apply D |].
destruct (MVT_cor2 Phi density m b) as [d [ed [d0 d1]]]; [unfold m; lra | intros; apply D |].
destruct (dense c) as [[p q] r]. destruct (dense d) as [[p' q'] r'].
assert (e : m - a = (b - a) / 2) by (unfold m; field).
assert (e' : b - m = (b - a) / 2) by (unfold m; field).
rewrite e in ec. rewrite e' in ed. unfold Rdiv in *. set (k := / sqrt (2 * PI)) in *.
destruct (Req_dec c 0) as [z | n]; [specialize (r' ltac:(lra)) | specialize (r n)]; split; nra.
Qed.

Theorem corollary_11 : forall Phi m0 m1 n0 n1 sd0 sd1,
  (forall x, derivable_pt_lim Phi x (density x)) -> 0 < sd0 -> 0 < sd1 -> m0 < m1 -> n1 < n0 ->
  let g0 := g Phi m0 m1 sd0 in
  let g1 := g Phi n0 n1 sd1 in
  let z0 := (m1 - m0) / 2 in
  let z1 := (n1 - n0) / 2 in
  g0 z0 = 0 /\ g1 z1 = 0 /\ g0 0 < 0 < g1 0
  /\ (forall t0 t1, 0 <= t0 -> z1 <= t1 -> difference g0 g1 0 z1 <= difference g0 g1 t0 t1)
  /\ 0 < (g0 0 + g1 0) / 4 - difference g0 g1 0 z1
       < (m1 - m0 + (n0 - n1)) / (4 * sd0 * sqrt (2 * PI))
  /\ ((2 * (m1 - m0) + (n0 - n1)) / sqrt (2 * PI) <= sd0 * g1 0 -> 0 < difference g0 g1 0 z1).
Proof.
intros Phi m0 m1 n0 n1 sd0 sd1 D S0 S1 M N g0 g1 z0 z1.
assert (I0 := Rinv_0_lt_compat _ S0). assert (I1 := Rinv_0_lt_compat _ S1).
assert (K := Rinv_0_lt_compat _ root).
assert (up : forall a b, a < b -> Phi a < Phi b).
{ intros a b l. destruct (between Phi a b D l). lra. }
assert (rise : forall p0 p1 sd s t, 0 < / sd -> s <= t -> g Phi p0 p1 sd s <= g Phi p0 p1 sd t).
{ intros p0 p1 sd s t I [l | ->]; [| lra]. unfold g, Rdiv.
  assert (A := up ((s - p1) * / sd) ((t - p1) * / sd) ltac:(apply Rmult_lt_compat_r; lra)).
  assert (B := up ((- t - p0) * / sd) ((- s - p0) * / sd) ltac:(apply Rmult_lt_compat_r; lra)).
  lra. }
assert (e0 : g0 z0 = 0).
{ unfold g0, g. replace ((z0 - m1) / sd0) with ((- z0 - m0) / sd0) by (unfold z0; field; lra).
  ring. }
assert (e1 : g1 z1 = 0).
{ unfold g1, g. replace ((z1 - n1) / sd1) with ((- z1 - n0) / sd1) by (unfold z1; field; lra).
  ring. }
assert (neg : 0 < - g0 0 < (m1 - m0) * / sd0 * / sqrt (2 * PI)).
{ destruct (between Phi ((0 - m1) / sd0) ((- 0 - m0) / sd0) D) as [a b].
  - unfold Rdiv. apply Rmult_lt_compat_r; lra.
  - unfold g0, g. split; [lra |].
    replace ((- 0 - m0) / sd0 - (0 - m1) / sd0) with ((m1 - m0) * / sd0) in b by (field; lra).
    unfold Rdiv in *. lra. }
assert (pos : 0 < g1 0).
{ assert (A := up ((- 0 - n0) / sd1) ((0 - n1) / sd1)
    ltac:(unfold Rdiv; apply Rmult_lt_compat_r; lra)). unfold g1, g. lra. }
assert (gap : 0 < - g0 z1 < (m1 - m0 + (n0 - n1)) * / sd0 * / sqrt (2 * PI)).
{ destruct (between Phi ((z1 - m1) / sd0) ((- z1 - m0) / sd0) D) as [a b].
  - unfold Rdiv, z1. apply Rmult_lt_compat_r; lra.
  - unfold g0, g. split; [lra |].
    replace ((- z1 - m0) / sd0 - (z1 - m1) / sd0) with ((m1 - m0 + (n0 - n1)) * / sd0) in b
      by (unfold z1; field; lra). unfold Rdiv in *. lra. }
split; [exact e0 |]. split; [exact e1 |]. split; [lra |]. split; [| split].
- intros t0 t1 a b. unfold difference.
  assert (A := rise m0 m1 sd0 0 t0 I0 a). assert (B := rise n0 n1 sd1 0 t0 I1 a).
  assert (C := rise m0 m1 sd0 z1 t1 I0 b). assert (E := rise n0 n1 sd1 z1 t1 I1 b).
  fold g0 in A, C. fold g1 in B, E. lra.
- unfold difference. rewrite e1. replace (4 * sd0 * sqrt (2 * PI)) with (sd0 * sqrt (2 * PI) * 4)
    by ring. assert (R := root).
  replace ((m1 - m0 + (n0 - n1)) / (sd0 * sqrt (2 * PI) * 4))
    with ((m1 - m0 + (n0 - n1)) * / sd0 * / sqrt (2 * PI) / 4) by (field; lra). lra.
- intros far. unfold difference. rewrite e1.
  assert (F : (2 * (m1 - m0) + (n0 - n1)) * / sd0 * / sqrt (2 * PI) <= g1 0).
  { apply Rmult_le_reg_l with sd0; [exact S0 |]. unfold Rdiv in far.
    replace (sd0 * ((2 * (m1 - m0) + (n0 - n1)) * / sd0 * / sqrt (2 * PI)))
      with ((2 * (m1 - m0) + (n0 - n1)) * / sqrt (2 * PI)); [exact far |].
    assert (R := root). field. lra. }
  assert (E : (2 * (m1 - m0) + (n0 - n1)) * / sd0 * / sqrt (2 * PI)
    = (m1 - m0) * / sd0 * / sqrt (2 * PI) + (m1 - m0 + (n0 - n1)) * / sd0 * / sqrt (2 * PI)) by
      ring.
  lra.
Qed.

(* The hypotheses of each theorem can hold together. *)
Lemma antiderivative_of : forall f, continuity f -> exists P, forall x, derivable_pt_lim P x (f x).
Proof.
intros f C. assert (I : forall x y, Riemann_integrable f x y).
{ intros x y. destruct (Rle_dec x y) as [l | l].
  - apply continuity_implies_RiemannInt; [exact l | intros; apply C].
  - apply RiemannInt_P1, continuity_implies_RiemannInt; [lra | intros; apply C]. }
exists (fun x => RiemannInt (I 0 x)). intros x. assert (B := Rle_abs x). assert (B' := Rle_abs (- x)).
rewrite Rabs_Ropp in B'. assert (N := Rabs_pos x). set (b := Rabs x + 1) in *.
assert (h : - b <= b) by (unfold b; lra).
assert (C0 : forall y, - b <= y <= b -> continuity_pt f y) by (intros; apply C).
assert (W : - b <= x <= b) by (unfold b; lra). assert (D := RiemannInt_P28 h C0 W).
assert (E : forall y, - b <= y <= b ->
  RiemannInt (I 0 y) = primitive h (FTC_P1 h C0) y - RiemannInt (I (- b) 0)).
{ intros y [l r]. unfold primitive. destruct (Rle_dec (- b) y) as [l' |]; [| lra].
  destruct (Rle_dec y b) as [r' |]; [| lra].
  assert (A := RiemannInt_P26 (I (- b) 0) (I 0 y) (FTC_P1 h C0 l' r')). lra. }
intros eps pos. destruct (D eps pos) as [d H]. assert (Q := cond_pos d).
assert (p : 0 < Rmin d 1) by (apply Rmin_glb_lt; lra). exists (mkposreal _ p). simpl. intros t nz small.
assert (S1 := Rmin_l d 1). assert (S2 := Rmin_r d 1).
assert (T1 := Rle_abs t). assert (T2 := Rle_abs (- t)). rewrite Rabs_Ropp in T2.
rewrite !E by (unfold b; lra).
replace (primitive h (FTC_P1 h C0) (x + t) - RiemannInt (I (- b) 0) -
  (primitive h (FTC_P1 h C0) x - RiemannInt (I (- b) 0))) with
  (primitive h (FTC_P1 h C0) (x + t) - primitive h (FTC_P1 h C0) x) by ring.
apply H; [exact nz | lra].
Qed.
Lemma corollary_11_witness : (exists Phi m0 m1 n0 n1 sd0 sd1, (forall x, derivable_pt_lim Phi x
  (density x)) /\ 0 < sd0 /\ 0 < sd1 /\ m0 < m1 /\ n1 < n0
  /\ exists t0 t1, 0 <= t0 /\ (n1 - n0) / 2 <= t1)
  /\ exists Phi m0 m1 n0 n1 sd0 sd1, (forall x, derivable_pt_lim Phi x (density x))
  /\ 0 < sd0 /\ 0 < sd1 /\ m0 < m1 /\ n1 < n0
  /\ (2 * (m1 - m0) + (n0 - n1)) / sqrt (2 * PI) <= sd0 * g Phi n0 n1 sd1 0.
Proof.
destruct (antiderivative_of density) as [Phi D].
{ unfold density, Rdiv. apply continuity_mult; [reg | apply continuity_const; intros x y; reflexivity]. }
assert (P : 0 < g Phi 1 0 1 0)
  by (apply (corollary_11 Phi 0 1 1 0 1 1 D); lra).
assert (Q : 0 < (2 * (1 - 0) + (1 - 0)) / sqrt (2 * PI)).
{ apply Rdiv_lt_0_compat; [lra |]. apply sqrt_lt_R0. assert (p := PI_RGT_0). lra. }
split; exists Phi, 0, 1, 1, 0.
- exists 1, 1. split; [exact D |]. repeat (split; [lra |]). exists 0, 0. lra.
- exists ((2 * (1 - 0) + (1 - 0)) / sqrt (2 * PI) / g Phi 1 0 1 0), 1. split; [exact D |].
  split; [apply Rdiv_lt_0_compat; assumption |]. repeat (split; [lra |]).
  right. field. split; [| lra]. apply Rgt_not_eq, sqrt_lt_R0. assert (p := PI_RGT_0). lra.
Qed.

(* Each theorem with one number 1 % better, or one inequality strict, or not, is false. *)
Lemma corollary_11_sharp : ~ (forall Phi m0 m1 n0 n1 sd0 sd1, (forall x, derivable_pt_lim Phi x
  (density x)) -> 0 < sd0 -> 0 < sd1 -> m0 < m1 -> n1 < n0 -> let g0 := g Phi m0 m1 sd0 in let g1
  := g Phi n0 n1 sd1 in let z0 := (m1 - m0) / 2 in let z1 := (n1 - n0) / 2 in g0 z0 = 0 /\ g1 z1 =
  0 /\ g0 0 < 0 < g1 0 /\ (forall t0 t1, 0 <= t0 -> z1 <= t1 -> (difference g0 g1 0 z1 < difference
  g0 g1 t0 t1 \/ difference g0 g1 t0 t1 = 0)) /\ 0 < (g0 0 + g1 0) / 4 - difference g0 g1 0 z1 <
  (m1 - m0 + (n0 - n1)) / (4 * sd0 * sqrt (2 * PI)) /\ ((2 * (m1 - m0) + (n0 - n1)) / sqrt (2 * PI)
  <= sd0 * g1 0 -> 0 < difference g0 g1 0 z1)).
Proof.
intros s. destruct corollary_11_witness
  as [_ (Phi & m0 & m1 & n0 & n1 & sd0 & sd1 & D & A & B & C & E & H)].
destruct (corollary_11 Phi m0 m1 n0 n1 sd0 sd1 D A B C E) as (_ & _ & _ & _ & _ & P).
destruct (s Phi m0 m1 n0 n1 sd0 sd1 D A B C E) as (_ & _ & _ & l & _).
specialize (P H). specialize (l 0 ((n1 - n0) / 2) (Rle_refl 0) (Rle_refl _)). cbv zeta in *. lra.
Qed.
