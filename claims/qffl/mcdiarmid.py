"""What follows from McDiarmid's inequality, as ``proofs/mcdiarmid.v`` states it. A law takes a
function of the outcome to its mean.
"""

DRAWS = r"""
Definition law (A : Type) (m : (A -> R) -> R) : Prop :=
  (forall f g, (forall a, f a <= g a) -> m f <= m g)
  /\ (forall c f g, m (fun a => c * f a + g a) = c * m f + m g) /\ m (fun _ => 1) = 1.
Fixpoint joint (A : Type) (ms : list ((A -> R) -> R)) : (list A -> R) -> R :=
  match ms with
  | nil => fun f => f nil
  | cons m more => fun f => m (fun a => joint A more (fun z => f (cons a z)))
  end.
Fixpoint weigh (A : Type) (w : list R) (losses : list (A -> R)) (z : list A) : R :=
  match w, losses, z with
  | cons u w, cons f more, cons a z => u * f a + weigh A w more z
  | _, _, _ => 0
  end.
Definition squares (w : list R) : R := fold_right (fun u x => u * u + x) 0 w.
"""
"""All definitions of the file."""
ONE_MIXTURE = r"""
Theorem one_mixture : forall A (o : A) ms w N losses Phi size bad risk,
  Forall (law A) ms -> length w = length ms -> 0 < squares w -> 0 < risk <= 1 ->
  (forall h, (h < N)%nat -> Forall (fun f : A -> R => forall a, 0 <= f a <= 1) (losses h)
    /\ forall z, weigh A w (losses h) z <= size h z) ->
  (forall z, (forall h, (h < N)%nat ->
      joint A ms (weigh A w (losses h)) - weigh A w (losses h) z <= Phi z)
    /\ exists h, (h < N)%nat
      /\ Phi z = joint A ms (weigh A w (losses h)) - weigh A w (losses h) z) ->
  (forall z, bad z <= 1 /\ ((forall h, (h < N)%nat -> joint A ms (weigh A w (losses h))
      <= size h z + joint A ms Phi + sqrt (squares w / 2 * ln (/ risk))) -> bad z <= 0)) ->
  joint A ms bad <= risk.
"""
"""Lemma 10 for one lambda: w has lambda_k/n_k for each sample of device k, Phi is the largest gap,
bad is 1 where some h breaks the bound, and size is an upper bound of the weighed losses, such as
Hoelder's inequality gives.
"""
ALL_MIXTURES = r"""
Theorem all_mixtures : forall A (o : A) ms (w : nat -> list R) N losses Phi size bad risk K top,
  Forall (law A) ms -> (0 < K)%nat -> 0 < risk <= 1 ->
  (forall k, (k < K)%nat -> length (w k) = length ms /\ 0 < squares (w k)
    /\ joint A ms (Phi k) + sqrt (squares (w k) / 2 * ln (/ (risk / INR K))) <= top
    /\ (forall h, (h < N)%nat -> Forall (fun f : A -> R => forall a, 0 <= f a <= 1) (losses h)
      /\ forall z, weigh A (w k) (losses h) z <= size h z)
    /\ forall z, (forall h, (h < N)%nat ->
        joint A ms (weigh A (w k) (losses h)) - weigh A (w k) (losses h) z <= Phi k z)
      /\ exists h, (h < N)%nat
        /\ Phi k z = joint A ms (weigh A (w k) (losses h)) - weigh A (w k) (losses h) z) ->
  (forall z, bad z <= 1 /\ ((forall k h, (k < K)%nat -> (h < N)%nat ->
      joint A ms (weigh A (w k) (losses h)) <= size h z + top) -> bad z <= 0)) ->
  joint A ms bad <= risk.
"""
"""Theorem 11 with K mixtures, its vertices, at a K-th of the risk each."""
TWO_GROUPS = r"""
Theorem two_groups : forall A (o : A) m (loss : A -> R) n k eps, law A m ->
  (forall a, 0 <= loss a <= 1) -> (0 < n)%nat -> (0 < k)%nat -> 0 <= eps ->
  joint A (repeat m (n + k)) (fun z => if Rle_dec eps (Rabs (weigh A
    (repeat (/ INR n) n ++ repeat (- / INR k) k) (repeat loss (n + k)) z)) then 1 else 0)
  <= 2 * exp (- (2 * (eps * eps) * (INR n * INR k) / (INR n + INR k))).
"""
"""The means of n and of k samples of one law."""
