(* Every client has people of one group only: q i, the share of group 1, is 0 or 1. A client's
  budget
   counts where both of its rates are defined. md is the pooled mean difference, local i client
     i's. *)
From Coq Require Import Reals Lra List.
Open Scope R_scope.

Definition solution {F} (feasible : F -> Prop) (accuracy : F -> R) (f : F) : Prop :=
  feasible f /\ forall g, feasible g -> accuracy g <= accuracy f.
Definition cfl {F} (rule : F -> Prop) (accuracy md : F -> R) (eps : R) : F -> Prop :=
  solution (fun f => rule f /\ Rabs (md f) <= eps) accuracy.
Definition fedavg {F} (rule : F -> Prop) (accuracy : F -> R) (local : nat -> F -> R) (q eps : nat
  -> R)
  (clients : list nat) : F -> Prop :=
  solution (fun f => rule f
    /\ forall i, In i clients -> 0 < q i < 1 -> Rabs (local i f) <= eps i) accuracy.

Theorem segregated : forall F (rule : F -> Prop) accuracy md local q eps clients,
  (forall i, In i clients -> q i = 0 \/ q i = 1) -> (forall f, rule f -> Rabs (md f) <= 1) ->
  (forall f, fedavg rule accuracy local q eps clients f <-> cfl rule accuracy md 1 f)
  /\ (forall f, cfl rule accuracy md 0 f -> Rabs (md f) = 0)
  /\ ((forall f, cfl rule accuracy md 1 f -> 0 < Rabs (md f)) ->
      forall f h, fedavg rule accuracy local q eps clients f -> cfl rule accuracy md 0 h ->
        Rabs (md h) < Rabs (md f)).
Proof.
intros F rule accuracy md local q eps clients one unit.
assert (free : forall i, In i clients -> ~ 0 < q i < 1).
{ intros i I. destruct (one i I) as [e | e]; rewrite e; lra. }
assert (same : forall f, fedavg rule accuracy local q eps clients f <-> cfl rule accuracy md 1 f).
{ intros f. split; intros [[r _] top]; (split; [split; [exact r |] |]).
  - exact (unit f r).
  - intros g [s _]. apply top. split; [exact s |]. intros i I c. now destruct (free i I).
  - intros i I c. now destruct (free i I).
  - intros g [s _]. apply top. split; [exact s | exact (unit g s)]. }
assert (fair : forall f, cfl rule accuracy md 0 f -> Rabs (md f) = 0).
{ intros f [[_ z] _]. apply Rle_antisym; [exact z | apply Rabs_pos]. }
split; [exact same |]. split; [exact fair |].
intros unfair f h Sf Sh. rewrite (fair h Sh). apply unfair, same, Sf.
Qed.

(* Each theorem with one number 1 % better, or one inequality strict, or not, is false. *)
Lemma segregated_sharp : ~ (forall F (rule : F -> Prop) accuracy md local q eps clients, (forall f,
  rule f -> Rabs (md f) <= 1) -> (forall f, fedavg rule accuracy local q eps clients f <-> cfl rule
  accuracy md 1 f) /\ (forall f, cfl rule accuracy md 0 f -> Rabs (md f) = 0) /\ ((forall f, cfl
  rule accuracy md 1 f -> 0 < Rabs (md f)) -> forall f h, fedavg rule accuracy local q eps clients
  f -> cfl rule accuracy md 0 h -> Rabs (md h) < Rabs (md f))).
Proof.
intros s. destruct (s bool (fun _ => True) (fun b : bool => if b then 1 else 0) (fun _ => 0)
  (fun _ b => if b then 1 else 0) (fun _ => 1 / 2) (fun _ => 0) (cons 0%nat nil)) as [e _].
- intros. rewrite Rabs_R0. lra.
- destruct (proj1 (e false)) as [_ l].
  + split; [split; [exact I | intros; rewrite Rabs_R0; lra] |]. intros [] [_ b]; [| lra].
    specialize (b 0%nat (or_introl eq_refl) ltac:(lra)). rewrite Rabs_R1 in b. lra.
  + specialize (l true). simpl in l. rewrite Rabs_R0 in l. specialize (l (conj I Rle_0_1)). lra.
Qed.
