"""FedFB, proof of lemma 20: the inequalities (64), (65)-(66) and (67)-(68) of its cases 2 to 4."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import sympy

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, DefiniteForm
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.fedfb.worlds import World

ZERO, ONE = Fraction(0), Fraction(1)
Form = tuple[Any, list[Any]]


class Subsets:
    """Two pooled subsets with g̃_0(0) = -c < 0 < b = g̃_1(0), c < b, and their shares J."""

    def __init__(self, instance: dict[str, Any]) -> None:
        world = World.of(instance["laws"], instance["q"])
        split = instance["split"]
        self.pair = world.pool(split[0]), world.pool(split[1])
        self.shares = tuple(Fraction(len(part), len(world.q)) for part in split)
        self.start = tuple(people.g(ZERO) for people in self.pair)
        self.least = self.start[0] < 0 < self.start[1] and -self.start[0] < self.start[1]
        self.premises = {"wlog": self.least, "g_i increase": world.positive}

    def difference(self, eps: Any) -> Fraction:
        """(63)."""
        one, two = self.pair
        lams = [people.multiplier(e) for people, e in zip(self.pair, eps, strict=True)]
        j, k = self.shares
        mixed = one.g(lams[1]) + two.g(lams[0])
        return j * j * one.g(lams[0]) + k * k * two.g(lams[1]) + j * k * mixed

    def psi(self, eps: Any) -> Fraction:
        """(62), on [0, c]²: (63) itself."""
        j, k = self.shares
        lams = [people.multiplier(e) for people, e in zip(self.pair, eps, strict=True)]
        mixed = self.pair[0].g(lams[1]) + self.pair[1].g(lams[0])
        return j * k * mixed - j * j * eps[0] + k * k * eps[1]

    @property
    def corner(self) -> Fraction:
        """ψ̃(c, 0)."""
        return self.psi((-self.start[0], ZERO))


def case_2(instance: dict[str, Any], repair: bool = False) -> Case:
    """(64): (63) > J_0 g̃_0(0) + J_1 g̃_1(0) > ψ̃(c, 0)/J_1; or (63) >= ψ̃(c, 0)."""
    at, eps = Subsets(instance), (instance["eps"], ONE)
    value = at.difference(eps)
    middle = sum((s * g for s, g in zip(at.shares, at.start, strict=True)), ZERO)
    premises = {**at.premises, "case": eps[0] <= -at.start[0]}
    if repair:
        return Case((Relation(at.corner, "<=", value, "(63)"),), premises)
    return Case(
        (
            Relation(middle, "<=", value, "first"),
            Relation(at.corner / at.shares[1], "<", middle, "second"),
        ),
        premises,
    )


def case_3(instance: dict[str, Any], repair: bool = False) -> Case:
    """(65)-(66): (63) >= ψ̃(ε_0, ε_0); or >= ψ̃(ε_0, min(ε_1, c))."""
    at, eps = Subsets(instance), instance["eps"]
    other = min(eps[1], -at.start[0]) if repair else eps[0]
    premises = {**at.premises, "case": eps[0] <= -at.start[0] and eps[1] <= at.start[1]}
    return Case((Relation(at.psi((eps[0], other)), "<=", at.difference(eps), "(66)"),), premises)


def case_4(instance: dict[str, Any], repair: bool = False) -> Case:
    """(67)-(68): (63) >= J_0² g̃_0(0) + J_0 J_1 g̃_0(g̃_1⁻¹(0)) + J_1² g̃_1(0) = ψ̃(c, 0)."""
    at, eps = Subsets(instance), (ONE, instance["eps"])
    j, k = at.shares
    far = at.pair[0].g(at.pair[1].multiplier(ZERO))
    step = j * j * at.start[0] + j * k * far + k * (j if repair else k) * at.start[1]
    premises = {**at.premises, "case": eps[1] <= -at.start[0]}
    return Case(
        (
            Relation(step, "<=", at.difference(eps), "(68)"),
            Relation(step, "==", at.corner, "ψ̃(c, 0)"),
        ),
        premises,
    )


def _symbols() -> tuple[sympy.Expr, ...]:
    """J_0, J_1; c = -g̃_0(0), b = g̃_1(0); d = g̃_0(g̃_1⁻¹(0)); what monotonicity adds."""
    j, k = sympy.symbols("j k", positive=True)
    c, b = sympy.symbols("c b", positive=True)
    return j / (j + k), k / (j + k), c, b, sympy.Symbol("d", real=True)


def second(square: int = 2, factor: Fraction = ONE) -> Form:
    """(64) repaired: ε_0 = c - e, g̃_1(λ_0) = b + r, d = -c - s."""
    one, two, c, b, _ = _symbols()
    e, r, s = sympy.symbols("e r s", nonnegative=True)
    d = -c - s
    value = -(one**square) * (c - e) + two**2 * b + one * two * (-c + (b + r))
    corner = one * two * (d + b) - one**2 * c
    more = sympy.Rational(str(factor))
    return value - more * corner, [one**2 * e, two**2 * b, one * two * s, one * two * r]


def third(square: int = 2, factor: Fraction = ONE) -> Form:
    """(65)-(66) repaired, ε_1 = c + e > c: g̃_0(λ_1) = g̃_0(λ at ε_1 = c) + r."""
    one, two, c, _, at = _symbols()
    e, r = sympy.symbols("e r", nonnegative=True)
    low, mixed = sympy.symbols("low mixed", real=True)  # -J_0² ε_0, J_0 J_1 g̃_1(λ_0)
    value = low + two**square * (c + e) + one * two * (at + r) + mixed
    bound = low + two**2 * c + one * two * at + mixed
    return value - sympy.Rational(str(factor)) * bound, [two**2 * e, one * two * r]


def fourth(place: str = "J_0 J_1", factor: Fraction = ONE) -> Form:
    """(67)-(68) repaired: g̃_0(λ_1) = d + r, ε_1 >= 0."""
    one, two, c, b, d = _symbols()
    e, r = sympy.symbols("e r", nonnegative=True)
    value = -(one**2) * c + one * two * (d + r) + one * two * b + two**2 * e
    share = one * two if place == "J_0 J_1" else two**2
    bound = -(one**2) * c + one * two * d + share * b
    return value - sympy.Rational(str(factor)) * bound, [one * two * r, two**2 * e]


WIDE = [[9, 1, 1, 8], [8, 1, 1, 9]]
NARROW = [[1, 1, 5, 1], [1, 5, 1, 1]]
MANY: dict[str, Any] = {"laws": [WIDE, WIDE, NARROW], "q": Fraction(1, 2), "split": [[0, 1], [2]]}
FEW: dict[str, Any] = {"laws": [WIDE, NARROW, NARROW], "q": Fraction(1, 2), "split": [[0], [1, 2]]}
POINT = (
    {
        "j": "1",
        "k": "2",
        "c": "1/5",
        "b": "1/2",
        "d": "-1/3",
        "e": "1/9",
        "r": "0",
        "s": "2/7",
        "low": "-1/8",
        "mixed": "1/6",
    },
)


def _against(case: Any, shows: str, instance: dict[str, Any], eps: Any) -> Any:
    def check(effort: Effort, repair: bool = False) -> Evidence:
        return Evidence.of(
            Counterexample.at(Call.of(case, repair=repair), shows, **instance, eps=eps)
        )

    return check


def _form(effort: Effort, form: Any, **given: Any) -> Evidence:
    return Evidence.of(DefiniteForm(Call.of(form, **given), "together", POINT))


_TWO = _against(
    case_2, "J = (2/3, 1/3), ε_0 = 0: J_0 g̃_0(0) + J_1 g̃_1(0) is below ψ̃(c, 0)/J_1", MANY, ZERO
)
_THREE = _against(
    case_3,
    "J = (1/3, 2/3), ε = (1/20, 0): (63) is ψ̃(1/20, 0), less than ψ̃(1/20, 1/20)",
    FEW,
    [Fraction(1, 20), ZERO],
)
_FOUR = _against(
    case_4,
    "J = (1/3, 2/3), ε = (1, 0): the right side of (68) has J_1² g̃_1(0), twice J_0 J_1 g̃_1(0)",
    FEW,
    ZERO,
)

WLOG = ("wlog", "g̃_0(0) < 0 < g̃_1(0), |g̃_0(0)| < |g̃_1(0)|")
INCREASE = ("g_i increase", "each density is positive on (0, 1)")
P_64 = (
    r"$(63)=-J_0^2\tilde\varepsilon_0+J_1^2\tilde g_1(0)+J_0J_1\tilde g_0(0)+J_0J_1\tilde "
    r"g_1(\tilde\lambda_0)>J_0\tilde g_0(0)+J_1\tilde g_1(0)>\frac1{J_1}\tilde\psi(\tilde "
    r"g_0(0),0)\ge\tilde\delta$ for $\tilde\varepsilon_0\le|\tilde g_0(0)|$, "
    r"$\tilde\varepsilon_1>|\tilde g_1(0)|$. [Without any loss of generality, assume $|\tilde "
    r"g_0(0)|<|\tilde g_1(0)|$ and $J_0\le J_1$.]"
)
P_65 = (
    r"$(63)=-J_0^2\tilde\varepsilon_0+J_1^2\tilde\varepsilon_1+J_0J_1\tilde g_0(\tilde "
    r"g_1^{-1}(\tilde\varepsilon_1))+J_0J_1\tilde g_1(\tilde "
    r"g_0^{-1}(-\tilde\varepsilon_0))\ge\tilde\psi(\tilde\varepsilon_0,\tilde\varepsilon_0)\ge"
    r"\tilde\delta$."
)
P_67 = (
    r"$(63)=J_0^2\tilde g_0(0)+J_0J_1\tilde g_0(\tilde\lambda_1)+J_0J_1\tilde "
    r"g_1(0)+J_1^2\tilde\varepsilon_1>J_0^2\tilde g_0(0)+J_0J_1\tilde g_0(\tilde "
    r"g_1^{-1}(0))+J_1^2\tilde g_1(0)=\tilde\psi(\tilde g_0(0),0)\ge\tilde\delta$."
)


def _claim(
    id: str, line: int, title: str, printed: str, statement: str, case: str, **more: Any
) -> Claim:
    places = id.removesuffix("/repaired").removeprefix("eq-").split("-")
    number = ("Eqs. " if len(places) > 1 else "Eq. ") + "-".join(f"({place})" for place in places)
    premises = (WLOG, INCREASE, ("case", case))
    return Claim(
        id="fedfb/" + id,
        number=number,
        line=line,
        title=title,
        printed=printed,
        statement=statement,
        kind="bound",
        hypotheses=premises,
        **more,
    )


def _more(form: Any) -> Mutant:
    return Mutant(
        "1 % more", "1.01 times the bound", partial(_form, form=form, factor=Fraction(101, 100))
    )


REPAIRED: dict[str, Any] = {"scope": "each g̃_j non-decreasing, any shares", "expected": "holds"}

CLAIMS = (
    _claim(
        "eq-64",
        1077,
        "in case 2 the mean difference exceeds J_0 g̃_0(0) + J_1 g̃_1(0), and that ψ̃(c, 0)/J_1",
        P_64,
        r"Both inequalities (the first as $\ge$, $c$ for $\tilde g_0(0)$ in $\tilde\psi$).",
        "ε̃_0 <= |g̃_0(0)|, ε̃_1 > |g̃_1(0)|",
        scope="three clients, J_0 = 2/3",
        expected="holds-repaired",
        check=_TWO,
        mutants=(Mutant("repaired", "ψ̃(c, 0) itself", partial(_TWO, repair=True)),),
        severity="step",
        erratum=r"The second inequality needs $J_0\le J_1$, which cannot be assumed together with "
        r"$|\tilde g_0(0)|<|\tilde g_1(0)|$. Compare with $\tilde\psi(c,0)$, without the factor "
        r"$1/J_1$: $(63)\ge\tilde\psi(c,0)\ge\tilde\delta$ for any shares. The first $>$ is $\ge$, "
        r"and $\tilde\psi(\tilde g_0(0),0)$, with a negative argument, is $\tilde\psi(|\tilde "
        r"g_0(0)|,0)$.",
    ),
    _claim(
        "eq-64/repaired",
        1077,
        "in case 2 the mean difference is at least ψ̃(c, 0)",
        P_64,
        r"$(63)\ge\tilde\psi(c,0)$.",
        "ε̃_0 <= |g̃_0(0)|, ε̃_1 > |g̃_1(0)|",
        check=partial(_form, form=second),
        mutants=(
            Mutant("J_0", "J_0 for J_0² in (63)", partial(_form, form=second, square=1)),
            _more(second),
        ),
        **REPAIRED,
    ),
    _claim(
        "eq-65-66",
        1088,
        "in case 3 the mean difference is at least ψ̃(ε̃_0, ε̃_0)",
        P_65,
        r"The inequality.",
        "ε̃_i <= |g̃_i(0)|",
        scope="three clients, J_0 = 1/3",
        expected="holds-repaired",
        check=_THREE,
        mutants=(Mutant("repaired", "ψ̃(ε̃_0, min(ε̃_1, c))", partial(_THREE, repair=True)),),
        severity="step",
        erratum=r"The step needs $\tilde\varepsilon_1\ge\tilde\varepsilon_0$. For "
        r"$\tilde\varepsilon_1\le c$ (63) is "
        r"$\tilde\psi(\tilde\varepsilon_0,\tilde\varepsilon_1)$; for $\tilde\varepsilon_1>c$ it is "
        r"at least $\tilde\psi(\tilde\varepsilon_0,c)$.",
    ),
    _claim(
        "eq-65-66/repaired",
        1088,
        "in case 3 the mean difference is at least ψ̃(ε̃_0, min(ε̃_1, c))",
        P_65,
        r"$(63)\ge\tilde\psi(\tilde\varepsilon_0,c)$ for $\tilde\varepsilon_1>c$; it is "
        r"$\tilde\psi(\tilde\varepsilon_0,\tilde\varepsilon_1)$ by definition for "
        r"$\tilde\varepsilon_1\le c$.",
        "ε̃_i <= |g̃_i(0)|",
        check=partial(_form, form=third),
        mutants=(
            Mutant("J_1", "J_1 for J_1² in (63)", partial(_form, form=third, square=1)),
            _more(third),
        ),
        **REPAIRED,
    ),
    _claim(
        "eq-67-68",
        1096,
        "in case 4 the mean difference exceeds J_0² g̃_0(0) + J_0 J_1 g̃_0(g̃_1⁻¹(0)) + J_1² "
        "g̃_1(0) = ψ̃(c, 0)",
        P_67,
        r"The inequality (as $\ge$) and the equality.",
        "ε̃_0 > |g̃_0(0)|, ε̃_1 <= |g̃_0(0)|",
        scope="three clients, J_0 = 1/3",
        expected="holds-repaired",
        check=_FOUR,
        mutants=(Mutant("J_0 J_1", "J_0 J_1 g̃_1(0)", partial(_FOUR, repair=True)),),
        severity="step",
        erratum=r"Write $J_0J_1\tilde g_1(0)$ for $J_1^2\tilde g_1(0)$ in (68), and in case 1: "
        r"with $J_1^2$ the inequality fails for $J_0<J_1$, and the equality for $J_0\ne J_1$. $>$ "
        r"is $\ge$ (equality at $\tilde\varepsilon_1=0$).",
    ),
    _claim(
        "eq-67-68/repaired",
        1096,
        "in case 4 the mean difference is at least J_0² g̃_0(0) + J_0 J_1 (g̃_0(g̃_1⁻¹(0)) + "
        "g̃_1(0)) = ψ̃(c, 0)",
        P_67,
        r"$(63)\ge J_0^2\tilde g_0(0)+J_0J_1\tilde g_0(\tilde g_1^{-1}(0))+J_0J_1\tilde g_1(0)$, "
        r"which is $\tilde\psi(c,0)$ by (62).",
        "ε̃_0 > |g̃_0(0)|, ε̃_1 <= |g̃_0(0)|",
        check=partial(_form, form=fourth),
        mutants=(
            Mutant("as printed", "J_1² g̃_1(0)", partial(_form, form=fourth, place="J_1²")),
            _more(fourth),
        ),
        **REPAIRED,
    ),
)
