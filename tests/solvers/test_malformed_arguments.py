"""Every argument of public constructors and solvers, replaced by nonsense, is taken or named."""

# ruff: noqa: F401 (the texts of values and calls have these names)
import re
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit
from text_tables import table

import fairfl as ff
from fairfl.solvers.solution import CertificationError
from fairfl.theory.aggregation import AFL, QFFL, TERM, NoClosedForm, PropFair, RankWeighted

DEEP: Any = 1.0
for _ in range(500):
    DEEP = [DEEP]
PAIR = (stats.norm(0, 1), stats.norm(1, 1))
NASTY = """
None; True; "x"; ""; b"x"; "0.5"; []; {}; (); set(); [None]; ["x"]; [[]]; [[1], [1, 2]]; [0.5, 0.6]
[[0.5]] * 3; object(); len; int; 1j; np.array([1j]); np.array("2020-01-01", "M8[D]"); np.array([])
np.full((2, 2, 2), 0.25); DEEP; float("nan"); float("inf"); -float("inf"); -1; 0; 0.3; 2; 3.5
5e-324; 1e-300; 1e300; 1e308; -1e308; 3e15; 99999999999; 10**400; -(10**400); 10**5000; [10**400, 1]
[1e308, 1e308]; [float("nan"), 1]; np.float64("inf"); np.int64(-1); [np.float64("inf")]
[np.float64(0.3)] * 3; np.ma.array([0.3, 0.6], mask=[False, True]); [[0, 1], [2]]; [1]
Fraction(1, 3); stats.norm; stats.norm(); stats.norm([0, 1], 1); stats.norm(0, -1)
stats.norm(10**400); stats.poisson(2); stats.levy_stable(1.5, 0.5); stats.studentized_range(3, 10)
stats.norm(3e15, 1); stats.norm(3, 1e-300); ff.Logistic(); [ff.Logistic()] * 2
[[ff.Logistic()], 1]; ff.Finite([0.0], [1.0]); ff.Client(PAIR)
"""
VALUES = [eval(text) for line in NASTY.split("\n") for text in line.split("; ") if text]
ATOMS = ff.Federation.finite([0.0, 1.0], np.full((2, 2, 2), 0.25), [0.25, 0.75])
LAWS = ff.Federation.normal([[0, 1], [1, 0]], q=[0.3, 0.6])
PEOPLE = {
    "score": [0.1, 0.2, 0.3, 0.1] * 20,
    "label": [0, 1, 1, 0] * 20,
    "group": [0, 1, 0, 1] * 20,
    "client": [0, 0, 1, 1] * 20,
}
RULE = ff.Classifier.thresholds([0.0, 1.0])
AWARE: Any = ff.solve(LAWS, "client_aware", 0.1).classifier
LOSSES, WEIGHTS = [0.5, 1.0, 1.5], [0.2, 0.3, 0.5]


def client(**fields: Any) -> ff.Federation:
    return ff.Federation(
        [ff.Client(**{"laws": PAIR, "q": 0.4, "weight": 1.0, **fields}), ff.Client(PAIR)]
    )


CALLS = table("""
ff.Federation | clients=[ff.Client(PAIR)], eta=None
lambda clients: ff.Federation([clients]) | clients=ff.Client(PAIR)
client | laws=PAIR, q=0.4, weight=1.0
lambda laws: ff.Federation([ff.Client(PAIR), ff.Client((PAIR[0], laws))]) | laws=PAIR[1]
ff.Federation.normal | mean=[[0, 1], [1, 0]], sd=1.0, q=0.5, weight=[1, 2], eta=None
ff.Federation.finite
    | points=[0.0, 1.0], masses=np.full((2, 2, 2), 0.25), eta=[0.2, 0.8], weight=[1, 2]
ff.Federation.from_samples | **PEOPLE, calibrate="shared", weight=[1, 2], levels=2
ff.Federation.from_counts | counts=[[[[9, 1], [1, 9]]] * 2] * 2, score=[0, 1], weight=[1, 2]
LAWS.alone | client=1
RULE.accept | a=1
AWARE.__getitem__ | client=1
ff.Mixture | laws=PAIR, weights=[1, 2]
ff.Finite | points=[0.0, 1.0], masses=[0.5, 0.5]
ff.Samples | values=[0.0, 1.0]
ff.Logistic | slope=1.0, intercept=0.0
ff.Monotone | function=expit, inverse=logit, low=0.0, high=1.0
ff.solve | federation=LAWS, scheme="cfl", eps=0.1, method="exact", notion="dp"
ff.solve | federation=LAWS, scheme="cfl", eps=0.1, method="lp", grid=20
ff.solve | federation=ATOMS, scheme="lft_fedavg", eps=[0.1, 0.2]
ff.frontier | federation=ATOMS, scheme="lft_ensemble", points=5, notion="dp"
ff.min_disparity | federation=ATOMS, scheme="lft_ensemble", certify=False
ff.frontier(ATOMS, "cfl", points=3).accuracy_at | disparity=0.2
QFFL | q=1.0
TERM | alpha=1.0
PropFair | M=2.0
RankWeighted.arithmetic | p1=1.0, d=1.0
RankWeighted.geometric | z=0.5
RankWeighted.cvar | level=0.5
""")
CALLS += [
    (f"{objective}.{method}", f"{argument}={right}")
    for objective in ("QFFL(1.0)", "AFL()", "TERM(1.0)", "PropFair(2.0)", "RankWeighted.gini()")
    for method, argument, right in (
        ("value", "losses", LOSSES),
        ("dual_weights", "losses", LOSSES),
        ("conjugate", "weights", WEIGHTS),
    )
]
"""Functions, and arguments that they take."""


def evaluated(call: str, arguments: str) -> tuple[Callable[..., Any], dict[str, Any]]:
    return eval(call), eval(f"dict({arguments})")


ALIASES = {"q": "q|group", "masses": "masses|group", "clients": "clients|law|group", "laws": "law"}
ALIASES |= {"mean": "mean|laws", "sd": "sd|laws", "function": "function|inverse"}
ALIASES |= {"points": "points|masses", "eta": "eta|lft|certif", "scheme": "scheme|eps"}
ALIASES |= {"score": "score|counts"}
"""What an error may call an argument beside its own name: a group that q leaves empty, and the
like.
"""


@pytest.mark.parametrize(
    ("row", "argument"), [(row, key) for row in CALLS for key in evaluated(*row)[1]], ids=str
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_an_argument_is_taken_or_named(row: tuple[str, str], argument: str) -> None:
    call, arguments = evaluated(*row)
    for value in VALUES:
        try:
            call(**{**arguments, argument: value})
            assert not np.ma.is_masked(value), "a mask was lost"
        except (CertificationError, NoClosedForm):
            # documented: nothing certified; nothing to compute it by
            continue
        except ValueError as error:
            text = str(error)
            assert re.search(ALIASES.get(argument, argument), text), f"{value!r:.60}: {text}"
            assert "np." not in text
            assert len(text) < 300 and "\n" not in text, f"{value!r:.60}: {text}"
        except Exception as error:
            pytest.fail(f"{argument} = {value!r:.60} ended in {type(error).__name__}: {error}")


def test_the_right_arguments_are_taken() -> None:
    for row in CALLS:
        call, arguments = evaluated(*row)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert call(**arguments) is not None, row
