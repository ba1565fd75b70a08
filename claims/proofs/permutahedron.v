(* Rank-weighted means. Clients are 0, ..., n-1; s lists them from the largest loss to the smallest,
   and w k is the weight of rank k.
   v is majorised by w where any k of its entries sum to at most the
   k largest weights, and all to all. *)
From Coq Require Import Reals Lra Lia List Permutation.
Open Scope R_scope.

Definition total (ks : list nat) (t : nat -> R) : R := fold_right (fun k x => t k + x) 0 ks.
Definition ranking (n : nat) (F : nat -> R) (s : list nat) : Prop :=
  Permutation s (seq 0 n)
  /\ forall k, (S k < n)%nat -> F (nth (S k) s 0%nat) <= F (nth k s 0%nat).
Definition rank_mean (w F : nat -> R) (s : list nat) : R :=
  total (seq 0 (length s)) (fun k => w k * F (nth k s 0%nat)).
Definition majorised (n : nat) (w v : nat -> R) : Prop :=
  (forall c, NoDup c -> incl c (seq 0 n) -> total c v <= total (seq 0 (length c)) w)
  /\ total (seq 0 n) v = total (seq 0 n) w.

Lemma moved : forall a b t, Permutation a b -> total a t = total b t.
Proof. intros a b t P. induction P; simpl; lra. Qed.

Lemma joined : forall a b t, total (a ++ b) t = total a t + total b t.
Proof. intros. induction a; simpl; [ring | rewrite IHa; ring]. Qed.

Lemma last : forall n t, total (seq 0 (S n)) t = total (seq 0 n) t + t n.
Proof. intros. rewrite seq_S, joined. simpl. ring. Qed.

Lemma same : forall c s t, (forall k, In k c -> s k = t k) -> total c s = total c t.
Proof.
intros c s t H. induction c as [| k c IH]; [reflexivity |]. simpl.
rewrite (H k (or_introl eq_refl)), IH; [reflexivity | intros; apply H; now right].
Qed.

Lemma indexed : forall s t, total s t = total (seq 0 (length s)) (fun k => t (nth k s 0%nat)).
Proof.
intros s t. induction s as [| x s IH] using rev_ind; [reflexivity |].
rewrite app_length, Nat.add_1_r, last, joined, IH. simpl.
rewrite app_nth2, Nat.sub_diag by lia. simpl.
rewrite (same _ (fun k => t (nth k (s ++ x :: nil) 0%nat)) (fun k => t (nth k s 0%nat))); [ring |].
intros k i. apply in_seq in i. now rewrite app_nth1 by lia.
Qed.

Lemma first : forall (a b : list nat), NoDup (a ++ b) -> NoDup a.
Proof.
intros a b. induction a as [| x a IH]; intros N; [constructor |]. inversion N. subst.
constructor; [intros H; apply H1, in_or_app; now left | now apply IH].
Qed.

