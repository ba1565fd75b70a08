"""solve, frontier and min_disparity: check the arguments, and call the solver of the scheme and of
the kind of X.

What frontiers alone need is imported by them: a first ``solve`` loads in two thirds of the time.
"""

import dataclasses
import math
from functools import partial
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support.checks import Array, as_floats, broadcast, flag, one_of, shown, whole
from fairfl._support.extras import extras_named
from fairfl._support.threads import one_thread
from fairfl.solvers.frontier import Frontier, Points, Repeatable
from fairfl.solvers.schemes import LFT_FEDAVG, SOLVED, SchemeName
from fairfl.solvers.solution import CertificationError, MinDisparity, Solution, multiplier_shape
from fairfl.solvers.solve_task import corners, reproduced, solve_task
from fairfl.solvers.task import COSTS, Costs, Task
from fairfl.theory.populations.blind_rules import Sees
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel
from fairfl.theory.populations.notions import Difference, Notion, local_budgets, pooled_budget

if TYPE_CHECKING:
    from fairfl.solvers.lft_ensemble.search import EnsembleSearch
    from fairfl.solvers.lft_fedavg.finite_search import ExactFedAvg, FedAvgSearch

Method = Literal["exact", "lp"]
Effort = Literal["ordinary", "thorough"]
Budgets = Literal["each", "common"]
MOST_POINTS = 10_000
"""Memory and time grow with them; ``Frontier.accuracy_at`` solves for whatever lies between."""


@one_thread()
def solve(
    federation: Federation,
    scheme: SchemeName,
    eps: ArrayLike | None = None,
    *,
    local_eps: ArrayLike | None = None,
    notion: Notion = "demographic_parity",
    difference: Difference = "pairwise",
    costs: Costs = COSTS,
    sees: Sees = "xa",
    monotone: bool = False,
    multipliers: ArrayLike | None = None,
    method: Method = "exact",
    grid: int = 2000,
) -> Solution:
    """The certified solution of a scheme: duality gap and violation are at most 1e-10 for laws (the
    gap in units of the largest cost), 1e-12 for a finite X.

    Parameters
    ----------
    federation : laws or samples of the clients, of two groups or more. A group without the notion's
        event (nobody with y = 1, say), and a client with people of one group, are not limited.
    scheme : "cfl" maximises the utility subject to disparity <= eps on the pooled law,
        "lft_fedavg" subject to disparity_i <= eps_i for every client; "lft_ensemble" averages, by
        weight, every client's own solution under disparity_i <= eps_i; "client_aware" is "cfl" for
        rules f(x, a, i), under ``local_eps`` as well.
    eps : budget >= 0 (inf: none), a number; or one per client (I,) of the two LFT schemes.
    local_eps : the clients' budgets beside a pooled one, a number or (I,); default none.
    notion : "demographic_parity" ("dp"), "true_positive_rate_parity" ("eo"), "accuracy_parity",
        "false_positive_rate_parity", or "equalized_odds" ("eodds": the larger of the last and eo).
    difference : "pairwise", the largest difference of two groups' rates, or "overall", the largest
        between a group's rate and the whole population's.
    costs : of a missed and of a wrong positive, each a number or one per group, or "balanced",
        1/(2 P(y=1)) and 1/(2 P(y=0)). The utility is minus the expected cost, accuracy - 1 at ones.
    sees : "xa", or "x": rules do not see the group.
    monotone : only rules that do not decrease in x (of each group), on a finite X of scores.
    multipliers : in place of budgets, as ``Solution.multipliers``: their rule, of several the most
        useful, certified for its own disparities. Of "client_aware" of pooled and local budgets.
    method : "exact", or "lp": an independent linear programme (cvxpy, the extra "lp") on ``grid``
        cells of X, 2 to 100,000, accurate to the square of their width.

    Raises
    ------
    ValueError : an argument out of range.  CertificationError : no solution could be certified.

    Examples
    --------
    >>> import fairfl as ff
    >>> masses = [[[0.1, 0.2, 0.5], [0.1, 0.1, 0.0]], [[0.1, 0.1, 0.0], [0.5, 0.2, 0.1]]]
    >>> fed = ff.Federation.finite([0, 1, 2], masses, [0.1, 0.5, 0.8])
    >>> s = ff.solve(fed, "client_aware", 0.05, local_eps=0.1, notion="eodds", costs=(2, 1))
    >>> f"{s.disparity:.4f} {s.local_disparities.max():.4f} {s.utility:.4f} {s.accuracy:.4f}"
    '0.0500 0.1000 -0.3552 0.7376'
    """
    task = Task.of(federation, scheme, notion, difference, costs, sees, monotone=monotone)
    federation = federation.for_notion(task.notion)
    is_exact = one_of("method", method, get_args(Method)) == "exact"
    if multipliers is not None:
        if eps is not None or local_eps is not None or monotone or not is_exact:
            raise ValueError("multipliers take no eps, local_eps, monotone or method='lp' beside")
        return _of_multipliers(federation, task, multipliers)
    budgets = _budgets(federation, task, eps, local_eps)
    if is_exact:
        return solve_task(federation, task, *budgets)
    with extras_named():  # cvxpy, for this alone
        from fairfl.solvers.grid_lp import solve_lp

    return solve_lp(federation, task, *budgets, grid)


