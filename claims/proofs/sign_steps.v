(* Steps of the sign of F towards its zero: F is positive before it, negative behind it. p t is
   lambda after t updates, a t the length of update t. used a s T is the sum of a t, s <= t < T.
   updates is FedFB's (9) for two groups, where mu = (-F, F). Steps
   fall slowly where each is at most ratio times the next. *)
From Coq Require Import Reals Lra Lia.
Open Scope R_scope.

Fixpoint used (a : nat -> R) (s n : nat) : R :=
  match n with O => 0 | S m => used a s m + a (s + m)%nat end.
Definition steps (a p : nat -> R) (zero : R) : Prop := forall t,
  0 <= a t /\ (p t < zero -> p (S t) = p t + a t) /\ (zero < p t -> p (S t) = p t - a t)
  /\ (p t = zero -> Rabs (p (S t) - zero) <= a t).
Definition ratio : R := 2.
Definition updates (alpha l0 l1 : nat -> R) (F : R -> R -> R) : Prop := forall t,
  let f := F (l0 t) (l1 t) in let norm := sqrt (- f * - f + f * f) in
  0 <= alpha t /\ l0 (S t) = l0 t + alpha t / norm * - f
  /\ l1 (S t) = l1 t + alpha t / norm * f.

Lemma one : forall a p zero t, steps a p zero ->
  Rabs (p (S t) - zero) <= Rmax (Rabs (p t - zero) - a t) (a t).
Proof.
intros a p zero t S. destruct (S t) as [A [U [D E]]].
destruct (Rtotal_order (p t) zero) as [n | [e | m]].
- rewrite (U n), (Rabs_left (p t - zero)) by lra. unfold Rabs.
destruct (Rcase_abs (p t + a t - zero)).
  + eapply Rle_trans; [| apply Rmax_l]. lra.
  + eapply Rle_trans; [| apply Rmax_r]. lra.
- eapply Rle_trans; [exact (E e) | apply Rmax_r].
- rewrite (D m), (Rabs_right (p t - zero)) by lra. unfold Rabs.
destruct (Rcase_abs (p t - a t - zero)).
  + eapply Rle_trans; [| apply Rmax_r]. lra.
  + eapply Rle_trans; [| apply Rmax_l]. lra.
Qed.

Lemma bounded : forall a p zero n T, steps a p zero ->
  Rabs (p (n + T)%nat - zero) <= Rabs (p n - zero) - used a n T
  \/ exists s, (s < T)%nat
     /\ Rabs (p (n + T)%nat - zero) <= a (n + s)%nat - used a (S (n + s)) (T - S s).
Proof.
intros a p zero n T S. induction T as [| T IH].
- left. rewrite Nat.add_0_r. simpl. lra.
- replace (n + Datatypes.S T)%nat with (Datatypes.S (n + T)) by lia.
  assert (H := one a p zero (n + T) S).
  destruct (Rle_dec (a (n + T)%nat) (Rabs (p (n + T)%nat - zero) - a (n + T)%nat)) as [order |
    order].
  + rewrite Rmax_left in H by assumption. destruct IH as [IH | [s [l IH]]].
    * left. simpl. lra.
    * right. exists s. split; [lia |].
    replace (Datatypes.S T - Datatypes.S s)%nat with (Datatypes.S (T - Datatypes.S s)) by lia.
      cbn [used]. replace (Datatypes.S (n + s) + (T - Datatypes.S s))%nat with (n + T)%nat by lia.
      lra.
  + rewrite Rmax_right in H by lra. right. exists T. split; [lia |].
    rewrite Nat.sub_diag. simpl. lra.
Qed.
Theorem bound : forall a p zero n T, steps a p zero ->
  Rabs (p (n + T)%nat - zero) <= Rabs (p n - zero) - used a n T
  \/ exists s r, T = S (s + r)
     /\ Rabs (p (n + T)%nat - zero) <= a (n + s)%nat - used a (S (n + s)) r.
Proof.
intros a p zero n T st. destruct (bounded a p zero n T st) as [l | (s & l & B)]; [now left | right].
exists s, (T - S s)%nat. split; [lia | exact B].
Qed.

Theorem slowly : forall a p zero T, steps a p zero -> (forall t, a t <= ratio * a (S t)) ->
  Rabs (p (S T) - zero) <= Rmax (Rabs (p O - zero) - used a 0 (S T)) (a T).
