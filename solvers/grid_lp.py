"""The three schemes by a linear programme (cvxpy) on a discretised X: slow, and independent of all
other solvers.

Cells are intervals of X; their masses are exact (distribution functions) and their gains are
Gauss-Legendre integrals of η against the density. The optimum is the best classifier that is
constant on cells: its accuracy is a lower bound on the exact one, and the difference is of the
order of the cells' width squared. No code is shared with the exact solvers.
"""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np

from fairfl._support.checks import Array, whole
from fairfl.solvers.solution import Certificate, CertificationError, Solution, evaluate
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.continuous import ContinuousModel
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel
from fairfl.theory.populations.notions import pair_rows

MOST_CELLS = 100_000
"""Cells of a grid: the linear programme has a variable for each, and group, and client."""
LP_TOLERANCE = 1e-6
"""Gap and violation allowed to the interior-point and simplex codes behind cvxpy."""


def solve_lp(fed: Federation, scheme: str, eps: Array, notion: str, grid: int) -> Solution:
    """Solve on ``grid`` cells (continuous X) or on the points themselves (finite X)."""
    whole("grid", grid, 2, MOST_CELLS)
    cells = _finite_cells(fed) if fed.is_finite else _continuous_cells(fed, grid)
    if scheme == "lft_ensemble":
        return _ensemble(fed, cells, eps)
    gain = np.einsum("ia,iac->ac", fed.mass, cells["own_gain"])
    if scheme == "lft_fedavg":
        rows = np.stack([cells["rate"][:, 0], -cells["rate"][:, 1]], axis=1)[fed.defined]
        budgets, where = eps[fed.defined], np.flatnonzero(fed.defined)
        f, lam, gap = _linear_programme(gain, rows, budgets)
        full = np.zeros(fed.n_clients)
        full[where] = lam
    else:
        rows = _pooled_rows(fed, cells, notion)
        f, full, gap = _linear_programme(gain, rows, np.full(rows.shape[0], eps[0]))
    return _finish(fed, scheme, eps, cells, f, full, (gap,))


def _linear_programme(gain: Array, rows: Array, eps: Array) -> tuple[Array, Array, Certificate]:
    """max gain·f, |rows·f| <= eps, 0 <= f <= 1: f (A, C), multipliers (K,), certificate."""
    f = cp.Variable(gain.size, bounds=[0, 1])
    bounded = np.flatnonzero(np.isfinite(eps))
    table = rows.reshape(rows.shape[0], -1)[bounded]
    limits: list[Any] = []
    if bounded.size:
        limits = [table @ f <= eps[bounded], -(table @ f) <= eps[bounded]]
    problem = cp.Problem(cp.Maximize(gain.ravel() @ f), limits)
    tight = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}
    problem.solve(solver=cp.HIGHS, **tight)
    if f.value is None:
        raise CertificationError(
            f"the linear programme ended with status {problem.status!r}; try another grid"
        )
    value = np.clip(f.value, 0.0, 1.0)  # the solver's own feasibility tolerance
    lam = np.zeros(rows.shape[0])
    if bounded.size:
        lam[bounded] = limits[1].dual_value - limits[0].dual_value
    flat = rows.reshape(rows.shape[0], -1)
    dual = float(
        np.maximum(gain.ravel() + lam @ flat, 0).sum() + (np.abs(lam[bounded]) * eps[bounded]).sum()
    )
    violation = float(np.maximum(np.abs(flat @ value) - eps, 0.0).max(initial=0.0))
    certificate = Certificate(float(gain.ravel() @ value), dual, violation)
    certificate.check(LP_TOLERANCE, "try another grid")
    return value.reshape(gain.shape), lam, certificate


def _finite_cells(fed: Federation) -> dict[str, Array]:
    model = fed.model
    assert isinstance(model, FiniteModel)
    return {
        "rate": model.conditional,
        "own_gain": model.conditional * (2.0 * model.eta - 1.0),
        "margin": 2.0 * model.eta - 1.0,
    }


