(* Quasi-arithmetic means: s (A f) is the weighted mean of s (f i), s increasing with the derivative
   s', clients 0, ..., n-1 of weights p. Where A is convex on the segment from f to g, its gradient
   p i s'(f i) / s'(A f) at f supports it at g: Fenchel and Young's inequality,
     an equality at g = f. *)
From Coq Require Import Reals Lra List.
Open Scope R_scope.

Definition total (ks : list nat) (t : nat -> R) : R := fold_right (fun k x => t k + x) 0 ks.
Definition mean_of (s : R -> R) (p f : nat -> R) (n : nat) (a : R) : Prop :=
  s a = total (seq 0 n) (fun i => p i * s (f i)).

Lemma slopes : forall a b (a' b' : R), derivable_pt_lim a 0 a' -> derivable_pt_lim b 0 b' ->
  a 0 = b 0 -> (forall t, 0 < t <= 1 -> b t <= a t) -> b' <= a'.
Proof.
intros a b a' b' da db e above. destruct (Rle_lt_dec b' a') as [| neg]; [assumption | exfalso].
set (eps := (b' - a') / 2). assert (P : 0 < eps) by (unfold eps; lra).
destruct (da eps P) as [[d1 p1] h1]. destruct (db eps P) as [[d2 p2] h2]. simpl in *.
set (t := Rmin 1 (Rmin d1 d2) / 2).
assert (M : 0 < Rmin 1 (Rmin d1 d2)) by (repeat apply Rmin_pos; lra).
assert (M0 := Rmin_l 1 (Rmin d1 d2)). assert (M1 := Rmin_r 1 (Rmin d1 d2)).
assert (M2 := Rmin_l d1 d2). assert (M3 := Rmin_r d1 d2).
assert (T : 0 < t <= 1) by (unfold t; lra).
specialize (h1 t ltac:(lra) ltac:(rewrite Rabs_right; unfold t in *; lra)).
specialize (h2 t ltac:(lra) ltac:(rewrite Rabs_right; unfold t in *; lra)).
rewrite Rplus_0_l in h1, h2. apply Rabs_def2 in h1. apply Rabs_def2 in h2.
assert (Q : (b t - b 0) / t <= (a t - a 0) / t).
{ apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra |]. specialize (above t T). lra. }
unfold eps in *. lra.
Qed.

