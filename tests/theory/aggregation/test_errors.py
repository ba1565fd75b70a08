"""Constructor, arguments that must raise with what they must say, arguments that must not."""

import re
import subprocess
import sys

import numpy as np
import pytest
import sympy as sp

from fairfl.theory.aggregation import (
    AFL,
    QFFL,
    TERM,
    FedAvg,
    KolmogorovMean,
    PropFair,
    RankWeighted,
    objectives,
)

NAN, INF = np.nan, np.inf
t = sp.Symbol("t", real=True)

CONSTRUCTORS = [
    # constructor, wrong arguments and the message, right arguments
    (
        QFFL,
        [
            (-1e-9, "q must be .*>= 0.*got -1e-09"),
            (INF, "AFL"),
            (NAN, "got nan"),
            ("1", "got '1'"),
            (True, "got True"),
        ],
        [0, 0.0, 1e3, np.float32(2)],
    ),
    (
        TERM,
        [
            (0, "alpha must be .*> 0.*got 0"),
            (-1.0, "got -1.0"),
            (INF, "AFL"),
            (NAN, "got nan"),
            (None, "got None"),
        ],
        [1e-9, 1, 1e3],
    ),
    (
        PropFair,
        [(0, "M must be .*> 0.*got 0"), (-2.0, "got -2.0"), (INF, "got inf"), (NAN, "got nan")],
        [1e-3, 2, 1e12],
    ),
    (
        RankWeighted.geometric,
        [(1.5, r"z must be in \[0, 1\], got 1.5"), (-0.1, "got -0.1"), (NAN, "got nan")],
        [0, 0.5, 1],
    ),
    (
        RankWeighted.cvar,
        [(1.0, r"level must be in \[0, 1\), got 1.0"), (-0.1, "got -0.1"), (NAN, "got nan")],
        [0, 0.999],
    ),
    (
        lambda p1: RankWeighted.arithmetic(p1, 1.0),
        [(-1, "p1 must be .*>= 0.*got -1"), (INF, "got inf")],
        [0, 1, 2.5],
    ),
    (
        lambda d: RankWeighted.arithmetic(0.0, d),
        [(-1, "d must be .*>= 0.*got -1"), (0, "> 0 if p1 = 0.*got 0")],
        [1, 3.0],
    ),
    (
        RankWeighted,
        [
            ([0.2, 0.8], "non-increasing.*0.2 < 0.8 at index 1"),
            ([0.6, 0.5], "sum to one.*1.1"),
            ([1.2, -0.2], ">= 0, got -0.2 at"),
            ([0.5, NAN], "got nan at index 1"),
            ([], r"at least one weight, got shape \(0,\)"),
            ([[1.0]], r"got shape \(1, 1\)"),
            (None, "weights must be given"),
            ("ab", "must be float32, float64 or integers"),
        ],
        [[1.0], [0.5, 0.5], (0.6, 0.4, 0.0), [1, 0]],
    ),
    (
        lambda p: FedAvg().weighted(p),
        [
            ([0.5, 0.6], "p must sum to one"),
            ([1.0, 0.0], "> 0, got 0.0 at index 1"),
            ([NAN, 1], "nan"),
        ],
        [[0.5, 0.5], [1.0]],
    ),
    (
        lambda p: RankWeighted(weights=[0.5, 0.5]).weighted(p),
        [([1.0], "client_weights must be n = 2")],
        [[0.1, 0.9]],
    ),
    (
        lambda c: AFL().scale(c),
        [(0, "factor must be .*> 0, got 0"), (-1, "got -1"), (INF, "got inf"), (NAN, "nan")],
        [0.5, 3],
    ),
    (
        lambda c: AFL().perspective(c),
        [(0, "factor must be .*> 0, got 0"), (-1, "got -1"), (INF, "got inf")],
        [0.5, 3],
    ),
    (
        lambda c: AFL().translate(c),
        [(INF, "shift must be"), ([[1.0]], "shift must be"), ([1.0, NAN], "shift")],
        [0, -1.5, [1, 2]],
    ),
    (
        lambda c: AFL().weighted([0.5, 0.5]).translate(c),
        [([1.0, 2, 3], "shift must have n = 2 numbers.*got 3")],
        [[1.0, 2.0]],
    ),
    (
        KolmogorovMean,
        [
            (None, "s must be a sympy expression or a function"),
            (-t, "must be increasing"),
            (t**2, "must be increasing"),
            (sp.Integer(1), "one symbol"),
            (t + sp.Symbol("u"), "one symbol"),
            (np.cos, "must be increasing"),
            (sp.log(t), "must be real"),
            (lambda x: 1.0, "arrays of their shape"),
        ],
        [t, sp.exp(t), np.sinh],
    ),
    (
        lambda upper: KolmogorovMean(t, upper=upper, lower=1.0),
        [(1.0, "lower must be below upper"), (NAN, "below")],
        [2.0],
    ),
    (
        lambda g: KolmogorovMean(np.exp, inverse=g),
        [(3, "inverse must be a function, got 3")],
        [np.log],
    ),
]


def no_address(value: object) -> str:
    """A test id that every parallel worker gives: the text of a function without where it lies in
    memory.
    """
    return re.sub(r" at 0x[0-9a-f]+", "", str(value))


@pytest.mark.parametrize(
    ("make", "wrong", "message"),
    [(make, arg, message) for make, bad, _ in CONSTRUCTORS for arg, message in bad],
    ids=no_address,
)
def test_wrong_arguments_raise(make, wrong, message):
    with pytest.raises(ValueError, match=message):
        make(wrong)


