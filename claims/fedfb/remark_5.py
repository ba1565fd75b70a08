"""FedFB, remark 5: for α = 0 the rule of lemma 7 is a threshold on η for each group."""

from __future__ import annotations

from typing import Any

import sympy

from fairfl.claims.fedfb.lemma_7 import SETTING
from fairfl.claims.forms import Claim, identity


def residuals(sign: int = 1, factor: int = 2) -> dict[str, Any]:
    """s(x, a) of lemma 7 minus 2 (η(x) - t_a), for the thresholds t_a of (28).

    ``sign`` is that of λ in the threshold of group 0, ``factor`` that of its denominator.
    """
    eta, lam = sympy.symbols("eta lambda", real=True)
    q = sympy.Symbol("q", positive=True)
    half = sympy.Rational(1, 2)
    thresholds = (half - sign * lam / (factor * (1 - q)), half + lam / (2 * q))
    scores = (2 * eta - 1 + lam / (1 - q), 2 * eta - 1 - lam / q)
    return {
        f"group {a}": score - 2 * (eta - threshold)
        for a, (score, threshold) in enumerate(zip(scores, thresholds, strict=True))
    }


CLAIMS = (
    Claim(
        "fedfb/remark-5",
        500,
        "for α = 0 the rule of lemma 7 is η > 1/2 - λ/(2(1 - q)) in group 0 and "
        "η > 1/2 + λ/(2q) in group 1",
        printed=r"Select $\alpha=0$, then the solution to CFL($\varepsilon$) can be written as "
        r"$f(x,0)=[[\eta(x)>\frac12-\frac{\lambda}{2(1-q)}]]$, "
        r"$f(x,1)=[[\eta(x)>\frac12+\frac{\lambda}{2q}]]$. Therefore, Lemma 7 implies that the "
        r"best classifier of the CFL problem is equivalent to simply applying a constant threshold "
        r"to the class-probabilities for each value of the sensitive feature.",
        statement=r"$s(x,0)=2(\eta(x)-\frac12+\frac{\lambda}{2(1-q)})$ and "
        r"$s(x,1)=2(\eta(x)-\frac12-\frac{\lambda}{2q})$, so that $[[s(x,a)>0]]$ is (28). By "
        r"lemma 7, repaired, it solves CFL($\varepsilon$).",
        kind="identity",
        hypotheses=SETTING,
        check=identity(residuals),
        mutants={
            "sign": ("1/2 + λ/(2(1 - q)) in group 0", {"sign": -1}),
            "shares": ("1/2 - λ/(1 - q) in group 0", {"factor": 1}),
        },
        rests_on=("fedfb/lemma-7/repaired",),
        notes="Where |λ| > min(q, 1 - q) a threshold is outside of [0, 1]: all of that group are "
        "accepted, or none.",
    ),
)
