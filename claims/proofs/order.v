(* Rank weights, w k for the k-th largest of n losses F; tied clients share those of their ranks. *)
From Coq Require Import Reals Lra List.
Open Scope R_scope.

Definition above (n : nat) (F : nat -> R) (i : nat) : nat :=
  length (filter (fun j => if Rlt_dec (F i) (F j) then true else false) (seq 0 n)).
Definition tied (n : nat) (F : nat -> R) (i : nat) : nat :=
  length (filter (fun j => if Req_EM_T (F i) (F j) then true else false) (seq 0 n)).
Definition weight (n : nat) (w : nat -> R) (F : nat -> R) (i : nat) : R :=
  fold_right (fun k s => w k + s) 0 (seq (above n F i) (tied n F i)) / INR (tied n F i).

Theorem relative : forall n w (D : R -> Prop) h F,
  (forall x y, D x -> D y -> x < y -> h x < h y) -> (forall j, In j (seq 0 n) -> D (F j)) ->
  forall i, In i (seq 0 n) -> weight n w (fun j => h (F j)) i = weight n w F i.
Proof.
intros n w D h F inc inside i I.
assert (same : forall ks (p q : nat -> bool), (forall j, In j ks -> p j = q j) ->
  length (filter p ks) = length (filter q ks)).
{ induction ks as [| k ks IH]; intros p q e; [reflexivity |]. simpl.
  rewrite (e k (or_introl eq_refl)). destruct (q k); simpl; [f_equal |]; apply IH;
    intros j J; apply e; now right. }
assert (a : above n (fun j => h (F j)) i = above n F i).
{ apply same. intros j J. assert (x := inc (F i) (F j) (inside i I) (inside j J)).
  assert (y := inc (F j) (F i) (inside j J) (inside i I)).
  destruct (Rtotal_order (F i) (F j)) as [l | [e | l]].
  - specialize (x l). destruct (Rlt_dec _ _), (Rlt_dec _ _); lra || reflexivity.
  - rewrite e. destruct (Rlt_dec _ _), (Rlt_dec _ _); lra || reflexivity.
  - specialize (y l). destruct (Rlt_dec _ _), (Rlt_dec _ _); lra || reflexivity. }
assert (b : tied n (fun j => h (F j)) i = tied n F i).
{ apply same. intros j J. assert (x := inc (F i) (F j) (inside i I) (inside j J)).
  assert (y := inc (F j) (F i) (inside j J) (inside i I)).
  destruct (Rtotal_order (F i) (F j)) as [l | [e | l]].
  - specialize (x l). destruct (Req_EM_T _ _), (Req_EM_T _ _); lra || reflexivity.
  - rewrite e. destruct (Req_EM_T _ _), (Req_EM_T _ _); lra || reflexivity.
  - specialize (y l). destruct (Req_EM_T _ _), (Req_EM_T _ _); lra || reflexivity. }
unfold weight. rewrite a, b. reflexivity.
Qed.

(* The hypotheses of each theorem can hold together. *)
Lemma relative_witness : exists n (D : R -> Prop) h F, ((forall x y, D x -> D y -> x < y -> h x <
  h y)) /\ ((forall j, In j (seq 0 n) -> D (F j))) /\ exists i, (In i (seq 0 n)).
Proof.
exists 1%nat, (fun _ => True), (fun x => x), (fun _ => 0).
split; [auto |]. split; [auto |]. exists 0%nat. simpl. auto.
Qed.

(* Each theorem with one number 1 % better, or one inequality strict, or not, is false. *)
Lemma relative_sharp : ~ (forall n w (D : R -> Prop) h F, (forall x y, D x -> D y -> x < y -> h x <
  h y) -> (forall j, In j (seq 0 n) -> D (F j)) -> forall i, In i (seq 0 n) -> weight n w (fun j =>
  h (F j)) i = 99 / 100 * weight n w F i).
Proof.
intros s. specialize (s 1%nat (fun _ => 1) (fun _ => True) (fun x => x) (fun _ => 0)
  ltac:(auto) (fun _ _ => I) 0%nat (or_introl eq_refl)). unfold weight, above, tied in s. simpl in s.
destruct (Rlt_dec 0 0), (Req_EM_T 0 0); simpl in s; lra.
Qed.
