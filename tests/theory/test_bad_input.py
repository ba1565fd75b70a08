"""What theory/ refuses: calls, and the words of their errors."""

import numpy as np
import sympy as sp
from bad_input import refused
from scipy import stats

import fairfl as ff
from fairfl.theory import aggregation
from fairfl.theory.measures import dynamic, uniformity, welfare
from fairfl.theory.populations.laws import Normal, as_law

NAN, INF = float("nan"), float("inf")
COMMON = {"NAN": NAN, "INF": INF, "np": np, "stats": stats}
PUBLIC = {name: getattr(ff, name) for name in ff.__all__}


def samples(**changes):
    columns = {"score": [0.1, 0.2, 0.3], "label": [0, 1, 1], "group": [0, 1, 0]}
    return ff.Federation.from_samples(**(columns | {"client": [0, 0, 1]} | changes))


POINTS, ETA = [0.0, 1.0, 2.0], [0.1, 0.5, 0.9]
POPULATIONS = {"samples": samples, "as_law": as_law, "Normal": Normal, "MEAN": [[0, 1], [1, 0]]}
POPULATIONS |= {"PAIR": (stats.norm(0, 1), stats.norm(1, 1)), "MASSES": np.full((2, 2, 3), 1 / 6)}
POPULATIONS |= {"POINTS": POINTS, "ETA": ETA}
POPULATIONS |= {"THREE": ff.Federation.finite(POINTS, np.full((1, 3, 3), 1 / 9), ETA)}
test_populations = refused(
    r"""
Federation.normal(MEAN, q=[0.5, 1.2]) | q must be in \[0, 1\], got 1.2 at position 1
Federation.normal(MEAN, q=[0.5] * 3) | q must have shape \(\), \(2,\) or \(2, 2\), got \(3,\)
Federation.normal(MEAN, sd=0.0) | sd must be positive and finite, got 0
Federation.normal(MEAN, weight=[1, 0]) | weight must be positive and finite, got 0 at position 1
Federation.normal(MEAN).alone(-1) | client must be a whole number of at least 0, got -1
Federation.finite(POINTS, MASSES, ETA).alone(0)
    | part and alone take a federation of laws, got Federation\(2 clients
Federation.normal([[0, NAN]]) | mean must not hold NaN
Federation.normal([0, 1]) | mean must have shape \(I, A\).*, got \(2,\)
Federation.normal([[0, 1], [2]]) | mean must have rows of one length, got \[\[0, 1\], \[2\]\]
Federation.normal(MEAN, q=0) | group 1 is empty
Federation.normal(np.zeros((1, 51))) | groups of laws must be at most 50, got 51
Federation.finite([0, 1], np.full((1, 101, 2), 1 / 202), [0.2, 0.8]) | groups of people must be
    at most 100, got 101
Federation([]) | clients must hold at least one Client, got none
Federation([Client(PAIR, q=1.5)]) | clients\[0\].q must be in \[0, 1\], got 1.5
Federation([Client(PAIR[:1])])
    | clients\[0\].laws must hold a law for each of two groups or more, got 1
Federation([Client((PAIR[0], Finite([0.0], [1.0])))]) | laws must be all continuous or all finite
Federation([Client(PAIR)], eta=[Logistic()] * 2) | eta must be an Eta, or a sequence of 1, .*got 2
Federation([Client(PAIR)], eta=[0.5]) | eta\[0\] must be an Eta .*got 0.5
Federation([Client(PAIR)], eta=[(Logistic(),)])
    | eta\[0\] must be an Eta .* or 2 of them, one per group
as_law(stats.poisson(2)) | law must have a density, got a discrete scipy.stats law
as_law(stats.norm) | law must be a frozen continuous scipy.stats law
as_law(stats.norm([0, 1], 1)) | law must be one law, got an array of laws
as_law(stats.norm(0, -1)) | law must have valid parameters
Normal(0, -1) | sd must be positive and finite, got -1
Mixture([]) | laws must hold at least one law, got none
Mixture(PAIR, [1, -1]) | weights must be positive and finite, got -1 at position 1
Mixture([Finite([0.0], [1.0])]) | laws of a Mixture must have densities
Finite([0, 1], [0.5, 0.6]) | masses must sum to one, got 1.1
Finite([0, 1], [1.0]) | points and masses must be 1-d of one length, got shapes \(2,\) and \(1,\)
Samples([1, NAN]) | values must not hold NaN
Samples([]) | values must be a non-empty 1-d array, got shape \(0,\)
Logistic(slope=-1) | slope must be positive and finite, got -1
Logistic(intercept=INF) | intercept must be finite, got inf
Monotone(lambda x: 1 / (1 + np.exp(x)), lambda p: np.log(1 / p - 1))
    | inverse must be strictly increasing
Monotone(lambda x: 1 / (1 + np.exp(-x)), lambda p: np.log(p)) | function must invert inverse
Monotone(stats.norm.cdf, stats.norm.ppf, negative=0.5)
    | negative must be a vectorised function, got
Monotone(stats.norm.cdf, stats.norm.ppf, negative=stats.norm.cdf)
    | negative must be 1 - function: at -2.
Monotone(np.tanh, np.arctanh, low=-1) | low and high must satisfy 0 <= low < high <= 1, got \(-1
Federation.finite(POINTS, MASSES * 1.01, ETA)
    | masses of each client must sum to one, got 1.01 for client 0
Federation.finite(POINTS, -MASSES, ETA) | masses must be non-negative, got -0.16
Federation.finite(POINTS[:2], MASSES, ETA[:2]) | masses must have shape \(I, A, 2\), got \(2, 2, 3\)
Federation.finite(POINTS, np.full((1, 1, 3), 1 / 3), ETA)
    | masses must hold at least two groups.*got 1
Federation.finite([0, 1, 1], MASSES, ETA) | points must be distinct
Federation.finite([], np.empty((1, 2, 0)), []) | points must be a non-empty 1-d array
Federation.finite(POINTS, MASSES, [0, 0.5, 1.1]) | eta must be in \[0, 1\], got 1.1 at position 2
Federation.finite(POINTS, MASSES, [[0.5] * 3] * 3) | eta must have shape .*, got \(3, 3\)
samples(label=[0, 1, 2]) | label must be 0/1 or have exactly two values, got 3: 0, 1, 2
samples(label=[0, 1, NAN]) | label must not be missing, got nan at row 2
samples(score=[0, 1, INF]) | score must be in \[-1e\+300, 1e\+300\], got inf
Federation.finite([0, 1, 1.7e308], MASSES, ETA) | points must be in .*got 1.7e\+308 at position 2
samples(group=['f', 'f', 'f']) | group must hold at least two groups, got only 'f'
samples(group=['f', None, 'm']) | group must not be missing, got None at row 1
samples(group=np.array(['f', 1, 'm'], dtype=object)) | group must hold labels of one kind
samples(calibrate='none') | calibrate must be one of 'auto', 'shared', .*, got 'none'
Classifier([[0], [0]], [[0, 1], [0, 2]]) | values must be in \[0, 1\], got 2
Classifier([[1, 0], []], [[0, 1, 0], [1]]) | edges\[0\] must be increasing, got \[1.0, 0.0\]
Classifier([[1], []], [[0, 1, 0], [1]]) | values\[0\] must have one entry more than edges\[0\]
Classifier([[0]], [[0, 1]]) | edges and values must hold one array per group
Classifier.thresholds([NAN, 0]) | edges must not hold NaN
Classifier.thresholds([0, 0])(1.0, 2) | a must .*2
Classifier.thresholds([0, 0, 0]).accuracy(Federation.normal(MEAN))
    | federation must be a Federation of 3 groups, got Federation\(2 clients, 2 groups
Classifier.thresholds([0, 0]).accuracy(3) | federation must be a Federation of 2 groups, got 3
Classifier.thresholds([0] * 3).mean_difference(THREE)
    | mean difference is defined for two groups, got 3
THREE.q | q is defined for two groups, this federation has 3
Federation.from_counts(np.ones((1, 2, 3)), [0, 1, 2]) | counts must have shape \(I, A, 2, 3\)
Federation.from_counts(np.ones((1, 2, 2, 2)), [0, 0]) | score must hold n distinct numbers
Federation.from_counts(-np.ones((1, 2, 2, 2)), [0, 1])
    | counts must be non-negative whole numbers, got -1
Federation.from_counts(np.zeros((2, 2, 2, 2)), [0, 1])
    | counts must hold people of every client, client 0 has none
Federation.from_counts(np.ones((1, 2, 2, 2)) * [[[[1]], [[0]]]], [0, 1]) | group 1 is empty
""",
    COMMON | PUBLIC | POPULATIONS,
)