@pytest.mark.parametrize(
    ("make", "right"),
    [(make, arg) for make, _, good in CONSTRUCTORS for arg in good],
    ids=no_address,
)
def test_right_arguments_make_an_objective(make, right):
    objective = make(right)
    n = objective._fixed_n or 2
    assert np.isfinite(
        objective.value(np.full(n, 1e-4) + objective.domain.contains(np.full(n, 1.5)))
    )


EVERYTHING = [example for cls in objectives().values() for example in list(cls.examples())[:2]]
EVERYTHING += [o.weighted([0.5, 0.5]) for o in EVERYTHING] + [
    o.translate([0.0, 0.1]).scale(2.0) for o in EVERYTHING
]
METHODS = ["value", "dual_weights", "gradient", "value_and_dual_weights", "objective_value"]
WRONG_LOSSES = [
    ([0.5, NAN], r"losses must be finite, .*got nan at index \(1,\)"),
    ([[0.5, 0.2], [INF, 0.1]], r"got inf at index \(1, 0\)"),
    ([0.5, -INF], r"got -inf at index \(1,\)"),
    ([], r"n >= 1 clients on the last axis, got \(0,\)"),
    (np.empty((3, 0)), r"got \(3, 0\)"),
    (0.5, r"shape \(\.\.\., n\).*got \(\)"),
    (["a", "b"], "float32, float64 or integers"),
    ([[1.0, 2.0], [1.0]], "rows of one length"),
    (np.ones(2, dtype=complex), "got dtype complex"),
    (np.ones(2, dtype=np.float16), "got dtype float16"),
    (None, "got dtype object"),
]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("objective", EVERYTHING, ids=repr)
def test_wrong_losses_raise(objective, method):
    for losses, message in WRONG_LOSSES:
        with pytest.raises(ValueError, match=message):
            getattr(objective, method)(losses)


@pytest.mark.parametrize(
    ("objective", "wrong", "message", "right"),
    [
        (
            QFFL(1.0),
            [0.5, -1e-9],
            r"f_i >= 0 for QFFL\(q=1.0\), got -1e-09 at index \(1,\)",
            [0.5, 0.0],
        ),
        (QFFL(0.0), [-1.0, 1.0], "f_i >= 0", [0.0, 1.0]),
        (
            PropFair(2.0),
            [0.5, 2.0000001],
            r"f_i <= M = 2 for PropFair\(M=2.0\), got 2.0000001",
            [2.0, -50.0],
        ),
        (PropFair(2.0).translate([0.0, 1.0]), [0.5, 3.5], r"got 3.5 at index \(1,\)", [2.0, 3.0]),
        (PropFair(2.0).perspective(0.5), [0.5, 1.5], "got 1.5", [1.0, 0.0]),
        (QFFL(1.0).translate(1.0), [0.5, 1.5], "got 0.5", [1.0, 1.5]),
        (KolmogorovMean(t**2, lower=0.0), [-1.0, 1.0], "f_i >= 0", [0.0, 1.0]),
        (
            FedAvg().weighted([0.5, 0.5]),
            [1.0, 2.0, 3.0],
            "n = 2 clients .*as many as client_weights",
            [1.0, -2.0],
        ),
        (AFL().translate([0.0, 1.0]), [1.0, 2.0, 3.0], "as many as shift", [1.0, -2.0]),
    ],
    ids=no_address,
)
def test_losses_outside_the_domain_raise(objective, wrong, message, right):
    for method in ("value", "dual_weights"):
        with pytest.raises(ValueError, match=message):
            getattr(objective, method)(wrong)
    assert np.isfinite(objective.value(right))
    assert objective.domain.contains(right)
    if len(wrong) == 2:
        assert not objective.domain.contains(wrong)


@pytest.mark.parametrize(
    "objective", [o for o in EVERYTHING if "Kolmogorov" not in repr(o)], ids=repr
)
def test_wrong_conjugate_arguments_raise(objective):
    for weights, message in [
        ([0.5, NAN], r"weights must be finite, got nan at index \(1,\)"),
        ([0.5, INF], "must be finite, got inf"),
        ([], "n >= 1"),
        (1.0, "n >= 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            objective.conjugate(weights)
    with pytest.raises(ValueError, match="domain must be 'native' or 'nonnegative', got 'real'"):
        objective.conjugate([0.5, 0.5], "real")
    with pytest.raises(ValueError, match="tolerance must be a number >= 0, got -1"):
        objective.conjugate([0.5, 0.5], tolerance=-1)
    assert not np.isnan(objective.conjugate([0.5, 0.5]))


def test_the_error_names_the_first_bad_loss():
    f = np.full((5, 4, 3), 0.5)
    f[3, 1, 2] = -1
    f[4, 0, 0] = NAN
    with pytest.raises(ValueError, match=r"got -1.0 at index \(3, 1, 2\)"):
        QFFL(1.0).value(f)


def test_arguments_are_not_changed():
    f = np.random.default_rng(60).uniform(0.1, 0.9, (20, 2))
    f[3] = 0.5
    for objective in EVERYTHING:
        kept = f.copy()
        _, weights = objective.value_and_dual_weights(kept)
        assert (kept == f).all() and weights.flags.writeable and not np.shares_memory(weights, kept)


def test_the_registry_finds_a_new_file():
    assert {"fedavg", "qffl", "afl", "term", "propfair", "rank_weighted", "kolmogorov"} <= set(
        objectives()
    )
    for name, cls in objectives().items():
        assert cls.name == name and all(isinstance(o, cls) for o in cls.examples())


def test_numpy_alone_is_imported():
    code = (
        "import sys, fairfl.theory.aggregation as a; a.TERM(1.0).value([0.0, 1.0]); a.objectives()"
    )
    code += (
        "; assert not {'torch', 'sympy', 'scipy.optimize'} & set(sys.modules), 'too much imported'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
