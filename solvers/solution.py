"""Solution: the classifier, its accuracy and disparities, and the certificate of its optimality."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support.checks import Array
from fairfl._support.tabular import Tabular, numbered
from fairfl.solvers.plots import PlottedRules
from fairfl.solvers.task import Task
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.client_classifiers import ClientClassifiers
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel
from fairfl.theory.populations.notions import NOTIONS, Rates, disparity

LAW_TOLERANCE = 1e-10
"""What ``solve`` certifies for continuous laws: duality gap and constraint violation."""
FINITE_TOLERANCE = 1e-12  # the same for a finite X
ADVICE = "use method='lp'"


def tolerance(fed: Federation) -> float:
    """What ``solve`` certifies on this federation."""
    return FINITE_TOLERANCE if fed.is_finite else LAW_TOLERANCE


class CertificationError(RuntimeError):
    """No solution could be certified to its tolerance; the message says what to do.

    Examples
    --------
    >>> import fairfl as ff
    >>> fed = ff.Federation.normal(mean=[[3, 5], [1, -1]])
    >>> try:
    ...     s = ff.solve(fed, "lft_fedavg", eps=0.1)
    ... except ff.CertificationError:
    ...     s = ff.solve(fed, "lft_fedavg", eps=0.1, method="lp")
    >>> round(s.accuracy, 3)
    0.813
    """


@dataclass(frozen=True)
class Certificate:
    """Evidence that ``primal`` (the accuracy of a feasible classifier) is optimal for one problem.

    The local problems of an ensemble on continuous laws give both values relative to the local
    rule's own accuracy (``primal`` 0): the rule maximises its Lagrangian pointwise, so
    complementary slackness is the whole gap.

    By weak duality every feasible classifier has accuracy at most ``dual``; ``gap = dual -
    primal``. With other costs both count 1 + utility. ``violation`` is the largest max(|MD_k| -
    eps_k, 0), MD_k a constraint's difference of rates; ``numerical_error`` bounds the
    error of the integrals.

    Examples
    --------
    >>> import fairfl as ff
    >>> fed = ff.Federation.normal(mean=[[3, 5], [1, -1]])
    >>> (proof,) = ff.solve(fed, "cfl", eps=0.1).certificates
    >>> proof.gap <= 1e-10, proof.violation <= 1e-10
    (True, True)
    """

    primal: float
    dual: float
    violation: float
    numerical_error: float = 0.0

    @property
    def gap(self) -> float:
        """dual - primal (non-negative up to rounding)."""
        return self.dual - self.primal

    @property
    def worst(self) -> float:
        """The largest of gap, violation and numerical error."""
        return max(abs(self.gap), self.violation, self.numerical_error)

    def check(self, tolerance: float, advice: str) -> None:
        """Raise :class:`CertificationError` unless ``worst`` is within ``tolerance``."""
        if not self.worst <= tolerance:
            raise CertificationError(
                f"no solution certified to {tolerance:g}: duality gap {self.gap:.3g}, constraint "
                f"violation {self.violation:.3g}, numerical error {self.numerical_error:.3g}; "
                f"{advice}"
            )


@dataclass(frozen=True, repr=False, eq=False)
class Solution(Tabular, PlottedRules):
    """A certified solution of CFL(eps), LFT+Ensemble(eps), LFT+FedAvg(eps) or the client-aware one.

    Its figures are computed when they are asked for, from the rule by their definitions.

    Attributes
    ----------
    scheme : "cfl", "lft_ensemble", "lft_fedavg" or "client_aware".
    eps : (1,) for "cfl" and "client_aware", else (I,): the budgets.
    accuracy : P(ŷ = y) on the pooled law.
    mean_difference : MD on the pooled law (NaN with more than two groups).
    disparity : of ``notion`` and the difference asked for, on the pooled law; |MD| for demographic
        parity of two groups; 0 where no two groups can be compared.
    local_mean_differences : (I,) MD_i, NaN where a client lacks a group.
    multipliers : λ, one for each constraint: by rate (equalised odds has two), place (everybody,
        then the clients, as the scheme has them) and, of three groups or more, group. (1,) for
        "cfl" and (I,) for local training where two groups have one rate; the sign convention is
        FedFB's s(x,a) = 2η-1 ± λ/...
    classifier : f(x, a), or f(x, a, i) of "client_aware".
    certificates : one per optimisation problem (I local problems for the ensemble).
    utility : minus the expected cost; accuracy - 1 at costs of one.
    notion, difference : what ``disparity`` is of, Fairlearn's name, and "pairwise" or "overall".
    local_disparities : (I,) the disparity within each client, NaN where it has no two groups to
        compare.
    local_eps : (I,) the local budgets beside a pooled one, else None.
    prices, local_prices : as ``eps`` and ``local_eps``, what a unit of each budget is worth: no
        budgets larger by δ are worth more than prices·δ, and where multipliers are unique prices
        are the derivative of ``utility``. An ensemble has none (ValueError): its multipliers are
        of its clients' own utilities.

    Examples
    --------
    >>> import fairfl as ff
    >>> fed = ff.Federation.normal(mean=[[3, 5], [1, -1]])
    >>> s = ff.solve(fed, "cfl", eps=0.1)
    >>> s
    Solution('cfl', accuracy 0.824422, disparity 0.1, duality gap 0)
    >>> [round(float(cut), 3) for (cut, _), in (s.classifier.accept(0), s.classifier.accept(1))]
    [0.732, -0.732]
    """

    _fed: Federation
    _task: Task
    eps: Array
    _rule: Any
    multipliers: Array
    certificates: tuple[Certificate, ...]
    local_eps: Array | None = None

    scheme = property(lambda self: self._task.scheme.name)
    notion = property(lambda self: self._task.notion)
    difference = property(lambda self: self._task.difference)

    def __getstate__(self) -> dict[str, Any]:
        """All figures, and not the federation."""
        names = (name for name, v in vars(Solution).items() if isinstance(v, cached_property))
        figures = {name: getattr(self, name) for name in names}
        return vars(self) | figures | {"_fed": None, "_rule": None}

    def add(self, certificate: Certificate) -> None:
        """A certificate that was computed from the solution's own figures."""
        object.__setattr__(self, "certificates", (*self.certificates, certificate))

    @cached_property
    def classifier(self) -> Any:
        fed, rule, model = self._fed, self._rule, self._fed.model
        if not isinstance(model, FiniteModel):
            return rule.named(fed.groups)
        rules = [model.classifier(table, fed.groups) for table in rule]
        return ClientClassifiers(rules) if self._task.scheme.sees_client else rules[0]

    @cached_property
    def utility(self) -> float:
        return utility_of(self._fed, self._task.costs, self._rule)

    @cached_property
    def accuracy(self) -> float:
        if self._task.accurate:
            return 1.0 + self.utility
        return 1.0 + utility_of(self._fed, np.ones_like(self._task.costs), self._rule)

    @cached_property
    def _rates(self) -> tuple[Rates, Array, Array]:
        return rates_of(self._fed, self.notion, self._rule)

    @cached_property
    def _accepted(self) -> tuple[Array, Array]:
        """(A,) and (I, A) the acceptance rates of all and of each client."""
        parity = self._rates
        if self.notion != "demographic_parity":
            parity = rates_of(self._fed, "demographic_parity", self._rule)
        return parity[1][0], parity[2][0]

    @cached_property
    def mean_difference(self) -> float:
        rates = self._accepted[0]
        return float(rates[0] - rates[1]) if rates.size == 2 else float("nan")

    @cached_property
    def local_mean_differences(self) -> Array:
        rates = self._accepted[1]
        return rates[:, 0] - rates[:, 1] if rates.shape[1] == 2 else np.full(len(rates), np.nan)

    @cached_property
    def disparity(self) -> float:
        rates, pooled, _ = self._rates
        return float(np.nan_to_num(disparity(pooled, rates.mass.sum(axis=1), self.difference)))

    @property
    def signed(self) -> float:
        """The disparity, with the sign of the difference where two groups have one rate."""
        rates = self._rates[1]
        sign = np.subtract(*rates[0]) if rates.size == 2 else 1.0
        return float(np.copysign(self.disparity, sign))

    @cached_property
    def local_disparities(self) -> Array:
        rates, _, local = self._rates
        return disparity(local, rates.mass, self.difference)

    @cached_property
    def _budget_prices(self) -> tuple[Array, Array]:
        """Of the pooled budget (1,), if there is one, and of each client's (I,)."""
        fed, task = self._fed, self._task
        sizes = np.abs(self.multipliers)
        if task.costs.shape[1] > 2 and fed.is_finite and task.difference == "pairwise":
            sizes = sizes / 2.0  # rates differ from a level by half a budget
        rates, places, contrasts = multiplier_shape(fed, task, self.local_eps is not None)
        first = rates * contrasts if task.scheme.is_pooled else 0
        local = sizes[first:].reshape(rates, -1, contrasts).sum(axis=(0, 2))
        return sizes[:first].sum(keepdims=True), local if local.size else np.zeros(fed.n_clients)

    @property
    def prices(self) -> Array:
        if self._task.scheme.is_averaged:
            raise ValueError(
                "prices are those of one problem: an ensemble's multipliers are of its clients' "
                "own utilities, not of the ensemble's"
            )
        return self._budget_prices[int(not self._task.scheme.is_pooled)]

    @property
    def local_prices(self) -> Array | None:
        return None if self.local_eps is None else self._budget_prices[1]

    @property
    def duality_gap(self) -> float:
        """The largest duality gap of the problems that were solved."""
        return max(c.gap for c in self.certificates)

    def __repr__(self) -> str:
        return (
            f"Solution({self.scheme!r}, accuracy {self.accuracy:.6g}, disparity "
            f"{self.disparity:.6g}, duality gap {self.duality_gap:.1g})"
        )

    def _columns(self) -> dict[str, ArrayLike]:
        """As those of a frontier, and more."""
        names = ("scheme", "disparity", "accuracy", "utility", "notion", "difference")
        figures = {name: getattr(self, name) for name in (*names, "duality_gap")}
        local = numbered("local_disparity", self.local_disparities)
        return figures | numbered("eps", self.eps) | local


