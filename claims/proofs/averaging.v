(* Federated averaging on R^d, with laws as expectations: a law m takes a function f of the outcome
   to m f, its mean. Every law of finitely many outcomes is one. *)
From Coq Require Import Reals Lra Lia List FunctionalExtensionality.
Open Scope R_scope.

Fixpoint total (n : nat) (t : nat -> R) : R := match n with O => 0 | S k => total k t + t k end.
Definition dot (d : nat) (x y : nat -> R) : R := total d (fun k => x k * y k).
Definition square (d : nat) (x : nat -> R) : R := dot d x x.
Definition shift (x : nat -> R) (c : R) (y : nat -> R) (k : nat) : R := x k + c * y k.
Definition mean (n : nat) (p : nat -> R) (x : nat -> nat -> R) (k : nat) : R :=
  total n (fun i => p i * x i k).
Definition law (A : Type) (m : (A -> R) -> R) : Prop :=
  (forall f g, (forall a, f a <= g a) -> m f <= m g)
  /\ (forall c f g, m (fun a => c * f a + g a) = c * m f + m g) /\ m (fun _ => 1) = 1.
Fixpoint place (eta : R) (theta : nat -> R) (h : list (nat -> R)) : nat -> R :=
  match h with nil => theta | cons v k => shift (place eta theta k) (- eta) v end.
Fixpoint local (draw : (nat -> R) -> ((nat -> R) -> R) -> R) (eta : R) (theta : nat -> R) (K : nat)
  : (list (nat -> R) -> R) -> R :=
  match K with
  | O => fun f => f nil
  | S k => fun f => local draw eta theta k
      (fun h => draw (place eta theta h) (fun v => f (cons v h)))
  end.
Definition next (A : Type) (chosen : (A -> R) -> R) (share : A -> nat -> R) (n : nat) (eta : R)
  (runs : (nat -> R) -> ((nat -> list (nat -> R)) -> R) -> R) (x : nat -> R) (f : (nat -> R) -> R)
  : R :=
  chosen (fun o => runs x (fun h => f (mean n (share o) (fun i => place eta x (h i))))).
Fixpoint rounds (step : (nat -> R) -> ((nat -> R) -> R) -> R) (theta : nat -> R) (T : nat)
  : ((nat -> R) -> R) -> R :=
  match T with O => fun f => f theta | S t => fun f => rounds step theta t (fun x => step x f) end.

Definition clients (d n : nat) (F : (nat -> R) -> R) (dF : (nat -> R) -> nat -> R)
  (df : nat -> (nat -> R) -> nat -> R) (draw : nat -> (nat -> R) -> ((nat -> R) -> R) -> R)
  (L : R) (s : nat -> R) (g : R) : Prop :=
  0 < L /\ (forall x h, derivable_pt_lim (fun t => F (shift x t h)) 0 (dot d (dF x) h))
  /\ (forall x y, square d (shift (dF y) (-1) (dF x)) <= L ^ 2 * square d (shift y (-1) x))
  /\ forall i, (i < n)%nat -> forall x, law (nat -> R) (draw i x)
    /\ draw i x (fun v => square d (shift v (-1) (df i x))) <= s i
    /\ square d (shift (df i x) (-1) (dF x)) <= g
    /\ forall y, square d (shift (df i y) (-1) (df i x)) <= L ^ 2 * square d (shift y (-1) x).
Definition unbiased (d n : nat) (df : nat -> (nat -> R) -> nat -> R)
  (draw : nat -> (nat -> R) -> ((nat -> R) -> R) -> R) : Prop :=
  forall i, (i < n)%nat -> forall x u,
    draw i x (fun v => dot d (shift v (-1) (df i x)) u) = 0.
Definition averaging (A : Type) (chosen : (A -> R) -> R) (share : A -> nat -> R) (n : nat)
  (K : nat -> nat) (eta : R) (draw : nat -> (nat -> R) -> ((nat -> R) -> R) -> R)
  (runs : (nat -> R) -> ((nat -> list (nat -> R)) -> R) -> R) : Prop :=
  law A chosen
  /\ (forall o, total n (share o) = 1 /\ forall i, (i < n)%nat -> 0 <= share o i)
  /\ forall x, law (nat -> list (nat -> R)) (runs x)
    /\ forall i f, (i < n)%nat -> runs x (fun h => f (h i)) = local (draw i) eta x (K i) f.
Definition short (n : nat) (K : nat -> nat) (L eta : R) : Prop :=
  0 < eta /\ forall i, (i < n)%nat -> (1 <= K i)%nat /\ 6 * L * INR (K i) * eta <= 1.
Definition front : R := 12.
Definition steps : R := 24.
Definition apart : R := 2.
Definition drift : R := 2.
Definition fourth : R := 6.
Definition noise (K s g : R) : R := K ^ 2 * (s + apart * g).
Definition away (K s g : R) : R := K ^ 3 * (s + fourth * K * g).
Definition right_side (mu eta L gap T c2 c3 : R) : R :=
  front / ((11 * mu - 9) * eta) * (gap / T
    + eta / 2 * (c2 + drift * (exp 1 - 2) * eta ^ 2 * L ^ 2 * c3)).
Definition within : R := 9 / 5.
Definition pace : R := 16.
Definition wide (K s g : R) : R := K ^ 2 * (within * s + apart * g).
Definition wide_side (mu eta gap T c : R) : R :=
  front / ((11 * mu - 9) * eta) * (gap / T + eta / 2 * c).
Definition at_eta : R := 1 / 13.
Definition wide_there : R := 67174 / 1403.
Definition without_drift : R := 51902 / 1403.
Definition with_drift : R := 14779460 / 10309.

Lemma sum_ext : forall n a b, (forall i, (i < n)%nat -> a i = b i) -> total n a = total n b.
Proof.
induction n as [| n IH]; intros a b H; simpl; [reflexivity |]. rewrite (IH a b), H; auto.
Qed.

Lemma sum_le : forall n a b, (forall i, (i < n)%nat -> a i <= b i) -> total n a <= total n b.
Proof.
induction n as [| n IH]; intros a b H; simpl; [lra |].
assert (total n a <= total n b) by auto. assert (a n <= b n) by auto. lra.
Qed.

Lemma sum_lin : forall n c a b, total n (fun i => c * a i + b i) = c * total n a + total n b.
Proof. induction n as [| n IH]; intros; simpl; [ring | rewrite IH; ring]. Qed.

Lemma sum_const : forall n c, total n (fun _ => c) = INR n * c.
Proof. induction n as [| n IH]; intros; [simpl; ring | rewrite S_INR; simpl; rewrite IH; ring]. Qed.

Lemma sum_times : forall n c a, total n (fun i => c * a i) = c * total n a.
Proof.
intros. rewrite (sum_ext n _ (fun i => c * a i + 0)) by (intros; ring).
rewrite sum_lin, sum_const. ring.
Qed.

Lemma dot_sym : forall d x y, dot d x y = dot d y x.
Proof. intros. apply sum_ext. intros. ring. Qed.

Lemma dot_plus : forall d x c y z, dot d (shift x c y) z = dot d x z + c * dot d y z.
Proof.
intros. rewrite Rplus_comm. unfold dot. rewrite <- sum_lin. apply sum_ext. intros.
unfold shift. ring.
Qed.

Lemma plus_dot : forall d x c y z, dot d z (shift x c y) = dot d z x + c * dot d z y.
Proof. intros. rewrite dot_sym, dot_plus, (dot_sym d x), (dot_sym d y). reflexivity. Qed.

Lemma dot_mean : forall d n p x z, dot d (mean n p x) z = total n (fun i => p i * dot d (x i) z).
Proof.
intros d n p x z. induction n as [| n IH]; simpl.
- unfold dot, mean. simpl. rewrite (sum_ext d _ (fun _ => 0)) by (intros; ring).
  rewrite sum_const. ring.
- rewrite <- IH, Rplus_comm. unfold dot. rewrite <- sum_lin. apply sum_ext.
  intros. unfold mean. simpl. ring.
Qed.

Lemma square_pos : forall d x, 0 <= square d x.
Proof.
intros d x. replace 0 with (total d (fun _ => 0)) by (rewrite sum_const; ring).
apply sum_le. intros. nra.
Qed.

Lemma square_same : forall d x y, (forall z, dot d x z = dot d y z) -> square d x = square d y.
Proof. intros d x y H. unfold square. rewrite H, dot_sym, H. reflexivity. Qed.

(* F is at most quadratic where its gradient is Lipschitz. *)
Lemma above : forall d F dF L x y, 0 < L ->
  (forall x h, derivable_pt_lim (fun t => F (shift x t h)) 0 (dot d (dF x) h)) ->
  (forall x y, square d (shift (dF y) (-1) (dF x)) <= L ^ 2 * square d (shift y (-1) x)) ->
  F y <= F x + dot d (dF x) (shift y (-1) x) + L / 2 * square d (shift y (-1) x).
Proof.
intros d F dF L x y L0 D lip. set (h := shift y (-1) x). set (q := square d h).
assert (add : forall t u, shift (shift x t h) u h = shift x (t + u) h).
{ intros. apply functional_extensionality. intros k. unfold shift. ring. }
assert (slope : forall t, derivable_pt_lim (fun t => F (shift x t h)) t (dot d (dF (shift x t h)) h)).
{ intros t eps pos. destruct (D (shift x t h) h eps pos) as [delta H]. exists delta. intros u n s.
  specialize (H u n s). rewrite !add, Rplus_0_l, Rplus_0_r in H. exact H. }
destruct (MVT_cor2 (fun t => F (shift x t h) - (dot d (dF x) h * t + L / 2 * q * (t * t)))
  (fun t => dot d (dF (shift x t h)) h - (dot d (dF x) h * 1 + L / 2 * q * (1 * t + t * 1))) 0 1
  Rlt_0_1) as [c [e [c0 c1]]].
- intros t _. apply (derivable_pt_lim_minus (fun t => F (shift x t h))); [apply slope |].
  apply (derivable_pt_lim_plus (fun t => dot d (dF x) h * t)).
  + apply (derivable_pt_lim_scal id), derivable_pt_lim_id.
  + apply (derivable_pt_lim_scal (fun t => t * t)).
    apply (derivable_pt_lim_mult id id); apply derivable_pt_lim_id.
- assert (y1 : shift x 1 h = y) by (apply functional_extensionality; intros; unfold h, shift; ring).
  assert (x0 : shift x 0 h = x) by (apply functional_extensionality; intros; unfold shift; ring).
  cbn beta in e. rewrite y1, x0 in e. fold q.
  enough (dot d (dF (shift x c h)) h - dot d (dF x) h <= L * c * q) by lra.
  set (a := shift (dF (shift x c h)) (-1) (dF x)).
  assert (A : square d a <= L ^ 2 * (c ^ 2 * q)).
  { apply Rle_trans with (1 := lip x (shift x c h)). right. f_equal.
    rewrite (square_same d _ (shift (fun _ => 0) c h)).
    - unfold q, square, dot. rewrite <- sum_times. apply sum_ext. intros. unfold shift. ring.
    - intros z. unfold dot. apply sum_ext. intros. unfold shift. ring. }
  assert (S := square_pos d (shift a (- (L * c)) h)).
  assert (E : dot d (dF (shift x c h)) h - dot d (dF x) h = dot d a h).
  { unfold a. rewrite dot_plus. ring. }
  rewrite E. unfold square in S. rewrite dot_plus, !plus_dot in S.
  fold (square d a) (square d h) in S. fold q in S. rewrite (dot_sym d h a) in S.
  assert (0 < L * c) by now apply Rmult_lt_0_compat.
  apply Rmult_le_reg_l with (2 * (L * c)); [lra |]. nra.
Qed.

(* Jensen's inequality and Cauchy's, for the mean of vectors. *)
Lemma jensen : forall d n p x, (forall i, (i < n)%nat -> 0 <= p i) -> total n p = 1 ->
  square d (mean n p x) <= total n (fun i => p i * square d (x i)).
Proof.
intros d n p x P one. set (m := mean n p x).
assert (E : square d m = total n (fun i => p i * dot d (x i) m)) by apply dot_mean.
assert (B : total n (fun i => p i * (2 * dot d (x i) m - square d m))
  <= total n (fun i => p i * square d (x i))).
{ apply sum_le. intros i I. apply Rmult_le_compat_l; [now apply P |].
  assert (S := square_pos d (shift (x i) (-1) m)). unfold square in *.
  rewrite dot_plus, !plus_dot, (dot_sym d m (x i)) in S. lra. }
rewrite (sum_ext n _ (fun i => 2 * (p i * dot d (x i) m) + - square d m * p i)) in B
  by (intros; ring).
rewrite sum_lin, <- E in B.
rewrite (sum_ext n (fun i => - square d m * p i) (fun i => - square d m * p i + 0)) in B
  by (intros; ring).
rewrite sum_lin, one, sum_const in B. lra.
Qed.

Lemma cauchy : forall d n p x,
  square d (mean n p x) <= total n (fun i => total n (fun j => p j * p j) * square d (x i)).
Proof.
intros d n p x. set (P := total n (fun j => p j * p j)). set (m := mean n p x).
assert (E : square d m = total n (fun i => p i * dot d (x i) m)) by apply dot_mean.
assert (P0 : 0 <= P).
{ replace 0 with (total n (fun _ => 0)) by (rewrite sum_const; ring). apply sum_le. intros. nra. }
assert (Z : total n (fun i => P * square d (x i)) = P * total n (fun i => square d (x i))).
{ rewrite (sum_ext n _ (fun i => P * square d (x i) + 0)) by (intros; ring).
  rewrite sum_lin, sum_const. ring. }
rewrite Z.
assert (B : total n (fun i => 2 * P * (p i * dot d (x i) m) - p i * p i * square d m)
  <= total n (fun i => P * P * square d (x i))).
{ apply sum_le. intros i I. assert (S := square_pos d (shift (shift (x i) (P - 1) (x i)) (- p i) m)).
  unfold square in *. rewrite !dot_plus, !plus_dot, (dot_sym d m (x i)) in S. lra. }
