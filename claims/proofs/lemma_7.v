(* One budget. E is any linear and monotone functional on a space L of functions: an integral over
  the
   law of (x, a), or a sum. u x is the utility of accepting x, v x its share of the mean difference;
   f accepts where u + lam v > 0, rejects where it is < 0, and may randomise where it is 0. *)
From Coq Require Import Reals Lra List.
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

(* Close: within a function of any small integral. *)
Lemma close : forall X L E (u v : X -> R) lam f g d,
  @integral X L E -> rule L u v f -> rule L u v g ->
  threshold (fun x => u x + lam * v x) f ->
  E (fun x => Rabs (u x + lam * v x) * Rabs (f x - g x)) = 0 ->
  (exists c k, 0 < c /\ L k /\ E k <= d
     /\ forall x, 0 <= k x /\ (Rabs (u x + lam * v x) < c -> 1 <= k x)) ->
  exists m, L m /\ E m <= d /\ forall x, Rabs (f x - g x) <= m x.
Proof.
intros X L E u v lam f g d [lin [ext pos]] [rf [uf vf]] [rg [ug vg]] T Z [c [k [C [lk [ek K]]]]].
destruct (lin 1 (-1) _ _ uf ug) as [a1 _]. destruct (lin 1 (-1) _ _ vf vg) as [b1 _].
destruct (lin 1 lam _ _ a1 b1) as [c1 _].
destruct (ext _ (fun x => Rabs (u x + lam * v x) * Rabs (f x - g x)) c1) as [d1 _].
{ intros x. destruct (T x) as [r [up down]]. rewrite <- (pointwise _ _ _ r up down (rg x)).
ring. }
destruct (lin (/ c) 1 _ _ d1 lk) as [e1 e2].
exists (fun x => / c * (Rabs (u x + lam * v x) * Rabs (f x - g x)) + 1 * k x).
split; [exact e1 | split; [rewrite e2, Z; lra |]]. intros x.
destruct (K x) as [k0 k1]. specialize (rf x). specialize (rg x).
assert (P := Rabs_pos (f x - g x)). assert (Q := Rabs_pos (u x + lam * v x)).
assert (one : Rabs (f x - g x) <= 1) by (apply Rabs_le; lra).
assert (I : 0 < / c) by (apply Rinv_0_lt_compat; exact C).
destruct (Rlt_le_dec (Rabs (u x + lam * v x)) c) as [n | far].
- specialize (k1 n). assert (0 <= / c * (Rabs (u x + lam * v x) * Rabs (f x - g x)))
    by (apply Rmult_le_pos; [lra | apply Rmult_le_pos; assumption]). lra.
- assert (H : 1 * Rabs (f x - g x) <= / c * Rabs (u x + lam * v x) * Rabs (f x - g x)).
  { apply Rmult_le_compat_r; [exact P |]. rewrite <- (Rinv_l c) by lra.
    apply Rmult_le_compat_l; lra. } lra.
Qed.

Theorem unique : forall X L E (u v : X -> R) lam eps free f g h, @integral X L E ->
  rule L u v free -> rule L u v f -> rule L u v g -> rule L u v h ->
  threshold (fun x => u x + 0 * v x) free -> threshold (fun x => u x + lam * v x) f -> 0 <= eps ->
  E (fun x => v x * f x) = clip eps (E (fun x => v x * free x)) ->
  Rabs (E (fun x => v x * g x)) <= eps -> Rabs (E (fun x => v x * h x)) <= eps ->
  E (fun x => u x * g x) = E (fun x => u x * f x) ->
  E (fun x => u x * h x) = E (fun x => u x * f x) -> L (fun x => Rabs (g x - h x)) ->
  (forall t d, t = 0 \/ t = lam -> 0 < d -> exists c k, 0 < c /\ L k /\ E k <= d
     /\ forall x, 0 <= k x /\ (Rabs (u x + t * v x) < c -> 1 <= k x)) ->
  E (fun x => Rabs (g x - h x)) = 0.
