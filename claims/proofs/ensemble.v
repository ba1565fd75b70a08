(* Two clients of equal weight with a common q. E0 and E1 are integrals over their laws of (x, a);
  u x
   is the utility of accepting x, v x its share of the mean difference. f t is the rule of the
   multiplier t, [-M, M] where g_0 and g_1 increase strictly, best a CFL's accuracy, less a
     constant. *)
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
Definition pooled {X} (E0 E1 : (X -> R) -> R) (f : X -> R) : R := (E0 f + E1 f) / 2.
Definition md {X} (E : (X -> R) -> R) (v : X -> R) (f : R -> X -> R) (t : R) : R :=
  E (fun x => v x * f t x).
Definition setting {X} (L : (X -> R) -> Prop) (E0 E1 : (X -> R) -> R) (u v : X -> R)
  (f : R -> X -> R) (M : R) : Prop :=
  integral L E0 /\ integral L E1 /\ 0 < M
  /\ (forall t, rule L u v (f t) /\ threshold (fun x => u x + t * v x) (f t))
  /\ (forall s t, - M <= s -> s < t -> t <= M ->
        md E0 v f s < md E0 v f t /\ md E1 v f s < md E1 v f t)
  /\ -1 <= md E0 v f 0 <= 1 /\ -1 <= md E1 v f 0 <= 1.
Definition returned (g : R -> R) (M eps t : R) : Prop :=
  0 <= eps <= 1 /\ - M <= t <= M /\ g t = clip eps (g 0).
Definition best {X} (L : (X -> R) -> Prop) (E : (X -> R) -> R) (u v : X -> R) (eps a : R) : Prop :=
  (exists h, rule L u v h /\ Rabs (E (fun x => v x * h x)) <= eps /\ E (fun x => u x * h x) = a)
  /\ forall h, rule L u v h -> Rabs (E (fun x => v x * h x)) <= eps -> E (fun x => u x * h x) <= a.
Definition ensemble {X} (f : R -> X -> R) (s t : R) (x : X) : R := (f s x + f t x) / 2.

