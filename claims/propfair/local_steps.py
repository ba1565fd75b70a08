"""After theorem 3.3: the dependence of the bound on the number of local steps."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

from flint import arb

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.exact import ball


def floor(K: int, rate: Fraction, noise: int, whole: bool) -> arb:
    """The limit of the bound as T grows, or Psi/eta alone: K_i = K and p_i = 1/n for all, full
    participation.

    ``rate`` is eta L, ``noise`` is sigma_l^2 + 2 sigma_g^2 with sigma_g = 0.
    """
    psi = ball(Fraction(noise, 2)) * (K**2 + 2 * (arb(1).exp() - 2) * ball(rate) ** 2 * K**3)
    return psi * 12 / (11 * K - 9) if whole else psi


def case(instance: dict[str, Any], whole: bool = True) -> Case:
    """Fewer local steps, at the same eta, a smaller bound."""
    few, many, rate = instance["few"], instance["many"], instance["rate"]
    left = floor(few, rate, instance["noise"], whole)
    right = floor(many, rate, instance["noise"], whole)
    return Case(
        (Relation(left, "<=", right, "the bound's limit"),),
        {
            "step size": 6 * rate * many <= 1 and 18 * rate**2 * many**4 <= 1,
            "fewer": 1 <= few <= many,
        },
    )


def check(effort: Effort, whole: bool = True, many: int = 2, few: int = 1) -> Evidence:
    """One step against two."""
    shows = (
        "sigma_g = 0, eta L = 1/40: the bound tends to 3.0 sigma^2 for K = 1, to 1.85 sigma^2 "
        "for K = 2"
    )
    data = {"few": few, "many": many, "rate": Fraction(1, 40), "noise": 1}
    return Evidence.of(Counterexample.at(Call.of(case, whole=whole), shows, **data))


CLAIMS = (
    Claim(
        id="propfair/local-steps",
        number="Section 3.1.3, after theorem 3.3",
        line=181,
        title="By the bound, each K_i should be as small as possible",
        printed=(
            r"The variance term $\tilde{\Psi}_\sigma$ decreases with smaller local steps $K_i$, "
            r"which agrees with our intuition that each $K_i$ should be as small as possible "
            r"given the communication constraint."
        ),
        statement=(
            r"$\frac{12}{(11\mu - 9)\eta}\Psi_\sigma$, the bound's limit for $T \to \infty$, "
            r"does not decrease with $K_i = K$."
        ),
        kind="implication",
        hypotheses=(
            ("step size", "the theorem's, for both K (18 > 24 (e-2))"),
            ("fewer", "1 <= K <= K'"),
        ),
        scope="equal clients, sigma_g = 0, K = 1 against K = 2, the same eta",
        expected="refuted",
        check=check,
        mutants=(
            Mutant("Psi", "Psi_sigma alone, which does decrease", partial(check, whole=False)),
            Mutant("2 and 3", "two steps against three", partial(check, few=2, many=3)),
        ),
        severity="remark",
        erratum=(
            "Psi_sigma decreases with K_i, but it is divided by 11 mu - 9, which is 2 for K = 1 "
            "and 13 for K = 2: the bound is smallest at K = 2, at equal eta. That is an artefact "
            "of the bound, and no reason for or against local steps."
        ),
        whose="implied",
    ),
)
