(* Limiting the coordinates of an update to +- the largest of their absolute values. *)
From Coq Require Import Reals Lra List.
Open Scope R_scope.

Definition largest (d : list R) : R := fold_right (fun x m => Rmax (Rabs x) m) 0 d.
Definition limit (bound x : R) : R := Rmax (- bound) (Rmin bound x).

Theorem unchanged : forall d, 0 <= largest d /\ map (limit (largest d)) d = d.
Proof.
intros d. assert (P : forall l, 0 <= largest l /\ forall x, In x l -> Rabs x <= largest l).
{ induction l as [| y l [IH H]]; simpl; [split; [lra | intros x []] |].
  assert (A := Rmax_l (Rabs y) (largest l)). assert (B := Rmax_r (Rabs y) (largest l)).
  split; [lra |]. intros x [<- | I]; [exact A | specialize (H x I); lra]. }
destruct (P d) as [p H]. split; [exact p |]. rewrite <- (map_id d) at 3. apply map_ext_in.
intros x I. specialize (H x I). assert (A := Rle_abs x). assert (B := Rle_abs (- x)).
rewrite Rabs_Ropp in B. unfold limit. rewrite Rmin_right, Rmax_right; lra.
Qed.

(* Each theorem with one number 1 % better, or one inequality strict, or not, is false. *)
Lemma unchanged_sharp : ~ (forall d, 0 <= largest d /\ map (limit (99 / 100 * largest d)) d = d).
Proof.
intros s. destruct (s (cons 1 nil)) as [_ e]. injection e as e. unfold limit, largest in e.
simpl in e. rewrite Rabs_R1, (Rmax_left 1), Rmin_left, Rmax_right in e; lra.
Qed.
