(* McDiarmid's inequality, and the bounds that follow from it. A law takes a function of the outcome
   to its mean; joint puts independent laws together. Every law of finitely many outcomes is one. *)
From Coq Require Import Reals Lra Lia List.
Open Scope R_scope.

Definition law (A : Type) (m : (A -> R) -> R) : Prop :=
  (forall f g, (forall a, f a <= g a) -> m f <= m g)
  /\ (forall c f g, m (fun a => c * f a + g a) = c * m f + m g) /\ m (fun _ => 1) = 1.
Fixpoint joint (A : Type) (ms : list ((A -> R) -> R)) : (list A -> R) -> R :=
  match ms with
  | nil => fun f => f nil
  | cons m more => fun f => m (fun a => joint A more (fun z => f (cons a z)))
  end.
Fixpoint weigh (A : Type) (w : list R) (losses : list (A -> R)) (z : list A) : R :=
  match w, losses, z with
  | cons u w, cons f more, cons a z => u * f a + weigh A w more z
  | _, _, _ => 0
  end.
Definition squares (w : list R) : R := fold_right (fun u x => u * u + x) 0 w.
Definition rate : R := 2.

Lemma law_ext : forall A m f g, law A m -> (forall a, f a = g a) -> m f = m g.
Proof. intros A m f g [mono _] H. apply Rle_antisym; apply mono; intros; rewrite H; lra. Qed.

Lemma law_const : forall A m c, law A m -> m (fun _ => c) = c.
Proof.
intros A m c M. assert (L := M). destruct L as [_ [lin one]].
assert (Z : m (fun _ => 0) = 0).
{ rewrite (law_ext A m _ (fun _ => -1 * 1 + 1)) by (assumption || (intros; ring)).
  rewrite (lin (-1) (fun _ => 1) (fun _ => 1)), one. ring. }
rewrite (law_ext A m _ (fun _ => c * 1 + 0)) by (assumption || (intros; ring)).
rewrite (lin c (fun _ => 1) (fun _ => 0)), one, Z. ring.
Qed.

Lemma law_one : forall A m f b g k, law A m -> (forall a, f a <= b * g a + k) ->
  m f <= b * m g + k.
Proof.
intros A m f b g k M H. assert (L := M). destruct L as [mono [lin _]].
rewrite <- (law_const A m k M) at 1. rewrite <- lin. now apply mono.
Qed.

Lemma law_joint : forall A ms, Forall (law A) ms -> law (list A) (joint A ms).
Proof.
intros A ms H. induction H as [| m more M _ IH]; simpl.
- repeat split; intros; [apply H | reflexivity ..].
- split; [| split].
  + intros f g L. apply M. intros a. apply IH. intros z. apply L.
  + intros c f g. rewrite <- (proj1 (proj2 M)). apply law_ext; [exact M |]. intros a. apply IH.
  + rewrite (law_ext A m _ (fun _ => 1)); [apply M | exact M |]. intros a. apply IH.
Qed.

