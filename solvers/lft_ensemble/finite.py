"""LFT+Ensemble(eps) on a finite X: each client's own knapsack, certified, and their average by
weight.
"""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.cfl.finite_path import FlipPath, flip_path
from fairfl.solvers.numerics.box_lp import dual_value
from fairfl.solvers.solution import ADVICE, FINITE_TOLERANCE, Certificate, Solution, evaluate
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel


def local_path(fed: Federation, model: FiniteModel, client: int) -> FlipPath:
    """Client ``client``'s own path: its law and its η decide, also at points it never saw."""
    return flip_path(2.0 * model.eta[client] - 1.0, fed.share[client], model.conditional[client])


def solve_ensemble_finite(fed: Federation, model: FiniteModel, eps: Array) -> Solution:
    """LFT+Ensemble(eps): local paths, each certified on its client's own law, averaged by
    weight.
    """
    lam, members, certificates = np.zeros(fed.n_clients), [], []
    for i in range(fed.n_clients):
        margin = 2.0 * model.eta[i] - 1.0
        if not fed.defined[i]:
            members.append((margin > 0).astype(np.float64))
            continue
        f, lam[i] = local_path(fed, model, i).classifier(float(eps[i]))
        members.append(f)
        gain = (fed.share[i][:, None] * model.conditional[i] * margin).ravel()
        v = (model.conditional[i] * np.array([[1.0], [-1.0]])).ravel()
        dual = dual_value(gain, v[None], eps[[i]], lam[[i]])
        violation = max(abs(float(v @ f.ravel())) - float(eps[i]), 0.0)
        certificates.append(Certificate(float(gain @ f.ravel()), dual, violation))
        certificates[-1].check(FINITE_TOLERANCE, ADVICE)
    f = np.einsum("i,ian->an", fed.weight, np.stack(members))
    # rounding of a convex combination only
    rule = Classifier.on_points(model.points, np.clip(f, 0.0, 1.0))
    return evaluate(
        fed, "lft_ensemble", eps, rule, lam, tuple(certificates) or (Certificate(0.0, 0.0, 0.0),)
    )


def ensembles_at(fed: Federation, model: FiniteModel, eps: Array) -> tuple[Array, Array]:
    """Pooled MD (P,) and accuracy (P,) of the solutions at budgets (P, I)."""
    rules = np.zeros((len(eps), fed.n_groups, model.points.size))
    for i, weight in enumerate(fed.weight):
        if fed.defined[i]:
            path = local_path(fed, model, i)
            rules += weight * np.stack([path.classifier(float(v))[0] for v in eps[:, i]])
        else:
            rules += weight * (2.0 * model.eta[i] - 1.0 > 0)
    rate = np.einsum("ia,ian,pan->pa", fed.within, model.conditional, rules)
    accuracy = 1.0 - fed.base_rate + np.einsum("an,pan->p", model.gain(fed.mass), rules)
    return rate[:, 0] - rate[:, 1], accuracy
