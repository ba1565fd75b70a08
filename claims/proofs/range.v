(* The mean differences that LFT+Ensemble reaches. g is the pooled one as a function of the
   multiplier. A client has a weight w, its own function h, and z with h z = 0; its budget eps in
   [0, 1] gives a multiplier with h lam = clip eps (h 0), which is sign(h 0) min(eps, |h 0|). *)
From Coq Require Import Reals Lra List.
Open Scope R_scope.

Definition clip (eps t : R) : R := Rmax (- eps) (Rmin eps t).
Definition rising (h : R -> R) : Prop := forall x y, x < y -> h x < h y.
Definition client (c : R * (R -> R) * R) : Prop :=
  let '(w, h, z) := c in 0 <= w /\ rising h /\ h z = 0 /\ -1 <= h 0 <= 1.
Definition returned (c : R * (R -> R) * R) (lam : R) : Prop :=
  exists eps, 0 <= eps <= 1 /\ snd (fst c) lam = clip eps (snd (fst c) 0).
Definition total (t : R * (R -> R) * R -> R) (cs : list (R * (R -> R) * R)) : R :=
  fold_right (fun c s => t c + s) 0 cs.
Definition difference (g : R -> R) (cs : list (R * (R -> R) * R)) (lams : list R) : R :=
  fold_right (fun p s => fst (fst (fst p)) * g (snd p) + s) 0 (combine cs lams).