@one_thread()
def frontier(
    federation: Federation,
    scheme: SchemeName,
    points: int = 200,
    *,
    local_eps: ArrayLike | None = None,
    notion: Notion = "demographic_parity",
    difference: Difference = "pairwise",
    costs: Costs = COSTS,
    sees: Sees = "xa",
    monotone: bool = False,
    effort: Effort = "ordinary",
    budgets: Budgets = "each",
) -> Frontier:
    """The non-dominated (disparity, accuracy) pairs of a scheme over all budgets eps; (disparity,
    utility) at costs other than one.

    Parameters
    ----------
    federation : laws or samples of the clients.
    scheme : "cfl" or "client_aware", at fixed ``local_eps``; "lft_ensemble" or "lft_fedavg".
    points : how many, from 2 to ``MOST_POINTS`` (dominated ones among them are dropped).
    local_eps, notion, difference, costs, sees, monotone : as in :func:`solve`.
    effort : "ordinary", or "thorough": of LFT+FedAvg ten times as many starts on laws, for those of
        very different widths or many clients, and on a finite X larger programmes that prove more.
    budgets : "each", the best over all clients' budgets, which takes everybody's data to choose; or
        "common", one budget for all clients of "lft_ensemble" or "lft_fedavg".

    Returns
    -------
    Frontier: every point is attained by its ``eps``, or where ``reproduced`` is False at least by
    its ``multipliers``; ``accuracy_at(d)``, and at costs other than one ``utility_at(d)``, answers
    for any other disparity; ``proven`` says which points are the best, ``gap`` and ``bound_at(d)``
    how far the others may be below it.

    Notes
    -----
    CFL's and the client-aware frontier are optimal. So are, on a finite X for two groups with one
    rate, LFT+Ensemble's, LFT+FedAvg's of up to three clients with few points, and those of common
    budgets; and LFT+Ensemble's on laws where all clients share q and η. The others are the best
    that a search found: none is above CFL's, and other budgets may be better, by ``gap`` at most.
    Mixed-integer programmes prove points of LFT+FedAvg on a finite X: docs/exactness.md.

    Examples
    --------
    >>> import fairfl as ff
    >>> masses = [[[0.1, 0.2, 0.5], [0.1, 0.1, 0.0]], [[0.1, 0.1, 0.0], [0.5, 0.2, 0.1]]]
    >>> fed = ff.Federation.finite([0, 1, 2], masses, [0.1, 0.5, 0.8])
    >>> F = ff.frontier(fed, "cfl", 5, notion="equalized_odds", costs=(2, 1), sees="x")
    >>> f"{F.disparity[-1]:.4f} {F.utility[-1]:.4f} {F.utility_at(0.05):.4f}"
    '0.3420 -0.2900 -0.5291'
    """
    task = Task.of(federation, scheme, notion, difference, costs, sees, monotone=monotone)
    federation = federation.for_notion(task.notion)
    whole("points", points, 2, MOST_POINTS)
    local = _local(federation, scheme, local_eps)
    one_of("effort", effort, get_args(Effort))
    together = one_of("budgets", budgets, get_args(Budgets)) == "common"
    if together and task.scheme.is_pooled:
        raise ValueError(
            f"budgets='common' goes with 'lft_ensemble' or 'lft_fedavg', got scheme {scheme!r}"
        )
    from fairfl.solvers.rule_of_multipliers import accuracies, solution_at

    search = Repeatable(partial(_frontier, federation, task, points, local, effort, budgets))
    solved = partial(solution_at, federation, task, local)
    curve = dataclasses.replace(
        search.frontier, evaluate=search.evaluate, worth_bound=search.worth_bound, solved=solved
    )
    if task.accurate:
        return curve
    accuracy = accuracies(federation, task, local, curve.points)
    return dataclasses.replace(
        curve, accuracy=accuracy, utility=curve.accuracy - 1.0, accurate=False
    )


