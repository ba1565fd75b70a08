"""Equations (7)-(9): arithmetic, geometric and harmonic weights."""

from fractions import Fraction
from typing import Any

import sympy

from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Decomposition
from fairfl.claims.claim import Claim
from fairfl.claims.exact import Instance
from fairfl.claims.forms import Residual, beside, counterexample, definite, every, identity, witness


def weight(p1: sympy.Expr | int, d: sympy.Expr | int, k: sympy.Expr, n: sympy.Expr) -> sympy.Expr:
    """(7), divided by its sum."""
    return (p1 + (k - 1) * d) / (n * p1 + n * (n - 1) * d / 2)


def no_gap(instance: Instance, shift: int = 1) -> Case:
    """The weights 2(k + shift)/(n(n+1)), k = 1..n, sum to one."""
    n = instance["n"]
    total = sum(Fraction(2 * (k + shift), n * (n + 1)) for k in range(1, n + 1))
    return Case((Relation(total, "==", 1, "sum"),))


def arithmetic(shift: int = 0) -> dict[str, Residual]:
    """Weights by (7): Gini's, and those without the first gap, k = 1..n."""
    n, k = sympy.symbols("n k", positive=True, integer=True)
    p1, d = sympy.symbols("p1 d", positive=True)
    whole: Any = sympy.summation(weight(p1, d, k, n), (k, 1, n))
    return {
        "sum of (7)": (whole, 1),
        "p_1 = 1, d = 2: (2k-1)/n^2": (weight(1, 2, k, n), (2 * k - 1) / n**2),
        "p_1 = d: 2k/(n(n+1))": (weight(2, 2, k, n), 2 * (k + shift) / (n * (n + 1))),
    }


def case(instance: Instance, first: int = 1) -> Case:
    """The weights z^k (z-1)/(z^n-1), n values of k from ``first`` on, decrease and sum to one."""
    z, n = instance["z"], instance["n"]
    p = [z**k * (z - 1) / (z**n - 1) for k in range(first, first + n)]
    ordered = tuple(Relation(b, "<", a, "decreasing") for a, b in zip(p, p[1:], strict=False))
    return Case((Relation(sum(p), "==", 1, "sum"), *ordered), {"term": 0 < z < 1})


def geometric(first: int = 0) -> dict[str, Residual]:
    """S_n = z^first (z^n - 1)/(z - 1) sums z^k: S_0 = 0 and S_(n+1) - S_n = z^(first+n)."""
    z, n = sympy.symbols("z n", positive=True)
    none, whole, more = (z**first * (z**m - 1) / (z - 1) for m in (sympy.Integer(0), n, n + 1))
    return {
        "start": (none, 0),
        "step": (more - whole, z ** (first + n)),
        "sum of the weights less one": (whole * (z - 1) / (z**n - 1), 1),
    }


def limits(first: int = 0) -> dict[str, Residual]:
    """Limits: 1/n at z -> 1; at z -> 0 a weight k places after the first is as z^k."""
    z, n, k = sympy.symbols("z n k", positive=True)
    factor = (z - 1) / (z**n - 1)
    return {
        "z to 1": (sympy.Limit(z ** (first + k) * factor, z, 1), 1 / n),
        "z to 0, over z^k": (sympy.Limit(z ** (first + k) * factor / z**k, z, 0), 1),
    }


def spacing(instance: Instance, sign: int = 1) -> Case:
    """The spacing H_(k+1) - H_k grows with k (or shrinks, for ``sign`` -1)."""
    first, second = (Fraction(sign, instance["k"] + j) for j in (1, 2))  # 1/(k+1), by steps()
    return Case((Relation(first, "<=", second, "spacing"),))


def steps(shift: int = 0) -> dict[str, Residual]:
    """H_(k+1) - H_k by the gamma function's own recurrence: 1/(k+1), which falls with k."""
    k = sympy.symbols("k", positive=True)
    gap: Any = sympy.digamma(k + 2) - sympy.digamma(k + 1)
    return {
        "spacing": (sympy.expand_func(gap), 1 / (k + 1 + shift)),
        "its change": (1 / (k + 2) - 1 / (k + 1), -1 / ((k + 1) * (k + 2))),
    }


def below(factor: int = 1) -> Decomposition:
    """The slope of x - ln(1+x), 0 at 0: ln(1 + 1/k) <= 1/k, and ln(k+1) <= H_k by adding up."""
    x = sympy.symbols("x", nonnegative=True)
    return sympy.Derivative(x - factor * sympy.log(1 + x), x), [x / (1 + x)]


def above(factor: int = 1) -> Decomposition:
    """The slope of ln(1+x) - x/(1+x): so 1/(k+1) <= ln((k+1)/k), and H_k <= 1 + ln k."""
    x = sympy.symbols("x", nonnegative=True)
    return sympy.Derivative(sympy.log(1 + x) - factor * x / (1 + x), x), [x / (1 + x) ** 2]


THREE: Instance = {"z": "2/7", "n": 3}


