"""Equation (5), algorithm 1: weights by rank, their direction for losses, and their use."""

from fractions import Fraction
from itertools import product

import sympy

from fairfl.claims.certificates import Decomposition
from fairfl.claims.exact import Instance, dot
from fairfl.claims.forms import Case, Claim, Relation, counterexample, definite, every, witness


def extreme(instance: Instance, place: int = 1) -> Case:
    """p . phi(u) = min u at every 0-1 vector, at (-1, ..., -1), and at (1, ..., n - 1, -n), for
    ascending phi and p that is 1 at ``place`` (at most n) and else 0.

    Both sides are linear on each cone u_s(1) <= ... <= u_s(n), and the first of these vectors
    generate it: equal there is equal. The last one is held to its number.
    """
    n = instance["n"]
    corners = [*product((0, 1), repeat=n), (-1,) * n, (*range(1, n), -n)]
    rank = min(place, n) - 1
    return Case(tuple(Relation(sorted(u)[rank], "==", min(u), str(u)) for u in corners))


def opposite(instance: Instance, same: bool = False) -> Case:
    """(6) does not prefer unequal losses to equal ones, by opposite weights or the ``same``."""
    losses, p = instance["losses"], instance["p"]
    even = [sum(losses, Fraction(0)) / len(losses)] * len(losses)
    relations = []
    for name, descending in (("ascending", False), ("descending", True)):
        # against the order: large weights first on ascending losses, last on descending ones
        weights = sorted(p, reverse=descending == same)
        equal, unequal = (dot(weights, sorted(f, reverse=descending)) for f in (even, losses))
        relations.append(Relation(equal, "<=", unequal, name))
    return Case(tuple(relations), {"weights": min(p) >= 0 and sum(p) == 1})


def chebyshev(turned: bool = False) -> Decomposition:
    """w F + w' F' - w F' - w' F of two ranks, w = w' + g, F = F' + h; ``turned``, w' = w + g."""
    g, h = sympy.symbols("g h", nonnegative=True)
    low, loss = sympy.symbols("w F", real=True)
    w = (low, low + g) if turned else (low + g, low)
    return w[0] * (loss + h) + w[1] * loss - w[0] * loss - w[1] * (loss + h), [g * h]


def agreement(instance: Instance, line_13: bool = True) -> Case:
    """If all clients return the model u, the new model is u."""
    p, u = instance["p"], instance["u"]
    new = sum(u if line_13 else w * u for w in p)
    return Case((Relation(new, "==", u, "new model"),), {"weights": min(p) >= 0 and sum(p) == 1})


CLAIMS = (
    Claim(
        "pffl/eq-5",
        62,
        "p = (1, 0, ..., 0) on an ascending order counts the lowest value only",
        number="Eq. (5), Section 2.3",
        printed=r"$G_{2SF}(\mathbf{u}) = \mathbf{p}^T \cdot \phi(\mathbf{u})$; $\mathbf{p} = (1, "
        r"0, \dots, 0)$ which would optimise only for the lowest value in the list",
        statement=r"For ascending $\phi$ and $p = (1, 0, \dots, 0)$: $p^T \phi(u) = \min_i u_i$ "
        r"for every $u \in R^n$.",
        kind="identity",
        size="n <= 7",
        check=every(
            *(witness(extreme, f"all 0-1 vectors of n = {n}", {"n": n}) for n in range(1, 8))
        ),
        mutants={
            "p = (0, ..., 0, 1)": ("the weight on the last rank", {"place": 7}),
            "p = (0, 1, 0, ...)": ("the weight on the second rank", {"place": 2}),
        },
        reading="For utilities, as in section 2: the lowest value is the worst-off client. In (6) "
        "phi sorts losses, whose lowest is the best-off client: see pffl/sort-order.",
    ),
    Claim(
        "pffl/sort-order",
        64,
        "The sort order is arbitrary as long as p runs in the opposite direction",
        number="Section 2.3, Eq. (6)",
        printed=r"The particular choice of sort order is arbitrary as long as $\mathbf{p}$ follows "
        r"the opposite direction. $\min_w f_p(w) = \mathbf{p}^T \cdot \phi(\mathbf{F}(w))$",
        statement=r"With $p$ non-increasing on ascending losses, or non-decreasing on descending "
        r"ones, equal losses have an objective (6) no larger than unequal ones of the same mean.",
        kind="implication",
        hypotheses={"weights": "p >= 0 with sum one"},
        scope="n = 2",
        whose="reading",
        severity="remark",
        check=counterexample(
            opposite,
            "losses (3/7, 2) against their mean, weights 5/7 and 2/7, in either order",
            {"losses": ["3/7", 2], "p": ["5/7", "2/7"]},
            "17/14 <= 43/49; 17/14 <= 43/49",
        ),
        mutants={"the same direction": ("large weights on large losses", {"same": True})},
        erratum="Opposite directions are right for utilities, which are maximised. For the losses "
        "of (6), which are minimised, they put the largest weight on the smallest loss and reward "
        "disparity: p and the losses must run in the same direction. Sections 3.2.1 (ascending) "
        "and 3.2.2 (descending) do that, and contradict section 2.3.",
        repaired=dict(
            title="Weights in the direction of the losses never reward disparity",
            statement=r"For $w_1 \ge \dots \ge w_n \ge 0$ with sum one, and losses $F_{[1]} \ge "
            r"\dots \ge F_{[n]}$: $\sum_k w_k F_{[k]} \ge \frac1n \sum_k F_k$, the value at equal "
            r"losses of the same mean.",
            kind="bound",
            hypotheses={},
            check=definite(chebyshev, "20/21"),
            mutants={"weights turned": ("non-decreasing on descending", {"turned": True})},
        ),
    ),
    Claim(
        "pffl/algorithm-1",
        228,
        "Algorithm 1 leaves a model as it is on which all clients agree",
        number="Algorithm 1, lines 11-13",
        printed=r"12: $\mathbf{w} = \mathbf{p}^T \cdot \mathbf{w}$, 13: $w^{t+1} = \sum_{k=1}^c "
        r"w_k^{t+1}$, after line 6: 'Client returns their trained model $w_k^{t+1}$'",
        kind="implication",
        hypotheses={"weights": "p >= 0 with sum one"},
        scope="c = 2",
        severity="misprint",
        check=counterexample(
            agreement,
            "two clients that both return 3/2: the server's new model is 3",
            {"p": ["2/7", "5/7"], "u": "3/2"},
            "3 == 3/2",
        ),
        mutants={"without line 13": ("the weighted mean of line 12", {"line_13": False})},
        reading="w_k^{t+1} in line 13 is what line 6 calls so, the model that client k returns.",
        erratum="Line 13 discards the weights: c equal models add up. Drop it: w^{t+1} = p^T w.",
    ),
)
