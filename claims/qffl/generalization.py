"""Lemma 10 and theorem 11: generalisation bounds; every sample of small problems enumerated."""

from fractions import Fraction
from functools import reduce
from itertools import product

from flint import arb
from hypothesis import strategies as st

from fairfl.claims.certificates.kernel_proof import constant
from fairfl.claims.exact import Instance, ball, dot
from fairfl.claims.forms import Case, Claim, Part, Relation, counterexample, exactly, proof, witness
from fairfl.claims.qffl.objective import norm

RATE = constant("mcdiarmid.v", "rate")
"""The rate of McDiarmid's inequality: exp(-rate s^2 / sum c_k^2)."""
Table = list[list[Fraction]]
"""By hypothesis h and outcome z (0 or 1): the loss of h at z, on one device."""
Outcomes = list[tuple[Fraction, list[list[Fraction]]]]
"""Every sample with its probability: [h][k] empirical losses."""


def samples(world: Instance) -> Outcomes:
    """Every sample with its probability: [h][k] empirical losses."""
    tables: list[Table] = world["tables"]
    count = len(tables[0])
    draws = [list(product((0, 1), repeat=n)) for n in world["n"]]
    outcomes = []
    for outcome in product(*draws):
        weight = Fraction(1)
        for k, sample in enumerate(outcome):
            for z in sample:
                weight *= world["chance"][k] if z else 1 - world["chance"][k]
        pairs = list(zip(tables, outcome, strict=True))
        means = [
            [sum((t[h][z] for z in sample), Fraction(0)) / len(sample) for t, sample in pairs]
            for h in range(count)
        ]
        outcomes.append((weight, means))
    return outcomes


def expected(world: Instance) -> list[list[Fraction]]:
    """[h][k] expected losses."""
    tables = world["tables"]
    return [
        [(1 - c) * t[h][0] + c * t[h][1] for t, c in zip(tables, world["chance"], strict=True)]
        for h in range(len(tables[0]))
    ]


def complexity(true: list[list[Fraction]], seen: Outcomes, mixture: list[Fraction]) -> Fraction:
    """E max_h (L_lambda(h) - L^_lambda(h))."""
    means = [dot(mixture, losses) for losses in true]
    lost = (
        weight * max(a - dot(mixture, losses) for a, losses in zip(means, sample, strict=True))
        for weight, sample in seen
    )
    return sum(lost, Fraction(0))


def spread(world: Instance, mixture: list[Fraction], risk: Fraction, factor: Fraction) -> arb:
    """``factor`` M sqrt(sum lambda_k^2/(2 n_k) log(1/delta)), M = 1."""
    total = sum((x * x / (RATE * n) for x, n in zip(mixture, world["n"], strict=True)), Fraction(0))
    return ball(factor) * (ball(total) * (1 / ball(risk)).log()).sqrt()


def broken(
    world: Instance,
    mixtures: list[list[Fraction]],
    risk: Fraction,
    factor: Fraction = Fraction(1),
    *,
    full: bool = False,
    bare: bool = False,
) -> tuple[Fraction, arb]:
    """P(an h and a mixture break the bound), its mean; ``full``: theorem 11, ``bare``: no E max."""
    q = Fraction(world["q"])
    true, seen = expected(world), samples(world)
    terms = [
        ball(Fraction(0) if bare else complexity(true, seen, mixture))
        + spread(world, mixture, risk, factor)
        for mixture in mixtures
    ]
    sizes = [norm(mixture, (q + 1) / q if q else None) for mixture in mixtures]
    if full:
        sizes, terms = ([reduce(arb.max, values)] * len(mixtures) for values in (sizes, terms))
    chance, total = Fraction(0), arb(0)
    for weight, losses in seen:
        empirical = [norm(sample_losses, q + 1) for sample_losses in losses]
        sides = [
            (dot(mixture, expectation), size * mean + term)
            for expectation, mean in zip(true, empirical, strict=True)
            for mixture, size, term in zip(mixtures, sizes, terms, strict=True)
        ]
        chance += weight * any(ball(left) > right for left, right in sides)
        total += ball(weight / len(sides)) * sum((right for _, right in sides), arb(0))
    return chance, total


def corners(m: int) -> list[list[Fraction]]:
    """The vertices of the simplex."""
    return [[Fraction(int(i == k)) for i in range(m)] for k in range(m)]