(* Abel's summation: partial sums of v below those of w, against a sequence that falls. *)
Lemma abel : forall n v w f,
  (forall k, (k <= n)%nat -> total (seq 0 k) v <= total (seq 0 k) w) ->
  (forall k, (S k < n)%nat -> f (S k) <= f k) -> total (seq 0 n) v = total (seq 0 n) w ->
  total (seq 0 n) (fun k => v k * f k) <= total (seq 0 n) (fun k => w k * f k).
Proof.
intros n v w f part falls whole.
enough (E : forall m, (S m <= n)%nat ->
  total (seq 0 (S m)) (fun k => v k * f k) + (total (seq 0 (S m)) w - total (seq 0 (S m)) v) * f m
  <= total (seq 0 (S m)) (fun k => w k * f k)).
{ destruct n as [| m]; [simpl; lra |]. specialize (E m (le_n _)). rewrite whole in E. lra. }
induction m as [| m IH]; intros l; [simpl; lra |].
specialize (IH ltac:(lia)). rewrite !(last (S m)). set (V := total (seq 0 (S m)) v) in *.
set (W := total (seq 0 (S m)) w) in *.
assert (D : V <= W) by (apply part; lia). assert (F := falls m ltac:(lia)). nra.
Qed.

Theorem below : forall n w v F s, ranking n F s -> majorised n w v ->
  total (seq 0 n) (fun i => v i * F i) <= rank_mean w F s.
Proof.
intros n w v F s [P order] [part whole].
assert (L : length s = n) by (rewrite (Permutation_length P); apply seq_length).
assert (N : NoDup s) by (apply (Permutation_NoDup (Permutation_sym P)), seq_NoDup).
rewrite <- (moved s), indexed by assumption. unfold rank_mean. rewrite L.
apply (abel n (fun k => v (nth k s 0%nat)) w (fun k => F (nth k s 0%nat))).
- intros k l. rewrite <- (firstn_skipn k s) in N, P.
  assert (K : length (firstn k s) = k) by (apply firstn_length_le; lia).
  assert (H := part (firstn k s)). rewrite indexed, K in H.
  rewrite (same _ (fun j => v (nth j s 0%nat)) (fun j => v (nth j (firstn k s) 0%nat))).
  + apply H; [now apply first in N |].
    intros x i. apply (Permutation_in x P), in_or_app. now left.
  + intros j i. apply in_seq in i. rewrite <- (firstn_skipn k s) at 1. now rewrite app_nth1 by lia.
- intros k l. now apply order.
- assert (I := indexed s v). rewrite L in I. rewrite <- I, (moved s (seq 0 n)) by assumption.
exact whole.
Qed.

Lemma position : forall s : list nat, NoDup s ->
  exists pos, forall k, (k < length s)%nat -> pos (nth k s 0%nat) = k.
Proof.
intros s N. induction N as [| x s out N [pos H]]; [exists (fun i => i); simpl; lia |].
exists (fun i => if Nat.eq_dec x i then 0%nat else S (pos i)). intros [| k] l; simpl in *.
- now destruct (Nat.eq_dec x x).
- destruct (Nat.eq_dec x (nth k s 0%nat)) as [e | _]; [exfalso; apply out; rewrite e;
  apply nth_In; lia |].
  now rewrite H by lia.
Qed.

(* The first weights are the largest: k different ones sum to at most the first k. *)
Lemma largest : forall n w, (forall k, (S k < n)%nat -> w (S k) <= w k) ->
  forall m c, (m <= n)%nat -> NoDup c -> (forall k, In k c -> (k < m)%nat) ->
  total c w <= total (seq 0 (length c)) w.
Proof.
intros n w falls. induction m as [| m IH]; intros c l N inside.
- destruct c as [| k c]; [simpl; lra |]. specialize (inside k (or_introl eq_refl)). lia.
- destruct (in_dec Nat.eq_dec m c) as [i | o].
  + destruct (in_split m c i) as [a [b e]]. subst c. apply NoDup_remove in N. destruct N as [N out].
    rewrite <- (moved (m :: a ++ b)) by apply Permutation_middle.
    rewrite app_length. simpl length. rewrite Nat.add_succ_r, <- app_length, last. simpl.
    assert (below_m : forall k, In k (a ++ b) -> (k < m)%nat).
    { intros k j. assert (k < S m)%nat.
      { apply inside. apply in_app_or in j. apply in_or_app. destruct j; [now left | right;
        now right]. }
      assert (k <> m) by (intros e; subst; contradiction). lia. }
    assert (H := IH (a ++ b) ltac:(lia) N below_m).
    assert (short : (length (a ++ b) <= m)%nat).
    { rewrite <- (seq_length m 0). apply NoDup_incl_length; [exact N |].
      intros k j. apply in_seq. specialize (below_m k j). lia. }
    assert (D : forall d j, (j + d < n)%nat -> w (j + d)%nat <= w j).
    { induction d; intros j q; [rewrite Nat.add_0_r; lra |]. rewrite Nat.add_succ_r.
      eapply Rle_trans; [apply falls; lia | apply IHd; lia]. }
    assert (E := D (m - length (a ++ b))%nat (length (a ++ b)) ltac:(lia)).
    replace (length (a ++ b) + (m - length (a ++ b)))%nat with m in E by lia. lra.
  + apply IH; [lia | exact N |]. intros k i. specialize (inside k i).
    assert (k <> m) by (intros e; subst; contradiction). lia.
Qed.

Theorem attained : forall n w F s, (forall k, (S k < n)%nat -> w (S k) <= w k) -> ranking n F s ->
  exists v, majorised n w v /\ total (seq 0 n) (fun i => v i * F i) = rank_mean w F s.
Proof.
intros n w F s falls [P order].
assert (L : length s = n) by (rewrite (Permutation_length P); apply seq_length).
assert (N : NoDup s) by (apply (Permutation_NoDup (Permutation_sym P)), seq_NoDup).
destruct (position s N) as [pos place]. exists (fun i => w (pos i)).
assert (whole : forall t, total (seq 0 n) (fun i => w (pos i) * t i)
  = total (seq 0 n) (fun k => w k * t (nth k s 0%nat))).
{ intros t. rewrite <- (moved s), indexed, L by assumption. apply same.
  intros k i. apply in_seq in i. now rewrite place by lia. }
split; [split |].
- intros c Nc inc.
  assert (M : total c (fun i => w (pos i)) = total (map pos c) w).
  { clear. induction c; simpl; [reflexivity | now rewrite IHc]. }
  rewrite M. assert (I : forall i, In i c -> (pos i < n)%nat /\ nth (pos i) s 0%nat = i).
  { intros i H. apply inc, (Permutation_in i (Permutation_sym P)) in H.
    destruct (In_nth s i 0%nat H) as [k [l e]]. rewrite <- e, place by assumption. split;
      [lia | reflexivity]. }
  rewrite <- (map_length pos c). apply (largest n w falls n); [lia | |].
  + clear M. induction Nc as [| x c out Nc IH]; [constructor |]. simpl. constructor.
    * intros H. apply in_map_iff in H. destruct H as [y [e H]].
      destruct (I x (or_introl eq_refl)) as [_ X]. destruct (I y (or_intror H)) as [_ Y].
      congruence.
    * apply IH; intros i H; [apply inc | apply I]; now right.
  + intros k H. apply in_map_iff in H. destruct H as [i [e H]]. subst k.
    now apply I.
- specialize (whole (fun _ => 1)).
  rewrite (same _ _ (fun i => w (pos i) * 1)), whole; [| intros; ring].
  apply same. intros; ring.
- unfold rank_mean. rewrite L. apply whole.
Qed.

(* The conjugate of a rank-weighted mean is infinite where v is not majorised by w: some c of the
   clients have more than the |c| largest weights, or all have another total. Elsewhere it is 0, by
   the theorems above. *)
Lemma times : forall c s x, total c (fun k => s k * x) = x * total c s.
Proof. intros. induction c; simpl; [ring | rewrite IHc; ring]. Qed.

Theorem exceeded : forall n w v c, NoDup c -> incl c (seq 0 n) ->
  total (seq 0 (length c)) w < total c v ->
  forall B, exists F s, ranking n F s /\ B < total (seq 0 n) (fun i => v i * F i) - rank_mean w F s.
Proof.
intros n w v c N inc more B. set (d := total c v - total (seq 0 (length c)) w).
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
- assert (V : total (seq 0 n) (fun i => v i * F i) = t * total c v).
  { rewrite <- (moved _ _ _ P), joined, <- (times c), (same rest _ (fun _ => 0 * 0)), times.
    - rewrite Rmult_0_l, Rplus_0_r. apply same. intros i H. unfold F.
      now destruct (in_dec Nat.eq_dec i c).
    - intros i H. apply out in H. unfold F. destruct (in_dec Nat.eq_dec i c); [tauto | ring]. }
  assert (W : rank_mean w F (c ++ rest) = t * total (seq 0 (length c)) w).
  { unfold rank_mean. rewrite app_length, seq_app, joined, <- times.
    rewrite (same (seq (0 + length c) (length rest)) _ (fun _ => 0 * 0)), times.
    - rewrite Rmult_0_l, Rplus_0_r. apply same. intros k H. apply in_seq in H.
    now rewrite hot by lia.
    - intros k H. apply in_seq in H. rewrite cold by lia. ring. }
  rewrite V, W. replace (t * total c v - t * total (seq 0 (length c)) w) with (t * d) by (unfold d;
    ring).
  replace (t * d) with (Rabs B + 1) by (unfold t; field; lra). lra.
Qed.

Theorem other_total : forall n w v, total (seq 0 n) v <> total (seq 0 n) w ->
  forall B, exists F s, ranking n F s /\ B < total (seq 0 n) (fun i => v i * F i) - rank_mean w F s.
Proof.
intros n w v more B. set (d := total (seq 0 n) v - total (seq 0 n) w).
assert (D : d <> 0) by (unfold d; lra). assert (A := Rle_abs B).
exists (fun _ => (Rabs B + 1) / d), (seq 0 n). split; [split; [apply Permutation_refl | intros;
  lra] |].
unfold rank_mean. rewrite seq_length, !times.
replace (_ - _) with ((Rabs B + 1) / d * d) by (unfold d; ring).
replace ((Rabs B + 1) / d * d) with (Rabs B + 1) by (field; assumption). lra.
Qed.

(* The hypotheses of each theorem can hold together. *)
Lemma below_witness : exists n w v F s, (ranking n F s) /\ (majorised n w v).
Proof.
exists 1%nat, (fun _ => 0), (fun _ => 0), (fun _ => 0), (cons 0%nat nil).
assert (Z : forall l, total l (fun _ => 0) = 0).
{ induction l as [| k l IH]; [reflexivity | unfold total in *; simpl; rewrite IH; lra]. }
split; [split; [apply Permutation_refl | intros; lia] |].
split; [intros; rewrite !Z; lra | rewrite !Z; reflexivity].
Qed.
Lemma attained_witness : exists n w F s, ((forall k, (S k < n)%nat -> w (S k) <= w k)) /\ (ranking
  n F s) /\ exists c, NoDup c /\ incl c (seq 0 n).
Proof.
exists 1%nat, (fun _ => 0), (fun _ => 0), (cons 0%nat nil). split; [intros; lra |].
split; [split; [apply Permutation_refl | intros; lia] |].
exists nil. split; [constructor | intros k []].
Qed.
Lemma exceeded_witness : exists n w v c, (NoDup c) /\ (incl c (seq 0 n)) /\ (total (seq 0 (length
  c)) w < total c v) /\ exists k, (S k < n)%nat.
Proof.
exists 2%nat, (fun _ => 0), (fun _ => 1), (cons 0%nat nil). split; [repeat constructor; auto |].
split; [intros k [e | []]; simpl; auto |]. split; [unfold total; simpl; lra | exists 0%nat; lia].
Qed.
Lemma other_total_witness : exists n w v, (total (seq 0 n) v <> total (seq 0 n) w)
  /\ exists k, (S k < n)%nat.
Proof.
exists 2%nat, (fun _ => 0), (fun _ => 1). split; [unfold total; simpl; lra | exists 0%nat; lia].
Qed.

(* Each theorem with one number 1 % better, or one inequality strict, or not, is false. *)
Lemma ranked : forall F, ranking 1 F (cons 0%nat nil).
Proof. intros F. split; [apply Permutation_refl | intros; lia]. Qed.
Lemma alike : forall w, majorised 1 w w.
Proof.
intros w. split; [| reflexivity]. intros [| i [| j c]] d l; simpl.
- lra.
- destruct (l i (or_introl eq_refl)) as [e | []]. subst. lra.
- exfalso. destruct (l i (or_introl eq_refl)) as [e | []].
  destruct (l j (or_intror (or_introl eq_refl))) as [E | []]. subst.
  inversion d as [| x y no]. apply no. now left.
Qed.
Lemma below_sharp : ~ (forall n w v F s, ranking n F s -> majorised n w v -> (total (seq 0 n) (fun
  i => v i * F i) < rank_mean w F s \/ rank_mean w F s = 0)).
Proof.
intros s. specialize (s _ _ _ (fun _ => 1) _ (ranked _) (alike (fun _ => 1))).
unfold rank_mean in s. simpl in s. lra.
Qed.
Lemma attained_sharp : ~ (forall n w F s, (forall k, (S k < n)%nat -> w (S k) <= w k) -> ranking n
  F s -> exists v, majorised n w v /\ total (seq 0 n) (fun i => v i * F i) = 99 / 100 * rank_mean w
  F s).
Proof.
intros s. destruct (s 1%nat (fun _ => 1) (fun _ => 1) _ ltac:(intros; lra) (ranked _))
  as (v & [_ e] & E). unfold rank_mean in E. simpl in *. lra.
Qed.
Lemma exceeded_sharp : ~ (forall n w v c, NoDup c -> incl c (seq 0 n) -> total (seq 0 (length c)) w
  <= total c v -> forall B, exists F s, ranking n F s /\ B < total (seq 0 n) (fun i => v i * F i) -
  rank_mean w F s).
Proof.
intros s. destruct (s 1%nat (fun _ => 1) (fun _ => 1) (cons 0%nat nil)) with (B := 0)
  as (F & r & R & l).
- repeat constructor. intros [].
- intros i I. exact I.
- apply Rle_refl.
- assert (L := below _ _ _ _ _ R (alike (fun _ => 1))). lra.
Qed.
Lemma other_total_sharp : ~ (forall n w v, forall B, exists F s, ranking n F s /\ B < total (seq 0
  n) (fun i => v i * F i) - rank_mean w F s).
Proof.
intros s. destruct (s 1%nat (fun _ => 1) (fun _ => 1) 0) as (F & r & R & l).
assert (L := below _ _ _ _ _ R (alike (fun _ => 1))). lra.
Qed.
