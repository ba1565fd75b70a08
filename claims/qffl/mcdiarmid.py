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
Definition rate : R := 2.
"""
"""All definitions of the file."""
TWO_GROUPS = r"""
Theorem two_groups : forall A (o : A) m (loss : A -> R) n k eps, law A m ->
  (forall a, 0 <= loss a <= 1) -> (0 < n)%nat -> (0 < k)%nat -> 0 <= eps ->
  joint A (repeat m (n + k)) (fun z => if Rle_dec eps (Rabs (weigh A
    (repeat (/ INR n) n ++ repeat (- / INR k) k) (repeat loss (n + k)) z)) then 1 else 0)
  <= 2 * exp (- (2 * (eps * eps) * (INR n * INR k) / (INR n + INR k))).
"""
"""The means of n and of k samples of one law."""