def case(
    instance: Instance, mode: str = "uniform", factor: Fraction = Fraction(1), bare: bool = False
) -> Case:
    """P(the bound fails for some h, and some lambda) <= delta, over every sample.

    ``mode``: "uniform" lemma 10 for all vertices of the simplex; "maximum" theorem 11, likewise (a
    violation at a vertex is one); "one" lemma 10 for the instance's lambda; "union" theorem 11 with
    log(m/delta), for all lambda: L_lambda is linear and the right side does not depend on lambda,
    so violations at the vertices suffice.
    """
    m, risk = len(instance["n"]), instance["delta"]
    mixtures = [instance["lambda"]] if mode == "one" else corners(m)
    level = risk / m if mode == "union" else risk
    full = mode in ("maximum", "union")
    violated, mean = broken(instance, mixtures, level, factor, full=full, bare=bare)
    losses = [v for table in instance["tables"] for row in table for v in row]
    premises = {"bounded": 0 <= min(losses) and max(losses) <= 1, "risk": 0 < risk < 1}
    relations = (
        Relation(violated, "<=", risk, "P(violation), delta"),
        Relation(0, "<=", mean, "the bound's mean"),
    )
    return Case(relations, premises)


def coins(instance: Instance, factor: Fraction = Fraction(1)) -> Case:
    """P(K/n < 1/2 - the bound's last term) <= delta of "coins" samples, K binomial. By the law of
    large deviations the bound is nearly attained for large n and tiny delta.
    """
    n, risk = instance["coins"], instance["delta"]
    end = n * (ball(Fraction(1, 2)) - spread({"n": [n]}, [Fraction(1)], risk, factor))
    total, term = arb(0), ball(Fraction(1, 2)) ** n
    for k in range(n):
        if not ball(k) < end:
            break
        total, term = total + term, term * (n - k) / (k + 1)
    return Case((Relation(total, "<=", ball(risk), "P(violation), delta"),), {"risk": 0 < risk < 1})


def separate(m: int, chance: str, risk: str, q: int = 1) -> Instance:
    """m devices, one sample each; h_k has the loss 1 with this ``chance`` on device k, else 0."""
    return {
        "tables": [[[Fraction(0), Fraction(int(h == k))] for h in range(m)] for k in range(m)],
        "chance": [Fraction(chance)] * m,
        "n": [1] * m,
        "q": q,
        "delta": Fraction(risk),
        "lambda": corners(m)[0],
    }


WORLD = separate(3, "4/5", "9/20")
OPPOSITE = {
    **separate(1, "1/2", "999/1000"),
    "tables": [[[Fraction(0), Fraction(1)], [Fraction(1), Fraction(0)]]],
}
"""One device, one sample, two opposite hypotheses: the sample always flatters one of them."""
CERTAIN = {
    **separate(1, "1/2", "999/1000", q=2),
    "tables": [[[Fraction(1)] * 2], [[Fraction(1, 2)] * 2]],
    "chance": [Fraction(1, 2)] * 2,
    "n": [1, 1],
    "lambda": [Fraction(4, 5), Fraction(1, 5)],
}
"""Two devices without chance, and the mixture at which Hoelder's inequality is an equality."""
TIGHT = (separate(1, "1/3", "1/2"), separate(1, "11/20", "11/20"), WORLD, OPPOSITE, CERTAIN)
"""Worlds that nearly attain the bound."""
RARE = {"coins": 40_000, "delta": Fraction(1, 10**103)}


@st.composite
def worlds(draw: st.DrawFn) -> Instance:
    """Up to three devices with one or two samples, up to three hypotheses; delta anywhere."""
    m, count = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    loss = st.integers(0, 4).map(lambda k: Fraction(k, 4))
    twentieths = st.integers(1, 19).map(lambda k: Fraction(k, 20))
    weights = draw(st.lists(st.integers(0, 4), min_size=m, max_size=m).filter(any))
    return {
        "tables": [[[draw(loss), draw(loss)] for _ in range(count)] for _ in range(m)],
        "chance": [draw(twentieths) for _ in range(m)],
        "n": [draw(st.integers(1, 2)) for _ in range(m)],
        "q": draw(st.integers(0, 2)),
        "delta": draw(twentieths),
        "lambda": [Fraction(w, sum(weights)) for w in weights],
    }


def refuted(mode: str) -> Part:
    """Three devices, whose probabilities of violation add up."""
    return counterexample(
        case,
        "3 devices, 1 sample each, h_k with loss Bern(4/5) on device k only, delta = 9/20: it "
        "fails w.p. 61/125 > 9/20",
        WORLD,
        "61/125 <= 9/20",
        mode=mode,
    )


def proved(theorem: str, mode: str) -> Part:
    """McDiarmid's inequality; drawn worlds, and some that nearly attain the bound."""
    return proof(
        "mcdiarmid.v",
        theorem,
        exactly(case, worlds, examples=(10, 1000), mode=mode, moved="delta tables"),
        *(witness(case, "little is to spare", world, mode=mode) for world in TIGHT),
        witness(coins, "fair coins", RARE),
    )