def _search(
    federation: Federation, task: Task, effort: str = "ordinary"
) -> "ExactFedAvg | FedAvgSearch | EnsembleSearch":
    """What finds frontiers and smallest disparities of ensembles, and on a finite X."""
    from fairfl.solvers.lft_ensemble.densities_curve import EnsembleCurve
    from fairfl.solvers.lft_ensemble.densities_segments import SegmentSearch
    from fairfl.solvers.lft_ensemble.finite_branch_and_bound import Segments
    from fairfl.solvers.lft_fedavg.finite_search import search_finite

    model, ensemble = federation.model, task.scheme.is_averaged
    if isinstance(model, FiniteModel):
        if ensemble:
            return Segments.of(federation, task)
        return search_finite(federation, task, effort)
    return EnsembleCurve(federation, model) if task.plain else SegmentSearch.of(federation, task)


def _frontier(
    federation: Federation, task: Task, points: int, local: Array | None, effort: str, budgets: str
) -> Frontier:
    """The frontier whose accuracies are 1 + utility."""
    from fairfl.solvers.cfl.frontier import cfl_frontier, frontier_with_local_budgets
    from fairfl.solvers.frontier_checks import checked, filled, upper_bound
    from fairfl.solvers.lft_fedavg.densities_frontier import fedavg_frontier

    ends = None
    if task.scheme.is_pooled:  # each point is the solution at its own disparity
        if local is None:
            return cfl_frontier(federation, points, task)
        return frontier_with_local_budgets(federation, points, task, local)
    if budgets == "common":
        from fairfl.solvers.common_budget import common_frontier

        curve = common_frontier(
            federation, task, points, lambda eps: solve_task(federation, task, eps, local)
        )
    elif task.scheme == LFT_FEDAVG and not federation.is_finite:
        curve, ends = fedavg_frontier(federation, task, points, effort)
    else:
        curve = _search(federation, task, effort).frontier(points)
    ends = corners(federation, task) if ends is None else ends
    curve = checked(federation, task, curve if curve.is_bounded else filled(curve, ends), ends)
    return dataclasses.replace(
        curve,
        again=partial(reproduced, federation, task),
        worth_bound=curve.worth_bound or partial(upper_bound, federation, task),
    )


@one_thread()
def min_disparity(
    federation: Federation,
    scheme: SchemeName,
    *,
    local_eps: ArrayLike | None = None,
    notion: Notion = "demographic_parity",
    difference: Difference = "pairwise",
    costs: Costs = COSTS,
    sees: Sees = "xa",
    monotone: bool = False,
    certify: bool = False,
) -> MinDisparity:
    """The smallest disparity that a scheme reaches over all eps in [0, 1] (in [0, 1]^I), and the
    eps that reaches it.

    Parameters
    ----------
    federation : laws or samples.
    scheme : "cfl" and "client_aware" (always 0), "lft_ensemble" (exact for two groups with one
        rate, on laws where rules see the group: what MD ranges over is known) or "lft_fedavg"
        (exact where it is 0, where q is common to all clients, and on a finite X where
        :func:`frontier` is exact; else the smallest that a search over multipliers found, on a
        finite X by a programme that may end early).
    local_eps, notion, difference, costs, sees, monotone : as in :func:`frontier`.
    certify : add an enclosure: of "lft_ensemble", and of "lft_fedavg" with two clients to 1e-6, in
        ball arithmetic, for normal laws and logistic η; with other clients in doubles, any laws.

    Notes
    -----
    Where several eps reach the smallest disparity, one of (nearly) the highest utility is
    reported. A budget of 1 stands for "no constraint".

    Examples
    --------
    >>> import fairfl as ff
    >>> masses = [[[0.1, 0.2, 0.5], [0.1, 0.1, 0.0]], [[0.1, 0.1, 0.0], [0.5, 0.2, 0.1]]]
    >>> fed = ff.Federation.finite([0, 1, 2], masses, [0.1, 0.5, 0.8])
    >>> m = ff.min_disparity(fed, "lft_ensemble", notion="true_positive_rate_parity")
    >>> f"{m.disparity:.4f} {m.accuracy:.4f}"
    '0.1223 0.7500'
    """
    task = Task.of(federation, scheme, notion, difference, costs, sees, monotone=monotone)
    federation = federation.for_notion(task.notion)
    local = _local(federation, scheme, local_eps)
    if flag("certify", certify):
        _enclosable(federation, task)
    if task.scheme.is_pooled:  # f = 1/2 serves everybody alike
        solved = partial(solve_task, federation, task, np.zeros(1), local)
        fair = solved()
        return MinDisparity(
            scheme, 0.0, np.zeros(1), fair.accuracy, 0.0, utility=fair.utility, solved=solved
        )
    from fairfl.solvers.rule_of_multipliers import accuracies, solution_at

    minimum = _minimum(federation, task)
    worth, eps = float(minimum.worth[0]), minimum.eps[0]
    known = None if minimum.disparity[0] else 0.0, None
    ends = _enclosed(federation, task, minimum) if certify else known
    return MinDisparity(
        scheme,
        float(minimum.disparity[0]),
        eps,
        worth if task.accurate else float(accuracies(federation, task, local, minimum)[0]),
        *ends,
        None if minimum.multipliers is None else minimum.multipliers[0],
        bool(reproduced(federation, task, minimum)[0]),
        worth - 1.0,
        partial(solution_at, federation, task, local, minimum),
    )


