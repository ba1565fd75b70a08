(* What a theorem of claims/proofs must be. Each check takes statements with definitions unfolded. *)
From Coq Require Import Reals Lra List Permutation Sorted.
From Ltac2 Require Ltac2.
Open Scope R_scope.

Module Term.
Import Ltac2.Ltac2 Ltac2.Constr.Unsafe.
Ltac2 names () := ['R; 'Rplus; 'Rminus; 'Ropp; 'Rmult; 'Rdiv; 'Rinv; 'pow; 'Rpower; 'exp; 'ln; 'sqrt;
  'PI; 'Rabs; 'Rmax; 'Rmin; 'Rlt; 'Rle; 'Rgt; 'Rge; 'Rlt_dec; 'Req_EM_T; 'sumbool; 'IZR; 'INR;
  'positive; 'Z; 'derivable_pt_lim; 'continuity; 'Un_cv; 'nat; 'lt; 'le; 'Nat.add; 'bool; 'unit;
  'prod; '@fst; '@snd; 'list; 'seq; '@In; '@fold_right; '@length; '@map; '@filter; '@nth; '@combine;
  '@Forall; '@Forall2; '@Permutation; '@StronglySorted; '@NoDup; '@incl; '@eq; 'and; 'or; 'not; 'iff;
  '@ex; 'True; 'False].
Ltac2 refused (text : string) (t : constr) := Control.zero (Tactic_failure (Some
  (Message.concat (Message.of_string text) (Message.of_constr t)))).
Ltac2 either (a : bool) (b : bool) := if a then true else b.
Ltac2 both (a : bool) (b : bool) := if a then b else false.
Ltac2 types (b : binder array) := List.map Constr.Binder.type (Array.to_list b).
(* The number of a term's form, and its parts. *)
Ltac2 form (t : constr) := match kind t with
  | Rel _ => (0, []) | Var _ => (0, []) | Sort _ => (0, []) | Constructor _ _ => (0, [])
  | Constant _ _ => (1, []) | Ind _ _ => (1, [])
  | Cast t _ _ => (2, [t])
  | Prod b t => (3, [Constr.Binder.type b; t])
  | Lambda b t => (4, [Constr.Binder.type b; t])
  | App f a => (5, f :: Array.to_list a)
  | Case _ r _ t a => (6, r :: t :: Array.to_list a)
  | Fix _ _ b a => (7, List.append (types b) (Array.to_list a))
  | _ => refused "a statement must not contain " t
  end.
Ltac2 binders (t : constr) := match kind t with
  | Prod b _ => [b] | Lambda b _ => [b] | _ => [] end.
(* The module of a constant. *)
Ltac2 home (t : constr) := match kind t with
  | Constant c _ => List.removelast (Env.path (Std.ConstRef c))
  | _ => refused "no constant: " t end.
(* A variable hides neither a permitted name nor a definition of the file, whose module is home. *)
Ltac2 named (home : ident list) (b : binder) := match Constr.Binder.name b with
  | None => ()
  | Some x =>
    let defined := match Env.get (List.append home [x]) with Some r => [r] | None => [] end in
    let is_permitted r := List.exist (Constr.equal (Env.instantiate r)) (names ()) in
    match List.append defined (List.filter is_permitted (Env.expand [x])) with
    | [] => ()
    | r :: _ => refused "a variable must not have the name of " (Env.instantiate r) end end.
Ltac2 rec permitted (home : ident list) (t : constr) : unit := let (n, parts) := form t in
  List.iter (named home) (binders t);
  if Int.equal n 1 then
    if List.exist (Constr.equal t) (names ()) then () else refused "a statement must not use " t
  else List.iter (permitted home) parts.
(* Equal but for the levels of universes. *)
Ltac2 rec same (a : constr) (b : constr) : bool := if Constr.equal a b then true else
  match kind a with
  | Sort _ => match kind b with
    | Sort _ => Bool.neg (either (Constr.equal a 'Prop) (Constr.equal b 'Prop))
    | _ => false end
  | _ => let (n, ts) := form a in let (m, vs) := form b in
    if both (both (Int.lt 1 n) (Int.equal n m)) (Int.equal (List.length ts) (List.length vs))
    then List.for_all (fun (x, y) => same x y) (List.combine ts vs) else false
  end.
(* 1: v is t with a term of an equality 1 % better, or with L < R \/ R = 0 for one L <= R, or L < R
   where one is 0: L = R is reached, and not at 0 alone, where any factor would do.
   2: v is t with another term 1 % better, which no bound stands that has a summand on both sides, and
   no equality of what the theorem chooses; with L < R for L <= R; with a hypothesis changed, or
   without one. 0: neither. place is 1 within an equality, 2 where something exists. *)
Ltac2 rec edit (place : int) (t : constr) (v : constr) : int :=
  let near () := match kind v with
    | App f a => if Constr.equal f 'Rmult then
        both (List.exist (Constr.equal (Array.get a 0)) ['(99 / 100); '(101 / 100)])
          (same t (Array.get a 1)) else false
    | _ => false end in
  let strict (a : constr) (b : constr) := List.exist (fun (x, y) =>
    either (both (Constr.equal a x) (Constr.equal b y)) (both (Constr.equal a y) (Constr.equal b x)))
    [('Rle, 'Rlt); ('Rge, 'Rgt); ('le, 'lt)] in
  let (n, ts) := form t in let (m, vs) := form v in
  let reached () := match kind t with
    | App f a => if both (Constr.equal f 'Rle) (Int.equal (Array.length a) 2) then
        let zero := '0 in let equal := '@eq in
        let side := Array.get a 1 in
        let below := make (App 'Rlt a) in
        let none := make (App equal (Array.of_list ['R; side; zero])) in
        either (same v (make (App 'or (Array.of_list [below; none]))))
          (both (List.exist (Constr.equal zero) (Array.to_list a)) (same v below)) else false
    | _ => false end in
  let without () := match kind t with
    | Prod _ c => same (substnl ['I] 0 c) v
    | App f a => both (Constr.equal f 'and) (List.exist (same v) (Array.to_list a))
    | _ => false end in
  if near () then if Int.equal place 1 then 1 else 2 else
  if reached () then 1 else if either (strict t v) (without ()) then 2 else
  if Bool.neg (both (Int.equal n m) (Int.equal (List.length ts) (List.length vs))) then 0 else
  let place := match ts with
    | [] => place
    | f :: _ => let is_among := List.exist (Constr.equal f) in
      if either (Int.equal place 2) (is_among ['@ex]) then 2 else
      if is_among ['@eq; 'Un_cv] then 1 else if is_among ['Rle; 'Rlt; 'Rge; 'Rgt] then 0 else place
    end in
  match List.filter (fun (a, b) => Bool.neg (same a b)) (List.combine ts vs) with
  | [] => 0
  | pair :: more => match more with
    | [] => let (a, b) := pair in let e := edit place a b in
      if both (both (Int.equal n 3) (Int.lt 0 e)) (Constr.equal a (List.hd ts)) then 2 else e
    | _ :: _ => 0 end
  end.
Ltac2 sharper (t : constr) (v : constr) (allowed : int) :=
  let e := edit 0 t v in
  if both (Int.lt 0 e) (Int.le e allowed) then () else
    Control.zero (Tactic_failure (Some (Message.of_string "the sharper statement is another one"))).
End Term.
Ltac permitted t beside :=
  let f := ltac2:(t beside |- let term x := Option.get (Ltac2.Ltac1.to_constr x) in
    Term.permitted (Term.home (term beside)) (term t)) in
  f t beside.
Ltac sharper t v allowed :=
  let f := ltac2:(t v allowed |- let term x := Option.get (Ltac2.Ltac1.to_constr x) in
    Term.sharper (term t) (term v) (if Constr.equal (term allowed) 'true then 2 else 1)) in
  f t v allowed.

(* The list of conjunctions that a witness shows. forall x, A -> B /\ (C -> D) has the one chain
   exists x, A /\ C; a variable of no chain is left out where its type has members. *)
Ltac inhabited T := lazymatch T with
  | R => T | nat => T | bool => T | unit => T | Prop => T | Type => T | list _ => T
  | (?A * ?B)%type => let _ := inhabited A in inhabited B
  | _ -> ?B => inhabited B end.
(* A statement's last part is a relation between data: in what it is told there is no statement. *)
Ltac data T := lazymatch T with
  | R => T | nat => T | bool => T | unit => T | Type => T | Set => T | list ?A => data A
  | (?A * ?B)%type => let _ := data A in data B
  | ?A -> ?B => let _ := data A in data B
  | _ => let _ := match goal with _ => is_var T end in T end.
Ltac relation g := lazymatch g with
  | ?f ?a => let T := type of a in let _ := data T in
    let _ := lazymatch T with Type => data a | Set => data a | _ => T end in relation f
  | @Forall => fail
  | @Forall2 => fail
  | _ => let _ := match goal with _ => first [is_var g | is_const g | is_ind g] end in g end.
Ltac such l := lazymatch l with
  | fun _ => @nil _ => constr:(@nil Prop)
  | fun x : ?T => cons (@?h x) (@?t x) =>
    let first := match h with
      | fun _ => ?same => let _ := inhabited T in same
      | _ => constr:(ex h) end in
    let others := such t in constr:(cons first others) end.
Ltac under A l := lazymatch l with
  | nil => constr:(@nil Prop)
  | cons ?h ?t => let others := under A t in constr:(cons (A /\ h) others) end.
Ltac join k l := lazymatch k with
  | nil => l
  | cons ?h ?t => let others := join t l in constr:(cons h others) end.
Ltac chains g := lazymatch g with
  | ?A -> ?B => lazymatch type of A with
    | Prop => let l := chains B in lazymatch l with nil => constr:(cons A nil) | _ => under A l end
    | _ => bound A (fun _ : A => B) end
  | forall x : ?T, @?P x => bound T P
  | exists x : ?T, @?P x => bound T P
  | ?A /\ ?B => parts A B
  | ?A \/ ?B => parts A B
  | ?A <-> ?B => parts A B
  | ~ ?A => chains A
  | @Forall ?T ?P _ => let l := chains (forall x : T, P x) in lazymatch l with nil => l end
  | @Forall2 ?T ?U ?P _ _ =>
    let l := chains (forall (x : T) (y : U), P x y) in lazymatch l with nil => l end
  | _ => let _ := relation g in constr:(@nil Prop) end
with bound T P := let x := fresh in
  let l := constr:(fun x : T => ltac:(
    let g := eval cbv beta in (P x) in let found := chains g in exact found)) in
  match l with
  | fun _ => nil => let _ := inhabited T in constr:(@nil Prop)
  | fun _ => nil => constr:(cons (exists _ : T, True) nil)
  | _ => such l end
with parts A B := let k := chains A in let l := chains B in join k l.
Ltac all l := lazymatch l with
  | nil => True
  | cons ?h nil => h
  | cons ?h ?t => let others := all t in constr:(h /\ others) end.
Ltac witnessed t witness :=
  tryif (let found := chains t in idtac) then
    let found := chains t in let shown := all found in
    first [assert shown by (exact I || exact witness) | fail 9 shown "has no witness"]
  else fail 9 t "may hide hypotheses".

(* No part of a conclusion is plain, nor by what a definition hides. *)
Ltac trivially := intros; solve [tauto | reflexivity | eauto 3 | split; trivially].
Ltac says plain := intros; lazymatch goal with
  | |- _ /\ _ => split; says plain
  | |- ?g => let u := plain g in
    first [assert_fails (first [trivially | lra | ring | change u; trivially])
      | fail 9 g "says nothing"] end.

(* The goal is the theorem, refuted what NAME_sharp states; plain unfolds definitions. tt stands for
   a lemma that is not asked for, I for one that is missing. *)
Ltac judge plain refuted witness sharp loose :=
  let t := match goal with |- ?t => t end in
  let u := plain t in
  let beside := constr:(refuted) in
  permitted u beside;
  lazymatch witness with tt => idtac | _ => witnessed u witness end;
  let v := eval unfold refuted in refuted in
  lazymatch sharp with
  | tt => idtac
  | I => fail 9 "no lemma refutes a sharper statement"
  | _ => let x := lazymatch v with ~ ?x => x end in
    let y := plain x in
    first [sharper t x loose | sharper u y loose | fail 9 "the sharper statement is another one"];
    let _ := constr:(sharp : v) in idtac end;
  says plain.
