"""Dynamic participants: benefits, fairness, GB and LS by their definitions, loop by loop."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl.theory.measures import dynamic

NAN = np.nan


@st.composite
def trajectories(draw, min_groups=1):
    """(losses (T, S), joins), in eighths so that ties happen; garbage before joining."""
    joins = sorted(draw(st.sets(st.integers(0, 9), min_size=min_groups, max_size=4)))
    times = joins[-1] + draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    losses = rng.integers(0, 16, (times, len(joins))) / 8
    losses[np.arange(times)[:, None] < np.array(joins)] = draw(st.sampled_from([NAN, 99.0, np.inf]))
    return losses, np.array(joins)


def slow_benefit(losses, joins, i, t):
    return losses[joins[i], i] - losses[t, i]


@given(case=trajectories())
def test_benefits_are_the_definition(case):
    losses, joins = case
    gain = dynamic.benefit(losses, joins)
    for t, i in np.ndindex(losses.shape):
        if t < joins[i]:
            assert np.isnan(gain[t, i])
        else:
            assert gain[t, i] == slow_benefit(losses, joins, i, t)


@given(case=trajectories(min_groups=2), data=st.data())
def test_fairness_is_the_definition(case, data):
    losses, joins = case
    reference = losses.copy()
    reference[joins[0] + 1 :] = data.draw(st.sampled_from([1.0, 0.5])) * reference[joins[0] + 1 :]
    S, ours, relative = range(len(joins)), [], []
    for t in range(len(losses)):
        pairs = [(i, j) for i in S for j in S if joins[i] < joins[j] < t]
        gaps, theirs = (
            [slow_benefit(f, joins, i, t) - slow_benefit(f, joins, j, t) for i, j in pairs]
            for f in (losses, reference)
        )
        ours.append(min(gaps, default=NAN))
        relative.append(min((a - b for a, b in zip(gaps, theirs, strict=True)), default=NAN))
    np.testing.assert_array_equal(dynamic.fairness_margin(losses, joins), ours)
    np.testing.assert_array_equal(dynamic.relative_margin(losses, reference, joins), relative)


@given(case=trajectories())
def test_group_benefit_is_what_is_printed(case):
    losses, joins = case
    for form in ("loss", "benefit"):
        measured = dynamic.group_benefit(losses, joins, form)
        for t in range(len(losses)):
            running = [i for i in range(len(joins)) if joins[i] <= t]
            if not running:
                assert np.isnan(measured[t])
                continue
            if form == "loss":  # (9)
                gaps = [
                    losses[t, j] - losses[t, i] for i, j in zip(running, running[1:], strict=False)
                ]
            else:  # (20)
                gain = [slow_benefit(losses, joins, i, t) for i in running]
                gaps = [a - b for a, b in zip(gain, gain[1:], strict=False)]
            assert measured[t] == pytest.approx(
                np.mean(np.exp(gaps)) - 1 if gaps else 0.0, abs=1e-13
            )


@given(case=trajectories(), data=st.data())
def test_within_group_spread_is_what_is_printed(case, data):
    _, joins = case
    S, times = len(joins), len(case[0])
    sizes = [data.draw(st.integers(1, 3)) for _ in range(S)]
    groups = np.random.default_rng(1).permutation(np.repeat(np.arange(S), sizes))
    f = np.random.default_rng(2).random((times, len(groups)))
    f[np.arange(times)[:, None] < joins[groups]] = data.draw(st.sampled_from([NAN, np.inf]))
    means = dynamic.group_losses(np.where(np.isfinite(f), f, NAN), groups)
    measured = dynamic.within_group_std(f, groups, joins)
    spread = dynamic.group_spread(f, groups, joins)
    for t in range(times):
        running = [i for i in range(S) if joins[i] <= t]
        roots = []
        for i in running:
            members = [k for k in range(len(groups)) if groups[k] == i]
            assert means[t, i] == pytest.approx(sum(f[t, k] for k in members) / len(members))
            roots.append(np.sqrt(sum((f[t, k] - means[t, i]) ** 2 / len(members) for k in members)))
            assert spread[t, i] == pytest.approx(roots[-1], abs=1e-15)
        assert np.isnan(spread[t]).sum() == S - len(running)
        expected = np.mean(roots) if roots else NAN  # (19)
        assert measured[t] == pytest.approx(0.0 if len(running) == 1 else expected, nan_ok=True)
    means = dynamic.group_losses([[1.0, 3.0, 10.0], [2.0, 2.0, 4.0]], [0, 0, 1], [1.0, 3.0, 50.0])
    assert means.tolist() == [[2.5, 10.0], [2.0, 4.0]]
