(* A finite X of m cells and n budgets: every solution has multipliers, of the form that cells.v
  shows
   to be enough. Farkas' lemma is proved by induction on the number of constraints. *)
From Coq Require Import Reals Lra Lia List Classical.
Open Scope R_scope.

Definition total (ks : list nat) (t : nat -> R) : R := fold_right (fun k s => t k + s) 0 ks.
Definition gain (u : nat -> R) (v : nat -> nat -> R) (lam : nat -> R) (n x : nat) : R :=
  u x + total (seq 0 n) (fun k => lam k * v k x).
Definition feasible (v : nat -> nat -> R) (b eps : nat -> R) (m n : nat) (g : nat -> R) : Prop :=
  (forall x, In x (seq 0 m) -> 0 <= g x <= 1)
  /\ (forall k, In k (seq 0 n) -> Rabs (total (seq 0 m) (fun x => v k x * g x) + b k) <= eps k).
Definition is_linear (a : (nat -> R) -> R) : Prop :=
  forall p q d e, a (fun x => p * d x + q * e x) = p * a d + q * a e.

Lemma plus : forall ks s t, total ks (fun k => s k + t k) = total ks s + total ks t.
Proof. intros ks s t. induction ks; simpl; [ring | rewrite IHks; ring]. Qed.

Lemma times : forall ks c t, total ks (fun k => c * t k) = c * total ks t.
Proof. intros ks c t. induction ks; simpl; [ring | rewrite IHks; ring]. Qed.

Lemma same : forall ks s t, (forall k, In k ks -> s k = t k) -> total ks s = total ks t.
Proof.
intros ks s t H. induction ks as [| k ks IH]; simpl; [reflexivity |].
rewrite IH by (intros; apply H; now right). rewrite (H k (or_introl eq_refl)). reflexivity.
Qed.

Lemma below : forall ks s t, (forall k, In k ks -> s k <= t k) -> total ks s <= total ks t.
Proof.
intros ks s t H. induction ks as [| k ks IH]; simpl; [lra |].
assert (A := H k (or_introl eq_refl)).
assert (total ks s <= total ks t) by (apply IH; intros; apply H; now right). lra.
Qed.

Lemma dot : forall m w, is_linear (fun d => total (seq 0 m) (fun x => w x * d x)).
Proof.
intros m w p q d e. rewrite <- !times, <- plus. apply same. intros. ring.
Qed.

Lemma last : forall n t, total (seq 0 (S n)) t = total (seq 0 n) t + t n.
Proof.
intros n t. rewrite seq_S. simpl. induction (seq 0 n) as [| k ks IH]; simpl; [ring |].
rewrite IH. ring.
Qed.

Lemma farkas : forall n (a : nat -> (nat -> R) -> R) c, (forall i, is_linear (a i)) -> is_linear c ->
  (forall d, (forall i, (i < n)%nat -> a i d <= 0) -> c d <= 0) ->
  exists y, (forall i, 0 <= y i) /\ forall d, c d = total (seq 0 n) (fun i => y i * a i d).
Proof.
induction n as [| n IH]; intros a c La Lc H.
- exists (fun _ => 0). split; [intros; lra |]. intros d. simpl.
  assert (P := H d ltac:(intros; lia)). assert (Q := H (fun x => (-1) * d x + 0 * d x)
    ltac:(intros; lia)). rewrite Lc in Q. lra.
- destruct (classic (forall d, (forall i, (i < n)%nat -> a i d <= 0) -> c d <= 0)) as [y | no].
  + destruct (IH a c La Lc y) as [w [W E]].
    exists (fun i => if Nat.eq_dec i n then 0 else w i). split.
    * intros i. destruct (Nat.eq_dec i n); [lra | apply W].
    * intros d. rewrite last, E. destruct (Nat.eq_dec n n); [| contradiction].
      rewrite Rmult_0_l, Rplus_0_r. apply same. intros i I. apply in_seq in I.
      destruct (Nat.eq_dec i n); [lia | reflexivity].
  + apply not_all_ex_not in no. destruct no as [d0 no]. apply imply_to_and in no.
    destruct no as [under over]. apply Rnot_le_lt in over.
    assert (A0 : 0 < a n d0).
    { apply Rnot_le_lt. intros le. assert (c d0 <= 0); [| lra]. apply H. intros i I.
      destruct (Nat.eq_dec i n) as [-> | ne]; [exact le | apply under; lia]. }
    set (r := fun d x => 1 * d x + (- (a n d / a n d0)) * d0 x).
    assert (lin : forall z, is_linear z -> is_linear (fun d => z d + (- (a n d / a n d0)) * z d0)).
    { intros z Z p q d e. rewrite Z, (La n). field. lra. }
    assert (at_r : forall z, is_linear z -> forall d, z (r d) = z d + (- (a n d / a n d0)) * z d0).
    { intros z Z d. unfold r. rewrite Z. ring. }
    destruct (IH (fun i d => a i d + (- (a n d / a n d0)) * a i d0)
      (fun d => c d + (- (a n d / a n d0)) * c d0)) as [w [W E]].
    * intros i. apply lin, La.
    * apply lin, Lc.
    * intros d D. rewrite <- at_r by exact Lc. apply H. intros i I. rewrite at_r by apply La.
      destruct (Nat.eq_dec i n) as [-> | ne]; [| apply D; lia].
      right. field. lra.
    * set (s := total (seq 0 n) (fun i => w i * a i d0)).
      assert (S0 : s <= 0).
      { unfold s. rewrite <- (Rmult_0_l (total (seq 0 n) (fun _ => 1))), <- times. apply below.
        intros i I. apply in_seq in I. assert (U := under i ltac:(lia)). assert (V := W i). nra. }
      exists (fun i => if Nat.eq_dec i n then (c d0 - s) / a n d0 else w i). split.
      -- intros i. destruct (Nat.eq_dec i n); [| apply W]. left. apply Rdiv_lt_0_compat; lra.
      -- intros d. rewrite last. destruct (Nat.eq_dec n n); [| contradiction].
         rewrite (same _ _ (fun i => w i * a i d)).
         ++ specialize (E d). rewrite (same _ _ (fun i => w i * a i d
              + (- (a n d / a n d0)) * (w i * a i d0))), plus, times in E by (intros; ring).
            fold s in E. assert (X : c d = c d + - (a n d / a n d0) * c d0 + a n d / a n d0 * c d0)
              by ring. rewrite X, E. field. lra.
         ++ intros i I. apply in_seq in I. destruct (Nat.eq_dec i n); [lia | reflexivity].
Qed.

Lemma enough : forall (Q : nat -> R -> Prop) ks,
  (forall k, In k ks -> exists r, 0 < r /\ forall t, 0 < t <= r -> Q k t) ->
  exists r, 0 < r /\ forall t, 0 < t <= r -> forall k, In k ks -> Q k t.
Proof.
intros Q ks. induction ks as [| k ks IH]; intros H.
- exists 1. split; [lra | intros t _ k []].
- destruct IH as [r [R0 R1]]; [intros; apply H; now right |].
  destruct (H k (or_introl eq_refl)) as [q [Q0 Q1]]. exists (Rmin r q).
  assert (A := Rmin_l r q). assert (B := Rmin_r r q). split; [now apply Rmin_glb_lt |].
  intros t T j [<- | J]; [apply Q1; lra | apply R1; [lra | exact J]].
Qed.

Lemma short : forall s p, 0 <= s -> (s = 0 -> p <= 0) ->
  exists r, 0 < r /\ forall t, 0 < t <= r -> t * p <= s.
Proof.
intros s p S P. destruct (Rle_lt_dec p 0) as [n | g].
- exists 1. split; [lra |]. intros t T. nra.
- assert (0 < s) by (destruct S as [S | <-]; [exact S | specialize (P eq_refl); lra]).
  exists (s / p). split; [now apply Rdiv_lt_0_compat |]. intros t T.
  apply Rle_trans with (s / p * p); [apply Rmult_le_compat_r; lra | right; field; lra].
Qed.

Lemma parts : forall m n t, total (seq 0 (m + n)) t = total (seq 0 m) t + total (seq 0 n) (fun k => t (m
  + k)%nat).
Proof.
intros m n t. induction n as [| n IH].
- rewrite Nat.add_0_r. simpl. ring.
- rewrite Nat.add_succ_r, !last, IH. ring.
Qed.

Lemma unit : forall m w x, In x (seq 0 m) ->
  total (seq 0 m) (fun i => w i * (if Nat.eq_dec i x then 1 else 0)) = w x.
Proof.
intros m w x I. assert (U := seq_NoDup m 0). induction (seq 0 m) as [| k ks IH]; [destruct I |].
inversion U as [| a b out U']. subst. simpl. destruct (Nat.eq_dec k x) as [-> | ne].
- enough (Z : total ks (fun i => w i * (if Nat.eq_dec i x then 1 else 0)) = 0) by (rewrite Z; ring).
  clear - out. induction ks as [| i ks IH]; [reflexivity |]. simpl.
  destruct (Nat.eq_dec i x); [exfalso; subst; apply out; now left |].
  rewrite IH; [ring | intros K; apply out; now right].
- destruct I as [I | I]; [contradiction |]. rewrite (IH I U'). ring.
Qed.

Theorem multipliers : forall u v b eps m n f, feasible v b eps m n f ->
  (forall g, feasible v b eps m n g ->
     total (seq 0 m) (fun x => u x * g x) <= total (seq 0 m) (fun x => u x * f x)) ->
  exists lam,
    (forall x, In x (seq 0 m) ->
       (0 < gain u v lam n x -> f x = 1) /\ (gain u v lam n x < 0 -> f x = 0))
    /\ (forall k, In k (seq 0 n) ->
          lam k * (total (seq 0 m) (fun x => v k x * f x) + b k) = - Rabs (lam k) * eps k)
    /\ forall g, (forall x, In x (seq 0 m) -> 0 <= g x <= 1) ->
         total (seq 0 m) (fun x => gain u v lam n x * g x)
         <= total (seq 0 m) (fun x => gain u v lam n x * f x).
Proof.
intros u v b eps m n f [box budget] best.
set (at_f := fun k => total (seq 0 m) (fun x => v k x * f x) + b k).
set (wall := fun x => if Req_EM_T (f x) 0 then -1 else if Req_EM_T (f x) 1 then 1 else 0).
set (top := fun k => if Req_EM_T (at_f k) (eps k) then 1 else 0).
set (bottom := fun k => if Req_EM_T (at_f k) (- eps k) then 1 else 0).
set (move := fun k d => total (seq 0 m) (fun x => v k x * d x)).
set (a := fun i d => if lt_dec i m then wall i * d i
  else if lt_dec i (m + n) then top (i - m)%nat * move (i - m)%nat d
  else - bottom (i - m - n)%nat * move (i - m - n)%nat d).
assert (Lm : forall k, is_linear (move k)) by (intros k; apply dot).
assert (La : forall i, is_linear (a i)).
{ intros i p q d e. unfold a. destruct (lt_dec i m); [ring |].
  destruct (lt_dec i (m + n)); rewrite (Lm _ p q d e); ring. }
destruct (farkas (m + n + n) a (fun d => total (seq 0 m) (fun x => u x * d x)) La (dot m u))
  as [y [Y E]].
{ intros d D.
  assert (D1 : forall x, In x (seq 0 m) -> wall x * d x <= 0).
  { intros x I. apply in_seq in I. specialize (D x ltac:(lia)). unfold a in D.
    destruct (lt_dec x m); [exact D | lia]. }
  assert (D2 : forall k, In k (seq 0 n) -> top k * move k d <= 0).
  { intros k I. apply in_seq in I. specialize (D (m + k)%nat ltac:(lia)). unfold a in D.
    destruct (lt_dec (m + k) m); [lia |]. destruct (lt_dec (m + k) (m + n)); [| lia].
    replace (m + k - m)%nat with k in D by lia. exact D. }
  assert (D3 : forall k, In k (seq 0 n) -> - bottom k * move k d <= 0).
  { intros k I. apply in_seq in I. specialize (D (m + n + k)%nat ltac:(lia)). unfold a in D.
    destruct (lt_dec (m + n + k) m); [lia |]. destruct (lt_dec (m + n + k) (m + n)); [lia |].
    replace (m + n + k - m - n)%nat with k in D by lia. exact D. }
  destruct (enough (fun x t => 0 <= f x + t * d x <= 1) (seq 0 m)) as [r [R0 R1]].
  { intros x I. specialize (D1 x I). unfold wall in D1. specialize (box x I).
    destruct (short (f x) (- d x)) as [r1 [p1 q1]]; [lra | |].
    - intros z. destruct (Req_EM_T (f x) 0); [lra | contradiction].
    - destruct (short (1 - f x) (d x)) as [r2 [p2 q2]]; [lra | |].
      + intros z. destruct (Req_EM_T (f x) 0); [lra |].
        destruct (Req_EM_T (f x) 1); [lra | exfalso; lra].
      + exists (Rmin r1 r2). assert (A := Rmin_l r1 r2). assert (B := Rmin_r r1 r2).
        split; [now apply Rmin_glb_lt |]. intros t T.
        specialize (q1 t ltac:(lra)). specialize (q2 t ltac:(lra)). lra. }
  destruct (enough (fun k t => Rabs (at_f k + t * move k d) <= eps k) (seq 0 n)) as [s [S0 S1]].
  { intros k I. specialize (D2 k I). specialize (D3 k I). unfold top in D2. unfold bottom in D3.
    assert (A := budget k I). fold (at_f k) in A. assert (A1 := Rle_abs (at_f k)).
    assert (A2 := Rle_abs (- at_f k)). rewrite Rabs_Ropp in A2.
    destruct (short (eps k - at_f k) (move k d)) as [r1 [p1 q1]]; [lra | |].
    - intros z. destruct (Req_EM_T (at_f k) (eps k)); [lra | exfalso; lra].
    - destruct (short (eps k + at_f k) (- move k d)) as [r2 [p2 q2]]; [lra | |].
      + intros z. destruct (Req_EM_T (at_f k) (- eps k)); [lra | exfalso; lra].
      + exists (Rmin r1 r2). assert (B1 := Rmin_l r1 r2). assert (B2 := Rmin_r r1 r2).
        split; [now apply Rmin_glb_lt |]. intros t T. apply Rabs_le.
        specialize (q1 t ltac:(lra)). specialize (q2 t ltac:(lra)). lra. }
  set (t := Rmin r s). assert (A := Rmin_l r s). assert (B := Rmin_r r s).
  assert (T : 0 < t) by now apply Rmin_glb_lt. fold t in A, B.
  assert (G := best (fun x => 1 * f x + t * d x)).
  assert (Lu := dot m u 1 t f d). cbn beta in Lu, G. rewrite Lu in G.
  enough (F : feasible v b eps m n (fun x => 1 * f x + t * d x)) by (specialize (G F); nra).
  split.
  - intros x I. specialize (R1 t ltac:(lra) x I). lra.
  - intros k I. specialize (S1 t ltac:(lra) k I). assert (Lk := Lm k 1 t f d). unfold move in Lk.
    rewrite Lk. unfold at_f, move in S1.
    replace (1 * total (seq 0 m) (fun x => v k x * f x) + t * total (seq 0 m) (fun x => v k x * d x) +
      b k)
      with (total (seq 0 m) (fun x => v k x * f x) + b k + t * total (seq 0 m) (fun x => v k x * d x))
      by ring. exact S1. }
set (lam := fun k => bottom k * y (m + n + k)%nat - top k * y (m + k)%nat).
assert (value : forall x, In x (seq 0 m) -> gain u v lam n x = y x * wall x).
{ intros x I. specialize (E (fun i => if Nat.eq_dec i x then 1 else 0)).
  cbn beta in E. rewrite (unit m u x I), !parts in E.
  rewrite (same (seq 0 m) _ (fun i => (y i * wall i) * (if Nat.eq_dec i x then 1 else 0))) in E.
  2: { intros i J. apply in_seq in J. unfold a. destruct (lt_dec i m); [ring | lia]. }
  rewrite (unit m (fun i => y i * wall i) x I) in E.
  assert (M : forall k, move k (fun i => if Nat.eq_dec i x then 1 else 0) = v k x).
  { intros k. unfold move. apply unit, I. }
  rewrite (same (seq 0 n) (fun k => y (m + k)%nat * a (m + k)%nat _)
    (fun k => top k * y (m + k)%nat * v k x)) in E.
  2: { intros k J. apply in_seq in J. unfold a. destruct (lt_dec (m + k) m); [lia |].
       destruct (lt_dec (m + k) (m + n)); [| lia]. replace (m + k - m)%nat with k by lia.
       rewrite M. ring. }
  rewrite (same (seq 0 n) (fun k => y (m + n + k)%nat * a (m + n + k)%nat _)
    (fun k => -1 * (bottom k * y (m + n + k)%nat * v k x))) in E.
  2: { intros k J. apply in_seq in J. unfold a. destruct (lt_dec (m + n + k) m); [lia |].
       destruct (lt_dec (m + n + k) (m + n)); [lia |].
       replace (m + n + k - m - n)%nat with k by lia. rewrite M. ring. }
  unfold gain. rewrite E, (same (seq 0 n) (fun k => lam k * v k x)
    (fun k => bottom k * y (m + n + k)%nat * v k x + -1 * (top k * y (m + k)%nat * v k x)))
    by (intros; unfold lam; ring).
  rewrite plus, !times. ring. }
assert (rule : forall x, In x (seq 0 m) ->
  (0 < gain u v lam n x -> f x = 1) /\ (gain u v lam n x < 0 -> f x = 0)).
{ intros x I. rewrite (value x I). unfold wall. assert (P := Y x).
  destruct (Req_EM_T (f x) 0) as [z |]; [split; intros; [lra | exact z] |].
  destruct (Req_EM_T (f x) 1) as [z |]; split; intros; try exact z; lra. }
exists lam. split; [exact rule | split].
- intros k I. fold (at_f k). unfold lam, top, bottom.
  assert (P := Y (m + k)%nat). assert (Q := Y (m + n + k)%nat).
  destruct (Req_EM_T (at_f k) (eps k)) as [e | e], (Req_EM_T (at_f k) (- eps k)) as [e' | e'].
  + assert (z : eps k = 0) by lra. rewrite e, z. ring.
  + rewrite Rabs_left1 by lra. rewrite e. ring.
  + rewrite Rabs_right by lra. rewrite e'. ring.
  + replace (0 * y (m + n + k)%nat - 0 * y (m + k)%nat) with 0 by ring. rewrite Rabs_R0. ring.
- intros g G. apply below. intros x I. destruct (rule x I) as [up down]. specialize (G x I).
  destruct (Rtotal_order (gain u v lam n x) 0) as [l | [z | l]].
  + rewrite (down l). nra.
  + rewrite z. lra.
  + rewrite (up l). nra.
Qed.

(* The hypotheses of each theorem can hold together. *)
Lemma multipliers_witness : (exists u v b eps m n f, feasible v b eps m n f
  /\ (forall g, feasible v b eps m n g
    -> total (seq 0 m) (fun x => u x * g x) <= total (seq 0 m) (fun x => u x * f x))
  /\ exists lam x, In x (seq 0 m) /\ 0 < gain u v lam n x)
  /\ (exists u v b eps m n f, feasible v b eps m n f
  /\ (forall g, feasible v b eps m n g
    -> total (seq 0 m) (fun x => u x * g x) <= total (seq 0 m) (fun x => u x * f x))
  /\ exists lam x, In x (seq 0 m) /\ gain u v lam n x < 0)
  /\ (exists u v b eps m n f, feasible v b eps m n f
  /\ (forall g, feasible v b eps m n g
    -> total (seq 0 m) (fun x => u x * g x) <= total (seq 0 m) (fun x => u x * f x))
  /\ exists k, In k (seq 0 n))
  /\ exists u v b eps m n f, feasible v b eps m n f
  /\ (forall g, feasible v b eps m n g
    -> total (seq 0 m) (fun x => u x * g x) <= total (seq 0 m) (fun x => u x * f x))
  /\ exists g : nat -> R, forall x, In x (seq 0 m) -> 0 <= g x <= 1.
Proof.
repeat split; exists (fun _ => 0), (fun _ _ => 1), (fun _ => 0), (fun _ => 0), 1%nat, 1%nat,
  (fun _ => 0); (split; [split; intros; [lra |] | split; [intros; unfold total; simpl; lra |]]);
  try (unfold total; simpl; replace (1 * 0 + 0 + 0) with 0 by ring; rewrite Rabs_R0; lra).
- exists (fun _ => 1), 0%nat. unfold gain, total. simpl. split; [auto | lra].
- exists (fun _ => -1), 0%nat. unfold gain, total. simpl. split; [auto | lra].
- exists 0%nat. simpl. auto.
- exists (fun _ => 0). intros. lra.
Qed.

(* Each theorem with one number 1 % better, or one inequality strict, or not, is false. *)
Lemma multipliers_sharp : ~ (forall u v b eps m n f, feasible v b eps m n f -> (forall g, feasible
  v b eps m n g -> total (seq 0 m) (fun x => u x * g x) <= total (seq 0 m) (fun x => u x * f x)) ->
  exists lam, (forall x, In x (seq 0 m) -> (0 < gain u v lam n x -> f x = 1) /\ (gain u v lam n x <
  0 -> f x = 0)) /\ (forall k, In k (seq 0 n) -> lam k * (total (seq 0 m) (fun x => v k x * f x) +
  b k) = 99 / 100 * (- Rabs (lam k) * eps k)) /\ forall g, (forall x, In x (seq 0 m) -> 0 <= g x <=
  1) -> total (seq 0 m) (fun x => gain u v lam n x * g x) <= total (seq 0 m) (fun x => gain u v lam
  n x * f x)).
Proof.
intros s. destruct (s (fun _ => 1) (fun _ _ => 1) (fun _ => 0) (fun _ => 1 / 2) 1%nat 1%nat
  (fun _ => 1 / 2)) as (lam & g & e & _).
- split; intros; [lra |]. simpl. rewrite Rabs_right; lra.
- intros h [_ b]. specialize (b 0%nat (or_introl eq_refl)). simpl in *.
  assert (A := Rle_abs (1 * h 0%nat + 0 + 0)). lra.
- specialize (g 0%nat (or_introl eq_refl)). specialize (e 0%nat (or_introl eq_refl)).
  unfold gain in g. simpl in *. destruct g as [p q].
  destruct (Rtotal_order (1 + (lam 0%nat * 1 + 0)) 0) as [l | [l | l]]; [lra | | lra].
  rewrite Rabs_left in e; lra.
Qed.