Proof.
intros X L E u v lam eps free f g h I R0 Rf Rg Rh T0 Tf pos target Fg Fh eg eh lgh ties.
assert (alike : forall r, rule L u v r -> Rabs (E (fun x => v x * r x)) <= eps ->
  E (fun x => u x * r x) = E (fun x => u x * f x) -> forall d, 0 < d ->
  exists m, L m /\ E m <= d /\ forall x, Rabs (f x - r x) <= m x).
{ intros r Rr Fr er d D.
  destruct (solves X L E u v lam eps free f r I R0 Rf Rr T0 Tf pos target Fr) as [_ same].
  destruct (same er) as [z | [z1 z2]].
  - exact (close X L E u v lam f r d I Rf Rr Tf z (ties lam d (or_intror eq_refl) D)).
  - assert (ok := ties 0 (d / 2) (or_introl eq_refl) ltac:(lra)).
    destruct (close X L E u v 0 free f _ I R0 Rf T0 z1 ok) as [m [lm [em M]]].
    destruct (close X L E u v 0 free r _ I R0 Rr T0 z2 ok) as [n [ln [en N]]].
    destruct I as [lin _]. destruct (lin 1 1 _ _ lm ln) as [a b].
    exists (fun x => 1 * m x + 1 * n x). split; [exact a | split; [rewrite b; lra |]].
    intros x. specialize (M x). specialize (N x).
    replace (f x - r x) with ((free x - r x) + - (free x - f x)) by ring.
    assert (A := Rabs_triang (free x - r x) (- (free x - f x))). rewrite Rabs_Ropp in A. lra. }
destruct I as [lin [ext nonneg]].
assert (0 <= E (fun x => Rabs (g x - h x))) by (apply nonneg; [exact lgh | intros; apply Rabs_pos]).
apply Rle_antisym; [| assumption]. apply Rnot_lt_le. intros P.
destruct (alike g Rg Fg eg (E (fun x => Rabs (g x - h x)) / 4) ltac:(lra)) as [m [lm [em M]]].
destruct (alike h Rh Fh eh (E (fun x => Rabs (g x - h x)) / 4) ltac:(lra)) as [n [ln [en N]]].
destruct (lin 1 1 _ _ lm ln) as [a b]. destruct (lin 1 (-1) _ _ a lgh) as [c e].
assert (Q := nonneg _ c). rewrite e, b in Q. enough (forall x, 0 <= 1 * (1 * m x + 1 * n x)
  + -1 * Rabs (g x - h x)) by (specialize (Q H0); lra).
intros x. specialize (M x). specialize (N x).
replace (g x - h x) with ((f x - h x) + - (f x - g x)) by ring.
assert (A := Rabs_triang (f x - h x) (- (f x - g x))). rewrite Rabs_Ropp in A. lra.
Qed.

Theorem fair : forall X L E (u v : X -> R) eps (rules : list (X -> R)) g, @integral X L E ->
  rules <> nil -> (forall f, In f rules -> rule L u v f /\ threshold u f) ->
  (forall f, rule L u v f -> threshold u f -> Rabs (E (fun x => v x * f x)) <= eps) ->
  rule L u v g ->
  let ensemble x := fold_right (fun f s => f x + s) 0 rules / INR (length rules) in
  Rabs (E (fun x => v x * ensemble x)) <= eps
  /\ E (fun x => u x * g x) <= E (fun x => u x * ensemble x).