test_aggregation = refused(
    r"""
QFFL(-1e-09) | q must be in \[0, inf\), got -1e-09
QFFL('1') | q must be numbers, got '1'
TERM(0) | alpha must be positive and finite, got 0
PropFair(0) | M must be positive and finite, got 0
RankWeighted.geometric(1.5) | z must be in \[0, 1\], got 1.5
RankWeighted.cvar(1.0) | level must be in \[0, 1\), got 1
RankWeighted.arithmetic(-1, 1.0) | p1 must be in \[0, inf\), got -1
RankWeighted.arithmetic(0.0, 0) | p1 and d must not both be 0
RankWeighted([0.2, 0.8]) | non-increasing.*0.2 < 0.8 at index 1
RankWeighted([0.6, 0.5]) | sum to one.*1.1
RankWeighted([1.2, -0.2]) | weights must be in \[0, 1\], got 1.2 at position 0
RankWeighted([]) | at least one weight, got shape \(0,\)
RankWeighted(None) | weights must be given
FedAvg().weighted([0.5, 0.6]) | p must sum to one
FedAvg().weighted([1.0, 0.0]) | p must be in \(0, 1\], got 0 at position 1
RankWeighted(weights=[0.5, 0.5]).weighted([1.0]) | client_weights must be n = 2
AFL().scale(0) | factor must be positive and finite, got 0
AFL().translate([[1.0]]) | shift must be
AFL().weighted([0.5, 0.5]).translate([1.0, 2, 3]) | shift must have n = 2 numbers.*got 3
KolmogorovMean(None) | s must be a sympy expression or a function
KolmogorovMean(-t) | must be increasing
KolmogorovMean(sp.log(t)) | must be real
KolmogorovMean(lambda x: 1.0) | arrays of their shape
KolmogorovMean(t, upper=1.0, lower=1.0) | lower must be below upper
KolmogorovMean(np.exp, inverse=3) | inverse must be a function, got 3
QFFL(1.0).value([0.5, NAN]) | losses must not hold NaN
FedAvg().dual_weights([[0.5, 0.2], [INF, 0.1]]) | losses must be finite.* got inf at index \(1, 0\)
FedAvg().value_and_dual_weights([0.5, -INF]) | losses must be finite.* got -inf at index \(1,\)
QFFL(1.0).value([]) | n >= 1 clients on the last axis, got \(0,\)
QFFL(1.0).value(np.empty((3, 0))) | n >= 1 clients on the last axis, got \(3, 0\)
QFFL(1.0).value(0.5) | losses must have shape \(\.\.\., n\).*got \(\)
QFFL(1.0).value(['a', 'b']) | losses must be numbers
QFFL(1.0).value([[1.0, 2.0], [1.0]]) | losses must have rows of one length
QFFL(1.0).value(np.ones(2, dtype=complex)) | losses must be numbers
QFFL(1.0).value(None) | losses must be numbers
AFL().conjugate([0.5, NAN]) | weights must not hold NaN
AFL().conjugate([0.5, INF]) | weights must be finite, got inf
AFL().conjugate([]) | weights must have shape .* n >= 1
AFL().conjugate(1.0) | weights must have shape .* n >= 1
AFL().conjugate([0.5, 0.5], 'real') | domain must be one of .* got 'real'
AFL().conjugate([0.5, 0.5], tolerance=-1) | tolerance must be in \[0, inf\), got -1
QFFL(1.0).value([[[0.5, 0.5], [1, -1]], [[0, 1]] * 2]) | got -1.0 at index \(0, 1, 1\)
PropFair(1.0).translate(-2.0).conjugate([0.5, 0.5], "nonnegative") | needs losses f >= 0
FedAvg().weighted([0.5, 0.5]).value([1.0, 2.0, 3.0]) | n = 2 clients .*as many as client_weights
AFL().translate([0.0, 1.0]).value([1.0, 2.0, 3.0]) | as many as shift
""",
    COMMON | vars(aggregation) | {"sp": sp, "t": sp.Symbol("t", real=True)},
)

