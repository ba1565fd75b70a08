"""(C.3): the conjugate of the mean."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from fairfl.claims.forms import Case, Claim, Relation, drawn, proof


def case(instance: dict[str, Any], scale: int = 1, domain: str = "R^n") -> Case:
    """(C.3) at one lambda: 0 at ``scale``/n; where it says infinite, the maximand exceeds 1000
    somewhere on the ray along lambda - 1/n, or along its positive part where f >= 0.
    """
    x: list[Fraction] = instance["lambda"]
    n = len(x)
    slopes = [a - Fraction(1, n) for a in x]
    ray = [max(a, Fraction(0)) for a in slopes] if domain == "f >= 0" else slopes
    size = sum((a * b for a, b in zip(slopes, ray, strict=True)), Fraction(0))
    value = 1000 + size if size else Fraction(0)  # at 1000/size + 1 times the ray
    if all(a == Fraction(scale, n) for a in x):
        return Case((Relation(value, "==", 0, "A* = 0"),))
    return Case((Relation(1000, "<=", value, "A* is infinite"),))


def weights() -> st.SearchStrategy[dict[str, Any]]:
    """Any lambda, 1/n among them."""
    one = st.integers(-6, 6).map(lambda k: Fraction(k, 4))
    level = st.integers(1, 4).map(lambda n: [Fraction(1, n)] * n)
    return st.one_of(st.lists(one, min_size=1, max_size=4), level).map(lambda x: {"lambda": x})


CLAIMS = (
    Claim(
        "propfair/conjugate-fedavg",
        865,
        "The conjugate of the mean is 0 at lambda = 1/n and infinite elsewhere",
        number="(C.3)",
        printed=r"$A_s^*(\lambda) = 0$ if $\lambda_1 = \dots = \lambda_n = \frac{1}{n}$, $\infty$ "
        r"otherwise, where we extend the domain of f to be $\mathbb{R}^n$",
        statement=r"On $R^n$: the maximand is $0$ for every $f$ at $\lambda = 1/n$, and unbounded "
        r"for every other $\lambda$: it is $t\|\lambda - 1/n\|^2$ along $f = t(\lambda - 1/n)$.",
        kind="identity",
        scope="as stated, n >= 1",
        check=proof("plain_mean.v", "conjugate", drawn(case, weights, tolerance=0.0)),
        mutants={
            "2/n": ("another point", {"scale": 2}),
            "f >= 0": (
                "the losses that the paper has, where lambda <= 1/n gives 0",
                {"domain": "f >= 0"},
            ),
        },
        reading="On R^n. On f >= 0 it is 0 wherever lambda <= 1/n: see propfair/table-1.",
    ),
)
