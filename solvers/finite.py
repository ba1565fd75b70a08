"""CFL, LFT+Ensemble and LFT+FedAvg on a finite X, certified to 1e-12."""

from __future__ import annotations

import dataclasses

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.cfl.finite_path import FlipPath, flip_path
from fairfl.solvers.lft_fedavg.finite_ties import least_disparate
from fairfl.solvers.numerics.box_lp import solve_box
from fairfl.solvers.solution import FINITE_TOLERANCE, Certificate, Solution, evaluate
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel
from fairfl.theory.populations.notions import pair_rows

ADVICE = "use method='lp'"


def pooled_path(fed: Federation, model: FiniteModel) -> FlipPath:
    """The whole CFL path for demographic parity and two groups."""
    joint = np.einsum("ia,ian->an", fed.mass, model.conditional)
    gain = model.gain(fed.mass)
    if model.shared:
        margin = 2.0 * model.eta[0] - 1.0
    else:
        margin = np.divide(gain, joint, out=np.zeros_like(gain), where=joint > 0)
    return flip_path(margin, fed.group_mass, joint / fed.group_mass[:, None])


def local_path(fed: Federation, model: FiniteModel, client: int) -> FlipPath:
    """Client ``client``'s own path: its law and its η decide, also at points it never saw."""
    return flip_path(2.0 * model.eta[client] - 1.0, fed.share[client], model.conditional[client])


def solve_cfl_finite(fed: Federation, model: FiniteModel, eps: Array, notion: str = "dp") -> Solution:
    """Certified CFL(eps) for a notion; demographic parity of two groups by one sort, all else by the programme."""
    if notion == "dp" and fed.n_groups == 2:
        f, lam = pooled_path(fed, model).classifier(float(eps[0]))
        v = pair_rows(fed, "dp")
        return _certified(fed, model, "cfl", eps, f, v, eps, np.array([lam]))
    v = pair_rows(fed, notion)
    budgets = np.full(v.shape[0], eps[0])
    found = solve_box(model.gain(fed.mass).ravel(), v, budgets)
    solution = _certified(fed, model, "cfl", eps, found.f.reshape(fed.n_groups, -1), v, budgets, found.multipliers)
    worst = float(np.abs(v @ found.f).max(initial=0.0))
    return solution if notion == "dp" else dataclasses.replace(solution, disparity=worst)


def solve_fedavg_finite(fed: Federation, model: FiniteModel, eps: Array, start: Array | None = None) -> Solution:
    """Certified LFT+FedAvg(eps): the linear programme's optimum, with randomised ties; of several the fairest."""
    v, gain = local_rows(fed, model), model.gain(fed.mass).ravel()
    found = solve_box(gain, v, eps, start)
    f = least_disparate(gain, v, pooled_row(fed, model), eps, found)
    return _certified(fed, model, "lft_fedavg", eps, f.reshape(2, -1), v, eps, found.multipliers)


def pooled_row(fed: Federation, model: FiniteModel) -> Array:
    """(2n,) row of the pooled MD."""
    rates = np.einsum("ia,ian->an", fed.within, model.conditional)
    return np.concatenate([rates[0], -rates[1]])


def local_rows(fed: Federation, model: FiniteModel) -> Array:
    """(I, 2n) rows of MD_i; zero for clients without both groups, which no constraint binds."""
    v = np.stack([model.conditional[:, 0], -model.conditional[:, 1]], axis=1)
    v[~fed.defined] = 0.0
    return v.reshape(fed.n_clients, -1)


def _certified(
    fed: Federation, model: FiniteModel, scheme: str, eps: Array, f: Array, v: Array, budgets: Array, lam: Array
) -> Solution:
    gain = model.gain(fed.mass).ravel()
    base = 1.0 - fed.base_rate
    price = np.where(lam == 0, 0.0, np.abs(lam) * np.where(lam == 0, 0.0, budgets)).sum()
    dual = base + float(np.maximum(gain + lam @ v, 0.0).sum()) + float(price)
    violation = float(np.maximum(np.abs(v @ f.ravel()) - budgets, 0.0).max(initial=0.0))
    certificate = Certificate(base + float(gain @ f.ravel()), dual, violation)
    certificate.check(FINITE_TOLERANCE, ADVICE)
    return evaluate(fed, scheme, eps, Classifier.on_points(model.points, f), lam, (certificate,))


def solve_ensemble_finite(fed: Federation, model: FiniteModel, eps: Array) -> Solution:
    """LFT+Ensemble(eps): local paths, each certified on its client's own law, averaged by weight."""
    lam, members, certificates = np.zeros(fed.n_clients), [], []
    for i in range(fed.n_clients):
        margin = 2.0 * model.eta[i] - 1.0
        if not fed.defined[i]:
            members.append((margin > 0).astype(np.float64))
            continue
        f, lam[i] = local_path(fed, model, i).classifier(float(eps[i]))
        members.append(f)
        gain = fed.share[i][:, None] * model.conditional[i] * margin
        v = model.conditional[i] * np.array([[1.0], [-1.0]])
        dual = float(np.maximum(gain + lam[i] * v, 0.0).sum()) + (abs(lam[i]) * float(eps[i]) if lam[i] else 0.0)
        violation = max(abs(float((v * f).sum())) - float(eps[i]), 0.0)
        certificates.append(Certificate(float((gain * f).sum()), dual, violation))
        certificates[-1].check(FINITE_TOLERANCE, ADVICE)
    f = np.einsum("i,ian->an", fed.weight, np.stack(members))
    rule = Classifier.on_points(model.points, np.clip(f, 0.0, 1.0))  # rounding of a convex combination only
    return evaluate(fed, "lft_ensemble", eps, rule, lam, tuple(certificates) or (Certificate(0.0, 0.0, 0.0),))
