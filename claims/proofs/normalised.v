(* Theorem 2 with its missing hypotheses: one round from w in R^n, gradients g1, g2 there, steps
   -eta (g1 + g2)/2 (FedAvg) and -eta (g1/|g1| + g2/|g2|)/2. Smooth losses are within ell/2 |s|^2 of
   their linear part, which is what an ell-Lipschitz gradient gives. *)
From Coq Require Import Reals Lra List.
Open Scope R_scope.

Definition least : R := 4.
Definition ratio : R := 2.
Definition largest : R := 2 / 5.
Definition dot (n : nat) (x y : nat -> R) : R := fold_right (fun i s => x i * y i + s) 0 (seq 0 n).
Definition norm (n : nat) (x : nat -> R) : R := sqrt (dot n x x).
Definition smooth (n : nat) (ell : R) (loss : (nat -> R) -> R) (w g : nat -> R) : Prop :=
  forall s, Rabs (loss (fun i => w i + s i) - loss w - dot n g s) <= ell / 2 * dot n s s.
Definition fedavg (eta : R) (g1 g2 : nat -> R) (i : nat) : R := - eta * (g1 i + g2 i) / 2.
Definition normalised (n : nat) (eta : R) (g1 g2 : nat -> R) (i : nat) : R :=
  - eta * (g1 i / norm n g1 + g2 i / norm n g2) / 2.
Definition gap (loss1 loss2 : (nat -> R) -> R) (joined1 joined2 : R) (w s : nat -> R) : R :=
  (joined1 - loss1 (fun i => w i + s i)) - (joined2 - loss2 (fun i => w i + s i)).

Lemma along : forall n x y z a b,
  dot n x (fun i => a * y i + b * z i) = a * dot n x y + b * dot n x z.
Proof. intros. unfold dot. induction (seq 0 n); simpl; [ring | rewrite IHl; ring]. Qed.

Lemma swap : forall n x y, dot n x y = dot n y x.
Proof. intros. unfold dot. induction (seq 0 n); simpl; [ring | rewrite IHl; ring]. Qed.

Lemma same : forall n x y z, (forall i, y i = z i) -> dot n x y = dot n x z.
Proof. intros n x y z H. unfold dot. induction (seq 0 n); simpl; [ring | rewrite IHl, H; ring]. Qed.

Lemma square : forall n x, 0 <= dot n x x.
Proof. intros. unfold dot. induction (seq 0 n); simpl; [lra | nra]. Qed.

Lemma within : forall x e, Rabs x <= e -> - e <= x <= e.
Proof. intros x e H. assert (A := Rle_abs x). assert (B := Rle_abs (- x)). rewrite Rabs_Ropp in B.
lra. Qed.

Theorem fairer : forall n ell eta loss1 loss2 joined1 joined2 w g1 g2,
  smooth n ell loss1 w g1 -> smooth n ell loss2 w g2 -> 0 < eta -> 0 <= ell ->
  eta * ell < largest ->
  0 < norm n g1 -> norm n g1 <= norm n g2 / ratio -> least <= norm n g2 ->
  gap loss1 loss2 joined1 joined2 w (fedavg eta g1 g2)
  < gap loss1 loss2 joined1 joined2 w (normalised n eta g1 g2).
