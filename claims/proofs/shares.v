(* Two clients of equal weight with shares q0 and q1 of group 1. E a integrates over the pooled law
  of
   x in group a, u x = 2 eta(x) - 1 in (-1, 1), f t accepts where u x > t. A classifier is a rule
     for
   each group; acc is its accuracy on the pooled law, less a constant. *)
From Coq Require Import Reals Lra.
Open Scope R_scope.

Definition integral {X} (L : (X -> R) -> Prop) (E : (X -> R) -> R) : Prop :=
  (forall a b f g, L f -> L g -> L (fun x => a * f x + b * g x)
     /\ E (fun x => a * f x + b * g x) = a * E f + b * E g)
  /\ (forall f g, L f -> (forall x, f x = g x) -> L g /\ E f = E g)
  /\ (forall f, L f -> (forall x, 0 <= f x) -> 0 <= E f).
Definition threshold {X} (s f : X -> R) : Prop :=
  forall x, 0 <= f x <= 1 /\ (0 < s x -> f x = 1) /\ (s x < 0 -> f x = 0).
Definition rule {X} (L : (X -> R) -> Prop) (u h : X -> R) : Prop :=
  (forall x, 0 <= h x <= 1) /\ L h /\ L (fun x => u x * h x).
Definition clip (eps t : R) : R := Rmax (- eps) (Rmin eps t).
Definition falling {X} (E : (X -> R) -> R) (f : R -> X -> R) : Prop :=
  (forall t, t <= -1 -> E (f t) = 1) /\ (forall t, 1 <= t -> E (f t) = 0)
  /\ forall s t, -1 <= s -> s < t -> t <= 1 -> E (f t) < E (f s).
Definition setting {X} (L : (X -> R) -> Prop) (E : bool -> (X -> R) -> R) (u : X -> R)
  (f : R -> X -> R) : Prop :=
  (forall a, integral L (E a) /\ falling (E a) f)
  /\ forall t, rule L u (f t) /\ threshold (fun x => u x - t) (f t).
Definition level (q lam : R) (a : bool) : R := if a then lam / q else - lam / (1 - q).
Definition acc {X} (E : bool -> (X -> R) -> R) (u : X -> R) (q : R) (h : bool -> X -> R) : R :=
  (1 - q) * E false (fun x => u x * h false x) + q * E true (fun x => u x * h true x).
Definition md {X} (E : bool -> (X -> R) -> R) (h : bool -> X -> R) : R :=
  E false (h false) - E true (h true).
Definition best {X} (L : (X -> R) -> Prop) (E : bool -> (X -> R) -> R) (u : X -> R) (q eps v : R)
  : Prop :=
  (exists h, (forall a, rule L u (h a)) /\ Rabs (md E h) <= eps /\ acc E u q h = v)
  /\ forall h, (forall a, rule L u (h a)) -> Rabs (md E h) <= eps -> acc E u q h <= v.
Definition ensemble {X} (f : R -> X -> R) (q0 q1 lam0 lam1 : R) (a : bool) (x : X) : R :=
  (f (level q0 lam0 a) x + f (level q1 lam1 a) x) / 2.

Lemma greatest : forall X L E (u : X -> R) t f h, integral L E -> rule L u f -> rule L u h ->
  threshold (fun x => u x - t) f ->
  E (fun x => u x * h x) - t * E h <= E (fun x => u x * f x) - t * E f.
Proof.
intros X L E u t f h [lin [ext pos]] [_ [f0 f1]] [range [h0 h1]] T.
destruct (lin 1 (- t) _ _ f1 f0) as [a1 a2]. destruct (lin 1 (- t) _ _ h1 h0) as [b1 b2].
destruct (lin 1 (-1) _ _ a1 b1) as [c1 c2].
assert (P := pos _ c1). rewrite c2, a2, b2 in P. enough (Q : forall x, 0 <= 1 * (1 * (u x * f x) +
  - t * f x) + -1 * (1 * (u x * h x) + - t * h x)) by (specialize (P Q); lra).
intros x. destruct (T x) as [r [up down]]. specialize (range x).
destruct (Rtotal_order (u x - t) 0) as [n | [z | p]].
- rewrite (down n). nra.
- replace (u x) with t by lra. lra.
- rewrite (up p). nra.
Qed.

(* The rate at a level is that of a level in [-1, 1]; it does not increase. *)
Lemma inside : forall X (E : (X -> R) -> R) f, falling E f -> forall s, exists r, -1 <= r <= 1
  /\ E (f r) = E (f s) /\ (-1 < s < 1 -> r = s) /\ (forall t, -1 < t < 1 -> s <> t -> r <> t)
  /\ (0 < s -> 0 < r) /\ (s < 0 -> r < 0).
