"""Federated averaging as ``proofs/averaging.v`` states it: rounds of local steps on R^d, clients
that take part by any law, and the bounds on min_t E||grad F(theta_t)||^2.

A law takes a function of the outcome to its mean. ``local`` is a client's K steps, ``next`` a
round; ``averaging`` says that a round's runs have the clients' own laws, jointly in any way.
"""

SETTING = r"""
Fixpoint sum (n : nat) (t : nat -> R) : R := match n with O => 0 | S k => sum k t + t k end.
Definition dot (d : nat) (x y : nat -> R) : R := sum d (fun k => x k * y k).
Definition square (d : nat) (x : nat -> R) : R := dot d x x.
Definition plus (x : nat -> R) (c : R) (y : nat -> R) (k : nat) : R := x k + c * y k.
Definition mean (n : nat) (p : nat -> R) (x : nat -> nat -> R) (k : nat) : R :=
  sum n (fun i => p i * x i k).
Definition law (A : Type) (m : (A -> R) -> R) : Prop :=
  (forall f g, (forall a, f a <= g a) -> m f <= m g)
  /\ (forall c f g, m (fun a => c * f a + g a) = c * m f + m g) /\ m (fun _ => 1) = 1.
Fixpoint place (eta : R) (theta : nat -> R) (h : list (nat -> R)) : nat -> R :=
  match h with nil => theta | cons v k => plus (place eta theta k) (- eta) v end.
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
  0 < L /\ (forall x h, derivable_pt_lim (fun t => F (plus x t h)) 0 (dot d (dF x) h))
  /\ (forall x y, square d (plus (dF y) (-1) (dF x)) <= L ^ 2 * square d (plus y (-1) x))
  /\ forall i, (i < n)%nat -> forall x, law (nat -> R) (draw i x)
    /\ draw i x (fun v => square d (plus v (-1) (df i x))) <= s i
    /\ square d (plus (df i x) (-1) (dF x)) <= g
    /\ forall y, square d (plus (df i y) (-1) (df i x)) <= L ^ 2 * square d (plus y (-1) x).
Definition unbiased (d n : nat) (df : nat -> (nat -> R) -> nat -> R)
  (draw : nat -> (nat -> R) -> ((nat -> R) -> R) -> R) : Prop :=
  forall i, (i < n)%nat -> forall x u,
    draw i x (fun v => dot d (plus v (-1) (df i x)) u) = 0.
Definition averaging (A : Type) (chosen : (A -> R) -> R) (share : A -> nat -> R) (n : nat)
  (K : nat -> nat) (eta : R) (draw : nat -> (nat -> R) -> ((nat -> R) -> R) -> R)
  (runs : (nat -> R) -> ((nat -> list (nat -> R)) -> R) -> R) : Prop :=
  law A chosen
  /\ (forall o, sum n (share o) = 1 /\ forall i, (i < n)%nat -> 0 <= share o i)
  /\ forall x, law (nat -> list (nat -> R)) (runs x)
    /\ forall i f, (i < n)%nat -> runs x (fun h => f (h i)) = local (draw i) eta x (K i) f.
Definition short (n : nat) (K : nat -> nat) (L eta : R) : Prop :=
  0 < eta /\ forall i, (i < n)%nat -> (1 <= K i)%nat /\ 6 * L * INR (K i) * eta <= 1.
"""
"""All definitions of the file."""
FULL = r"""
Theorem full : forall d n F dF df draw L s g p K eta runs theta low T,
  clients d n F dF df draw L s g -> unbiased d n df draw ->
  averaging unit (fun f => f tt) (fun _ => p) n K eta draw runs -> short n K L eta ->
  24 * (exp 1 - 2) * (sum n (fun i => p i * p i) * sum n (fun i => INR (K i) ^ 4)) * (L * eta) ^ 2
    <= 1 ->
  (forall x, low <= F x) -> (0 < T)%nat -> exists t, (t < T)%nat
  /\ rounds (next unit (fun f => f tt) (fun _ => p) n eta runs) theta t (fun x => square d (dF x))
  <= 12 / ((11 * sum n (fun i => p i * INR (K i)) - 9) * eta) * ((F theta - low) / INR T
     + eta / 2 * sum n (fun i => p i * p i)
     * (sum n (fun i => INR (K i) ^ 2 * (s i + 2 * g)) + 2 * (exp 1 - 2) * eta ^ 2 * L ^ 2
        * sum n (fun i => INR (K i) ^ 3 * (s i + 6 * INR (K i) * g)))).
"""
"""Theorem A.1, full participation."""
CHANCE = r"""
Theorem chance : forall d n F dF df draw L s g A chosen share K eta runs theta low T m b,
  clients d n F dF df draw L s g -> unbiased d n df draw ->
  averaging A chosen share n K eta draw runs -> short n K L eta ->
  1 <= m -> (forall i, (i < n)%nat -> m <= INR (K i)) ->
  (forall i, (i < n)%nat -> chosen (fun o => share o i) = b i) ->
  24 * (exp 1 - 2) * sum n (fun i => b i * INR (K i) ^ 4) * (L * eta) ^ 2 <= 1 ->
  (forall x, low <= F x) -> (0 < T)%nat -> exists t, (t < T)%nat
  /\ rounds (next A chosen share n eta runs) theta t (fun x => square d (dF x))
  <= 12 / ((11 * m - 9) * eta) * ((F theta - low) / INR T
     + eta / 2 * (sum n (fun i => b i * (INR (K i) ^ 2 * (s i + 2 * g)))
       + 2 * (exp 1 - 2) * eta ^ 2 * L ^ 2
         * sum n (fun i => b i * (INR (K i) ^ 3 * (s i + 6 * INR (K i) * g))))).
"""
"""Partial participation: b_i is client i's mean share."""
LARGEST = r"""
Theorem largest : forall d n F dF df draw L s g A chosen share K eta runs theta low T m c2 c3 c4,
  clients d n F dF df draw L s g -> unbiased d n df draw ->
  averaging A chosen share n K eta draw runs -> short n K L eta ->
  1 <= m -> (forall i, (i < n)%nat -> m <= INR (K i)
    /\ INR (K i) ^ 2 * (s i + 2 * g) <= c2 /\ INR (K i) ^ 3 * (s i + 6 * INR (K i) * g) <= c3
    /\ INR (K i) ^ 4 <= c4) ->
  24 * (exp 1 - 2) * c4 * (L * eta) ^ 2 <= 1 ->
  (forall x, low <= F x) -> (0 < T)%nat -> exists t, (t < T)%nat
  /\ rounds (next A chosen share n eta runs) theta t (fun x => square d (dF x))
  <= 12 / ((11 * m - 9) * eta) * ((F theta - low) / INR T
     + eta / 2 * (c2 + 2 * (exp 1 - 2) * eta ^ 2 * L ^ 2 * c3)).
"""
"""Partial participation, by the largest of the clients' numbers."""
BIASED_FULL = r"""
Theorem biased_full : forall d n F dF df draw L s g p K eta runs theta low T,
  clients d n F dF df draw L s g ->
  averaging unit (fun f => f tt) (fun _ => p) n K eta draw runs -> short n K L eta ->
  48 * (exp 1 - 2) * (sum n (fun i => p i * p i) * sum n (fun i => INR (K i) ^ 4)) * (L * eta) ^ 2
    <= 1 ->
  (forall x, low <= F x) -> (0 < T)%nat -> exists t, (t < T)%nat
  /\ rounds (next unit (fun f => f tt) (fun _ => p) n eta runs) theta t (fun x => square d (dF x))
  <= 12 / ((11 * sum n (fun i => p i * INR (K i)) - 9) * eta) * ((F theta - low) / INR T
     + 3 * eta / 2 * sum n (fun i => p i * p i)
     * (sum n (fun i => INR (K i) ^ 2 * (s i + g)) + 8 * (exp 1 - 2) * eta ^ 2 * L ^ 2
        * sum n (fun i => INR (K i) ^ 4 * (s i + g)))).
"""
"""Without unbiased gradients, full participation."""
BIASED_LARGEST = r"""
Theorem biased_largest : forall d n F dF df draw L s g A chosen share K eta runs theta low T m c2
  c4,
  clients d n F dF df draw L s g ->
  averaging A chosen share n K eta draw runs -> short n K L eta ->
  1 <= m -> (forall i, (i < n)%nat -> m <= INR (K i)
    /\ INR (K i) ^ 2 * (s i + g) <= c2 /\ INR (K i) ^ 4 * (s i + g) <= c4
    /\ 48 * (exp 1 - 2) * INR (K i) ^ 4 * (L * eta) ^ 2 <= 1) ->
  (forall x, low <= F x) -> (0 < T)%nat -> exists t, (t < T)%nat
  /\ rounds (next A chosen share n eta runs) theta t (fun x => square d (dF x))
  <= 12 / ((11 * m - 9) * eta) * ((F theta - low) / INR T
     + 3 * eta / 2 * (c2 + 8 * (exp 1 - 2) * eta ^ 2 * L ^ 2 * c4)).
"""
"""Without unbiased gradients, partial participation."""
WIDE_FULL = r"""
Theorem wide_full : forall d n F dF df draw L s g p K eta runs theta low T,
  clients d n F dF df draw L s g ->
  averaging unit (fun f => f tt) (fun _ => p) n K eta draw runs ->
  0 < eta -> (forall i, (i < n)%nat -> (1 <= K i)%nat /\ 16 * L * INR (K i) * eta <= 1) ->
  (forall x, low <= F x) -> (0 < T)%nat -> exists t, (t < T)%nat
  /\ rounds (next unit (fun f => f tt) (fun _ => p) n eta runs) theta t (fun x => square d (dF x))
  <= 12 / ((11 * sum n (fun i => p i * INR (K i)) - 9) * eta) * ((F theta - low) / INR T
     + eta / 2 * sum n (fun i => p i * p i)
     * sum n (fun i => INR (K i) ^ 2 * (9 / 5 * s i + 2 * g))).
"""
"""Without unbiased gradients, by a shorter step and with less noise, full participation."""
WIDE_LARGEST = r"""
Theorem wide_largest : forall d n F dF df draw L s g A chosen share K eta runs theta low T m c,
  clients d n F dF df draw L s g -> averaging A chosen share n K eta draw runs -> 0 < eta ->
  1 <= m -> (forall i, (i < n)%nat -> m <= INR (K i) /\ 16 * L * INR (K i) * eta <= 1
    /\ INR (K i) ^ 2 * (9 / 5 * s i + 2 * g) <= c) ->
  (forall x, low <= F x) -> (0 < T)%nat -> exists t, (t < T)%nat
  /\ rounds (next A chosen share n eta runs) theta t (fun x => square d (dF x))
  <= 12 / ((11 * m - 9) * eta) * ((F theta - low) / INR T + eta / 2 * c).
"""
"""The same, partial participation."""