Proof.
intros n ell eta loss1 loss2 joined1 joined2 w g1 g2 S1 S2 pos L short A half B.
unfold largest in short. unfold ratio in half. unfold least in B.
set (a := norm n g1) in *. set (b := norm n g2) in *.
assert (a2 : dot n g1 g1 = a * a) by (symmetry; apply sqrt_sqrt, square).
assert (b2 : dot n g2 g2 = b * b) by (symmetry; apply sqrt_sqrt, square).
set (c := dot n g1 g2 / (a * b)).
assert (x : dot n g1 g2 = a * b * c) by (unfold c; field; lra).
assert (x' : dot n g2 g1 = a * b * c) by now rewrite swap.
assert (lin : forall p q g, dot n g (fun i => p * g1 i + q * g2 i) = p * dot n g g1 + q * dot n g
  g2) by (intros; apply along).
assert (step : forall p q s, (forall i, s i = p * g1 i + q * g2 i) ->
  dot n g1 s = p * (a * a) + q * (a * b * c) /\ dot n g2 s = p * (a * b * c) + q * (b * b)
  /\ dot n s s = p * p * (a * a) + 2 * p * q * (a * b * c) + q * q * (b * b)).
{ intros p q s H. rewrite !(same n _ s _ H), !lin, (swap n s g1), (swap n s g2),
  !(same n _ s _ H), !lin, a2, b2, x, x'.
  repeat split; ring. }
assert (C : -1 <= c <= 1).
{ assert (P := square n (fun i => b * g1 i + a * g2 i)).
assert (Q := square n (fun i => b * g1 i + - a * g2 i)).
  destruct (step b a _ (fun i => eq_refl)) as [_ [_ P']].
  destruct (step b (- a) _ (fun i => eq_refl)) as [_ [_ Q']].
  rewrite P' in P. rewrite Q' in Q.
  assert (0 < a * b) by nra. assert (0 < a * b * (a * b)) by nra.
  split; apply Rmult_le_reg_l with (a * b * (a * b)); nra. }
destruct (step (- eta / 2) (- eta / 2) (fedavg eta g1 g2)) as [f1 [f2 ff]]; [intros;
  unfold fedavg; field |].
destruct (step (- eta / (2 * a)) (- eta / (2 * b)) (normalised n eta g1 g2)) as [n1 [n2 nn]];
  [intros; unfold normalised; fold a b; field; lra |].
assert (e1 := S1 (fedavg eta g1 g2)). assert (e2 := S2 (fedavg eta g1 g2)).
assert (e3 := S1 (normalised n eta g1 g2)). assert (e4 := S2 (normalised n eta g1 g2)).
rewrite f1, ff in e1. rewrite f2, ff in e2. rewrite n1, nn in e3. rewrite n2, nn in e4.
apply within in e1, e2, e3, e4. unfold gap.
replace (- eta / (2 * a) * (a * a) + - eta / (2 * b) * (a * b * c)) with (- eta / 2 * (a + a * c))
  in e3 by (field; lra).
replace (- eta / (2 * a) * (a * b * c) + - eta / (2 * b) * (b * b)) with (- eta / 2 * (b * c + b))
  in e4 by (field; lra).
replace (- eta / (2 * a) * (- eta / (2 * a)) * (a * a) + 2 * (- eta / (2 * a)) * (- eta / (2 * b))
  * (a * b * c)
  + - eta / (2 * b) * (- eta / (2 * b)) * (b * b)) with (eta * eta * (1 + c) / 2) in e3,
    e4 by (field; lra).
set (p := eta * ell) in *.
assert (K : p * ((1 + c) / 2 + (a * a + 2 * (a * b * c) + b * b) / 4) < (b - a) * (a + b - 1 - c)
  / 2).
{ clear e1 e2 e3 e4 f1 f2 ff n1 n2 nn a2 b2 x x' step lin.
  assert (a * b * c <= a * b) by (rewrite <- (Rmult_1_r (a * b)) at 2; apply Rmult_le_compat_l;
  nra).
  assert (U : (1 + c) / 2 + (a * a + 2 * (a * b * c) + b * b) / 4 <= 1 + (a + b) * (a + b) / 4)
    by lra.
  assert (0 <= p) by (unfold p; nra).
  assert (V : 0 < 1 + (a + b) * (a + b) / 4) by nra.
  assert (p * ((1 + c) / 2 + (a * a + 2 * (a * b * c) + b * b) / 4) <= p * (1 + (a + b) * (a + b)
    / 4)) by (apply Rmult_le_compat_l; assumption).
  assert (p * (1 + (a + b) * (a + b) / 4) < 2/5 * (1 + (a + b) * (a + b) / 4))
    by (apply Rmult_lt_compat_r; assumption).
  assert (2/5 * (1 + (a + b) * (a + b) / 4) <= (b - a) * (a + b - 2) / 2) by nra.
  assert ((b - a) * (a + b - 2) / 2 <= (b - a) * (a + b - 1 - c) / 2) by nra. lra. }
assert (M := Rmult_lt_compat_l eta _ _ pos K). unfold p in M. lra.
Qed.

(* The hypotheses of each theorem can hold together. *)
Lemma fairer_witness : exists n ell eta loss1 loss2 w g1 g2, (smooth n ell loss1 w g1) /\ (smooth
  n ell loss2 w g2) /\ (0 < eta) /\ (0 <= ell) /\ (eta * ell < largest) /\ (0 < norm n g1) /\ (norm
  n g1 <= norm n g2 / ratio) /\ (least <= norm n g2).
Proof.
unfold least, ratio, largest.
assert (S : forall c w, smooth 1 0 (fun x => c * x 0%nat) w (fun _ => c)).
{ intros c w s. unfold dot. simpl.
  replace (c * (w 0%nat + s 0%nat) - c * w 0%nat - (c * s 0%nat + 0)) with 0 by ring.
  rewrite Rabs_R0. lra. }
assert (N : forall c, 0 <= c -> norm 1 (fun _ => c) = c).
{ intros c p. unfold norm, dot. simpl. rewrite Rplus_0_r. apply sqrt_square. exact p. }
exists 1%nat, 0, 1, (fun x => 2 * x 0%nat), (fun x => 4 * x 0%nat), (fun _ => 0), (fun _ => 2),
  (fun _ => 4). rewrite !N by lra. split; [apply S |]. split; [apply S |]. repeat split; lra.
Qed.

(* Each theorem with one number 1 % better, or one inequality strict, or not, is false. *)
Lemma fairer_sharp : ~ (forall n ell eta loss1 loss2 joined1 joined2 w g1 g2, smooth n ell loss1 w
  g1 -> smooth n ell loss2 w g2 -> 0 <= eta -> 0 <= ell -> eta * ell < largest -> 0 < norm n g1 ->
  norm n g1 <= norm n g2 / ratio -> least <= norm n g2 -> gap loss1 loss2 joined1 joined2 w (fedavg
  eta g1 g2) < gap loss1 loss2 joined1 joined2 w (normalised n eta g1 g2)).
Proof.
intros s. destruct fairer_witness as (n & ell & _ & f1 & f2 & w & g1 & g2 & A & B & _ & L & _ & P & Q & Z).
specialize (s n ell 0 f1 f2 0 0 w g1 g2 A B ltac:(lra) L ltac:(unfold largest; lra) P Q Z).
unfold gap, fedavg, normalised in s.
assert (e : (fun i => w i + - 0 * (g1 i + g2 i) / 2)
  = (fun i => w i + - 0 * (g1 i / norm n g1 + g2 i / norm n g2) / 2)).
{ apply FunctionalExtensionality.functional_extensionality. intros i. unfold Rdiv. ring. }
rewrite e in s. lra.
Qed.