LESS = {"1 % less": ("of the last term", {"factor": Fraction(99, 100)})}
HYPOTHESES = {"bounded": "losses in [0, M], M = 1", "risk": "0 < delta < 1"}
SMALL = "m = 3, n_k = 1, three hypotheses, every sample enumerated"
CLAIMS = (
    Claim(
        "qffl/lemma-10",
        378,
        "Generalisation bound of q-FFL, for any mixture lambda",
        printed=r"for any $\delta > 0$, with probability at least $1 - \delta$, the following "
        r"holds for any $\lambda \in \Lambda, h \in H$: $L_{\lambda}(h) \le "
        r"A_q(\lambda)\tilde{L}_q(h) + \mathbb{E}[\max_{h\in H} L_{\lambda}(h) - "
        r"\hat{L}_{\lambda}(h)] + M\sqrt{\sum_{k=1}^m \frac{\lambda_k^2}{2n_k}"
        r"\log\frac{1}{\delta}}$, $A_q(\lambda) = \|\lambda\|_p$",
        statement=r"As printed: with probability at least $1 - \delta$, for all $\lambda \in "
        r"\Lambda$ and $h \in H$ at once.",
        kind="bound",
        hypotheses=HYPOTHESES,
        scope=SMALL,
        severity="theorem",
        check=refuted("uniform"),
        mutants={"one lambda": ("lambda = (1, 0, 0), chosen beforehand", {"mode": "one"})},
        reading="The title says 'for a specific lambda', the statement quantifies lambda after the "
        "probability. In the counterexample A_q(lambda) = 1 and L~_q(h_k) is device k's loss.",
        erratum="(25) is McDiarmid's inequality for one lambda. 'For any lambda in Lambda' must "
        "come before 'with probability': the m vertices alone break the bound with a probability "
        "that tends to one as m grows. (Mohri et al. cover Lambda.)",
        repaired=dict(
            title="Generalisation bound of q-FFL, for one mixture lambda chosen before the sample",
            statement=r"For each $\lambda \in \Lambda$: with probability at least $1 - \delta$ the "
            r"printed bound holds for all $h \in H$.",
            scope="finitely many h, laws of finitely many outcomes, by Hoelder's inequality; "
            "beside it every sample for m <= 3, n_k <= 2, |H| <= 3, q <= 2",
            check=proved("one_mixture", "one"),
            mutants={
                **LESS,
                "one h": ("the expected maximum over H left out", {"bare": True}),
                "all lambda": ("the printed quantifier", {"mode": "uniform"}),
            },
        ),
    ),
    Claim(
        "qffl/theorem-11",
        396,
        "Generalisation bound of q-FFL, for all mixtures at once",
        printed=r"with probability at least $1 - \delta$, the following holds for any $\lambda \in "
        r"\Lambda$, $h \in H$: $L_{\lambda}(h) \leq \max_{\lambda \in \Lambda} (A_q(\lambda)) "
        r"\tilde{L}_q(h) + \max_{\lambda \in \Lambda} (\mathbb{E} [\max_{h\in H} L_{\lambda}(h) - "
        r"\hat{L}_{\lambda}(h)] + M\sqrt{\sum_{k=1}^m \frac{\lambda_k^2}{2n_k} \log "
        r"\frac{1}{\delta}})$",
        kind="bound",
        hypotheses=HYPOTHESES,
        scope=SMALL,
        severity="theorem",
        check=refuted("maximum"),
        mutants={"log(m/delta)": ("delta/m in the last term", {"mode": "union"})},
        reading="Both maxima on the right are over the simplex. A_q and the second maximand are "
        "convex in lambda, so vertices attain them, and are what is enumerated.",
        erratum="'Directly follows from lemma 10, by taking the maximum over all lambda' uses "
        "lemma 10 for all lambda at once, which is what is false. With log(m/delta) for "
        "log(1/delta) it holds: L_lambda is linear in lambda, so the vertices decide.",
        repaired=dict(
            title="Generalisation bound of q-FFL, for all mixtures at once, with log(m/delta)",
            statement=r"With probability at least $1 - \delta$, for all $\lambda$ and $h$: "
            r"$L_\lambda(h) \le \tilde L_q(h) + \max_k ( E[\max_h L_k(h) - \hat L_k(h)] + "
            r"M\sqrt{\log(m/\delta)/(2n_k)} )$, as $\|e_k\|_p = 1$ is the largest norm.",
            scope="finitely many h, laws of finitely many outcomes; beside it every sample for m "
            "<= 3, n_k <= 2, |H| <= 3, q <= 2",
            check=proved("all_mixtures", "union"),
            mutants={**LESS, "log(1/delta)": ("the printed term", {"mode": "maximum"})},
        ),
    ),
)
