(* The conjugate of TERM's mean A f = log (mean of exp (a f)) / a: relative entropy on the simplex.
   xlogx is x log x, and 0 at 0. *)
From Coq Require Import Reals Lra List.
Open Scope R_scope.

Definition total (ks : list nat) (t : nat -> R) : R := fold_right (fun k x => t k + x) 0 ks.
Definition term (n : nat) (a : R) (f : nat -> R) : R :=
  ln (total (seq 0 n) (fun i => exp (a * f i)) / INR n) / a.
Definition xlogx (x : R) : R := if Req_EM_T x 0 then 0 else x * ln x.
Definition penalty (n : nat) (a : R) (v : nat -> R) : R :=
  (total (seq 0 n) (fun i => xlogx (v i)) + ln (INR n)) / a.

Lemma ln_below : forall x, 0 < x -> ln x <= x - 1.
Proof.
intros x P. destruct (Req_dec x 1) as [e | n]; [subst; rewrite ln_1; lra |].
assert (H := exp_ineq1 (ln x)). rewrite exp_ln in H by assumption.
assert (ln x <> 0). { intros z. apply n. rewrite <- (exp_ln x P), z. apply exp_0. }
specialize (H H0). lra.
Qed.

Lemma ln_over : forall x y, 0 < x -> 0 < y -> ln (x / y) = ln x - ln y.
Proof.
intros x y X Y. unfold Rdiv. rewrite ln_mult,
  ln_Rinv by (assumption || now apply Rinv_0_lt_compat). ring.
Qed.

Lemma below : forall ks s t, (forall k, In k ks -> s k <= t k) -> total ks s <= total ks t.
Proof.
intros ks s t H. induction ks as [| k ks IH]; simpl; [lra |].
assert (A := H k (or_introl eq_refl)).
assert (B : total ks s <= total ks t) by (apply IH; intros; apply H; now right). lra.
Qed.

Lemma positive : forall n a f, (0 < n)%nat -> 0 < total (seq 0 n) (fun i => exp (a * f i)).
Proof.
intros n a f N. destruct n as [| n]; [inversion N |]. simpl.
assert (0 <= total (seq 1 n) (fun i => exp (a * f i))).
{ clear. induction (seq 1 n) as [| k ks IH]; simpl; [lra |]. assert (H := exp_pos (a * f k)). lra. }
assert (H0 := exp_pos (a * f 0%nat)). lra.
Qed.

Theorem inside : forall n a v, (0 < n)%nat -> 0 < a -> (forall i, In i (seq 0 n) -> 0 <= v i) ->
  total (seq 0 n) v = 1 ->
  forall f, total (seq 0 n) (fun i => v i * f i) - term n a f <= penalty n a v.
Proof.
intros n a v N A P T f. unfold term, penalty. set (S := total (seq 0 n) (fun i => exp (a * f i))).
assert (Z : 0 < S) by now apply positive.
assert (M : 0 < INR n) by now apply lt_0_INR.
assert (E : total (seq 0 n) (fun i => v i * (a * f i) - xlogx (v i)) <= ln S).
{ apply Rle_trans with (total (seq 0 n) (fun i => exp (a * f i) / S - v i + v i * ln S)).
  - apply below. intros i I. specialize (P i I). unfold xlogx.
    destruct (Req_EM_T (v i) 0) as [z | z].
    + rewrite z. assert (H := exp_pos (a * f i)).
      assert (0 < exp (a * f i) / S) by (apply Rdiv_lt_0_compat; assumption). lra.
    + assert (V : 0 < v i) by lra.
      assert (Q : 0 < exp (a * f i) / (S * v i)) by (apply Rdiv_lt_0_compat; [apply exp_pos | nra]).
      assert (H := ln_below _ Q). unfold Rdiv in H at 1.
      rewrite ln_mult, ln_exp, ln_Rinv, ln_mult in H by
        (assumption || apply exp_pos || nra || (apply Rinv_0_lt_compat; nra)).
      apply (Rmult_le_compat_l (v i)) in H; [| lra].
      replace (v i * (exp (a * f i) / (S * v i) - 1)) with (exp (a * f i) / S - v i) in H
        by (field; lra).
      lra.
  - assert (D : forall ks, total ks (fun i => exp (a * f i) / S - v i + v i * ln S)
      = total ks (fun i => exp (a * f i)) / S - total ks v + total ks v * ln S).
    { intros ks. induction ks; simpl; [field; lra | rewrite IHks; field; lra]. }
    rewrite D, T. fold S. replace (S / S) with 1 by (field; lra). lra. }
