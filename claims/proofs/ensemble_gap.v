(* Two clients (or two pooled subsets) with shares j and k whose fair multipliers z1, z2 lie on
   different sides of 0. difference is the ensemble's mean difference: classifier i has the
     multiplier
   li and is judged on both laws. corner frees the fairer one, and holds the other at eps = 0. *)
From Coq Require Import Reals Lra.
Open Scope R_scope.

Definition clip (eps t : R) : R := Rmax (- eps) (Rmin eps t).
Definition rising (g : R -> R) : Prop := forall x y, x < y -> g x < g y.
Definition difference (j k : R) (g h : R -> R) (l1 l2 : R) : R :=
  j * (j * g l1 + k * h l1) + k * (j * g l2 + k * h l2).
Definition returned (g : R -> R) (eps l : R) : Prop := 0 <= eps <= 1 /\ g l = clip eps (g 0).

Lemma side : forall g z eps l, rising g -> g z = 0 -> returned g eps l ->
  (g 0 < 0 -> 0 <= l <= z) /\ (0 < g 0 -> z <= l <= 0).
Proof.
intros g z eps l inc gz [r E]. unfold clip in E.
assert (back : forall x y, g x <= g y -> x <= y).
{ intros x y le. destruct (Rle_lt_dec x y) as [| n]; [assumption | apply inc in n; lra]. }
split; intros s.
- rewrite Rmin_right in E by lra. assert (A := Rmax_l (- eps) (g 0)).
assert (B := Rmax_r (- eps) (g 0)).
  assert (C : Rmax (- eps) (g 0) <= 0) by (apply Rmax_lub; lra). split; apply back; lra.
- assert (A := Rmin_r eps (g 0)). assert (B : 0 <= Rmin eps (g 0)) by (apply Rmin_glb; lra).
  rewrite Rmax_right in E by lra. split; apply back; lra.
Qed.

Theorem gap : forall j k g h z1 z2, 0 < j -> 0 < k -> rising g -> rising h ->
  g z1 = 0 -> h z2 = 0 -> g 0 * h 0 < 0 -> -1 <= g 0 <= 1 -> -1 <= h 0 <= 1 ->
  (forall eps1 eps2 l1 l2, returned g eps1 l1 -> returned h eps2 l2 ->
     eps1 <= Rmin (Rabs (g 0)) (Rabs (h 0)) -> eps2 <= Rmin (Rabs (g 0)) (Rabs (h 0)) ->
     0 < difference j k g h l1 l2 * (g 0 + h 0)) ->
  exists eps1 eps2 l1 l2, returned g eps1 l1 /\ returned h eps2 l2
    /\ eps1 <= Rmin (Rabs (g 0)) (Rabs (h 0)) /\ eps2 <= Rmin (Rabs (g 0)) (Rabs (h 0))
    /\ 0 < Rabs (difference j k g h l1 l2)
    /\ forall d1 d2 m1 m2, returned g d1 m1 -> returned h d2 m2 ->
         Rabs (difference j k g h l1 l2) <= Rabs (difference j k g h m1 m2).
Proof.
intros j k g h z1 z2 J K gi hi gz hz opposite g1 h1 sign.
assert (mono : forall a b c d, a <= b -> c <= d ->
  difference j k g h a c <= difference j k g h b d).
{ intros a b c d p q. assert (g a <= g b) by (destruct p as [p | p]; [left; now apply gi | subst;
  lra]).
  assert (h a <= h b) by (destruct p as [p | p]; [left; now apply hi | subst; lra]).
  assert (g c <= g d) by (destruct q as [q | q]; [left; now apply gi | subst; lra]).
  assert (h c <= h d) by (destruct q as [q | q]; [left; now apply hi | subst; lra]).
  unfold difference. assert (0 < j * j) by nra. assert (0 < j * k) by nra.
  assert (0 < k * k) by nra. nra. }
assert (free : forall f, -1 <= f 0 <= 1 -> returned f (Rabs (f 0)) 0).
{ intros f u. split; [split; [apply Rabs_pos | apply Rabs_le; lra] |]. unfold clip.
  destruct (Rle_dec 0 (f 0)); [rewrite Rabs_right, Rmin_left, Rmax_right | rewrite Rabs_left,
    Rmin_right, Rmax_right]; lra. }
assert (fair : forall f z, f z = 0 -> returned f 0 z).
{ intros f z e. split; [lra |]. unfold clip. rewrite e, Ropp_0.
  destruct (Rle_dec 0 (f 0)); [rewrite Rmin_left, Rmax_left | rewrite Rmin_right, Rmax_left]; lra. }
assert (A1 := Rabs_pos (g 0)). assert (A2 := Rabs_pos (h 0)).
assert (most : forall x y, x = y -> x <= y) by (intros; lra).
assert (signs : (g 0 < 0 /\ 0 < h 0) \/ (0 < g 0 /\ h 0 < 0)).
{ destruct (Rtotal_order (g 0) 0) as [n | [e | p]]; [left | rewrite e in opposite; lra | right];
  split; nra. }
destruct (Rle_dec (Rabs (g 0)) (Rabs (h 0))) as [c | c];
  [exists (Rabs (g 0)), 0, 0, z2 | exists 0, (Rabs (h 0)), z1, 0];
  (split; [auto | split; [auto |]]);
  [rewrite Rmin_left in * by lra | rewrite Rmin_right in * by lra];
  (split; [lra | split; [lra |]]).