CLAIMS = (
    Claim(
        "pffl/eq-7",
        86,
        "Arithmetic weights without the first gap are 2(k+1)/(n(n+1))",
        number="Eq. (7), Section 3.2.1",
        printed=r"$p_k = p_1 + (k - 1)d$. The original GSF [...] is equivalent to such a series "
        r"with $p_1 = 1, d = 2$. [...] If this gap between the first element and the rest is "
        r"removed then the weight of an element depends entirely on its position and the overall "
        r"number of values $p_k = 2(k + 1) \times 1/n(n+1)$.",
        kind="identity",
        scope="every n (the sum is (n+3)/(n+1))",
        severity="constant",
        check=counterexample(
            no_gap, "three clients; for n of them it is (n+3)/(n+1)", {"n": 3}, "3/2 == 1"
        ),
        mutants={"k for k+1": ("the weights 2k/(n(n+1)), which sum to one", {"shift": 0})},
        reading="k runs from 1 to n, as in (7).",
        erratum="Read 2k/(n(n+1)) for k = 1, ..., n; the printed form sums to one for k = 0, ..., "
        "n-1 only.",
        repaired=dict(
            title="Arithmetic weights: Gini's are (2k-1)/n^2, without the gap 2k/(n(n+1))",
            statement=r"For $k = 1, \dots, n$, (7) divided by its sum is $(2k-1)/n^2$ for $p_1 = "
            r"1, d = 2$, and $2k/(n(n+1))$ for $p_1 = d$; both sum to one.",
            scope="every n",
            check=identity(arithmetic, "1; 9/121; 5/66"),
            mutants={"k+1 for k": ("as printed", {"shift": 1})},
        ),
    ),
    Claim(
        "pffl/eq-8",
        94,
        "Geometric weights sum to one, tend to 1/n (z -> 1) and to the worst client (z -> 0)",
        number="Eq. (8), Section 3.2.2",
        printed=r"$p_k = \frac{q^k(q - 1)}{q^n - 1}$; $\lim_{z \rightarrow 1.0} p_k = 1/n$",
        statement=r"For $0 < z < 1$, $k = 1, \dots, n$: $p_k = z^k (z-1)/(z^n - 1)$ sum to one.",
        kind="identity",
        hypotheses={"term": "0 < z < 1; the losses are sorted in descending order"},
        scope="every n",
        whose="implied",
        severity="constant",
        check=counterexample(
            case,
            "three clients, z = 2/7; for any n and k = 1..n the sum is z",
            THREE,
            "2/7 == 1; 4/67 < 14/67; 8/469 < 4/67",
        ),
        mutants={"k from 0": ("the index runs over 0..n-1: the sum is one", {"first": 0})},
        reading="q is z throughout, and k runs from 1 to n, as in (7) and (9).",
        erratum="As k runs from 1, (8) sums to z, and every weight tends to 0 with z: write "
        "z^{k-1}, or let k run from 0. The q in (8) is the z of the text. (After the normalisation "
        "by the sum that section 3.2 announces the weights are right; the factor (z-1)/(z^n-1) is "
        "that normalisation, so it should be right by itself.) The text says that the trend to the "
        "worst client grows 'as z values rise'; with 0 < z < 1 and descending losses, as the next "
        "sentences fix it, it grows as z falls.",
        repaired=dict(
            title="Geometric weights z^(k-1)(z-1)/(z^n-1) sum to one; their limits",
            statement=r"For $0 < z < 1$, $k = 0, \dots, n-1$ on descending losses: $p_k = z^k "
            r"(z-1)/(z^n - 1)$ sum to one; $p_k \to 1/n$ as $z \to 1$; $p_0 \to 1$ and all others "
            r"$\to 0$ as $z \to 0$.",
            scope="every n",
            check=every(
                identity(geometric, "0; 0.929667; 1"),
                identity(limits, "6/5; 1"),
                beside(witness(case, "z = 2/7", THREE, "1 == 1; 14/67 < 49/67", first=0)),
            ),
            mutants={"k from 1": ("the index as in (7)", {"first": 1})},
        ),
    ),
    Claim(
        "pffl/eq-9",
        100,
        "The spacing between harmonic-number weights increases, logarithmically",
        number="Eq. (9), Section 3.2.3",
        printed=r"For the $n$-th harmonic number $H_n \in O(\log(n))$, making the spacing between "
        r"weights increase only logarithmically. $p_k = H_k = \sum_{i=1}^k 1/i$",
        kind="implication",
        scope="k = 3; by the repaired form every k",
        severity="remark",
        check=counterexample(
            spacing, "from H_3 to H_4, and from H_4 to H_5", {"k": 3}, "1/4 <= 1/5"
        ),
        mutants={"decreases": ("the spacing shrinks", {"sign": -1})},
        erratum="The weights grow logarithmically; their spacing, 1/(k+1), shrinks.",
        repaired=dict(
            title="Harmonic-number weights grow logarithmically, and their spacing shrinks",
            statement=r"$\ln(k+1) \le H_k \le 1 + \ln k$ and $H_{k+1} - H_k = 1/(k+1)$, decreasing "
            r"in $k$, for every $k \ge 1$.",
            kind="bound",
            scope="every k",
            check=every(
                identity(steps, "5/7; -25/84"), definite(below, "2/7"), definite(above, "10/49")
            ),
            mutants={
                "1/(k+2)": ("a wrong spacing", {"shift": 1}),
                "twice the logarithm": ("2 ln(1+x) <= x", {"factor": 2}),
            },
        ),
    ),
)
