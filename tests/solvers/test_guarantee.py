"""Rules with a guarantee, held against the population that their people are drawn from."""

from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

import fairfl as ff
from fairfl.solvers import guarantee
from fairfl.solvers.guarantee import Promise, guaranteed, path_of
from fairfl.solvers.task import Task
from fairfl.theory.populations.calibration import on_fewer_levels
from fairfl.theory.populations.count_people import checked_counts

LEVELS = np.arange(6.0)


def population(shift, groups=2, clients=1):
    """P(i, a, y, x)."""
    mass = np.exp(-0.3 * (LEVELS - 2.5 - shift * np.arange(groups)[:, None]) ** 2)
    mass = mass / mass.sum(axis=1, keepdims=True)
    eta = np.stack([0.2 + 0.6 * LEVELS / 5.0, 0.1 + 0.7 * LEVELS / 5.0, LEVELS / 5.0])[:groups]
    table = np.stack([mass * (1.0 - eta), mass * eta], axis=1)
    by_client = np.stack([np.roll(table, i, axis=0) for i in range(clients)])
    return by_client / by_client.sum()


def disparity(people, rule, notion):
    """By its definition, of a rule (A, n) and P(a, y, x)."""
    gaps = []
    accepted, right = people * rule[:, None], people * np.stack([1.0 - rule, rule], axis=1)
    for served, among in {
        "dp": [(accepted, people)],
        "eo": [(accepted[:, 1], people[:, 1])],
        "eodds": [(accepted[:, 1], people[:, 1]), (accepted[:, 0], people[:, 0])],
        "accuracy_parity": [(right, people)],
    }[notion]:
        rates = [s.sum() / size.sum() for s, size in zip(served, among, strict=True)]
        gaps.append(max(rates) - min(rates))
    return max(gaps)


CASES = [
    # scheme, notion, groups, clients, people, eps, sees, of how many tables a rule is found, and
    # how far the testers' population is from the makers'
    ("cfl", "dp", 2, 1, 4_000, 0.05, "xa", 0.95, (0.0, 0.4)),
    ("cfl", "dp", 2, 1, 4_000, 0.05, "x", 0.95, (0.0,)),
    ("cfl", "eo", 2, 1, 6_000, 0.06, "xa", 0.8, (0.4,)),
    ("cfl", "accuracy_parity", 2, 1, 4_000, 0.05, "xa", 0.9, (0.0,)),
    ("cfl", "eodds", 2, 1, 20_000, 0.06, "xa", 0.9, (0.0,)),
    ("cfl", "dp", 3, 1, 20_000, 0.06, "xa", 0.9, (0.0,)),
    ("cfl", "dp", 3, 1, 30_000, 0.1, "x", 0.5, (0.0,)),
    ("lft_fedavg", "dp", 2, 2, 20_000, 0.08, "xa", 0.5, (0.0,)),
    ("lft_ensemble", "dp", 2, 2, 6_000, 0.05, "xa", 0.9, (0.0,)),
    ("lft_fedavg_common", "dp", 2, 3, 4_000, 0.05, "xa", 0.95, (0.0,)),
    ("cfl", "dp", 2, 1, 800, 0.02, "xa", 0.0, (0.0,)),
]


@pytest.mark.parametrize(
    ("scheme", "notion", "groups", "clients", "n", "eps", "sees", "share", "moved"),
    [(*case, moved) for *case, shifts in CASES for moved in shifts],
)
def test_rules_keep_their_limit_in_the_population(
    scheme, notion, groups, clients, n, eps, sees, share, moved, monkeypatch
):
    """Where testers are from another population than makers too, for the guarantee is of theirs; a
    budget of local training limits each client, or at common budgets all people. The makers' family
    of rules is solved for once, and several tables of testers test it.
    """
    rng, found, right, tables = np.random.default_rng(1), [], [], 4 if n >= 20_000 else 6
    truth, others = population(0.5 + moved, groups, clients), population(0.5, groups, clients)
    by_client, base = scheme == "lft_fedavg", scheme.removesuffix("_common")
    sizes = (np.inf, [eps] * clients) if by_client else (eps, [np.inf] * clients)
    monkeypatch.setattr(guarantee, "family", once(guarantee.family))
    made = rng.multinomial(n, others.ravel()).reshape(truth.shape).astype(float)
    task = {"notion": notion, "sees": sees}
    name = Task.of(ff.Federation.from_counts(made, LEVELS), base, **task).notion
    promise = Promise(name, sees, np.append(*sizes), 0.95)
    part = promise.share_of_testers(made)
    made = rng.binomial(made.astype(int), 1.0 - part).astype(float)
    people = checked_counts(made, LEVELS, "group", None)
    posed = Task.of(ff.Federation.of_people(people, warn=False), base, **task)
    path = np.zeros((1, 1 if scheme == "cfl" else clients))
    if base == "lft_fedavg":
        path = path_of(np.full(clients, eps))
    for _ in range(tables):
        tested = rng.multinomial(n * part, truth.ravel()).reshape(truth.shape).astype(float)
        out = guaranteed(people, posed, path, promise, tested)
        assert out.people == tested.sum()
        if out.rule is None:
            assert moved or out.sufficient > 0.5 * n
            continue
        rule = out.rule.on(LEVELS)
        laws = truth if by_client else [truth.sum(axis=0)]
        found.append(max(disparity(law, rule, notion) for law in laws))
        right.append((truth * np.stack([1.0 - rule, rule], axis=1)).sum())
    assert sum(np.array(found) > eps) <= tables // 4  # more are above by chance once in 70
    assert moved or (len(found) >= share * tables - 1 if share else not found)
    # not nearly a constant, which is right in 0.5
    assert not by_client or np.mean(right) > 0.525


