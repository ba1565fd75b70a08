(* The conjugate of a rank-weighted mean is infinite where v is not majorised by w: some c of the
   clients have more than the |c| largest weights, or all have another total. Elsewhere it is 0, by
   permutahedron.v. *)
From Coq Require Import Reals Lra Lia List Permutation.
Open Scope R_scope.

Definition sum (ks : list nat) (t : nat -> R) : R := fold_right (fun k x => t k + x) 0 ks.
Definition ranking (n : nat) (F : nat -> R) (s : list nat) : Prop :=
  Permutation s (seq 0 n)
  /\ forall k, (S k < n)%nat -> F (nth (S k) s 0%nat) <= F (nth k s 0%nat).
Definition rank_mean (w F : nat -> R) (s : list nat) : R :=
  sum (seq 0 (length s)) (fun k => w k * F (nth k s 0%nat)).

Lemma same : forall c s t, (forall k, In k c -> s k = t k) -> sum c s = sum c t.
Proof.
intros c s t H. induction c as [| k c IH]; [reflexivity |]. simpl.
rewrite (H k (or_introl eq_refl)), IH; [reflexivity | intros; apply H; now right].
Qed.

Lemma joined : forall a b t, sum (a ++ b) t = sum a t + sum b t.
Proof. intros. induction a; simpl; [ring | rewrite IHa; ring]. Qed.

Lemma times : forall c s x, sum c (fun k => s k * x) = x * sum c s.
Proof. intros. induction c; simpl; [ring | rewrite IHc; ring]. Qed.

Lemma moved : forall a b t, Permutation a b -> sum a t = sum b t.
Proof. intros a b t P. induction P; simpl; lra. Qed.

Theorem exceeded : forall n w v c, NoDup c -> incl c (seq 0 n) ->
  sum (seq 0 (length c)) w < sum c v ->
  forall B, exists F s, ranking n F s /\ B < sum (seq 0 n) (fun i => v i * F i) - rank_mean w F s.
Proof.
intros n w v c N inc more B. set (d := sum c v - sum (seq 0 (length c)) w).
set (t := (Rabs B + 1) / d). assert (D : 0 < d) by (unfold d; lra).
assert (A := Rle_abs B). assert (A' := Rabs_pos B).
assert (T : 0 < t) by (apply Rdiv_lt_0_compat; lra).
set (F := fun i => if in_dec Nat.eq_dec i c then t else 0).
set (rest := filter (fun i => if in_dec Nat.eq_dec i c then false else true) (seq 0 n)).
assert (out : forall i, In i rest <-> In i (seq 0 n) /\ ~ In i c).
{ intros i. unfold rest. rewrite filter_In. destruct (in_dec Nat.eq_dec i c);
  intuition discriminate. }
assert (Nr : NoDup rest) by apply NoDup_filter, seq_NoDup.
assert (P : Permutation (c ++ rest) (seq 0 n)).
{ apply NoDup_Permutation; [| apply seq_NoDup |].
  - assert (apart : forall i, In i c -> ~ In i rest) by (intros i H K; apply out in K; tauto).
    revert Nr apart. generalize rest. clear - N. intros r Nr apart. induction N as [| x c o N IH];
      [exact Nr |]. simpl. constructor.
    + intros H. apply in_app_or in H. destruct H as [H | H]; [contradiction |].
      now apply (apart x (or_introl eq_refl)).
    + apply IH. intros i H. apply apart. now right.
  - intros i. rewrite in_app_iff, out. split; [intros [H | [H _]]; [now apply inc | assumption] |].
    intros H. destruct (in_dec Nat.eq_dec i c); tauto. }
assert (L : (length c + length rest)%nat = n).
{ rewrite <- app_length, (Permutation_length P). apply seq_length. }
assert (hot : forall k, (k < length c)%nat -> F (nth k (c ++ rest) 0%nat) = t).
{ intros k l. rewrite app_nth1 by assumption. unfold F.
  destruct (in_dec Nat.eq_dec (nth k c 0%nat) c) as [_ | o]; [reflexivity | now elim o;
    apply nth_In]. }
assert (cold : forall k, (length c <= k < n)%nat -> F (nth k (c ++ rest) 0%nat) = 0).
{ intros k l. rewrite app_nth2 by lia. unfold F.
  assert (H : In (nth (k - length c) rest 0%nat) rest) by (apply nth_In; lia).
  destruct (in_dec Nat.eq_dec (nth (k - length c) rest 0%nat) c) as [i | _]; [| reflexivity].
  apply out in H. tauto. }
exists F, (c ++ rest). split; [split; [exact P |] |].
- intros k l. destruct (le_lt_dec (length c) k) as [m | m].
  + rewrite !cold by lia. lra.
  + rewrite (hot k m). unfold F. destruct (in_dec Nat.eq_dec (nth (S k) (c ++ rest) 0%nat) c); lra.
- assert (V : sum (seq 0 n) (fun i => v i * F i) = t * sum c v).
  { rewrite <- (moved _ _ _ P), joined, <- (times c), (same rest _ (fun _ => 0 * 0)), times.
    - rewrite Rmult_0_l, Rplus_0_r. apply same. intros i H. unfold F.
      now destruct (in_dec Nat.eq_dec i c).
    - intros i H. apply out in H. unfold F. destruct (in_dec Nat.eq_dec i c); [tauto | ring]. }
  assert (W : rank_mean w F (c ++ rest) = t * sum (seq 0 (length c)) w).
  { unfold rank_mean. rewrite app_length, seq_app, joined, <- times.
    rewrite (same (seq (0 + length c) (length rest)) _ (fun _ => 0 * 0)), times.
    - rewrite Rmult_0_l, Rplus_0_r. apply same. intros k H. apply in_seq in H.
    now rewrite hot by lia.
    - intros k H. apply in_seq in H. rewrite cold by lia. ring. }
  rewrite V, W. replace (t * sum c v - t * sum (seq 0 (length c)) w) with (t * d) by (unfold d;
    ring).
  replace (t * d) with (Rabs B + 1) by (unfold t; field; lra). lra.
Qed.

Theorem other_total : forall n w v, sum (seq 0 n) v <> sum (seq 0 n) w ->
  forall B, exists F s, ranking n F s /\ B < sum (seq 0 n) (fun i => v i * F i) - rank_mean w F s.
Proof.
intros n w v more B. set (d := sum (seq 0 n) v - sum (seq 0 n) w).
assert (D : d <> 0) by (unfold d; lra). assert (A := Rle_abs B).
exists (fun _ => (Rabs B + 1) / d), (seq 0 n). split; [split; [apply Permutation_refl | intros;
  lra] |].
unfold rank_mean. rewrite seq_length, !times.
replace (_ - _) with ((Rabs B + 1) / d * d) by (unfold d; ring).
replace ((Rabs B + 1) / d * d) with (Rabs B + 1) by (field; assumption). lra.
Qed.
