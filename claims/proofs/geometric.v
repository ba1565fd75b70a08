(* The conjugate of PropFair's mean A f = M - (product of the n utilities M - f_i)^(1/n), written in
   the utilities u_i = M - f_i >= 0: v.f - A f = M (sum v - 1) - (v.u - G), G the geometric mean. *)
From Coq Require Import Reals Lra Lia List.
Open Scope R_scope.

Definition total (ks : list nat) (t : nat -> R) : R := fold_right (fun k x => t k + x) 0 ks.
Definition product (ks : list nat) (t : nat -> R) : R := fold_right (fun k x => t k * x) 1 ks.
Definition geometric (n : nat) (u : nat -> R) (G : R) : Prop :=
  0 <= G /\ G ^ n = product (seq 0 n) u.

Lemma ln_below : forall x m, 0 < x -> 0 < m -> ln x <= ln m + x / m - 1.
Proof.
intros x m X P. assert (Q : 0 < x / m) by now apply Rdiv_lt_0_compat.
assert (L : ln (x / m) = ln x - ln m).
{ unfold Rdiv. rewrite ln_mult, ln_Rinv by (assumption || now apply Rinv_0_lt_compat). ring. }
destruct (Req_dec (ln (x / m)) 0) as [z | z].
- assert (x / m = 1) by (rewrite <- (exp_ln _ Q), z; apply exp_0). lra.
- assert (H := exp_ineq1 _ z). rewrite exp_ln in H by assumption. lra.
Qed.

Lemma ln_product : forall ks t, (forall i, In i ks -> 0 < t i) ->
  0 < product ks t /\ ln (product ks t) = total ks (fun i => ln (t i)).
Proof.
intros ks t P. induction ks as [| k ks IH]; simpl; [split; [lra | apply ln_1] |].
destruct IH as [p e]; [intros; apply P; now right |]. assert (Q := P k (or_introl eq_refl)).
split; [now apply Rmult_lt_0_compat | rewrite ln_mult, e by assumption; reflexivity].
Qed.

Theorem inside : forall n v u G, (0 < n)%nat -> (forall i, In i (seq 0 n) -> 0 < v i) ->
  1 <= product (seq 0 n) (fun i => INR n * v i) -> (forall i, In i (seq 0 n) -> 0 <= u i) ->
  geometric n u G -> G <= total (seq 0 n) (fun i => v i * u i).
Proof.
intros n v u G N V T U [pos root]. assert (M : 0 < INR n) by now apply lt_0_INR.
assert (S0 : 0 <= total (seq 0 n) (fun i => v i * u i)).
{ clear - V U. induction (seq 0 n) as [| k ks IH]; simpl; [lra |].
  assert (0 <= total ks (fun i => v i * u i)) by (apply IH; intros; [apply V | apply U]; now right).
  specialize (V k (or_introl eq_refl)). specialize (U k (or_introl eq_refl)). nra. }