@dataclass(frozen=True, eq=False)
class MinDisparity(Tabular):
    """The smallest reachable disparity, budgets that reach it, and the accuracy there.

    ``lower`` and ``upper`` enclose it rigorously where ``certify=True`` was asked for, else are
    None; ``lower`` is 0 where the disparity is. ``multipliers`` (I,) are the local λ of the
    solution, None where they are not kept; ``reproduced`` says whether ``solve`` at ``eps`` gives
    this point, to 1e-7. Where it does not, no double eps was found that does: the wanted |MD_i| is
    within a rounding of another, or the solution at eps is not unique. ``solution`` is the
    certified one of this point, also then, and ``classifier`` its rule.

    Examples
    --------
    >>> import fairfl as ff
    >>> fed = ff.Federation.normal(mean=[[3, 5], [1, -1]])
    >>> m = ff.min_disparity(fed, "lft_ensemble")
    >>> round(m.disparity, 4), round(m.accuracy, 4), m.eps.tolist()
    (0.1646, 0.8247, [1.0, 0.0])
    """

    scheme: str
    disparity: float
    eps: Array
    accuracy: float
    lower: float | None = None
    upper: float | None = None
    multipliers: Array | None = None
    reproduced: bool = True
    utility: float = float("nan")
    solved: Callable[[], Solution] | None = None

    @cached_property
    def solution(self) -> Solution:
        assert self.solved is not None
        return self.solved()

    @property
    def classifier(self) -> Any:
        return self.solution.classifier

    def _columns(self) -> dict[str, ArrayLike]:
        names = ("scheme", "disparity", "accuracy", "utility", "lower", "upper", "reproduced")
        return {name: getattr(self, name) for name in names} | numbered("eps", self.eps)


