"""Lemma 10 and theorem 11: generalisation bounds, checked by enumerating every sample of small
problems.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

from flint import arb
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, KernelProof, Witness
from fairfl.claims.certificates.kernel_proof import CLASSICAL
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.exact import ball
from fairfl.claims.instances import explore
from fairfl.claims.qffl.mcdiarmid import ALL_MIXTURES, DRAWS, ONE_MIXTURE

Table = list[list[Fraction]]
"""By hypothesis h and outcome z (0 or 1): the loss of h at z, on one device."""


def samples(world: dict[str, Any]) -> list[tuple[Fraction, list[list[Fraction]]]]:
    """Every sample with its probability: [h][k] empirical losses. Device k draws n_k outcomes, 1
    with chance_k.
    """
    tables: list[Table] = world["tables"]
    count = len(tables[0])
    draws = [list(product((0, 1), repeat=n)) for n in world["n"]]
    found = []
    for outcome in product(*draws):
        weight = Fraction(1)
        for k, drawn in enumerate(outcome):
            for z in drawn:
                weight *= world["chance"][k] if z else 1 - world["chance"][k]
        means = [
            [
                sum((tables[k][h][z] for z in drawn), Fraction(0)) / len(drawn)
                for k, drawn in enumerate(outcome)
            ]
            for h in range(count)
        ]
        found.append((weight, means))
    return found


def expected(world: dict[str, Any]) -> list[list[Fraction]]:
    """[h][k] expected losses."""
    tables = world["tables"]
    return [
        [(1 - c) * t[h][0] + c * t[h][1] for t, c in zip(tables, world["chance"], strict=True)]
        for h in range(len(tables[0]))
    ]


def complexity(world: dict[str, Any], mixture: list[Fraction]) -> Fraction:
    """E max_h (L_lambda(h) - L^_lambda(h))."""
    true = expected(world)
    return sum(
        (
            weight
            * max(
                sum(
                    (x * (a - b) for x, a, b in zip(mixture, true[h], seen[h], strict=True)),
                    Fraction(0),
                )
                for h in range(len(true))
            )
            for weight, seen in samples(world)
        ),
        Fraction(0),
    )


def norm(x: list[Fraction], p: Fraction | None) -> arb:
    """||x||_p, p None for infinity."""
    if p is None:
        return ball(max(x))
    total = sum((ball(v) ** ball(p) for v in x if v), arb(0))
    return total ** ball(1 / p) if total > 0 else arb(0)


def spread(world: dict[str, Any], mixture: list[Fraction], risk: Fraction, factor: Fraction) -> arb:
    """M sqrt(sum lambda_k^2/(2 n_k) log(1/delta)), M = 1."""
    total = sum((x * x / (2 * n) for x, n in zip(mixture, world["n"], strict=True)), Fraction(0))
    return ball(factor) * (ball(total) * (1 / ball(risk)).log()).sqrt()


def broken(
    world: dict[str, Any],
    mixtures: list[list[Fraction]],
    risk: Fraction,
    factor: Fraction,
    full: bool,
    bare: bool,
) -> Fraction:
    """P(some h and some of the mixtures break the bound); ``full``: theorem 11's, with maxima over
    the mixtures.
    """
    q = Fraction(world["q"])
    p = (q + 1) / q if q else None
    true = expected(world)
    extra = [
        ball(Fraction(0) if bare else complexity(world, x)) + spread(world, x, risk, factor)
        for x in mixtures
    ]
    sizes = [norm(x, p) for x in mixtures]
    if full:
        top, most = sizes[0], extra[0]
        for size, more in zip(sizes[1:], extra[1:], strict=True):
            top, most = (size if size > top else top), (more if more > most else most)
        sizes, extra = [top] * len(mixtures), [most] * len(mixtures)
    total = Fraction(0)
    for weight, seen in samples(world):
        for h in range(len(true)):
            empirical = norm(seen[h], q + 1)
            hit = any(
                ball(sum((a * b for a, b in zip(x, true[h], strict=True)), Fraction(0)))
                > size * empirical + more
                for x, size, more in zip(mixtures, sizes, extra, strict=True)
            )
            if hit:
                total += weight
                break
    return total


def corners(m: int) -> list[list[Fraction]]:
    """The vertices of the simplex."""
    return [[Fraction(int(i == k)) for i in range(m)] for k in range(m)]


def case(
    instance: dict[str, Any],
    mode: str = "uniform",
    factor: Fraction = Fraction(1),
    bare: bool = False,
) -> Case:
    """P(the bound fails for some h, and some lambda) <= delta, over every sample.

    ``mode``: "uniform" lemma 10 for all vertices of the simplex; "maximum" theorem 11, likewise (a
    violation at a vertex is one); "one" lemma 10 for the instance's lambda; "union" theorem 11 with
    log(m/delta), for all lambda: L_lambda is linear and the right side does not depend on lambda,
    so the vertices decide.
    """
    m, risk = len(instance["n"]), instance["delta"]
    mixtures = [instance["lambda"]] if mode == "one" else corners(m)
    used = risk / m if mode == "union" else risk
    found = broken(instance, mixtures, used, factor, mode in ("maximum", "union"), bare)
    low = min(min(min(row) for row in t) for t in instance["tables"])
    top = max(max(max(row) for row in t) for t in instance["tables"])
    return Case(
        (Relation(found, "<=", risk, "P(violation), delta"),),
        {"bounded": 0 <= low and top <= 1, "risk": 0 < risk < 1},
    )


def coins(instance: dict[str, Any], factor: Fraction = Fraction(1)) -> Case:
    """P(the bound fails) <= delta on one device with one hypothesis, whose loss is a fair coin, for
    "coins" samples: P(K < n/2 - factor sqrt(n log(1/delta)/2)), K binomial.

    By the law of large deviations little is to spare where n is large and delta tiny.
    """
    n, risk = instance["coins"], instance["delta"]
    end = ball(Fraction(n, 2)) - ball(factor) * (ball(n) * (1 / ball(risk)).log() / 2).sqrt()
    total, term = arb(0), ball(Fraction(1, 2)) ** n
    for k in range(n):
        if not ball(k) < end:
            break
        total, term = total + term, term * (n - k) / (k + 1)
    return Case((Relation(total, "<=", ball(risk), "P(violation), delta"),), {"risk": 0 < risk < 1})


def separate(m: int, chance: Fraction, risk: Fraction, q: int = 1) -> dict[str, Any]:
    """m devices with one sample, m hypotheses; h_k has a loss (of 1, with this chance) on device k
    alone.
    """
    tables = [[[Fraction(0), Fraction(int(h == k))] for h in range(m)] for k in range(m)]
    return {
        "tables": tables,
        "chance": [chance] * m,
        "n": [1] * m,
        "q": q,
        "delta": risk,
        "lambda": corners(m)[0],
    }


NEARLY = Fraction(99, 100)
WORLD = separate(3, Fraction(4, 5), Fraction(9, 20))
SHOWS = (
    "3 devices, 1 sample each, h_k with loss Bern(4/5) on device k only, delta = 9/20: it "
    "fails w.p. 61/125 > 9/20"
)


def check(effort: Effort, mode: str = "uniform") -> Evidence:
    """Three devices."""
    return Evidence.of(Counterexample.at(Call.of(case, mode=mode), SHOWS, **WORLD))


@st.composite
def worlds(draw: st.DrawFn) -> dict[str, Any]:
    """Up to three devices with one or two samples, up to three hypotheses; delta anywhere."""
    m, count = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    loss = st.integers(0, 4).map(lambda k: Fraction(k, 4))
    tables = [[[draw(loss), draw(loss)] for _ in range(count)] for _ in range(m)]
    weights = draw(st.lists(st.integers(0, 4), min_size=m, max_size=m).filter(any))
    return {
        "tables": tables,
        "chance": [Fraction(draw(st.integers(1, 19)), 20) for _ in range(m)],
        "n": [draw(st.integers(1, 2)) for _ in range(m)],
        "q": draw(st.integers(0, 2)),
        "delta": Fraction(draw(st.integers(1, 19)), 20),
        "lambda": [Fraction(w, sum(weights)) for w in weights],
    }


def check_repaired(
    effort: Effort,
    mode: str = "one",
    factor: Fraction = Fraction(1),
    bare: bool = False,
    proof: str = ONE_MIXTURE,
) -> Evidence:
    """McDiarmid's inequality; drawn worlds, and some in which little is to spare."""
    statement = Call.of(case, mode=mode, factor=factor, bare=bare)
    tight = [
        separate(1, Fraction(1, 3), Fraction(1, 2)),
        separate(1, Fraction(11, 20), Fraction(11, 20)),
        WORLD,
    ]
    near = [Witness.at(statement, "little is to spare", **w) for w in (*tight, many())]
    rare = {"coins": 100_000, "delta": Fraction(1, 10**103)}
    near.append(Witness.at(Call.of(coins, factor=factor), "fair coins", **rare))
    run = explore(statement, Call.of(worlds), effort, tolerance=0.0, examples=effort.pick(60, 2000))
    return Evidence.of(KernelProof.of("mcdiarmid.v", DRAWS + proof, run, *near, axioms=CLASSICAL))


