(* The list of conjunctions that a witness shows. forall x, A -> B /\ (C -> D) has the one chain
   exists x, A /\ C; a variable of no chain is left out where its type has members. *)
Ltac inhabited T := lazymatch T with
  | R => T | nat => T | bool => T | unit => T | Prop => T | Type => T | list _ => T
  | (?A * ?B)%type => let _ := inhabited A in inhabited B
  | _ -> ?B => inhabited B
  | _ => let _ := match goal with _ => is_var T end in T end.
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
Ltac head g := lazymatch g with ?f _ => head f | _ => g end.
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
  | _ => let h := head g in
    let _ := match goal with _ => first [is_var h | is_const h | is_ind h] end in
    constr:(@nil Prop) end
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