assert (F : total (seq 0 n) (fun i => v i * (a * f i) - xlogx (v i))
  = a * total (seq 0 n) (fun i => v i * f i) - total (seq 0 n) (fun i => xlogx (v i))).
{ clear. induction (seq 0 n); simpl; [ring | rewrite IHl; ring]. }
rewrite ln_over by assumption.
apply Rmult_le_reg_l with a; [assumption |].
replace (a * (total (seq 0 n) (fun i => v i * f i) - (ln S - ln (INR n)) / a))
  with (a * total (seq 0 n) (fun i => v i * f i) - ln S + ln (INR n)) by (field; lra).
replace (a * ((total (seq 0 n) (fun i => xlogx (v i)) + ln (INR n)) / a))
  with (total (seq 0 n) (fun i => xlogx (v i)) + ln (INR n)) by (field; lra). lra.
Qed.

Theorem equality : forall n a f, (0 < n)%nat -> 0 < a ->
  let v := fun i => exp (a * f i) / total (seq 0 n) (fun i => exp (a * f i)) in
  total (seq 0 n) (fun i => v i * f i) - term n a f = penalty n a v.
Proof.
intros n a f N A v. unfold term, penalty. set (S := total (seq 0 n) (fun i => exp (a * f i))) in *.
assert (Z : 0 < S) by now apply positive. assert (M : 0 < INR n) by now apply lt_0_INR.
assert (E : forall ks, total ks (fun i => xlogx (v i))
  = a * total ks (fun i => v i * f i) - ln S * total ks v).
{ intros ks. induction ks as [| k ks IH]; simpl; [ring |]. rewrite IH. unfold xlogx.
  assert (V : 0 < v k) by (apply Rdiv_lt_0_compat; [apply exp_pos | exact Z]).
  destruct (Req_EM_T (v k) 0) as [e | _]; [lra |]. unfold v at 2, Rdiv.
  rewrite ln_mult, ln_exp, ln_Rinv by (apply exp_pos || assumption || now apply Rinv_0_lt_compat).
  ring. }
assert (T : total (seq 0 n) v = 1).
{ assert (D : forall ks, total ks v = total ks (fun i => exp (a * f i)) / S).
  { intros ks. induction ks; simpl; [field; lra |]. rewrite IHks. unfold v. field. lra. }
  rewrite D. fold S. field. lra. }
rewrite E, T, ln_over by assumption. field. lra.
Qed.

Theorem approached : forall n a v eps, (0 < n)%nat -> 0 < a -> 0 < eps ->
  (forall i, In i (seq 0 n) -> 0 <= v i) -> total (seq 0 n) v = 1 ->
  exists f, penalty n a v - eps < total (seq 0 n) (fun i => v i * f i) - term n a f.
Proof.
intros n a v eps N A E P T. assert (M : 0 < INR n) by now apply lt_0_INR.
set (d := eps * a / (2 * INR n)). assert (D : 0 < d) by (unfold d; apply Rdiv_lt_0_compat; nra).
exists (fun i => ln (if Req_EM_T (v i) 0 then d else v i) / a). unfold term, penalty.
set (S := total (seq 0 n) (fun i => exp (a * (ln (if Req_EM_T (v i) 0 then d else v i) / a)))).
assert (Z : 0 < S) by now apply (positive n a (fun i => ln (if Req_EM_T (v i) 0 then d else v i) /
  a)).
assert (B : S <= 1 + INR n * d).
{ rewrite <- T. replace (INR n) with (INR (length (seq 0 n))) by now rewrite seq_length.
  unfold S. clear - A P D. induction (seq 0 n) as [| k ks IH]; [simpl; lra |].
  assert (I := IH (fun i H => P i (or_intror H))). specialize (P k (or_introl eq_refl)).
  cbn [total fold_right length]. rewrite S_INR. unfold total in I.
  replace (a * (ln (if Req_EM_T (v k) 0 then d else v k) / a))
    with (ln (if Req_EM_T (v k) 0 then d else v k)) by (field; lra).
  rewrite exp_ln by (destruct (Req_EM_T (v k) 0); lra). destruct (Req_EM_T (v k) 0); lra. }
