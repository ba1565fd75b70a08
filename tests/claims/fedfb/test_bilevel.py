"""Slopes of FairBatch's outer objective against differences of its definition."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairfl.claims.fedfb.bilevel import instances, outer, slope

NOTIONS = ("dp", "eo", "eodds", "cp")


def problem_of(instance):
    return outer(*(instance[name] for name in ("notion", "groups", "shares", "constants")))


def objective(instance, lam):
    """Σ_j G_j(w_λ)², w_λ by minimising the weighted quadratic."""
    problem = problem_of(instance)
    weight = problem.weights(lam)
    loss = instance["losses"]
    w = sum(weight[k] * loss[k][1] for k in weight) / sum(weight[k] * loss[k][0] for k in weight)
    value = {k: h * w * w / 2 - b * w + r for k, (h, b, r) in loss.items()}
    return sum((c + sum(s * value[k] for k, s in parts.items())) ** 2 for c, parts in problem.gap)


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("groups", [2, 3])
@given(data=st.data())
@settings(max_examples=20)
def test_the_slope_is_the_limit_of_differences(notion, groups, data):
    instance = data.draw(instances(notion, groups))
    exact = slope(problem_of(instance), instance["losses"], instance["lam"])
    step = Fraction(1, 10**12)
    ahead, behind = (
        [v + s * step * m for v, m in zip(instance["lam"], exact["mu"], strict=True)]
        for s in (1, -1)
    )
    difference = (objective(instance, ahead) - objective(instance, behind)) / (2 * step)
    assert abs(difference - exact["slope"]) <= Fraction(1, 10**9) * (1 + abs(exact["slope"]))


@pytest.mark.parametrize("notion", NOTIONS)
def test_weights_of_the_losses_sum_to_what_is_shared_out(notion):
    problem = outer(notion, 3, [Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)], [0, 0])
    total = sum(problem.weights([Fraction(1, 7)] * len(problem.direction)).values())
    # dp: Σ_a 2 n_a/n; eo and eodds: n_0/n + n_1/n of the labels; cp: 1
    assert total == {"dp": 2, "eo": Fraction(1, 2), "eodds": Fraction(1, 2), "cp": 1}[notion]
