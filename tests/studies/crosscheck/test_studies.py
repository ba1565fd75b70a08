"""The predictions: what holds as it is, and planted faults that turn each verdict."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

from fairfl.sims.data.federated.population import sample
from fairfl.sims.engine import Computing, Logistic, Parts, Replicate, Training, as_floats, simulate
from fairfl.sims.group_fairness import FairBatch, FedFB, LocalFairBatch
from fairfl.sims.group_fairness.lft import MODELS
from fairfl.studies.crosscheck.population.learned_rules import Performance, learned
from fairfl.studies.crosscheck.population.worlds import by_name
from fairfl.studies.crosscheck.practice import (
    ALPHA,
    CFL,
    DECAY,
    ENSEMBLE,
    FEDFB,
    LEARNERS,
    LFT_AVG,
    LR,
    MOMENTUM,
    Practice,
    aims_of,
    even_sample,
    featured,
)
from fairfl.studies.crosscheck.prediction import (
    ONE_STEP,
    SAMPLED,
    TRAINED,
    Interval,
    causes,
    hard_verdict,
    limit_verdict,
)
from fairfl.studies.crosscheck.studies import dual_weights as weights
from fairfl.studies.crosscheck.studies import dynamic_bounds as dynamic
from fairfl.studies.crosscheck.studies import fedfb, reached
from fairfl.studies.crosscheck.studies.all_studies import studies
from fairfl.studies.crosscheck.study import series
from fairfl.studies.frames import among, floats
from fairfl.studies.papers.fedfb.data import pooled
from fairfl.theory.populations.classifiers import Classifier

ENSEMBLE_OPTIMUM = reached.ENSEMBLE_OPTIMUM


def verdict(verdicts, name):
    return next(row for row in verdicts if row.name == name)


def measured(study, cases, seeds=2):
    return pd.concat(
        [study.rows(case, seeds).assign(case=case) for case in cases], ignore_index=True
    )


def alone(scheme, notion, parts, budget):
    """The engine's own algorithm on one sample: models (members, size)."""
    rule = FairBatch(notion, ALPHA, DECAY, "zero_one", budget=budget, projection="sum")
    local = LocalFairBatch(rule, 1 if scheme == LFT_AVG else None)
    algorithm = FedFB(rule) if scheme in (CFL, FEDFB) else local
    training = Training(5, LR, steps=3, batch_size=None, momentum=MOMENTUM)
    model = Logistic(parts.train.x.shape[1], bias=False)
    computing = Computing("cpu", "float64")
    run = simulate(model, parts, [Replicate(algorithm)], training, computing)
    return as_floats(run.simulation.states[0][MODELS]) if scheme == ENSEMBLE else run.params


@pytest.mark.parametrize(
    ("scheme", "notion"),
    [*product(LEARNERS, ["dp"]), (CFL, "eo"), (FEDFB, "eodds"), (ENSEMBLE, "eo")],
)
def test_samples_together_train_as_each_alone(scheme, notion):
    """Against the engine's own algorithms, a run for each sample."""
    world, budgets = by_name("figure-5a"), [(0.0,), (0.1,)]
    practice = Practice(scheme, 400, rounds=5, steps=3, notion=notion)
    together, bases = practice.trained(world, budgets, 2), practice.bases(world)
    for seed, (k, (budget,)) in product(range(2), enumerate(budgets)):
        parts = Parts.of(featured(sample(world.federation, 400, seed), bases))
        models = alone(scheme, notion, pooled(parts) if scheme == CFL else parts, budget)
        members = together[k][seed]
        assert len(members) == len(models)
        for basis, member, params in zip(bases, members, models, strict=True):
            for edges, expected in zip(member.edges, learned(basis, params).edges, strict=True):
                np.testing.assert_allclose(edges, expected, rtol=1e-9)


