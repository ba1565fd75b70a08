"""Theorem 3.3: convergence of PropFair, by theorem A.1 for the composed losses: its errors."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

from flint import arb

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.exact import ball
from fairfl.claims.propfair.cosines import biased_psi

PIECES = 700
"""Intervals that cover one period, for the lower bound of :func:`after_a_step`."""


def smoothness(M: Any, L: Any, L0: Any) -> Any:
    """L~ as printed."""
    return 4 / M**2 * (Fraction(3, 2) * M * L + L0**2)


# -- the crowd: partial participation


def after_a_step(theta: arb, eta: Fraction) -> arb:
    """E pi'(theta')^2 after client 1's step from theta, M = 4; its four samples 1 + cos/2 +- {cos,
    sin}/2.

    pi' = f'/(M - f) with f = 1 + cos(theta)/2, the same for all clients; the step uses the batch's
    own loss.
    """
    half, total = arb(1) / 2, arb(0)
    for sign, shape in product((-1, 1), ("cos", "sin")):
        c, s = theta.cos(), theta.sin()
        loss = 1 + half * c + sign * half * (c if shape == "cos" else s)
        slope = -half * s + sign * half * (-s if shape == "cos" else c)
        moved = theta - ball(eta) * slope / (4 - loss)
        c, s = moved.cos(), moved.sin()
        total += (-half * s / (4 - (1 + half * c))) ** 2 / 4
    return total


def crowded(instance: dict[str, Any], kind: str = "printed", noisy: bool = True) -> Case:
    """Theorem 3.3 for n clients of the loss 1 + cos(theta)/2, noise at client 1, which is drawn
    alone w.p. ``chance``.

    M = 4, L = L_0 = 1/2, sigma_g = sigma_0,g = 0; client 1: sigma_l^2 = sigma_0,l^2 = 1/8. From t =
    1 on, E pi'^2 is at least chance times the least of :func:`after_a_step`; at t = 0 it is
    pi'(theta_0)^2. K_i = 1.
    """
    n, T, chance = instance["n"], instance["T"], instance["chance"]
    M, L, L0, eighth = Fraction(4), Fraction(1, 2), Fraction(1, 2), Fraction(1, 8)
    eta = Fraction(1, 5)
    e2, c = arb(1).exp() - 2, 1 if kind == "direct" else 9
    noise = Fraction(8) / M**4 * (c * M**2 * eighth + 4 * L0**2 * eighth) if noisy else Fraction(0)
    if kind == "printed":
        # (1/n^2) n times the mean
        psi = ball(eta / 2) * ball(noise / n) * (1 + 2 * e2 * ball(eta * L) ** 2)
    elif kind == "max":  # the largest
        psi = ball(eta / 2 * noise)
    else:  # the largest, biased gradients, L~ with 1/2 for 3/2
        tilde = ball(2 * L / M + 4 * L0**2 / M**2)
        psi = sum(biased_psi(ball(eta), tilde, 1, ball(noise), 0, e2), arb(0))
    start = ball(instance["theta"])
    first = (start.sin() / 2 / (3 - start.cos() / 2)) ** 2
    # pi_0 - pi*, pi* = -log(7/2) at theta = pi
    gap = (arb(7) / 2).log() - (3 - start.cos() / 2).log()
    right = 6 / ball(eta) * (gap / T + psi)
    width = arb.pi() / PIECES
    pieces = [after_a_step(arb(2 * k + 1) * width + arb(0, 1) * width, eta) for k in range(PIECES)]
    lower = min(float(piece.lower()) for piece in pieces)
    left = ball(chance) * ball(Fraction(lower))
    left = left if left < first else first
    limit = 1 / (6 * smoothness(M, L, L0))
    return Case(
        (Relation(left, "<=", right, "a lower bound of min_t E||grad pi||^2, and the bound"),),
        {
            "range": 1 + 1 <= M / 2,  # the samples' losses are within 1 of 1
            "step size": eta <= limit and bool(ball(eta * L) ** 2 * 24 * e2 <= 1),
            "participation": 0 < chance < 1,
        },
    )


def check(effort: Effort, kind: str = "printed", n: int = 10**7) -> Evidence:
    """The printed bound at the crowd."""
    shows = (
        "10^7 clients 1 + cos(theta)/2, a noisy one drawn alone 9 times in 10: the bound is "
        "below what it keeps"
    )
    return Evidence.of(Counterexample.at(Call.of(crowded, kind=kind), shows, **{**CROWD, "n": n}))


# -- the steps of the proof


def unbiased(instance: dict[str, Any], composed: bool = True) -> Case:
    """E grad(phi o l_S) = grad(phi o f_i), over equally likely batches (loss, slope)."""
    M, batches = instance["M"], instance["batches"]
    count = len(batches)
    loss = sum((Fraction(b[0]) for b in batches), Fraction(0)) / count
    slope = sum((Fraction(b[1]) for b in batches), Fraction(0)) / count
    mean = sum((b[1] / (M - b[0] if composed else 1) for b in batches), Fraction(0)) / count
    exact = slope / (M - loss if composed else 1)
    return Case(
        (Relation(mean, "==", exact, "mean of the batches"),),
        {"range": all(0 <= b[0] <= M / 2 for b in batches)},
    )


def check_unbiased(
    effort: Effort, composed: bool = True, second: Fraction = Fraction(1)
) -> Evidence:
    """Two batches."""
    shows = (
        "M = 4, batches of loss 0 and 1 with slopes 1 and 0: the mean is 1/8, grad(phi o f) is 1/7"
    )
    batches = [[Fraction(0), Fraction(1)], [second, Fraction(0)]]
    return Evidence.of(
        Counterexample.at(
            Call.of(unbiased, composed=composed), shows, M=Fraction(4), batches=batches
        )
    )


def condition(instance: dict[str, Any], constant: str = "L") -> Case:
    """(A.39) for the composed losses: 6 (e-2) L~^2 (sum p_i^2) (sum K_i^4) eta^2 <= 1/4 at the
    largest eta of (8).

    One client; ``constant`` is the one in (8)'s second condition.
    """
    M, L, L0, K = (instance[k] for k in ("M", "L", "L0", "K"))
    tilde = smoothness(M, L, L0)
    e2 = arb(1).exp() - 2
    first = 1 / (6 * ball(tilde) * K)
    second = 1 / (ball(L if constant == "L" else tilde) * K**2 * (24 * e2).sqrt())
    eta = first if first < second else second
    left = 6 * e2 * (ball(tilde) * eta) ** 2 * K**4
    quarter = Fraction(1, 4) + (0 if constant == "L" else Fraction(1, 10**12))
    return Case(
        (Relation(left, "<=", ball(quarter), "(A.39)"),),
        {"range": L0**2 <= L * M / 2, "steps": K >= 1},
    )


def check_condition(effort: Effort, constant: str = "L", K: int = 10) -> Evidence:
    """A small L, as a change of the unit of the losses makes it."""
    shows = "M = 1, L = 1/10, L_0 = 1/5, K = 10: (8) allows eta with 12 for the 1/4 of (A.39)"
    data = {"M": Fraction(1), "L": Fraction(1, 10), "L0": Fraction(1, 5), "K": K}
    return Evidence.of(Counterexample.at(Call.of(condition, constant=constant), shows, **data))


CROWD = {"n": 10**7, "T": 10**8, "chance": Fraction(9, 10), "theta": Fraction(3, 2)}

PRINTED = (
    r"$\eta \leq \min \left\{ \min_{i \in [n]} \frac{1}{6\tilde{L}K_i}, \frac{1}{L} "
    r"\sqrt{\frac{1}{24(e-2)(\sum_i p_i^2)(\sum_i K_i^4)}} \right\}$: $\min_{0 \leq t \leq T-1} "
    r"\mathbb{E} \|\nabla \pi(\theta_t)\|^2 \leq \frac{12}{(11\mu - 9)\eta} \left(\frac{\pi_0 - "
    r"\pi^*}{T} + \tilde{\Psi}_\sigma \right)$, $\tilde{\Psi}_\sigma = \frac{\eta}{2} (\sum_i "
    r"p_i^2) [\sum_i K_i^2 (\tilde{\sigma}_{l,i}^2 + 2\tilde{\sigma}_g^2) + 2(e-2)\eta^2 L^2 "
    r"\sum_i K_i^3 (\tilde{\sigma}_{l,i}^2 + 6K_i \tilde{\sigma}_g^2)]$"
)
HYPOTHESES = (
    ("range", "0 <= l_S <= M/2 for every batch, everywhere (assumption 3.2); M > 0"),
    ("smooth", "each f_i L-smooth and L_0-Lipschitz (assumptions 3.1 and 3.2)"),
    ("step size", "(8)"),
    (
        "participation",
        "full, or S_t drawn from any law on non-empty subsets, independently of the noise",
    ),
)
CLAIMS = (
    Claim(
        id="propfair/theorem-3.3",
        number="Theorem 3.3",
        line=634,
        title="PropFair converges to a neighbourhood of a stationary point, full and partial "
        "participation",
        printed=PRINTED,
        statement="As printed, with the sums over all n clients and $p_i$ their shares of all "
        "the data.",
        kind="bound",
        hypotheses=HYPOTHESES,
        scope="partial participation",
        expected="holds-repaired",
        check=check,
        mutants=(
            Mutant(
                "max", "max_i c_i for (sum p_i^2) sum c_i, as repaired", partial(check, kind="max")
            ),
            Mutant("100 clients", "the same world with fewer clients", partial(check, n=100)),
        ),
        reading=(
            "As for theorem A.1: any law of S_t. The left side is bounded from below by interval "
            "arithmetic over a whole period of theta, so no simulation is involved. Full "
            "participation is propfair/theorem-3.3-full."
        ),
        severity="theorem",
        whose="reading",
        erratum=(
            "(1) Under partial participation the weights of those who take part are renormalised "
            "and so larger: average by max_i instead of (sum p_i^2) sum_i, or state that S_t is "
            "uniform and the n_i are equal. (2) The proof does not give the theorem: the batch "
            "gradient of Algorithm 1 is not unbiased for phi o f_i, which theorem A.1 needs "
            "(propfair/theorem-3.3-unbiased), and (8) has L where (A.39) needs L~ "
            "(propfair/theorem-3.3-condition). Another proof does, as the constants are wide "
            "enough (propfair/theorem-3.3-full): drop the second condition of (8) and the second "
            "sum of Psi~. (3) In Assumption 3.2 and (A.50) l_S is once a loss and once a gradient."
        ),
    ),
    Claim(
        id="propfair/theorem-3.3-unbiased",
        number="Proof of theorem 3.3, first lines",
        line=648,
        title="It suffices to determine the constants of assumption 3.1 for the composed losses",
        printed=(
            r"It suffices to determine the constants in Assumptions 3.1 after adding the "
            r"composition $\varphi \circ f_i$."
        ),
        statement=(
            r"(needed for it, as theorem A.1 supposes unbiased gradients) $E_S \nabla(\varphi "
            r"\circ \ell_S) = \nabla(\varphi \circ f_i)$, $f_i = E_S \ell_S$."
        ),
        kind="identity",
        hypotheses=(("range", "0 <= l_S <= M/2"),),
        scope="two batches",
        expected="refuted",
        check=check_unbiased,
        mutants=(
            Mutant(
                "plain",
                "the gradients themselves, not composed",
                partial(check_unbiased, composed=False),
            ),
            Mutant(
                "equal losses", "batches of equal loss", partial(check_unbiased, second=Fraction(0))
            ),
        ),
        severity="step",
        erratum=(
            "Algorithm 1 takes grad l_S / (M - l_S), a ratio of two batch means, whose mean is "
            "not grad f_i / (M - f_i). Either bound the bias (at most sigma~_l) as a further "
            "term, or estimate M - f_i by an independent batch."
        ),
    ),
    Claim(
        id="propfair/theorem-3.3-condition",
        number="Eq. (8)",
        line=638,
        title="(8) gives (A.39) for the composed losses",
        printed=(
            r"$\eta \leq \min \{ \min_i \frac{1}{6\tilde{L}K_i}, \frac{1}{L} "
            r"\sqrt{\frac{1}{24(e-2)(\sum_i p_i^2)(\sum_i K_i^4)}} \}$"
        ),
        statement=(
            r"(8) implies $6(e-2)\tilde L^2 (\sum_i p_i^2)(\sum_i K_i^4)\eta^2 \le \frac14$, "
            r"which is (A.39) with $\tilde L$."
        ),
        kind="implication",
        hypotheses=(
            ("range", "L_0^2 <= L M/2, as assumptions 3.1 and 3.2 imply"),
            ("steps", "K_i >= 1"),
        ),
        scope="one client",
        expected="refuted",
        check=check_condition,
        mutants=(
            Mutant("L~", "L~ in the second condition too", partial(check_condition, constant="L~")),
            Mutant("K = 1", "one local step", partial(check_condition, K=1)),
        ),
        severity="step",
        erratum=(
            "Theorem A.1 is applied to phi o f_i, which is L~-smooth: for this proof L must be L~ "
            "in the second condition and in Psi~. (With L neither has a unit that fits: counting "
            "losses and M in cents changes L by 100, and Algorithm 1 and L~ not at all.) Neither "
            "is needed (propfair/theorem-3.3-full): leave both out."
        ),
        whose="implied",
    ),
)
