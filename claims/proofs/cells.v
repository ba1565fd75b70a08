(* A finite X: xs are the cells, u the utility of accepting one, v k its share of the difference of
   rates that budget k limits, b k a constant. f may be randomised anyhow where the gain is 0. *)
From Coq Require Import Reals Lra List.
Open Scope R_scope.

Definition total {K} (ks : list K) (t : K -> R) : R := fold_right (fun k s => t k + s) 0 ks.
Definition gain {X K} (u : X -> R) (v : K -> X -> R) (lam : K -> R) (ks : list K) (x : X) : R :=
  u x + total ks (fun k => lam k * v k x).
Definition feasible {X K} (v : K -> X -> R) (b eps : K -> R) (xs : list X) (ks : list K)
  (g : X -> R) : Prop :=
  (forall x, In x xs -> 0 <= g x <= 1)
  /\ (forall k, In k ks -> Rabs (total xs (fun x => v k x * g x) + b k) <= eps k).

Lemma plus : forall K (ks : list K) s t, total ks (fun k => s k + t k) = total ks s + total ks t.
Proof. intros; induction ks; simpl; [ring | rewrite IHks; ring]. Qed.

Lemma times : forall K (ks : list K) c t, total ks (fun k => c * t k) = c * total ks t.
Proof. intros; induction ks; simpl; [ring | rewrite IHks; ring]. Qed.

Lemma below : forall K (ks : list K) s t, (forall k, In k ks -> s k <= t k) -> total ks s <= total ks t.
Proof.
intros K ks s t H; induction ks as [| k ks IH]; simpl; [lra |].
assert (A := H k (or_introl eq_refl)).
assert (B : total ks s <= total ks t) by (apply IH; intros; apply H; now right). lra.
Qed.

Lemma same : forall K (ks : list K) s t, (forall k, In k ks -> s k = t k) -> total ks s = total ks t.
Proof. intros; apply Rle_antisym; apply below; intros k i; rewrite (H k i); lra. Qed.

Lemma nothing : forall K (ks : list K) t, (forall k, In k ks -> 0 <= t k) -> total ks t = 0 ->
  forall k, In k ks -> t k = 0.
Proof.
intros K ks t; induction ks as [| j ks IH]; intros P Z k; [intros [] |]. simpl in Z.
assert (A := P j (or_introl eq_refl)).
assert (B := below _ ks (fun _ => 0 * 0) t). rewrite times in B.
assert (C : 0 * total ks (fun _ => 0) <= total ks t).
{ apply B; intros i m; rewrite Rmult_0_l; apply P; now right. }
intros [e | m]; [subst; lra | apply IH; [intros; apply P; now right | lra | exact m]].
Qed.

Lemma lagrangian : forall X K (u : X -> R) (v : K -> X -> R) lam xs ks g,
  total xs (fun x => gain u v lam ks x * g x)
  = total xs (fun x => u x * g x) + total ks (fun k => lam k * total xs (fun x => v k x * g x)).
Proof.
intros. induction xs as [| x xs IH]; simpl.
- rewrite (same _ ks _ (fun k => 0 * 0)), times; [ring | intros; ring].
- rewrite IH, (same _ ks (fun k => lam k * (v k x * g x + total xs (fun y => v k y * g y)))
    (fun k => g x * (lam k * v k x) + lam k * total xs (fun y => v k y * g y))), plus, times;
    [unfold gain; ring | intros; ring].
Qed.

Lemma priced : forall X K (v : K -> X -> R) b eps lam xs ks g, feasible v b eps xs ks g ->
  - total ks (fun k => lam k * total xs (fun x => v k x * g x))
  <= total ks (fun k => Rabs (lam k) * eps k + lam k * b k).
Proof.
intros X K v b eps lam xs ks g [_ F].
assert (H := below _ ks (fun k => -1 * (lam k * total xs (fun x => v k x * g x)))
  (fun k => Rabs (lam k) * eps k + lam k * b k)). rewrite times in H.