def test_a_longer_run_goes_on_where_a_shorter_one_ended():
    """Also where the longer one was asked for before; against a run of its own."""
    world, budgets = by_name("figure-5a"), [(0.0,), (0.1,)]
    for rounds in (5, 3, 7):
        practice = Practice(LFT_AVG, 200, rounds=rounds, steps=2)
        alone = practice.simulation(world, budgets, 2)
        while not alone.done:
            alone.step()
        states = practice.path(world, budgets, 2)
        assert len(states) == rounds
        assert (states[-1][MODELS] == alone.states[0][MODELS]).all()


def test_an_even_sample_has_the_rates_of_the_laws():
    world = by_name("figure-5d")
    people, weight = even_sample(world, 4_000, 1)
    rule = Classifier([[0.3], [-0.7]], [[0.0, 1.0]] * 2)
    exact = Performance.of(rule, world.federation)
    accepted = people.x[:, 0] > np.where(people.group == 0, 0.3, -0.7)
    rates = [accepted[people.group == a].mean() for a in range(2)]
    assert rates[0] - rates[1] == pytest.approx(exact.difference, abs=2e-3)
    right = (accepted == people.y) @ weight / weight.sum()
    assert right == pytest.approx(exact.accuracy, abs=1e-3)
    assert weight.mean() == pytest.approx(1.0)


def test_intervals_verdicts_and_causes():
    values = np.array([0.9, 1.0, 1.1])
    interval = Interval.of(values)
    half = 4.302652729911275 * 0.1 / np.sqrt(3)  # Student's quantile, two degrees
    assert (interval.low, interval.high) == pytest.approx((1 - half, 1 + half))
    assert [interval.within(limit) for limit in (2.0, 1.0, 0.5)] == [True, None, False]
    rows = [
        {"case": case, "seed": seed, "distance": base + noise}
        for case, base in ((TRAINED, 1.0), (SAMPLED, 0.4), (ONE_STEP, 0.1))
        for seed, noise in enumerate((-0.01, 0.0, 0.01))
    ]
    table = causes(pd.DataFrame(rows))
    assert table["removed mean"].to_list()[1:] == pytest.approx([0.6, 0.3])
    text = limit_verdict("n", "s", pd.DataFrame(rows), 2.0).found
    assert "no sampling 0.4, which is 0.6" in text
    assert hard_verdict("n", "s", np.array([0.0, np.nan])).holds is False


@pytest.mark.parametrize(
    ("optimum", "case"),
    [
        (reached.CFL_OPTIMUM, SAMPLED),
        (ENSEMBLE_OPTIMUM, SAMPLED),
        (reached.FEDAVG_OPTIMUM, ONE_STEP),
        (reached.CLIENT_AWARE_OPTIMUM, SAMPLED),
    ],
)
@pytest.mark.every(2)
def test_a_shifted_optimum_is_found(optimum, case, monkeypatch):
    """By 0.05 of an MD; and a frontier that is too low, by what the nearest rule is below it."""
    tried = replace(optimum, budgets=optimum.budgets[1:])
    exact = aims_of(by_name(reached.WORLD), tried.scheme, tried.budgets)
    moved = {key: (md + 0.05, accuracy) for key, (md, accuracy) in exact.items()}
    for aims, holds in ((exact, True), (moved, False)):
        monkeypatch.setattr(reached, "aims_of", lambda *_, aims=aims: aims)
        table = tried.rows(case, 2).assign(case=case)
        assert tried.verdict("n", table, case).holds is holds
        assert tried.bounded(table).holds is True
    short = floats(table, "below")  # of a frontier that is too low
    assert tried.bounded(table.assign(below=short - short.min() - 1e-6)).holds is False


