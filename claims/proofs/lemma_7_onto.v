(* Lemma 7's g takes every value in [-1, 1]. F0 and F1 are the distribution functions of eta(x) in the
   two groups, continuous as these laws have densities; a rule accepts above its threshold. *)
From Coq Require Import Reals Lra.
Open Scope R_scope.

Definition distribution (F : R -> R) : Prop :=
  continuity F /\ (forall t, t <= 0 -> F t = 0) /\ (forall t, 1 <= t -> F t = 1).
Definition g (F0 F1 : R -> R) (q lam : R) : R :=
  (1 - F0 (1/2 - lam / (2 * (1 - q)))) - (1 - F1 (1/2 + lam / (2 * q))).

Theorem onto : forall F0 F1 q, distribution F0 -> distribution F1 -> 0 < q < 1 ->
  continuity (g F0 F1 q)
  /\ forall v, -1 <= v <= 1 -> exists lam, Rabs lam <= Rmax q (1 - q) /\ g F0 F1 q lam = v.
Proof.
intros F0 F1 q [c0 [l0 r0]] [c1 [l1 r1]] Q.
assert (C : continuity (g F0 F1 q)).
{ assert (line : forall a b, continuity (fun x => a + x * b)).
  { intros a b. apply continuity_plus; [apply continuity_const; now intros ? ? |].
    apply continuity_mult; [apply derivable_continuous, derivable_id |].
    apply continuity_const. now intros ? ?. }
  assert (comp : forall F a b, continuity F -> continuity (fun x => F (a + x * b))).
  { intros F a b H. apply (continuity_comp (fun x => a + x * b) F); [apply line | exact H]. }
  intros x. apply (continuity_minus (fun x => 1 - F0 (1/2 - x / (2 * (1 - q))))).
  - intros y. apply (continuity_minus (fun _ => 1)); [apply continuity_const; now intros ? ? |].
    intros z eps P. destruct (comp F0 (1/2) (- / (2 * (1 - q))) c0 z eps P) as [d [p H]].
    exists d. split; [exact p |]. intros t T. specialize (H t T).
    replace (1/2 - t / (2 * (1 - q))) with (1/2 + t * - / (2 * (1 - q))) by (field; lra).
    now replace (1/2 - z / (2 * (1 - q))) with (1/2 + z * - / (2 * (1 - q))) by (field; lra).
  - intros y. apply (continuity_minus (fun _ => 1)); [apply continuity_const; now intros ? ? |].
    exact (comp F1 (1/2) (/ (2 * q)) c1). }
split; [exact C |]. intros v V. set (m := Rmax q (1 - q)).
assert (q <= m) by apply Rmax_l. assert (1 - q <= m) by apply Rmax_r.
assert (big : forall s, 0 < s -> s <= m -> 1/2 <= m / (2 * s)).
{ intros s p le. apply Rmult_le_reg_l with (2 * s); [lra |].
  replace (2 * s * (m / (2 * s))) with m by (field; lra). lra. }
assert (B0 := big (1 - q) ltac:(lra) ltac:(lra)). assert (B1 := big q ltac:(lra) ltac:(lra)).
assert (top : g F0 F1 q m = 1) by (unfold g; rewrite l0, r1 by lra; ring).
assert (bottom : g F0 F1 q (- m) = -1).
{ unfold g. replace (- m / (2 * (1 - q))) with (- (m / (2 * (1 - q)))) by (field; lra).
  replace (- m / (2 * q)) with (- (m / (2 * q))) by (field; lra).
  rewrite r0, l1 by lra. ring. }
destruct (IVT_cor (fun x => g F0 F1 q x - v) (- m) m) as [x [X E]].
- apply continuity_minus; [exact C | apply continuity_const; now intros ? ?].
- lra.
- cbn beta. rewrite top, bottom. nra.
- exists x. split; [apply Rabs_le; lra | lra].
Qed.

(* The hypotheses of each theorem can hold together. *)
Lemma onto_witness : exists F0 F1 q, (distribution F0) /\ (distribution F1) /\ (0 < q < 1)
  /\ exists v, -1 <= v <= 1.
Proof.
assert (D : distribution (fun t => (1 + Rabs t - Rabs (t - 1)) / 2)).
{ split; [reg |]. split; intros t l.
  - rewrite (Rabs_left1 t), (Rabs_left (t - 1)) by lra. lra.
  - rewrite (Rabs_right t), (Rabs_right (t - 1)) by lra. lra. }
exists (fun t => (1 + Rabs t - Rabs (t - 1)) / 2), (fun t => (1 + Rabs t - Rabs (t - 1)) / 2), (1/2).
split; [exact D |]. split; [exact D |]. split; [lra | exists 0; lra].
Qed.

(* Each theorem with one number 1 % better, or one inequality strict, or not, is false. *)
Lemma onto_sharp : ~ (forall F0 F1 q, distribution F0 -> distribution F1 -> 0 < q < 1 -> continuity
  (g F0 F1 q) /\ forall v, -1 <= v <= 1 -> exists lam, (Rabs lam < Rmax q (1 - q) \/ Rmax q (1 - q)
  = 0) /\ g F0 F1 q lam = v).
Proof.
assert (D : distribution (fun t => (1 + Rabs t - Rabs (t - 1)) / 2)).
{ split; [reg |]. split; intros t l.
  - rewrite (Rabs_left1 t), (Rabs_left (t - 1)) by lra. lra.
  - rewrite (Rabs_right t), (Rabs_right (t - 1)) by lra. lra. }
intros s. destruct (s _ _ (1 / 2) D D ltac:(lra)) as [_ e].
destruct (e 1 ltac:(lra)) as (lam & l & E). rewrite Rmax_left in l by lra.
destruct l as [l | l]; [| lra]. unfold g in E.
assert (A := Rle_abs lam). assert (B := Rle_abs (- lam)). rewrite Rabs_Ropp in B.
replace (lam / (2 * (1 - 1 / 2))) with lam in E by field.
replace (lam / (2 * (1 / 2))) with lam in E by field.
rewrite !(Rabs_right (1 / 2 - lam)), !(Rabs_right (1 / 2 + lam)), !(Rabs_left (1 / 2 - lam - 1)),
  !(Rabs_left (1 / 2 + lam - 1)) in E by lra. lra.
Qed.
