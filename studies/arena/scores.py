"""Scores of learned rules and models on the laws: their distances to certified optima."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from scipy.special import expit

from fairfl._support.checks import Array
from fairfl.solvers.densities.problem import Rule
from fairfl.solvers.minimax.solve_minimax import solve_minimax
from fairfl.solvers.schemes import SOLVED
from fairfl.studies.arena.published import Published
from fairfl.studies.crosscheck.population.frontier_distance import TOLERANCE, optimum
from fairfl.studies.crosscheck.population.learned_rules import Performance
from fairfl.theory.aggregation import AFL, FedAvg, Objective
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.client_classifiers import ClientClassifiers

CLOSED = 1e-7
"""Tolerance of a minimum over models, whose certificate closes to a tenth of it, relative."""
PARETO, PERSONAL = "pareto", "personal"
"""Aims: no model lowers all clients' losses at once; each client's loss of its own model."""
Aim = Objective | str


class AboveOptimum(RuntimeError):
    """A rule or model that is better than a certified optimum."""


def rule_scores(
    place: Published, scheme: Aim, rule: Rule, members: Sequence[Classifier] = ()
) -> dict[str, float]:
    """Accuracy and disparities of a rule, and how much more accurate certified optima are:
    ``below_cfl``, CFL's at the rule's |MD|, or the client-aware one's for f(x, a, i);
    ``below_scheme``, LFT+FedAvg's at each client's |MD_i|, or of an ensemble the mean over clients
    of the client's optimum at its member's |MD| less the member's accuracy, else as the first.
    ``limited`` is the disparity that the scheme limits.
    """
    fed, worth = place.federation, Performance.of(rule, place.federation)
    parts: Any = place.parts  # an optimum reads a world's federation alone
    world: Any = place
    bound = "client_aware" if isinstance(rule, ClientClassifiers) else "cfl"
    below_cfl = [optimum(world, bound, worth.disparity) - worth.accuracy]
    below_scheme, local = below_cfl, np.abs(worth.local)
    if scheme == "lft_fedavg":
        below_scheme = [optimum(world, "lft_fedavg", local) - worth.accuracy]
    elif scheme == "lft_ensemble":
        pairs = list(zip(parts, members, strict=True))
        worths = [Performance.of(member, part.federation) for part, member in pairs]
        local = np.array([member.disparity for member in worths])
        best = [optimum(part, "cfl", d) for part, d in zip(parts, local, strict=True)]
        below_scheme = [b - member.accuracy for b, member in zip(best, worths, strict=True)]
    not_above(place, [*below_cfl, *below_scheme], TOLERANCE)
    weights = fed.weight if scheme == "lft_ensemble" else None
    limited = worth.disparity if SOLVED[str(scheme)].is_pooled else float(np.nanmax(local))
    row = {"accuracy": worth.accuracy, "disparity": worth.disparity, "limited": limited}
    distance = float(np.average(below_scheme, weights=weights))
    return row | {"below_cfl": below_cfl[0], "below_scheme": distance}


def not_above(place: Published, distances: Sequence[float], tolerance: float) -> None:
    """AboveOptimum where a distance is negative."""
    if min(distances) < -tolerance:
        raise AboveOptimum(f"{place.name}: {-min(distances):.3g} better than a certified optimum")


@dataclass(frozen=True, eq=False)
class LogLosses:
    """F_i(θ) = E_i[log(1 + exp s) - η s], s = features·θ: the clients' losses on the laws.

    ``features`` (I, N, P), ``mass`` (I, N) P(x, a | i), ``eta`` (I, N).
    """

    features: Array
    mass: Array
    eta: Array

    @classmethod
    @cache
    def of(cls, place: Published) -> "LogLosses":
        """The losses of a federation's clients."""
        x, mass, eta = (np.asarray(part) for part in place.people)
        group = np.broadcast_to(np.arange(x.shape[1])[:, None], x.shape)
        features, size = place.basis(x.ravel(), group.ravel()), len(x)
        return cls(
            features.reshape(size, x[0].size, -1), mass.reshape(size, -1), eta.reshape(size, -1)
        )

    @cached_property
    def alone(self) -> list["LogLosses"]:
        """Those of each client by itself."""
        parts = zip(self.features, self.mass, self.eta, strict=True)
        return [LogLosses(*(part[None] for part in row)) for row in parts]

    def __call__(self, theta: Array) -> tuple[Array, Array]:
        """(I,) and slopes (I, P), of one model θ (P,) or each client's own (I, P)."""
        models = np.broadcast_to(theta, (len(self.mass), self.features.shape[2]))
        score = np.einsum("inp,ip->in", self.features, models)
        losses = (self.mass * (np.logaddexp(0.0, score) - self.eta * score)).sum(axis=1)
        return losses, np.einsum("in,inp->ip", self.mass * (expit(score) - self.eta), self.features)


@cache
def minimum(losses: LogLosses, objective: Objective) -> float:
    """The certified least value of an objective over all models."""
    start = np.zeros(losses.features.shape[2])
    return solve_minimax(losses, objective, start, jac=True, tolerance=CLOSED / 10).value


def gap(place: Published, aim: Aim, params: Array) -> float:
    """The objective at a model (P,), or at the clients' own (I, P), less its certified minimum. Of
    ``PARETO`` the most by which another model lowers every client's loss; of ``PERSONAL`` the mean
    over clients, by weight, of what each one's model could gain.
    """
    losses, weight = LogLosses.of(place), place.federation.weight
    values, _ = losses(params)
    if isinstance(aim, Objective):
        lead = float(aim.value(values)) - minimum(losses, aim)
    elif aim == PARETO:

        def gains(theta: Array) -> tuple[Array, Array]:
            others, slopes = losses(theta)
            return others - values, slopes

        lead = -solve_minimax(gains, AFL(), params, jac=True, tolerance=CLOSED).value
    else:
        best = [minimum(alone, FedAvg()) for alone in losses.alone]
        lead = float(weight @ (values - best))
    not_above(place, [lead], CLOSED)
    return lead