Definition low (g : R -> R) := total (fun '(w, h, z) => w * Rmin (g 0) (g z)).
Definition high (g : R -> R) := total (fun '(w, h, z) => w * Rmax (g 0) (g z)).

Lemma between : forall w h z lam, client (w, h, z) ->
  (returned (w, h, z) lam <-> Rmin 0 z <= lam <= Rmax 0 z).
Proof.
intros w h z lam [_ [inc [hz unit]]].
assert (mono : forall x y, x <= y -> h x <= h y).
{ intros x y [l | e]; [left; now apply inc | rewrite e; lra]. }
assert (back : forall x y, h x <= h y -> x <= y).
{ intros x y l. destruct (Rle_lt_dec x y) as [| n]; [assumption | apply inc in n; lra]. }
assert (C : forall e, 0 <= e -> Rmin 0 (h 0) <= clip e (h 0) <= Rmax 0 (h 0)).
{ intros e p. unfold clip. destruct (Rle_dec 0 (h 0)).
  - rewrite Rmin_left, (Rmax_right 0) by lra. unfold Rmin. destruct (Rle_dec e (h 0));
      rewrite Rmax_right; lra.
  - rewrite Rmin_right, (Rmax_left 0), (Rmin_right e) by lra. unfold Rmax.
    destruct (Rle_dec (- e) (h 0)); lra. }
split.
- intros [e [r E]]. simpl in E. specialize (C e (proj1 r)). rewrite <- E in C.
  destruct (Rle_dec 0 (h 0)) as [p | n].
  + rewrite Rmin_left, Rmax_right in C by lra. assert (z <= 0) by (apply back; lra).
    rewrite Rmin_right, Rmax_left by lra. split; apply back; lra.
  + rewrite Rmin_right, Rmax_left in C by lra. assert (0 <= z) by (apply back; lra).
    rewrite Rmin_left, Rmax_right by lra. split; apply back; lra.
- intros [l m]. exists (Rabs (h lam)). simpl. unfold clip.
  assert (D : 0 <= h lam <= h 0 \/ h 0 <= h lam <= 0).
  { destruct (Rle_dec 0 z).
    - rewrite Rmin_left in l by lra. rewrite Rmax_right in m by lra.
      right. assert (A := mono 0 lam ltac:(lra)). assert (B := mono lam z ltac:(lra)). lra.
    - rewrite Rmin_right in l by lra. rewrite Rmax_left in m by lra.
      left. assert (A := mono z lam ltac:(lra)). assert (B := mono lam 0 ltac:(lra)). lra. }
  destruct D as [D | D].
  + rewrite Rabs_right, Rmin_left, Rmax_right by lra. lra.
  + rewrite Rabs_left1, Rmin_right, Rmax_left by lra. lra.
Qed.

Lemma inner : forall g a b t, continuity g -> (forall x y, x <= y -> g x <= g y) ->
  Rmin (g a) (g b) <= t <= Rmax (g a) (g b) -> exists x, Rmin a b <= x <= Rmax a b /\ g x = t.
Proof.
intros g a b t cont mono T.
assert (A : forall a b, a <= b -> g a <= t <= g b -> exists x, a <= x <= b /\ g x = t).
{ clear - cont. intros a b l T.
  destruct (IVT_cor (fun x => g x - t) a b) as [x [r e]]; try assumption.
  - apply continuity_minus; [exact cont | apply continuity_const; now intros ? ?].
  - nra.
  - exists x. split; lra. }
destruct (Rle_dec a b) as [l | l].
- assert (M := mono a b l). rewrite Rmin_left, Rmax_right in * by lra. now apply A.
- assert (M := mono b a ltac:(lra)). rewrite Rmin_right, Rmax_left in * by lra.
  apply A; lra.
Qed.

Lemma ordered : forall g cs, Forall client cs -> low g cs <= high g cs.
Proof.
intros g cs all. induction all as [| [[w h] z] cs [W _] all IH]; unfold low, high in *; simpl;
  [lra |].
assert (M : Rmin (g 0) (g z) <= Rmax (g 0) (g z)) by (eapply Rle_trans;
  [apply Rmin_l | apply Rmax_l]).
assert (w * Rmin (g 0) (g z) <= w * Rmax (g 0) (g z)) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Theorem range : forall g cs, continuity g -> (forall x y, x <= y -> g x <= g y) ->
  Forall client cs ->
  (forall lams, Forall2 returned cs lams -> low g cs <= difference g cs lams <= high g cs)
  /\ (forall t, low g cs <= t <= high g cs ->
      exists lams, Forall2 returned cs lams /\ difference g cs lams = t).
Proof.
intros g cs cont mono all. split.
- intros lams F. induction F as [| [[w h] z] lam cs lams R F IH]; [unfold low, high, difference;
  simpl; lra |].
  inversion all as [| ? ? C all']. subst. specialize (IH all').
  apply (between w h z lam C) in R. destruct C as [W _].
  unfold low, high, difference in *. simpl.
  assert (B : Rmin (g 0) (g z) <= g lam <= Rmax (g 0) (g z)).
  { destruct (Rle_dec 0 z) as [l | l].
    - assert (M := mono 0 z l). rewrite Rmin_left, Rmax_right in * by lra.
      split; apply mono; lra.
    - assert (M := mono z 0 ltac:(lra)). rewrite Rmin_right, Rmax_left in * by lra.
      split; apply mono; lra. }
  assert (w * Rmin (g 0) (g z) <= w * g lam) by (apply Rmult_le_compat_l; lra).
  assert (w * g lam <= w * Rmax (g 0) (g z)) by (apply Rmult_le_compat_l; lra). lra.
- induction all as [| [[w h] z] cs C all IH]; intros t T.
  { unfold low, high in T. simpl in T. exists nil. split; [constructor | unfold difference; simpl;
    lra]. }
  assert (O := ordered g cs all). unfold low, high in *. simpl in T.
  set (L := total (fun '(w, h, z) => w * Rmin (g 0) (g z)) cs) in *.
  set (H := total (fun '(w, h, z) => w * Rmax (g 0) (g z)) cs) in *.
  set (lo := w * Rmin (g 0) (g z)) in *. set (hi := w * Rmax (g 0) (g z)) in *.
  assert (order : lo <= hi).
  { apply Rmult_le_compat_l; [apply C |]. eapply Rle_trans; [apply Rmin_l | apply Rmax_l]. }
  assert (exists s, lo <= s <= hi /\ L <= t - s <= H) as [s [S1 S2]].
  { destruct (Rle_dec (t - lo) H); [exists lo; lra | exists (t - H); lra]. }
  destruct (IH (t - s) S2) as [lams [F D]].
  assert (exists lam, returned (w, h, z) lam /\ w * g lam = s) as [lam [R E]].
  { destruct (Req_dec w 0) as [Z | NZ].
    - exists 0. split; [apply (between w h z 0 C); split; [apply Rmin_l | apply Rmax_l] |].
      unfold lo, hi in S1. subst w. lra.
    - assert (P : 0 < w) by (destruct C; lra).
      destruct (inner g 0 z (s / w) cont mono) as [lam [B E]].
      + unfold lo, hi in S1. split; apply Rmult_le_reg_l with w; try assumption; field_simplify;
        lra.
      + exists lam. split; [now apply (between w h z lam C) |]. rewrite E. now field. }
  exists (lam :: lams). split; [now constructor |]. unfold difference in *. simpl. lra.
Qed.

(* The hypotheses of each theorem can hold together. *)
Lemma range_witness : (exists g cs, continuity g /\ (forall x y, x <= y -> g x <= g y)
  /\ Forall client cs /\ exists lams, Forall2 returned cs lams)
  /\ exists g cs, continuity g /\ (forall x y, x <= y -> g x <= g y) /\ Forall client cs
  /\ exists t, low g cs <= t <= high g cs.
Proof.
split; exists (fun x => x), (cons (1, fun x => x, 0) nil);
  (split; [apply derivable_continuous, derivable_id |]); (split; [auto |]);
  (split; [constructor; [unfold client, rising; repeat split; auto; lra | constructor] |]).
- exists (cons 0 nil). constructor; [exists 0; split; [lra |] | constructor].
  unfold clip. simpl. rewrite Rmin_left, Rmax_right; lra.
- exists 0. unfold low, high, total. simpl. rewrite Rmin_left, Rmax_left; lra.
Qed.

(* Each theorem with one number 1 % better, or one inequality strict, or not, is false. *)
Lemma range_sharp : ~ (forall g cs, continuity g -> (forall x y, x <= y -> g x <= g y) -> Forall
  client cs -> (forall lams, Forall2 returned cs lams -> low g cs <= difference g cs lams /\
  (difference g cs lams < high g cs \/ high g cs = 0)) /\ (forall t, low g cs <= t <= high g cs ->
  exists lams, Forall2 returned cs lams /\ difference g cs lams = t)).
Proof.
intros s. destruct (s (fun x => x) (cons (1, fun x => x - 1, 1) nil)) as [l _].
- apply derivable_continuous, derivable_id.
- auto.
- constructor; [| constructor]. unfold client, rising. repeat split; intros; lra.
- assert (C : Forall2 returned (cons (1, fun x => x - 1, 1) nil) (cons 1 nil)).
  { constructor; [| constructor]. exists 0. simpl. unfold clip.
    rewrite Rmin_right, Rmax_left; lra. }
  destruct (l _ C) as [_ c]. unfold difference, high, total in c. simpl in c.
  rewrite Rmax_right in c; lra.
Qed.