def _continuous_cells(fed: Federation, grid: int) -> dict[str, Array]:
    """Cells of about equal pooled mass with extra ones in the tails; own gains per unit of client
    and group.
    """
    model = fed.model
    assert isinstance(model, ContinuousModel)
    laws = [law for pair in model.laws for law in pair]
    low, high = min(law.low for law in laws), max(law.high for law in laws)
    fine = np.unique(np.concatenate([np.linspace(law.low, law.high, 4000) for law in laws]))
    mass = np.sum(
        [np.einsum("i,ix->x", fed.mass[:, a], 1.0 - model.sf(a, fine)) for a in (0, 1)], axis=0
    )
    keep = np.append(np.diff(mass) > 0, True)  # np.interp needs an increasing function
    edges = np.interp(np.linspace(0, 1, grid + 1)[1:-1], mass[keep], fine[keep])
    edges = np.unique(np.concatenate([[low], edges, [high]]))
    nodes, weights = np.polynomial.legendre.leggauss(8)
    half = np.diff(edges)[:, None] / 2
    x = edges[:-1, None] + half * (nodes + 1)
    rate = np.stack([model.interval_masses(a, edges[:-1], edges[1:]) for a in (0, 1)], axis=1)
    own = np.stack(
        [
            np.einsum("n,icn->ic", weights, model.pdf(a, x) * model.margins(a, x)) * half[:, 0]
            for a in (0, 1)
        ],
        axis=1,
    )
    middle = edges[:-1] + half[:, 0]
    margin = np.stack(
        [np.broadcast_to(model.margins(a, middle), (fed.n_clients, middle.size)) for a in (0, 1)],
        axis=1,
    )
    return {"rate": rate, "own_gain": own, "margin": margin, "edges": edges}


def _pooled_rows(fed: Federation, cells: dict[str, Array], notion: str) -> Array:
    if fed.is_finite:
        return pair_rows(fed, notion).reshape(-1, fed.n_groups, cells["rate"].shape[2])
    pooled = np.einsum("ia,iac->ac", fed.within, cells["rate"])
    return np.stack([pooled[0], -pooled[1]])[None]


def _ensemble(fed: Federation, cells: dict[str, Array], eps: Array) -> Solution:
    """A linear programme for each client; one without mass has none, and its multiplier's sign
    decides.
    """
    members, lams, certificates = [], np.zeros(fed.n_clients), []
    for i in range(fed.n_clients):
        gain = fed.share[i][:, None] * cells["own_gain"][i]
        rows = np.stack([cells["rate"][i, 0], -cells["rate"][i, 1]])[None]
        if not fed.defined[i]:
            members.append((cells["margin"][i] > 0).astype(np.float64))
            continue
        f, lam, certificate = _linear_programme(gain, rows, eps[i : i + 1])
        lams[i] = lam[0]
        score = cells["margin"][i] + lam[0] * np.array([[1.0], [-1.0]]) / fed.share[i][:, None]
        members.append(np.where(cells["rate"][i] > 1e-9, f, (score > 0).astype(np.float64)))
        certificates.append(certificate)
    f = np.einsum("i,iac->ac", fed.weight, np.stack(members))
    return _finish(
        fed,
        "lft_ensemble",
        eps,
        cells,
        f,
        lams,
        tuple(certificates) or (Certificate(0.0, 0.0, 0.0),),
    )


def _finish(
    fed: Federation,
    scheme: str,
    eps: Array,
    cells: dict[str, Array],
    f: Array,
    lam: Array,
    certificates: tuple[Certificate, ...],
) -> Solution:
    model = fed.model
    if isinstance(model, FiniteModel):
        rule = Classifier.on_points(model.points, np.clip(f, 0, 1))
    else:
        inner = cells["edges"][1:-1]
        rule = Classifier([inner, inner], [np.clip(row, 0, 1) for row in f])
    return evaluate(fed, scheme, eps, rule, lam, certificates)