(* Hoeffding's lemma. *)
Lemma tangent : forall x, 1 + x <= exp x.
Proof.
intros x. destruct (Req_dec x 0) as [-> | n]; [rewrite exp_0; lra | left; now apply exp_ineq1].
Qed.

Lemma mixed_pos : forall p t, 0 <= p <= 1 -> 0 < 1 - p + p * exp t.
Proof.
intros p t P. assert (E := exp_pos t). destruct (Rle_lt_dec 1 (exp t)); nra.
Qed.

Lemma mixed_slope : forall p t, derivable_pt_lim (fun t => 1 - p + p * exp t) t (p * exp t).
Proof.
intros p t. replace (p * exp t) with (0 + p * exp t) by ring.
apply (derivable_pt_lim_plus (fun _ => 1 - p) (fun t => p * exp t));
  [apply derivable_pt_lim_const |].
apply (derivable_pt_lim_scal exp), derivable_pt_lim_exp.
Qed.

Lemma logistic : forall p h, 0 <= p <= 1 -> 0 <= h ->
  p * exp h <= (p + h / 4) * (1 - p + p * exp h).
Proof.
intros p h P [H | <-]; [| rewrite exp_0; lra].
set (A := fun t => 1 - p + p * exp t).
destruct (MVT_cor2 (fun t => (1 - p) / A t)
  (fun t => - ((1 - p) * (p * exp t) / (A t * A t))) 0 h H) as [c [e _]].
- intros t _. replace (- ((1 - p) * (p * exp t) / (A t * A t)))
    with ((0 * A t - p * exp t * (1 - p)) / Rsqr (A t))
    by (unfold Rsqr; field; apply Rgt_not_eq, mixed_pos, P).
  apply (derivable_pt_lim_div (fun _ => 1 - p) A); [apply derivable_pt_lim_const |
    apply mixed_slope | apply Rgt_not_eq, mixed_pos, P].
- assert (a := mixed_pos p c P). assert (b := mixed_pos p h P). fold (A c) in a. fold (A h) in b.
  assert (Z : (1 - p) / A 0 = 1 - p) by (unfold A; rewrite exp_0; field; lra).
  rewrite Z in e. set (q := (1 - p) * (p * exp c) / (A c * A c)) in *.
  assert (Q : q <= / 4).
  { unfold q. apply Rmult_le_reg_r with (A c * A c); [nra |].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l by nra.
    assert (S := Rle_0_sqr ((1 - p) - p * exp c)). unfold Rsqr, A in *. nra. }
  assert (E : (1 - p) / A h >= 1 - p - h / 4) by nra.
  assert (F : (1 - p) / A h * A h = 1 - p) by (field; lra).
  fold (A h). assert (A h = 1 - p + p * exp h) by reflexivity.
  assert (G := Rmult_ge_compat_r (A h) _ _ (Rle_ge _ _ (Rlt_le _ _ b)) E). lra.
Qed.

Lemma curve_up : forall p h, 0 <= p <= 1 -> 0 <= h ->
  (1 - p + p * exp h) * exp (- (p * h + h * h / 8)) <= 1.
Proof.
intros p h P [H | <-].
2:{ rewrite exp_0. replace (- (p * 0 + 0 * 0 / 8)) with 0 by field. rewrite exp_0. lra. }
set (A := fun t => 1 - p + p * exp t). set (B := fun t => - (p * t + t * t / 8)).
destruct (MVT_cor2 (fun t => A t * exp (B t))
  (fun t => p * exp t * exp (B t) + A t * (exp (B t) * - (p + t / 4))) 0 h H) as [c [e [c0 _]]].
- intros t _. apply (derivable_pt_lim_mult A (fun t => exp (B t))); [apply mixed_slope |].
  apply (derivable_pt_lim_comp B exp); [| apply derivable_pt_lim_exp].
  apply (derivable_pt_lim_opp (fun t => p * t + t * t / 8)).
  replace (p + t / 4) with (p * 1 + (1 * t + t * 1) * / 8) by field.
  apply (derivable_pt_lim_plus (fun t => p * t) (fun t => t * t / 8)).
  + apply (derivable_pt_lim_scal id), derivable_pt_lim_id.
  + apply (derivable_pt_lim_ext (fun t => / 8 * (t * t))); [intros; unfold Rdiv; ring |].
    replace ((1 * t + t * 1) * / 8) with (/ 8 * (1 * t + t * 1)) by ring.
    apply (derivable_pt_lim_scal (fun t => t * t)).
    apply (derivable_pt_lim_mult id id); apply derivable_pt_lim_id.
- assert (L := logistic p c P (Rlt_le _ _ c0)). fold (A c) in L. fold (A h) (B h).
  assert (Z : A 0 * exp (B 0) = 1).
  { unfold A, B. rewrite exp_0. replace (- (p * 0 + 0 * 0 / 8)) with 0 by field.
    rewrite exp_0. ring. }
  cbn beta in e. rewrite Z in e. assert (X := exp_pos (B c)).
  assert (N : p * exp c * exp (B c) + A c * (exp (B c) * - (p + c / 4)) <= 0).
  { replace (p * exp c * exp (B c) + A c * (exp (B c) * - (p + c / 4)))
      with (exp (B c) * (p * exp c - (p + c / 4) * A c)) by ring.
    assert (p * exp c - (p + c / 4) * A c <= 0) by lra. nra. }
  nra.
Qed.

Lemma curve : forall p h, 0 <= p <= 1 ->
  (1 - p) * exp (- (h * p)) + p * exp (h * (1 - p)) <= exp (h * h / 8).
Proof.
assert (up : forall p h, 0 <= p <= 1 -> 0 <= h ->
  (1 - p) * exp (- (h * p)) + p * exp (h * (1 - p)) <= exp (h * h / 8)).
{ intros p h P H. assert (C := curve_up p h P H).
  replace (exp (h * (1 - p))) with (exp h * exp (- (h * p)))
    by (rewrite <- exp_plus; f_equal; ring).
  replace (- (p * h + h * h / 8)) with (- (h * p) + - (h * h / 8)) in C by ring.
  rewrite exp_plus, (exp_Ropp (h * h / 8)) in C. assert (X := exp_pos (h * h / 8)).
  apply Rmult_le_reg_r with (/ exp (h * h / 8)); [now apply Rinv_0_lt_compat |].
  rewrite Rinv_r by lra. lra. }
intros p h P. destruct (Rle_lt_dec 0 h) as [H | H]; [now apply up |].
assert (U := up (1 - p) (- h) ltac:(lra) ltac:(lra)).
replace (- h * - h / 8) with (h * h / 8) in U by field.
replace (- (- h * (1 - p))) with (h * (1 - p)) in U by ring.
replace (- h * (1 - (1 - p))) with (- (h * p)) in U by ring. lra.
Qed.

Lemma chord : forall a b x, 0 <= x <= 1 ->
  exp ((1 - x) * a + x * b) <= (1 - x) * exp a + x * exp b.
Proof.
intros a b x X. set (v := (1 - x) * a + x * b).
assert (T : forall u, exp v * (1 + (u - v)) <= exp u).
{ intros u. replace (exp u) with (exp v * exp (u - v)) by (rewrite <- exp_plus; f_equal; ring).
  apply Rmult_le_compat_l; [left; apply exp_pos | apply tangent]. }
assert (A := T a). assert (B := T b). apply Rmult_le_compat_l with (r := 1 - x) in A; [| lra].
apply Rmult_le_compat_l with (r := x) in B; [| lra].
replace (exp v) with ((1 - x) * (exp v * (1 + (a - v))) + x * (exp v * (1 + (b - v))))
  by (unfold v; ring). lra.
Qed.

Lemma hoeffding : forall A (o : A) m f c t, law A m -> 0 <= c ->
  (forall a b, f a - f b <= c) -> m (fun a => exp (t * (f a - m f))) <= exp (t * t * (c * c) / 8).
Proof.
intros A o m f c t M c0 near. assert (L := M). destruct L as [mono [lin one]].
destruct (Req_dec c 0) as [z | nz].
{ assert (E : forall a, f a = m f).
  { intros a. rewrite (law_ext A m f (fun _ => f a) M); [symmetry; now apply law_const |].
    intros b. assert (X := near a b). assert (Y := near b a). lra. }
  rewrite (law_ext A m _ (fun _ => 1) M); [| intros a; rewrite (E a), Rminus_diag_eq, Rmult_0_r by
    reflexivity; apply exp_0].
  rewrite one, z. replace (t * t * (0 * 0) / 8) with 0 by field. rewrite exp_0. lra. }
destruct (completeness (fun y => exists a, y = f a)) as [top [above least]].
{ exists (f o + c). intros y [a ->]. specialize (near a o). lra. }
{ now exists (f o), o. }
assert (in' : forall a, top - c <= f a <= top).
{ intros a. split; [| apply above; now exists a]. enough (top <= f a + c) by lra.
  apply least. intros y [b ->]. specialize (near b a). lra. }
set (lo := top - c) in *. set (p := (m f - lo) / c).
assert (mid : m f = lo + p * c) by (unfold p; field; lra).
assert (P : 0 <= p <= 1).
{ assert (G : lo <= m f <= top).
  { rewrite <- (law_const A m lo M) at 1. rewrite <- (law_const A m top M) at 1.
    split; apply mono; intros; apply in'. }
  unfold p. split.
  - apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra].
  - apply Rmult_le_reg_r with c; [lra |]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
    unfold lo in *. lra. }
set (e1 := exp (- (t * c * p))). set (e2 := exp (t * c * (1 - p))).
apply Rle_trans with ((e2 - e1) / c * m f + (e1 - lo * (e2 - e1) / c)).
- apply law_one; [exact M |]. intros a. set (x := (f a - lo) / c).
  assert (fa : f a = lo + x * c) by (unfold x; field; lra).
  assert (X : 0 <= x <= 1).
  { destruct (in' a) as [u v]. assert (0 < c) by lra. unfold lo in *. nra. }
  replace (t * (f a - m f)) with ((1 - x) * - (t * c * p) + x * (t * c * (1 - p)))
    by (rewrite fa, mid; ring).
  apply Rle_trans with (1 := chord _ _ x X). fold e1 e2. right. rewrite fa. field. lra.
- rewrite mid. replace ((e2 - e1) / c * (lo + p * c) + (e1 - lo * (e2 - e1) / c))
    with ((1 - p) * e1 + p * e2) by (field; lra).
  replace (t * t * (c * c) / 8) with (t * c * (t * c) / 8) by field. now apply curve.
Qed.

(* McDiarmid's inequality: f changes by c_j at most where the j-th outcome alone does. *)
Lemma moment : forall A (o : A) ms cs f t, Forall (law A) ms -> length cs = length ms ->
  Forall (fun c => 0 <= c) cs ->
  (forall pre a b post, (length pre < length cs)%nat ->
    f (pre ++ a :: post) - f (pre ++ b :: post) <= nth (length pre) cs 0) ->
  joint A ms (fun z => exp (t * (f z - joint A ms f))) <= exp (t * t * squares cs / 8).
Proof.
intros A o ms. induction ms as [| m ms IH]; intros cs f t L len pos near.
- simpl. rewrite Rminus_diag_eq, Rmult_0_r by reflexivity. destruct cs; [| discriminate]. simpl.
  replace (t * t * 0 / 8) with 0 by field. lra.
- destruct cs as [| c cs]; [discriminate |]. inversion L as [| ? ? M L']. subst.
  inversion pos as [| ? ? c0 pos']. subst. simpl in len. injection len as len.
  set (phi := fun a => joint A ms (fun z => f (a :: z))).
  assert (J := law_joint A ms L').
  assert (inner : forall a, joint A ms (fun z => exp (t * (f (a :: z) - m phi)))
    <= exp (t * t * squares cs / 8) * exp (t * (phi a - m phi)) + 0).
  { intros a. assert (I := IH cs (fun z => f (a :: z)) t L' len pos').
    apply Rle_trans with (exp (t * (phi a - m phi))
      * joint A ms (fun z => exp (t * (f (a :: z) - phi a))) + 0).
    - apply law_one; [exact J |]. intros z. rewrite Rplus_0_r, <- exp_plus. right. f_equal. ring.
    - rewrite !Rplus_0_r, Rmult_comm. apply Rmult_le_compat_r; [left; apply exp_pos |].
      apply I. intros pre x y post l. apply (near (a :: pre) x y post). simpl. lia. }
  change (joint A (m :: ms) (fun z => exp (t * (f z - joint A (m :: ms) f))))
    with (m (fun a => joint A ms (fun z => exp (t * (f (a :: z) - m phi))))).
  apply Rle_trans with (1 := law_one A m _ _ _ _ M inner).
  assert (H : m (fun a => exp (t * (phi a - m phi))) <= exp (t * t * (c * c) / 8)).
  { apply hoeffding; [exact o | exact M | exact c0 |]. intros a b.
    enough (phi a <= 1 * phi b + c) by lra.
    apply (law_one _ _ (fun z => f (a :: z)) 1 (fun z => f (b :: z)) c J). intros z.
    assert (N := near nil a b z ltac:(simpl; lia)). simpl in N. lra. }
  apply Rmult_le_compat_l with (r := exp (t * t * squares cs / 8)) in H;
    [| left; apply exp_pos].
  rewrite <- exp_plus in H. rewrite Rplus_0_r. simpl squares.
  replace (t * t * (c * c + squares cs) / 8) with (t * t * squares cs / 8 + t * t * (c * c) / 8)
    by field. exact H.
Qed.

Lemma tail : forall A (o : A) ms cs f s, Forall (law A) ms -> length cs = length ms ->
  Forall (fun c => 0 <= c) cs -> 0 < squares cs -> 0 <= s ->
  (forall pre a b post, (length pre < length cs)%nat ->
    f (pre ++ a :: post) - f (pre ++ b :: post) <= nth (length pre) cs 0) ->
  joint A ms (fun z => if Rle_dec (joint A ms f + s) (f z) then 1 else 0)
  <= exp (- (2 * (s * s) / squares cs)).
Proof.
intros A o ms cs f s L len pos V s0 near. set (t := 4 * s / squares cs).
assert (t0 : 0 <= t).
{ unfold t, Rdiv. apply Rmult_le_pos; [lra | left; now apply Rinv_0_lt_compat]. }
assert (M := moment A o ms cs f t L len pos near).
apply Rle_trans with (exp (- (t * s)) * joint A ms (fun z => exp (t * (f z - joint A ms f))) + 0).
- apply law_one; [now apply law_joint |]. intros z. rewrite Rplus_0_r, <- exp_plus.
  destruct (Rle_dec _ _) as [y | n]; [| left; apply exp_pos].
  rewrite <- exp_0. set (e := - (t * s) + t * (f z - joint A ms f)).
  assert (E : 0 <= e) by (unfold e; nra).
  destruct E as [E | <-]; [left; now apply exp_increasing | lra].
- rewrite Rplus_0_r. apply Rmult_le_compat_l with (r := exp (- (t * s))) in M;
    [| left; apply exp_pos]. apply Rle_trans with (1 := M). rewrite <- exp_plus. right. f_equal.
  unfold t. field. lra.
Qed.

Lemma weigh_near : forall A w losses pre a b post,
  Forall (fun f : A -> R => forall a, 0 <= f a <= 1) losses ->
  weigh A w losses (pre ++ a :: post) - weigh A w losses (pre ++ b :: post)
  <= nth (length pre) (map Rabs w) 0.
Proof.
intros A w. induction w as [| u w IH]; intros losses pre a b post B.
- destruct (length pre); simpl; lra.
- destruct losses as [| f losses].
  { simpl. replace (0 - 0) with 0 by ring. assert (H := Rabs_pos u).
    destruct (length pre) as [| k]; [exact H |]. clear. revert k.
    induction w as [| v w IH]; intros [| k]; simpl; try lra; [apply Rabs_pos | apply IH]. }
  inversion B as [| ? ? F B']. subst. destruct pre as [| x pre]; simpl.
  + assert (P := F a). assert (Q := F b). assert (H := Rle_abs u). assert (H' := Rle_abs (- u)).
    rewrite Rabs_Ropp in H'. nra.
  + specialize (IH losses pre a b post B'). lra.
Qed.

Lemma squares_abs : forall w, squares (map Rabs w) = squares w.
Proof.
induction w as [| u w IH]; [reflexivity |].
change (Rabs u * Rabs u + squares (map Rabs w) = u * u + squares w). rewrite IH. f_equal.
fold (Rsqr (Rabs u)) (Rsqr u). now rewrite <- Rsqr_abs.
Qed.

Lemma abs_pos : forall w, Forall (fun c => 0 <= c) (map Rabs w).
Proof. induction w; simpl; constructor; [apply Rabs_pos | assumption]. Qed.

Lemma largest : forall A (o : A) ms w N losses Phi s, Forall (law A) ms -> length w = length ms ->
  0 < squares w -> 0 <= s ->
  (forall h, (h < N)%nat -> Forall (fun f : A -> R => forall a, 0 <= f a <= 1) (losses h)) ->
  (forall z, (forall h, (h < N)%nat ->
      joint A ms (weigh A w (losses h)) - weigh A w (losses h) z <= Phi z)
    /\ exists h, (h < N)%nat
      /\ Phi z = joint A ms (weigh A w (losses h)) - weigh A w (losses h) z) ->
  joint A ms (fun z => if Rle_dec (joint A ms Phi + s) (Phi z) then 1 else 0)
  <= exp (- (2 * (s * s) / squares w)).
Proof.
intros A o ms w N losses Phi s L len V s0 B most. rewrite <- squares_abs.
apply tail; [exact o | exact L | now rewrite map_length | apply abs_pos | now rewrite squares_abs
  | exact s0 |].
intros pre a b post _. destruct (most (pre ++ a :: post)) as [_ [h [I E]]].
destruct (most (pre ++ b :: post)) as [U _]. specialize (U h I).
assert (W := weigh_near A w (losses h) pre b a post (B h I)). lra.
Qed.

Lemma at_risk : forall V risk, 0 < V -> 0 < risk <= 1 ->
  0 <= sqrt (V / 2 * ln (/ risk))
  /\ exp (- (2 * (sqrt (V / 2 * ln (/ risk)) * sqrt (V / 2 * ln (/ risk))) / V)) = risk.
Proof.
intros V risk V0 [r0 r1]. split; [apply sqrt_pos |].
assert (P : 0 <= V / 2 * ln (/ risk)).
{ apply Rmult_le_pos; [lra |]. rewrite ln_Rinv by exact r0.
  destruct r1 as [r1 | ->]; [| rewrite ln_1; lra].
  assert (H := ln_increasing risk 1 r0 r1). rewrite ln_1 in H. lra. }
rewrite sqrt_sqrt by exact P. rewrite ln_Rinv by exact r0.
replace (- (2 * (V / 2 * - ln risk) / V)) with (ln risk) by (field; lra). now apply exp_ln.
Qed.

Theorem one_mixture : forall A (o : A) ms w N losses Phi size bad risk,
  Forall (law A) ms -> length w = length ms -> 0 < squares w -> 0 < risk <= 1 ->
  (forall h, (h < N)%nat -> Forall (fun f : A -> R => forall a, 0 <= f a <= 1) (losses h)
    /\ forall z, weigh A w (losses h) z <= size h z) ->
  (forall z, (forall h, (h < N)%nat ->
      joint A ms (weigh A w (losses h)) - weigh A w (losses h) z <= Phi z)
    /\ exists h, (h < N)%nat
      /\ Phi z = joint A ms (weigh A w (losses h)) - weigh A w (losses h) z) ->
  (forall z, bad z <= 1 /\ ((forall h, (h < N)%nat -> joint A ms (weigh A w (losses h))
      <= size h z + joint A ms Phi + sqrt (squares w / rate * ln (/ risk))) -> bad z <= 0)) ->
  joint A ms bad <= risk.
Proof.
intros A o ms w N losses Phi size bad risk L len V R S most no. unfold rate in no.
destruct (at_risk (squares w) risk V R) as [s0 E].
set (s := sqrt (squares w / 2 * ln (/ risk))) in *. rewrite <- E.
assert (T := largest A o ms w N losses Phi s L len V s0 (fun h I => proj1 (S h I)) most).
apply Rle_trans with (2 := T). apply law_joint; [exact L |]. intros z. destruct (no z) as [b1 b0].
destruct (Rle_dec _ _) as [y | n]; [exact b1 |]. apply b0. intros h I.
destruct (most z) as [U _]. specialize (U h I). assert (W := proj2 (S h I) z). lra.
Qed.

Theorem all_mixtures : forall A (o : A) ms (w : nat -> list R) N losses Phi size bad risk K top,
  Forall (law A) ms -> (0 < K)%nat -> 0 < risk <= 1 ->
  (forall k, (k < K)%nat -> length (w k) = length ms /\ 0 < squares (w k)
    /\ joint A ms (Phi k) + sqrt (squares (w k) / rate * ln (/ (risk / INR K))) <= top
    /\ (forall h, (h < N)%nat -> Forall (fun f : A -> R => forall a, 0 <= f a <= 1) (losses h)
      /\ forall z, weigh A (w k) (losses h) z <= size h z)
    /\ forall z, (forall h, (h < N)%nat ->
        joint A ms (weigh A (w k) (losses h)) - weigh A (w k) (losses h) z <= Phi k z)
      /\ exists h, (h < N)%nat
        /\ Phi k z = joint A ms (weigh A (w k) (losses h)) - weigh A (w k) (losses h) z) ->
  (forall z, bad z <= 1 /\ ((forall k h, (k < K)%nat -> (h < N)%nat ->
      joint A ms (weigh A (w k) (losses h)) <= size h z + top) -> bad z <= 0)) ->
  joint A ms bad <= risk.
Proof.
intros A o ms w N losses Phi size bad risk K top L K0 R S no. unfold rate in S.
assert (J := law_joint A ms L). assert (k0 : 0 < INR K) by now apply lt_0_INR.
set (s := fun k => sqrt (squares (w k) / 2 * ln (/ (risk / INR K)))).
set (hit := fun k z => if Rle_dec (joint A ms (Phi k) + s k) (Phi k z) then 1 else 0).
assert (r1 : 0 < risk / INR K <= 1).
{ split; [apply Rdiv_lt_0_compat; lra |]. apply Rmult_le_reg_r with (INR K); [exact k0 |].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
  assert (1 <= INR K) by now apply (le_INR 1). lra. }
assert (one : forall k, (k < K)%nat -> joint A ms (hit k) <= risk / INR K).
{ intros k I. destruct (S k I) as [len [V [_ [B most]]]].
  destruct (at_risk (squares (w k)) (risk / INR K) V r1) as [s0 E]. rewrite <- E.
  apply (largest A o ms (w k) N losses (Phi k) (s k) L len V s0 (fun h I => proj1 (B h I)) most). }
assert (none : forall z, (forall k, (k < K)%nat -> hit k z = 0) -> bad z <= 0).
{ intros z H. apply (proj2 (no z)). intros k h I I'. destruct (S k I) as [_ [_ [T [B most]]]].
  specialize (H k I). unfold hit in H. destruct (Rle_dec _ _) in H; [lra |].
  assert (U := proj1 (most z) h I'). assert (W := proj2 (B h I') z). fold (s k) in T. lra. }
clear S. set (r := risk / INR K) in *.
enough (G : forall j b, (j <= K)%nat -> (forall z, b z <= 1) ->
  (forall z, (forall k, (k < j)%nat -> hit k z = 0) -> b z <= 0) -> joint A ms b <= INR j * r).
{ replace risk with (INR K * r) by (unfold r; field; lra). apply G; [lia | apply no | exact none]. }
assert (bit : forall k z, hit k z = 0 \/ hit k z = 1).
{ intros k z. unfold hit. destruct (Rle_dec _ _); [now right | now left]. }
induction j as [| j IH]; intros b I b1 b0.
- simpl. rewrite Rmult_0_l. rewrite <- (law_const _ (joint A ms) 0 J). apply J. intros z.
  apply b0. intros. lia.
- assert (H := IH (fun z => b z - hit j z) ltac:(lia)).
  assert (E : joint A ms b = 1 * joint A ms (fun z => b z - hit j z) + joint A ms (hit j)).
  { rewrite <- (proj1 (proj2 J)). apply law_ext; [exact J |]. intros z. ring. }
  rewrite E, S_INR. specialize (one j ltac:(lia)). enough (joint A ms (fun z => b z - hit j z)
    <= INR j * r) by lra. apply H.
  + intros z. specialize (b1 z). destruct (bit j z); lra.
  + intros z Z. specialize (b1 z). destruct (bit j z) as [e | e]; [| lra]. rewrite e.
    enough (b z <= 0) by lra. apply b0. intros k lt. destruct (Nat.eq_dec k j) as [-> | ne];
    [exact e | apply Z; lia].
Qed.

(* The hypotheses of each theorem can hold together. *)
Lemma one_mixture_witness : exists A (o : A) ms w N losses Phi size bad risk, (Forall (law A) ms) /\
  (length w = length ms) /\ (0 < squares w) /\ (0 < risk <= 1) /\ ((forall h, (h < N)%nat ->
  Forall (fun f : A -> R => forall a, 0 <= f a <= 1) (losses h) /\ forall z, weigh A w (losses h)
  z <= size h z)) /\ ((forall z, (forall h, (h < N)%nat -> joint A ms (weigh A w (losses h)) -
  weigh A w (losses h) z <= Phi z) /\ exists h, (h < N)%nat /\ Phi z = joint A ms (weigh A w
  (losses h)) - weigh A w (losses h) z)) /\ ((forall z, bad z <= 1 /\ ((forall h, (h < N)%nat ->
  joint A ms (weigh A w (losses h)) <= size h z + joint A ms Phi + sqrt (squares w / 2 * ln (/
  risk))) -> bad z <= 0))).
Proof.
exists unit, tt, (cons (fun f => f tt) nil), (cons 1 nil), 1%nat, (fun _ => cons (fun _ => 0) nil),
  (fun _ => 0), (fun _ _ => 0), (fun _ => 0), 1.
assert (Z : forall z, weigh unit (cons 1 nil) (cons (fun _ => 0) nil) z = 0).
{ intros [| a z]; simpl; lra. }
split; [constructor; [repeat split; intros; auto | constructor] |]. split; [reflexivity |].
split; [simpl; lra |]. split; [lra |]. split.
{ intros h _. split; [constructor; [intros; lra | constructor] | intros z; rewrite Z; lra]. }
split; [intros z | intros z; split; [lra | intros; lra]]. split.
- intros h _. simpl joint. rewrite !Z. lra.
- exists 0%nat. split; [lia |]. simpl joint. rewrite !Z. lra.
Qed.
Lemma all_mixtures_witness : exists A (o : A) ms (w : nat -> list R) N losses Phi size bad risk K top,
  (Forall (law A) ms) /\ ((0 < K)%nat) /\ (0 < risk <= 1) /\ ((forall k, (k < K)%nat -> length (w
  k) = length ms /\ 0 < squares (w k) /\ joint A ms (Phi k) + sqrt (squares (w k) / 2 * ln (/
  (risk / INR K))) <= top /\ (forall h, (h < N)%nat -> Forall (fun f : A -> R => forall a, 0 <= f
  a <= 1) (losses h) /\ forall z, weigh A (w k) (losses h) z <= size h z) /\ forall z, (forall h,
  (h < N)%nat -> joint A ms (weigh A (w k) (losses h)) - weigh A (w k) (losses h) z <= Phi k z) /\
  exists h, (h < N)%nat /\ Phi k z = joint A ms (weigh A (w k) (losses h)) - weigh A (w k) (losses
  h) z)) /\ ((forall z, bad z <= 1 /\ ((forall k h, (k < K)%nat -> (h < N)%nat -> joint A ms
  (weigh A (w k) (losses h)) <= size h z + top) -> bad z <= 0))).
Proof.
exists unit, tt, (cons (fun f => f tt) nil), (fun _ => cons 1 nil), 1%nat,
  (fun _ => cons (fun _ => 0) nil), (fun _ _ => 0), (fun _ _ => 0), (fun _ => 0), 1, 1%nat,
  (sqrt (squares (cons 1 nil) / 2 * ln (/ (1 / INR 1)))).
assert (Z : forall z, weigh unit (cons 1 nil) (cons (fun _ => 0) nil) z = 0).
{ intros [| a z]; simpl; lra. }
split; [constructor; [repeat split; intros; auto | constructor] |]. split; [lia |].
split; [lra |]. split; [| intros z; split; [lra | intros; lra]].
intros k _. split; [reflexivity |]. split; [simpl; lra |]. split; [simpl joint; lra |]. split.
{ intros h _. split; [constructor; [intros; lra | constructor] | intros z; rewrite Z; lra]. }
intros z. split.
- intros h _. simpl joint. rewrite !Z. lra.
- exists 0%nat. split; [lia |]. simpl joint. rewrite !Z. lra.
Qed.

(* Each theorem with one number 1 % better, or one inequality strict, or not, is false. *)
Lemma rare : exists m : (bool -> R) -> R, law bool m
  /\ forall f, m f = 995 / 1000 * f false + 5 / 1000 * f true.
Proof.
exists (fun f => 995 / 1000 * f false + 5 / 1000 * f true). split; [| auto].
split; [| split; [intros; lra | lra]].
intros f g l. assert (A := l false). assert (B := l true). lra.
Qed.
Lemma one_mixture_sharp : ~ (forall A (o : A) ms w N losses Phi size bad risk, Forall (law A) ms ->
  length w = length ms -> 0 < squares w -> 0 < risk <= 1 -> (forall h, (h < N)%nat -> Forall (fun f
  : A -> R => forall a, 0 <= f a <= 1) (losses h) /\ forall z, weigh A w (losses h) z <= size h z)
  -> (forall z, (forall h, (h < N)%nat -> joint A ms (weigh A w (losses h)) - weigh A w (losses h)
  z <= Phi z) /\ exists h, (h < N)%nat /\ Phi z = joint A ms (weigh A w (losses h)) - weigh A w
  (losses h) z) -> (forall z, bad z <= 1 /\ ((forall h, (h < N)%nat -> joint A ms (weigh A w
  (losses h)) <= size h z + joint A ms Phi + sqrt (squares w / rate * ln (/ risk))) -> bad z <= 0))
  -> joint A ms bad <= 99 / 100 * risk).
Proof.
intros s. destruct rare as (m & L & M).
pose (f := fun b : bool => if b then 1 else 0).
assert (J : joint bool (cons m nil) (weigh bool (cons 1 nil) (cons f nil)) = 5 / 1000).
{ simpl. rewrite M. unfold f. lra. }
assert (P : joint bool (cons m nil)
  (fun z => 5 / 1000 - weigh bool (cons 1 nil) (cons f nil) z) = 0).
{ simpl. rewrite M. unfold f. lra. }
specialize (s bool true (cons m nil) (cons 1 nil) 1%nat (fun _ => cons f nil)
  (fun z => 5 / 1000 - weigh bool (cons 1 nil) (cons f nil) z)
  (fun _ => weigh bool (cons 1 nil) (cons f nil)) (fun z => match z with cons true _ => 0 | _ => 1 end) 1).
cbv beta in s. rewrite J, P, Rinv_1, ln_1, Rmult_0_r, sqrt_0 in s.
assert (B : joint bool (cons m nil) (fun z => match z with cons true _ => 0 | _ => 1 end) <= 99 / 100 * 1).
{ apply s.
  - constructor; [exact L | constructor].
  - reflexivity.
  - simpl. lra.
  - lra.
  - intros h _. split; [| intros; lra]. constructor; [| constructor]. intros []; unfold f; lra.
  - intros z. split; [intros; lra |]. exists 0%nat. split; [auto | reflexivity].
  - intros [| [] z]; (split; [lra |]); intros G; try lra; specialize (G 0%nat (le_n 1));
      simpl in G; unfold f in G; try lra; destruct z; lra. }
simpl in B. rewrite M in B. lra.
Qed.
Lemma all_mixtures_sharp : ~ (forall A (o : A) ms (w : nat -> list R) N losses Phi size bad risk K
  top, Forall (law A) ms -> (0 < K)%nat -> 0 < risk <= 1 -> (forall k, (k < K)%nat -> length (w k)
  = length ms /\ 0 < squares (w k) /\ joint A ms (Phi k) + sqrt (squares (w k) / rate * ln (/ (risk
  / INR K))) <= top /\ (forall h, (h < N)%nat -> Forall (fun f : A -> R => forall a, 0 <= f a <= 1)
  (losses h) /\ forall z, weigh A (w k) (losses h) z <= size h z) /\ forall z, (forall h, (h <
  N)%nat -> joint A ms (weigh A (w k) (losses h)) - weigh A (w k) (losses h) z <= Phi k z) /\
  exists h, (h < N)%nat /\ Phi k z = joint A ms (weigh A (w k) (losses h)) - weigh A (w k) (losses
  h) z) -> (forall z, bad z <= 1 /\ ((forall k h, (k < K)%nat -> (h < N)%nat -> joint A ms (weigh A
  (w k) (losses h)) <= size h z + top) -> bad z <= 0)) -> joint A ms bad <= 99 / 100 * risk).
Proof.
intros s. destruct rare as (m & L & M).
pose (f := fun b : bool => if b then 1 else 0).
assert (J : joint bool (cons m nil) (weigh bool (cons 1 nil) (cons f nil)) = 5 / 1000).
{ simpl. rewrite M. unfold f. lra. }
assert (P : joint bool (cons m nil)
  (fun z => 5 / 1000 - weigh bool (cons 1 nil) (cons f nil) z) = 0).
{ simpl. rewrite M. unfold f. lra. }
specialize (s bool true (cons m nil) (fun _ => cons 1 nil) 1%nat (fun _ => cons f nil)
  (fun _ z => 5 / 1000 - weigh bool (cons 1 nil) (cons f nil) z)
  (fun _ => weigh bool (cons 1 nil) (cons f nil))
  (fun z => match z with cons true _ => 0 | _ => 1 end) 1 1%nat 0).
cbv beta in s. change (INR 1) with 1 in s.
replace (1 / 1) with 1 in s by field. rewrite J, P, Rinv_1, ln_1, Rmult_0_r, sqrt_0 in s by lra.
assert (B : joint bool (cons m nil) (fun z => match z with cons true _ => 0 | _ => 1 end) <= 99 / 100 * 1).
{ apply s.
  - constructor; [exact L | constructor].
  - exact (le_n 1).
  - lra.
  - intros k _. split; [reflexivity |]. split; [simpl; lra |]. split; [lra |]. split.
    + intros h _. split; [| intros; lra]. constructor; [| constructor]. intros []; unfold f; lra.
    + intros z. split; [intros; lra |]. exists 0%nat. split; [auto | reflexivity].
  - intros [| [] z]; (split; [lra |]); intros G; try lra; specialize (G 0%nat 0%nat (le_n 1) (le_n 1));
      simpl in G; unfold f in G; try lra; destruct z; lra. }
simpl in B. rewrite M in B. lra.
Qed.
