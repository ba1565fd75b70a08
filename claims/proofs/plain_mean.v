(* The conjugate of the mean of n losses on R^n: 0 where every weight is 1/n, infinite elsewhere. *)
From Coq Require Import Reals Lra Lia List.
Open Scope R_scope.

Definition total (ks : list nat) (t : nat -> R) : R := fold_right (fun k x => t k + x) 0 ks.
Definition mean (n : nat) (f : nat -> R) : R := total (seq 0 n) f / INR n.

Theorem conjugate : forall n v, (0 < n)%nat ->
  ((forall i, In i (seq 0 n) -> v i = / INR n) ->
     forall f, total (seq 0 n) (fun i => v i * f i) - mean n f = 0)
  /\ ((exists j, In j (seq 0 n) /\ v j <> / INR n) ->
     forall B, exists f, B < total (seq 0 n) (fun i => v i * f i) - mean n f).
Proof.
intros n v N. assert (M : 0 < INR n) by now apply lt_0_INR. unfold mean, Rdiv. split.
- intros E f. revert E. generalize (/ INR n). intros c E.
  enough (H : total (seq 0 n) (fun i => v i * f i) = total (seq 0 n) f * c) by (rewrite H; ring).
  induction (seq 0 n) as [| k ks IH]; simpl; [ring |].
  rewrite IH, (E k (or_introl eq_refl)) by (intros; apply E; now right). ring.
- intros [j [J d]] B. set (c := / INR n) in *.
set (S := total (seq 0 n) (fun i => (v i - c) * (v i - c))).
  assert (P : 0 < S).
  { unfold S. clear - J d. induction (seq 0 n) as [| k ks IH]; [destruct J |]. simpl.
    assert (Q : 0 <= total ks (fun i => (v i - c) * (v i - c))) by
      (clear; induction ks as [| i ks H]; simpl; [lra | assert (A := Rle_0_sqr (v i - c));
        unfold Rsqr in A; lra]).
    destruct J as [e | J]; [subst k | specialize (IH J)].
    - assert (A : 0 < Rsqr (v j - c)) by (apply Rlt_0_sqr; lra). unfold Rsqr in A. lra.
    - assert (A := Rle_0_sqr (v k - c)). unfold Rsqr in A. lra. }
  exists (fun i => (Rabs B + 1) / S * (v i - c)). set (t := (Rabs B + 1) / S).
  assert (E : forall ks, total ks (fun i => v i * (t * (v i - c))) - total ks (fun i => t * (v i - c))
    * c
    = t * total ks (fun i => (v i - c) * (v i - c))).
  { clear. intros ks. induction ks; simpl; [ring | rewrite Rmult_plus_distr_l, <- IHks; ring]. }
  rewrite E. fold S. replace (t * S) with (Rabs B + 1) by (unfold t; field; lra).
  assert (H := Rle_abs B). lra.
Qed.

Theorem nonnegative : forall n v, (0 < n)%nat ->
  ((forall i, In i (seq 0 n) -> v i <= / INR n) ->
     (forall f, (forall i, 0 <= f i) -> total (seq 0 n) (fun i => v i * f i) - mean n f <= 0)
     /\ total (seq 0 n) (fun i => v i * 0) - mean n (fun _ => 0) = 0)
  /\ ((exists j, In j (seq 0 n) /\ / INR n < v j) ->
     forall B, exists f, (forall i, 0 <= f i)
       /\ B < total (seq 0 n) (fun i => v i * f i) - mean n f).
Proof.
intros n v N. unfold mean, Rdiv. split.
- intros le. split.
  + intros f F. revert le. generalize (/ INR n). intros c le.
    enough (H : total (seq 0 n) (fun i => v i * f i) <= total (seq 0 n) f * c) by lra.
    induction (seq 0 n) as [| k ks IH]; simpl; [lra |].
    specialize (IH (fun i I => le i (or_intror I))). specialize (le k (or_introl eq_refl)).
    specialize (F k). nra.
  + assert (Z : forall w, total (seq 0 n) (fun i => w i * 0) = 0).
    { intros w. clear. induction (seq 0 n) as [| k ks IH]; simpl; [reflexivity |].
      rewrite IH. ring. }
    assert (E : total (seq 0 n) (fun _ => 0) = 0).
    { clear. induction (seq 0 n) as [| k ks IH]; simpl; [reflexivity |]. rewrite IH. ring. }
    rewrite (Z v), E. ring.
