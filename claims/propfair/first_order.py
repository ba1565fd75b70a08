"""Section 3, assumption 3.2: FedAvg as PropFair's first order, and the losses that it takes."""

from fractions import Fraction
from typing import Any

import sympy
from flint import arb

from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Decomposition
from fairfl.claims.exact import Instance, ball
from fairfl.claims.forms import Claim, Residual, counterexample, definite, every, identity


def upper(x: Any, factor: str = "1") -> Any:
    """The bound of the remainder, x = f/M."""
    return sympy.Rational(factor) * x**2 / (2 * (1 - x))


def residuals(slope: int = 1) -> dict[str, Residual]:
    """phi(f) = -log(M - f) at f = 0: value and slope; the remainder's derivatives, x = f/M."""
    f, M = sympy.symbols("f M", positive=True)
    x = sympy.symbols("x", positive=True)  # in (0, 1)
    phi = -sympy.log(M - f)
    return {
        "value at 0": (phi.subs(f, 0), -sympy.log(M)),
        "slope at 0": (sympy.diff(phi, f).subs(f, 0), slope / M),
        "remainder at 0": ((-sympy.log(1 - x) - x).subs(x, 0), 0),
        "upper bound at 0": (upper(x).subs(x, 0), 0),
        "slope of the remainder": (sympy.Derivative(-sympy.log(1 - x) - x, x), x / (1 - x)),
    }


def remainder(factor: str = "1") -> Decomposition:
    """d/dx of x^2/(2(1-x)) less that of the remainder is >= 0; y = 1 - x > 0."""
    x, y = sympy.symbols("x y", positive=True)
    gap = sympy.diff(upper(x, factor), x) - x / (1 - x)
    return gap.subs(x, 1 - y), [(1 - y) ** 2 / (2 * y**2)]


def replaced(loss: Fraction, M: Fraction, eps: Fraction, joined: bool) -> arb:
    """f^log of Algorithm 1, line 9; ``joined``: the tangent at M - eps for l/M."""
    if M - loss >= eps:
        return -ball(M - loss).log()
    if joined:
        return -ball(eps).log() + ball((loss - (M - eps)) / eps)
    return ball(loss / M)


def trick(instance: Instance, joined: bool = False) -> Case:
    """A batch of larger loss has the larger f^log."""
    low, high, M, eps = (instance[k] for k in ("low", "high", "M", "eps"))
    left, right = (replaced(loss, M, eps, joined) for loss in (low, high))
    premises = {"order": 0 <= low < high, "eps": 0 < eps < M}
    return Case((Relation(left, "<", right, "f^log of the larger loss"),), premises)


def join(joined: bool = True) -> dict[str, Residual]:
    """Value and slope of the two branches where they meet, at loss M - eps: slope 1/eps > 0."""
    M, e, x = sympy.symbols("M e x", positive=True)
    left, right = -sympy.log(M - x), (-sympy.log(e) + (x - (M - e)) / e) if joined else x / M
    return {
        "value": (left.subs(x, M - e), right.subs(x, M - e)),
        "slope": (sympy.diff(left, x).subs(x, M - e), sympy.diff(right, x).subs(x, M - e)),
    }


LEADS = {
    **{2: "2.12693 <= 1", 3: "3.04859 <= 1.5", 4: "4.01815 <= 2"},
    **{5: "5.00672 <= 2.5", 10: "10 <= 5"},
}


def bounded(instance: Instance, lead: Fraction = Fraction(1)) -> Case:
    """The cross entropy log(1 + e^M) of logits that lead by ``lead`` M is at most M/2."""
    M = instance["M"]
    loss: arb = (1 + ball(lead * M).exp()).log()
    return Case((Relation(loss, "<=", ball(M / 2), "loss of a batch"),), {"M": M > 0})


def clipped(half: int = 2) -> Decomposition:
    """M/2 - l M/(M + 2 l) > 0 for l >= 0."""
    M = sympy.Symbol("M", positive=True)
    loss = sympy.Symbol("l", nonnegative=True)
    return M / 2 - loss * M / (M + half * loss), [M**2 / (2 * (M + 2 * loss))]