Lemma both : forall X L E0 E1, @integral X L E0 -> integral L E1 -> integral L (pooled E0 E1).
Proof.
intros X L E0 E1 [a [b c]] [a' [b' c']]. unfold pooled. split; [| split].
- intros p q f g F G. destruct (a p q f g F G) as [l e]. destruct (a' p q f g F G) as [_ e'].
  split; [exact l | rewrite e, e'; field].
- intros f g F e. destruct (b f g F e) as [l k]. destruct (b' f g F e) as [_ k'].
  split; [exact l | rewrite k, k'; reflexivity].
- intros f F p. specialize (c f F p). specialize (c' f F p). lra.
Qed.

Lemma greatest : forall X L E (u v : X -> R) t f h, @integral X L E -> rule L u v f -> rule L u v h
  ->
  threshold (fun x => u x + t * v x) f ->
  E (fun x => u x * h x) + t * E (fun x => v x * h x)
  <= E (fun x => u x * f x) + t * E (fun x => v x * f x).
Proof.
intros X L E u v t f h [lin [ext pos]] [_ [uf vf]] [range [uh vh]] T.
destruct (lin 1 t _ _ uf vf) as [a1 a2]. destruct (lin 1 t _ _ uh vh) as [b1 b2].
destruct (lin 1 (-1) _ _ a1 b1) as [c1 c2].
assert (P := pos _ c1). rewrite c2, a2, b2 in P. enough (Q : forall x, 0 <= 1 * (1 * (u x * f x) +
  t * (v x * f x)) + -1 * (1 * (u x * h x) + t * (v x * h x))) by (specialize (P Q); lra).
intros x. destruct (T x) as [r [up down]]. specialize (range x).
destruct (Rtotal_order (u x + t * v x) 0) as [n | [z | p]].
- rewrite (down n). nra.
- replace (u x) with (- (t * v x)) by lra. lra.
- rewrite (up p). nra.
Qed.

Lemma halves : forall X L E0 E1 (u v : X -> R) f M s t, setting L E0 E1 u v f M ->
  rule L u v (ensemble f s t)
  /\ forall w, w = u \/ w = v -> pooled E0 E1 (fun x => w x * ensemble f s t x)
     = (pooled E0 E1 (fun x => w x * f s x) + pooled E0 E1 (fun x => w x * f t x)) / 2.
Proof.
intros X L E0 E1 u v f M s t [I0 [I1 [_ [F _]]]].
destruct (both _ _ _ _ I0 I1) as [lin [ext _]].
destruct (F s) as [[rs [us vs]] _]. destruct (F t) as [[rt [ut vt]] _].
assert (one : forall w, L (fun x => w x * f s x) -> L (fun x => w x * f t x) ->
  L (fun x => w x * ensemble f s t x) /\ pooled E0 E1 (fun x => w x * ensemble f s t x)
  = (pooled E0 E1 (fun x => w x * f s x) + pooled E0 E1 (fun x => w x * f t x)) / 2).
{ intros w ls lt. destruct (lin (1/2) (1/2) _ _ ls lt) as [a1 a2].
  destruct (ext _ (fun x => w x * ensemble f s t x) a1) as [b1 b2];
    [intros x; unfold ensemble; field | split; [exact b1 | rewrite <- b2, a2; field]]. }
split.
- split; [intros x; unfold ensemble; specialize (rs x); specialize (rt x); lra |].
  split; apply one; assumption.
- intros w [e | e]; subst; apply one; assumption.
Qed.

(* What is needed of the rules f t: accuracy A and mean difference G of one, where G increases. *)
Lemma family : forall X L E0 E1 (u v : X -> R) f M, setting L E0 E1 u v f M ->
  let A t := pooled E0 E1 (fun x => u x * f t x) in
  let G := md (pooled E0 E1) v f in
  (forall s t, - M <= s <= M -> - M <= t <= M -> s <> t -> A s + t * G s < A t + t * G t)
  /\ (forall s t, - M <= s -> s < t -> t <= M -> G s < G t).
Proof.
intros X L E0 E1 u v f M [I0 [I1 [pos [F [inc _]]]]] A G.
assert (I := both _ _ _ _ I0 I1).
assert (up : forall s t, - M <= s -> s < t -> t <= M -> G s < G t).
{ intros s t a b c. destruct (inc s t a b c). unfold G, md, pooled. unfold md in *. lra. }
assert (weak : forall s t, A s + t * G s <= A t + t * G t).
{ intros s t. destruct (F s) as [rs _]. destruct (F t) as [rt T].
  exact (greatest X L _ u v t (f t) (f s) I rt rs T). }
split; [| exact up]. intros s t S T ne.
assert (W := weak s ((s + t) / 2)). assert (V := weak ((s + t) / 2) t).
destruct (Rtotal_order s t) as [l | [e | l]]; [| contradiction |].
- assert (H := up s ((s + t) / 2) ltac:(lra) ltac:(lra) ltac:(lra)). nra.
- assert (H := up ((s + t) / 2) s ltac:(lra) ltac:(lra) ltac:(lra)). nra.
Qed.

Lemma clipped : forall eps t, 0 <= eps -> Rabs (clip eps t) <= eps
  /\ (Rabs t <= eps /\ clip eps t = t \/ eps < t /\ clip eps t = eps \/ t < - eps /\ clip eps t = -
    eps).
Proof.
intros eps t P. unfold clip.
destruct (Rlt_dec eps t) as [h | h]; [| destruct (Rlt_dec t (- eps)) as [l | l]].
- rewrite Rmin_left, Rmax_right by lra. split; [apply Rabs_le; lra | right; left; lra].
- rewrite Rmin_right, Rmax_left by lra. split; [apply Rabs_le; lra | right; right; lra].
- rewrite Rmin_right, Rmax_right by lra. assert (Rabs t <= eps) by (apply Rabs_le; lra).
  split; [assumption | left; split; [assumption | reflexivity]].
Qed.

Lemma between : forall a b, Rabs a <= b -> - b <= a <= b.
Proof. intros a b H. assert (P := Rle_abs a). assert (Q := Rle_abs (- a)).
rewrite Rabs_Ropp in Q. lra. Qed.

(* The multiplier that is returned has the sign that lowers the disparity. *)
Lemma side : forall g M eps t, 0 < M -> (forall a b, - M <= a -> a < b -> b <= M -> g a < g b) ->
  returned g M eps t -> (0 < g 0 -> t <= 0 /\ 0 <= g t <= g 0) /\ (g 0 < 0 -> 0 <= t /\ g 0 <= g t
    <= 0)
  /\ (eps < Rabs (g 0) -> t <> 0).
Proof.
intros g M eps t P inc [[e0 e1] [m E]].
destruct (clipped eps (g 0) e0) as [_ C].
assert (A : t < 0 -> g t < g 0) by (intros; apply inc; lra).
assert (B : 0 < t -> g 0 < g t) by (intros; apply inc; lra).
split; [| split].
- intros s. assert (0 <= g t <= g 0).
  { destruct C as [[a b] | [[a b] | [a b]]]; rewrite E, b; lra. }
  split; [| assumption]. destruct (Rle_lt_dec t 0) as [| l]; [assumption |]. specialize (B l). lra.
- intros s. assert (g 0 <= g t <= 0).
  { destruct C as [[a b] | [[a b] | [a b]]]; rewrite E, b; lra. }
  split; [| assumption]. destruct (Rle_lt_dec 0 t) as [| l]; [assumption |]. specialize (A l). lra.
- intros lt z. subst t. destruct (clipped eps (g 0) e0) as [a _]. rewrite <- E in a. lra.
Qed.

Theorem lemma_12 : forall X L E0 E1 (u v : X -> R) f M eps a s t lam, setting L E0 E1 u v f M ->
  - M <= s <= M -> - M <= t <= M -> returned (md (pooled E0 E1) v f) M eps lam ->
  best L (pooled E0 E1) u v eps a ->
  Rabs (pooled E0 E1 (fun x => v x * ensemble f s t x)) <= eps ->
  pooled E0 E1 (fun x => u x * ensemble f s t x) <= a
  /\ (pooled E0 E1 (fun x => u x * ensemble f s t x) = a <-> s = lam /\ t = lam).
Proof.
intros X L E0 E1 u v f M eps a s t lam S Ms Mt R [[h [rh [fh vh]]] top] feasible.
destruct (halves X L E0 E1 u v f M s t S) as [re mean].
split; [exact (top _ re feasible) |].
destruct (family X L E0 E1 u v f M S) as [strict inc].
assert (S' := S). destruct S' as [I0 [I1 [pos [F _]]]].
assert (Ma : Rabs (pooled E0 E1 (fun x => v x * f lam x)) <= eps).
{ destruct R as [[e0 _] [_ e]]. unfold md in e. rewrite e. apply clipped; assumption. }
assert (value : pooled E0 E1 (fun x => u x * f lam x) <= a) by (apply top; [apply F | exact Ma]).
assert (Z := side _ M eps lam pos inc R). destruct R as [[e0 _] [Ml E]].
assert (slack : forall w, Rabs w <= eps ->
  lam * (md (pooled E0 E1) v f lam - w) <= 0).
{ intros w W. apply between in W. rewrite E.
  destruct (clipped eps (md (pooled E0 E1) v f 0) e0) as [_ [[b c] | [[b c] | [b c]]]].
  - assert (lam = 0).
    { rewrite c in E. destruct (Rtotal_order lam 0) as [l | [z | l]]; [| assumption |].
      - assert (H := inc lam 0 ltac:(lra) l ltac:(lra)). lra.
      - assert (H := inc 0 lam ltac:(lra) l ltac:(lra)). lra. }
    subst. lra.
  - rewrite c. destruct Z as [Z _]. destruct (Z ltac:(lra)). nra.
  - rewrite c. destruct Z as [_ [Z _]]. destruct (Z ltac:(lra)). nra. }
assert (reached : a <= pooled E0 E1 (fun x => u x * f lam x)).
{ assert (H := greatest X L (pooled E0 E1) u v lam (f lam) h (both _ _ _ _ I0 I1)
    (proj1 (F lam)) rh (proj2 (F lam))). specialize (slack _ fh). unfold md in slack. lra. }
specialize (slack _ feasible). assert (mv := mean v (or_intror eq_refl)).
rewrite (mean u (or_introl eq_refl)). rewrite mv in *. unfold md in *.
split; [| intros [-> ->]; lra]. intros eq.
assert (weak : forall r, - M <= r <= M ->
  pooled E0 E1 (fun x => u x * f r x) + lam * pooled E0 E1 (fun x => v x * f r x)
  <= pooled E0 E1 (fun x => u x * f lam x) + lam * pooled E0 E1 (fun x => v x * f lam x)).
{ intros r Mr. destruct (Req_dec r lam) as [-> | ne]; [lra | left; apply strict; assumption]. }
assert (Ws := weak s Ms). assert (Wt := weak t Mt).
split.
- destruct (Req_dec s lam) as [| ne]; [assumption |]. assert (H := strict s lam Ms Ml ne). lra.
- destruct (Req_dec t lam) as [| ne]; [assumption |]. assert (H := strict t lam Mt Ml ne). lra.
Qed.

Theorem lemma_14 : forall X L E0 E1 (u v : X -> R) f M eps0 eps1 eps a s t lam,
  setting L E0 E1 u v f M -> md E0 v f 0 * md E1 v f 0 < 0 ->
  returned (md E0 v f) M eps0 s -> returned (md E1 v f) M eps1 t ->
  returned (md (pooled E0 E1) v f) M eps lam -> best L (pooled E0 E1) u v eps a ->
  eps < Rabs (md (pooled E0 E1) v f 0) ->
  Rabs (pooled E0 E1 (fun x => v x * ensemble f s t x)) <= eps ->
  pooled E0 E1 (fun x => u x * ensemble f s t x) < a.
Proof.
intros X L E0 E1 u v f M eps0 eps1 eps a s t lam S opposite R0 R1 R B unfair feasible.
destruct (lemma_12 X L E0 E1 u v f M eps a s t lam S) as [le eq];
  [apply R0 | apply R1 | exact R | exact B | exact feasible |].
destruct le as [lt | e]; [exact lt |]. apply eq in e. destruct e as [-> ->].
destruct (family X L E0 E1 u v f M S) as [_ inc].
destruct S as [_ [_ [pos [_ [incs _]]]]].
assert (Z0 := side _ M eps0 lam pos (fun p q i j k => proj1 (incs p q i j k)) R0).
assert (Z1 := side _ M eps1 lam pos (fun p q i j k => proj2 (incs p q i j k)) R1).
destruct (side _ M eps lam pos inc R) as [_ [_ Z]]. specialize (Z unfair). exfalso. apply Z.
destruct Z0 as [a0 [b0 _]]. destruct Z1 as [a1 [b1 _]].
destruct (Rtotal_order (md E0 v f 0) 0) as [n | [z | p]]; [| rewrite z in opposite; lra |].
- assert (0 < md E1 v f 0) by nra. destruct (b0 n). destruct (a1 H). lra.
- assert (md E1 v f 0 < 0) by nra. destruct (a0 p). destruct (b1 H). lra.
Qed.

Lemma apart : forall X L E0 E1 (u v : X -> R) f M y z, setting L E0 E1 u v f M ->
  - M <= y <= M -> - M <= z <= M -> md E0 v f y = 0 -> md E1 v f z = 0 ->
  (y < z -> md (pooled E0 E1) v f y < 0 < md (pooled E0 E1) v f z)
  /\ (z < y -> md (pooled E0 E1) v f z < 0 < md (pooled E0 E1) v f y)
  /\ (y = z -> md (pooled E0 E1) v f z = 0 /\ md (pooled E0 E1) v f y = 0).
Proof.
intros X L E0 E1 u v f M y z [_ [_ [_ [_ [inc _]]]]] My Mz a b. unfold md, pooled in *.
split; [| split].
- intros l. destruct (inc y z) as [p q]; lra.
- intros l. destruct (inc z y) as [p q]; lra.
- intros ->. lra.
Qed.

Theorem lemma_15 : forall X L E0 E1 (u v : X -> R) f M eps a lam y z sign,
  setting L E0 E1 u v f M ->
  sign = 1 /\ 0 < md E0 v f 0 /\ 0 < md E1 v f 0 \/ sign = -1 /\ md E0 v f 0 < 0 /\ md E1 v f 0 < 0
    ->
  - M <= y <= M -> - M <= z <= M -> md E0 v f y = 0 -> md E1 v f z = 0 ->
  returned (md (pooled E0 E1) v f) M eps lam -> best L (pooled E0 E1) u v eps a ->
  let tau := Rmin (Rabs (md (pooled E0 E1) v f 0))
    (Rmax (sign * md (pooled E0 E1) v f y) (sign * md (pooled E0 E1) v f z)) in
  (tau <= eps -> exists eps0 eps1 s t,
     returned (md E0 v f) M eps0 s /\ returned (md E1 v f) M eps1 t
     /\ Rabs (pooled E0 E1 (fun x => v x * ensemble f s t x)) <= eps
     /\ pooled E0 E1 (fun x => u x * ensemble f s t x) = a)
  /\ (eps < tau -> forall eps0 eps1 s t,
     returned (md E0 v f) M eps0 s -> returned (md E1 v f) M eps1 t ->
     Rabs (pooled E0 E1 (fun x => v x * ensemble f s t x)) <= eps ->
     pooled E0 E1 (fun x => u x * ensemble f s t x) < a).
Proof.
intros X L E0 E1 u v f M eps a lam y z sign S same My Mz a0 b0 R B tau.
destruct (family X L E0 E1 u v f M S) as [_ inc].
assert (S' := S). destruct S' as [_ [_ [pos [F [incs [one0 one1]]]]]].
assert (inc0 := fun p q i j k => proj1 (incs p q i j k)).
assert (inc1 := fun p q i j k => proj2 (incs p q i j k)).
assert (up : forall g, (forall p q, - M <= p -> p < q -> q <= M -> g p < g q) ->
  forall p q, - M <= p <= M -> - M <= q <= M -> (g p <= g q -> p <= q) /\ (p <= q -> g p <= g q)).
{ intros g H p q P Q. split; intros le.
  - destruct (Rle_lt_dec p q) as [| l]; [assumption |]. specialize (H q p). lra.
  - destruct le as [l | ->]; [left; apply H |]; lra. }
assert (Ml : - M <= lam <= M) by apply R. assert (e01 : 0 <= eps <= 1) by apply R.
destruct (side _ M eps lam pos inc R) as [neg [plus off]].
destruct (clipped eps (md (pooled E0 E1) v f 0) ltac:(lra)) as [bounded which].
assert (E : md (pooled E0 E1) v f lam = clip eps (md (pooled E0 E1) v f 0)) by apply R.
assert (G0 : md (pooled E0 E1) v f 0 = (md E0 v f 0 + md E1 v f 0) / 2) by reflexivity.
assert (inG := up _ inc). assert (in0 := up _ inc0). assert (in1 := up _ inc1).
split.
- intros enough.
  assert (ok : forall g, (forall p q, - M <= p -> p < q -> q <= M -> g p < g q) ->
    -1 <= g 0 <= 1 -> (0 < g 0 /\ lam <= 0 /\ 0 <= g lam \/ g 0 < 0 /\ 0 <= lam /\ g lam <= 0) ->
    returned g M (Rabs (g lam)) lam).
  { intros g H unit [[p [n q]] | [p [n q]]].
    - assert (g lam <= g 0) by (apply (up g H); lra).
      rewrite Rabs_right by lra. split; [lra |]. split; [assumption |].
      unfold clip. rewrite Rmin_left, Rmax_right; lra.
    - assert (g 0 <= g lam) by (apply (up g H); lra).
      rewrite Rabs_left1 by lra. split; [lra |]. split; [assumption |].
      unfold clip. rewrite Rmin_right, Rmax_left; lra. }
  assert (cases : sign = 1 /\ lam <= 0 /\ 0 <= md E0 v f lam /\ 0 <= md E1 v f lam
    \/ sign = -1 /\ 0 <= lam /\ md E0 v f lam <= 0 /\ md E1 v f lam <= 0).
  { assert (zero : Rabs (md (pooled E0 E1) v f 0) <= eps -> lam = 0).
    { intros fair. assert (at0 : md (pooled E0 E1) v f lam = md (pooled E0 E1) v f 0).
      { apply between in fair. destruct which as [[_ c] | [[c _] | [c _]]]; lra. }
      apply Rle_antisym; apply inG; lra. }
    assert (far : eps < Rabs (md (pooled E0 E1) v f 0) ->
      Rmax (sign * md (pooled E0 E1) v f y) (sign * md (pooled E0 E1) v f z) <= eps).
    { intros l. unfold tau, Rmin in enough. destruct (Rle_dec _ _) in enough; lra. }
    assert (m1 := Rmax_l (sign * md (pooled E0 E1) v f y) (sign * md (pooled E0 E1) v f z)).
    assert (m2 := Rmax_r (sign * md (pooled E0 E1) v f y) (sign * md (pooled E0 E1) v f z)).
    destruct (Rle_lt_dec (Rabs (md (pooled E0 E1) v f 0)) eps) as [fair | unfair].
    - rewrite (zero fair). destruct same as [[s [p q]] | [s [p q]]]; [left | right]; lra.
    - specialize (far unfair). destruct same as [[s [p q]] | [s [p q]]]; subst sign; [left | right].
      + rewrite Rabs_right in unfair by lra. destruct neg as [n _]; [lra |].
        assert (at0 : md (pooled E0 E1) v f lam = eps).
        { destruct which as [[c d] | [[c d] | [c d]]]; [apply between in c | |]; lra. }
        assert (y <= lam) by (apply inG; lra). assert (z <= lam) by (apply inG; lra).
        assert (md E0 v f y <= md E0 v f lam) by (apply in0; lra).
        assert (md E1 v f z <= md E1 v f lam) by (apply in1; lra). lra.
      + rewrite Rabs_left in unfair by lra. destruct plus as [n _]; [lra |].
        assert (at0 : md (pooled E0 E1) v f lam = - eps).
        { destruct which as [[c d] | [[c d] | [c d]]]; [apply between in c | |]; lra. }
        assert (lam <= y) by (apply inG; lra). assert (lam <= z) by (apply inG; lra).
        assert (md E0 v f lam <= md E0 v f y) by (apply in0; lra).
        assert (md E1 v f lam <= md E1 v f z) by (apply in1; lra). lra. }
  assert (feasible : Rabs (pooled E0 E1 (fun x => v x * ensemble f lam lam x)) <= eps).
  { destruct (halves X L E0 E1 u v f M lam lam S) as [_ mean].
    rewrite (mean v (or_intror eq_refl)). unfold md in E, bounded. rewrite E.
    replace ((_ + _) / 2) with (clip eps (pooled E0 E1 (fun x => v x * f 0 x))) by field.
    exact bounded. }
  exists (Rabs (md E0 v f lam)), (Rabs (md E1 v f lam)), lam, lam.
  split; [| split; [| split; [exact feasible |]]].
  + apply ok; [exact inc0 | exact one0 |]. destruct cases, same; lra.
  + apply ok; [exact inc1 | exact one1 |]. destruct cases, same; lra.
  + apply (lemma_12 X L E0 E1 u v f M eps a lam lam lam S); auto.
- intros low eps0 eps1 s t R0 R1 feasible.
  destruct (lemma_12 X L E0 E1 u v f M eps a s t lam S) as [le eq];
    [apply R0 | apply R1 | exact R | exact B | exact feasible |].
  destruct le as [lt | e]; [exact lt |]. apply eq in e. destruct e as [-> ->]. exfalso.
  destruct (side _ M eps0 lam pos inc0 R0) as [p0 [n0 _]].
  destruct (side _ M eps1 lam pos inc1 R1) as [p1 [n1 _]].
  assert (l1 : tau <= Rabs (md (pooled E0 E1) v f 0)) by apply Rmin_l.
  assert (l2 := Rmin_r (Rabs (md (pooled E0 E1) v f 0))
    (Rmax (sign * md (pooled E0 E1) v f y) (sign * md (pooled E0 E1) v f z))).
  fold tau in l2. clear neg plus off bounded eq.
  assert (one : eps < sign * md (pooled E0 E1) v f y \/ eps < sign * md (pooled E0 E1) v f z).
  { clear - l2 low. unfold Rmax in l2. destruct (Rle_dec _ _) in l2; [right | left]; lra. }
  clearbody tau. clear l2.
  destruct same as [[sg [p q]] | [sg [p q]]]; subst sign.
  + destruct (p0 p) as [_ k0], (p1 q) as [_ k1]. clear p0 p1 n0 n1.
    rewrite Rabs_right in l1 by lra.
    assert (at0 : md (pooled E0 E1) v f lam = eps).
    { clear one. destruct which as [[c d] | [[c d] | [c d]]]; [apply between in c | |]; lra. }
    clear which E G0.
    assert (y <= lam) by (apply in0; lra). assert (z <= lam) by (apply in1; lra).
    assert (md (pooled E0 E1) v f y <= md (pooled E0 E1) v f lam) by (apply inG; lra).
    assert (md (pooled E0 E1) v f z <= md (pooled E0 E1) v f lam) by (apply inG; lra). lra.
  + destruct (n0 p) as [_ k0], (n1 q) as [_ k1]. clear p0 p1 n0 n1.
    rewrite Rabs_left in l1 by lra.
    assert (at0 : md (pooled E0 E1) v f lam = - eps).
    { clear one. destruct which as [[c d] | [[c d] | [c d]]]; [apply between in c | |]; lra. }
    clear which E G0.
    assert (lam <= y) by (apply in0; lra). assert (lam <= z) by (apply in1; lra).
    assert (md (pooled E0 E1) v f lam <= md (pooled E0 E1) v f y) by (apply inG; lra).
    assert (md (pooled E0 E1) v f lam <= md (pooled E0 E1) v f z) by (apply inG; lra). lra.
Qed.
