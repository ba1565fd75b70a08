(* The Gini index of n utilities u >= 0, not all 0, by ranks (phi is u in descending order) and by
   pairs. ranked k phi weights the first value by 2k - 1, the next by 2k + 1, and so on. *)
From Coq Require Import Reals Lra Lia List Permutation Sorted.
Open Scope R_scope.

Definition total (l : list R) : R := fold_right Rplus 0 l.
Fixpoint ranked (k : R) (l : list R) : R :=
  match l with nil => 0 | x :: t => (2 * k - 1) * x + ranked (k + 1) t end.
Definition pairs (l : list R) : R :=
  total (map (fun x => total (map (fun y => Rabs (x - y)) l)) l).
Definition gini (u phi : list R) : R :=
  1 - / (INR (length u) ^ 2) * (ranked 1 phi / (total u / INR (length u))).

Lemma same : forall l l', Permutation l l' -> total l = total l'.
Proof. intros l l' P. unfold total. induction P; simpl; lra. Qed.

Lemma shift : forall l k, ranked (k + 1) l = ranked k l + 2 * total l.
Proof. induction l as [| x l IH]; intros k; simpl; [lra | rewrite (IH (k + 1)); unfold total; lra].
  Qed.

Lemma add : forall (s t : R -> R) l, total (map (fun x => s x + t x) l) = total (map s l) + total (map t
  l).
Proof. intros s t l. unfold total. induction l; simpl; lra. Qed.

Lemma equal : forall (s t : R -> R) l, (forall x, In x l -> s x = t x) ->
  total (map s l) = total (map t l).
Proof.
intros s t l H. unfold total. induction l as [| x l IH]; simpl; [reflexivity |].
rewrite IH by (intros; apply H; now right). rewrite (H x (or_introl eq_refl)). reflexivity.
Qed.

Lemma least : forall (s : R -> R) l, (forall x, In x l -> 0 <= s x) ->
  0 <= total (map s l) /\ (total (map s l) = 0 -> forall x, In x l -> s x = 0).
Proof.
intros s l. induction l as [| x l IH]; intros P; simpl; [split; [lra | intros _ y []] |].
destruct IH as [a b]; [intros; apply P; now right |]. assert (Q := P x (or_introl eq_refl)).
split; [lra |]. intros Z y [<- | I]; [lra | apply b; [lra | exact I]].
Qed.

Lemma by_pairs : forall phi, StronglySorted Rge phi ->
  pairs phi = 2 * (INR (length phi) * total phi - ranked 1 phi).
Proof.
intros phi S. induction S as [| x t S IH F]; [unfold pairs; simpl; lra |].
assert (G : forall y, In y t -> Rabs (x - y) = x - y /\ Rabs (y - x) = x - y).
{ intros y I. rewrite Forall_forall in F. specialize (F y I). rewrite (Rabs_minus_sym y x).
  rewrite Rabs_right by lra. split; reflexivity. }
assert (D : total (map (fun y => x - y) t) = INR (length t) * x - total t).
{ clear. unfold total. induction t as [| y t IH]; [simpl; lra |]. cbn [map length fold_right].
  rewrite S_INR, IH. ring. }
assert (A : pairs (x :: t) = 2 * total (map (fun y => x - y) t) + pairs t).
{ unfold pairs. cbn [map]. unfold total at 1. cbn [fold_right map].
  fold (total (map (fun x0 => total (map (fun y => Rabs (x0 - y)) (x :: t))) t)). fold total.
  assert (B : total (map (fun x0 => total (Rabs (x0 - x) :: map (fun y => Rabs (x0 - y)) t)) t)
    = total (map (fun y => x - y) t) + total (map (fun x0 => total (map (fun y => Rabs (x0 - y)) t)) t)).
  { rewrite <- add. apply equal. intros y I. unfold total at 1. cbn [fold_right].
    fold (total (map (fun z => Rabs (y - z)) t)). rewrite (proj2 (G y I)). reflexivity. }
  assert (C : total (Rabs (x - x) :: map (fun y => Rabs (x - y)) t) = total (map (fun y => x - y) t)).
  { unfold total at 1. cbn [fold_right]. fold (total (map (fun y => Rabs (x - y)) t)).
    rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. rewrite (equal _ (fun y => x - y)); [lra |].
    intros y I. apply (G y I). }
  cbn [map] in *. unfold total at 1 in C. unfold total at 1 in B. unfold total in *. simpl in *. lra. }
rewrite A, IH, D. cbn [length ranked]. rewrite S_INR, shift. unfold total. simpl. ring.
Qed.

Theorem by_rank : forall u phi, Permutation u phi -> StronglySorted Rge phi ->
  (forall x, In x u -> 0 <= x) -> 0 < total u ->
  gini u phi = pairs u / (2 * INR (length u) ^ 2 * (total u / INR (length u)))
  /\ 0 <= gini u phi <= 1 - / INR (length u)
  /\ (gini u phi = 0 <-> forall x y, In x u -> In y u -> x = y).