- intros [j [J more]] B. set (c := / INR n) in *. set (t := (Rabs B + 1) / (v j - c)).
  assert (H := Rabs_pos B). assert (H' := Rle_abs B).
  assert (T : 0 < t) by (apply Rdiv_lt_0_compat; lra).
  exists (fun i => if Nat.eq_dec i j then t else 0). split.
  + intros i. destruct (Nat.eq_dec i j); lra.
  + assert (U := seq_NoDup n 0).
    assert (E : forall w, total (seq 0 n) (fun i => w i * (if Nat.eq_dec i j then t else 0)) = w j *
      t).
    { intros w. revert J U. induction (seq 0 n) as [| k ks IH]; intros J U; [destruct J |].
      inversion U as [| a b out U']. subst. simpl. destruct (Nat.eq_dec k j) as [-> | e].
      - enough (Z : total ks (fun i => w i * (if Nat.eq_dec i j then t else 0)) = 0) by lra.
        clear - out. induction ks as [| i ks IH]; [reflexivity |]. simpl.
        destruct (Nat.eq_dec i j); [exfalso; subst; apply out; now left |].
        rewrite IH; [ring | intros K; apply out; now right].
      - destruct J as [J | J]; [contradiction |]. rewrite IH by assumption. ring. }
    assert (E1 := E v). assert (E2 := E (fun _ => 1)). cbn beta in E2.
    assert (E3 : total (seq 0 n) (fun i => if Nat.eq_dec i j then t else 0)
      = total (seq 0 n) (fun i => 1 * (if Nat.eq_dec i j then t else 0))).
    { clear. induction (seq 0 n) as [| k ks IH]; simpl; [reflexivity |]. rewrite IH. ring. }
    rewrite E1, E3, E2. replace (v j * t - 1 * t * c) with ((v j - c) * t) by ring.
    replace ((v j - c) * t) with (Rabs B + 1) by (unfold t; field; lra). lra.
Qed.

(* The hypotheses of each theorem can hold together. *)
Lemma conjugate_witness : (exists n v, (0 < n)%nat /\ forall i, In i (seq 0 n) -> v i = / INR n)
  /\ exists n v, (0 < n)%nat /\ exists j, In j (seq 0 n) /\ v j <> / INR n.
Proof.
split; [exists 1%nat, (fun _ => / 1) | exists 1%nat, (fun _ => 0)]; (split; [lia |]); simpl.
- reflexivity.
- exists 0%nat. split; [auto | lra].
Qed.
Lemma nonnegative_witness : (exists n v, (0 < n)%nat /\ (forall i, In i (seq 0 n) -> v i <= / INR n)
  /\ exists f : nat -> R, forall i, 0 <= f i)
  /\ exists n v, (0 < n)%nat /\ exists j, In j (seq 0 n) /\ / INR n < v j.
Proof.
split; [exists 1%nat, (fun _ => 0) | exists 1%nat, (fun _ => 2)]; (split; [lia |]); simpl.
- split; [intros; lra | exists (fun _ => 0); intros; lra].
- exists 0%nat. split; [auto | lra].
Qed.

(* Each theorem with one number 1 % better, or one inequality strict, or not, is false. *)
Lemma conjugate_sharp : ~ (forall n v, (0 < n)%nat -> ((forall i, In i (seq 0 n) -> v i = / INR n)
  -> forall f, total (seq 0 n) (fun i => v i * f i) - 99 / 100 * mean n f = 0) /\ ((exists j, In j
  (seq 0 n) /\ v j <> / INR n) -> forall B, exists f, B < total (seq 0 n) (fun i => v i * f i) -
  mean n f)).
Proof.
intros s. destruct (s 1%nat (fun _ => 1) ltac:(lia)) as [e _].
specialize (e ltac:(intros; simpl; field) (fun _ => 1)). unfold mean in e. simpl in e. lra.
Qed.
Lemma nonnegative_sharp : ~ (forall n v, (0 < n)%nat -> ((forall i, In i (seq 0 n) -> v i <= / INR
  n) -> (forall f, (forall i, 0 <= f i) -> total (seq 0 n) (fun i => v i * f i) - mean n f < 0) /\
  total (seq 0 n) (fun i => v i * 0) - mean n (fun _ => 0) = 0) /\ ((exists j, In j (seq 0 n) /\ /
  INR n < v j) -> forall B, exists f, (forall i, 0 <= f i) /\ B < total (seq 0 n) (fun i => v i * f
  i) - mean n f)).
Proof.
intros s. destruct (s 1%nat (fun _ => 1) ltac:(lia)) as [e _].
destruct (e ltac:(intros; simpl; lra)) as [l _]. specialize (l (fun _ => 1) ltac:(intros; lra)).
unfold mean in l. simpl in l. lra.
Qed.