assert (F : total (seq 0 n) (fun i => v i * (ln (if Req_EM_T (v i) 0 then d else v i) / a))
  = total (seq 0 n) (fun i => xlogx (v i)) / a).
{ clear - A. induction (seq 0 n) as [| k ks IH]; simpl; [field; lra |]. rewrite IH. unfold xlogx.
  destruct (Req_EM_T (v k) 0) as [z | z]; [rewrite z |]; field; lra. }
assert (L : ln S <= INR n * d) by (assert (H := ln_below S Z); lra).
rewrite F, ln_over by assumption.
apply Rmult_lt_reg_l with a; [assumption |].
replace (a * ((total (seq 0 n) (fun i => xlogx (v i)) + ln (INR n)) / a - eps))
  with (total (seq 0 n) (fun i => xlogx (v i)) + ln (INR n) - a * eps) by (field; lra).
replace (a * (total (seq 0 n) (fun i => xlogx (v i)) / a - (ln S - ln (INR n)) / a))
  with (total (seq 0 n) (fun i => xlogx (v i)) - ln S + ln (INR n)) by (field; lra).
assert (INR n * d = eps * a / 2) by (unfold d; field; lra). nra.
Qed.

Theorem outside : forall n a v, (0 < n)%nat -> 0 < a ->
  total (seq 0 n) v <> 1 \/ (exists j, In j (seq 0 n) /\ v j < 0) ->
  forall B, exists f, B < total (seq 0 n) (fun i => v i * f i) - term n a f.