rewrite (sum_ext n (fun i => _ - _)
  (fun i => 2 * P * (p i * dot d (x i) m) + (- square d m * (p i * p i) + 0))) in B
  by (intros; ring).
rewrite !sum_lin, <- E, sum_const in B. fold P in B.
rewrite (sum_ext n (fun i => P * P * square d (x i)) (fun i => P * P * square d (x i) + 0)) in B
  by (intros; ring).
rewrite sum_lin, sum_const in B.
destruct (Rle_lt_or_eq_dec 0 P P0) as [pos | zero].
- apply Rmult_le_reg_l with P; [exact pos |]. nra.
- rewrite <- zero, Rmult_0_l, E. right.
  rewrite (sum_ext n _ (fun _ => 0)); [rewrite sum_const; ring |]. intros i I.
  enough (p i = 0) as -> by ring. unfold P in zero. clear - zero I.
  induction n as [| n IH]; [lia |].
  simpl in zero. assert (0 <= total n (fun j => p j * p j)).
  { replace 0 with (total n (fun _ => 0)) by (rewrite sum_const; ring). apply sum_le. intros. nra. }
  assert (Q : 0 <= p n * p n) by nra. assert (p n * p n = 0) by lra.
  destruct (Nat.eq_dec i n) as [-> | ne]; [nra | apply IH; [lra | lia]].
Qed.

Lemma law_ext : forall A m f g, law A m -> (forall a, f a = g a) -> m f = m g.
Proof. intros A m f g [mono _] H. apply Rle_antisym; apply mono; intros; rewrite H; lra. Qed.

Lemma law_const : forall A m c, law A m -> m (fun _ => c) = c.
Proof.
intros A m c M. assert (L := M). destruct L as [_ [lin one]].
assert (Z : m (fun _ => 0) = 0).
{ rewrite (law_ext A m _ (fun _ => -1 * 1 + 1)) by (assumption || (intros; ring)).
  rewrite (lin (-1) (fun _ => 1) (fun _ => 1)), one. ring. }
rewrite (law_ext A m _ (fun _ => c * 1 + 0)) by (assumption || (intros; ring)).
rewrite (lin c (fun _ => 1) (fun _ => 0)), one, Z. ring.
Qed.

Lemma law_two : forall A m f b g c h k, law A m -> (forall a, f a <= b * g a + (c * h a + k)) ->
  m f <= b * m g + (c * m h + k).
Proof.
intros A m f b g c h k M H. assert (L := M). destruct L as [mono [lin _]].
rewrite <- (law_const A m k M) at 1. rewrite <- !lin. now apply mono.
Qed.

Lemma law_one : forall A m f b g k, law A m -> (forall a, f a <= b * g a + k) ->
  m f <= b * m g + k.
Proof.
intros A m f b g k M H. assert (E := law_two A m f b g 0 g k M). rewrite Rmult_0_l, Rplus_0_l in E.
apply E. intros a. rewrite Rmult_0_l, Rplus_0_l. apply H.
Qed.

Lemma law_sum : forall A m n f, law A m -> m (fun a => total n (fun i => f i a))
  = total n (fun i => m (f i)).
Proof.
intros A m n f M. assert (L := M). destruct L as [_ [lin _]].
induction n as [| n IH]; [exact (law_const A m 0 M) |]. simpl. rewrite <- IH.
rewrite (law_ext A m _ (fun a => 1 * total n (fun i => f i a) + f n a))
  by (assumption || (intros; ring)). rewrite lin. ring.
Qed.

Lemma law_bind : forall A B m k, law A m -> (forall a, law B (k a)) ->
  law B (fun f => m (fun a => k a f)).
Proof.
intros A B m k M H. split; [| split].
- intros f g L. apply M. intros a. now apply H.
- intros c f g. rewrite <- (proj1 (proj2 M)). apply law_ext; [exact M |]. intros a. apply H.
- rewrite (law_ext A m _ (fun _ => 1)); [apply M | exact M |]. intros a. apply H.
Qed.

Lemma local_law : forall draw eta theta K, (forall x, law _ (draw x)) ->
  law _ (local draw eta theta K).
Proof.
intros draw eta theta K D. induction K as [| K IH]; simpl.
- repeat split; intros; [apply H | reflexivity ..].
- apply (law_bind _ _ _ (fun h f => draw (place eta theta h) (fun v => f (cons v h))) IH).
  intros h. split; [| split]; intros; [apply D; auto | apply D | apply D].
Qed.

Lemma local_le : forall draw eta theta K f g, (forall x, law _ (draw x)) ->
  (forall h, length h = K -> f h <= g h) -> local draw eta theta K f <= local draw eta theta K g.
Proof.
intros draw eta theta K f g D. revert f g. induction K as [| K IH]; intros f g H; simpl.
- now apply H.
- apply IH. intros h E. apply D. intros v. apply H. simpl. now rewrite E.
Qed.

(* (A.34), (A.35): the drift of K local steps. *)
Lemma power_exp : forall K, (1 <= K)%nat -> (1 + / INR K) ^ K <= exp 1.
Proof.
intros K P. assert (pos : 0 < INR K) by (apply lt_0_INR; lia).
assert (E : exp (/ INR K) ^ K = exp 1).
{ replace 1 with (INR K * / INR K) by (field; lra). generalize (/ INR K). clear.
  intros x. induction K as [| K IH]; [simpl; now rewrite Rmult_0_l, exp_0 |].
  simpl pow. rewrite IH, <- exp_plus, S_INR. f_equal. ring. }
rewrite <- E. assert (inv : 0 < / INR K) by now apply Rinv_0_lt_compat.
apply pow_incr. split; [lra |]. left. apply exp_ineq1. lra.
Qed.

