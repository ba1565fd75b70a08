(* The conjugate of the mean of n losses on R^n: 0 where every weight is 1/n, infinite elsewhere. *)
From Coq Require Import Reals Lra Lia List.
Open Scope R_scope.

Definition sum (ks : list nat) (t : nat -> R) : R := fold_right (fun k x => t k + x) 0 ks.
Definition mean (n : nat) (f : nat -> R) : R := sum (seq 0 n) f / INR n.

Theorem conjugate : forall n v, (0 < n)%nat ->
  ((forall i, In i (seq 0 n) -> v i = / INR n) ->
     forall f, sum (seq 0 n) (fun i => v i * f i) - mean n f = 0)
  /\ ((exists j, In j (seq 0 n) /\ v j <> / INR n) ->
     forall B, exists f, B < sum (seq 0 n) (fun i => v i * f i) - mean n f).
Proof.
intros n v N. assert (M : 0 < INR n) by now apply lt_0_INR. unfold mean, Rdiv. split.
- intros E f. revert E. generalize (/ INR n). intros c E.
  enough (H : sum (seq 0 n) (fun i => v i * f i) = sum (seq 0 n) f * c) by (rewrite H; ring).
  induction (seq 0 n) as [| k ks IH]; simpl; [ring |].
  rewrite IH, (E k (or_introl eq_refl)) by (intros; apply E; now right). ring.
- intros [j [J d]] B. set (c := / INR n) in *.
set (S := sum (seq 0 n) (fun i => (v i - c) * (v i - c))).
  assert (P : 0 < S).
  { unfold S. clear - J d. induction (seq 0 n) as [| k ks IH]; [destruct J |]. simpl.
    assert (Q : 0 <= sum ks (fun i => (v i - c) * (v i - c))) by
      (clear; induction ks as [| i ks H]; simpl; [lra | assert (A := Rle_0_sqr (v i - c));
        unfold Rsqr in A; lra]).
    destruct J as [e | J]; [subst k | specialize (IH J)].
    - assert (A : 0 < Rsqr (v j - c)) by (apply Rlt_0_sqr; lra). unfold Rsqr in A. lra.
    - assert (A := Rle_0_sqr (v k - c)). unfold Rsqr in A. lra. }
  exists (fun i => (Rabs B + 1) / S * (v i - c)). set (t := (Rabs B + 1) / S).
  assert (E : forall ks, sum ks (fun i => v i * (t * (v i - c))) - sum ks (fun i => t * (v i - c))
    * c
    = t * sum ks (fun i => (v i - c) * (v i - c))).
  { clear. intros ks. induction ks; simpl; [ring | rewrite Rmult_plus_distr_l, <- IHks; ring]. }
  rewrite E. fold S. replace (t * S) with (Rabs B + 1) by (unfold t; field; lra).
  assert (H := Rle_abs B). lra.
Qed.