Proof.
intros a p zero T S slow. induction T as [| T IH].
- assert (H := one a p zero 0 S). simpl. now rewrite Rplus_0_l.
- assert (H := one a p zero (Datatypes.S T) S). specialize (slow T). unfold ratio in slow.
  eapply Rle_trans; [exact H |]. apply Rmax_lub; [| apply Rmax_r].
  apply Rmax_Rle in IH. destruct IH as [IH | IH].
  + eapply Rle_trans; [| apply Rmax_l]. change (used a 0 (Datatypes.S (Datatypes.S T)))
      with (used a 0 (Datatypes.S T) + a (Datatypes.S T)). lra.
  + eapply Rle_trans; [| apply Rmax_r]. lra.
Qed.

Theorem limit : forall a p zero, steps a p zero -> Un_cv a 0 ->
  (forall n B, exists T, B <= used a n T) -> Un_cv p zero.
Proof.
intros a p zero S small endless eps P. destruct (small eps P) as [n N].
destruct (endless n (Rabs (p n - zero))) as [T0 far].
exists (n + T0)%nat. intros m M. unfold R_dist.
assert (pos : forall s k, 0 <= used a s k).
{ intros s k. induction k; simpl; [lra |]. destruct (S (s + k)%nat). lra. }
replace m with (n + (m - n))%nat by lia.
assert (more : used a n T0 <= used a n (m - n)).
{ replace (m - n)%nat with (T0 + (m - n - T0))%nat by lia. generalize (m - n - T0)%nat.
  induction n0; [rewrite Nat.add_0_r; lra |]. rewrite Nat.add_succ_r. simpl.
  destruct (S (n + (T0 + n0))%nat). lra. }
destruct (bounded a p zero n (m - n) S) as [H | [s [l H]]]; [lra |].
eapply Rle_lt_trans; [exact H |].
assert (Q := pos (Datatypes.S (n + s)) (m - n - Datatypes.S s)%nat).
assert (A := N (n + s)%nat ltac:(lia)). unfold R_dist in A. rewrite Rminus_0_r in A.
assert (B := Rle_abs (a (n + s)%nat)). lra.
Qed.

Lemma unit_length f : f <> 0 -> f / sqrt (- f * - f + f * f) = f / Rabs f / sqrt 2.
Proof.
  intros H. replace (- f * - f + f * f) with (Rsqr f * 2) by (unfold Rsqr; ring).
  rewrite sqrt_mult_alt by apply Rle_0_sqr. rewrite sqrt_Rsqr_abs.
  assert (Rabs f <> 0) by (apply Rabs_no_R0; exact H).
  assert (sqrt 2 <> 0) by (apply Rgt_not_eq, sqrt_lt_R0; lra).
  field. split; assumption.
Qed.

Lemma still x f : f = 0 -> x / sqrt (- f * - f + f * f) * f = 0.
Proof. intros ->. ring. Qed.

Lemma moved x f : f <> 0 -> x / sqrt (- f * - f + f * f) * f = x / sqrt 2 * (f / Rabs f).
Proof.
  intros H. replace (x / sqrt (- f * - f + f * f) * f)
    with (x * (f / sqrt (- f * - f + f * f))) by (unfold Rdiv; ring).
  rewrite unit_length by exact H. unfold Rdiv. ring.
Qed.

Theorem signs : forall alpha l0 l1 F zero, updates alpha l0 l1 F ->
  (forall x, x < zero -> 0 < F (l0 O + l1 O - x) x) ->
  (forall x, zero < x -> F (l0 O + l1 O - x) x < 0) ->
  (forall t, l0 t + l1 t = l0 O + l1 O) /\ steps (fun t => alpha t / sqrt 2) l1 zero.
