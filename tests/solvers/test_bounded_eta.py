"""An η that stays within (0.1, 0.9): thresholds run to ±inf at finite multipliers, and optima
randomise.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from strategies import PROBIT, federations, local_budgets, mixtures, normals

import fairfl as ff
from fairfl.solvers.solution import LAW_TOLERANCE
from fairfl.theory.populations.fedfb_figures import MEANS_5
from fairfl.theory.populations.laws import Mixture

SCHEMES = ("cfl", "lft_ensemble", "lft_fedavg")
FEWER = settings(max_examples=max(10, settings.default.max_examples // 5))  # type: ignore[union-attr]
BUDGETS = st.sampled_from([0.0, 1e-9, 1e-3, 0.02, 0.1, 0.3])


@st.composite
def bounded(draw: st.DrawFn) -> ff.Federation:
    """Federations of normals and mixtures with PROBIT as everybody's η."""
    fed = draw(federations(law=st.one_of(normals(), mixtures()), max_clients=3, eta="shared"))
    model: Any = fed.model
    shape = zip(model.laws, fed.q, fed.weight, strict=True)
    return ff.Federation(
        [ff.Client(laws, q=float(q), weight=float(w)) for laws, q, w in shape], eta=PROBIT
    )


def check(fed: ff.Federation, s: ff.Solution) -> None:
    """Certified, and the classifier's own figures within its budgets."""
    for c in s.certificates:
        assert max(abs(c.gap), c.violation, c.numerical_error) <= LAW_TOLERANCE
    if s.scheme == "cfl":
        assert s.classifier.disparity(fed) <= s.eps[0] + 2 * LAW_TOLERANCE
    if s.scheme == "lft_fedavg":
        local = np.abs(s.classifier.local_mean_differences(fed)[fed.defined])
        assert (local <= s.eps[fed.defined] + 2 * LAW_TOLERANCE).all()


@given(bounded(), st.data())
def test_every_budget_is_certified(fed: ff.Federation, data: st.DataObject) -> None:
    check(fed, ff.solve(fed, "cfl", data.draw(BUDGETS)))
    eps = data.draw(local_budgets(fed))
    check(fed, ff.solve(fed, "lft_ensemble", eps))
    check(fed, ff.solve(fed, "lft_fedavg", eps))


@pytest.mark.slow
@FEWER
@given(bounded(), BUDGETS)
def test_as_the_programme_solves_it(fed: ff.Federation, eps: float) -> None:
    for scheme in ("cfl", "lft_fedavg"):
        exact = ff.solve(fed, scheme, eps).accuracy
        rough = ff.solve(fed, scheme, eps, method="lp", grid=600).accuracy
        # a rule that is constant on cells loses what 2η - 1 varies by in a cut cell, times its mass
        # of 1/600: less than 1e-3 while that is less than .6; above, HiGHS' own tolerance
        assert exact - 1e-3 <= rough <= exact + 1e-6


@pytest.mark.parametrize(
    ("laws", "q"),
    [
        ((stats.norm(2.625, 2), stats.norm(-3, 1.5)), 0.8125),
        ((stats.norm(1.5, 0.25), stats.norm(1.125, 2)), 0.0625),
        ((stats.norm(2.75, 0.25), stats.norm(2.25, 2)), 0.125),
    ],
)
def test_one_client_whose_fair_rule_is_a_mixture(laws: tuple[Any, Any], q: float) -> None:
    # next to λ = M_a (1 - 2·0.1) two neighbouring doubles are 1e-9 to 1e-6 of MD apart, on both
    # sides of zero
    fed = ff.Federation([ff.Client(laws, q=q)], eta=PROBIT)
    found = [ff.solve(fed, scheme, 0.0) for scheme in SCHEMES]
    for s in found:
        check(fed, s)
        assert s.disparity <= 2 * LAW_TOLERANCE
        assert s.accuracy == pytest.approx(found[0].accuracy, abs=2 * LAW_TOLERANCE)


def test_three_clients_whose_fair_rule_is_a_mixture() -> None:
    # HiGHS called a single column optimal that breaks a constraint by 5e-10
    n = stats.norm
    clients = [
        ff.Client(
            (n(2.625, 2), Mixture([n(2.5, 0.25), n(0.75, 1), n(0.25, 1.5)], [8, 5, 8])),
            q=0.4375,
            weight=3,
        ),
        ff.Client((n(2.125, 0.5), n(2, 0.25)), q=0.9375, weight=7),
        ff.Client((n(2.625, 0.5), Mixture([n(-3, 1), n(0.75, 1)], [1, 5])), q=0.1875, weight=8),
    ]
    fed = ff.Federation(clients, eta=PROBIT)
    check(fed, ff.solve(fed, "lft_fedavg", [0, 0, 0.03125]))


def test_frontiers_of_a_bounded_eta() -> None:
    fed = ff.Federation.normal(MEANS_5, sd=1.0, q=[0.3, 0.7], eta=PROBIT)
    cfl = ff.frontier(fed, "cfl", points=9)
    assert cfl.disparity[0] == 0 and (np.diff(cfl.accuracy) > 0).all()
    F = ff.frontier(fed, "lft_fedavg", points=9)
    assert (F.accuracy <= cfl.accuracy_at(F.disparity) + 1e-10).all()
    for d, accuracy, eps in zip(F.disparity, F.accuracy, F.eps, strict=True):
        s = ff.solve(fed, "lft_fedavg", eps)
        assert s.accuracy == pytest.approx(accuracy, abs=1e-9) and s.disparity == pytest.approx(
            d, abs=1e-7
        )
