"""The best rules of people drawn anew: the bootstrap of what no derivative tells.

The disparity of the best rule jumps when η passes a level's costs. Where levels tie, the best value
is that of rules which chance has chosen.
"""

from typing import NamedTuple

import numpy as np

from fairfl._support.checks import Array
from fairfl.reports.question import Question
from fairfl.reports.sampling import LEVEL, NORMAL, fullest, judged, one_label, refitted
from fairfl.sims.data.altered_counts import nonnegative, rounded
from fairfl.solvers.sensitivity import rules_at
from fairfl.theory.populations.calibration import Counted
from fairfl.theory.populations.notions import Rates, disparity

BOOTSTRAPS = 100
"""Default number of bootstraps."""
FEWEST, MOST_BOOTSTRAPS = 20, 100_000
"""Intervals are not made of fewer, nor of more."""
UNSURE = 0.005
"""Where at least this share of the draws decides otherwise, a decision is open."""
MOST_TIED = 2
"""Levels of a group at which decisions are open and may all be ties. That more of them are is not
plausible; chance in the draws counts them.
"""
TRIES = 200
"""Draws of a client's people."""


class Bootstrap(NamedTuple):
    """Of the best rules of people drawn anew the disparities (B,); the disparity ``tied`` of rules
    that decide as nearly all of them do where these agree (inf where more than ``MOST_TIED`` levels
    of a group are open); by how much the best value is too good if open levels are ties, and by how
    much its variance is less then.
    """

    disparities: Array
    tied: float
    optimism: float
    excess_variance: float


def resampled(counts: Array, rng: np.random.Generator) -> Array:
    """As many people of every client (I, A, 2, n), drawn from its own with replacement.

    The clients are what they are, and so is their size; who came to them is chance, and so are the
    shares of their groups. A client's draw is repeated until it has people of all groups that the
    client has; where ``TRIES`` draws do not (many groups of one person), its groups keep their
    sizes.
    """
    return np.stack([_resampled(client, rng) for client in counts])


def _resampled(client: Array, rng: np.random.Generator) -> Array:
    has_people = client.sum(axis=(1, 2)) > 0
    for _ in range(TRIES):
        draw = _redrawn(client, rng)
        if ((draw.sum(axis=(1, 2)) > 0) == has_people).all():
            return draw
    groups = zip(client, has_people, strict=True)
    return np.stack([_redrawn(group, rng) if filled else group for group, filled in groups])


def _redrawn(people: Array, rng: np.random.Generator) -> Array:
    size = int(people.sum())
    return rng.multinomial(size, people.ravel() / size).reshape(people.shape).astype(np.float64)


def interval(estimate: Array, draws: Array) -> Array:
    """Approximate 95 % intervals (..., 2), within [0, 1], of shares, from ``draws`` (B, ...).

    From the lower end to the higher of two intervals: the draws' quantiles, and estimate - bias ±
    1.96 sd, bias and sd being those of the draws about the estimate. What is best on a sample is
    better there than in truth, and on a sample of the sample it is better once more: quantiles are
    biased twice; the other interval removes the bias, but not all of it, and where there was
    little, too much.
    """
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    middle, half = 2.0 * estimate - draws.mean(axis=0), NORMAL * draws.std(axis=0, ddof=1)
    ends = np.minimum(low, middle - half), np.maximum(high, middle + half)
    return np.clip(np.stack(ends, axis=-1), 0.0, 1.0)


def bootstrapped(sample: Counted, question: Question, draws: int, seed: int) -> Bootstrap:
    """The most useful rules of people drawn anew, from what withheld counts can be, and with noise
    as theirs. Of equally useful rules the least disparate is best.

    No draw has a tie where η of some levels is that at which it does not matter whom a rule
    accepts: each decides at random there, and what decides best is worth more on a sample, by the
    mean of a half-normal variable for each such level.
    """
    rng, out, noisy = np.random.default_rng(seed), [], sample.noise
    rules, gains = [], []
    for _ in range(draws):
        counts = sample.effective
        if sample.ranges is not None:
            counts = fullest(sample, rng.normal(size=counts.shape))
        counts = sample.weigh(resampled(counts, rng))
        if noisy is not None:
            clients = zip(counts, noisy, strict=True)
            counts = np.stack([_noised(client, *noise, rng) for client, noise in clients])
        if one_label(counts, question):  # it accepts everybody, or nobody
            out.append(0.0)
            continue
        fed = refitted(sample, counts)
        task = question.task(fed, "cfl")
        gains.append(fed.pooled.gain(task.costs, task.sees) + np.zeros((counts.shape[1], 1)))
        rule = (gains[-1] > 0) * 1.0
        if task.monotone:
            rule = rules_at(fed, task, np.array([np.inf]))
        out.append(judged(fed.pooled, rule, task)[1])
        rules.append(rule)
    if not rules:
        return Bootstrap(np.array(out), 0.0, 0.0, 0.0)
    accepted_by, law = np.mean(rules, axis=0), refitted(sample, sample.counts).pooled
    certain, possible = accepted_by > 1.0 - UNSURE, accepted_by >= UNSURE
    is_open, half = possible & ~certain, np.std(gains, axis=0) / 2.0
    if question.sees == "x":
        half = half / len(half)
    half = np.sort(np.where(is_open, half, 0.0).reshape(-1, half.shape[-1]))[:, -MOST_TIED:]
    optimism, excess = np.sqrt(2.0 / np.pi) * half.sum(), (2.0 / np.pi) * (half**2).sum()
    tied = np.inf
    if is_open.sum(axis=-1).max() <= MOST_TIED:
        rates = Rates.of(question.notion, law.people, law.eta)
        rises = rates.linear > 0
        ends = (certain, possible), (possible, certain)
        low, high = (rates.of_rule(np.where(rises, *end))[0] for end in ends)
        level = (np.fmax.reduce(low, axis=-1) + np.fmin.reduce(high, axis=-1)) / 2
        within, mass = np.clip(level[:, None], low, high), rates.mass.sum(axis=1)
        tied = float(np.nan_to_num(disparity(within, mass, question.difference)))
    return Bootstrap(np.array(out), tied, float(optimism), float(excess))


def _noised(client: Array, epsilon: float, base: float, rng: np.random.Generator) -> Array:
    if not np.isfinite(epsilon):
        multiples = client if base == 1 else rounded(client, base)
        return multiples if multiples.any() else client
    up, down = rng.geometric(-np.expm1(-epsilon), (2, *client.shape))
    noisy = client.astype(np.int64) + up - down
    return nonnegative(noisy).astype(float) if noisy.sum() > 0 else client