CLAIMS = (
    Claim(
        "propfair/first-order",
        119,
        "FedAvg is the first-order approximation of PropFair",
        number="Section 3, 'Relation with FedAvg'",
        printed=r"$f_i^{\log}(\theta) = -\log(M - f_i(\theta)) \approx -\log M + "
        r"\frac{f_i(\theta)}{M}$",
        statement=r"$-\log(M - f)$ has value $-\log M$ and slope $1/M$ at $f = 0$, and with $x = "
        r"f/M \in [0, 1)$: $0 \le -\log(1-x) - x \le x^2/(2(1-x))$. So $M(\pi + \log M) \to F$ as "
        r"$M \to \infty$, uniformly where losses are bounded.",
        kind="limit",
        hypotheses={"range": "0 <= f < M"},
        scope="every f and M",
        check=every(identity(residuals, "0.916291; 5/2; 0; 0; 5"), definite(remainder, "9/8")),
        mutants={"2/M": ("the slope", {"slope": 2}), "0.9": ("of the bound", {"factor": "9/10"})},
        notes="'PropFair should be at least as good as FedAvg (by taking large M)' is about the "
        "best M, chosen in hindsight; at a fixed M the mean loss of PropFair's optimum is never "
        "below FedAvg's, which minimises it.",
    ),
    Claim(
        "propfair/algorithm-1-threshold",
        125,
        "The loss of Algorithm 1 increases with the batch loss",
        number="Algorithm 1, line 9; Section 3, 'Implementation tricks'",
        printed=r"$f_i^{\log}(\theta) = -\log(M - \ell_S^i)$ if $M - \ell_S^i \geq \epsilon$ else "
        r"$\ell_S^i / M$",
        kind="implication",
        hypotheses={"order": "0 <= l < l'", "eps": "0 < eps < M"},
        whose="implied",
        severity="remark",
        check=counterexample(
            trick,
            "M = 2, eps = 0.2: a batch loss of 1.8 costs -log 0.2 = 1.61, one of 1.9 costs 0.95",
            {"low": "9/5", "high": "19/10", "M": Fraction(2), "eps": "1/5"},
            "1.60944 < 0.95",
        ),
        mutants={"joined": ("the tangent at M - eps instead", {"joined": True})},
        reading="The paper does not say 'increasing'; it says that the replacement stabilises "
        "optimisation. A worse batch gets eps/M times the slope.",
        erratum="The branches do not meet: at l = M - eps the value falls from -log(eps) to 1 - "
        "eps/M (for eps < 1/e at least), and the slope from 1/eps to 1/M, so the worst batches "
        "weigh least, against the principle. Continue by the tangent, -log(eps) + (l - M + "
        "eps)/eps, which is increasing and once differentiable, or clip the gradient.",
        repaired=dict(
            title="Continued by its tangent, the loss of Algorithm 1 increases, and is smooth",
            statement=r"$-\log(M - \ell)$ for $\ell \le M - \epsilon$ and $-\log\epsilon + (\ell "
            r"- M + \epsilon)/\epsilon$ beyond meet in value and slope, and both increase.",
            kind="identity",
            scope="every M and eps",
            check=identity(join, "0.916291; 5/2"),
            mutants={"l/M": ("the printed branch", {"joined": False})},
        ),
    ),
    Claim(
        "propfair/assumption-3.2-M",
        159,
        "Cross entropy satisfies assumption 3.2 for some M of the paper",
        number="Assumption 3.2",
        printed=r"Assumption 3.2: For any $i \in [n]$, $\theta \in \mathbb{R}^d$ and any batch "
        r"$S$: $0 \leq \ell_S(\theta) \leq \frac{M}{2}$. [Notations: $\ell$ the cross entropy "
        r"loss. Table 4: $M = 5, 2, 5, 2, 4$.]",
        statement=r"$\ell_S(\theta) \le M/2$ for all $\theta$, $M \in \{2, 3, 4, 5, 10\}$.",
        kind="bound",
        hypotheses={"M": "M > 0"},
        scope="two classes, a batch of one",
        whose="implied",
        severity="remark",
        check=every(
            *(
                counterexample(
                    bounded,
                    f"two classes, M = {M}: logits that lead by M in the wrong class cost more "
                    "than M",
                    {"M": Fraction(M)},
                    numbers,
                )
                for M, numbers in LEADS.items()
            )
        ),
        mutants={"small logits": ("logits that lead by M/20", {"lead": "1/20"})},
        erratum=r"Cross entropy is unbounded: logits that lead by d in a wrong class cost more "
        r"than d. Bound the loss, by $\ell M/(M + 2\ell)$ say, or assume $\ell_S \le M/2$ at the "
        r"iterates alone. With the tuned M not even a uniform prediction has $\ell \le M/2$ on "
        r"CIFAR-100 (log 100 against 1), Shakespeare and StackOverflow: theorem 3.3 says nothing "
        r"of these runs, which start at losses above M.",
        repaired=dict(
            title="The bounded loss l M/(M + 2 l) satisfies it",
            statement=r"$0 \le \frac{\ell M}{M + 2\ell} < \frac M2$ for every $\ell \ge 0$.",
            scope="every loss l >= 0 and M > 0",
            hypotheses={},
            check=definite(clipped, "6/155"),
            mutants={"M + l": ("l M/(M + l), which reaches M", {"half": 1})},
        ),
    ),
)