def many() -> dict[str, Any]:
    """One device, two samples, two opposite hypotheses: one of them always looks better than it
    is.
    """
    tables = [[[Fraction(0), Fraction(1)], [Fraction(1), Fraction(0)]]]
    half = Fraction(1, 2)
    return {
        "tables": tables,
        "chance": [half],
        "n": [1],
        "q": 1,
        "delta": Fraction(9, 10),
        "lambda": [Fraction(1)],
    }


PRINTED = (
    r"for any $\delta > 0$, with probability at least $1 - \delta$, the following holds for any "
    r"$\lambda \in \Lambda, h \in H$: $L_{\lambda}(h) \le A_q(\lambda)\tilde{L}_q(h) + "
    r"\mathbb{E}[\max_{h\in H} L_{\lambda}(h) - \hat{L}_{\lambda}(h)] + M\sqrt{\sum_{k=1}^m "
    r"\frac{\lambda_k^2}{2n_k}\log\frac{1}{\delta}}$, $A_q(\lambda) = \|\lambda\|_p$"
)
PRINTED_11 = (
    r"with probability at least $1 - \delta$, the following holds for any $\lambda \in \Lambda$, "
    r"$h \in H$: $L_{\lambda}(h) \leq \max_{\lambda \in \Lambda} (A_q(\lambda)) \tilde{L}_q(h) + "
    r"\max_{\lambda \in \Lambda} (\mathbb{E} [\max_{h\in H} L_{\lambda}(h) - "
    r"\hat{L}_{\lambda}(h)] + M\sqrt{\sum_{k=1}^m \frac{\lambda_k^2}{2n_k} \log "
    r"\frac{1}{\delta}})$"
)
HYPOTHESES = (("bounded", "losses in [0, M], M = 1"), ("risk", "0 < delta < 1"))
CLAIMS = (
    Claim(
        id="qffl/lemma-10",
        number="Lemma 10",
        line=378,
        title="Generalisation bound of q-FFL, for any mixture lambda",
        printed=PRINTED,
        statement=(
            "As printed: with probability at least $1 - \\delta$, for all $\\lambda \\in "
            "\\Lambda$ and $h \\in H$ at once."
        ),
        kind="bound",
        hypotheses=HYPOTHESES,
        scope="m = 3, n_k = 1, three hypotheses, every sample enumerated",
        expected="holds-repaired",
        check=check,
        mutants=(
            Mutant(
                "one lambda", "lambda = (1, 0, 0), chosen beforehand", partial(check, mode="one")
            ),
        ),
        reading=(
            "The title says 'for a specific lambda', the statement quantifies lambda after the "
            "probability. In the counterexample A_q(lambda) = 1 and L~_q(h_k) is the loss on "
            "device k, for every q."
        ),
        severity="theorem",
        erratum=(
            "(25) is McDiarmid's inequality for one lambda. 'For any lambda in Lambda' must come "
            "before 'with probability': the m vertices alone break the bound with a probability "
            "that tends to one as m grows. (Mohri et al. cover Lambda and pay log of the "
            "covering number.)"
        ),
    ),
    Claim(
        id="qffl/lemma-10/repaired",
        number="Lemma 10",
        line=378,
        title="Generalisation bound of q-FFL, for one mixture lambda chosen before the sample",
        printed=PRINTED,
        statement=(
            r"For each $\lambda \in \Lambda$: with probability at least $1 - \delta$ the printed "
            r"bound holds for all $h \in H$."
        ),
        kind="bound",
        hypotheses=HYPOTHESES,
        scope="finitely many h, laws of finitely many outcomes, by Hoelder's inequality; beside it "
        "every sample for m <= 3, n_k <= 2, |H| <= 3, q <= 2",
        expected="holds",
        check=check_repaired,
        mutants=(
            Mutant(
                "5 % less",
                "of the last term, squared, in the theorem that is proved",
                partial(check_repaired, proof=ONE_MIXTURE.replace("/ 2 *", "* (95 / 200) *")),
            ),
            Mutant("1 % less", "of the last term", partial(check_repaired, factor=NEARLY)),
            Mutant("half", "half of the last term", partial(check_repaired, factor=Fraction(1, 2))),
            Mutant(
                "one h", "the expected maximum over H left out", partial(check_repaired, bare=True)
            ),
            Mutant("all lambda", "the printed quantifier", partial(check_repaired, mode="uniform")),
        ),
        notes=(
            "The proof is McDiarmid's inequality (one sample moves the maximum by at most "
            "lambda_k M/n_k) and Hoelder's; the constants are right."
        ),
    ),
    Claim(
        id="qffl/theorem-11",
        number="Theorem 11",
        line=396,
        title="Generalisation bound of q-FFL, for all mixtures at once",
        printed=PRINTED_11,
        statement="As printed.",
        kind="bound",
        hypotheses=HYPOTHESES,
        scope="m = 3, n_k = 1, three hypotheses, every sample enumerated",
        expected="holds-repaired",
        check=partial(check, mode="maximum"),
        mutants=(Mutant("log(m/delta)", "delta/m in the last term", partial(check, mode="union")),),
        reading=(
            "Both maxima on the right are over the simplex. A_q and the second maximand are "
            "convex in lambda, so vertices attain them, and are what is enumerated."
        ),
        severity="theorem",
        erratum=(
            "'Directly follows from lemma 10, by taking the maximum over all lambda' uses lemma "
            "10 for all lambda at once, which is what is false. With log(m/delta) for "
            "log(1/delta) it holds: L_lambda is linear in lambda, so the vertices decide."
        ),
    ),
    Claim(
        id="qffl/theorem-11/repaired",
        number="Theorem 11",
        line=396,
        title="Generalisation bound of q-FFL, for all mixtures at once, with log(m/delta)",
        printed=PRINTED_11,
        statement=(
            r"With probability at least $1 - \delta$, for all $\lambda$ and $h$: $L_\lambda(h) "
            r"\le \tilde L_q(h) + \max_k ( E[\max_h L_k(h) - \hat L_k(h)] + "
            r"M\sqrt{\log(m/\delta)/(2n_k)} )$, as $\|e_k\|_p = 1$ is the largest norm."
        ),
        kind="bound",
        hypotheses=HYPOTHESES,
        scope="finitely many h, laws of finitely many outcomes; beside it every sample for m <= 3, "
        "n_k <= 2, |H| <= 3, q <= 2",
        expected="holds",
        check=partial(check_repaired, mode="union", proof=ALL_MIXTURES),
        mutants=(
            Mutant(
                "the whole risk",
                "for each vertex, in the theorem that is proved",
                partial(
                    check_repaired,
                    mode="union",
                    proof=ALL_MIXTURES.replace("(risk / INR K)", "risk"),
                ),
            ),
            Mutant("log(1/delta)", "the printed term", partial(check_repaired, mode="maximum")),
            Mutant(
                "1 % less", "of the last term", partial(check_repaired, mode="union", factor=NEARLY)
            ),
            Mutant(
                "half",
                "half of the last term",
                partial(check_repaired, mode="union", factor=Fraction(1, 2)),
            ),
        ),
    ),
)
