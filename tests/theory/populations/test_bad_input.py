"""Bad input: one clear error each, that names the argument and the value."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import fairfl as ff
from fairfl.theory.populations.laws import Normal, as_law

NAN, INF = float("nan"), float("inf")
MEAN = [[0, 1], [1, 0]]
PAIR = (stats.norm(0, 1), stats.norm(1, 1))
MASSES = np.full((2, 2, 3), 1 / 6)
POINTS, ETA = [0.0, 1.0, 2.0], [0.1, 0.5, 0.9]


def samples(**changes: Any) -> Any:
    columns: dict[str, Any] = {
        "score": [0.1, 0.2, 0.3],
        "label": [0, 1, 1],
        "group": [0, 1, 0],
        "client": [0, 0, 1],
    }
    return ff.Federation.from_samples(**(columns | changes))


CASES: dict[str, tuple[Callable[[], Any], str]] = {
    # federations of normal laws
    "q above 1": (
        lambda: ff.Federation.normal(MEAN, q=[0.5, 1.2]),
        r"q must be in \[0, 1\], got 1.2 at position 1",
    ),
    "q below 0": (lambda: ff.Federation.normal(MEAN, q=-0.1), r"q must be in \[0, 1\], got -0.1"),
    "q NaN": (lambda: ff.Federation.normal(MEAN, q=NAN), r"q must not hold NaN, got nan"),
    "q shape": (
        lambda: ff.Federation.normal(MEAN, q=[0.5] * 3),
        r"q must have shape \(\), \(2,\) or \(2, 2\), got \(3,\)",
    ),
    "q text": (lambda: ff.Federation.normal(MEAN, q="half"), r"q must be numbers, got 'half'"),
    "sd zero": (
        lambda: ff.Federation.normal(MEAN, sd=0.0),
        r"sd must be positive and finite, got 0",
    ),
    "sd negative": (
        lambda: ff.Federation.normal(MEAN, sd=[1, -2]),
        r"sd must be positive and finite, got -2 at position 1",
    ),
    "sd infinite": (
        lambda: ff.Federation.normal(MEAN, sd=INF),
        r"sd must be positive and finite, got inf",
    ),
    "sd shape": (
        lambda: ff.Federation.normal(MEAN, sd=[1, 1, 1]),
        r"sd must have shape .*, got \(3",
    ),
    "weight zero": (
        lambda: ff.Federation.normal(MEAN, weight=[1, 0]),
        r"weight must be positive and finite, got 0 at position 1",
    ),
    "weight shape": (
        lambda: ff.Federation.normal(MEAN, weight=[1, 1, 1]),
        r"weight must have shape \(2,\), got \(3,\)",
    ),
    "one number for two": (
        lambda: ff.Federation.normal(MEAN, weight=[1]),
        r"weight must have shape \(2,\), got \(1,\)",
    ),
    "one sd for two": (
        lambda: ff.Federation.normal(MEAN, sd=[1]),
        r"sd must have shape .*, got \(1,\)",
    ),
    "one budget for two": (
        lambda: ff.solve(ff.Federation.normal(MEAN), "lft_fedavg", [0.1]),
        r"eps must have shape .*, got \(1,\)",
    ),
    "client -1": (
        lambda: ff.Federation.normal(MEAN).alone(-1),
        r"client must be a whole number of at least 0, got -1",
    ),
    "atoms alone": (
        lambda: ff.Federation.finite(POINTS, MASSES, ETA).alone(0),
        r"part and alone take a federation of laws, got Federation\(2 clients",
    ),
    "weight NaN": (
        lambda: ff.Federation.normal(MEAN, weight=[1, NAN]),
        r"weight must not hold NaN",
    ),
    "mean NaN": (lambda: ff.Federation.normal([[0, NAN]]), r"mean must not hold NaN"),
    "mean infinite": (lambda: ff.Federation.normal([[0, INF]]), r"mean must be finite, got inf"),
    "mean shape": (
        lambda: ff.Federation.normal([0, 1]),
        r"mean must have shape \(I, A\).*, got \(2,\)",
    ),
    "mean of one group": (
        lambda: ff.Federation.normal([[0]]),
        r"mean must have shape \(I, A\).*, got \(1, 1\)",
    ),
    "ragged mean": (
        lambda: ff.Federation.normal([[0, 1], [2]]),
        r"mean must have rows of one length, got \[\[0, 1\], \[2\]\]",
    ),
    "no client in mean": (
        lambda: ff.Federation.normal(np.empty((0, 2))),
        r"mean must have shape \(I, A\).*, got \(0, 2\)",
    ),
    "group 1 empty": (lambda: ff.Federation.normal(MEAN, q=0), r"group 1 is empty"),
    "group 0 empty": (lambda: ff.Federation.normal(MEAN, q=1), r"group 0 is empty"),
    # clients
    "no clients": (lambda: ff.Federation([]), r"clients must hold at least one Client, got none"),
    "client q": (
        lambda: ff.Federation([ff.Client(PAIR, q=1.5)]),
        r"clients\[0\].q must be in \[0, 1\], got 1.5",
    ),
    "client weight": (
        lambda: ff.Federation([ff.Client(PAIR, weight=-1)]),
        r"clients\[0\].weight must be positive and finite, got -1",
    ),
    "one law": (
        lambda: ff.Federation([ff.Client(PAIR[:1])]),
        r"clients\[0\].laws must hold a law for each of two groups or more, got 1",
    ),  # type: ignore[arg-type]
    "kinds mixed": (
        lambda: ff.Federation([ff.Client((PAIR[0], ff.Finite([0.0], [1.0])))]),
        r"laws must be all continuous or all finite",
    ),
    "eta count": (
        lambda: ff.Federation([ff.Client(PAIR)], eta=[ff.Logistic()] * 2),
        r"eta must be an Eta, or a sequence of 1, .*got 2",
    ),
    "eta entry": (
        lambda: ff.Federation([ff.Client(PAIR)], eta=[0.5]),
        r"eta\[0\] must be an Eta .*got 0.5",
    ),
    "eta number": (
        lambda: ff.Federation([ff.Client(PAIR)], eta=0.5),
        r"eta must be an Eta.*got 0.5",
    ),
    "eta pair": (
        lambda: ff.Federation([ff.Client(PAIR)], eta=[(ff.Logistic(),)]),
        r"eta\[0\] must be an Eta .* or 2 of them, one per group",
    ),
    # laws
    "discrete law": (
        lambda: as_law(stats.poisson(2)),
        r"law must have a density, got a discrete scipy.stats law",
    ),
    "discrete client law": (
        lambda: ff.Federation([ff.Client((PAIR[0], stats.binom(3, 0.5)))]),
        r"clients\[0\].laws\[1\] must have a density",
    ),
    "unfrozen law": (
        lambda: as_law(stats.norm),
        r"law must be a frozen continuous scipy.stats law",
    ),
    "array of laws": (
        lambda: as_law(stats.norm([0, 1], 1)),
        r"law must be one law, got an array of laws",
    ),
    "a number as law": (
        lambda: as_law(3.0),
        r"law must be a frozen continuous scipy.stats law.*got 3.0",
    ),
    "law with a bad scale": (lambda: as_law(stats.norm(0, -1)), r"law must have valid parameters"),
    "law with a NaN": (lambda: as_law(stats.norm(NAN, 1)), r"law must have valid parameters"),
    "Normal sd": (lambda: Normal(0, -1), r"sd must be positive and finite, got -1"),
    "mixture of none": (lambda: ff.Mixture([]), r"laws must hold at least one law, got none"),
    "mixture weights": (
        lambda: ff.Mixture(PAIR, [1, -1]),
        r"weights must be positive and finite, got -1 at position 1",
    ),
    "mixture weight count": (
        lambda: ff.Mixture(PAIR, [1, 1, 1]),
        r"weights must have shape \(2,\).*got \(3,\)",
    ),
    "mixture of atoms": (
        lambda: ff.Mixture([ff.Finite([0.0], [1.0])]),
        r"laws of a Mixture must have densities",
    ),
    "finite masses": (lambda: ff.Finite([0, 1], [0.5, 0.6]), r"masses must sum to one, got 1.1"),
    "finite negative": (
        lambda: ff.Finite([0, 1], [1.5, -0.5]),
        r"masses must be non-negative, got -0.5",
    ),
    "finite shapes": (
        lambda: ff.Finite([0, 1], [1.0]),
        r"points and masses must be 1-d of one length, got shapes \(2,\) and \(1,\)",
    ),
    "finite twice": (lambda: ff.Finite([1, 1], [0.5, 0.5]), r"points must be distinct"),
    "finite NaN": (lambda: ff.Finite([0, NAN], [0.5, 0.5]), r"points must not hold NaN"),
    "samples NaN": (lambda: ff.Samples([1, NAN]), r"values must not hold NaN"),
    "samples none": (
        lambda: ff.Samples([]),
        r"values must be a non-empty 1-d array, got shape \(0,\)",
    ),
    # eta
    "slope": (lambda: ff.Logistic(slope=-1), r"slope must be positive and finite, got -1"),
    "intercept": (lambda: ff.Logistic(intercept=INF), r"intercept must be finite, got inf"),
    "falling eta": (
        lambda: ff.Monotone(lambda x: 1 / (1 + np.exp(x)), lambda p: np.log(1 / p - 1)),
        r"inverse must be strictly increasing",
    ),
    "wrong inverse": (
        lambda: ff.Monotone(lambda x: 1 / (1 + np.exp(-x)), lambda p: np.log(p)),
        r"function must invert inverse",
    ),
    "eta range": (
        lambda: ff.Monotone(np.tanh, np.arctanh, low=-1),
        r"low and high must satisfy 0 <= low < high <= 1, got \(-1",
    ),
    # finite X
    "masses sum": (
        lambda: ff.Federation.finite(POINTS, MASSES * 1.01, ETA),
        r"masses of each client must sum to one, got 1.01 for client 0",
    ),
    "masses negative": (
        lambda: ff.Federation.finite(POINTS, -MASSES, ETA),
        r"masses must be non-negative, got -0.16",
    ),
    "masses NaN": (
        lambda: ff.Federation.finite(POINTS, MASSES * NAN, ETA),
        r"masses must not hold NaN",
    ),
    "masses shape": (
        lambda: ff.Federation.finite(POINTS[:2], MASSES, ETA[:2]),
        r"masses must have shape \(I, A, 2\), got \(2, 2, 3\)",
    ),
    "masses of one group": (
        lambda: ff.Federation.finite(POINTS, np.full((1, 1, 3), 1 / 3), ETA),
        r"masses must hold at least two groups.*got 1",
    ),
    "masses without a group": (
        lambda: ff.Federation.finite(POINTS, [[[1 / 3] * 3, [0] * 3]], ETA),
        r"group 1 is empty",
    ),
    "points twice": (
        lambda: ff.Federation.finite([0, 1, 1], MASSES, ETA),
        r"points must be distinct",
    ),
    "points NaN": (
        lambda: ff.Federation.finite([0, 1, NAN], MASSES, ETA),
        r"points must not hold NaN",
    ),
    "no points": (
        lambda: ff.Federation.finite([], np.empty((1, 2, 0)), []),
        r"points must be a non-empty 1-d array",
    ),
    "eta above 1": (
        lambda: ff.Federation.finite(POINTS, MASSES, [0, 0.5, 1.1]),
        r"eta must be in \[0, 1\], got 1.1 at position 2",
    ),
    "eta NaN": (
        lambda: ff.Federation.finite(POINTS, MASSES, [0, 0.5, NAN]),
        r"eta must not hold NaN",
    ),
    "eta shape": (
        lambda: ff.Federation.finite(POINTS, MASSES, [[0.5] * 3] * 3),
        r"eta must have shape .*, got \(3, 3\)",
    ),
    "finite weight": (
        lambda: ff.Federation.finite(POINTS, MASSES, ETA, weight=[1, 2, 3]),
        r"weight must have shape \(2,\), got \(3,\)",
    ),
    # people
    "label 2": (
        lambda: samples(label=[0, 1, 2]),
        r"label must be 0/1 or have exactly two values, got 3: 0, 1, 2",
    ),
    "label NaN": (
        lambda: samples(label=[0, 1, NAN]),
        r"label must not be missing, got nan at row 2",
    ),
    "score NaN": (lambda: samples(score=[0, 1, NAN]), r"score must not hold NaN"),
    "score infinite": (lambda: samples(score=[0, 1, INF]), r"score must be finite, got inf"),
    "score text": (lambda: samples(score=["a", "b", "c"]), r"score must be numbers"),
    "nobody": (
        lambda: samples(score=[], label=[], group=[], client=[]),
        r"score must be a non-empty 1-d array",
    ),
    "label length": (
        lambda: samples(label=[0, 1]),
        r"label must have shape \(3,\) as score has, got \(2,\)",
    ),
    "group length": (
        lambda: samples(group=[0, 1]),
        r"group must have shape \(3,\) as score has, got \(2,\)",
    ),
    "client length": (
        lambda: samples(client=[0, 1]),
        r"client must have shape \(3,\) as score has, got \(2,\)",
    ),
    "one group": (
        lambda: samples(group=["f", "f", "f"]),
        r"group must hold at least two groups, got only 'f'",
    ),
    "group missing": (
        lambda: samples(group=["f", None, "m"]),
        r"group must not be missing, got None at row 1",
    ),
    "client missing": (
        lambda: samples(client=[1.0, 2.0, NAN]),
        r"client must not be missing, got .*nan.* at row 2",
    ),
    "labels of two kinds": (
        lambda: samples(group=np.array(["f", 1, "m"], dtype=object)),
        r"group must hold labels of one kind",
    ),
    "calibrate": (
        lambda: samples(calibrate="none"),
        r"calibrate must be one of 'shared', 'client', 'client_group', got 'none'",
    ),
    # classifiers
    "values out of range": (
        lambda: ff.Classifier([[0], [0]], [[0, 1], [0, 2]]),
        r"values must be in \[0, 1\], got 2",
    ),
    "edges fall": (
        lambda: ff.Classifier([[1, 0], []], [[0, 1, 0], [1]]),
        r"edges\[0\] must be increasing, got \[1.0, 0.0\]",
    ),
    "edges count": (
        lambda: ff.Classifier([[1], []], [[0, 1, 0], [1]]),
        r"values\[0\] must have one entry more than edges\[0\]",
    ),
    "one group classifier": (
        lambda: ff.Classifier([[0]], [[0, 1]]),
        r"edges and values must hold one array per group",
    ),
    "edges NaN": (lambda: ff.Classifier.thresholds([NAN, 0]), r"edges must not hold NaN"),
    "intervals overlap": (
        lambda: ff.Classifier.from_intervals([[(0, 2), (1, 3)], []]),
        r"accept\[0\] must be disjoint increasing",
    ),
    "intervals reversed": (
        lambda: ff.Classifier.from_intervals([[(2, 0)], []]),
        r"accept\[0\] must be disjoint increasing",
    ),
    "group code": (lambda: ff.Classifier.thresholds([0, 0])(1.0, 2), r"a must .*2"),
    "groups differ": (
        lambda: ff.Classifier.thresholds([0, 0, 0]).accuracy(ff.Federation.normal(MEAN)),
        r"federation has 2 groups, this classifier 3",
    ),
    "MD of three groups": (
        lambda: ff.Classifier.thresholds([0] * 3).mean_difference(
            ff.Federation.finite(POINTS, np.full((1, 3, 3), 1 / 9), ETA)
        ),
        r"mean difference is defined for two groups, got 3",
    ),
    "q of three groups": (
        lambda: ff.Federation.finite(POINTS, np.full((1, 3, 3), 1 / 9), ETA).q,
        r"q is defined for two groups, this federation has 3",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_named(name: str) -> None:
    call, message = CASES[name]
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert type(caught.value) is ValueError
    assert len(str(caught.value)) < 250 and "\n" not in str(caught.value)
