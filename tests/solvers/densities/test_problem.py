"""solve() on densities for every scheme, notion, difference, cost, sight and number of groups:
against integrals of the definitions, and the programme on cells.
"""

from dataclasses import replace
from typing import Any

import audit
import numpy as np
import pytest
from tasks import by_group, check, random_question
from tasks import federation_of_laws as federation

import fairfl as ff
from fairfl.solvers.densities.problem import DensityProblem
from fairfl.solvers.solution import LAW_TOLERANCE
from fairfl.solvers.task import Task

MEASURED = 1e-9
"""What 24 nodes of Gauss-Legendre on a quarter of the smallest sd leave open."""
CLOSE = 2e-10
"""Twice what ``solve`` certifies."""
CELLS = 300
LOST, WON = 1e-3, 2e-6
"""By how much the programme on CELLS cells may be below and above, in units of the largest cost:
rules that are constant on cells (a fourth with twice the cells), and mean η from eight nodes.
"""


def compared(seed: int) -> tuple[float, float]:
    """By how much the programme on cells is below and above; NaN where it is not certified."""
    rng = np.random.default_rng(seed)
    fed = federation(rng)
    scheme, eps, task = random_question(rng, fed)
    s = ff.solve(fed, scheme, eps, **task)
    check(fed, s, eps, task, LAW_TOLERANCE, MEASURED)
    if scheme == "lft_ensemble":  # its members are CFL of a client alone
        i = int(fed.share.min(axis=1).argmax())  # all groups are there
        model: Any = fed.model
        task["costs"] = tuple(by_group(task["costs"], fed))
        fed = ff.Federation([ff.Client(model.laws[i], fed.share[i])], [model.etas[i]])
        whole, eps = s, eps[i]
        s = ff.solve(fed, "cfl", eps, **task)
        rest = {key: task[key] for key in ("notion", "difference", "costs", "sees")}
        if not Task.of(fed, scheme, **rest).plain:
            assert whole.certificates[i].primal == pytest.approx(1 + s.utility, abs=CLOSE)
    try:
        lp = ff.solve(fed, s.scheme, eps, method="lp", grid=CELLS, **task)
    except ff.CertificationError:  # of blind rules under many equations, some programmes are not
        return np.nan, np.nan
    # the programme's rule may break budgets, since its η are means: each is worth λ at most
    over = [lp.disparity - eps] if s.scheme in ("cfl", "client_aware") else []
    if s.scheme != "cfl":
        over.append(lp.local_disparities - (s.eps if s.local_eps is None else s.local_eps))
    worth = np.abs(s.multipliers).sum() * np.nanmax(np.maximum(np.hstack(over), 0.0), initial=0.0)
    unit = by_group(task["costs"], fed).max()
    return (s.utility - lp.utility) / unit, (lp.utility - worth - s.utility) / unit


@pytest.mark.parametrize("seed", range(300))
@pytest.mark.every(15)
def test_solutions_are_measured_and_the_programmes(seed: int) -> None:
    below, above = compared(seed)
    if np.isnan(below):
        pytest.skip("the programme on cells is not certified")
    assert below <= LOST and above <= WON


@pytest.mark.parametrize(
    ("seed", "turn", "gap"),
    [(1052, 0, 5e-12), (1155, 0, 5e-12), (1298, 0, 5e-12), (470, 4, 1e-10), (887, 1, 1e-10)],
)
def test_mixtures_close_the_gap(seed: int, turn: int, gap: float) -> None:
    """Optima that are randomised at several places: HiGHS at its own tolerance leaves out rules
    that add 1e-10. Of blind rules with equalised odds and local budgets of zero, cells of the last
    round alone leave 4e-9, and HiGHS at its own tolerance ends with multipliers of 4e8.
    """
    rng = np.random.default_rng(seed)
    fed = federation(rng)
    scheme, eps, task = [random_question(rng, fed) for _ in range(turn + 1)][turn]
    s = ff.solve(fed, scheme, eps, **task)
    unit = max(1.0, by_group(task["costs"], fed).max())
    assert max(abs(c.gap) for c in s.certificates) <= gap * unit


MISTAKES = {
    "the constant is left out": lambda c: {"b": 0 * c.b},
    "a group counts for another": lambda c: {"coefficients": c.coefficients[::-1]},
    "the gain is another group's": lambda c: {"profiles": c.profiles[::-1]},
}


def mistaken(name: str, p: DensityProblem) -> DensityProblem:
    if name not in MISTAKES:  # a budget is 1 % off
        return replace(p, eps=1.01 * p.eps)
    return replace(p, constraints=replace(p.constraints, **MISTAKES[name](p.constraints)))


@pytest.mark.parametrize("name", [*MISTAKES, "a budget is 1 % off"])
def test_mistakes_are_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """False variants: certificates, whose primal values are the rule's own, refuse them."""
    right = DensityProblem.of
    monkeypatch.setattr(DensityProblem, "of", lambda *task: mistaken(name, right(*task)))
    monkeypatch.setattr("fairfl.solvers.numerics.descent.ROUNDS", 3)
    notion = "accuracy_parity" if "constant" in name else "eo"
    for seed in (2, 3):
        fed = federation(np.random.default_rng(seed), clients=2, groups=2)
        with pytest.raises(ff.CertificationError):
            ff.solve(fed, "client_aware", 0.01, local_eps=0.01, notion=notion)


def test_the_programmes_ensemble_weighs_its_clients() -> None:
    mean, sd = [[0, 1], [1, -1]], [[1, 2], [0.5, 1]]
    fed = ff.Federation.normal(mean, sd, [0.3, 0.6], weight=[1, 5])
    exact, lp = (ff.solve(fed, "lft_ensemble", 0.05, method=method) for method in ("exact", "lp"))
    assert lp.accuracy == pytest.approx(exact.accuracy, abs=1e-3)
    assert lp.mean_difference == pytest.approx(exact.mean_difference, abs=1e-3)


@pytest.mark.parametrize("seed", [230, 240, 250])
def test_odds_equal_within_every_client_are_certified(seed: int) -> None:
    # Newton's method fails from the programme on cells, and HiGHS on the master problem scaled up;
    # with 230 everybody is accepted, and what Newton's method finds refuses 1e-9 of them
    fed = audit.Densities.random(np.random.default_rng([seed, 7])).build()
    s = ff.solve(fed, "lft_fedavg", 0.0, notion="eodds")
    assert abs(s.duality_gap) <= LAW_TOLERANCE
    assert np.nanmax(s.local_disparities) <= LAW_TOLERANCE