assert (0 <= 0) by lra. enough (-1 * total ks (fun k => lam k * total xs (fun x => v k x * g x))
  <= total ks (fun k => Rabs (lam k) * eps k + lam k * b k)) by lra. apply H. intros k i.
assert (A := Rle_abs (- (lam k * (total xs (fun x => v k x * g x) + b k)))).
rewrite Rabs_Ropp, Rabs_mult in A.
assert (M := Rmult_le_compat_l (Rabs (lam k)) _ _ (Rabs_pos _) (F k i)). lra.
Qed.

Theorem weak_duality : forall X K (u : X -> R) (v : K -> X -> R) b eps lam xs ks g,
  feasible v b eps xs ks g ->
  total xs (fun x => u x * g x)
  <= total xs (fun x => Rmax 0 (gain u v lam ks x))
     + total ks (fun k => Rabs (lam k) * eps k + lam k * b k).
Proof.
intros X K u v b eps lam xs ks g F.
assert (P := priced _ _ v b eps lam xs ks g F). assert (L := lagrangian _ _ u v lam xs ks g).
assert (B : total xs (fun x => gain u v lam ks x * g x) <= total xs (fun x => Rmax 0 (gain u v lam ks
  x))).
{ apply below. intros x i. destruct F as [r _]. specialize (r x i).
  destruct (Rle_dec 0 (gain u v lam ks x)); [rewrite Rmax_right | rewrite Rmax_left]; nra. }
lra.
Qed.

Theorem optimal : forall X K (u : X -> R) (v : K -> X -> R) b eps lam xs ks f g,
  feasible v b eps xs ks f -> feasible v b eps xs ks g ->
  (forall x, In x xs ->
     (0 < gain u v lam ks x -> f x = 1) /\ (gain u v lam ks x < 0 -> f x = 0)) ->
  (forall k, In k ks -> lam k * (total xs (fun x => v k x * f x) + b k) = - Rabs (lam k) * eps k) ->
  total xs (fun x => u x * g x) <= total xs (fun x => u x * f x)
  /\ (total xs (fun x => u x * g x) = total xs (fun x => u x * f x) ->
      forall x, In x xs -> gain u v lam ks x <> 0 -> g x = f x).
Proof.
intros X K u v b eps lam xs ks f g F G rule slack.
assert (P := priced _ _ v b eps lam xs ks g G). assert (Lg := lagrangian _ _ u v lam xs ks g).
assert (Lf := lagrangian _ _ u v lam xs ks f).
assert (S : total ks (fun k => Rabs (lam k) * eps k + lam k * b k)
  = - total ks (fun k => lam k * total xs (fun x => v k x * f x))).
{ rewrite <- (Rmult_1_l (total ks (fun k => lam k * _))), Ropp_mult_distr_l, <- times.
  apply same. intros k i. specialize (slack k i). lra. }
assert (D : forall x, In x xs -> 0 <= gain u v lam ks x * f x + -1 * (gain u v lam ks x * g x)).
{ intros x i. destruct (rule x i) as [up down]. destruct G as [r _]. specialize (r x i).
  destruct (Rtotal_order (gain u v lam ks x) 0) as [n | [z | p]];
    [rewrite (down n) | rewrite z | rewrite (up p)]; nra. }
assert (T := below _ xs (fun _ => 0 * 0) _ (fun x i => Rle_trans _ 0 _ (Req_le _ _ (Rmult_0_l 0))
  (D x i))).
rewrite times, plus, times, Rmult_0_l in T. split; [lra |].
intros E x i nz.
assert (Z := nothing _ xs _ D). rewrite plus, times in Z. specialize (Z ltac:(lra) x i).
apply Rmult_eq_reg_l with (gain u v lam ks x); lra.
Qed.

(* The hypotheses of each theorem can hold together. *)
Lemma weak_duality_witness : exists X K (v : K -> X -> R) b eps xs ks g, (feasible v b eps xs ks
  g).
Proof.
exists unit, unit, (fun _ _ => 0), (fun _ => 0), (fun _ => 0), (cons tt nil), (cons tt nil),
  (fun _ => 0). split; intros; [lra |].
