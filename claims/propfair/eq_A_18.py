"""(A.18): a cross term that is dropped, though later drift depends on earlier noise."""

from fractions import Fraction
from itertools import product

from fairfl.claims.exact import Instance
from fairfl.claims.forms import Case, Claim, Operator, Relation, counterexample


def split(instance: Instance, operator: Operator = "==") -> Case:
    """(A.18) for one client, h theta^2/2, all signs of the noise: E(N + D)^2 = E N^2 + E D^2."""
    h, s, eta, start = (Fraction(instance[name]) for name in ("h", "s", "eta", "theta"))
    joint = parts = Fraction(0)
    for signs in product((-1, 1), repeat=instance["steps"]):
        theta, noise, drift = start, Fraction(0), Fraction(0)
        for sign in signs:
            noise, drift = noise + sign * s, drift + h * (theta - start)
            theta -= eta * (h * theta + sign * s)
        joint, parts = joint + (noise + drift) ** 2, parts + noise**2 + drift**2
    relation = Relation(joint, operator, parts, "(A.18), times the number of outcomes")
    return Case((relation,), {"step size": 6 * eta * abs(h) * instance["steps"] <= 1})


CLAIMS = (
    Claim(
        "propfair/eq-A.18",
        487,
        "The squared error of a round is that of the noise plus that of the drift",
        number="(A.18)",
        printed=r"(A.18): the last term of (A.13) can be simplified as $\mathbb{E} \| \sum_i p_i "
        r"\sum_j (g_{t,j}^{(i)} - \nabla f_i(\theta_{t,j-1}^{(i)})) \|^2 + \mathbb{E} \| \sum_i "
        r"p_i \sum_j (\nabla f_i(\theta_{t,j-1}^{(i)}) - \nabla F(\theta_t)) \|^2$",
        statement=r"$E\|N + D\|^2 = E\|N\|^2 + E\|D\|^2$, $N = \sum_i p_i \sum_j \xi_{ij}$ the "
        r"noise, $D$ the drift.",
        kind="identity",
        hypotheses={"step size": "6 eta L K_i <= 1"},
        scope="one client, two steps",
        severity="step",
        check=counterexample(
            split,
            "one client, K = 2, f = -theta^2/3, theta = 5/7, noise +-3/2, eta = 1/9",
            {"h": "-2/3", "s": "3/2", "eta": "1/9", "theta": "5/7", "steps": 2},
            "19.3877 == 18.0544",
        ),
        mutants={
            "K = 1": ("one local step, where the drift is known before the noise", {"steps": 1}),
            "differs": ("the two sides are not equal", {"operator": "!="}),
        },
        erratum="Unbiasedness makes the noise of step j orthogonal to what precedes it, not to the "
        "drift of later steps, which it causes. For f = h theta^2/2 and K = 2 the sides differ by "
        "-2 eta h sigma^2; for h < 0 the printed right side is too small. Apply Cauchy-Schwarz to "
        "the whole first, then split at each step: (A.25) and all that follows stand.",
    ),
)