def test_a_wrong_delta_is_found(monkeypatch):
    table, name = measured(ENSEMBLE_OPTIMUM, [SAMPLED]), "delta-without-sampling"
    both = pd.concat([table, table.assign(case=TRAINED)])
    assert verdict(reached.ensemble_verdicts(both), name).holds
    exact = reached.exact(by_name("figure-5d"), "lft_ensemble")
    wrong = replace(exact, disparity=exact.disparity + 0.05)
    monkeypatch.setattr(reached, "exact", lambda *_: wrong)
    assert verdict(reached.ensemble_verdicts(both), name).holds is False


def test_a_wrong_multiplier_of_fedfb_is_found(monkeypatch):
    both = measured(fedfb, [TRAINED, SAMPLED])
    names = ("below-the-plane", "theorem-24-without-sampling", "gap-to-cfl")
    assert all(verdict(fedfb.verdicts(both), name).holds for name in names[:2])
    solve = fedfb.solve

    def turned(*task):
        solution = solve(*task)
        return replace(solution, multipliers=-solution.multipliers)

    monkeypatch.setattr(fedfb, "solve", turned)
    wrong = fedfb.verdicts(measured(fedfb, [TRAINED, SAMPLED]))
    assert verdict(wrong, names[1]).holds is False


def test_wrong_dual_weights_are_found(monkeypatch):
    monkeypatch.setattr(weights, "PAIRS", {k: weights.PAIRS[k] for k in ("q-FFL", "TERM")})
    weights.dual_weights.cache_clear()
    table = measured(weights, [ONE_STEP], 4)
    near = limit_verdict("n", "s", table, weights.LIMIT, ONE_STEP)
    assert near.holds is True
    dual = weights.dual_weights
    monkeypatch.setattr(weights, "dual_weights", lambda *which: np.roll(dual(*which), 1))
    wrong = limit_verdict("n", "s", measured(weights, [ONE_STEP], 4), weights.LIMIT, ONE_STEP)
    assert wrong.holds is False


def test_a_doubled_bound_is_found(monkeypatch):
    table = measured(dynamic, [TRAINED, SAMPLED, ONE_STEP], 20)
    first, second = dynamic.verdicts(table)
    assert (first.holds, first.hard, second.holds) == (True, True, False)
    bounds = dynamic.bounds

    def doubled(*numbers):
        firsts, errors = bounds(*numbers)
        return 2 * firsts, errors

    monkeypatch.setattr(dynamic, "bounds", doubled)
    wrong = measured(dynamic, [TRAINED, SAMPLED, ONE_STEP], 20)
    assert dynamic.verdicts(wrong)[0].holds is False


def test_what_is_gained_on_common_rules_is_of_their_optimum():
    table = reached.CLIENT_AWARE_OPTIMUM.rows(SAMPLED, 2)
    (best,) = aims_of(by_name("figure-5d"), "lft_fedavg", ((0.05, 0.05),)).values()
    part = among(reached.behind_common(table), "budget", ["0.05"])
    gains = floats(part, "behind")
    assert gains == pytest.approx(best[1] - floats(part, "accuracy")) and (gains < 0).all()


def test_pictures_have_theory_and_bands():
    table = measured(dynamic, [TRAINED, SAMPLED, ONE_STEP], 10)
    (drawing,) = dynamic.PICTURES
    drawn = drawing.table(table)
    assert set(drawn["series"]) == {"theory", TRAINED, ONE_STEP} and set(drawn["kind"]) == {"band"}
    low, middle, high = (floats(drawn, name) for name in ("low", "y", "high"))
    assert (low <= middle).all() and (middle <= high).all()
    assert len(studies()) == 8


def test_series_do_not_align_by_their_index():
    """Of rows that were picked from tables: the first of each goes together."""
    x, low = pd.Series([1.0, 2.0, 4.0, 8.0])[2:], np.array([0, None])
    table = series("p", "n", "points", x, [1, 2], low=low)
    assert table["x"].tolist() == [4.0, 8.0] and table["y"].tolist() == [1.0, 2.0]
    assert table["low"].isna().tolist() == [False, True] and set(table["panel"]) == {"p"}