- assert (S := sign _ _ _ _ (free g g1) (fair h z2 hz) ltac:(lra) ltac:(lra)).
  destruct signs as [[n p] | [p n]].
  + rewrite (Rabs_left (g 0)), (Rabs_right (h 0)) in * by lra.
    assert (P : 0 < difference j k g h 0 z2) by nra.
    rewrite (Rabs_right _ (Rgt_ge _ _ P)). split; [exact P |]. intros d1 d2 m1 m2 r1 r2.
    apply Rle_trans with (difference j k g h m1 m2); [| apply Rle_abs].
    apply mono; [apply (side g z1 d1 m1) | apply (side h z2 d2 m2)]; assumption.
  + rewrite (Rabs_right (g 0)), (Rabs_left (h 0)) in * by lra.
    assert (P : difference j k g h 0 z2 < 0) by nra.
    rewrite (Rabs_left _ P). split; [lra |]. intros d1 d2 m1 m2 r1 r2.
    apply Rle_trans with (- difference j k g h m1 m2); [| rewrite <- Rabs_Ropp; apply Rle_abs].
    apply Ropp_le_contravar, mono; [apply (side g z1 d1 m1) | apply (side h z2 d2 m2)]; assumption.
- assert (S := sign _ _ _ _ (fair g z1 gz) (free h h1) ltac:(lra) ltac:(lra)).
  destruct signs as [[n p] | [p n]].
  + rewrite (Rabs_left (g 0)), (Rabs_right (h 0)) in * by lra.
    assert (P : difference j k g h z1 0 < 0) by nra.
    rewrite (Rabs_left _ P). split; [lra |]. intros d1 d2 m1 m2 r1 r2.
    apply Rle_trans with (- difference j k g h m1 m2); [| rewrite <- Rabs_Ropp; apply Rle_abs].
    apply Ropp_le_contravar, mono; [apply (side g z1 d1 m1) | apply (side h z2 d2 m2)]; assumption.
  + rewrite (Rabs_right (g 0)), (Rabs_left (h 0)) in * by lra.
    assert (P : 0 < difference j k g h z1 0) by nra.
    rewrite (Rabs_right _ (Rgt_ge _ _ P)). split; [exact P |]. intros d1 d2 m1 m2 r1 r2.
    apply Rle_trans with (difference j k g h m1 m2); [| apply Rle_abs].
    apply mono; [apply (side g z1 d1 m1) | apply (side h z2 d2 m2)]; assumption.
Qed.

(* The hypotheses can hold together. *)
Lemma gap_witness : exists j k g h z1 z2, (0 < j) /\ (0 < k) /\ (rising g) /\ (rising h)
  /\ (g z1 = 0) /\ (h z2 = 0) /\ (g 0 * h 0 < 0) /\ (-1 <= g 0 <= 1) /\ (-1 <= h 0 <= 1) /\
  ((forall eps1 eps2 l1 l2, returned g eps1 l1 -> returned h eps2 l2 -> eps1 <= Rmin (Rabs (g 0))
  (Rabs (h 0)) -> eps2 <= Rmin (Rabs (g 0)) (Rabs (h 0)) -> 0 < difference j k g h l1 l2 * (g 0 +
  h 0))) /\ exists d1 d2 m1 m2, returned g d1 m1 /\ returned h d2 m2.
Proof.
exists 1, 1, (fun x => 10 * x + 9/10), (fun x => x - 1/10), (-9/100), (1/10).
repeat split; try lra; try (intros x y l; lra).
- intros e1 e2 l1 l2 [p1 r1] [p2 r2] b1 b2. unfold clip in *.
  rewrite (Rabs_right (10 * 0 + 9/10)), (Rabs_left (0 - 1/10)) in b1, b2 by lra.
  rewrite Rmin_right in b1, b2 by lra. rewrite Rmin_left, Rmax_right in r1 by lra.
  rewrite Rmin_right in r2 by lra. rewrite Rmax_left in r2 by lra. unfold difference. lra.
- exists 0, 0, (-9/100), (1/10). split; (split; [lra |]); unfold clip, Rmax, Rmin;
    repeat destruct Rle_dec; lra.
Qed.

(* Each theorem with one number 1 % better, or one inequality strict, or not, is false. *)
Lemma gap_sharp : ~ (forall j k g h z1 z2, 0 < j -> 0 < k -> rising g -> rising h -> g z1 = 0 -> h
  z2 = 0 -> g 0 * h 0 < 0 -> -1 <= g 0 <= 1 -> -1 <= h 0 <= 1 -> (forall eps1 eps2 l1 l2, returned
  g eps1 l1 -> returned h eps2 l2 -> eps1 <= Rmin (Rabs (g 0)) (Rabs (h 0)) -> eps2 <= Rmin (Rabs
  (g 0)) (Rabs (h 0)) -> 0 < difference j k g h l1 l2 * (g 0 + h 0)) -> exists eps1 eps2 l1 l2,
  returned g eps1 l1 /\ returned h eps2 l2 /\ eps1 <= Rmin (Rabs (g 0)) (Rabs (h 0)) /\ eps2 <=
  Rmin (Rabs (g 0)) (Rabs (h 0)) /\ 0 < Rabs (difference j k g h l1 l2) /\ forall d1 d2 m1 m2,
  returned g d1 m1 -> returned h d2 m2 -> (Rabs (difference j k g h l1 l2) < Rabs (difference j k g
  h m1 m2) \/ Rabs (difference j k g h m1 m2) = 0)).
Proof.
intros s. destruct gap_witness as (j & k & g & h & z1 & z2 & A & B & C & D & E & F & G & H & K & L & _).
destruct (s j k g h z1 z2 A B C D E F G H K L) as (e1 & e2 & l1 & l2 & P & Q & _ & _ & S & T).
destruct (T e1 e2 l1 l2 P Q); lra.
Qed.