destruct (Req_dec G 0) as [z | nz]; [lra |]. assert (P : 0 < G) by lra.
assert (U' : forall i, In i (seq 0 n) -> 0 < u i).
{ assert (R : product (seq 0 n) u <> 0) by (rewrite <- root; apply pow_nonzero; lra).
  clear - U R. intros i I. destruct (U i I) as [l | e]; [exact l | exfalso]. apply R.
  clear R U. induction (seq 0 n) as [| k ks IH]; [destruct I |]. simpl.
  destruct I as [q | I]; [subst; rewrite <- e; ring | rewrite IH by assumption; ring]. }
set (m := total (seq 0 n) (fun i => v i * u i)) in *.
assert (m0 : 0 < m).
{ unfold m. destruct n as [| n]; [lia |]. simpl.
  assert (0 < v 0%nat * u 0%nat) by (apply Rmult_lt_0_compat; [apply V | apply U']; now left).
  assert (H0 : forall i, In i (seq 1 n) -> 0 < v i * u i).
  { intros i I. apply Rmult_lt_0_compat; [apply V | apply U']; now right. }
  assert (0 <= total (seq 1 n) (fun i => v i * u i)).
  { clear - H0. induction (seq 1 n) as [| k ks IH]; simpl; [lra |].
    assert (A := H0 k (or_introl eq_refl)).
    assert (0 <= total ks (fun i => v i * u i)) by (apply IH; intros; apply H0; now right). lra. }
  lra. }
destruct (ln_product (seq 0 n) u U') as [_ Lu].
destruct (ln_product (seq 0 n) (fun i => INR n * v i)) as [_ Lv].
{ intros i I. apply Rmult_lt_0_compat; [assumption | now apply V]. }
assert (Z : 0 <= total (seq 0 n) (fun i => ln (INR n * v i))).
{ rewrite <- Lv, <- ln_1. destruct T as [T | T]; [left; apply ln_increasing; lra | rewrite <- T;
  lra]. }
assert (Lg : INR n * ln G = total (seq 0 n) (fun i => ln (u i))).
{ rewrite <- Lu, <- root. clear - P. induction n as [| n IH]; [simpl; rewrite ln_1; ring |].
  rewrite S_INR. simpl pow. rewrite ln_mult, <- IH by (assumption || now apply pow_lt). ring. }
assert (J : total (seq 0 n) (fun i => ln (INR n * v i)) + total (seq 0 n) (fun i => ln (u i))
  <= INR n * ln m + INR n * m / m - INR n).
{ assert (K : forall ks, (forall i, In i ks -> 0 < v i /\ 0 < u i) ->
    total ks (fun i => ln (INR n * v i)) + total ks (fun i => ln (u i))
    <= INR (length ks) * ln m + INR n * total ks (fun i => v i * u i) / m - INR (length ks)).
  { intros ks. induction ks as [| k ks IH]; intros Q; [simpl; unfold Rdiv; lra |].
    assert (I := IH (fun i H => Q i (or_intror H))). destruct (Q k (or_introl eq_refl)) as [a b].
    assert (H := ln_below (INR n * v k * u k) m ltac:(repeat apply Rmult_lt_0_compat;
      assumption) m0).
    rewrite ln_mult in H by (assumption || now apply Rmult_lt_0_compat).
    cbn [total fold_right length]. rewrite S_INR. unfold total in I. unfold Rdiv in *. nra. }
  assert (F := K (seq 0 n) (fun i I => conj (V i I) (U' i I))). rewrite seq_length in F. exact F. }
replace (INR n * m / m) with (INR n) in J by (field; lra).
destruct (Rle_lt_dec G m) as [| bad]; [assumption | exfalso].
assert (ln m < ln G) by now apply ln_increasing. nra.
Qed.

Theorem beyond : forall n v, (0 < n)%nat -> (forall i, In i (seq 0 n) -> 0 < v i) ->
  product (seq 0 n) (fun i => INR n * v i) < 1 ->
  forall B, exists u G, (forall i, In i (seq 0 n) -> 0 <= u i) /\ geometric n u G
    /\ B < G - total (seq 0 n) (fun i => v i * u i).
Proof.
intros n v N V T B. assert (M : 0 < INR n) by now apply lt_0_INR.
assert (W : forall i, In i (seq 0 n) -> 0 < INR n * v i) by (intros; apply Rmult_lt_0_compat; auto).
destruct (ln_product (seq 0 n) (fun i => INR n * v i) W) as [p L].
set (P := product (seq 0 n) (fun i => INR n * v i)) in *. set (r := exp (- ln P / INR n)).
assert (neg : ln P < 0) by (rewrite <- ln_1; now apply ln_increasing).
assert (big : 1 < r).
{ unfold r. rewrite <- exp_0. apply exp_increasing. unfold Rdiv.
  apply Rmult_lt_0_compat; [lra | now apply Rinv_0_lt_compat]. }
assert (rn : r ^ n * P = 1).
{ assert (E : forall k, r ^ k = exp (INR k * (- ln P / INR n))).
  { intros k. induction k as [| k IH]; [simpl; now rewrite Rmult_0_l, exp_0 |].
    simpl pow. rewrite IH. unfold r at 1. rewrite <- exp_plus, S_INR. f_equal. ring. }
  rewrite E. replace (INR n * (- ln P / INR n)) with (- ln P) by (field; lra).
  rewrite exp_Ropp, exp_ln by assumption. field. lra. }
set (c := (Rabs B + 1) / (r - 1)). assert (H := Rle_abs B). assert (H' := Rabs_pos B).
assert (C : 0 < c) by (apply Rdiv_lt_0_compat; lra).
exists (fun i => c / (INR n * v i)), (c * r). split; [| split; [split |]].
- intros i I. left. apply Rdiv_lt_0_compat; auto.
- nra.
- assert (Q : forall ks, (forall i, In i ks -> 0 < INR n * v i) ->
    product ks (fun i => c / (INR n * v i)) * product ks (fun i => INR n * v i) = c ^ length ks).
  { intros ks. induction ks as [| k ks IH]; intros K; [simpl;
    ring |]. cbn [product fold_right length pow].
    rewrite <- IH by (intros; apply K; now right). assert (A := K k (or_introl eq_refl)).
    assert (v k <> 0) by (intros z; rewrite z in A; lra). unfold product. field. repeat split;
      lra. }
  specialize (Q (seq 0 n) W). rewrite seq_length in Q. fold P in Q. rewrite Rpow_mult_distr.
  apply Rmult_eq_reg_r with P; [| lra]. rewrite Rmult_assoc, rn, Q. ring.
- assert (E : forall ks, (forall i, In i ks -> 0 < v i) ->
    total ks (fun i => v i * (c / (INR n * v i))) = INR (length ks) * (c / INR n)).
  { intros ks. induction ks as [| k ks IH]; intros K; [simpl; ring |]. cbn [total fold_right length].
    rewrite S_INR. unfold total in IH. rewrite IH by (intros; apply K; now right).
    assert (A := K k (or_introl eq_refl)). field. lra. }
  rewrite (E (seq 0 n) V), seq_length. replace (INR n * (c / INR n)) with c by (field; lra).
  replace (c * r - c) with (c * (r - 1)) by ring.
  replace (c * (r - 1)) with (Rabs B + 1) by (unfold c; field; lra). lra.
Qed.

Theorem signed : forall n v, (exists j, In j (seq 0 n) /\ v j <= 0) ->
  forall B, exists u G, (forall i, In i (seq 0 n) -> 0 <= u i) /\ geometric n u G
    /\ B < G - total (seq 0 n) (fun i => v i * u i).
Proof.
intros n v [j [J neg]] B. set (T := total (seq 0 n) (fun i => Rabs (v i))).
assert (T0 : 0 <= T).
{ unfold T. clear. induction (seq 0 n) as [| k ks IH]; simpl; [lra |].
  assert (A := Rabs_pos (v k)). lra. }
assert (H := Rle_abs B). assert (H' := Rabs_pos B). set (s := Rabs B + T + 1).
assert (P : 0 <= s ^ n) by (apply pow_le; unfold s; lra).
exists (fun i => if Nat.eq_dec i j then s ^ n else 1), s. split; [| split; [split |]].
- intros i _. destruct (Nat.eq_dec i j); lra.
- unfold s. lra.
- assert (U := seq_NoDup n 0). revert J U. generalize (s ^ n). clear. intros x.
  induction (seq 0 n) as [| k ks IH]; intros J U; [destruct J |]. inversion U. subst. simpl.
  destruct (Nat.eq_dec k j) as [e | e].
  + subst. enough (Z : product ks (fun i => if Nat.eq_dec i j then x else 1) = 1) by (rewrite Z;
    ring).
    clear - H1. induction ks as [| i ks IH]; [reflexivity |]. simpl.
    destruct (Nat.eq_dec i j); [exfalso; subst; apply H1; now left |].
    rewrite IH; [ring | intros K; apply H1; now right].
  + destruct J as [J | J]; [contradiction |]. rewrite <- IH by assumption. ring.
- assert (L : total (seq 0 n) (fun i => v i * (if Nat.eq_dec i j then s ^ n else 1)) <= T).
  { unfold T. revert P. generalize (s ^ n). clear - neg. intros x P.
  induction (seq 0 n) as [| k ks IH]; simpl; [lra |].
    assert (A := Rle_abs (v k)). assert (A' := Rabs_pos (v k)).
    destruct (Nat.eq_dec k j) as [e | e].
    - subst k. assert (v j * x <= 0) by nra. lra.
    - lra. }
  unfold s in *. lra.
Qed.

Theorem topped : forall n v M, (0 < n)%nat -> 0 < M -> (forall i, In i (seq 0 n) -> 0 < v i) ->
  1 <= product (seq 0 n) (fun i => INR n * v i) ->
  (forall f G, (forall i, In i (seq 0 n) -> f i <= M) -> geometric n (fun i => M - f i) G ->
     total (seq 0 n) (fun i => v i * f i) - (M - G) <= M * (total (seq 0 n) v - 1))
  /\ geometric n (fun _ => M - M) 0
  /\ total (seq 0 n) (fun i => v i * M) - (M - 0) = M * (total (seq 0 n) v - 1).
Proof.
intros n v M N P V T. split; [| split; [split |]].
- intros f G F H.
  assert (B := inside n v (fun i => M - f i) G N V T ltac:(intros i I; specialize (F i I); lra) H).
  cbn beta in B. enough (E : total (seq 0 n) (fun i => v i * f i)
    = M * total (seq 0 n) v - total (seq 0 n) (fun i => v i * (M - f i))) by lra.
  clear. induction (seq 0 n) as [| k ks IH]; simpl; [ring |]. rewrite IH. ring.
- lra.
- destruct n as [| n]; [lia |]. simpl. ring.
- enough (E : total (seq 0 n) (fun i => v i * M) = M * total (seq 0 n) v) by lra.
  clear. induction (seq 0 n) as [| k ks IH]; simpl; [ring |]. rewrite IH. ring.
Qed.

Theorem capped : forall n lam v M c, (0 < n)%nat -> 0 < M -> 0 < c ->
  (forall i, In i (seq 0 n) -> v i = Rmax (lam i) c) ->
  product (seq 0 n) (fun i => INR n * v i) = 1 ->
  (forall f G, (forall i, In i (seq 0 n) -> 0 <= f i <= M) -> geometric n (fun i => M - f i) G ->
     total (seq 0 n) (fun i => lam i * f i) - (M - G) <= M * (total (seq 0 n) v - 1))
  /\ (forall i, In i (seq 0 n) -> 0 <= M * (1 - c / v i) <= M)
  /\ geometric n (fun i => M - M * (1 - c / v i)) (INR n * M * c)
  /\ total (seq 0 n) (fun i => lam i * (M * (1 - c / v i))) - (M - INR n * M * c)
     = M * (total (seq 0 n) v - 1).
Proof.
intros n lam v M c N P C cap T. assert (K : 0 < INR n) by now apply lt_0_INR.
assert (V : forall i, In i (seq 0 n) -> c <= v i /\ lam i <= v i).
{ intros i I. rewrite (cap i I). split; [apply Rmax_r | apply Rmax_l]. }
assert (F0 : forall i, In i (seq 0 n) -> 0 <= M * (1 - c / v i) <= M).
{ intros i I. destruct (V i I) as [a _]. assert (0 < c / v i) by (apply Rdiv_lt_0_compat; lra).
  assert (c / v i <= 1).
  { apply Rmult_le_reg_r with (v i); [lra |]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  nra. }
split; [| split; [exact F0 | split; [split |]]].
- intros f G F H. destruct (topped n v M N P) as [B _];
    [intros i I; destruct (V i I); lra | lra |].
  specialize (B f G (fun i I => proj2 (F i I)) H).
  enough (total (seq 0 n) (fun i => lam i * f i) <= total (seq 0 n) (fun i => v i * f i)) by lra.
  clear - V F. induction (seq 0 n) as [| k ks IH]; simpl; [lra |].
  assert (A : total ks (fun i => lam i * f i) <= total ks (fun i => v i * f i))
    by (apply IH; intros; [apply V | apply F]; now right).
  destruct (V k (or_introl eq_refl)). destruct (F k (or_introl eq_refl)). nra.
- apply Rmult_le_pos; [apply Rmult_le_pos |]; lra.
- assert (Q : forall ks, (forall i, In i ks -> 0 < v i) ->
    product ks (fun i => M - M * (1 - c / v i)) * product ks (fun i => INR n * v i)
    = (INR n * M * c) ^ length ks).
  { intros ks. induction ks as [| k ks IH]; intros W; [simpl; ring |].
    cbn [product fold_right length pow]. rewrite <- IH by (intros; apply W; now right).
    assert (A := W k (or_introl eq_refl)). unfold product. field. lra. }
  specialize (Q (seq 0 n)). rewrite seq_length, T, Rmult_1_r in Q. symmetry. apply Q.
  intros i I. destruct (V i I). lra.
- assert (E : forall ks, (forall i, In i ks -> c <= v i /\ v i = Rmax (lam i) c) ->
    total ks (fun i => lam i * (M * (1 - c / v i))) = M * total ks v - INR (length ks) * M * c).
  { intros ks. induction ks as [| k ks IH]; intros W; [simpl; ring |].
    cbn [total fold_right length]. rewrite S_INR. unfold total in IH.
    rewrite IH by (intros; apply W; now right). destruct (W k (or_introl eq_refl)) as [a e].
    unfold Rmax in e. destruct (Rle_dec (lam k) c) in e; rewrite e; [| unfold total; field; lra].
    unfold total. replace (c / c) with 1 by (field; lra). ring. }
  rewrite (E (seq 0 n)), seq_length; [ring |]. intros i I. destruct (V i I). split; [lra | auto].
Qed.

Theorem raised : forall n lam, (0 < n)%nat ->
  (forall i, In i (seq 0 n) -> 0 < lam i) /\ 1 <= product (seq 0 n) (fun i => INR n * lam i)
  \/ exists c, 0 < c /\ product (seq 0 n) (fun i => INR n * Rmax (lam i) c) = 1.
Proof.
intros n lam N. assert (K : 0 < INR n) by now apply lt_0_INR.
set (h := fun c => product (seq 0 n) (fun i => INR n * Rmax (lam i) c)).
assert (C : continuity (fun c => h c - 1)).
{ apply continuity_minus; [| apply continuity_const; now intros ? ?]. unfold h.
  induction (seq 0 n) as [| k ks IH]; [apply continuity_const; now intros ? ? |]. cbn [product
  fold_right].
  apply (continuity_mult (fun c => INR n * Rmax (lam k) c)); [| exact IH].
  apply (continuity_mult (fun _ => INR n)); [apply continuity_const; now intros ? ? |].
  intros x eps pos. exists eps. split; [exact pos |]. intros y [_ Y]. simpl in *. unfold R_dist in
    *.
  apply Rle_lt_trans with (Rabs (y - x)); [| exact Y]. unfold Rmax, Rabs.
  destruct (Rle_dec (lam k) y), (Rle_dec (lam k) x); repeat destruct (Rcase_abs _); lra. }
assert (top : 1 <= h (/ INR n)).
{ unfold h. clear - K. induction (seq 0 n) as [| k ks IH]; simpl; [lra |].
  assert (1 <= INR n * Rmax (lam k) (/ INR n)).
  { assert (e : INR n * / INR n = 1) by (apply Rinv_r; lra).
    assert (le := Rmult_le_compat_l (INR n) _ _ (Rlt_le _ _ K) (Rmax_r (lam k) (/ INR n))). lra. }
  rewrite <- (Rmult_1_l 1). apply Rmult_le_compat; [lra | lra | lra | exact IH]. }
assert (B : 0 < / INR n) by now apply Rinv_0_lt_compat.
assert (D : h 0 < 1 \/ (forall i, In i (seq 0 n) -> 0 < lam i) /\ 1 <= h 0).
{ destruct (Rlt_le_dec (h 0) 1) as [l | l]; [now left | right]. split; [| exact l].
  assert (Z : h 0 <> 0) by lra. unfold h in Z. clear - Z. intros i I.
  induction (seq 0 n) as [| k ks IH]; [destruct I |]. simpl in Z. destruct I as [e | I].
  - subst. apply Rnot_le_lt. intros neg. apply Z. rewrite Rmax_right by exact neg. ring.
  - apply IH; [| exact I]. intros z. apply Z. rewrite z. ring. }
destruct D as [low | [pos high]].
- right. destruct (IVT_cor (fun c => h c - 1) 0 (/ INR n)) as [c [I E]];
    [exact C | lra | nra |].
  exists c. split; [| fold (h c); lra]. destruct (Req_dec c 0) as [-> |]; lra.
- left. split; [exact pos |]. unfold h in high. clear - pos high.
  enough (E : product (seq 0 n) (fun i => INR n * lam i)
    = product (seq 0 n) (fun i => INR n * Rmax (lam i) 0)) by lra.
  clear high. induction (seq 0 n) as [| k ks IH]; simpl; [reflexivity |].
  rewrite IH by (intros; apply pos; now right). rewrite Rmax_left; [reflexivity |].
  left. apply pos. now left.
Qed.

(* The hypotheses of each theorem can hold together. *)
Lemma inside_witness : exists n v u G, ((0 < n)%nat) /\ ((forall i, In i (seq 0 n) -> 0 < v i)) /\
  (1 <= product (seq 0 n) (fun i => INR n * v i)) /\ ((forall i, In i (seq 0 n) -> 0 <= u i)) /\
  (geometric n u G).
Proof.
exists 1%nat, (fun _ => 1), (fun _ => 1), 1. repeat split; try lia; intros; unfold product; simpl; lra.
Qed.
Lemma beyond_witness : exists n v, ((0 < n)%nat) /\ ((forall i, In i (seq 0 n) -> 0 < v i)) /\
  (product (seq 0 n) (fun i => INR n * v i) < 1) /\ exists i, In i (seq 0 n).
Proof.
exists 1%nat, (fun _ => 1/2). split; [lia |]. split; [intros; lra |].
split; [unfold product; simpl; lra | exists 0%nat; simpl; auto].
Qed.
Lemma signed_witness : exists n v, (exists j, In j (seq 0 n) /\ v j <= 0)
  /\ exists i, In i (seq 0 n).
Proof.
exists 1%nat, (fun _ => 0). split; exists 0%nat; simpl; [split; [auto | lra] | auto].
Qed.
Lemma topped_witness : exists n v M, ((0 < n)%nat) /\ (0 < M) /\ ((forall i, In i (seq 0 n) -> 0 <
  v i)) /\ (1 <= product (seq 0 n) (fun i => INR n * v i)) /\ exists f G,
  (forall i, In i (seq 0 n) -> f i <= M) /\ geometric n (fun i => M - f i) G.
Proof.
exists 1%nat, (fun _ => 1), 1. split; [lia |]. split; [lra |]. split; [intros; lra |].
split; [unfold product; simpl; lra |]. exists (fun _ => 0), 1. split; [intros; lra |].
unfold geometric, product. simpl. split; lra.
Qed.
Lemma capped_witness : (exists n lam v M c, (0 < n)%nat /\ 0 < M /\ 0 < c
  /\ (forall i, In i (seq 0 n) -> v i = Rmax (lam i) c)
  /\ product (seq 0 n) (fun i => INR n * v i) = 1 /\ exists f G,
  (forall i, In i (seq 0 n) -> 0 <= f i <= M) /\ geometric n (fun i => M - f i) G)
  /\ exists n lam v M c, (0 < n)%nat /\ 0 < M /\ 0 < c
  /\ (forall i, In i (seq 0 n) -> v i = Rmax (lam i) c)
  /\ product (seq 0 n) (fun i => INR n * v i) = 1 /\ exists i, In i (seq 0 n).
Proof.
split; exists 1%nat, (fun _ => 0), (fun _ => 1), 1, 1; (split; [lia |]); (split; [lra |]);
  (split; [lra |]); (split; [intros; rewrite Rmax_right; lra |]);
  (split; [unfold product; simpl; lra |]).
- exists (fun _ => 0), 1. split; [intros; lra |]. unfold geometric, product. simpl. split; lra.
- exists 0%nat. simpl. auto.
Qed.
Lemma raised_witness : exists n, (0 < n)%nat /\ exists i, In i (seq 0 n).
Proof. exists 1%nat. split; [lia | exists 0%nat; simpl; auto]. Qed.

(* Each theorem with one number 1 % better, or one inequality strict, or not, is false. *)
Lemma geometric_one : forall u, 0 <= u 0%nat -> geometric 1 u (u 0%nat).
Proof. intros u p. split; [exact p | simpl; lra]. Qed.
Lemma inside_sharp : ~ (forall n v u G, (0 < n)%nat -> (forall i, In i (seq 0 n) -> 0 < v i) -> 1
  <= product (seq 0 n) (fun i => INR n * v i) -> (forall i, In i (seq 0 n) -> 0 <= u i) ->
  geometric n u G -> G < total (seq 0 n) (fun i => v i * u i) \/ total (seq 0 n) (fun i => v i * u
  i) = 0).
Proof.
intros s. enough (1 < 1 * 1 + 0 \/ 1 * 1 + 0 = 0) by lra.
apply (s 1%nat (fun _ => 1) (fun _ => 1) 1); auto; intros; try (simpl; lra).
apply (geometric_one (fun _ => 1)). lra.
Qed.
Lemma beyond_sharp : ~ (forall n v, (0 < n)%nat -> (forall i, In i (seq 0 n) -> 0 < v i) -> product
  (seq 0 n) (fun i => INR n * v i) <= 1 -> forall B, exists u G, (forall i, In i (seq 0 n) -> 0 <=
  u i) /\ geometric n u G /\ B < G - total (seq 0 n) (fun i => v i * u i)).
Proof.
intros s. destruct (s 1%nat (fun _ => 1) ltac:(auto) ltac:(intros; lra) ltac:(simpl; lra) 0)
  as (u & G & _ & [_ e] & l). simpl in *. lra.
Qed.
Lemma signed_sharp : ~ (forall n v, forall B, exists u G, (forall i, In i (seq 0 n) -> 0 <= u i) /\
  geometric n u G /\ B < G - total (seq 0 n) (fun i => v i * u i)).
Proof.
intros s. destruct (s 1%nat (fun _ => 1) 0) as (u & G & _ & [_ e] & l). simpl in *. lra.
Qed.
Lemma topped_sharp : ~ (forall n v M, (0 < n)%nat -> 0 < M -> (forall i, In i (seq 0 n) -> 0 < v i)
  -> 1 <= product (seq 0 n) (fun i => INR n * v i) -> (forall f G, (forall i, In i (seq 0 n) -> f i
  <= M) -> geometric n (fun i => M - f i) G -> total (seq 0 n) (fun i => v i * f i) - (M - G) < M *
  (total (seq 0 n) v - 1)) /\ geometric n (fun _ => M - M) 0 /\ total (seq 0 n) (fun i => v i * M)
  - (M - 0) = M * (total (seq 0 n) v - 1)).
Proof.
intros s. destruct (s 1%nat (fun _ => 1) 1 ltac:(auto) ltac:(lra) ltac:(intros; lra)
  ltac:(simpl; lra)) as [l _]. specialize (l (fun _ => 1) (1 - 1) ltac:(intros; lra)).
simpl in l. enough (1 * 1 + 0 - (1 - (1 - 1)) < 1 * (1 + 0 - 1)) by lra. apply l.
apply (geometric_one (fun _ => 1 - 1)). lra.
Qed.
Lemma capped_sharp : ~ (forall n lam v M c, (0 < n)%nat -> 0 < M -> 0 < c -> (forall i, In i (seq 0
  n) -> v i = Rmax (lam i) c) -> product (seq 0 n) (fun i => INR n * v i) = 1 -> (forall f G,
  (forall i, In i (seq 0 n) -> 0 <= f i <= M) -> geometric n (fun i => M - f i) G -> total (seq 0
  n) (fun i => lam i * f i) - (M - G) < M * (total (seq 0 n) v - 1)) /\ (forall i, In i (seq 0 n)
  -> 0 <= M * (1 - c / v i) <= M) /\ geometric n (fun i => M - M * (1 - c / v i)) (INR n * M * c)
  /\ total (seq 0 n) (fun i => lam i * (M * (1 - c / v i))) - (M - INR n * M * c) = M * (total (seq
  0 n) v - 1)).
Proof.
intros s. destruct (s 1%nat (fun _ => 1) (fun _ => 1) 1 1 ltac:(auto) ltac:(lra) ltac:(lra)
  ltac:(intros; rewrite Rmax_left; lra) ltac:(simpl; lra)) as [l _].
specialize (l (fun _ => 1) (1 - 1) ltac:(intros; lra)).
simpl in l. enough (1 * 1 + 0 - (1 - (1 - 1)) < 1 * (1 + 0 - 1)) by lra. apply l.
apply (geometric_one (fun _ => 1 - 1)). lra.
Qed.
Lemma raised_sharp : ~ (forall n lam, (0 < n)%nat -> (forall i, In i (seq 0 n) -> 0 < lam i) /\ 1
  <= product (seq 0 n) (fun i => INR n * lam i) \/ exists c, 0 < c /\ product (seq 0 n) (fun i =>
  INR n * Rmax (lam i) c) = 99 / 100 * 1).
Proof.
intros s. destruct (s 1%nat (fun _ => 995 / 1000) ltac:(auto)) as [[_ l] | (c & _ & e)]; simpl in *.
- lra.
- assert (A := Rmax_l (995 / 1000) c). lra.
Qed.
