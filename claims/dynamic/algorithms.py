"""Algorithms 1, 3 and 4: normalised steps, clipping, and the merger with q-FedAvg."""

from fractions import Fraction

import sympy
from hypothesis import strategies as st

from fairfl.claims.case import Case, Relation
from fairfl.claims.exact import Instance
from fairfl.claims.forms import Claim, Residual, counterexample, every, exactly, identity, proof


def one_step(local: int = 1, length: str = "1") -> dict[str, Residual]:
    """Line 8 after ``local`` steps on quadratics; the normalised step, ``length`` eta g/||g||."""
    curvatures, w = sympy.symbols("c1:3", positive=True), sympy.symbols("w1:3", positive=True)
    eta = sympy.symbols("eta", positive=True)
    slope = [c * x for c, x in zip(curvatures, w, strict=True)]
    moved = [x - x * (1 - eta * c) ** local for c, x in zip(curvatures, w, strict=True)]
    pairs = zip(unit(moved), unit(slope), strict=True)
    factor = sympy.Rational(length)
    return {f"coordinate {k}": (eta * a, eta * factor * b) for k, (a, b) in enumerate(pairs)}


def unit(v: list[sympy.Expr]) -> list[sympy.Expr]:
    """v/||v||."""
    size = sympy.sqrt(sum(x**2 for x in v))
    return [x / size for x in v]


def unmoved(instance: Instance) -> Case:
    """Line 9 leaves the model unchanged if no client moves it: sum over S_t of p_k w is w."""
    model = sum(instance["p"][k] * instance["w"] for k in instance["chosen"])
    relation = Relation(model, "==", instance["w"], "model")
    return Case((relation,), {"weights": sum(instance["p"]) == 1})


def clip(v: list[Fraction], bound: Fraction) -> list[Fraction]:
    """Each coordinate within [-bound, bound]."""
    return [max(-bound, min(bound, x)) for x in v]


def bounds(instance: Instance, absolute: bool = False, share: Fraction = Fraction(1)) -> Case:
    """LM of an update is a bound: at least 0, and clipping at ``share`` of it changes nothing."""
    update = instance["update"]
    bound = share * (max(map(abs, update)) if absolute else max(update))
    relations = [Relation(0, "<=", bound, "bound")]
    if bound >= 0:
        pairs = zip(clip(update, bound), update, strict=True)
        relations += [Relation(a, "==", b, f"coordinate {k}") for k, (a, b) in enumerate(pairs)]
    return Case(tuple(relations))


def updates() -> st.SearchStrategy[Instance]:
    """Updates in quarters, of either sign."""
    quarter = st.integers(-12, 12).map(lambda k: Fraction(k, 4))
    return st.fixed_dictionaries({"update": st.lists(quarter, min_size=1, max_size=4)})


def same(instance: Instance, power: int = 1) -> Case:
    """Algorithm 4 without step 8, ``power`` of the norm in h, and q-FedAvg, L = 1, on a line."""
    q, losses, steps = instance["q"], instance["losses"], instance["steps"]
    pairs = [(Fraction(f), Fraction(d)) for f, d in zip(losses, steps, strict=True)]
    delta = [f**q * d for f, d in pairs]
    powers = power, 2
    printed, fedavg = ([q * f ** (q - 1) * abs(d) ** n + f**q for f, d in pairs] for n in powers)
    update = sum(d / h for d, h in zip(delta, printed, strict=True)) / len(delta)
    relation = Relation(update, "==", sum(delta) / sum(fedavg), "update")
    return Case((relation,), {"losses": min(losses) > 0})


