(* Lemma 20 is false for three clients. x | a has the density that gives u = eta(x) mass 1 - m on
   (0, 1/2) and m on (1/2, 1), uniform on each;
     q = 1/2 and thresholds are 1/2 -+ lam, as in lemma 7.
   The subsets are client 0 and clients 1, 2 pooled (h), of shares 1/3 and 2/3. *)
From Coq Require Import Reals Lra.
Open Scope R_scope.

Definition clamp (x : R) : R := Rmax 0 (Rmin 1 x).
Definition rate (m t : R) : R := (1 - m) * clamp (1 - 2 * t) + m * clamp (2 - 2 * t).
Definition md (a b lam : R) : R := rate a (1/2 - lam) - rate b (1/2 + lam).
Definition g0 := md (4/5) (1/5).
Definition g1 := md (1/2) (5/6).
Definition g2 := md (1/2) (2/11).
Definition h (lam : R) : R := (g1 lam + g2 lam) / 2.
Definition clip (eps t : R) : R := Rmax (- eps) (Rmin eps t).
Definition psi (l0 l1 : R) : R :=
  1/3 * (2/3) * (g0 l1 + h l0) + 1/3 * (1/3) * g0 l0 + 2/3 * (2/3) * h l1.
Definition ensemble (l0 l1 l2 : R) : R :=
  ((g0 l0 + g1 l0 + g2 l0) + (g0 l1 + g1 l1 + g2 l1) + (g0 l2 + g1 l2 + g2 l2)) / 9.

Lemma right : forall a b lam, 0 <= lam <= 1/2 -> md a b lam = (a - b) + 2 * lam * (1 - (a - b)).
Proof.
intros a b lam r. unfold md, rate, clamp.
rewrite (Rmin_right 1 (1 - 2 * (1/2 - lam))), (Rmax_right 0 (1 - 2 * (1/2 - lam))) by lra.
rewrite (Rmin_left 1 (2 - 2 * (1/2 - lam))), (Rmax_right 0 1) by lra.
rewrite (Rmin_right 1 (1 - 2 * (1/2 + lam))), (Rmax_left 0 (1 - 2 * (1/2 + lam))) by lra.
rewrite (Rmin_right 1 (2 - 2 * (1/2 + lam))), (Rmax_right 0 (2 - 2 * (1/2 + lam))) by lra. field.
Qed.

Lemma left : forall a b lam, -1/2 <= lam <= 0 -> md a b lam = (a - b) + 2 * lam * (1 + (a - b)).
Proof.
intros a b lam r. unfold md, rate, clamp.
rewrite (Rmin_right 1 (1 - 2 * (1/2 - lam))), (Rmax_left 0 (1 - 2 * (1/2 - lam))) by lra.
rewrite (Rmin_right 1 (2 - 2 * (1/2 - lam))), (Rmax_right 0 (2 - 2 * (1/2 - lam))) by lra.
rewrite (Rmin_right 1 (1 - 2 * (1/2 + lam))), (Rmax_right 0 (1 - 2 * (1/2 + lam))) by lra.
rewrite (Rmin_left 1 (2 - 2 * (1/2 + lam))), (Rmax_right 0 1) by lra. field.
Qed.

Lemma ends : forall a b lam, (1/2 <= lam -> md a b lam = 1) /\ (lam <= -1/2 -> md a b lam = -1).
Proof.
intros a b lam. unfold md, rate, clamp. split; intros r.
- rewrite (Rmin_left 1 (1 - 2 * (1/2 - lam))), (Rmin_left 1 (2 - 2 * (1/2 - lam))),
  (Rmax_right 0 1) by lra.
  rewrite (Rmin_right 1 (1 - 2 * (1/2 + lam))), (Rmax_left 0 (1 - 2 * (1/2 + lam))) by lra.
  rewrite (Rmin_right 1 (2 - 2 * (1/2 + lam))), (Rmax_left 0 (2 - 2 * (1/2 + lam))) by lra. field.
