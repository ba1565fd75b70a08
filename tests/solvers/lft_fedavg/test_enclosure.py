"""LFT+FedAvg's smallest disparity for two clients, enclosed: solver, budgets, false claims."""

from functools import cache

import numpy as np
import pytest
from flint import arb, ctx

import fairfl as ff
from fairfl.solvers.densities.rules import RuleFamily
from fairfl.solvers.lft_ensemble.enclosure import exact_clients
from fairfl.solvers.lft_fedavg import enclosure
from fairfl.solvers.lft_fedavg.enclosure import BITS, BallRules, enclose_two_clients, exclude
from fairfl.solvers.solution import CertificationError

SHARES = ff.Federation.normal([[3, 5], [1, -1]], q=[0.3, 0.7])
ETAS = [ff.Logistic(), ff.Logistic(2.0, 1.0)]
SPREADS = ff.Federation.normal([[3, 5], [1, -1]], [[1, 0.4], [2, 1]], [0.2, 0.8], [1, 3], ETAS)
ALONE = ff.Federation.normal([[3, 5], [-2, -1]], q=[0.6, 0.0])
FAIR = ff.Federation.normal([[3, 5], [1, -1]], q=[0.5, 0.4])
ALL = {"shares": SHARES, "spreads": SPREADS, "alone": ALONE, "fair": FAIR}


@cache
def smallest(name: str) -> ff.MinDisparity:
    return ff.min_disparity(ALL[name], "lft_fedavg")


@pytest.mark.parametrize("name", ALL)
def test_balls_are_narrow_and_hold_the_float_values(name: str) -> None:
    fed = ALL[name]
    lam = np.random.default_rng(0).normal(0, 0.2, (4, 2)) * fed.defined
    floats, rules = RuleFamily.of(fed).at(lam), BallRules(exact_clients(fed))
    with ctx.workprec(BITS):
        for row, values, md in zip(lam, floats.values, floats.md, strict=True):
            local, pooled = rules.at(tuple(row))
            for ball, value in zip([*local, pooled], [*values, md], strict=True):
                assert ball.rad() <= 1e-7
                assert ball.overlaps(arb(value, 1e-11))


def check(fed: ff.Federation, disparity: float, lower: float, upper: float, width: float) -> None:
    assert lower <= disparity <= upper + 1e-10
    assert 0 <= upper - lower <= 1.000001 * width
    rng = np.random.default_rng(1)
    for eps in rng.random((12, 2)) * rng.integers(0, 2, (12, 2)):
        assert ff.solve(fed, "lft_fedavg", eps).disparity >= lower


@pytest.mark.parametrize("name", ALL)
@pytest.mark.every(3)
def test_the_smallest_disparity_is_enclosed(name: str) -> None:
    m = smallest(name)
    assert m.multipliers is not None
    lower, upper = enclose_two_clients(ALL[name], m.multipliers, 1e-3)
    check(ALL[name], m.disparity, lower, upper, 1e-3)
    assert (lower > 0.2) == (name != "fair")


def test_certified_to_a_millionth() -> None:
    m = ff.min_disparity(SHARES, "lft_fedavg", certify=True)
    assert m.lower is not None and m.upper is not None
    check(SHARES, m.disparity, m.lower, m.upper, 1e-6)


def test_what_is_attained_is_not_excluded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enclosure, "BOXES", 40)
    for fed, lower in ((SHARES, 0.20271879), (FAIR, 1e-6)):
        with ctx.workprec(BITS), pytest.raises(CertificationError, match="no proof"):
            rules = BallRules(exact_clients(fed))
            exclude(rules, enclosure._reach(fed, rules), lower)


def test_a_rule_that_breaks_the_signs_attains_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enclosure, "MARGINS", (1e-20,))
    m = smallest("shares")
    with pytest.raises(CertificationError, match="no rule certainly attains"):
        enclose_two_clients(SHARES, m.multipliers)  # type: ignore[arg-type]


def test_twins_are_not_enclosed() -> None:
    twins = ff.Federation.normal([[0, 2], [0, 2]], q=[0.4, 0.4])
    with ctx.workprec(BITS), pytest.raises(CertificationError, match="twin clients"):
        enclosure._reach(twins, BallRules(exact_clients(twins)))