Lemma along : forall s s' x h, derivable_pt_lim s x (s' x) ->
  derivable_pt_lim (fun t => s (x + t * h)) 0 (s' x * h).
Proof.
intros s s' x h D. apply (derivable_pt_lim_comp (fun t => x + t * h) s).
- intros eps P. exists (mkposreal 1 Rlt_0_1). intros t nz _.
  replace ((x + (0 + t) * h - (x + 0 * h)) / t - h) with 0 by (field;
    assumption). now rewrite Rabs_R0.
- now rewrite Rmult_0_l, Rplus_0_r.
Qed.

Theorem supports : forall (D : R -> Prop) s s' p n f g a b,
  (forall x y t, D x -> D y -> 0 <= t <= 1 -> D (x + t * (y - x))) ->
  (forall x y, D x -> D y -> x <= y -> s x <= s y) -> D a -> D b -> 0 < s' a ->
  derivable_pt_lim s a (s' a) -> (forall i,
    In i (seq 0 n) -> derivable_pt_lim s (f i) (s' (f i))) ->
  mean_of s p f n a -> mean_of s p g n b ->
  (forall t, 0 < t <= 1 -> exists c, D c /\ mean_of s p (fun i => f i + t * (g i - f i)) n c
     /\ c <= a + t * (b - a)) ->
  let v := fun i => p i * s' (f i) / s' a in
  total (seq 0 n) (fun i => v i * g i) - b <= total (seq 0 n) (fun i => v i * f i) - a.
Proof.
intros D s s' p n f g a b cD inc Da Db pos da df A B convex v.
assert (H : total (seq 0 n) (fun i => p i * (s' (f i) * (g i - f i))) <= s' a * (b - a)).
{ apply (slopes (fun t => s (a + t * (b - a)))
    (fun t => total (seq 0 n) (fun i => p i * s (f i + t * (g i - f i))))).
  - apply along, da.
  - clear - df. induction (seq 0 n) as [| k ks IH]; simpl; [apply derivable_pt_lim_const |].
    apply (derivable_pt_lim_plus (fun t => p k * s (f k + t * (g k - f k)))); [| apply IH; intros;
      apply df; now right].
    apply (derivable_pt_lim_scal (fun t => s (f k + t * (g k - f k)))), along, df. now left.
  - rewrite Rmult_0_l, Rplus_0_r, A. clear. induction (seq 0 n); simpl; [reflexivity |].
    rewrite IHl. now rewrite Rmult_0_l, Rplus_0_r.
  - intros t T. destruct (convex t T) as [c [Dc [C le]]]. unfold mean_of in C. rewrite <- C.
    apply inc; [exact Dc | apply cD; (assumption || lra) | exact le]. }
assert (E : total (seq 0 n) (fun i => p i * (s' (f i) * (g i - f i)))
  = s' a * (total (seq 0 n) (fun i => v i * g i) - total (seq 0 n) (fun i => v i * f i))).
{ unfold v. clear - pos. induction (seq 0 n) as [| k ks IH]; simpl;
  [ring |]. rewrite IH. field. lra. }
rewrite E in H. apply Rmult_le_reg_l in H; lra.
Qed.

(* The hypotheses of each theorem can hold together. *)
Lemma supports_witness : exists (D : R -> Prop) s s' p n f g a b, ((forall x y t, D x -> D y -> 0
  <= t <= 1 -> D (x + t * (y - x)))) /\ ((forall x y, D x -> D y -> x <= y -> s x <= s y)) /\ (D
  a) /\ (D b) /\ (0 < s' a) /\ (derivable_pt_lim s a (s' a)) /\ ((forall i, In i (seq 0 n) ->
  derivable_pt_lim s (f i) (s' (f i)))) /\ (mean_of s p f n a) /\ (mean_of s p g n b) /\ ((forall
  t, 0 < t <= 1 -> exists c, D c /\ mean_of s p (fun i => f i + t * (g i - f i)) n c /\ c <= a + t
  * (b - a))).
Proof.
exists (fun _ => True), (fun x => x), (fun _ => 1), (fun _ => 1), 1%nat, (fun _ => 0), (fun _ => 0), 0, 0.
unfold mean_of, total. repeat split; intros; simpl; auto; try lra; try apply derivable_pt_lim_id.
exists 0. repeat split; lra.
Qed.

(* Each theorem with one number 1 % better, or one inequality strict, or not, is false. *)
Lemma supports_sharp : ~ (forall (D : R -> Prop) s s' p n f g a b, (forall x y t, D x -> D y -> 0
  <= t <= 1 -> D (x + t * (y - x))) -> (forall x y, D x -> D y -> x <= y -> s x <= s y) -> D a -> D
  b -> 0 < s' a -> derivable_pt_lim s a (s' a) -> (forall i, In i (seq 0 n) -> derivable_pt_lim s
  (f i) (s' (f i))) -> mean_of s p f n a -> mean_of s p g n b -> (forall t, 0 < t <= 1 -> exists c,
  D c /\ mean_of s p (fun i => f i + t * (g i - f i)) n c /\ c <= a + t * (b - a)) -> let v := fun
  i => p i * s' (f i) / s' a in total (seq 0 n) (fun i => v i * g i) - b < total (seq 0 n) (fun i
  => v i * f i) - a).
Proof.
intros s. specialize (s (fun _ => True) (fun x => x) (fun _ => 1) (fun _ => 1) 1%nat (fun _ => 0)
  (fun _ => 0) 0 0). simpl in s. cut (1 * 1 / 1 * 0 + 0 - 0 < 1 * 1 / 1 * 0 + 0 - 0); [lra |].
apply s; auto; try lra; try (unfold mean_of; simpl; lra).
- apply derivable_pt_lim_id.
- intros. apply derivable_pt_lim_id.
- intros t _. exists 0. unfold mean_of. simpl. repeat split; lra.
Qed.