def test_paths_lead_from_zero_to_the_budgets_that_limit():
    path = path_of(np.array([0.5, 1.0, np.inf]))
    assert path[[0, -1]].tolist() == [[0.0, 1.0, np.inf], [0.5, 1.0, np.inf]]


def once(function):
    """A function that answers as at its first call: what it is of does not change in a test."""
    values = []

    def first(*arguments):
        return values[0] if values else values.append(function(*arguments)) or values[0]

    return first


@pytest.mark.parametrize(("share", "limit"), [(1.0, 0.39), (0.6, 0.22)])
def test_of_no_population_a_rule_above_the_limit_is_likelier_than_promised(
    share, limit, monkeypatch
):
    """By all counts of testers, without sampling, whatever the chances of level 1 in two groups.
    A rule accepts of a group nobody, those of level 1, or all; of a share of the decisions, and
    nobody of the others.
    """
    people, rules = (24, 14), [*product([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0]], repeat=2)]
    table, count = np.array([*rules, *share * np.array(rules)]), len(rules)
    decided, mixed_from = np.repeat([1.0, share], count), np.tile(np.arange(count), 2)
    monkeypatch.setattr(guarantee, "family", lambda *_: (table, decided, mixed_from))
    monkeypatch.setattr(guarantee, "difference_p_value", cache(guarantee.difference_p_value))
    made = np.array([[[[8.0, 2.0], [2.0, 8.0]], [[6.0, 3.0], [1.0, 9.0]]]])
    makers = checked_counts(made, LEVELS[:2], "shared", None)
    fed = ff.Federation.of_people(makers, warn=False)
    task = Task.of(fed, "cfl", notion="dp", sees="xa")
    promise = Promise(task.notion, "xa", np.array([limit, np.inf]), 0.5)
    chances = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, 41)] * 2), axis=-1)
    above = np.zeros(chances.shape[:-1])
    for counts in product(*(range(n + 1) for n in people)):
        tested = np.zeros(made.shape)
        tested[0, :, 0] = np.stack([np.subtract(people, counts), counts], axis=1)
        out = guaranteed(makers, task, np.zeros((1, 1)), promise, tested)
        if out.rule is not None:
            zero, one = out.rule.on(LEVELS[:2]).T
            rates = zero + (one - zero) * chances
            probability = binom.pmf(counts, people, chances).prod(axis=-1)
            above += probability * (np.ptp(rates, axis=-1) > limit + 1e-12)
    assert 0.05 < above.max() <= 0.5


def test_sites_that_differ_in_opposite_directions_have_a_rule_of_few_levels():
    """Of 60 levels none was found: rules kept their budgets by what the makers had by chance."""
    z = np.linspace(-2.5, 2.5, 60)
    mean = np.array([[-0.4, 0.4], [0.4, -0.2]])
    mass, eta = np.exp(-((z - mean[..., None]) ** 2) / 2.0), 1.0 / (1.0 + np.exp(-1.5 * z))
    mass /= mass.sum(axis=-1, keepdims=True)
    truth, found = np.stack([mass * (1.0 - eta), mass * eta], axis=2) / 4.0, 0
    promise = Promise("demographic_parity", "xa", np.array([np.inf, 0.05, 0.05]), 0.95)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        drawn = rng.multinomial(20_000, truth.ravel()).reshape(truth.shape)
        tested = rng.binomial(drawn, 2 / 3).astype(float)
        people = checked_counts(drawn - tested, z, "shared", None)
        fewer, merged = on_fewer_levels(people, tested)
        assert 4 <= fewer.points.size <= 20
        assert np.array_equal(merged.sum(axis=-1), tested.sum(axis=-1))
        assert np.array_equal(fewer.counts.sum(axis=-1), people.counts.sum(axis=-1))
        assert np.array_equal(fewer.level(z), np.searchsorted(fewer.points, z, "right") - 1)
        fed = ff.Federation.of_people(people, warn=False)
        path = path_of(np.full(2, 0.05))
        rule = guaranteed(people, Task.of(fed, "lft_fedavg"), path, promise, tested).rule
        found += rule is not None
        if rule is not None:
            assert max(disparity(law, rule.on(z), "dp") for law in truth) <= 0.05
    assert found >= 2
    names = replace(people, names=tuple(map(str, z)))
    assert on_fewer_levels(names, tested)[0] is names