test_measures = refused(
    r"""
benefit(np.empty((0, 2)), [0, 1]) | neither 0
benefit([['a']], [0]) | losses must be a table of numbers
benefit(L3, [0.0, 1.0]) | joins must be 2 whole numbers
benefit(L3, [1, 0]) | joins must be strictly increasing
benefit(L3, [0, 3]) | from 0 to below 3
benefit([[1.0, 1.0], [NAN, 1.0]], [0, 1]) | finite .* got nan at time 1, group 0
relative_margin(L3, L3[:-1], [0, 1]) | other must have the shape of losses
group_benefit(L3, [0, 1], 'eq9') | form must be one of 'loss', 'benefit', got 'eq9'
group_benefit([[0.0, 0.0], [0.0, 800.0]], [0, 1]) | gaps below 709
group_losses([[1.0, 2.0]], [0]) | groups must be 2 whole numbers
group_losses([[1.0, 2.0]], [0, 2]) | groups must use every number .* got none of 1
group_losses([[1.0, 2.0]], [0, 1], [1.0, 0.0]) | weights must be positive
within_group_std([[1.0, NAN]], [0, 0], [0]) | client_losses must be finite
mean_utility([1.0], -1) | alpha must be in \[0, inf\), got -1|alpha must be in
mean_utility([1.0, -2.0], 1) | utilities must be in \[0, inf\), got -2 at position 1
angle([]) | n >= 1 clients
variance([0.0, 1e300]) | losses must have a variance below
entropy([[1.0, 2.0], [-1.0, 2.0]]) | losses must be in \[0, inf\), got -1 at position \(1, 0\)
price_of_fairness([1.0], 0.0) | best_total must be positive
""",
    COMMON
    | vars(dynamic)
    | vars(uniformity)
    | vars(welfare)
    | {"uniformity": uniformity}
    | {"L3": [[1.0, NAN], [0.5, 1.0], [0.4, 0.9]]},
)