Proof.
intros X E f [low [high _]] s.
destruct (Rle_lt_dec s (-1)) as [a | a]; [| destruct (Rle_lt_dec 1 s) as [b | b]].
- exists (-1). rewrite (low s a), (low (-1)) by lra. repeat split; intros; lra.
- exists 1. rewrite (high s b), (high 1) by lra. repeat split; intros; lra.
- exists s. repeat split; intros; lra.
Qed.

Lemma bounds : forall X (E : (X -> R) -> R) f, falling E f ->
  0 < E (f 0) < 1 /\ (forall s, 0 < s -> E (f s) < E (f 0)) /\ (forall s, s < 0 -> E (f 0) < E (f
    s)).
Proof.
intros X E f P. assert (P' := P). destruct P' as [low [high dec]].
assert (A := dec (-1) 0 ltac:(lra) ltac:(lra) ltac:(lra)). rewrite (low (-1)) in A by lra.
assert (B := dec 0 1 ltac:(lra) ltac:(lra) ltac:(lra)). rewrite (high 1) in B by lra.
split; [lra |]. split; intros s S; destruct (inside X E f P s) as [r [c [e [_ [_ [p n]]]]]].
- specialize (p S). rewrite <- e. apply dec; lra.
- specialize (n S). rewrite <- e. apply dec; lra.
Qed.

Lemma strictly : forall X L E (u : X -> R) f s t, integral L E -> falling E f ->
  (forall t, rule L u (f t) /\ threshold (fun x => u x - t) (f t)) -> -1 < t < 1 -> s <> t ->
  E (fun x => u x * f s x) - t * E (f s) < E (fun x => u x * f t x) - t * E (f t).
Proof.
intros X L E u f s t I P F T ne.
destruct (inside X E f P s) as [r [c [e [_ [k _]]]]]. specialize (k t T ne).
destruct P as [_ [_ dec]]. set (m := (r + t) / 2).
assert (A := greatest X L E u m (f m) (f s) I (proj1 (F m)) (proj1 (F s)) (proj2 (F m))).
assert (B := greatest X L E u t (f t) (f m) I (proj1 (F t)) (proj1 (F m)) (proj2 (F t))).
destruct (Rtotal_order r t) as [l | [z | l]]; [| contradiction |].
- assert (H := dec r m ltac:(lra) ltac:(unfold m; lra) ltac:(unfold m; lra)).
  assert (0 < t - m) by (unfold m; lra). rewrite <- e in *. nra.
- assert (H := dec m r ltac:(unfold m; lra) ltac:(unfold m; lra) ltac:(lra)).
  assert (0 < m - t) by (unfold m; lra). rewrite <- e in *. nra.
Qed.

Theorem lemma_16 : forall X L E (u : X -> R) f q0 q1 eps v lam lam0 lam1, setting L E u f ->
  0 < q0 < 1 -> 0 < q1 < 1 -> q0 <> q1 -> 0 <= eps ->
  let q := (q0 + q1) / 2 in
  let cfl t a := f (level q t a) in
  md E (cfl lam) = clip eps (md E (cfl 0)) -> eps < Rabs (md E (cfl 0)) -> best L E u q eps v ->
  Rabs (md E (ensemble f q0 q1 lam0 lam1)) <= eps ->
  acc E u q (ensemble f q0 q1 lam0 lam1) < v.
Proof.
intros X L E u f q0 q1 eps v lam lam0 lam1 [IP F] Q0 Q1 ne e0 q cfl target unfair [_ top] feasible.
assert (Q : 0 < q < 1) by (unfold q; lra).
assert (I := fun a => proj1 (IP a)). assert (P := fun a => proj2 (IP a)).
assert (start : forall a, level q 0 a = 0) by (intros []; unfold level; field; lra).
destruct (bounds X (E false) f (P false)) as [one [down up]].
destruct (bounds X (E true) f (P true)) as [one' [down' up']].
assert (M0 : md E (cfl 0) = E false (f 0) - E true (f 0)).
{ unfold md, cfl. rewrite !start. reflexivity. }
assert (sg : forall x y, 0 < y -> (0 < x -> 0 < x / y) /\ (x < 0 -> x / y < 0)).
{ intros x y Y. assert (0 < / y) by (apply Rinv_0_lt_compat; exact Y). unfold Rdiv. split; nra. }
assert (sign : (lam < 0 -> 0 < level q lam false /\ level q lam true < 0)
  /\ (0 < lam -> level q lam false < 0 /\ 0 < level q lam true)).
{ unfold level. split; intros s; split; apply sg; lra. }
assert (value : md E (cfl lam) = E false (f (level q lam false)) - E true (f (level q lam true)))
  by reflexivity.
(* CFL's multiplier is not 0, its levels lie in (-1, 1), and it holds the disparity at eps. *)
assert (facts : lam <> 0 /\ (forall a, -1 < level q lam a < 1)
  /\ forall w, Rabs w <= eps -> lam * (md E (cfl lam) - w) <= 0).
{ assert (case : lam <> 0 /\ (lam < 0 /\ md E (cfl lam) = eps \/ 0 < lam /\ md E (cfl lam) = -
  eps)).
  { destruct (Rtotal_order lam 0) as [n | [z | p]].
    - split; [lra |]. left. split; [exact n |]. destruct sign as [sn _]. destruct (sn n) as [a b].
      assert (md E (cfl lam) < md E (cfl 0)).
      { rewrite value, M0. specialize (down _ a). specialize (up' _ b). lra. }
      unfold clip in target. destruct (Rle_lt_dec eps (md E (cfl 0))) as [c | c].
      + rewrite Rmin_left, Rmax_right in target by lra. exact target.
      + rewrite Rmin_right in target by lra. exfalso.
        assert (md E (cfl 0) < - eps) by (unfold Rabs in unfair; destruct (Rcase_abs _) in unfair;
          lra).
        rewrite Rmax_left in target by lra. lra.
    - exfalso. rewrite z in target. assert (Rabs (md E (cfl 0)) <= eps); [| lra].
      rewrite target. unfold clip. apply Rabs_le. assert (A := Rmax_l (- eps) (Rmin eps (md E (cfl
        0)))).
      assert (Rmax (- eps) (Rmin eps (md E (cfl 0))) <= eps);
        [apply Rmax_lub; [lra | apply Rmin_l] | lra].
    - split; [lra |]. right. split; [exact p |]. destruct sign as [_ sp]. destruct (sp p) as [a b].
      assert (md E (cfl 0) < md E (cfl lam)).
      { rewrite value, M0. specialize (up _ a). specialize (down' _ b). lra. }
      unfold clip in target. destruct (Rle_lt_dec eps (md E (cfl 0))) as [c | c].
      + rewrite Rmin_left, Rmax_right in target by lra. lra.
      + rewrite Rmin_right in target by lra.
        assert (md E (cfl 0) < - eps) by (unfold Rabs in unfair; destruct (Rcase_abs _) in unfair;
          lra).
        rewrite Rmax_left in target by lra. exact target. }
  destruct case as [nz case]. split; [exact nz |]. split.
  - destruct (P false) as [low [high _]]. destruct (P true) as [low' [high' _]].
    destruct case as [[s m] | [s m]]; rewrite value in m.
    + destruct sign as [sn _]. destruct (sn s) as [a b].
      specialize (down _ a). specialize (up' _ b). intros []; split; try lra; apply Rnot_le_lt;
        intros c.
      * specialize (low' _ c). lra.
      * specialize (high _ c). lra.
    + destruct sign as [_ sp]. destruct (sp s) as [a b].
      specialize (up _ a). specialize (down' _ b). intros []; split; try lra; apply Rnot_le_lt;
        intros c.
      * specialize (high' _ c). lra.
      * specialize (low _ c). lra.
  - intros w W. assert (A := Rle_abs w). assert (B := Rle_abs (- w)). rewrite Rabs_Ropp in B.
    destruct case as [[s m] | [s m]]; rewrite m; nra. }
destruct facts as [nz [within slack]].
assert (fits : acc E u q (cfl lam) <= v).
{ apply top; [intros; apply F |]. rewrite target. unfold clip. apply Rabs_le.
  assert (A := Rmax_l (- eps) (Rmin eps (md E (cfl 0)))).
  assert (Rmax (- eps) (Rmin eps (md E (cfl 0))) <= eps); [apply Rmax_lub; [lra | apply Rmin_l] |
    lra]. }
(* In each group and for each client the Lagrangian is less, unless the levels agree. *)
assert (less : forall a s, E a (fun x => u x * f s x) - level q lam a * E a (f s)
  <= E a (fun x => u x * f (level q lam a) x) - level q lam a * E a (f (level q lam a))).
{ intros a s. apply (greatest X L); [apply I | apply F | apply F | apply F]. }
assert (strict : forall a s, s <> level q lam a ->
  E a (fun x => u x * f s x) - level q lam a * E a (f s)
  < E a (fun x => u x * f (level q lam a) x) - level q lam a * E a (f (level q lam a))).
{ intros a s d. apply (strictly X L); [apply I | apply P | exact F | apply within | exact d]. }
assert (split : forall a (w : R -> X -> R), (forall s, L (w s)) -> forall s t,
  E a (fun x => (w s x + w t x) / 2) = (E a (w s) + E a (w t)) / 2).
{ intros a w W s t. destruct (I a) as [lin [ext _]].
  destruct (lin (1/2) (1/2) _ _ (W s) (W t)) as [o p].
  destruct (ext _ (fun x => (w s x + w t x) / 2) o) as [_ r]; [intros; field | rewrite <- r, p;
    field]. }
assert (rates : forall a, E a (ensemble f q0 q1 lam0 lam1 a)
  = (E a (f (level q0 lam0 a)) + E a (f (level q1 lam1 a))) / 2).
{ intros a. apply (split a f). intros; apply F. }
assert (gains : forall a, E a (fun x => u x * ensemble f q0 q1 lam0 lam1 a x)
  = (E a (fun x => u x * f (level q0 lam0 a) x) + E a (fun x => u x * f (level q1 lam1 a) x)) / 2).
{ intros a. rewrite <- (split a (fun s x => u x * f s x)) by (intros; apply F).
  destruct (I a) as [lin [ext _]].
  destruct (F (level q0 lam0 a)) as [[_ [_ o]] _]. destruct (F (level q1 lam1 a)) as [[_ [_ p]] _].
  destruct (lin (1/2) (1/2) _ _ o p) as [r _].
  destruct (ext _ (fun x => (u x * f (level q0 lam0 a) x + u x * f (level q1 lam1 a) x) / 2) r) as
    [r' _];
    [intros; field |].
  symmetry. apply (ext _ _ r'). intros. unfold ensemble. field. }
assert (differ : level q0 lam0 false <> level q lam false \/ level q0 lam0 true <> level q lam
  true).
{ destruct (Req_dec (level q0 lam0 false) (level q lam false)) as [a |]; [right | now left].
  intros b. unfold level in a, b. apply nz.
  assert (A : lam0 * (1 - q) = lam * (1 - q0)).
  { apply Rmult_eq_reg_r with (- / ((1 - q) * (1 - q0))).
    - transitivity (- lam0 / (1 - q0)); [field; lra |]. rewrite a. field. lra.
    - apply Ropp_neq_0_compat, Rinv_neq_0_compat, Rmult_integral_contrapositive; lra. }
  assert (B : lam0 * q = lam * q0).
  { apply Rmult_eq_reg_r with (/ (q * q0)).
    - transitivity (lam0 / q0); [field; lra |]. rewrite b. field. lra.
    - apply Rinv_neq_0_compat, Rmult_integral_contrapositive; lra. }
  assert (D : lam0 = lam) by lra. rewrite D in B.
  assert (C : lam * (q - q0) = 0) by lra. apply Rmult_integral in C. destruct C as [C | C]; [exact
    C |].
  unfold q in C. lra. }
specialize (slack _ feasible).
assert (G : forall h : bool -> X -> R, acc E u q h + lam * md E h
  = (1 - q) * (E false (fun x => u x * h false x) - level q lam false * E false (h false))
    + q * (E true (fun x => u x * h true x) - level q lam true * E true (h true))).
{ intros h. unfold acc, md, level. field. lra. }
assert (Ge := G (ensemble f q0 q1 lam0 lam1)). assert (Gc := G (cfl lam)). unfold cfl in Gc.
rewrite !rates, !gains in Ge.
assert (a0 := less false (level q0 lam0 false)). assert (a1 := less false (level q1 lam1 false)).
assert (b0 := less true (level q0 lam0 true)). assert (b1 := less true (level q1 lam1 true)).
enough (acc E u q (ensemble f q0 q1 lam0 lam1) + lam * md E (ensemble f q0 q1 lam0 lam1)
  < acc E u q (cfl lam) + lam * md E (cfl lam)) by lra.
unfold cfl. rewrite Ge, Gc. assert (q' : 0 < 1 - q) by (unfold q; lra).
assert (q'' : 0 < q) by (unfold q; lra).
apply (Rmult_le_compat_l (1 - q)) in a0, a1; [| lra | lra].
apply (Rmult_le_compat_l q) in b0, b1; [| lra | lra].
destruct differ as [d | d]; apply (strict _ _) in d;
  [apply (Rmult_lt_compat_l (1 - q)) in d | apply (Rmult_lt_compat_l q) in d]; lra.
Qed.