Proof.
intros n a v N A out B. assert (M : 0 < INR n) by now apply lt_0_INR. assert (H := Rle_abs B).
assert (H' := Rabs_pos B).
destruct out as [T | [j [J neg]]].
- set (d := total (seq 0 n) v - 1). assert (D : d <> 0) by (unfold d; lra).
  exists (fun _ => (Rabs B + 1) / d). set (t := (Rabs B + 1) / d).
  assert (E : forall ks x, total ks (fun _ => x) = INR (length ks) * x).
  { intros ks x. induction ks; [simpl; ring |]. cbn [total fold_right length]. rewrite S_INR.
    fold (total ks (fun _ => x)). rewrite IHks. ring. }
  unfold term. rewrite E, seq_length.
  replace (INR n * exp (a * t) / INR n) with (exp (a * t)) by (field; lra). rewrite ln_exp.
  assert (F : total (seq 0 n) (fun i => v i * t) = t * (d + 1)).
  { unfold d. replace (total (seq 0 n) v - 1 + 1) with (total (seq 0 n) v) by ring. clearbody t. clear.
    induction (seq 0 n); simpl; [ring | rewrite IHl; ring]. }
  rewrite F. replace (a * t / a) with t by (field; lra).
  replace (t * (d + 1) - t) with (t * d) by ring.
  replace (t * d) with (Rabs B + 1) by (unfold t; field; assumption). lra.
- set (t := (Rabs B + 1) / - v j).
  assert (P : 0 < t) by (apply Rdiv_lt_0_compat; lra).
  exists (fun i => if Nat.eq_dec i j then - t else 0).
  assert (V : t * - v j = Rabs B + 1) by (unfold t; field; lra).
  assert (S : total (seq 0 n) (fun i => v i * (if Nat.eq_dec i j then - t else 0)) = - t * v j).
  { assert (U := seq_NoDup n 0). revert J U. clear. induction (seq 0 n) as [| k ks IH];
    intros J U; [destruct J |].
    inversion U. subst. simpl. destruct (Nat.eq_dec k j) as [e | e].
    - subst. enough (Z : total ks (fun i => v i * (if Nat.eq_dec i j then - t else 0)) = 0)
      by (rewrite Z; ring).
      clear - H1. induction ks as [| i ks IH]; [reflexivity |]. simpl.
      destruct (Nat.eq_dec i j); [exfalso; subst; apply H1; now left |].
      rewrite IH; [ring | intros K; apply H1; now right].
    - destruct J as [J | J]; [contradiction |]. rewrite IH by assumption. ring. }
  rewrite S. enough (term n a (fun i => if Nat.eq_dec i j then - t else 0) <= 0) by lra.
  unfold term. set (W := total (seq 0 n) (fun i => exp (a * (if Nat.eq_dec i j then - t else 0)))).
  assert (Z : 0 < W) by now apply (positive n a (fun i => if Nat.eq_dec i j then - t else 0)).
  assert (C : W <= INR n).
  { replace (INR n) with (INR (length (seq 0 n))) by now rewrite seq_length. unfold W. clear - A P.
    induction (seq 0 n) as [| k ks IH]; [simpl; lra |]. cbn [total fold_right length]. rewrite S_INR.
    unfold total in IH. assert (exp (a * (if Nat.eq_dec k j then - t else 0)) <= 1).
    { rewrite <- exp_0. destruct (Nat.eq_dec k j); [left; apply exp_increasing; nra |].
      rewrite Rmult_0_r. lra. }
    lra. }
  assert (Q : ln (W / INR n) <= W / INR n - 1) by (apply ln_below, Rdiv_lt_0_compat; assumption).
  assert (R : W / INR n <= 1).
  { apply Rmult_le_reg_l with (INR n);
    [assumption |]. replace (INR n * (W / INR n)) with W by (field; lra). lra. }
  apply Rmult_le_reg_l with a; [assumption |].
  replace (a * (ln (W / INR n) / a)) with (ln (W / INR n)) by (field; lra).
  lra.
Qed.

Lemma shifted : forall n a f K, (0 < n)%nat -> 0 < a -> term n a (fun i => f i + K) = term n a f +
  K.
Proof.
intros n a f K N A. unfold term. assert (M : 0 < INR n) by now apply lt_0_INR.
assert (Z := positive n a f N).
assert (E : forall ks, total ks (fun i => exp (a * (f i + K))) = exp (a * K) * total ks (fun i => exp
  (a *
  f i))).
{ intros ks. induction ks as [| k ks IH]; simpl; [ring |].
  rewrite IH, Rmult_plus_distr_l, exp_plus. ring. }
rewrite E. set (S := total (seq 0 n) (fun i => exp (a * f i))) in *.
replace (exp (a * K) * S / INR n) with (exp (a * K) * (S / INR n)) by (field; lra).
rewrite ln_mult, ln_exp by (apply exp_pos || now apply Rdiv_lt_0_compat). field. lra.
Qed.

Theorem nonnegative : forall n a v, (0 < n)%nat -> 0 < a ->
  (forall i, In i (seq 0 n) -> 0 <= v i) -> total (seq 0 n) v = 1 ->
  forall eps, 0 < eps -> exists f, (forall i, In i (seq 0 n) -> 0 <= f i)
    /\ penalty n a v - eps < total (seq 0 n) (fun i => v i * f i) - term n a f.
Proof.
intros n a v N A P T eps D. destruct (approached n a v eps N A D P T) as [f H].
set (K := total (seq 0 n) (fun i => Rabs (f i))).
exists (fun i => f i + K). split.
- intros i I. enough (- f i <= K) by lra. unfold K. clear - I.
  assert (Z : forall ks, 0 <= total ks (fun i => Rabs (f i))).
  { induction ks as [| k ks Z]; simpl; [lra | assert (B := Rabs_pos (f k)); lra]. }
  induction (seq 0 n) as [| k ks IH]; [destruct I |]. simpl. specialize (Z ks).
  destruct I as [-> | I].
  + assert (B := Rle_abs (- f i)). rewrite Rabs_Ropp in B. lra.
  + specialize (IH I). assert (B := Rabs_pos (f k)). lra.
- rewrite shifted by assumption.
  assert (E : forall ks, total ks (fun i => v i * (f i + K)) = total ks (fun i => v i * f i) + K * total
    ks v).
  { intros ks. induction ks as [| k ks IH]; simpl; [ring | rewrite IH; ring]. }
  rewrite E, T. lra.
Qed.

Theorem raised : forall n a v, (0 < n)%nat -> 0 < a -> (forall i, In i (seq 0 n) -> 0 <= v i) ->
  total (seq 0 n) v < 1 ->
  exists c, 0 < c /\ total (seq 0 n) (fun i => Rmax (v i) c) = 1
  /\ (forall f, (forall i, In i (seq 0 n) -> 0 <= f i) ->
       total (seq 0 n) (fun i => v i * f i) - term n a f <= penalty n a (fun i => Rmax (v i) c))
  /\ exists f, (forall i, In i (seq 0 n) -> 0 <= f i)
       /\ total (seq 0 n) (fun i => v i * f i) - term n a f = penalty n a (fun i => Rmax (v i) c).
Proof.
intros n a v N A P T. assert (M : 0 < INR n) by now apply lt_0_INR.
assert (found : exists c, 0 < c /\ total (seq 0 n) (fun i => Rmax (v i) c) = 1).
{ set (h := fun c => total (seq 0 n) (fun i => Rmax (v i) c)).
  assert (C : continuity (fun c => h c - 1)).
  { apply continuity_minus; [| apply continuity_const; now intros ? ?]. unfold h. clear.
    induction (seq 0 n) as [| k ks IH]; [apply continuity_const; now intros ? ? |].
    cbn [total fold_right]. apply (continuity_plus (fun c => Rmax (v k) c)); [| exact IH].
    intros x eps pos. exists eps. split; [exact pos |]. intros y [_ Y]. simpl in *.
    unfold R_dist in *. apply Rle_lt_trans with (Rabs (y - x)); [| exact Y]. unfold Rmax, Rabs.
    destruct (Rle_dec (v k) y), (Rle_dec (v k) x); repeat destruct (Rcase_abs _); lra. }
  assert (low : h 0 < 1).
  { unfold h. assert (E : total (seq 0 n) (fun i => Rmax (v i) 0) = total (seq 0 n) v); [| lra].
    clear - P. induction (seq 0 n) as [| k ks IH]; simpl; [reflexivity |].
    rewrite IH by (intros; apply P; now right). rewrite Rmax_left; [reflexivity |].
    apply P. now left. }
  assert (high : 1 <= h 1).
  { unfold h. destruct n as [| n]; [inversion N |]. simpl.
    assert (0 <= total (seq 1 n) (fun i => Rmax (v i) 1)).
    { clear. induction (seq 1 n) as [| k ks IH]; simpl; [lra |].
      assert (B := Rmax_r (v k) 1). lra. }
    assert (B := Rmax_r (v 0%nat) 1). lra. }
  destruct (IVT_cor (fun c => h c - 1) 0 1) as [c [I E]]; [exact C | lra | nra |].
  exists c. split; [| fold (h c); lra]. destruct (Req_dec c 0) as [-> |]; lra. }
destruct found as [c [C one]]. exists c. split; [exact C |]. split; [exact one |].
assert (G : forall i, c <= Rmax (v i) c /\ v i <= Rmax (v i) c).
{ intros i. split; [apply Rmax_r | apply Rmax_l]. }
split.
- intros f F. assert (B := inside n a (fun i => Rmax (v i) c) N A
    ltac:(intros i I; destruct (G i); lra) one f).
  enough (total (seq 0 n) (fun i => v i * f i) <= total (seq 0 n) (fun i => Rmax (v i) c * f i)) by lra.
  apply below. intros i I. destruct (G i). specialize (F i I). nra.
- exists (fun i => ln (Rmax (v i) c / c) / a). split.
  + intros i I. destruct (G i) as [g _]. apply Rmult_le_pos; [| left; now apply Rinv_0_lt_compat].
    assert (Q : 1 <= Rmax (v i) c / c).
    { apply Rmult_le_reg_r with c; [exact C |]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
    rewrite <- ln_1. destruct Q as [Q | <-]; [left; apply ln_increasing; lra | lra].
  + unfold term, penalty.
    assert (E1 : forall ks, total ks (fun i => exp (a * (ln (Rmax (v i) c / c) / a)))
      = total ks (fun i => Rmax (v i) c) / c).
    { intros ks. induction ks as [| k ks IH]; simpl; [unfold Rdiv; ring |]. rewrite IH.
      replace (a * (ln (Rmax (v k) c / c) / a)) with (ln (Rmax (v k) c / c)) by (field; lra).
      rewrite exp_ln; [field; lra |]. destruct (G k). apply Rdiv_lt_0_compat; lra. }
    rewrite E1, one.
    assert (E2 : forall ks, total ks (fun i => v i * (ln (Rmax (v i) c / c) / a))
      = (total ks (fun i => xlogx (Rmax (v i) c)) - ln c * total ks (fun i => Rmax (v i) c)) / a).
    { intros ks. induction ks as [| k ks IH]; simpl; [field; lra |]. rewrite IH.
      destruct (G k) as [g _]. unfold xlogx at 2. destruct (Req_EM_T (Rmax (v k) c) 0); [lra |].
      rewrite ln_over by lra. unfold Rmax in *. destruct (Rle_dec (v k) c); field; lra. }
    rewrite E2, one, !ln_over, ln_1 by (assumption || lra || now apply Rdiv_lt_0_compat; lra).
    field. lra.
Qed.

Theorem near : forall n a f M, (0 < n)%nat -> 0 < a -> (forall i, In i (seq 0 n) -> f i <= M) ->
  (exists j, In j (seq 0 n) /\ f j = M) -> M - ln (INR n) / a <= term n a f <= M.
Proof.
intros n a f M N A F [j [J e]]. assert (K : 0 < INR n) by now apply lt_0_INR.
assert (Z := positive n a f N). unfold term. set (S := total (seq 0 n) (fun i => exp (a * f i))) in *.
assert (up : forall x y, 0 < x -> x <= y -> ln x <= ln y).
{ intros x y X [l | ->]; [left; now apply ln_increasing | lra]. }
assert (top : S <= INR n * exp (a * M)).
{ unfold S. replace (INR n) with (INR (length (seq 0 n))) by (now rewrite seq_length). clear - F A.
  induction (seq 0 n) as [| k ks IH]; [simpl; lra |]. cbn [total fold_right length]. rewrite S_INR.
  assert (B := IH (fun i I => F i (or_intror I))). assert (C := F k (or_introl eq_refl)).
  assert (D : exp (a * f k) <= exp (a * M)).
  { destruct C as [C | ->]; [left; apply exp_increasing; nra | lra]. }
  unfold total in B. lra. }
assert (one : exp (a * M) <= S).
{ unfold S. rewrite <- e. clear - J. assert (Z : forall ks, 0 <= total ks (fun i => exp (a * f i))).
  { intros ks. induction ks as [| k ks Z]; simpl; [lra |]. assert (B := exp_pos (a * f k)). lra. }
  induction (seq 0 n) as [| k ks IH]; [destruct J |]. simpl. specialize (Z ks).
  destruct J as [-> | J]; [lra |]. specialize (IH J). assert (B := exp_pos (a * f k)). lra. }
assert (P := exp_pos (a * M)). rewrite ln_over by assumption.
assert (l1 := up _ _ P one). rewrite ln_exp in l1.
assert (l2 := up _ _ Z top). rewrite ln_mult, ln_exp in l2 by assumption.
assert (I : 0 < / a) by now apply Rinv_0_lt_compat. unfold Rdiv.
replace (M - ln (INR n) * / a) with ((a * M - ln (INR n)) * / a) by (field; lra).
replace M with (a * M * / a) at 2 by (field; lra).
split; apply Rmult_le_compat_r; lra.
Qed.

(* The hypotheses of each theorem can hold together. *)
Lemma inside_witness : exists n a v, ((0 < n)%nat) /\ (0 < a) /\ ((forall i, In i (seq 0 n) -> 0
  <= v i)) /\ (total (seq 0 n) v = 1).
Proof.
exists 1%nat, 1, (fun _ => 1). repeat split; try apply Nat.lt_0_1; try lra; try (intros; lra). unfold total. simpl. lra.
Qed.
Lemma equality_witness : exists n a, ((0 < n)%nat) /\ (0 < a).
Proof.
exists 1%nat, 1. split; [apply Nat.lt_0_1 | lra].
Qed.
Lemma approached_witness : exists n a v eps, ((0 < n)%nat) /\ (0 < a) /\ (0 < eps) /\ ((forall i,
  In i (seq 0 n) -> 0 <= v i)) /\ (total (seq 0 n) v = 1).
Proof.
exists 1%nat, 1, (fun _ => 1), 1. repeat split; try apply Nat.lt_0_1; try lra; try (intros; lra). unfold total. simpl.
lra.
Qed.
Lemma outside_witness : exists n a v, ((0 < n)%nat) /\ (0 < a) /\ (total (seq 0 n) v <> 1 \/ (exists
  j, In j (seq 0 n) /\ v j < 0)).
Proof.
exists 1%nat, 1, (fun _ => 0). repeat split; try apply Nat.lt_0_1; try lra. left. unfold total. simpl. lra.
Qed.
Lemma nonnegative_witness : exists n a v, ((0 < n)%nat) /\ (0 < a) /\ ((forall i, In i (seq 0 n)
  -> 0 <= v i)) /\ (total (seq 0 n) v = 1) /\ exists eps, (0 < eps) /\ exists i, In i (seq 0 n).
Proof.
exists 1%nat, 1, (fun _ => 1). repeat split; try apply Nat.lt_0_1; try lra; try (intros; lra).
- unfold total. simpl. lra.
- exists 1. split; [lra | exists 0%nat; simpl; auto].
Qed.
Lemma raised_witness : (exists n a v, (0 < n)%nat /\ 0 < a
  /\ (forall i, In i (seq 0 n) -> 0 <= v i) /\ total (seq 0 n) v < 1
  /\ exists f : nat -> R, forall i, In i (seq 0 n) -> 0 <= f i)
  /\ exists n a v, (0 < n)%nat /\ 0 < a /\ (forall i, In i (seq 0 n) -> 0 <= v i)
  /\ total (seq 0 n) v < 1 /\ exists i, In i (seq 0 n).
Proof.
split; exists 1%nat, 1, (fun _ => 0); (split; [apply Nat.lt_0_1 |]); (split; [lra |]);
  (split; [intros; lra |]); (split; [unfold total; simpl; lra |]).
- exists (fun _ => 0). intros. lra.
- exists 0%nat. simpl. auto.
Qed.
Lemma near_witness : exists n a f M, ((0 < n)%nat) /\ (0 < a) /\ ((forall i, In i (seq 0 n) -> f i
  <= M)) /\ ((exists j, In j (seq 0 n) /\ f j = M)).
Proof.
exists 1%nat, 1, (fun _ => 0), 0. repeat split; try apply Nat.lt_0_1; try lra; try (intros; lra). exists 0%nat. simpl. auto.
Qed.

(* Each theorem with one number 1 % better, or one inequality strict, or not, is false. *)
Lemma one_client : forall a f, total (seq 0 1) (fun i => 1 * f i) - term 1 a f = f 0%nat - (a * f 0%nat) / a.
Proof. intros a f. unfold term. simpl. rewrite !Rplus_0_r. unfold Rdiv. rewrite Rinv_1, Rmult_1_r, ln_exp. lra. Qed.
Lemma corner : exists v, (forall i, In i (seq 0 2) -> 0 <= v i) /\ total (seq 0 2) v = 1
  /\ penalty 2 1 v = ln 2 /\ 0 < ln 2.
Proof.
exists (fun i => match i with O => 1 | S _ => 0 end). split; [intros [| i] _; simpl; lra |]. split; [simpl; lra |].
split; [| rewrite <- ln_1; apply ln_increasing; lra].
unfold penalty, xlogx. simpl. destruct (Req_EM_T 1 0), (Req_EM_T 0 0); try lra.
rewrite ln_1. replace (1 + 1) with 2 by lra. lra.
Qed.
Lemma inside_sharp : ~ (forall n a v, (0 < n)%nat -> 0 < a -> (forall i, In i (seq 0 n) -> 0 <= v
  i) -> total (seq 0 n) v = 1 -> forall f, total (seq 0 n) (fun i => v i * f i) - term n a f <
  penalty n a v).
Proof.
intros s. specialize (s 1%nat 1 (fun _ => 1) (le_n 1) ltac:(lra) ltac:(intros; lra)
  ltac:(simpl; lra) (fun _ => 0)). rewrite one_client in s. unfold penalty, xlogx in s. simpl in s.
destruct (Req_EM_T 1 0); rewrite ?ln_1 in s; lra.
Qed.
Lemma equality_sharp : ~ (forall n a f, (0 < n)%nat -> 0 < a -> let v := fun i => exp (a * f i) /
  total (seq 0 n) (fun i => exp (a * f i)) in 99 / 100 * total (seq 0 n) (fun i => v i * f i) -
  term n a f = penalty n a v).
Proof.
intros s. assert (e := s 1%nat 1 (fun _ => 1) (le_n 1) ltac:(lra)).
assert (E := equality 1 1 (fun _ => 1) (le_n 1) ltac:(lra)). cbv beta zeta in *.
assert (Z : total (seq 0 1) (fun i => exp (1 * 1) / total (seq 0 1) (fun i => exp (1 * 1)) * 1) = 1);
  [| rewrite Z in *; lra].
simpl. field. assert (p := exp_pos (1 * 1)). lra.
Qed.
Lemma approached_sharp : ~ (forall n a v eps, (0 < n)%nat -> 0 < a -> 0 < eps -> (forall i, In i
  (seq 0 n) -> 0 <= v i) -> total (seq 0 n) v = 1 -> exists f, 101 / 100 * penalty n a v - eps <
  total (seq 0 n) (fun i => v i * f i) - term n a f).
Proof.
intros s. destruct corner as (v & A & B & C & D).
destruct (s 2%nat 1 v (ln 2 / 100) (le_S _ _ (le_n 1)) ltac:(lra) ltac:(lra) A B) as [f F].
assert (E := inside 2 1 v (le_S _ _ (le_n 1)) ltac:(lra) A B f). lra.
Qed.
Lemma outside_sharp : ~ (forall n a v, (0 <= n)%nat -> 0 < a -> total (seq 0 n) v <> 1 \/ (exists
  j, In j (seq 0 n) /\ v j < 0) -> forall B, exists f, B < total (seq 0 n) (fun i => v i * f i) -
  term n a f).
Proof.
intros s. destruct (s O 1 (fun _ => 0) (le_n 0) ltac:(lra) ltac:(left; simpl; lra)
  (- term 0 1 (fun _ => 0))) as [f F]. unfold term in F. simpl in F. lra.
Qed.
Lemma nonnegative_sharp : ~ (forall n a v, (0 < n)%nat -> 0 < a -> (forall i, In i (seq 0 n) -> 0
  <= v i) -> total (seq 0 n) v = 1 -> forall eps, 0 < eps -> exists f, (forall i, In i (seq 0 n) ->
  0 <= f i) /\ 101 / 100 * penalty n a v - eps < total (seq 0 n) (fun i => v i * f i) - term n a
  f).
Proof.
intros s. destruct corner as (v & A & B & C & D).
destruct (s 2%nat 1 v (le_S _ _ (le_n 1)) ltac:(lra) A B (ln 2 / 100) ltac:(lra)) as [f [_ F]].
assert (E := inside 2 1 v (le_S _ _ (le_n 1)) ltac:(lra) A B f). lra.
Qed.
Lemma raised_sharp : ~ (forall n a v, (0 < n)%nat -> 0 < a -> (forall i, In i (seq 0 n) -> 0 <= v
  i) -> total (seq 0 n) v < 1 -> exists c, 0 < c /\ total (seq 0 n) (fun i => Rmax (v i) c) = 1 /\
  (forall f, (forall i, In i (seq 0 n) -> 0 <= f i) -> total (seq 0 n) (fun i => v i * f i) - term
  n a f < penalty n a (fun i => Rmax (v i) c)) /\ exists f, (forall i, In i (seq 0 n) -> 0 <= f i)
  /\ total (seq 0 n) (fun i => v i * f i) - term n a f = penalty n a (fun i => Rmax (v i) c)).
Proof.
intros s. destruct (s 1%nat 1 (fun _ => 0) (le_n 1) ltac:(lra) ltac:(intros; lra)
  ltac:(simpl; lra)) as (c & _ & _ & l & f & F & e). specialize (l f F). lra.
Qed.
Lemma near_sharp : ~ (forall n a f M, (0 < n)%nat -> 0 < a -> (forall i, In i (seq 0 n) -> f i <=
  M) -> (exists j, In j (seq 0 n) /\ f j = M) -> M - 99 / 100 * (ln (INR n) / a) <= term n a f <=
  M).
Proof.
intros s. destruct corner as (_ & _ & _ & _ & D).
assert (E : ln 2 < 1).
{ rewrite <- (ln_exp 1). apply ln_increasing; [lra |]. assert (x := exp_ineq1 1). lra. }
assert (F : ln (ln 2 / 100) < 0) by (rewrite <- ln_1; apply ln_increasing; lra).
specialize (s 2%nat 1 (fun i => match i with O => 0 | S _ => ln (ln 2 / 100) end) 0
  (le_S _ _ (le_n 1)) ltac:(lra) ltac:(intros [| i] _; lra) ltac:(exists 0%nat; simpl; auto)).
unfold term in s. simpl in s. rewrite !Rmult_1_l, exp_0, exp_ln in s by lra.
replace (1 + 1) with 2 in s by lra.
change ((1 + (ln 2 / 100 + 0)) / 2) with ((1 + (ln 2 / 100 + 0)) * / 2) in s.
rewrite ln_mult, ln_Rinv in s by lra.
assert (G : ln (1 + (ln 2 / 100 + 0)) < ln 2 / 100); [| lra].
rewrite <- (ln_exp (ln 2 / 100)) at 2. apply ln_increasing; [lra |].
assert (x := exp_ineq1 (ln 2 / 100)). lra.
Qed.
