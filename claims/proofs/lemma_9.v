(* The signs of the multiplier and of the mean difference g lam. *)
From Coq Require Import Reals Lra.
Open Scope R_scope.

Definition rising (g : R -> R) : Prop := forall x y, x < y -> g x < g y.
Definition clip (eps t : R) : R := Rmax (- eps) (Rmin eps t).

Theorem signs : forall g eps lam, rising g -> 0 <= eps -> g lam = clip eps (g 0) ->
  (eps < Rabs (g 0) -> Rabs (g lam) = eps /\ 0 <= g lam * g 0 /\ lam * g 0 < 0)
  /\ (Rabs (g 0) <= eps -> g lam = g 0 /\ lam = 0).
Proof.
intros g eps lam inc pos E. unfold clip in E.
assert (back : forall x y, g x < g y -> x < y).
{ intros x y l. destruct (Rtotal_order x y) as [| [e | n]]; [assumption | subst;
  lra | apply inc in n; lra]. }
split; intros H.
- destruct (Rle_dec 0 (g 0)) as [p | p].
  + rewrite Rabs_right in H by lra. rewrite Rmin_left, Rmax_right in E by lra.
    assert (lam < 0) by (apply back; lra). rewrite E, Rabs_right by lra. nra.
  + rewrite Rabs_left in H by lra. rewrite Rmin_right, Rmax_left in E by lra.
    assert (0 < lam) by (apply back; lra). rewrite E, Rabs_left1 by lra. nra.
- assert (A := Rle_abs (g 0)). assert (B := Rle_abs (- g 0)). rewrite Rabs_Ropp in B.
  rewrite Rmin_right, Rmax_right in E by lra. split; [exact E |].
  destruct (Rtotal_order lam 0) as [n | [e | n]]; [apply inc in n; lra | exact e | apply inc in n;
    lra].
Qed.

(* The hypotheses of each theorem can hold together. *)
Lemma signs_witness : (exists g eps lam, rising g /\ 0 <= eps /\ g lam = clip eps (g 0)
  /\ eps < Rabs (g 0)) /\ exists g eps lam, rising g /\ 0 <= eps /\ g lam = clip eps (g 0)
  /\ Rabs (g 0) <= eps.
Proof.
split; [exists (fun x => x + 1), 0, (-1) | exists (fun x => x), 1, 0];
  (split; [intros x y l; lra |]); (split; [lra |]); unfold clip; split.
- rewrite Rmin_left, Rmax_right; lra.
- rewrite Rabs_right; lra.
- rewrite Rmin_right, Rmax_right; lra.
- rewrite Rabs_R0. lra.
Qed.

(* Each theorem with one number 1 % better, or one inequality strict, or not, is false. *)
Lemma signs_sharp : ~ (forall g eps lam, rising g -> 0 <= eps -> g lam = clip eps (g 0) -> (eps <
  Rabs (g 0) -> Rabs (g lam) = 99 / 100 * eps /\ 0 <= g lam * g 0 /\ lam * g 0 < 0) /\ (Rabs (g 0)
  <= eps -> g lam = g 0 /\ lam = 0)).
Proof.
intros s. destruct (s (fun x => x + 1) (1 / 2) (- 1 / 2)) as [c _].
- intros x y l. lra.
- lra.
- unfold clip. rewrite Rmin_left, Rmax_right; lra.
- destruct c as [e _]; [rewrite Rabs_right; lra |]. rewrite Rabs_right in e; lra.
Qed.