Proof.
  intros alpha l0 l1 F zero H before behind.
  assert (line : forall t, l0 t + l1 t = l0 O + l1 O).
  { induction t as [| t IH]; [reflexivity |].
    destruct (H t) as (_ & first & second). rewrite first, second. lra. }
  split; [exact line |]. intros t.
  destruct (H t) as (positive & _ & second).
  assert (here : F (l0 t) (l1 t) = F (l0 O + l1 O - l1 t) (l1 t)).
  { rewrite <- (line t). f_equal. ring. }
  rewrite here in second. clear here.
  set (f := F (l0 O + l1 O - l1 t) (l1 t)) in *.
  assert (root : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
  assert (length : 0 <= alpha t / sqrt 2)
    by (apply Rmult_le_pos; [exact positive | left; apply Rinv_0_lt_compat; exact root]).
  split; [exact length |]. split; [| split]; intros place.
  - assert (0 < f) by (apply before; exact place).
    rewrite second, moved, Rabs_pos_eq by lra. field. split; lra.
  - assert (f < 0) by (apply behind; exact place).
    rewrite second, moved, Rabs_left by lra. field. split; lra.
  - rewrite second, place. destruct (Req_dec f 0) as [none | some].
    + rewrite still by exact none. replace (zero + 0 - zero) with 0 by ring.
      rewrite Rabs_R0. exact length.
    + rewrite moved by exact some.
      replace (zero + alpha t / sqrt 2 * (f / Rabs f) - zero)
        with (alpha t / sqrt 2 * (f / Rabs f)) by ring.
      rewrite Rabs_mult, (Rabs_pos_eq (alpha t / sqrt 2)) by exact length.
      unfold Rdiv at 2. rewrite Rabs_mult, Rabs_inv, Rabs_Rabsolu.
      rewrite Rinv_r by (apply Rabs_no_R0; exact some). lra.
Qed.

(* The hypotheses of each theorem can hold together. *)
Lemma bound_witness : exists a p zero, (steps a p zero).
Proof.
exists (fun _ => 0), (fun _ => 0), 0. intros t. repeat split; intros; try lra.
rewrite Rminus_0_r, Rabs_R0. lra.
Qed.
Lemma slowly_witness : exists a p zero, (steps a p zero) /\ ((forall t, a t <= 2 * a (S t))).
Proof.
exists (fun _ => 0), (fun _ => 0), 0. split; intros t; [| lra]. repeat split; intros; try lra.
rewrite Rminus_0_r, Rabs_R0. lra.
Qed.
Lemma harmonic : forall zero, steps (fun t => / (INR t + 1)) (fun _ => zero) zero
  /\ Un_cv (fun t => / (INR t + 1)) 0
  /\ forall n B, exists T, B <= used (fun t => / (INR t + 1)) n T.
Proof.
intros zero.
assert (P : forall t, 0 < / (INR t + 1)).
{ intros t. apply Rinv_0_lt_compat. assert (A := pos_INR t). lra. }
assert (J : forall a s m n, used a s (m + n) = used a s m + used a (s + m) n).
{ intros a s m n. induction n as [| n IH]; simpl; [rewrite Nat.add_0_r; lra |].
  rewrite Nat.add_succ_r. simpl. rewrite IH, Nat.add_assoc. lra. }
assert (L : forall s m n, (n <= m)%nat ->
  INR n / (INR s + INR m + 1) <= used (fun t => / (INR t + 1)) s n).
{ intros s m n. induction n as [| n IH]; intros l; [simpl; lra |]. rewrite S_INR. cbn [used].
  assert (A := IH ltac:(lia)). rewrite plus_INR. assert (B := pos_INR s). assert (C := pos_INR n).
  assert (E : INR n <= INR m) by (apply le_INR; lia).
  assert (/ (INR s + INR m + 1) <= / (INR s + INR n + 1)) by (apply Rinv_le_contravar; lra).
  unfold Rdiv in *. lra. }
split; [| split].
- intros t. assert (A := P t). repeat split; intros; try lra. rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. lra.
- apply RinvN_cv.
- intros n B. assert (G : forall k, exists T, INR k / 2 <= used (fun t => / (INR t + 1)) n T).
  { induction k as [| k [T IH]]; [exists 0%nat; simpl; lra |]. exists (T + S (n + T))%nat.
    rewrite J, S_INR. assert (A := L (n + T)%nat (S (n + T)) (S (n + T)) ltac:(lia)).
    assert (C := pos_INR (n + T)). rewrite S_INR in A.
    replace ((INR (n + T) + 1) / (INR (n + T) + (INR (n + T) + 1) + 1)) with (1 / 2) in A
      by (field; lra). lra. }
  assert (H : exists k, 2 * B <= INR k).
  { destruct (Rle_dec (2 * B) 0) as [l | l]; [exists 0%nat; exact l |].
    destruct (archimed (2 * B)) as [a _]. exists (Z.to_nat (up (2 * B))).
    rewrite INR_IZR_INZ, Z2Nat.id; [lra |]. apply le_IZR. lra. }
  destruct H as [k H]. destruct (G k) as [T H']. exists T. lra.
Qed.
Lemma limit_witness : exists a p zero, steps a p zero /\ Un_cv a 0
  /\ forall n B, exists T, B <= used a n T.
Proof. exists (fun t => / (INR t + 1)), (fun _ => 0), 0. apply harmonic. Qed.

Lemma signs_witness : (exists alpha l0 l1 F zero, updates alpha l0 l1 F
  /\ (forall x, x < zero -> 0 < F (l0 O + l1 O - x) x)
  /\ (forall x, zero < x -> F (l0 O + l1 O - x) x < 0)
  /\ exists t, l1 t < zero)
  /\ (exists alpha l0 l1 F zero, updates alpha l0 l1 F
  /\ (forall x, x < zero -> 0 < F (l0 O + l1 O - x) x)
  /\ (forall x, zero < x -> F (l0 O + l1 O - x) x < 0)
  /\ exists t, zero < l1 t)
  /\ exists alpha l0 l1 F zero, updates alpha l0 l1 F
  /\ (forall x, x < zero -> 0 < F (l0 O + l1 O - x) x)
  /\ (forall x, zero < x -> F (l0 O + l1 O - x) x < 0)
  /\ exists t, l1 t = zero.
Proof.
split; [| split]; [exists (fun _ => 0), (fun _ => 0), (fun _ => -1) |
  exists (fun _ => 0), (fun _ => 0), (fun _ => 1) |
  exists (fun _ => 0), (fun _ => 0), (fun _ => 0)]; exists (fun _ x => - x), 0;
  (split; [intros t; simpl; repeat split; try lra; unfold Rdiv; ring |]);
  (split; [intros; lra |]); (split; [intros; lra |]); exists 0%nat; lra.
Qed.

(* Each theorem with one number 1 % better, or one inequality strict, or not, is false. *)
Lemma unmoved : steps (fun _ => 0) (fun _ => 1) 0.
Proof. intros t. repeat split; intros; lra. Qed.
Lemma bound_sharp : ~ (forall a p zero n T, steps a p zero -> (Rabs (p (n + T)%nat - zero) < Rabs
  (p n - zero) - used a n T \/ Rabs (p n - zero) - used a n T = 0) \/ exists s r, T = S (s + r) /\
  Rabs (p (n + T)%nat - zero) <= a (n + s)%nat - used a (S (n + s)) r).
Proof.
intros s. destruct (s _ _ _ 0%nat 0%nat unmoved) as [l | (t & r & l & _)]; [| lia]. simpl in l.
rewrite Rminus_0_r, Rabs_R1 in l. lra.
Qed.
Lemma slowly_sharp : ~ (forall a p zero T, steps a p zero -> (forall t, a t <= ratio * a (S t)) ->
  (Rabs (p (S T) - zero) < Rmax (Rabs (p O - zero) - used a 0 (S T)) (a T) \/ Rmax (Rabs (p O -
  zero) - used a 0 (S T)) (a T) = 0)).
Proof.
intros s. specialize (s _ _ _ 0%nat unmoved ltac:(intros; unfold ratio; lra)). simpl in s.
rewrite Rminus_0_r, Rabs_R1, Rmax_left in s; lra.
Qed.
Lemma limit_sharp : ~ (forall a p zero, steps a p zero -> Un_cv a 0 -> (forall n B, exists T, B <=
  used a n T) -> Un_cv p (99 / 100 * zero)).
Proof.
intros s. destruct (harmonic 1) as (A & B & C).
enough (1 = 99 / 100 * 1) by lra. apply (UL_sequence (fun _ => 1)); [| apply (s _ _ _ A B C)].
intros e l. exists 0%nat. intros. unfold R_dist. rewrite Rminus_diag_eq, Rabs_R0; [exact l | reflexivity].
Qed.
Lemma signs_sharp : ~ (forall alpha l0 l1 F zero, updates alpha l0 l1 F -> (forall x, x < zero -> 0
  < F (l0 O + l1 O - x) x) -> (forall x, zero < x -> F (l0 O + l1 O - x) x < 0) -> (forall t, l0 t
  + l1 t = 99 / 100 * (l0 O + l1 O)) /\ steps (fun t => alpha t / sqrt 2) l1 zero).
Proof.
intros s. destruct (s (fun _ => 0) (fun _ => 1) (fun _ => 0) (fun _ x => - x) 0) as [e _];
  [| intros; lra | intros; lra | specialize (e 0%nat); lra].
intros t f norm. unfold Rdiv. rewrite Rmult_0_l. repeat split; lra.
Qed.