def multiplier_shape(fed: Federation, task: Task, has_local: bool = False) -> tuple[int, int, int]:
    """Of multipliers (E, J, K): rates, places with budgets, pooled first, and differences."""
    groups, places = task.costs.shape[1], fed.n_clients
    if task.scheme.is_pooled:
        places = 1 + places * has_local
    pairs = groups * (groups - 1) // 2
    contrasts = groups if fed.is_finite or task.difference == "overall" else pairs
    return len(NOTIONS[task.notion].rates), places, 1 if groups == 2 else contrasts


def budget_term(lam: Array, eps: Array) -> Array:
    """|λ|·eps, what a budget adds to the dual value; 0 where λ = 0, also where eps = inf."""
    return np.abs(lam) * np.where(lam == 0, 0.0, eps)


def utility_of(fed: Federation, costs: Array, rule: Any) -> float:
    """The utility at costs of a rule as ``rates_of`` takes it."""
    model = fed.model
    if isinstance(model, FiniteModel):
        law = fed.pooled if len(rule) == 1 else fed.joint
        return float(law.constant(costs).sum() + (law.gain(costs, "xa") * rule).sum())
    members = [(None, rule)] if isinstance(rule, Classifier) else enumerate(rule.members)
    pairs = product(members, range(fed.n_groups))
    return sum(model.utility(costs, a, m.edges[a], m.values[a], k) for (k, m), a in pairs)


def table_of(model: FiniteModel, rule: Any) -> Array:
    """A classifier on a finite X as a table, (1, A, n) or (I, A, n)."""
    members = rule.members if isinstance(rule, ClientClassifiers) else (rule,)
    return np.stack([member.on(model.points) for member in members])


def rates_of(fed: Federation, notion: str, rule: Any) -> tuple[Rates, Array, Array]:
    """A notion's rates, and what they are under a rule: of all together (E, A), and of each client
    (E, I, A). The rule is a classifier, or on a finite X its table, (1, A, n) or (I, A, n).
    """
    model = fed.model
    if isinstance(model, FiniteModel):
        rule = rule if isinstance(rule, np.ndarray) else table_of(model, rule)
        rates = Rates.of(notion, fed.joint.people, fed.joint.eta)
        return rates, *rates.of_rule(rule)
    rates, sees_client = model.rates(notion), isinstance(rule, ClientClassifiers)
    members, groups = rule.members if sees_client else (rule,), range(fed.n_groups)
    pairs = product(NOTIONS[notion].rates, members)  # (E, 1 or I members, A, I)
    table = [[model.integrals(r, a, m.edges[a], m.values[a]) for a in groups] for r, m in pairs]
    table = np.reshape(table, (-1, len(members), fed.n_groups, fed.n_clients))
    served = np.einsum("eiai->eia", table) if sees_client else table[:, 0].swapaxes(1, 2)
    return rates, *rates.of_served(fed.mass * served)