unfold total. simpl. replace (0 * 0 + 0 + 0) with 0 by ring. rewrite Rabs_R0. lra.
Qed.
Lemma optimal_witness : exists X K (u : X -> R) (v : K -> X -> R) b eps lam xs ks f g, (feasible v
  b eps xs ks f) /\ (feasible v b eps xs ks g) /\ ((forall x, In x xs -> (0 < gain u v lam ks x ->
  f x = 1) /\ (gain u v lam ks x < 0 -> f x = 0))) /\ ((forall k, In k ks -> lam k * (total xs (fun
  x => v k x * f x) + b k) = - Rabs (lam k) * eps k))
  /\ total xs (fun x => u x * g x) = total xs (fun x => u x * f x)
  /\ exists x, In x xs /\ gain u v lam ks x <> 0.
Proof.
assert (F : feasible (fun _ _ => 0) (fun _ : unit => 0) (fun _ => 0) (cons tt nil) (cons tt nil)
  (fun _ => 1)).
{ split; intros; [lra |]. unfold total. simpl. replace (0 * 1 + 0 + 0) with 0 by ring.
  rewrite Rabs_R0. lra. }
exists unit, unit, (fun _ => 1), (fun _ _ => 0), (fun _ => 0), (fun _ => 0), (fun _ => 0),
  (cons tt nil), (cons tt nil), (fun _ => 1), (fun _ => 1). split; [exact F |]. split; [exact F |].
unfold gain, total. simpl. split; [split; intros; lra |].
split; [intros; rewrite Rabs_R0; lra |]. split; [reflexivity |]. exists tt. split; [auto | lra].
Qed.

(* Each theorem with one number 1 % better, or one inequality strict, or not, is false. *)
Lemma weak_duality_sharp : ~ (forall X K (u : X -> R) (v : K -> X -> R) b eps lam xs ks g, feasible
  v b eps xs ks g -> total xs (fun x => u x * g x) < total xs (fun x => Rmax 0 (gain u v lam ks x))
  + total ks (fun k => Rabs (lam k) * eps k + lam k * b k) \/ total xs (fun x => Rmax 0 (gain u v
  lam ks x)) + total ks (fun k => Rabs (lam k) * eps k + lam k * b k) = 0).
Proof.
intros s. specialize (s unit unit (fun _ => 1) (fun _ _ => 0) (fun _ => 0) (fun _ => 0) (fun _ => 0)
  (cons tt nil) nil (fun _ => 1)). simpl in s. unfold gain in s. simpl in s.
rewrite Rmax_right in s by lra. destruct s as [l | e]; [| lra | lra].
split; [intros; lra | intros k []].
Qed.
Lemma optimal_sharp : ~ (forall X K (u : X -> R) (v : K -> X -> R) b eps lam xs ks f g, feasible v
  b eps xs ks f -> feasible v b eps xs ks g -> (forall x, In x xs -> (0 < gain u v lam ks x -> f x
  = 1) /\ (gain u v lam ks x < 0 -> f x = 0)) -> (forall k, In k ks -> lam k * (total xs (fun x =>
  v k x * f x) + b k) = - Rabs (lam k) * eps k) -> (total xs (fun x => u x * g x) < total xs (fun x
  => u x * f x) \/ total xs (fun x => u x * f x) = 0) /\ (total xs (fun x => u x * g x) = total xs
  (fun x => u x * f x) -> forall x, In x xs -> gain u v lam ks x <> 0 -> g x = f x)).
Proof.
intros s. assert (F : feasible (fun _ _ => 0) (fun _ => 0) (fun _ => 0) (cons tt nil)
  (@nil unit) (fun _ => 1)) by (split; [intros; lra | intros k []]).
destruct (s unit unit (fun _ => 1) (fun _ _ => 0) (fun _ => 0) (fun _ => 0) (fun _ => 0)
  (cons tt nil) nil _ _ F F) as [[l | e] _]; [| intros k [] | apply (Rlt_irrefl _ l) | simpl in e; lra].
intros x _. unfold gain. simpl. lra.
Qed.