Proof.
intros u phi P S U T.
assert (N : 0 < INR (length u)).
{ apply lt_0_INR. destruct u as [| x u]; [unfold total in T; simpl in T; lra | simpl; lia]. }
assert (L : length phi = length u) by (symmetry; now apply Permutation_length).
assert (E : pairs u = pairs phi).
{ unfold pairs. rewrite (same _ _ (Permutation_map _ P)). apply equal. intros x _.
  apply same, Permutation_map, P. }
assert (B := by_pairs phi S). rewrite <- E, L, <- (same _ _ P) in B.
set (n := INR (length u)) in *.
assert (V : gini u phi = pairs u / (2 * n ^ 2 * (total u / n))).
{ rewrite B. unfold gini. fold n. field. lra. }
assert (W : pairs u / (2 * n ^ 2 * (total u / n)) = pairs u * / (2 * n * total u)).
{ assert (T' := T). field. split; lra. }
assert (I : 0 < / (2 * n * total u)).
{ apply Rinv_0_lt_compat, Rmult_lt_0_compat; [lra | exact T]. }
assert (inner : forall x, 0 <= total (map (fun y => Rabs (x - y)) u)
  /\ (total (map (fun y => Rabs (x - y)) u) = 0 -> forall y, In y u -> Rabs (x - y) = 0)).
{ intros x. apply least. intros; apply Rabs_pos. }
destruct (least (fun x => total (map (fun y => Rabs (x - y)) u)) u (fun x _ => proj1 (inner x)))
  as [O Z]. fold (pairs u) in O, Z.
assert (low : forall l k, 1 <= k -> (forall x, In x l -> 0 <= x) -> total l <= ranked k l).
{ intros l. induction l as [| x l IH]; intros k K Q; [simpl; lra |].
  change (x + total l <= (2 * k - 1) * x + ranked (k + 1) l).
  assert (H := IH (k + 1) ltac:(lra) (fun y J => Q y (or_intror J))).
  assert (W0 := Q x (or_introl eq_refl)).
  assert (0 <= (k - 1) * x) by (apply Rmult_le_pos; lra). lra. }
assert (H := low phi 1 ltac:(lra)
  (fun x J => U x (Permutation_in x (Permutation_sym P) J))). rewrite <- (same _ _ P) in H.
split; [exact V |]. rewrite V, W. split; [split |].
- apply Rmult_le_pos; lra.
- apply Rle_trans with (2 * (n * total u - total u) * / (2 * n * total u)).
  + apply Rmult_le_compat_r; lra.
  + right. field. lra.
- split.
  + intros z. apply Rmult_integral in z. destruct z as [z |]; [| lra]. intros x y X Y.
    assert (A := proj2 (inner x) (Z z x X) y Y). destruct (Req_dec x y) as [| d]; [assumption |].
    exfalso. revert A. apply Rabs_no_R0. lra.
  + intros A. enough (z : pairs u = 0) by (rewrite z; ring). unfold pairs.
    rewrite (equal _ (fun _ => 0 * 1)).
    * clear. unfold total. induction u; simpl; lra.
    * intros x X. rewrite (equal _ (fun _ => 0 * 1)).
      -- clear. unfold total. induction u; simpl; lra.
      -- intros y Y. rewrite (A x y X Y), Rminus_diag_eq, Rabs_R0 by reflexivity. ring.
Qed.

(* The hypotheses of each theorem can hold together. *)
Lemma by_rank_witness : exists u phi, (Permutation u phi) /\ (StronglySorted Rge phi) /\ ((forall
  x, In x u -> 0 <= x)) /\ (0 < total u) /\ exists x y, In x u /\ In y u.
Proof.
exists (cons 1 nil), (cons 1 nil). split; [apply Permutation_refl |]. split; [repeat constructor |].
split; [intros x [e | []]; lra |]. split; [simpl; lra |]. exists 1, 1. simpl. auto.
Qed.

(* Each theorem with one number 1 % better, or one inequality strict, or not, is false. *)
Lemma by_rank_sharp : ~ (forall u phi, Permutation u phi -> StronglySorted Rge phi -> (forall x, In
  x u -> 0 <= x) -> 0 < total u -> gini u phi = pairs u / (2 * INR (length u) ^ 2 * (total u / INR
  (length u))) /\ (0 <= gini u phi /\ (gini u phi < 1 - / INR (length u) \/ 1 - / INR (length u) =
  0)) /\ (gini u phi = 0 <-> forall x y, In x u -> In y u -> x = y)).
Proof.
intros s. destruct (s (cons 1 (cons 0 nil)) (cons 1 (cons 0 nil))) as (_ & [_ [l | l]] & _).
- apply Permutation_refl.
- repeat constructor; lra.
- simpl. intros x [e | [e | []]]; lra.
- simpl. lra.
- unfold gini in l. simpl in l. field_simplify in l; lra.
- simpl in l. lra.
Qed.