CLAIMS = (
    Claim(
        "dynamic/algorithm-1",
        126,
        "With one full local step, algorithm 1 is normalised gradient descent",
        printed="our method could be thought of as a normalized version of Fedavg where we use the "
        "normalized SGD instead of SGD for local training",
        statement=r"After one local step line 8 moves a client by $\eta_t g/\|g\|$.",
        kind="identity",
        scope="quadratics of any two curvatures",
        size="d = 2",
        check=identity(one_step, "0.446381; 1.05208"),
        mutants={
            "two local steps": ("on two curvatures", {"local": 2}),
            "1 % longer": ("1.01 eta", {"length": "101/100"}),
        },
        notes="So theorem 2 speaks of algorithm 1 with E = 1 and full batches only; multiplying a "
        "client's loss by a constant changes nothing then. After more local steps the two differ: "
        "algorithm 1 normalises their sum once, which is then eta long, n normalised steps n eta.",
    ),
    Claim(
        "dynamic/algorithm-1-sampling",
        131,
        "Line 9 keeps the model where no client moves it",
        number="Algorithm 1, line 9",
        printed=r"$w_{t+1} \leftarrow \sum_{k \in S_t} p_k^i w_{t+1}^k$",
        kind="identity",
        hypotheses={"weights": "the weights of all clients sum to 1"},
        scope="one of two clients",
        severity="constant",
        check=counterexample(
            unmoved,
            "one of two clients is drawn, of weight 2/7: the model 3 becomes 6/7",
            {"p": ["2/7", "5/7"], "chosen": [0], "w": 3},
            "6/7 == 3",
        ),
        mutants={"everybody": ("both clients are drawn", {"chosen": [0, 1]})},
        reading="p_k^i is a weight among all who have joined, as in (1); S_t is a part of them.",
        erratum="With C < 1 the weights of those who are drawn do not sum to one, and line 9 "
        "shrinks the model towards 0 in every round (algorithms 2 to 4 likewise). Divide by their "
        "sum, or add updates instead of models.",
    ),
    Claim(
        "dynamic/algorithm-3-max",
        310,
        "The largest coordinate of an update is a bound to clip at",
        printed=r"$LM : (w^{[0]}, ..., w^{[L-1]}) \rightarrow (max(w^{[0]}), ..., max(w^{[L-1]}))$ "
        r"is the function to compute the max value of model update at each layer, and $Clip_g$ "
        r"[...] is the function to clip the paramters at each layer with specified value, where "
        r"$threshold(w, \pm g)$ can limit $w$ with $\pm g$.",
        statement=r"$\max_j d_j \ge 0$, and limiting $d$ to $\pm \max_j d_j$ leaves it as it is.",
        kind="bound",
        scope="one layer of two parameters",
        severity="constant",
        check=counterexample(
            bounds, "two coordinates, both fall", {"update": ["-2/7", "-3/11"]}, "0 <= -3/11"
        ),
        mutants={"max |d|": ("the largest absolute value", {"absolute": True})},
        erratum="Take max |w|: where all coordinates fall, the largest one is negative, no bound.",
        repaired=dict(
            title="The largest absolute coordinate of an update is a bound to clip at",
            statement=r"$\max_j |d_j| \ge 0$, and limiting $d$ to it leaves $d$ as it is.",
            scope="as stated, any number of parameters",
            check=proof(
                "clip.v", "unchanged", exactly(bounds, updates, absolute=True, moved="update")
            ),
            mutants={
                "max d": ("as printed", {"absolute": False}),
                "99 %": ("0.99 times the largest", {"share": "99/100"}),
            },
        ),
    ),
    Claim(
        "dynamic/algorithm-4",
        371,
        "Without its step 8, algorithm 4 is q-FedAvg",
        printed=r"$\Delta_t^{k} = F_k^q(w_t) (w_t - w_{t+1}^k)$, $h_t^k = qF_k^{q-1}(w_t) LN(w_t - "
        r"w_{t+1}^k) + F_k^q(w_t)$, $w_{t+1} \leftarrow w_t - \sum_{v \in S_t} \sum_{k \in v} p_k "
        r"\frac{\Delta_t^{k}}{h_t^k}$; 'We merged our methods (step 8) into the q-Fedavg'",
        statement=r"Algorithm 4 without step 8 makes the update of q-FedAvg with $L = 1$, $\sum_k "
        r"\Delta_k / \sum_k h_k$ with $h_k = q F_k^{q-1} \|w_t - w_{t+1}^k\|^2 + F_k^q$.",
        kind="identity",
        hypotheses={"losses": "F_k > 0"},
        scope="one client and two, q = 2",
        severity="constant",
        check=every(
            counterexample(
                same,
                "q = 2, one client, F = 2/7, an update of 3",
                {"losses": ["2/7"], "steps": [3], "q": 2},
                "3/22 == 3/64",
            ),
            counterexample(
                same,
                "q = 2, two clients, F = 2/7 and 3/5, updates 3 and -2",
                {"losses": ["2/7", "3/5"], "steps": [3, -2], "q": 2},
                "-63/1012 == -582/12721",
            ),
        ),
        mutants={
            "squared": ("q-FedAvg's h, of one client", {"power": 2}),
            "q = 0": ("where both are FedAvg", {"q": 0}),
        },
        erratum="q-FedAvg squares the norm in h_k, has the factors L = 1/eta, and divides the sum "
        "of the Delta_k by the sum of the h_k, not each by its own.",
        notes="Delta_k/h_k is F_k/(q n_k + F_k) times the update, of length n_k, so that q cancels "
        "but for q n/F: with normalised updates, which are short, the weights tend to one, and "
        "algorithm 4 to its step 8. In q-FedAvg the weights are F^q over a common sum.",
    ),
)
