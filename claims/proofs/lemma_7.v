(* One budget. E is any linear and monotone functional on a space L of functions: an integral over
  the
   law of (x, a), or a sum. u x is the utility of accepting x, v x its share of the mean difference;
   f accepts where u + lam v > 0, rejects where it is < 0, and may randomise where it is 0. *)
From Coq Require Import Reals Lra.
Open Scope R_scope.

Definition integral {X} (L : (X -> R) -> Prop) (E : (X -> R) -> R) : Prop :=
  (forall a b f g, L f -> L g -> L (fun x => a * f x + b * g x)
     /\ E (fun x => a * f x + b * g x) = a * E f + b * E g)
  /\ (forall f g, L f -> (forall x, f x = g x) -> L g /\ E f = E g)
  /\ (forall f, L f -> (forall x, 0 <= f x) -> 0 <= E f).
Definition threshold {X} (s f : X -> R) : Prop :=
  forall x, 0 <= f x <= 1 /\ (0 < s x -> f x = 1) /\ (s x < 0 -> f x = 0).
Definition rule {X} (L : (X -> R) -> Prop) (u v f : X -> R) : Prop :=
  (forall x, 0 <= f x <= 1) /\ L (fun x => u x * f x) /\ L (fun x => v x * f x).
Definition clip (eps t : R) : R := Rmax (- eps) (Rmin eps t).

Lemma pointwise : forall s f g : R, 0 <= f <= 1 -> (0 < s -> f = 1) -> (s < 0 -> f = 0) ->
  0 <= g <= 1 -> s * (f - g) = Rabs s * Rabs (f - g).
Proof.
intros s f g F up down G. destruct (Rtotal_order s 0) as [n | [z | p]].
- rewrite (down n), (Rabs_left s), (Rabs_left1 (0 - g)) by lra. ring.
- rewrite z, Rabs_R0. ring.
- rewrite (up p), (Rabs_right s), (Rabs_right (1 - g)) by lra. ring.
Qed.

Theorem identity : forall X L E (u v : X -> R) lam f g,
  @integral X L E -> rule L u v f -> rule L u v g ->
  threshold (fun x => u x + lam * v x) f ->
  0 <= E (fun x => Rabs (u x + lam * v x) * Rabs (f x - g x)) /\
  E (fun x => u x * f x) - E (fun x => u x * g x)
  = E (fun x => Rabs (u x + lam * v x) * Rabs (f x - g x))
    - lam * (E (fun x => v x * f x) - E (fun x => v x * g x)).
Proof.
intros X L E u v lam f g [lin [ext pos]] [_ [uf vf]] [range [ug vg]] T.
destruct (lin 1 (-1) _ _ uf ug) as [a1 a2]. destruct (lin 1 (-1) _ _ vf vg) as [b1 b2].
destruct (lin 1 lam _ _ a1 b1) as [c1 c2].
destruct (ext _ (fun x => Rabs (u x + lam * v x) * Rabs (f x - g x)) c1) as [d1 d2].
{ intros x. destruct (T x) as [r [up down]]. rewrite <- (pointwise _ _ _ r up down (range x)).
ring. }
split; [apply pos; [exact d1 | intros; apply Rmult_le_pos; apply Rabs_pos] |].
rewrite <- d2, c2, a2, b2. ring.
Qed.

Theorem increases : forall X L E (u v : X -> R) lam mu f g,
  @integral X L E -> rule L u v f -> rule L u v g ->
  threshold (fun x => u x + lam * v x) f -> threshold (fun x => u x + mu * v x) g -> lam < mu ->
  E (fun x => v x * f x) <= E (fun x => v x * g x).
Proof.
intros X L E u v lam mu f g I F G Tf Tg l.
destruct (identity X L E u v lam f g I F G Tf) as [P i].
destruct (identity X L E u v mu g f I G F Tg) as [Q j]. nra.
Qed.

Theorem solves : forall X L E (u v : X -> R) lam eps free f g, @integral X L E ->
  rule L u v free -> rule L u v f -> rule L u v g ->
  threshold (fun x => u x + 0 * v x) free -> threshold (fun x => u x + lam * v x) f -> 0 <= eps ->
  E (fun x => v x * f x) = clip eps (E (fun x => v x * free x)) ->
  Rabs (E (fun x => v x * g x)) <= eps ->
  E (fun x => u x * g x) <= E (fun x => u x * f x)
  /\ (E (fun x => u x * g x) = E (fun x => u x * f x) ->
      E (fun x => Rabs (u x + lam * v x) * Rabs (f x - g x)) = 0
      \/ E (fun x => Rabs (u x + 0 * v x) * Rabs (free x - f x)) = 0
         /\ E (fun x => Rabs (u x + 0 * v x) * Rabs (free x - g x)) = 0).
Proof.
intros X L E u v lam eps free f g I R0 Rf Rg T0 Tf pos target feasible.
destruct (identity X L E u v 0 free f I R0 Rf T0) as [A a].
destruct (identity X L E u v 0 free g I R0 Rg T0) as [B b].
destruct (identity X L E u v lam f free I Rf R0 Tf) as [C c].
destruct (identity X L E u v lam f g I Rf Rg Tf) as [D d].
assert (G := Rle_abs (E (fun x => v x * g x))). assert (G' := Rle_abs (- E (fun x => v x * g x))).
rewrite Rabs_Ropp in G'. unfold clip in target.
destruct (Rlt_dec eps (E (fun x => v x * free x))) as [high | h];
  [| destruct (Rlt_dec (E (fun x => v x * free x)) (- eps)) as [low | l]].
- rewrite Rmin_left, Rmax_right in target by lra.
  assert (lam <= 0) by nra. split; [nra |]. intros e. left. nra.
- rewrite Rmin_right, Rmax_left in target by lra.
  assert (0 <= lam) by nra. split; [nra |]. intros e. left. nra.
- rewrite Rmin_right, Rmax_right in target by lra. rewrite target in *.
  split; [nra |]. intros e. right. split; nra.
Qed.