- rewrite (Rmin_right 1 (1 - 2 * (1/2 - lam))), (Rmax_left 0 (1 - 2 * (1/2 - lam))) by lra.
  rewrite (Rmin_right 1 (2 - 2 * (1/2 - lam))), (Rmax_left 0 (2 - 2 * (1/2 - lam))) by lra.
  rewrite (Rmin_left 1 (1 - 2 * (1/2 + lam))), (Rmin_left 1 (2 - 2 * (1/2 + lam))),
    (Rmax_right 0 1) by lra. field.
Qed.

Theorem premises : g0 0 = 3/5 /\ h 0 = -1/132
  /\ forall e0 e1 l0 l1, 0 <= e0 <= 1/132 -> 0 <= e1 <= 1/132 -> g0 l0 = e0 -> h l1 = - e1 ->
     0 < psi l0 l1.
Proof.
unfold h, g0, g1, g2. split; [rewrite right by lra; lra |]. split; [rewrite !right by lra; lra |].
intros e0 e1 l0 l1 R0 R1 E0 E1. unfold psi, h, g0, g1, g2.
assert (l0 <= 0 /\ -1/2 <= l0) as [A0 B0].
{ split; apply Rnot_lt_le; intros N.
  - destruct (Rle_dec l0 (1/2)); [rewrite right in E0 by lra; lra |].
    destruct (ends (4/5) (1/5) l0) as [E _]. rewrite E in E0 by lra. lra.
  - destruct (ends (4/5) (1/5) l0) as [_ E]. rewrite E in E0 by lra. lra. }
unfold h, g1, g2 in E1.
assert (-1/2 <= l1 <= 1/2) as [A1 B1].
{ split; apply Rnot_lt_le; intros N;
    destruct (ends (1/2) (5/6) l1) as [E F], (ends (1/2) (2/11) l1) as [E' F'];
    [rewrite F, F' in E1 by lra | rewrite E, E' in E1 by lra]; lra. }
rewrite (left (4/5) (1/5) l0), (left (1/2) (5/6) l0), (left (1/2) (2/11) l0) by lra.
rewrite left in E0 by lra.
destruct (Rle_dec l1 0); [rewrite !left in * by lra | rewrite !right in * by lra]; lra.
Qed.

Theorem counterexample : exists l0 l1 l2 e0 e1 e2,
  0 <= e0 <= 1 /\ 0 <= e1 <= 1 /\ 0 <= e2 <= 1
  /\ g0 l0 = clip e0 (g0 0) /\ g1 l1 = clip e1 (g1 0) /\ g2 l2 = clip e2 (g2 0)
  /\ ensemble l0 l1 l2 = 0.
Proof.
exists ((34841/171535 - 3/5) / (16/5)), 0, (-7/58), (34841/171535), 1, 0.
unfold ensemble, clip, g0, g1, g2. rewrite !left by lra.
rewrite (Rmin_left (34841/171535)), (Rmax_right (- (34841/171535))) by lra.
rewrite (Rmin_right 1), (Rmax_right (-(1))) by lra.
rewrite (Rmin_left 0), (Rmax_left (- 0)) by lra. repeat split; lra.
Qed.

Lemma premises_witness : exists e0 e1 l0 l1, 0 <= e0 <= 1/132 /\ 0 <= e1 <= 1/132 /\ g0 l0 = e0
  /\ h l1 = - e1.
Proof.
exists 0, (1/132), (-3/16), 0. repeat split; try lra.
- unfold g0. rewrite left by lra. lra.
- rewrite (proj1 (proj2 premises)). lra.
Qed.

(* Each theorem with one number 1 % better, or one inequality strict, or not, is false. *)
Lemma premises_sharp : ~ (g0 0 = 99 / 100 * (3/5) /\ h 0 = -1/132 /\ forall e0 e1 l0 l1, 0 <= e0 <=
  1/132 -> 0 <= e1 <= 1/132 -> g0 l0 = e0 -> h l1 = - e1 -> 0 < psi l0 l1).
Proof.
intros [e _]. destruct premises as [E _]. lra.
Qed.