Proof.
intros X L E u v eps rules g I some all already Rg ensemble.
assert (N : 0 < INR (length rules)).
{ apply lt_0_INR. destruct rules; [contradiction | apply Nat.lt_0_succ]. }
assert (S : forall l, (forall f, In f l -> rule L u v f /\ threshold u f) -> l <> nil ->
  L (fun x => u x * fold_right (fun f s => f x + s) 0 l)
  /\ L (fun x => v x * fold_right (fun f s => f x + s) 0 l)
  /\ forall x, 0 <= fold_right (fun f s => f x + s) 0 l <= INR (length l)
     /\ (0 < u x -> fold_right (fun f s => f x + s) 0 l = INR (length l))
     /\ (u x < 0 -> fold_right (fun f s => f x + s) 0 l = 0)).
{ destruct I as [lin [ext _]]. induction l as [| f l IH]; [contradiction |]. intros A _.
  destruct (A f (or_introl eq_refl)) as [[r [a b]] T]. destruct l as [| f' l].
  - cbn [fold_right length INR]. split; [| split].
    + apply (ext (fun x => u x * f x)); [exact a | intros; ring].
    + apply (ext (fun x => v x * f x)); [exact b | intros; ring].
    + intros x. destruct (T x) as [t [up down]]. split; [lra |].
      split; intros s; [rewrite (up s) | rewrite (down s)]; ring.
  - destruct IH as [c [d e]]; [intros k i; apply A; now right | discriminate |].
    set (t := f' :: l) in *. cbn [fold_right length]. split; [| split].
    + destruct (lin 1 1 _ _ a c) as [o _]. apply (ext _ _ o). intros. cbn [fold_right]. ring.
    + destruct (lin 1 1 _ _ b d) as [o _]. apply (ext _ _ o). intros. cbn [fold_right]. ring.
    + intros x. destruct (T x) as [w [up down]]. destruct (e x) as [w' [up' down']].
      rewrite S_INR. split; [lra |]. split; intros s;
        [rewrite (up s), (up' s) | rewrite (down s), (down' s)]; ring. }
destruct (S rules all some) as [a [b c]].
assert (T : threshold u ensemble).
{ intros x. unfold ensemble. destruct (c x) as [w [up down]].
  set (s := fold_right (fun f s => f x + s) 0 rules) in *. split; [split |].
  - apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; exact N].
  - apply Rmult_le_reg_r with (INR (length rules)); [exact N |].
    replace (s / INR (length rules) * INR (length rules)) with s by (field; lra). lra.
  - split; intros p; [rewrite (up p) | rewrite (down p)]; field; lra. }
assert (R : rule L u v ensemble).
{ destruct I as [lin [ext _]]. split; [intros x; apply (T x) |]. unfold ensemble. split.
  - destruct (lin (/ INR (length rules)) 0 _ _ a a) as [o _]. apply (ext _ _ o). intros. field. lra.
  - destruct (lin (/ INR (length rules)) 0 _ _ b b) as [o _]. apply (ext _ _ o). intros. field.
    lra. }
split; [exact (already ensemble R T) |].
assert (T' : threshold (fun x => u x + 0 * v x) ensemble).
{ intros x. replace (u x + 0 * v x) with (u x) by ring. exact (T x). }
destruct (identity X L E u v 0 ensemble g I R Rg T') as [P i]. lra.
Qed.

(* The hypotheses of each theorem can hold together. *)
Lemma identity_witness : exists X L E (u v : X -> R) lam f g, (@integral X L E) /\ (rule L u v f)
  /\ (rule L u v g) /\ (threshold (fun x => u x + lam * v x) f).
Proof.
exists unit, (fun _ => True), (fun h => h tt), (fun _ => 1), (fun _ => 0), 0, (fun _ => 1), (fun _ => 1).
unfold integral, rule, threshold. repeat split; intros; auto; lra.
Qed.
Lemma increases_witness : exists X L E (u v : X -> R) lam mu f g, (@integral X L E) /\ (rule L u v
  f) /\ (rule L u v g) /\ (threshold (fun x => u x + lam * v x) f) /\ (threshold (fun x => u x +
  mu * v x) g) /\ (lam < mu).
Proof.
exists unit, (fun _ => True), (fun h => h tt), (fun _ => 1), (fun _ => 0), 0, 1, (fun _ => 1),
  (fun _ => 1). unfold integral, rule, threshold. repeat split; intros; auto; lra.
Qed.
Lemma solves_witness : exists X L E (u v : X -> R) lam eps free f g, (@integral X L E) /\ (rule L
  u v free) /\ (rule L u v f) /\ (rule L u v g) /\ (threshold (fun x => u x + 0 * v x) free) /\
  (threshold (fun x => u x + lam * v x) f) /\ (0 <= eps) /\ (E (fun x => v x * f x) = clip eps (E
  (fun x => v x * free x))) /\ (Rabs (E (fun x => v x * g x)) <= eps)
  /\ E (fun x => u x * g x) = E (fun x => u x * f x).
Proof.
exists unit, (fun _ => True), (fun h => h tt), (fun _ => 1), (fun _ => 0), 0, 0, (fun _ => 1),
  (fun _ => 1), (fun _ => 1). unfold integral, rule, threshold, clip. cbv beta.
rewrite !Rmult_0_l, Rabs_R0, Rmin_left, Rmax_right by lra. repeat split; intros; auto; lra.
Qed.
Lemma unique_witness : exists X L E (u v : X -> R) lam eps free f g h, (@integral X L E) /\ (rule
  L u v free) /\ (rule L u v f) /\ (rule L u v g) /\ (rule L u v h) /\ (threshold (fun x => u x +
  0 * v x) free) /\ (threshold (fun x => u x + lam * v x) f) /\ (0 <= eps) /\ (E (fun x => v x * f
  x) = clip eps (E (fun x => v x * free x))) /\ (Rabs (E (fun x => v x * g x)) <= eps) /\ (Rabs (E
  (fun x => v x * h x)) <= eps) /\ (E (fun x => u x * g x) = E (fun x => u x * f x)) /\ (E (fun x
  => u x * h x) = E (fun x => u x * f x)) /\ (L (fun x => Rabs (g x - h x))) /\ ((forall t d, t =
  0 \/ t = lam -> 0 < d -> exists c k, 0 < c /\ L k /\ E k <= d /\ forall x, 0 <= k x /\ (Rabs (u
  x + t * v x) < c -> 1 <= k x))).
Proof.
exists unit, (fun _ => True), (fun h => h tt), (fun _ => 1), (fun _ => 0), 0, 0, (fun _ => 1),
  (fun _ => 1), (fun _ => 1), (fun _ => 1). unfold integral, rule, threshold, clip. cbv beta.
rewrite !Rmult_0_l, Rabs_R0, Rmin_left, Rmax_right by lra.
repeat split; intros; auto;
  try lra. exists (1/2), (fun _ => 0). repeat split; intros; auto; try lra.
rewrite Rmult_0_r, Rplus_0_r, Rabs_R1 in *. lra.
Qed.
Lemma fair_witness : exists X L E (u v : X -> R) eps (rules : list (X -> R)) g, (@integral X L E)
  /\ (rules <> nil) /\ ((forall f, In f rules -> rule L u v f /\ threshold u f)) /\ ((forall f,
  rule L u v f -> threshold u f -> Rabs (E (fun x => v x * f x)) <= eps)) /\ (rule L u v g).
Proof.
exists unit, (fun _ => True), (fun h => h tt), (fun _ => 1), (fun _ => 0), 0,
  (cons (fun _ => 1) nil), (fun _ => 1). unfold integral, rule, threshold.
repeat split; intros; auto; try lra; try discriminate.
all: try (destruct H as [e | []]; subst; lra). rewrite Rmult_0_l, Rabs_R0. lra.
Qed.

(* Each theorem with one number 1 % better, or one inequality strict, or not, is false. *)
Lemma point : @integral unit (fun _ => True) (fun h => h tt).
Proof. unfold integral. repeat split; intros; auto. Qed.
Lemma identity_sharp : ~ (forall X L E (u v : X -> R) lam f g, @integral X L E -> rule L u v f ->
  rule L u v g -> threshold (fun x => u x + lam * v x) f -> 0 <= E (fun x => Rabs (u x + lam * v x)
  * Rabs (f x - g x)) /\ E (fun x => u x * f x) - E (fun x => u x * g x) = 99 / 100 * E (fun x =>
  Rabs (u x + lam * v x) * Rabs (f x - g x)) - lam * (E (fun x => v x * f x) - E (fun x => v x * g
  x))).
Proof.
intros s. destruct (s unit (fun _ => True) (fun h => h tt) (fun _ => 1) (fun _ => 0) 0 (fun _ => 1)
  (fun _ => 0) point) as [_ e]; unfold rule, threshold; repeat split; intros; auto; try lra.
rewrite !Rabs_right in e; lra.
Qed.
Lemma increases_sharp : ~ (forall X L E (u v : X -> R) lam mu f g, @integral X L E -> rule L u v f
  -> rule L u v g -> threshold (fun x => u x + lam * v x) f -> threshold (fun x => u x + mu * v x)
  g -> lam < mu -> (E (fun x => v x * f x) < E (fun x => v x * g x) \/ E (fun x => v x * g x) =
  0)).
Proof.
intros s. specialize (s unit (fun _ => True) (fun h => h tt) (fun _ => 1) (fun _ => 1) 0 1
  (fun _ => 1) (fun _ => 1) point). enough (1 * 1 < 1 * 1 \/ 1 * 1 = 0) by lra.
apply s; unfold rule, threshold; repeat split; intros; auto; lra.
Qed.
Lemma solves_sharp : ~ (forall X L E (u v : X -> R) lam eps free f g, @integral X L E -> rule L u v
  free -> rule L u v f -> rule L u v g -> threshold (fun x => u x + 0 * v x) free -> threshold (fun
  x => u x + lam * v x) f -> 0 <= eps -> E (fun x => v x * f x) = clip eps (E (fun x => v x * free
  x)) -> Rabs (E (fun x => v x * g x)) <= eps -> (E (fun x => u x * g x) < E (fun x => u x * f x)
  \/ E (fun x => u x * f x) = 0) /\ (E (fun x => u x * g x) = E (fun x => u x * f x) -> E (fun x =>
  Rabs (u x + lam * v x) * Rabs (f x - g x)) = 0 \/ E (fun x => Rabs (u x + 0 * v x) * Rabs (free x
  - f x)) = 0 /\ E (fun x => Rabs (u x + 0 * v x) * Rabs (free x - g x)) = 0)).
Proof.
intros s. destruct (s unit (fun _ => True) (fun h => h tt) (fun _ => 1) (fun _ => 0) 0 0 (fun _ => 1)
  (fun _ => 1) (fun _ => 1) point) as [l _]; unfold rule, threshold;
  repeat split; intros; auto; try lra.
- unfold clip. rewrite Rmin_left, Rmax_right; lra.
- rewrite Rmult_0_l, Rabs_R0. lra.
Qed.
Lemma unique_sharp : ~ (forall X L E (u v : X -> R) lam eps free f g h, @integral X L E -> rule L u
  v free -> rule L u v f -> rule L u v g -> rule L u v h -> threshold (fun x => u x + 0 * v x) free
  -> threshold (fun x => u x + lam * v x) f -> 0 <= eps -> E (fun x => v x * f x) = clip eps (E
  (fun x => v x * free x)) -> Rabs (E (fun x => v x * g x)) <= eps -> Rabs (E (fun x => v x * h x))
  <= eps -> E (fun x => u x * g x) = E (fun x => u x * f x) -> L (fun x => Rabs (g x - h x)) ->
  (forall t d, t = 0 \/ t = lam -> 0 < d -> exists c k, 0 < c /\ L k /\ E k <= d /\ forall x, 0 <=
  k x /\ (Rabs (u x + t * v x) < c -> 1 <= k x)) -> E (fun x => Rabs (g x - h x)) = 0).
Proof.
intros s. specialize (s unit (fun _ => True) (fun h => h tt) (fun _ => 1) (fun _ => 0) 0 0
  (fun _ => 1) (fun _ => 1) (fun _ => 1) (fun _ => 0) point).
enough (Rabs (1 - 0) = 0) as e by (rewrite Rabs_right in e; lra).
apply s; unfold rule, threshold; repeat split; intros; auto; try lra.
- unfold clip. rewrite Rmin_left, Rmax_right; lra.
- rewrite Rmult_0_l, Rabs_R0. lra.
- rewrite Rmult_0_l, Rabs_R0. lra.
- exists (1 / 2), (fun _ => 0). repeat split; try lra. rewrite Rabs_right; lra.
Qed.
Lemma fair_sharp : ~ (forall X L E (u v : X -> R) eps (rules : list (X -> R)) g, @integral X L E ->
  rules <> nil -> (forall f, In f rules -> rule L u v f /\ threshold u f) -> (forall f, rule L u v
  f -> threshold u f -> Rabs (E (fun x => v x * f x)) <= eps) -> rule L u v g -> let ensemble x :=
  fold_right (fun f s => f x + s) 0 rules / INR (length rules) in Rabs (E (fun x => v x * ensemble
  x)) <= eps /\ (E (fun x => u x * g x) < E (fun x => u x * ensemble x) \/ E (fun x => u x *
  ensemble x) = 0)).
Proof.
intros s. destruct (s unit (fun _ => True) (fun h => h tt) (fun _ => 1) (fun _ => 0) 0
  (cons (fun _ => 1) nil) (fun _ => 1) point) as [_ l].
- discriminate.
- intros f [e | []]. subst. unfold rule, threshold. repeat split; intros; auto; lra.
- intros f _ _. rewrite Rmult_0_l, Rabs_R0. lra.
- unfold rule. repeat split; intros; auto; lra.
- simpl in l. lra.
Qed.