def _minimum(federation: Federation, task: Task) -> Points:
    """The least disparate point of local training."""
    if task.scheme == LFT_FEDAVG and not federation.is_finite:
        from fairfl.solvers.lft_fedavg.densities_frontier import fedavg_minimum

        minimum = fedavg_minimum(federation, task)
    else:
        minimum = _search(federation, task).minimum()
    if task.scheme.is_averaged and task.plain and not federation.is_finite:
        return minimum
    return minimum.join(corners(federation, task)).least_disparate


def _enclosed(federation: Federation, task: Task, minimum: Points) -> tuple[float, float]:
    """Rigorous bounds of the smallest disparity, which a point attains nearly."""
    if task.scheme.is_averaged:
        from fairfl.solvers.lft_ensemble.enclosure import enclose_min_disparity

        return enclose_min_disparity(federation)
    if federation.n_clients == 2:
        from fairfl.solvers.lft_fedavg.enclosure import enclose_two_clients

        assert minimum.multipliers is not None
        return enclose_two_clients(federation, minimum.multipliers[0])
    from fairfl.solvers.lft_fedavg.multiplier_boxes import smallest_disparity

    upper = float(minimum.disparity[0])
    return smallest_disparity(federation, task, upper), upper


def _budgets(
    federation: Federation, task: Task, eps: ArrayLike | None, local_eps: ArrayLike | None
) -> tuple[Array, Array | None]:
    """Checked budgets as the scheme has them, and local ones beside a pooled one."""
    if eps is None:
        raise ValueError("eps must be given, or multipliers")
    scheme, local = task.scheme.name, _local(federation, task.scheme.name, local_eps)
    if task.scheme.is_pooled:
        return pooled_budget(eps, scheme), local
    return local_budgets("eps", eps, federation.n_clients), local


def _of_multipliers(federation: Federation, task: Task, multipliers: ArrayLike) -> Solution:
    """The solution of checked multipliers (K,)."""
    from fairfl.solvers.rule_of_multipliers import solution_of

    has_local = task.scheme.sees_client
    size = math.prod(multiplier_shape(federation, task, has_local))
    lam = broadcast("multipliers", as_floats("multipliers", multipliers), (size,), f"({size},)")
    try:
        return solution_of(federation, task, lam, has_local)
    except CertificationError as error:
        raise ValueError(
            "multipliers must be those of a solution: each of the other sign than its difference "
            "of rates, and not such that scores of a whole group are zero, where budgets decide; "
            f"got {shown(multipliers)}: {str(error).partition(';')[0]}"
        ) from error


def _local(federation: Federation, scheme: str, local_eps: ArrayLike | None) -> Array | None:
    """(I,) checked local budgets beside a pooled one; None where there are none."""
    if local_eps is not None and not SOLVED[scheme].is_pooled:
        raise ValueError(
            f"local_eps goes with 'cfl' and 'client_aware', got scheme {scheme!r}: use eps"
        )
    if local_eps is None:
        return np.full(federation.n_clients, np.inf) if SOLVED[scheme].sees_client else None
    return local_budgets("local_eps", local_eps, federation.n_clients)


def _enclosable(federation: Federation, task: Task) -> None:
    """ValueError unless the smallest disparity can be enclosed."""
    if task.scheme.is_pooled:
        raise ValueError(f"certify takes 'lft_ensemble', 'lft_fedavg', got {task.scheme.name!r}")
    if not task.plain:
        raise ValueError(
            "certify takes demographic parity of two groups, costs of one and rules that see the "
            f"group, got {federation.n_groups} groups, notion={task.notion!r}, "
            f"difference={task.difference!r}, costs={task.costs.tolist()}, sees={task.sees!r}"
        )
    if task.scheme.is_averaged or federation.n_clients == 2 or federation.is_finite:
        with extras_named():  # python-flint, for this alone
            from fairfl.solvers.lft_ensemble.enclosure import exact_clients

        exact_clients(federation)
