(* The conjugate of the maximum of n losses, n > 0: 0 on the simplex, unbounded elsewhere. *)
From Coq Require Import Reals Lra Lia List.
Open Scope R_scope.

Definition total (ks : list nat) (t : nat -> R) : R := fold_right (fun k x => t k + x) 0 ks.
Definition largest (n : nat) (f : nat -> R) (M : R) : Prop :=
  (exists i, In i (seq 0 n) /\ f i = M) /\ forall i, In i (seq 0 n) -> f i <= M.
Definition simplex (n : nat) (v : nat -> R) : Prop :=
  (forall i, In i (seq 0 n) -> 0 <= v i) /\ total (seq 0 n) v = 1.

Lemma below : forall ks v f M, (forall i, In i ks -> 0 <= v i) -> (forall i, In i ks -> f i <= M) ->
  total ks (fun i => v i * f i) <= M * total ks v.
Proof.
intros ks v f M P F. induction ks as [| k ks IH]; simpl; [lra |].
assert (total ks (fun i => v i * f i) <= M * total ks v).
{ apply IH; intros i H; [apply P | apply F]; now right. }
specialize (P k (or_introl eq_refl)). specialize (F k (or_introl eq_refl)). nra.
Qed.

Theorem inside : forall n v, simplex n v ->
  (forall f M, largest n f M -> total (seq 0 n) (fun i => v i * f i) - M <= 0)
  /\ largest n (fun _ => 0) 0 /\ total (seq 0 n) (fun i => v i * 0) - 0 = 0.
Proof.
intros n v [P T]. split; [| split].
- intros f M [_ F]. assert (H := below _ v f M P F). rewrite T in H. lra.
- destruct n as [| n]; [simpl in T; lra |]. split; [exists 0%nat; split;
  [now left | reflexivity] | intros; lra].
- clear. induction (seq 0 n); simpl; lra.
Qed.

Theorem outside : forall n v, (0 < n)%nat -> ~ simplex n v ->
  forall B, exists f M, largest n f M /\ B < total (seq 0 n) (fun i => v i * f i) - M.