Lemma client : forall d draw eta theta K F' u a c, (forall x, law _ (draw x)) -> (1 <= K)%nat ->
  0 <= a -> 0 <= c ->
  (forall x, draw x (fun v => square d (shift v (-1) F')) <= u + a * square d (shift x (-1) theta)) ->
  ((2 <= K)%nat -> forall x, draw x (fun v => square d (shift (shift x (- eta) v) (-1) theta))
    <= (1 + / INR K) * square d (shift x (-1) theta) + c) ->
  local draw eta theta K (fun h => fold_right (fun v s => square d (shift v (-1) F') + s) 0 h)
  <= INR K * u + a * (exp 1 - 2) * INR K ^ 2 * c.
Proof.
intros d draw eta theta K F' u a c D one a0 c0 near moved.
set (k' := INR K). set (r := 1 + / k').
set (Q := fun h => fold_right (fun v s => square d (shift v (-1) F') + s) 0 h).
set (W := fun h => square d (shift (place eta theta h) (-1) theta)).
assert (pos : 1 <= k') by (apply (le_INR 1); exact one).
assert (rk : k' * r = k' + 1) by (unfold r; field; lra).
assert (step : forall k, local draw eta theta (S k) Q
  <= local draw eta theta k Q + (a * local draw eta theta k W + u)).
{ intros k. rewrite <- (Rmult_1_l (local draw eta theta k Q)).
  change (local draw eta theta (S k) Q)
    with (local draw eta theta k (fun h => draw (place eta theta h) (fun v => Q (v :: h)))).
  apply law_two; [now apply local_law |]. intros h.
  assert (O := law_one _ (draw (place eta theta h))
    (fun v => Q (v :: h)) 1 (fun v => square d (shift v (-1) F')) (Q h) (D _)
    ltac:(intros v; unfold Q; simpl; lra)).
  specialize (near (place eta theta h)). unfold W. cbn beta. lra. }
assert (both : forall k, (S k <= K)%nat ->
  local draw eta theta k W <= k' * (r ^ k - 1) * c
  /\ local draw eta theta (S k) Q
     <= INR (S k) * u + a * ((k' ^ 2 * (r ^ S k - 1) - k' * INR (S k)) * c)).
{ induction k as [| k IH]; intros L.
  - assert (Z : local draw eta theta 0 W = 0).
    { simpl. unfold W, square. simpl. rewrite !dot_plus, !plus_dot. ring. }
    split; [rewrite Z; simpl; lra |]. assert (T := step 0%nat). rewrite Z in T.
    change (local draw eta theta 0 Q) with 0 in T. change (INR 1) with 1. rewrite !pow_1.
    replace (k' ^ 2 * (r - 1) - k' * 1) with (k' * (k' * r - k' - 1)) by ring. rewrite rk. lra.
  - destruct IH as [I J]; [lia |].
    assert (G : local draw eta theta (S k) W <= k' * (r ^ S k - 1) * c).
    { simpl local. apply Rle_trans with (r * local draw eta theta k W + c).
      - apply law_one; [now apply local_law |]. intros h. apply (moved ltac:(lia)).
      - assert (r0 : 0 <= r) by (unfold r; assert (0 < / k') by (apply Rinv_0_lt_compat; lra); lra).
        apply Rmult_le_compat_l with (r := r) in I; [| exact r0].
        replace (k' * (r ^ S k - 1) * c) with (r * (k' * (r ^ k - 1) * c) + (k' * r - k') * c)
          by (simpl; ring). rewrite rk. lra. }
    split; [exact G |]. assert (T := step (S k)).
    apply Rmult_le_compat_l with (r := a) in G; [| exact a0].
    rewrite (S_INR (S k)).
    replace (k' ^ 2 * (r ^ S (S k) - 1) - k' * (INR (S k) + 1))
      with ((k' ^ 2 * (r ^ S k - 1) - k' * INR (S k)) + k' * (r ^ S k - 1)
        + (k' * r - k' - 1) * (k' * r ^ S k)) by (simpl; ring).
    rewrite rk. nra. }
destruct K as [| k]; [lia |]. destruct (both k) as [_ J]; [lia |].
apply Rle_trans with (1 := J). fold k'. apply Rplus_le_compat_l.
replace (k' ^ 2 * (r ^ S k - 1) - k' * k') with ((r ^ S k - 2) * k' ^ 2) by ring.
assert (X := power_exp (S k) one). fold k' in X. fold r in X.
rewrite !(Rmult_assoc a). apply Rmult_le_compat_l; [exact a0 |].
apply Rmult_le_compat_r; [exact c0 |]. apply Rmult_le_compat_r; [apply pow2_ge_0 | lra].
Qed.

(* The part of a client's move that is not a step along F', at most by Cauchy's inequality. *)
Lemma astray : forall d eta theta F' h,
  square d (shift (shift (place eta theta h) (-1) theta) (eta * INR (length h)) F')
  <= eta ^ 2 * INR (length h)
     * fold_right (fun v s => square d (shift v (-1) F') + s) 0 h.
Proof.
intros d eta theta F' h. induction h as [| v h IH].
- simpl. unfold square. rewrite !dot_plus, !plus_dot. lra.
- set (A := shift (shift (place eta theta h) (-1) theta) (eta * INR (length h)) F') in *.
  set (b := shift v (-1) F').
  replace (square d (shift (shift (place eta theta (v :: h)) (-1) theta)
    (eta * INR (length (v :: h))) F')) with (square d (shift A (- eta) b)).
  2:{ apply square_same. intros z. unfold A, b. cbn [length place].
    rewrite S_INR, !dot_plus. ring. }
  cbn [fold_right length]. fold b.
  set (s := fold_right (fun v s => square d (shift v (-1) F') + s) 0 h) in *.
  destruct h as [| w h].
  + simpl in s. subst s. unfold A, square. simpl.
    repeat (rewrite dot_plus || rewrite plus_dot). lra.
  + set (k := INR (length (w :: h))) in *. rewrite S_INR. fold k.
    assert (k0 : 0 < k) by (apply lt_0_INR; simpl; lia).
    assert (P := square_pos d (shift A (k * eta) b)).
    apply Rmult_le_reg_l with k; [exact k0 |].
    apply Rle_trans with ((k + 1) * square d A + k * (k + 1) * eta ^ 2 * square d b).
    * unfold square in *. rewrite !dot_plus, !plus_dot, (dot_sym d b A) in *.
      simpl pow. lra.
    * apply Rmult_le_compat_l with (r := k + 1) in IH; [| lra]. lra.
Qed.

Lemma moved : forall d draw eta theta K F' u a c, (forall x, law _ (draw x)) -> (1 <= K)%nat ->
  0 <= a -> 0 <= c ->
  (forall x, draw x (fun v => square d (shift v (-1) F')) <= u + a * square d (shift x (-1) theta)) ->
  ((2 <= K)%nat -> forall x, draw x (fun v => square d (shift (shift x (- eta) v) (-1) theta))
    <= (1 + / INR K) * square d (shift x (-1) theta) + c) ->
  local draw eta theta K
    (fun h => square d (shift (shift (place eta theta h) (-1) theta) (eta * INR K) F'))
  <= eta ^ 2 * INR K * (INR K * u + a * (exp 1 - 2) * INR K ^ 2 * c).
Proof.
intros d draw eta theta K F' u a c D one a0 c0 near far.
assert (C := client d draw eta theta K F' u a c D one a0 c0 near far).
set (Q := fun h => fold_right (fun v s => square d (shift v (-1) F') + s) 0 h) in C.
apply Rle_trans with (local draw eta theta K (fun h => eta ^ 2 * INR K * Q h)).
- apply local_le; [exact D |]. intros h E. assert (A := astray d eta theta F' h).
  rewrite E in A. exact A.
- apply Rle_trans with (eta ^ 2 * INR K * local draw eta theta K Q + 0).
  + apply law_one; [now apply local_law |]. intros h. lra.
  + rewrite Rplus_0_r. apply Rmult_le_compat_l; [| exact C].
    apply Rmult_le_pos; [apply pow2_ge_0 | apply pos_INR].
Qed.

(* (A.10) to (A.17): what a step with the mean move lowers F by, whatever the moves are. *)
Lemma descent : forall d F dF L eta mu x y, 0 <= L -> 0 < eta -> 1 <= mu -> 6 * L * mu * eta <= 1 ->
  F y <= F x + dot d (dF x) (shift y (-1) x) + L / 2 * square d (shift y (-1) x) ->
  F y <= F x - eta * (11 * mu - 6) / 12 * square d (dF x)
    + / (2 * eta) * square d (shift (shift y (-1) x) (eta * mu) (dF x)).
Proof.
intros d F dF L eta mu x y L0 e0 m1 short smooth.
set (g := dF x) in *. set (z := shift (shift y (-1) x) (eta * mu) g).
assert (E1 : dot d g (shift y (-1) x) = dot d g z - eta * mu * square d g).
{ unfold z, square. rewrite !plus_dot. ring. }
assert (E2 : square d (shift y (-1) x)
  = square d z - 2 * (eta * mu) * dot d g z + (eta * mu) ^ 2 * square d g).
{ unfold z, square. repeat (rewrite dot_plus || rewrite plus_dot).
  rewrite (dot_sym d y g), (dot_sym d x g), (dot_sym d x y). ring. }
rewrite E1, E2 in smooth.
assert (Y : dot d g z <= eta / 2 * square d g + / (2 * eta) * square d z).
{ assert (P := square_pos d (shift z (- eta) g)). unfold square in *.
  rewrite dot_plus, !plus_dot, (dot_sym d z g) in P.
  apply Rmult_le_reg_l with (2 * eta); [lra |].
  rewrite Rmult_plus_distr_l, <- (Rmult_assoc (2 * eta) (/ (2 * eta))), Rinv_r by lra. lra. }
assert (G := square_pos d g). assert (Z := square_pos d z).
assert (P : 0 <= 1 - L * eta * mu) by nra.
apply Rmult_le_compat_l with (r := 1 - L * eta * mu) in Y; [| exact P].
assert (V : 0 <= / (2 * eta) * square d z).
{ apply Rmult_le_pos; [left; apply Rinv_0_lt_compat; lra | exact Z]. }
assert (Q : L / 2 * square d z <= L * eta * mu * (/ (2 * eta) * square d z)).
{ replace (L / 2 * square d z) with (L * eta * 1 * (/ (2 * eta) * square d z)) by (field; lra).
  apply Rmult_le_compat_r; [exact V |]. apply Rmult_le_compat_l; [nra | exact m1]. }
assert (C : 0 <= eta * square d g * (mu / 12 * (1 - 6 * L * mu * eta) + L * mu * eta / 2)).
{ apply Rmult_le_pos; [nra |]. assert (0 <= L * mu * eta) by (apply Rmult_le_pos; nra).
  assert (0 <= mu / 12 * (1 - 6 * L * mu * eta)) by (apply Rmult_le_pos; lra). lra. }
nra.
Qed.

(* A round, given what each client's move goes astray by. *)
Lemma round : forall d n F dF draw K L eta A chosen share beta runs x m N a b,
  0 <= L -> 0 < eta -> 1 <= m -> law A chosen -> law _ (runs x) ->
  (forall i, (i < n)%nat -> 6 * L * INR (K i) * eta <= 1) ->
  (forall i, (i < n)%nat -> forall f, runs x (fun h => f (h i)) = local (draw i) eta x (K i) f) ->
  (forall o, total n (share o) = 1 /\ m <= total n (fun i => share o i * INR (K i))
    /\ (forall i, (i < n)%nat -> 0 <= share o i) /\ (forall i, (i < n)%nat -> 0 <= beta o i)
    /\ forall z, square d (mean n (share o) z) <= total n (fun i => beta o i * square d (z i))) ->
  (forall y, F y <= F x + dot d (dF x) (shift y (-1) x) + L / 2 * square d (shift y (-1) x)) ->
  (forall i, (i < n)%nat -> local (draw i) eta x (K i)
    (fun h => square d (shift (shift (place eta x h) (-1) x) (eta * INR (K i)) (dF x)))
    <= eta ^ 2 * (N i + a i * square d (dF x))) ->
  (forall i, (i < n)%nat -> chosen (fun o => beta o i) = b i) ->
  total n (fun i => b i * a i) <= 1 / 2 ->
  next A chosen share n eta runs x F
  <= F x - eta * (11 * m - 9) / 12 * square d (dF x) + eta / 2 * total n (fun i => b i * N i).
Proof.
intros d n F dF draw K L eta A chosen share beta runs x m N a b L0 e0 m1 CL RL short marginal parts
  smooth go mass few.
set (G := square d (dF x)). assert (G0 : 0 <= G) by apply square_pos.
set (W := fun i (h : nat -> list (nat -> R)) =>
  shift (shift (place eta x (h i)) (-1) x) (eta * INR (K i)) (dF x)).
assert (each : forall o, runs x (fun h => F (mean n (share o) (fun i => place eta x (h i))))
  <= eta / 2 * total n (fun i => (N i + a i * G) * beta o i) + (F x - eta * (11 * m - 6) / 12 * G)).
{ intros o. destruct (parts o) as [one [M [P [B J]]]].
  set (mu := total n (fun i => share o i * INR (K i))) in *.
  assert (small : 6 * L * mu * eta <= 1).
  { replace (6 * L * mu * eta) with (total n (fun i => 6 * L * eta * (share o i * INR (K i)) + 0)).
    2:{ rewrite sum_lin, sum_const. fold mu. ring. }
    rewrite <- one. apply sum_le. intros i I. specialize (short i I). specialize (P i I).
    apply Rmult_le_compat_l with (r := share o i) in short; [| exact P]. lra. }
  assert (D : forall h, F (mean n (share o) (fun i => place eta x (h i)))
    <= / (2 * eta) * total n (fun i => beta o i * square d (W i h))
       + (F x - eta * (11 * m - 6) / 12 * G)).
  { intros h. set (y := mean n (share o) (fun i => place eta x (h i))).
    assert (S := descent d F dF L eta mu x y L0 e0 ltac:(lra) small (smooth y)). fold G in S.
    replace (square d (shift (shift y (-1) x) (eta * mu) (dF x)))
      with (square d (mean n (share o) (fun i => W i h))) in S.
    2:{ apply square_same. intros z. unfold W. rewrite dot_mean, !dot_plus. unfold y.
      rewrite dot_mean. rewrite (sum_ext n _ (fun i =>
        1 * (share o i * dot d (place eta x (h i)) z) + (- dot d x z * share o i
        + (eta * dot d (dF x) z * (share o i * INR (K i)) + 0))))
        by (intros; rewrite !dot_plus; ring).
      rewrite !sum_lin, sum_const, one. fold mu. ring. }
    specialize (J (fun i => W i h)).
    apply Rmult_le_compat_l with (r := / (2 * eta)) in J;
      [| left; apply Rinv_0_lt_compat; lra].
    assert (eta * (11 * m - 6) / 12 * G <= eta * (11 * mu - 6) / 12 * G).
    { apply Rmult_le_compat_r; [exact G0 |]. apply Rmult_le_compat_r; [lra |].
      apply Rmult_le_compat_l; lra. }
    lra. }
  apply Rle_trans with (1 := law_one _ (runs x) _ _ _ _ RL D). apply Rplus_le_compat_r.
  rewrite (law_sum _ (runs x) n _ RL).
  replace (eta / 2 * total n (fun i => (N i + a i * G) * beta o i))
    with (/ (2 * eta) * total n (fun i => eta ^ 2 * ((N i + a i * G) * beta o i) + 0)).
  2:{ rewrite sum_lin, sum_const. field. lra. }
  apply Rmult_le_compat_l; [left; apply Rinv_0_lt_compat; lra |].
  apply sum_le. intros i I. specialize (go i I). fold G in go. specialize (B i I).
  rewrite <- (marginal i I) in go.
  assert (S := law_one _ (runs x) (fun h => beta o i * square d (W i h)) (beta o i)
    (fun h => square d (W i h)) 0 RL ltac:(intros; lra)).
  apply Rmult_le_compat_l with (r := beta o i) in go; [| exact B]. unfold W in S at 2. lra. }
unfold next. apply Rle_trans with (1 := law_one _ chosen _ _ _ _ CL each).
rewrite (law_sum _ chosen n _ CL).
assert (E : total n (fun i => chosen (fun o => (N i + a i * G) * beta o i))
  = total n (fun i => b i * N i) + G * total n (fun i => b i * a i)).
{ rewrite Rplus_comm, <- sum_lin. apply sum_ext. intros i I. rewrite <- (mass i I).
  assert (Z := proj1 (proj2 CL) (N i + a i * G) (fun o => beta o i) (fun _ => 0)).
  rewrite (law_const _ chosen 0 CL) in Z.
  rewrite (law_ext _ chosen _ (fun o => (N i + a i * G) * beta o i + 0) CL) by (intros; ring).
  rewrite Z. ring. }
rewrite E. apply Rmult_le_compat_l with (r := eta / 2 * G) in few; [| nra]. lra.
Qed.

Lemma rounds_law : forall step theta T, (forall x, law _ (step x)) -> law _ (rounds step theta T).
Proof.
intros step theta T S. induction T as [| T IH]; simpl.
- repeat split; intros; [apply H | reflexivity ..].
- now apply law_bind.
Qed.

(* (A.40) to (A.43): the mean over rounds. *)
Lemma telescope : forall step F G theta low kappa psi T, (forall x, law _ (step x)) -> 0 < kappa ->
  (forall x, step x F <= F x - kappa * G x + psi) -> (forall x, low <= F x) -> (0 < T)%nat ->
  exists t, (t < T)%nat /\ rounds step theta t G <= / kappa * ((F theta - low) / INR T + psi).
Proof.
intros step F G theta low kappa psi T S k0 down above pos.
assert (sums : forall t, rounds step theta t F
  <= F theta - kappa * total t (fun s => rounds step theta s G) + INR t * psi).
{ induction t as [| t IH]; [simpl; lra |]. rewrite S_INR. simpl total. simpl rounds.
  assert (B := law_two _ (rounds step theta t) (fun x => step x F) 1 F (- kappa) G psi
    (rounds_law step theta t S) ltac:(intros x; specialize (down x); lra)). lra. }
assert (low' : low <= rounds step theta T F).
{ rewrite <- (law_const _ (rounds step theta T) low) by now apply rounds_law.
  apply rounds_law; [exact S | exact above]. }
assert (N : 0 < INR T) by now apply lt_0_INR.
set (B := / kappa * ((F theta - low) / INR T + psi)).
assert (whole : total T (fun s => rounds step theta s G) <= INR T * B).
{ apply Rmult_le_reg_l with kappa; [exact k0 |].
  replace (kappa * (INR T * B)) with (F theta - low + INR T * psi) by (unfold B; field; lra).
  specialize (sums T). lra. }
revert pos whole. generalize B. clear. intros B.
induction T as [| T IH]; intros pos H; [lia |].
rewrite S_INR in H. simpl in H. destruct (Rle_lt_dec (rounds step theta T G) B) as [l | l].
- exists T. split; [lia | exact l].
- destruct T as [| T]; [simpl in H, l; lra |]. destruct IH as [t [I J]]; [lia | lra |].
  exists t. split; [lia | exact J].
Qed.

Lemma two : forall d x y z, square d (shift x (-1) z)
  <= 2 * (square d (shift x (-1) y) + square d (shift y (-1) z)).
Proof.
intros d x y z. assert (S := square_pos d (shift (shift x (-1) y) (-1) (shift y (-1) z))).
unfold square in *. repeat (rewrite dot_plus in * || rewrite plus_dot in * ).
rewrite (dot_sym d y x), (dot_sym d z x), (dot_sym d z y) in *. lra.
Qed.

Lemma three : forall d x y z w, square d (shift x (-1) w)
  <= 3 * (square d (shift x (-1) y) + square d (shift y (-1) z) + square d (shift z (-1) w)).
Proof.
intros d x y z w. assert (S := square_pos d (shift (shift x (-1) y) (-1) (shift y (-1) z))).
assert (S' := square_pos d (shift (shift x (-1) y) (-1) (shift z (-1) w))).
assert (S'' := square_pos d (shift (shift y (-1) z) (-1) (shift z (-1) w))).
unfold square in *. repeat (rewrite dot_plus in * || rewrite plus_dot in * ).
rewrite (dot_sym d y x), (dot_sym d z x), (dot_sym d z y), (dot_sym d w x), (dot_sym d w y),
  (dot_sym d w z) in *. lra.
Qed.

Lemma young : forall d k x eta v t, 1 <= k ->
  square d (shift (shift x (- eta) v) (-1) t)
  <= (1 + / (2 * k - 1)) * square d (shift x (-1) t) + 2 * k * eta ^ 2 * square d v.
Proof.
intros d k x eta v t k1. assert (S := square_pos d (shift (shift x (-1) t) ((2 * k - 1) * eta) v)).
assert (B : 0 < 2 * k - 1) by lra. apply Rmult_le_reg_l with (2 * k - 1); [exact B |].
replace ((2 * k - 1) * ((1 + / (2 * k - 1)) * square d (shift x (-1) t)
  + 2 * k * eta ^ 2 * square d v)) with (2 * k * square d (shift x (-1) t)
  + (2 * k - 1) * (2 * k * eta ^ 2 * square d v)) by (field; lra).
unfold square in *. repeat (rewrite dot_plus in * || rewrite plus_dot in * ).
rewrite (dot_sym d t x), (dot_sym d v x), (dot_sym d v t) in *. simpl pow. lra.
Qed.

Lemma growth : forall k L eta, 2 <= k -> 0 <= L -> 0 < eta -> 6 * L * k * eta <= 1 ->
  1 + / (2 * k - 1) + 8 * k * eta ^ 2 * L ^ 2 <= 1 + / k.
Proof.
intros k L eta k2 L0 e0 small. assert (P : 0 <= L * k * eta) by (repeat apply Rmult_le_pos; lra).
assert (Q : L * k * eta * (L * k * eta) <= / 36) by nra.
apply Rmult_le_reg_l with (k * (2 * k - 1)); [nra |].
replace (k * (2 * k - 1) * (1 + / (2 * k - 1) + 8 * k * eta ^ 2 * L ^ 2))
  with (k * (2 * k - 1) + k + (2 * k - 1) * (8 * (L * k * eta * (L * k * eta))))
  by (field; lra).
replace (k * (2 * k - 1) * (1 + / k)) with (k * (2 * k - 1) + (2 * k - 1)) by (field; lra).
nra.
Qed.

Lemma to_zero : forall d x, square d (shift x (-1) (fun _ => 0)) = square d x.
Proof.
intros. unfold square, dot. apply sum_ext. intros. unfold shift. ring.
Qed.

Lemma noise_pos : forall d n F dF df draw L s g i, clients d n F dF df draw L s g -> (i < n)%nat ->
  0 <= s i /\ 0 <= g.
Proof.
intros d n F dF df draw L s g i [_ [_ [_ C]]] I. destruct (C i I (fun _ => 0)) as [law' [S [B _]]].
split; [| apply Rle_trans with (2 := B); apply square_pos].
apply Rle_trans with (2 := S). rewrite <- (law_const _ _ 0 law') at 1.
apply (proj1 law'). intros. apply square_pos.
Qed.

(* (A.18) to (A.36). *)
Lemma moved_unbiased : forall d n F dF df draw L s g K eta x i, clients d n F dF df draw L s g ->
  unbiased d n df draw -> short n K L eta -> (i < n)%nat ->
  local (draw i) eta x (K i)
    (fun h => square d (shift (shift (place eta x h) (-1) x) (eta * INR (K i)) (dF x)))
  <= eta ^ 2 * (INR (K i) ^ 2 * (s i + 2 * g)
    + 2 * (exp 1 - 2) * eta ^ 2 * L ^ 2 * (INR (K i) ^ 3 * (s i + 6 * INR (K i) * g))
    + 12 * (exp 1 - 2) * eta ^ 2 * L ^ 2 * INR (K i) ^ 4 * square d (dF x)).
Proof.
intros d n F dF df draw L s g K eta x i C U [e0 small] I. destruct (small i I) as [k1 k6].
destruct (noise_pos _ _ _ _ _ _ _ _ _ i C I) as [s0 g0].
destruct C as [L0' [_ [_ C]]]. assert (L0 := Rlt_le _ _ L0').
set (k := INR (K i)) in *. set (G := square d (dF x)).
assert (G0 : 0 <= G) by apply square_pos. assert (kpos : 1 <= k) by now apply (le_INR 1).
eapply Rle_trans.
- apply (moved d (draw i) eta x (K i) (dF x) (s i + 2 * g) (2 * L ^ 2)
    (eta ^ 2 * (s i + 6 * k * (g + G)))).
  + intros y. now apply C.
  + exact k1.
  + nra.
  + apply Rmult_le_pos; [nra |]. nra.
  + intros y. destruct (C i I y) as [ly [S [_ lip]]].
    assert (T := two d (df i y) (df i x) (dF x)). destruct (C i I x) as [_ [_ [sp lip']]].
    specialize (lip' y).
    assert (E : forall v, square d (shift v (-1) (dF x))
      <= 1 * square d (shift v (-1) (df i y))
         + (2 * dot d (shift v (-1) (df i y)) (shift (df i y) (-1) (dF x))
         + square d (shift (df i y) (-1) (dF x)))).
    { intros v. unfold square. right. repeat (rewrite dot_plus || rewrite plus_dot).
      rewrite (dot_sym d (dF x) v), (dot_sym d (df i y) v), (dot_sym d (dF x) (df i y)). ring. }
    assert (B := law_two _ (draw i y) _ _ _ _ _ _ ly E). rewrite (U i I) in B. lra.
  + intros k2 y. destruct (C i I y) as [ly [S _]]. destruct (C i I x) as [_ [_ [sp lip']]].
    specialize (lip' y). assert (T := three d (df i y) (df i x) (dF x) (fun _ => 0)).
    rewrite !to_zero in T. fold G in T.
    set (z := shift (shift y (- eta) (df i y)) (-1) x).
    assert (E : forall v, square d (shift (shift y (- eta) v) (-1) x)
      <= eta ^ 2 * square d (shift v (-1) (df i y))
         + (- (2 * eta) * dot d (shift v (-1) (df i y)) z + square d z)).
    { intros v. replace (square d (shift (shift y (- eta) v) (-1) x))
        with (square d (shift z (- eta) (shift v (-1) (df i y))))
        by (apply square_same; intros; unfold z; rewrite !dot_plus; ring).
      unfold square. right. rewrite !(dot_plus d z), !(plus_dot d z).
      rewrite (dot_sym d z (shift v _ _)). ring. }
    assert (B := law_two _ (draw i y) _ _ _ _ _ _ ly E). rewrite (U i I) in B.
    assert (Y := young d k y eta (df i y) x kpos). fold z in Y.
    assert (K2 : 2 <= k) by now apply (le_INR 2).
    assert (W := growth k L eta K2 L0 e0 k6). set (D := square d (shift y (-1) x)) in *.
    assert (D0 : 0 <= D) by apply square_pos.
    apply Rmult_le_compat_r with (r := D) in W; [| exact D0].
    apply Rmult_le_compat_l with (r := 2 * k * eta ^ 2) in T; [| nra].
    assert (S' : eta ^ 2 * draw i y (fun v => square d (shift v (-1) (df i y))) <= eta ^ 2 * s i)
      by (apply Rmult_le_compat_l; [nra | exact S]).
    assert (V : 6 * k * eta ^ 2 * (L ^ 2 * D) <= 8 * k * eta ^ 2 * L ^ 2 * D).
    { assert (0 <= k * eta ^ 2 * (L ^ 2 * D)); [| lra].
      repeat apply Rmult_le_pos; try apply pow2_ge_0; lra. }
    assert (X : 6 * k * eta ^ 2 * (square d (shift (df i y) (-1) (df i x))
      + square d (shift (df i x) (-1) (dF x)))
      <= 6 * k * eta ^ 2 * (L ^ 2 * D + g)).
    { apply Rmult_le_compat_l; [| lra]. apply Rmult_le_pos; [lra | apply pow2_ge_0]. }
    fold k. lra.
- fold k. right. ring.
Qed.

Lemma sum_two : forall n c x y, total n (fun i => x i + c * y i) = total n x + c * total n y.
Proof.
intros. rewrite (sum_ext n _ (fun i => c * y i + x i)) by (intros; ring). rewrite sum_lin. ring.
Qed.

Lemma weighed : forall n c b x y, total n (fun i => b i * (x i + c * y i))
  = total n (fun i => b i * x i) + c * total n (fun i => b i * y i).
Proof. intros. rewrite <- sum_two. apply sum_ext. intros. ring. Qed.

(* All rounds: N is the noise of a client, a the part of ||dF||^2 that it gives back. *)
Lemma bounded : forall d n F dF df draw L s g A chosen share K eta runs theta low T beta b m N a,
  clients d n F dF df draw L s g -> averaging A chosen share n K eta draw runs ->
  short n K L eta -> 1 <= m ->
  (forall o, m <= total n (fun i => share o i * INR (K i))
    /\ (forall i, (i < n)%nat -> 0 <= beta o i)
    /\ forall z, square d (mean n (share o) z) <= total n (fun i => beta o i * square d (z i))) ->
  (forall x i, (i < n)%nat -> local (draw i) eta x (K i)
    (fun h => square d (shift (shift (place eta x h) (-1) x) (eta * INR (K i)) (dF x)))
    <= eta ^ 2 * (N i + a i * square d (dF x))) ->
  (forall i, (i < n)%nat -> chosen (fun o => beta o i) = b i) ->
  total n (fun i => b i * a i) <= 1 / 2 -> (forall x, low <= F x) -> (0 < T)%nat ->
  exists t, (t < T)%nat
  /\ rounds (next A chosen share n eta runs) theta t (fun x => square d (dF x))
  <= 12 / ((11 * m - 9) * eta)
     * ((F theta - low) / INR T + eta / 2 * total n (fun i => b i * N i)).
Proof.
intros d n F dF df draw L s g A chosen share K eta runs theta low T beta b m N a
  [L0 [grad [lip C]]] [CL [parts R]] [e0 small] m1 more go mass few bound pos.
replace (12 / ((11 * m - 9) * eta)) with (/ (eta * (11 * m - 9) / 12)) by (field; lra).
apply (telescope _ F (fun x => square d (dF x))).
- intros x. unfold next. apply (law_bind _ _ chosen (fun o f => runs x (fun h => f
    (mean n (share o) (fun i => place eta x (h i))))) CL). intros o. destruct (R x) as [rl _].
  split; [| split]; intros; [apply rl; auto | apply rl | apply rl].
- assert (0 < eta * (11 * m - 9)) by (apply Rmult_lt_0_compat; lra). lra.
- intros x. destruct (R x) as [rl mar].
  apply (round d n F dF draw K L eta A chosen share beta runs x m N a b (Rlt_le _ _ L0) e0 m1 CL
    rl);
    [apply small | intros; now apply mar | | intros; now apply (above d F dF L)
    | intros; now apply go | exact mass | exact few].
  intros o. destruct (parts o), (more o) as [? []]. repeat split; assumption.
- exact bound.
- exact pos.
Qed.

Lemma at_least : forall n p K m, total n p = 1 -> (forall i, (i < n)%nat -> 0 <= p i) ->
  (forall i, (i < n)%nat -> m <= INR (K i)) -> m <= total n (fun i => p i * INR (K i)).
Proof.
intros n p K m one P M. replace m with (total n (fun i => m * p i))
  by (rewrite sum_times, one; ring). apply sum_le. intros i I. specialize (P i I).
specialize (M i I). nra.
Qed.

Lemma full_case : forall d n F dF df draw L s g p K eta runs theta low T N a,
  clients d n F dF df draw L s g -> averaging unit (fun f => f tt) (fun _ => p) n K eta draw runs ->
  short n K L eta ->
  (forall x i, (i < n)%nat -> local (draw i) eta x (K i)
    (fun h => square d (shift (shift (place eta x h) (-1) x) (eta * INR (K i)) (dF x)))
    <= eta ^ 2 * (N i + a i * square d (dF x))) ->
  total n (fun i => p i * p i) * total n a <= 1 / 2 -> (forall x, low <= F x) -> (0 < T)%nat ->
  exists t, (t < T)%nat
  /\ rounds (next unit (fun f => f tt) (fun _ => p) n eta runs) theta t (fun x => square d (dF x))
  <= 12 / ((11 * total n (fun i => p i * INR (K i)) - 9) * eta)
     * ((F theta - low) / INR T + eta / 2 * (total n (fun i => p i * p i) * total n N)).
Proof.
intros d n F dF df draw L s g p K eta runs theta low T N a C V H go few above pos.
set (P := total n (fun i => p i * p i)) in *. rewrite <- (sum_times n P N).
rewrite <- (sum_times n P a) in few.
destruct (proj1 (proj2 V) tt) as [one p0].
apply (bounded d n F dF df draw L s g _ _ _ K eta runs theta low T (fun _ _ => P) (fun _ => P) _ N a
  C V H); [| | exact go | reflexivity | exact few | exact above | exact pos].
- apply at_least; [exact one | exact p0 |]. intros i I. apply (le_INR 1). now apply H.
- intros o. split; [lra | split; [| apply cauchy]]. intros i I. unfold P.
  replace 0 with (total n (fun _ => 0)) by (rewrite sum_const; ring). apply sum_le. intros. nra.
Qed.

Lemma chosen_case : forall d n F dF df draw L s g A chosen share K eta runs theta low T m b N a,
  clients d n F dF df draw L s g -> averaging A chosen share n K eta draw runs ->
  short n K L eta -> 1 <= m -> (forall i, (i < n)%nat -> m <= INR (K i)) ->
  (forall i, (i < n)%nat -> chosen (fun o => share o i) = b i) ->
  (forall x i, (i < n)%nat -> local (draw i) eta x (K i)
    (fun h => square d (shift (shift (place eta x h) (-1) x) (eta * INR (K i)) (dF x)))
    <= eta ^ 2 * (N i + a i * square d (dF x))) ->
  total n (fun i => b i * a i) <= 1 / 2 -> (forall x, low <= F x) -> (0 < T)%nat ->
  exists t, (t < T)%nat
  /\ rounds (next A chosen share n eta runs) theta t (fun x => square d (dF x))
  <= 12 / ((11 * m - 9) * eta)
     * ((F theta - low) / INR T + eta / 2 * total n (fun i => b i * N i)).
Proof.
intros d n F dF df draw L s g A chosen share K eta runs theta low T m b N a C V H m1 M mass go few
  above pos.
apply (bounded d n F dF df draw L s g A chosen share K eta runs theta low T share b m N a C V H m1);
  [| exact go | exact mass | exact few | exact above | exact pos].
intros o. destruct (proj1 (proj2 V) o) as [one p0]. split; [now apply at_least |].
split; [exact p0 |]. intros z. now apply jensen.
Qed.

Lemma weights : forall A chosen share n K eta draw runs b,
  averaging A chosen share n K eta draw runs ->
  (forall i, (i < n)%nat -> chosen (fun o => share o i) = b i) ->
  total n b = 1 /\ forall i, (i < n)%nat -> 0 <= b i.
Proof.
intros A chosen share n K eta draw runs b [CL [parts _]] mass. split.
- rewrite (sum_ext n b (fun i => chosen (fun o => share o i)))
    by (intros; symmetry; now apply mass).
  rewrite <- (law_sum A chosen n (fun i o => share o i) CL).
  rewrite (law_ext A chosen _ (fun _ => 1) CL); [apply CL | apply parts].
- intros i I. rewrite <- (mass i I), <- (law_const A chosen 0 CL) at 1. apply CL. intros o.
  now apply parts.
Qed.

Lemma mean_below : forall n b c top, total n b = 1 -> (forall i, (i < n)%nat -> 0 <= b i) ->
  (forall i, (i < n)%nat -> c i <= top) -> total n (fun i => b i * c i) <= top.
Proof.
intros n b c top one B C. replace top with (total n (fun i => top * b i))
  by (rewrite sum_times, one; ring). apply sum_le. intros i I. specialize (B i I).
specialize (C i I). nra.
Qed.

Theorem full : forall d n F dF df draw L s g p K eta runs theta low T,
  clients d n F dF df draw L s g -> unbiased d n df draw ->
  averaging unit (fun f => f tt) (fun _ => p) n K eta draw runs -> short n K L eta ->
  steps * (exp 1 - 2) * (total n (fun i => p i * p i) * total n (fun i => INR (K i) ^ 4)) * (L * eta) ^ 2
    <= 1 ->
  (forall x, low <= F x) -> (0 < T)%nat -> exists t, (t < T)%nat
  /\ rounds (next unit (fun f => f tt) (fun _ => p) n eta runs) theta t (fun x => square d (dF x))
  <= right_side (total n (fun i => p i * INR (K i))) eta L (F theta - low) (INR T)
     (total n (fun i => p i * p i) * total n (fun i => noise (INR (K i)) (s i) g))
     (total n (fun i => p i * p i) * total n (fun i => away (INR (K i)) (s i) g)).
Proof.
unfold right_side, noise, away, front, steps, apart, drift, fourth.
intros d n F dF df draw L s g p K eta runs theta low T C U V H few above pos.
destruct (full_case d n F dF df draw L s g p K eta runs theta low T _ _ C V H
  (fun x i I => moved_unbiased d n F dF df draw L s g K eta x i C U H I)) as [t [I B]];
  [| exact above | exact pos |].
- rewrite sum_times. lra.
- exists t. split; [exact I |]. apply Rle_trans with (1 := B). right.
  rewrite sum_two. ring.
Qed.

Theorem chance : forall d n F dF df draw L s g A chosen share K eta runs theta low T m b,
  clients d n F dF df draw L s g -> unbiased d n df draw ->
  averaging A chosen share n K eta draw runs -> short n K L eta ->
  1 <= m -> (forall i, (i < n)%nat -> m <= INR (K i)) ->
  (forall i, (i < n)%nat -> chosen (fun o => share o i) = b i) ->
  steps * (exp 1 - 2) * total n (fun i => b i * INR (K i) ^ 4) * (L * eta) ^ 2 <= 1 ->
  (forall x, low <= F x) -> (0 < T)%nat -> exists t, (t < T)%nat
  /\ rounds (next A chosen share n eta runs) theta t (fun x => square d (dF x))
  <= right_side m eta L (F theta - low) (INR T)
     (total n (fun i => b i * noise (INR (K i)) (s i) g))
     (total n (fun i => b i * away (INR (K i)) (s i) g)).
Proof.
unfold right_side, noise, away, front, steps, apart, drift, fourth.
intros d n F dF df draw L s g A chosen share K eta runs theta low T m b C U V H m1 M mass few above
  pos.
destruct (chosen_case d n F dF df draw L s g A chosen share K eta runs theta low T m b _ _ C V H
  m1 M mass (fun x i I => moved_unbiased d n F dF df draw L s g K eta x i C U H I)) as [t [I B]];
  [| exact above | exact pos |].
- rewrite (sum_ext n _ (fun i => 12 * (exp 1 - 2) * eta ^ 2 * L ^ 2 * (b i * INR (K i) ^ 4)))
    by (intros; ring). rewrite sum_times. lra.
- exists t. split; [exact I |]. apply Rle_trans with (1 := B). right.
  rewrite weighed. ring.
Qed.

Lemma enlarge : forall q rest x y, 0 <= q -> x <= y -> q * (rest + x) <= q * (rest + y).
Proof. intros. apply Rmult_le_compat_l; lra. Qed.

Theorem largest : forall d n F dF df draw L s g A chosen share K eta runs theta low T m c2 c3 c4,
  clients d n F dF df draw L s g -> unbiased d n df draw ->
  averaging A chosen share n K eta draw runs -> short n K L eta ->
  1 <= m -> (forall i, (i < n)%nat -> m <= INR (K i)
    /\ noise (INR (K i)) (s i) g <= c2 /\ away (INR (K i)) (s i) g <= c3 /\ INR (K i) ^ 4 <= c4) ->
  steps * (exp 1 - 2) * c4 * (L * eta) ^ 2 <= 1 ->
  (forall x, low <= F x) -> (0 < T)%nat -> exists t, (t < T)%nat
  /\ rounds (next A chosen share n eta runs) theta t (fun x => square d (dF x))
  <= right_side m eta L (F theta - low) (INR T) c2 c3.
Proof.
unfold right_side, noise, away, front, steps, apart, drift, fourth.
intros d n F dF df draw L s g A chosen share K eta runs theta low T m c2 c3 c4 C U V H m1 M few
  above pos.
set (b := fun i => chosen (fun o => share o i)).
destruct (weights A chosen share n K eta draw runs b V) as [one b0]; [reflexivity |].
assert (e1 := exp_ineq1 1 ltac:(lra)).
assert (e0 : 0 < eta) by apply H.
destruct (chance d n F dF df draw L s g A chosen share K eta runs theta low T m b C U V H m1
  (fun i I => proj1 (M i I)) ltac:(reflexivity)) as [t [I B]]; [| exact above | exact pos |].
- assert (Q := mean_below n b (fun i => INR (K i) ^ 4) c4 one b0
    (fun i I => proj2 (proj2 (proj2 (M i I))))).
  apply Rle_trans with (2 := few). apply Rmult_le_compat_r; [apply pow2_ge_0 |].
  apply Rmult_le_compat_l; [lra | exact Q].
- exists t. split; [exact I |]. apply Rle_trans with (1 := B).
  assert (0 < (11 * m - 9) * eta) by (apply Rmult_lt_0_compat; lra).
  apply enlarge; [left; apply Rdiv_lt_0_compat; lra |].
  apply Rmult_le_compat_l; [lra |]. apply Rplus_le_compat.
  + apply mean_below; [exact one | exact b0 |]. intros. now apply M.
  + apply Rmult_le_compat_l.
    * repeat (apply pow2_ge_0 || apply Rmult_le_pos); lra.
    * apply mean_below; [exact one | exact b0 |]. intros. now apply M.
Qed.

(* The same by lengths in place of squares: shorter steps, less noise. *)
Lemma dot_le : forall d x y, Rabs (dot d x y) <= sqrt (square d x) * sqrt (square d y).
Proof.
intros d x y. assert (sx := square_pos d x). assert (sy := square_pos d y).
assert (P : forall t, 0 <= square d x + 2 * t * dot d x y + t ^ 2 * square d y).
{ intros t. assert (S := square_pos d (shift x t y)). unfold square in *.
  rewrite dot_plus, !plus_dot, (dot_sym d y x) in S. lra. }
rewrite <- sqrt_mult, <- sqrt_Rsqr_abs by assumption. apply sqrt_le_1_alt. unfold Rsqr.
destruct (Rle_lt_or_eq_dec 0 _ sy) as [pos | zero].
- specialize (P (- dot d x y / square d y)).
  apply Rmult_le_reg_r with (/ square d y); [now apply Rinv_0_lt_compat |].
  replace (square d x * square d y * / square d y) with (square d x) by (field; lra).
  replace (square d x + 2 * (- dot d x y / square d y) * dot d x y
    + (- dot d x y / square d y) ^ 2 * square d y)
    with (square d x - dot d x y * dot d x y * / square d y) in P by (field; lra). lra.
- rewrite <- zero in *. destruct (Req_dec (dot d x y) 0) as [-> | ne]; [lra |].
  specialize (P (- (square d x + 1) / (2 * dot d x y))).
  replace (2 * (- (square d x + 1) / (2 * dot d x y)) * dot d x y)
    with (- (square d x + 1)) in P by (field; lra). lra.
Qed.

Lemma triangle : forall d x c y,
  sqrt (square d (shift x c y)) <= sqrt (square d x) + Rabs c * sqrt (square d y).
Proof.
intros d x c y. assert (sx := sqrt_pos (square d x)). assert (sy := sqrt_pos (square d y)).
assert (c0 := Rabs_pos c).
rewrite <- (sqrt_square (sqrt (square d x) + Rabs c * sqrt (square d y))) by nra.
apply sqrt_le_1_alt. assert (B := dot_le d x y).
assert (X := sqrt_def _ (square_pos d x)). assert (Y := sqrt_def _ (square_pos d y)).
unfold square at 1. rewrite dot_plus, !plus_dot, (dot_sym d y x). fold (square d x) (square d y).
apply Rmult_le_compat_l with (r := Rabs c) in B; [| exact c0]. rewrite <- Rabs_mult in B.
assert (T := Rle_abs (c * dot d x y)). assert (C := pow2_abs c). nra.
Qed.

Lemma triangle_sum : forall d n p x, (forall i, (i < n)%nat -> 0 <= p i) ->
  sqrt (square d (mean n p x)) <= total n (fun i => p i * sqrt (square d (x i))).
Proof.
intros d n p x P. induction n as [| n IH].
- simpl. rewrite <- sqrt_0. right. f_equal. unfold square, dot, mean. simpl.
  rewrite (sum_ext d _ (fun _ => 0)) by (intros; ring). rewrite sum_const. ring.
- assert (T := triangle d (mean n p x) (p n) (x n)).
  rewrite (Rabs_right (p n)) in T by (apply Rle_ge, P; lia).
  specialize (IH ltac:(intros; apply P; lia)). simpl total.
  apply Rle_trans with (2 := Rplus_le_compat_r _ _ _ IH). exact T.
Qed.

(* K local steps: D adds up how far the directions are from dF where they are taken. *)
Lemma along : forall d dF df L c eta x D, 0 <= L -> 0 < eta -> 0 <= c ->
  (forall y z, square d (shift (dF z) (-1) (dF y)) <= L ^ 2 * square d (shift z (-1) y)) ->
  (forall y, square d (shift (df y) (-1) (dF y)) <= c ^ 2) -> D nil = 0 ->
  (forall v h, D (v :: h) = sqrt (square d (shift v (-1) (df (place eta x h)))) + c + D h) ->
  forall h, 0 <= D h /\ (L * INR (length h) * eta <= 1 ->
  (1 - L * INR (length h) * eta) * sqrt (square d (shift (place eta x h) (-1) x))
    <= eta * (D h + INR (length h) * sqrt (square d (dF x)))
  /\ (16 * L * INR (length h) * eta <= 1 ->
  sqrt (square d (shift (shift (place eta x h) (-1) x) (eta * INR (length h)) (dF x)))
    <= eta * ((1 + 16 / 15 * (L * INR (length h) * eta)) * D h
      + 8 / 15 * (L * INR (length h) * eta) * INR (length h) * sqrt (square d (dF x))))).
Proof.
intros d dF df L c eta x D L0 e0 c0 lip near none more. set (G := sqrt (square d (dF x))).
assert (G0 : 0 <= G) by apply sqrt_pos.
assert (zero : forall y, square d (shift (shift x (-1) x) 0 y) = 0).
{ intros. unfold square. repeat (rewrite dot_plus || rewrite plus_dot). ring. }
assert (zero' : square d (shift x (-1) x) = 0).
{ unfold square. repeat (rewrite dot_plus || rewrite plus_dot). ring. }
induction h as [| v h [D0 IH]].
- simpl. rewrite none, !Rmult_0_r, zero, zero', sqrt_0. split; [lra |].
  split; [| intros _]; rewrite ?Rmult_0_r, ?Rmult_0_l; lra.
- rewrite more. cbn [length place]. rewrite S_INR.
  set (k := INR (length h)) in *. set (y := place eta x h) in *.
  assert (k0 : 0 <= k) by apply pos_INR.
  set (a := sqrt (square d (shift v (-1) (df y)))). set (w := sqrt (square d (shift y (-1) x))) in *.
  assert (a0 : 0 <= a) by apply sqrt_pos. assert (w0 : 0 <= w) by apply sqrt_pos.
  split; [lra |]. intros short.
  assert (q0 : 0 <= L * eta) by (apply Rmult_le_pos; lra).
  assert (qk : L * k * eta <= 1) by (replace (L * (k + 1) * eta) with (L * k * eta + L * eta)
    in short by ring; lra).
  destruct (IH qk) as [W R].
  (* the direction against dF x *)
  assert (V : sqrt (square d (shift v (-1) (dF x))) <= a + c + L * w).
  { assert (N : sqrt (square d (shift (df y) (-1) (dF y))) <= c).
    { rewrite <- (sqrt_square c) by lra. apply sqrt_le_1_alt. specialize (near y). lra. }
    assert (M : sqrt (square d (shift (dF y) (-1) (dF x))) <= L * w).
    { unfold w. rewrite <- (sqrt_square L) at 1 by lra.
      rewrite <- sqrt_mult by (try apply square_pos; nra). apply sqrt_le_1_alt.
      specialize (lip x y). lra. }
    replace (square d (shift v (-1) (dF x))) with (square d
      (shift (shift (shift v (-1) (df y)) 1 (shift (df y) (-1) (dF y))) 1 (shift (dF y) (-1) (dF x)))).
    2:{ apply square_same. intros z. rewrite !dot_plus. ring. }
    eapply Rle_trans; [apply triangle |].
    assert (T := triangle d (shift v (-1) (df y)) 1 (shift (df y) (-1) (dF y))).
    fold a in T. rewrite Rabs_R1 in *. lra. }
  assert (back : Rabs (- eta) = eta) by (rewrite Rabs_Ropp; apply Rabs_right; lra).
  split.
  + assert (E : sqrt (square d (shift (shift y (- eta) v) (-1) x)) <= w + eta * (a + c + L * w + G)).
    { replace (square d (shift (shift y (- eta) v) (-1) x)) with (square d (shift (shift (shift y (-1) x)
        (- eta) (shift v (-1) (dF x))) (- eta) (dF x))).
      2:{ apply square_same. intros z. rewrite !dot_plus. ring. }
      eapply Rle_trans; [apply triangle |]. fold G.
      assert (T := triangle d (shift y (-1) x) (- eta) (shift v (-1) (dF x))).
      rewrite back in *. fold w in T. apply Rmult_le_compat_l with (r := eta) in V; [| lra]. lra. }
    set (w' := sqrt (square d (shift (shift y (- eta) v) (-1) x))) in *.
    set (q := L * eta) in *.
    replace (L * (k + 1) * eta) with (q * (k + 1)) in * by (unfold q; ring).
    replace (L * k * eta) with (q * k) in * by (unfold q; ring).
    apply Rle_trans with ((1 - q * (k + 1)) * ((1 + q) * w + eta * (a + c + G))).
    * apply Rmult_le_compat_l; [lra |]. unfold q. lra.
    * assert (0 <= q * q * (k + 1) * w) by (repeat apply Rmult_le_pos; lra).
      assert (0 <= q * (k + 1) * (eta * (a + c + G))) by (repeat apply Rmult_le_pos; lra).
      lra.
  + intros tiny.
    assert (t : 16 * L * k * eta <= 1).
    { replace (16 * L * (k + 1) * eta) with (16 * L * k * eta + 16 * (L * eta)) in tiny by ring.
      lra. }
    specialize (R t).
    replace (square d (shift (shift (shift y (- eta) v) (-1) x) (eta * (k + 1)) (dF x)))
      with (square d (shift (shift (shift y (-1) x) (eta * k) (dF x))
        (- eta) (shift v (-1) (dF x)))).
    2:{ apply square_same. intros z. rewrite !dot_plus. ring. }
    eapply Rle_trans; [apply triangle |]. rewrite back.
    set (q := L * eta) in *.
    replace (L * (k + 1) * eta) with (q * (k + 1)) in * by (unfold q; ring).
    replace (L * k * eta) with (q * k) in * by (unfold q; ring).
    assert (W' : w <= 16 / 15 * (eta * (D h + k * G))).
    { assert (15 / 16 * w <= (1 - q * k) * w); [| lra].
      apply Rmult_le_compat_r; [exact w0 |]. unfold q. lra. }
    apply Rmult_le_compat_l with (r := q) in W'; [| exact q0].
    assert (V' : eta * sqrt (square d (shift v (-1) (dF x))) <= eta * (a + c + L * w))
      by (apply Rmult_le_compat_l; lra).
    assert (0 <= q * (k + 1) * (a + c)) by (repeat apply Rmult_le_pos; lra).
    assert (0 <= q * G) by (apply Rmult_le_pos; lra).
    replace (eta * (a + c + L * w)) with (eta * (a + c) + q * w) in V' by (unfold q; ring).
    apply Rle_trans with (eta * ((1 + 16 / 15 * (q * k)) * D h + 8 / 15 * (q * k) * k * G
      + (a + c) + 16 / 15 * q * (D h + k * G))); [lra |].
    apply Rmult_le_compat_l; [lra |]. lra.
Qed.

(* What the noise of K steps adds up to, in squares. *)
Lemma squares : forall k a b D S, 0 <= k -> 0 <= a -> 0 <= D -> 18 / 19 * a ^ 2 <= b ->
  18 / 19 * D ^ 2 <= k * S -> (k = 0 -> S = 0) -> 1 <= k \/ k = 0 ->
  18 / 19 * (a + D) ^ 2 <= (k + 1) * (b + S).
Proof.
intros k a b D S k0 a0 D0 A B Z [one | zero].
- apply Rmult_le_reg_l with k; [lra |].
  assert (P := pow2_ge_0 (k * a - D)).
  assert (k * k * (18 / 19 * a ^ 2) <= k * k * b) by (apply Rmult_le_compat_l; nra).
  assert (k * (18 / 19 * a ^ 2) <= k * b) by (apply Rmult_le_compat_l; lra).
  assert (k * (18 / 19 * D ^ 2) <= k * (k * S)) by (apply Rmult_le_compat_l; lra). nra.
- rewrite zero, Z in * by reflexivity. assert (D = 0) by nra. subst D. lra.
Qed.

(* A round, by what each client's move goes astray by, e_i: mu = sum p_i K_i, Z = ||...|| / eta. *)
Lemma arithmetic : forall G N Z mu q, 0 <= G -> 0 <= N -> 0 <= Z -> 1 <= mu -> 0 <= q ->
  16 * q * mu <= 1 -> Z <= 16 / 15 * N + mu * G / 30 ->
  - mu * G ^ 2 + G * Z + q / 2 * (mu * G + Z) ^ 2
  <= - (11 * mu - 9) / 12 * G ^ 2 + 9 / 19 * N ^ 2.
Proof.
intros G N Z mu q G0 N0 Z0 m1 q0 small far. set (Y := 16 / 15 * N + mu * G / 30) in *.
assert (mG : 0 <= mu * G) by (apply Rmult_le_pos; lra).
apply Rle_trans with (- mu * G ^ 2 + G * Y + q / 2 * (mu * G + Y) ^ 2).
- assert (G * Z <= G * Y) by (apply Rmult_le_compat_l; lra).
  assert (q / 2 * (mu * G + Z) ^ 2 <= q / 2 * (mu * G + Y) ^ 2).
  { apply Rmult_le_compat_l; [lra |]. apply pow_incr. lra. }
  lra.
- assert (GN : 0 <= G * N) by (apply Rmult_le_pos; lra).
  assert (q1 : 16 * q <= 1) by nra.
  assert (A : 16 * q * mu * (mu * G ^ 2) <= mu * G ^ 2).
  { rewrite <- (Rmult_1_l (mu * G ^ 2)) at 2. apply Rmult_le_compat_r; nra. }
  assert (B : 16 * q * mu * (G * N) <= 1 * (G * N)) by (apply Rmult_le_compat_r; lra).
  assert (C : 16 * q * N ^ 2 <= 1 * N ^ 2) by (apply Rmult_le_compat_r; [apply pow2_ge_0 | lra]).
  assert (M : G ^ 2 <= mu * G ^ 2) by nra.
  assert (S := pow2_ge_0 (G - 20 / 27 * N)). assert (NN := pow2_ge_0 N).
  unfold Y. ring_simplify. ring_simplify in A. ring_simplify in B. ring_simplify in C. nra.
Qed.

Lemma strays : forall d n F dF df draw L s g K eta x i, clients d n F dF df draw L s g ->
  0 < eta -> 16 * L * INR K * eta <= 1 -> (i < n)%nat ->
  local (draw i) eta x K (fun h => 18 / 19 * Rmax 0 (15 / 16
    * (sqrt (square d (shift (shift (place eta x h) (-1) x) (eta * INR K) (dF x))) / eta
       - INR K * sqrt (square d (dF x)) / 30)) ^ 2)
  <= INR K ^ 2 * (9 / 5 * s i + 2 * g).
Proof.
intros d n F dF df draw L s g K eta x i C e0 short I.
destruct (noise_pos _ _ _ _ _ _ _ _ _ i C I) as [s0 g0].
destruct C as [L0' [_ [lip C]]]. assert (L0 := Rlt_le _ _ L0').
set (G := sqrt (square d (dF x))). assert (G0 : 0 <= G) by apply sqrt_pos.
set (far := fun v y => square d (shift v (-1) (df i y))).
set (D := fix D h := match h with
  nil => 0 | cons v k => sqrt (far v (place eta x k)) + sqrt g + D k end).
set (S := fix S h := match h with
  nil => 0 | cons v k => 9 / 5 * far v (place eta x k) + 2 * g + S k end).
assert (laws : forall y, law _ (draw i y)) by (intros; now apply C).
assert (path := along d dF (df i) L (sqrt g) eta x D L0 e0 (sqrt_pos g) lip
  ltac:(intros y; rewrite <- Rsqr_pow2, Rsqr_sqrt by exact g0; now apply C) ltac:(reflexivity)
  ltac:(reflexivity)).
assert (DS : forall h, 18 / 19 * D h ^ 2 <= INR (length h) * S h).
{ induction h as [| v h IH]; [simpl; lra |]. cbn [length]. rewrite S_INR.
  change (D (v :: h)) with (sqrt (far v (place eta x h)) + sqrt g + D h).
  change (S (v :: h)) with (9 / 5 * far v (place eta x h) + 2 * g + S h).
  apply squares; try exact IH.
  - apply pos_INR.
  - assert (A := sqrt_pos (far v (place eta x h))). assert (B := sqrt_pos g). lra.
  - apply path.
  - assert (A := sqrt_def _ (square_pos d (shift v (-1) (df i (place eta x h))))).
    fold (far v (place eta x h)) in A. assert (B := sqrt_def _ g0).
    assert (P := pow2_ge_0 (9 * sqrt (far v (place eta x h)) - 10 * sqrt g)). lra.
  - intros Z. destruct h; [reflexivity |]. cbn [length] in Z. rewrite S_INR in Z.
    assert (P := pos_INR (length h)). lra.
  - destruct h; [right; reflexivity | left]. cbn [length]. rewrite S_INR.
    assert (P := pos_INR (length h)). lra. }
apply Rle_trans with (local (draw i) eta x K (fun h => INR K * S h)).
- apply local_le; [exact laws |]. intros h E. rewrite <- E in *. apply Rle_trans with (2 := DS h).
  apply Rmult_le_compat_l; [lra |]. apply pow_incr. split; [apply Rmax_l |].
  destruct (path h) as [D0 [_ R]]; [lra |]. specialize (R short). fold G in R.
  apply Rmax_lub; [exact D0 |].
  set (k := INR (length h)) in *.
  set (r := sqrt (square d (shift (shift (place eta x h) (-1) x) (eta * k) (dF x)))) in *.
  assert (k0 : 0 <= k) by apply pos_INR. set (z := L * k * eta) in *.
  assert (B : r / eta <= (1 + 16 / 15 * z) * D h + 8 / 15 * z * k * G).
  { apply Rmult_le_reg_l with eta; [exact e0 |].
    replace (eta * (r / eta)) with r by (field; lra). exact R. }
  assert (z1 : 16 * z <= 1) by (unfold z; lra).
  assert (16 * z * D h <= 1 * D h) by (apply Rmult_le_compat_r; lra).
  assert (16 * z * (k * G) <= 1 * (k * G)) by (apply Rmult_le_compat_r; nra). lra.
- clear DS path short. assert (Q : local (draw i) eta x K S <= INR K * (9 / 5 * s i + 2 * g)).
  { induction K as [| K IH]; [simpl; lra |]. rewrite S_INR. simpl local.
    apply Rle_trans with (1 * local (draw i) eta x K S + (9 / 5 * s i + 2 * g)); [| lra].
    apply law_one; [now apply local_law |]. intros h.
    destruct (C i I (place eta x h)) as [ly [B _]].
    assert (O := law_one _ _ (fun v => S (v :: h)) (9 / 5) (fun v => far v (place eta x h))
      (2 * g + S h) ly ltac:(intros v; right; simpl; ring)).
    change (draw i (place eta x h) (fun v => far v (place eta x h)) <= s i) in B. cbn beta.
    apply Rle_trans with (1 := O). lra. }
  apply Rle_trans with (INR K * local (draw i) eta x K S + 0).
  + apply law_one; [now apply local_law |]. intros h. lra.
  + apply Rmult_le_compat_l with (r := INR K) in Q; [lra | apply pos_INR].
Qed.

(* All rounds: the noise of a client and no more. *)
Lemma widely : forall d n F dF df draw L s g A chosen share K eta runs theta low T beta b m,
  clients d n F dF df draw L s g -> averaging A chosen share n K eta draw runs -> 0 < eta ->
  (forall i, (i < n)%nat -> 16 * L * INR (K i) * eta <= 1) -> 1 <= m ->
  (forall o, m <= total n (fun i => share o i * INR (K i))
    /\ (forall i, (i < n)%nat -> 0 <= beta o i)
    /\ forall e, total n (fun i => share o i * e i) ^ 2 <= total n (fun i => beta o i * e i ^ 2)) ->
  (forall i, (i < n)%nat -> chosen (fun o => beta o i) = b i) ->
  (forall x, low <= F x) -> (0 < T)%nat -> exists t, (t < T)%nat
  /\ rounds (next A chosen share n eta runs) theta t (fun x => square d (dF x))
  <= 12 / ((11 * m - 9) * eta) * ((F theta - low) / INR T
     + eta / 2 * total n (fun i => b i * (INR (K i) ^ 2 * (9 / 5 * s i + 2 * g)))).
Proof.
intros d n F dF df draw L s g A chosen share K eta runs theta low T beta b m C [CL [parts R]] e0
  short m1 more mass bound pos.
assert (L0 := Rlt_le _ _ (proj1 C)). set (N := fun i => INR (K i) ^ 2 * (9 / 5 * s i + 2 * g)).
replace (12 / ((11 * m - 9) * eta)) with (/ (eta * (11 * m - 9) / 12)) by (field; lra).
apply (telescope _ F (fun x => square d (dF x))); [| | | exact bound | exact pos].
- intros x. unfold next. apply (law_bind _ _ chosen (fun o f => runs x (fun h => f
    (mean n (share o) (fun i => place eta x (h i))))) CL). intros o. destruct (R x) as [rl _].
  split; [| split]; intros; [apply rl; auto | apply rl | apply rl].
- assert (0 < eta * (11 * m - 9)) by (apply Rmult_lt_0_compat; lra). lra.
- intros x. destruct (R x) as [rl mar]. set (G := sqrt (square d (dF x))).
  assert (G0 : 0 <= G) by apply sqrt_pos.
  set (r := fun i h => sqrt (square d
    (shift (shift (place eta x h) (-1) x) (eta * INR (K i)) (dF x)))).
  set (e := fun i h => Rmax 0 (15 / 16 * (r i h / eta - INR (K i) * G / 30))).
  set (rest := F x - eta * (11 * m - 9) / 12 * square d (dF x)).
  assert (each : forall o, runs x (fun h => F (mean n (share o) (fun i => place eta x (h i))))
    <= eta / 2 * total n (fun i => N i * beta o i) + rest).
  { intros o. destruct (parts o) as [one p0]. destruct (more o) as [M [B0 J]].
    set (mu := total n (fun i => share o i * INR (K i))) in *.
    assert (small : 16 * (L * eta) * mu <= 1).
    { rewrite <- one. unfold mu. rewrite <- sum_times. apply sum_le. intros i I.
      assert (B := short i I). apply Rmult_le_compat_l with (r := share o i) in B; [| now apply p0].
      lra. }
    apply Rle_trans with (eta / 2
      * runs x (fun h => total n (fun i => beta o i * (18 / 19 * e i (h i) ^ 2))) + rest).
    + apply law_one; [exact rl |]. intros h.
      set (y := mean n (share o) (fun i => place eta x (h i))).
      set (z := shift (shift y (-1) x) (eta * mu) (dF x)).
      set (S := total n (fun i => share o i * e i (h i))).
      assert (S0 : 0 <= S).
      { replace 0 with (total n (fun _ => 0)) by (rewrite sum_const; ring). apply sum_le.
        intros i I. apply Rmult_le_pos; [now apply p0 | apply Rmax_l]. }
      assert (Q : 18 / 19 * S ^ 2 <= total n (fun i => beta o i * (18 / 19 * e i (h i) ^ 2))).
      { rewrite (sum_ext n _ (fun i => 18 / 19 * (beta o i * e i (h i) ^ 2))) by (intros; ring).
        rewrite sum_times. apply Rmult_le_compat_l; [lra |]. apply (J (fun i => e i (h i))). }
      assert (Z : sqrt (square d z) <= eta * (16 / 15 * S + mu * G / 30)).
      { replace (square d z) with (square d (mean n (share o) (fun i =>
          shift (shift (place eta x (h i)) (-1) x) (eta * INR (K i)) (dF x)))).
        2:{ apply square_same. intros w. unfold z. rewrite dot_mean, !dot_plus. unfold y.
          rewrite dot_mean. rewrite (sum_ext n _ (fun i =>
            1 * (share o i * dot d (place eta x (h i)) w) + (- dot d x w * share o i
            + (eta * dot d (dF x) w * (share o i * INR (K i)) + 0))))
            by (intros; rewrite !dot_plus; ring).
          rewrite !sum_lin, sum_const, one. fold mu. ring. }
        eapply Rle_trans; [now apply triangle_sum |].
        replace (eta * (16 / 15 * S + mu * G / 30)) with (total n (fun i => eta * 16 / 15
          * (share o i * e i (h i)) + (eta * G / 30 * (share o i * INR (K i)) + 0))).
        2:{ rewrite !sum_lin, sum_const. fold S mu. field. }
        apply sum_le. intros i I. fold (r i (h i)).
        assert (W := Rmax_r 0 (15 / 16 * (r i (h i) / eta - INR (K i) * G / 30))).
        fold (e i (h i)) in W. apply Rmult_le_compat_l with (r := eta * 16 / 15) in W; [| lra].
        replace (eta * 16 / 15 * (15 / 16 * (r i (h i) / eta - INR (K i) * G / 30)))
          with (r i (h i) - eta * INR (K i) * G / 30) in W by (field; lra).
        apply Rmult_le_compat_l with (r := share o i) in W; [lra | now apply p0]. }
      assert (smooth := above d F dF L x y (proj1 C) (proj1 (proj2 C)) (proj1 (proj2 (proj2 C)))).
      assert (X := sqrt_def _ (square_pos d (dF x))). fold G in X.
      assert (inner : dot d (dF x) (shift y (-1) x)
        <= - (eta * mu) * G ^ 2 + G * sqrt (square d z)).
      { replace (dot d (dF x) (shift y (-1) x)) with (dot d (dF x) z - eta * mu * square d (dF x)).
        2:{ unfold z, square. rewrite !plus_dot. ring. }
        assert (B := dot_le d (dF x) z). assert (T' := Rle_abs (dot d (dF x) z)).
        fold G in B. rewrite <- X. lra. }
      assert (outer : square d (shift y (-1) x) <= (eta * mu * G + sqrt (square d z)) ^ 2).
      { rewrite <- (sqrt_def (square d (shift y (-1) x))) by apply square_pos.
        replace (square d (shift y (-1) x)) with (square d (shift z (- (eta * mu)) (dF x))).
        2:{ apply square_same. intros w. unfold z. rewrite !dot_plus. ring. }
        assert (B := triangle d z (- (eta * mu)) (dF x)).
        rewrite Rabs_Ropp, Rabs_right in B by nra. fold G in B.
        assert (T' := sqrt_pos (square d (shift z (- (eta * mu)) (dF x)))). nra. }
      assert (V := arithmetic G S (sqrt (square d z) / eta) mu (L * eta) G0 S0
        ltac:(apply Rle_mult_inv_pos; [apply sqrt_pos | exact e0]) ltac:(lra) ltac:(nra) small
        ltac:(apply Rmult_le_reg_l with eta; [exact e0 |];
          replace (eta * (sqrt (square d z) / eta)) with (sqrt (square d z)) by (field; lra);
          exact Z)).
      apply Rmult_le_compat_l with (r := eta) in V; [| lra].
      apply Rmult_le_compat_l with (r := L / 2) in outer; [| lra].
      replace (eta * (- mu * G ^ 2 + G * (sqrt (square d z) / eta)
        + L * eta / 2 * (mu * G + sqrt (square d z) / eta) ^ 2))
        with (- (eta * mu) * G ^ 2 + G * sqrt (square d z)
          + L / 2 * (eta * mu * G + sqrt (square d z)) ^ 2) in V by (field; lra).
      apply Rmult_le_compat_l with (r := eta / 2) in Q; [| lra].
      assert (less : eta * (11 * m - 9) / 12 * (G * G) <= eta * (11 * mu - 9) / 12 * (G * G)).
      { apply Rmult_le_compat_r; [nra |]. assert (eta * m <= eta * mu)
          by (apply Rmult_le_compat_l; lra). lra. }
      unfold rest. rewrite <- X. fold y. lra.
    + apply Rplus_le_compat_r, Rmult_le_compat_l; [lra |]. rewrite (law_sum _ (runs x) n _ rl).
      apply sum_le. intros i I.
      assert (go : runs x (fun h => 18 / 19 * e i (h i) ^ 2) <= N i).
      { rewrite (mar i (fun h => 18 / 19 * e i h ^ 2) I).
        exact (strays d n F dF df draw L s g (K i) eta x i C e0 (short i I) I). }
      apply Rmult_le_compat_l with (r := beta o i) in go; [| now apply B0].
      apply Rle_trans with (beta o i * runs x (fun h => 18 / 19 * e i (h i) ^ 2) + 0).
      * apply law_one; [exact rl |]. intros h. lra.
      * lra. }
  unfold next. apply Rle_trans with (1 := law_one _ chosen _ _ _ _ CL each).
  rewrite (law_sum _ chosen n _ CL).
  rewrite (sum_ext n (fun i => chosen _) (fun i => b i * N i)); [unfold rest, N; right; ring |].
  intros i I. rewrite <- (mass i I).
  assert (Z := proj1 (proj2 CL) (N i) (fun o => beta o i) (fun _ => 0)).
  rewrite (law_const _ chosen 0 CL) in Z.
  rewrite (law_ext _ chosen _ (fun o => N i * beta o i + 0) CL) by (intros; ring). rewrite Z. ring.
Qed.

Lemma on_line : forall n p e, square 1 (mean n p (fun i _ => e i)) = total n (fun i => p i * e i) ^ 2.
Proof. intros. unfold square, dot, mean. simpl. ring. Qed.

Lemma squared : forall x, square 1 (fun _ => x) = x ^ 2.
Proof. intros. unfold square, dot. simpl. ring. Qed.

Theorem wide_full : forall d n F dF df draw L s g p K eta runs theta low T,
  clients d n F dF df draw L s g ->
  averaging unit (fun f => f tt) (fun _ => p) n K eta draw runs ->
  0 < eta -> (forall i, (i < n)%nat -> (1 <= K i)%nat /\ pace * L * INR (K i) * eta <= 1) ->
  (forall x, low <= F x) -> (0 < T)%nat -> exists t, (t < T)%nat
  /\ rounds (next unit (fun f => f tt) (fun _ => p) n eta runs) theta t (fun x => square d (dF x))
  <= wide_side (total n (fun i => p i * INR (K i))) eta (F theta - low) (INR T)
    (total n (fun i => p i * p i) * total n (fun i => wide (INR (K i)) (s i) g)).
Proof.
unfold wide_side, wide, within, apart, pace, front.
intros d n F dF df draw L s g p K eta runs theta low T C V e0 short bound pos.
destruct (proj1 (proj2 V) tt) as [one p0]. set (P := total n (fun i => p i * p i)).
assert (m1 : 1 <= total n (fun i => p i * INR (K i))).
{ apply at_least; [exact one | exact p0 |]. intros i I. apply (le_INR 1). now apply short. }
rewrite <- (sum_times n P).
apply (widely d n F dF df draw L s g _ _ _ K eta runs theta low T (fun _ _ => P) (fun _ => P) _
  C V e0 (fun i I => proj2 (short i I)) m1); [| reflexivity | exact bound | exact pos].
intros o. split; [lra | split].
- intros i I. unfold P. replace 0 with (total n (fun _ => 0)) by (rewrite sum_const; ring).
  apply sum_le. intros. nra.
- intros e. rewrite <- on_line. apply Rle_trans with (1 := cauchy 1 n p (fun i _ => e i)). right.
  apply sum_ext. intros. now rewrite squared.
Qed.

Theorem wide_largest : forall d n F dF df draw L s g A chosen share K eta runs theta low T m c,
  clients d n F dF df draw L s g -> averaging A chosen share n K eta draw runs -> 0 < eta ->
  1 <= m -> (forall i, (i < n)%nat -> m <= INR (K i) /\ pace * L * INR (K i) * eta <= 1
    /\ wide (INR (K i)) (s i) g <= c) ->
  (forall x, low <= F x) -> (0 < T)%nat -> exists t, (t < T)%nat
  /\ rounds (next A chosen share n eta runs) theta t (fun x => square d (dF x))
  <= wide_side m eta (F theta - low) (INR T) c.
Proof.
unfold wide_side, wide, within, apart, pace, front.
intros d n F dF df draw L s g A chosen share K eta runs theta low T m c C V e0 m1 M bound pos.
set (b := fun i => chosen (fun o => share o i)).
destruct (weights A chosen share n K eta draw runs b V) as [one b0]; [reflexivity |].
destruct (widely d n F dF df draw L s g A chosen share K eta runs theta low T share b m C V e0
  (fun i I => proj1 (proj2 (M i I))) m1) as [t [I B]]; [| reflexivity | exact bound | exact pos |].
- intros o. destruct (proj1 (proj2 V) o) as [sum1 p0]. split; [| split; [exact p0 |]].
  + apply at_least; [exact sum1 | exact p0 |]. intros i I. now apply M.
  + intros e. rewrite <- on_line.
    apply Rle_trans with (1 := jensen 1 n (share o) (fun i _ => e i) p0 sum1). right.
    apply sum_ext. intros. now rewrite squared.
- exists t. split; [exact I |]. apply Rle_trans with (1 := B).
  assert (0 < (11 * m - 9) * eta) by (apply Rmult_lt_0_compat; lra).
  apply enlarge; [left; apply Rdiv_lt_0_compat; lra |]. apply Rmult_le_compat_l; [lra |].
  apply mean_below; [exact one | exact b0 |]. intros. now apply M.
Qed.

(* The hypotheses of each theorem can hold together. *)
Lemma quiet_clients : clients 1 1 (fun _ => 0) (fun _ _ => 0) (fun _ _ _ => 0)
  (fun _ _ f => f (fun _ => 0)) 1 (fun _ => 0) 0.
Proof.
unfold clients, law, square, dot, shift. simpl. split; [lra |]. split; [| split].
- intros x h. replace (0 + 0 * h 0%nat) with 0 by ring. apply derivable_pt_lim_const.
- intros x y. assert (A := Rle_0_sqr (y 0%nat + -1 * x 0%nat)). unfold Rsqr in A. lra.
- intros i l x. repeat split; intros; auto; try lra.
  assert (A := Rle_0_sqr (y 0%nat + -1 * x 0%nat)). unfold Rsqr in A. lra.
Qed.
Lemma quiet_unbiased : unbiased 1 1 (fun _ _ _ => 0) (fun _ _ f => f (fun _ => 0)).
Proof. intros i l x u. unfold dot, shift. simpl. lra. Qed.
Lemma quiet_averaging : averaging unit (fun f => f tt) (fun _ _ => 1) 1 (fun _ => 1%nat) (1/100)
  (fun _ _ f => f (fun _ => 0)) (fun _ f => f (fun _ => cons (fun _ => 0) nil)).
Proof. unfold averaging, law. simpl. repeat split; intros; auto; lra. Qed.
(* The right side for two clients: shares 1/3 and 2/3, 2 and 3 steps, noise 5 and 7, spread 4. *)
Theorem instance : let c f := (1 / 9 + 4 / 9) * (f 2 5 4 + f 3 7 4) in
  right_side (8 / 3) at_eta 17 19 23 (c noise) (c away) = without_drift + with_drift * (exp 1 - 2).
Proof.
unfold right_side, noise, away, front, apart, drift, fourth, at_eta, without_drift, with_drift.
set (e := exp 1 - 2). cbv zeta. field.
Qed.
Theorem wide_instance : let c f := (1 / 9 + 4 / 9) * (f 2 5 4 + f 3 7 4) in
  wide_side (8 / 3) at_eta 19 23 (c wide) = wide_there.
Proof. unfold wide_side, wide, within, apart, front, at_eta, wide_there. cbv zeta. field. Qed.
Lemma full_witness : exists d n F dF df draw L s g p K eta runs low T, (clients d n F dF df draw L
  s g) /\ (unbiased d n df draw) /\ (averaging unit (fun f => f tt) (fun _ => p) n K eta draw
  runs) /\ (short n K L eta) /\ (steps * (exp 1 - 2) * (total n (fun i => p i * p i) * total n (fun i =>
  INR (K i) ^ 4)) * (L * eta) ^ 2 <= 1) /\ ((forall x, low <= F x)) /\ ((0 < T)%nat).
Proof.
exists 1%nat, 1%nat, (fun _ => 0), (fun _ _ => 0), (fun _ _ _ => 0), (fun _ _ f => f (fun _ => 0)), 1,
  (fun _ => 0), 0, (fun _ => 1), (fun _ => 1%nat), (1/100),
  (fun _ f => f (fun _ => cons (fun _ => 0) nil)), 0, 1%nat.
assert (E := exp_le_3). split; [exact quiet_clients |]. split; [exact quiet_unbiased |]. split; [exact quiet_averaging |].
unfold short, steps, apart, fourth. simpl. repeat split; intros; try lra; try lia.
Qed.
Lemma chance_witness : exists d n F dF df draw L s g A chosen share K eta runs low T m b, (clients
  d n F dF df draw L s g) /\ (unbiased d n df draw) /\ (averaging A chosen share n K eta draw
  runs) /\ (short n K L eta) /\ (1 <= m) /\ ((forall i, (i < n)%nat -> m <= INR (K i))) /\
  ((forall i, (i < n)%nat -> chosen (fun o => share o i) = b i)) /\ (steps * (exp 1 - 2) * total n (fun
  i => b i * INR (K i) ^ 4) * (L * eta) ^ 2 <= 1) /\ ((forall x, low <= F x)) /\ ((0 < T)%nat).
Proof.
exists 1%nat, 1%nat, (fun _ => 0), (fun _ _ => 0), (fun _ _ _ => 0), (fun _ _ f => f (fun _ => 0)), 1,
  (fun _ => 0), 0, unit, (fun f => f tt), (fun _ _ => 1), (fun _ => 1%nat), (1/100),
  (fun _ f => f (fun _ => cons (fun _ => 0) nil)), 0, 1%nat, 1, (fun _ => 1).
assert (E := exp_le_3). split; [exact quiet_clients |]. split; [exact quiet_unbiased |]. split; [exact quiet_averaging |].
unfold short, steps, apart, fourth. simpl. repeat split; intros; try lra; try lia.
Qed.
Lemma largest_witness : exists d n F dF df draw L s g A chosen share K eta runs low T m c2 c3 c4,
  (clients d n F dF df draw L s g) /\ (unbiased d n df draw) /\ (averaging A chosen share n K eta
  draw runs) /\ (short n K L eta) /\ (1 <= m) /\ ((forall i, (i < n)%nat -> m <= INR (K i) /\ INR
  (K i) ^ 2 * (s i + apart * g) <= c2 /\ INR (K i) ^ 3 * (s i + fourth * INR (K i) * g) <= c3 /\ INR (K i)
  ^ 4 <= c4)) /\ (steps * (exp 1 - 2) * c4 * (L * eta) ^ 2 <= 1) /\ ((forall x, low <= F x)) /\ ((0 <
  T)%nat).
Proof.
exists 1%nat, 1%nat, (fun _ => 0), (fun _ _ => 0), (fun _ _ _ => 0), (fun _ _ f => f (fun _ => 0)), 1,
  (fun _ => 0), 0, unit, (fun f => f tt), (fun _ _ => 1), (fun _ => 1%nat), (1/100),
  (fun _ f => f (fun _ => cons (fun _ => 0) nil)), 0, 1%nat, 1, 0, 0, 1.
assert (E := exp_le_3). split; [exact quiet_clients |]. split; [exact quiet_unbiased |]. split; [exact quiet_averaging |].
unfold short, steps, apart, fourth. simpl. repeat split; intros; try lra; try lia.
Qed.
Lemma wide_full_witness : exists d n F dF df draw L s g p K eta runs low T, (clients d n F dF df
  draw L s g) /\ (averaging unit (fun f => f tt) (fun _ => p) n K eta draw runs) /\ (0 < eta) /\
  ((forall i, (i < n)%nat -> (1 <= K i)%nat /\ pace * L * INR (K i) * eta <= 1)) /\ ((forall x, low
  <= F x)) /\ ((0 < T)%nat).
Proof.
exists 1%nat, 1%nat, (fun _ => 0), (fun _ _ => 0), (fun _ _ _ => 0), (fun _ _ f => f (fun _ => 0)), 1,
  (fun _ => 0), 0, (fun _ => 1), (fun _ => 1%nat), (1/100),
  (fun _ f => f (fun _ => cons (fun _ => 0) nil)), 0, 1%nat.
assert (E := exp_le_3). split; [exact quiet_clients |]. split; [exact quiet_averaging |].
unfold short, pace, wide, within, apart. simpl. repeat split; intros; try lra; try lia.
Qed.
Lemma wide_largest_witness : exists d n F dF df draw L s g A chosen share K eta runs low T m c,
  (clients d n F dF df draw L s g) /\ (averaging A chosen share n K eta draw runs) /\ (0 < eta) /\
  (1 <= m) /\ ((forall i, (i < n)%nat -> m <= INR (K i) /\ pace * L * INR (K i) * eta <= 1 /\ wide
  (INR (K i)) (s i) g <= c)) /\ ((forall x, low <= F x)) /\ ((0 < T)%nat).
Proof.
exists 1%nat, 1%nat, (fun _ => 0), (fun _ _ => 0), (fun _ _ _ => 0), (fun _ _ f => f (fun _ => 0)), 1,
  (fun _ => 0), 0, unit, (fun f => f tt), (fun _ _ => 1), (fun _ => 1%nat), (1/100),
  (fun _ f => f (fun _ => cons (fun _ => 0) nil)), 0, 1%nat, 1, 0.
assert (E := exp_le_3). split; [exact quiet_clients |]. split; [exact quiet_averaging |].
unfold short, pace, wide, within, apart. simpl. repeat split; intros; try lra; try lia.
Qed.

(* Each theorem with one number 1 % better, or one inequality strict, or not, is false. *)
Lemma at_rest : forall x t (c : R), rounds (next unit (fun f => f tt) (fun _ _ => 1) 1 (1/100)
  (fun _ f => f (fun _ => cons (fun _ => 0) nil))) x t (fun _ => c) = c.
Proof. intros x t c. induction t as [| t IH]; [reflexivity | exact IH]. Qed.
Lemma full_sharp : ~ (forall d n F dF df draw L s g p K eta runs theta low T, clients d n F dF df
  draw L s g -> unbiased d n df draw -> averaging unit (fun f => f tt) (fun _ => p) n K eta draw
  runs -> short n K L eta -> steps * (exp 1 - 2) * (total n (fun i => p i * p i) * total n (fun i
  => INR (K i) ^ 4)) * (L * eta) ^ 2 <= 1 -> (forall x, low <= F x) -> (0 < T)%nat -> exists t, (t
  < T)%nat /\ rounds (next unit (fun f => f tt) (fun _ => p) n eta runs) theta t (fun x => square d
  (dF x)) < right_side (total n (fun i => p i * INR (K i))) eta L (F theta - low) (INR T) (total n
  (fun i => p i * p i) * total n (fun i => noise (INR (K i)) (s i) g)) (total n (fun i => p i * p
  i) * total n (fun i => away (INR (K i)) (s i) g))).
Proof.
intros s. assert (E := exp_le_3). destruct (s 1%nat 1%nat (fun _ => 0) _ _ _ 1 (fun _ => 0) 0
  (fun _ => 1) _ (1/100) _ (fun _ => 0) 0 1%nat quiet_clients quiet_unbiased quiet_averaging)
  as (t & _ & l); unfold short, steps; simpl; repeat split; intros; try lra; try lia.
rewrite at_rest in l. unfold right_side, noise, away, square, dot in l. simpl in l. lra.
Qed.
Lemma chance_sharp : ~ (forall d n F dF df draw L s g A chosen share K eta runs theta low T m b,
  clients d n F dF df draw L s g -> unbiased d n df draw -> averaging A chosen share n K eta draw
  runs -> short n K L eta -> 1 <= m -> (forall i, (i < n)%nat -> m <= INR (K i)) -> (forall i, (i <
  n)%nat -> chosen (fun o => share o i) = b i) -> steps * (exp 1 - 2) * total n (fun i => b i * INR
  (K i) ^ 4) * (L * eta) ^ 2 <= 1 -> (forall x, low <= F x) -> (0 < T)%nat -> exists t, (t < T)%nat
  /\ rounds (next A chosen share n eta runs) theta t (fun x => square d (dF x)) < right_side m eta
  L (F theta - low) (INR T) (total n (fun i => b i * noise (INR (K i)) (s i) g)) (total n (fun i =>
  b i * away (INR (K i)) (s i) g))).
Proof.
intros s. assert (E := exp_le_3). destruct (s 1%nat 1%nat (fun _ => 0) _ _ _ 1 (fun _ => 0) 0 unit
  _ _ _ (1/100) _ (fun _ => 0) 0 1%nat 1 (fun _ => 1) quiet_clients quiet_unbiased quiet_averaging)
  as (t & _ & l); unfold short, steps; simpl; repeat split; intros; try lra; try lia.
rewrite at_rest in l. unfold right_side, noise, away, square, dot in l. simpl in l. lra.
Qed.
Lemma largest_sharp : ~ (forall d n F dF df draw L s g A chosen share K eta runs theta low T m c2
  c3 c4, clients d n F dF df draw L s g -> unbiased d n df draw -> averaging A chosen share n K eta
  draw runs -> short n K L eta -> 1 <= m -> (forall i, (i < n)%nat -> m <= INR (K i) /\ noise (INR
  (K i)) (s i) g <= c2 /\ away (INR (K i)) (s i) g <= c3 /\ INR (K i) ^ 4 <= c4) -> steps * (exp 1
  - 2) * c4 * (L * eta) ^ 2 <= 1 -> (forall x, low <= F x) -> (0 < T)%nat -> exists t, (t < T)%nat
  /\ rounds (next A chosen share n eta runs) theta t (fun x => square d (dF x)) < right_side m eta
  L (F theta - low) (INR T) c2 c3).
Proof.
intros s. assert (E := exp_le_3). destruct (s 1%nat 1%nat (fun _ => 0) _ _ _ 1 (fun _ => 0) 0 unit
  _ _ _ (1/100) _ (fun _ => 0) 0 1%nat 1 0 0 1 quiet_clients quiet_unbiased quiet_averaging)
  as (t & _ & l); unfold short, steps, noise, away; simpl; repeat split; intros; try lra; try lia.
rewrite at_rest in l. unfold right_side, square, dot in l. simpl in l. lra.
Qed.
Lemma wide_full_sharp : ~ (forall d n F dF df draw L s g p K eta runs theta low T, clients d n F dF
  df draw L s g -> averaging unit (fun f => f tt) (fun _ => p) n K eta draw runs -> 0 < eta ->
  (forall i, (i < n)%nat -> (1 <= K i)%nat /\ pace * L * INR (K i) * eta <= 1) -> (forall x, low <=
  F x) -> (0 < T)%nat -> exists t, (t < T)%nat /\ rounds (next unit (fun f => f tt) (fun _ => p) n
  eta runs) theta t (fun x => square d (dF x)) < wide_side (total n (fun i => p i * INR (K i))) eta
  (F theta - low) (INR T) (total n (fun i => p i * p i) * total n (fun i => wide (INR (K i)) (s i)
  g))).
Proof.
intros s. destruct (s 1%nat 1%nat (fun _ => 0) _ _ _ 1 (fun _ => 0) 0
  (fun _ => 1) _ (1/100) _ (fun _ => 0) 0 1%nat quiet_clients quiet_averaging)
  as (t & _ & l); unfold pace; simpl; repeat split; intros; try lra; try lia.
rewrite at_rest in l. unfold wide_side, wide, square, dot in l. simpl in l. lra.
Qed.
Lemma wide_largest_sharp : ~ (forall d n F dF df draw L s g A chosen share K eta runs theta low T m
  c, clients d n F dF df draw L s g -> averaging A chosen share n K eta draw runs -> 0 < eta -> 1
  <= m -> (forall i, (i < n)%nat -> m <= INR (K i) /\ pace * L * INR (K i) * eta <= 1 /\ wide (INR
  (K i)) (s i) g <= c) -> (forall x, low <= F x) -> (0 < T)%nat -> exists t, (t < T)%nat /\ rounds
  (next A chosen share n eta runs) theta t (fun x => square d (dF x)) < wide_side m eta (F theta -
  low) (INR T) c).
Proof.
intros s. destruct (s 1%nat 1%nat (fun _ => 0) _ _ _ 1 (fun _ => 0) 0 unit
  _ _ _ (1/100) _ (fun _ => 0) 0 1%nat 1 0 quiet_clients quiet_averaging)
  as (t & _ & l); unfold pace, wide; simpl; repeat split; intros; try lra; try lia.
rewrite at_rest in l. unfold wide_side, square, dot in l. simpl in l. lra.
Qed.
Lemma instance_sharp : ~ (let c f := (1 / 9 + 4 / 9) * (f 2 5 4 + f 3 7 4) in right_side (8 / 3)
  at_eta 17 19 23 (c noise) (c away) = without_drift + 99 / 100 * with_drift * (exp 1 - 2)).
Proof.
intros s. assert (e := instance). cbv zeta in *. assert (l := exp_le_3).
assert (L : 2 < exp 1) by (assert (x := exp_ineq1 1); lra).
unfold without_drift, with_drift in *. lra.
Qed.
Lemma wide_instance_sharp : ~ (let c f := (1 / 9 + 4 / 9) * (f 2 5 4 + f 3 7 4) in wide_side (8 /
  3) at_eta 19 23 (c wide) = 99 / 100 * wide_there).
Proof.
intros s. assert (e := wide_instance). cbv zeta in *. unfold wide_there in *. lra.
Qed.