Proof.
intros n v N out B.
assert (some : In 0%nat (seq 0 n)) by (apply in_seq; lia).
destruct (Req_dec (total (seq 0 n) v) 1) as [T | T].
- assert (D : exists j, In j (seq 0 n) /\ v j < 0).
  { assert (E : forall ks, (forall i, In i ks -> 0 <= v i) \/ exists j, In j ks /\ v j < 0).
    { induction ks as [| k ks [H | [j [H J]]]]; [left; intros _ [] | |].
      - destruct (Rle_lt_dec 0 (v k)) as [p | p].
        + left. intros i [e | i']; [now subst | now apply H].
        + right. exists k. split; [now left | assumption].
      - right. exists j. split; [now right | assumption]. }
    destruct (E (seq 0 n)) as [H | H]; [exfalso; now apply out | exact H]. }
  destruct D as [j [J neg]]. set (t := (Rabs B + 1) / - v j).
  assert (P : 0 < t) by (apply Rdiv_lt_0_compat; [assert (H := Rabs_pos B) |]; lra).
  exists (fun i => if Nat.eq_dec i j then - t else 0).
  assert (S : forall ks, NoDup ks ->
    total ks (fun i => v i * (if Nat.eq_dec i j then - t else 0)) = if in_dec Nat.eq_dec j ks then -
      t * v j else 0).
  { intros ks D. induction D as [| k ks K D IH]; [reflexivity |].
    cbn [total fold_right] in *. fold (total ks) in *. unfold total in IH. rewrite IH.
    destruct (in_dec Nat.eq_dec j (k :: ks)) as [i | o];
      destruct (in_dec Nat.eq_dec j ks) as [i' | o'];
      destruct (Nat.eq_dec k j) as [e | e]; try subst k; try contradiction; try ring.
    - destruct i; contradiction.
    - exfalso. apply o. now right.
    - exfalso. apply o. now left. }
  assert (V : t * - v j = Rabs B + 1) by (unfold t; field; lra).
  assert (A := Rle_abs B).
  specialize (S (seq 0 n) (seq_NoDup n 0)). destruct (in_dec Nat.eq_dec j (seq 0 n)) as [_ | o];
    [| contradiction].
  destruct (Nat.eq_dec n 1) as [e | e].
  + exists (- t). subst n. simpl in T, J. destruct J as [J | []]. subst j. exfalso. lra.
  + exists 0. split; [| rewrite S; lra]. split.
    * exists (if Nat.eq_dec j 0 then 1%nat else 0%nat). destruct (Nat.eq_dec j 0) as [z | z].
      -- split; [apply in_seq; lia |].
         subst j. reflexivity.
      -- split; [exact some |]. destruct (Nat.eq_dec 0 j); [congruence | reflexivity].
    * intros i _. destruct (Nat.eq_dec i j); lra.
- set (d := total (seq 0 n) v - 1) in *. set (t := (Rabs B + 1) / d).
  exists (fun _ => t), t. split; [split; [exists 0%nat; split;
    [exact some | reflexivity] | intros; lra] |].
  assert (S : forall c, total (seq 0 n) (fun i => v i * c) = c * (d + 1)).
  { intros c. unfold d. replace (total (seq 0 n) v - 1 + 1) with (total (seq 0 n) v) by ring.
    clear. induction (seq 0 n); simpl; [ring | rewrite IHl; ring]. }
  cbn beta. rewrite S. replace (t * (d + 1) - t) with (t * d) by ring.
  replace (t * d) with (Rabs B + 1) by (unfold t, d; field; unfold d in T; lra).
  assert (A := Rle_abs B). lra.
Qed.

Theorem nonnegative : forall n v, (0 < n)%nat ->
  (total (seq 0 n) (fun i => Rmax (v i) 0) <= 1 ->
     forall f M, (forall i, 0 <= f i) -> largest n f M ->
       total (seq 0 n) (fun i => v i * f i) - M <= 0)
  /\ (1 < total (seq 0 n) (fun i => Rmax (v i) 0) ->
     forall B, exists f M, (forall i, 0 <= f i) /\ largest n f M
       /\ B < total (seq 0 n) (fun i => v i * f i) - M).
Proof.
intros n v N. split.
- intros T f M P [[j [J e]] F].
  assert (A : total (seq 0 n) (fun i => v i * f i) <= total (seq 0 n) (fun i => Rmax (v i) 0 * f i)).
  { clear - P. induction (seq 0 n) as [| k ks IH]; simpl; [lra |].
    assert (v k * f k <= Rmax (v k) 0 * f k) by (apply Rmult_le_compat_r;
      [apply P | apply Rmax_l]). lra. }
  assert (B := below (seq 0 n) (fun i => Rmax (v i) 0) f M (fun i _ => Rmax_r (v i) 0) F).
  assert (0 <= M) by (rewrite <- e; apply P). nra.
- intros T B. set (S := total (seq 0 n) (fun i => Rmax (v i) 0)) in *.
set (t := (Rabs B + 1) / (S - 1)).
  assert (P : 0 < t) by (apply Rdiv_lt_0_compat; [assert (H := Rabs_pos B) |]; lra).
  assert (D : (exists j, In j (seq 0 n) /\ 0 < v j) \/ S <= 0).
  { unfold S. clear. induction (seq 0 n) as [| k ks [[j [J p]] | H]]; [right; simpl; lra | |].
    - left. exists j. split; [now right | assumption].
    - destruct (Rlt_le_dec 0 (v k)) as [p | p]; [left; exists k; split; [now left | assumption] |].
      right. simpl. rewrite Rmax_right by assumption. lra. }
  destruct D as [[j [J p]] | D]; [| lra].
  exists (fun i => if Rlt_dec 0 (v i) then t else 0), t. split; [| split; [split |]].
  + intros i. destruct (Rlt_dec 0 (v i)); lra.
  + exists j. split; [exact J |]. now destruct (Rlt_dec 0 (v j)).
  + intros i _. destruct (Rlt_dec 0 (v i)); lra.
  + assert (V : forall c, total (seq 0 n) (fun i => v i * (if Rlt_dec 0 (v i) then c else 0)) = c *
    S).
    { intros c. unfold S. clear. induction (seq 0 n) as [| k ks IH]; simpl; [ring |]. rewrite IH.
      destruct (Rlt_dec 0 (v k)); [rewrite Rmax_left by lra | rewrite Rmax_right by lra]; ring. }
    rewrite V. replace (t * S - t) with (t * (S - 1)) by ring.
    replace (t * (S - 1)) with (Rabs B + 1) by (unfold t; field; lra). assert (A := Rle_abs B). lra.
Qed.

(* The hypotheses of each theorem can hold together. *)
Lemma inside_witness : (exists n v, simplex n v /\ exists f M, largest n f M)
  /\ exists n v, simplex n v /\ exists i, In i (seq 0 n).
Proof.
split; exists 1%nat, (fun _ => 1); (split; [split; [intros; lra | unfold total; simpl; lra] |]).
- exists (fun _ => 0), 0. split; [exists 0%nat; simpl; auto | intros; lra].
- exists 0%nat. simpl. auto.
Qed.
Lemma outside_witness : exists n v, (0 < n)%nat /\ ~ simplex n v /\ exists i, In i (seq 0 n).
Proof.
exists 1%nat, (fun _ => 0). split; [lia |]. split; [| exists 0%nat; simpl; auto].
intros [_ H]. unfold total in H. simpl in H. lra.
Qed.
Lemma nonnegative_witness : (exists n v, (0 < n)%nat
  /\ total (seq 0 n) (fun i => Rmax (v i) 0) <= 1
  /\ exists f M, (forall i, 0 <= f i) /\ largest n f M)
  /\ exists n v, (0 < n)%nat /\ 1 < total (seq 0 n) (fun i => Rmax (v i) 0)
  /\ exists i, In i (seq 0 n).
Proof.
split; [exists 1%nat, (fun _ => 0) | exists 1%nat, (fun _ => 2)]; unfold total; simpl;
  (split; [lia | rewrite Rmax_left by lra; split; [lra |]]).
- exists (fun _ => 0), 0. split; [intros; lra |]. split; [exists 0%nat; simpl; auto | intros; lra].
- exists 0%nat. auto.
Qed.

(* Each theorem with one number 1 % better, or one inequality strict, or not, is false. *)
Lemma inside_sharp : ~ (forall n v, simplex n v -> (forall f M, largest n f M -> total (seq 0 n)
  (fun i => v i * f i) - M < 0) /\ largest n (fun _ => 0) 0 /\ total (seq 0 n) (fun i => v i * 0) -
  0 = 0).
Proof.
intros s. destruct (s 1%nat (fun _ => 1)) as [c _].
- split; [intros; lra | simpl; lra].
- specialize (c (fun _ => 0) 0). simpl in c. enough (1 * 0 + 0 - 0 < 0) by lra. apply c.
  split; [exists 0%nat; split; [left |]; reflexivity | intros; lra].
Qed.
Lemma outside_sharp : ~ (forall n v, (0 <= n)%nat -> ~ simplex n v -> forall B, exists f M, largest
  n f M /\ B < total (seq 0 n) (fun i => v i * f i) - M).
Proof.
intros s. destruct (s O (fun _ => 0) (le_n 0) ltac:(intros [_ e]; simpl in e; lra) 0)
  as (f & M & [(i & [] & _) _] & _).
Qed.
Lemma nonnegative_sharp : ~ (forall n v, (0 < n)%nat -> (total (seq 0 n) (fun i => Rmax (v i) 0) <=
  1 -> forall f M, (forall i, 0 <= f i) -> largest n f M -> total (seq 0 n) (fun i => v i * f i) -
  M < 0) /\ (1 < total (seq 0 n) (fun i => Rmax (v i) 0) -> forall B, exists f M, (forall i, 0 <= f
  i) /\ largest n f M /\ B < total (seq 0 n) (fun i => v i * f i) - M)).
Proof.
intros s. destruct (s 1%nat (fun _ => 0) ltac:(lia)) as [c _].
enough (0 * 0 + 0 - 0 < 0) by lra. apply (c ltac:(simpl; rewrite Rmax_left; lra) (fun _ => 0)).
- intros; lra.
- split; [exists 0%nat; split; [left |]; reflexivity | intros; lra].
Qed.
