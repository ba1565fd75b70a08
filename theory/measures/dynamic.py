"""Participants who join during training: benefits, fairness, group benefit, within-group spread.

``losses`` has shape (T, S): losses[t, i] = L_{v_i}(w_t), the loss of group i under the model of
time t = 0..T-1; ``joins`` (S,), strictly increasing in [0, T), are the times at which groups join.
What stands in ``losses`` before is not looked at, and may be NaN; results that need a group that
has not joined, or two groups where there is one, are NaN unless said otherwise.

The weights of the paper's L_{v_i} = sum_{j in v_i} p_j^M F_j change whenever a group joins, so that
benefits are differences of two functions. Here a group's loss is a mean over its members, the same
at all times: ``group_losses`` makes it.

Source: Fairness of Federated Learning with Dynamic Participants, definitions 1 to 4, eqs. (2)-(4),
(9), (15)-(20).
"""

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support import checks
from fairfl._support.checks import Array, shown


def group_losses(
    client_losses: ArrayLike, groups: ArrayLike, weights: ArrayLike | None = None
) -> Array:
    """Mean loss of each group, shape (T, S), from client_losses (T, m) and each client's group (m,)
    in 0..S-1, with ``weights`` (m,), positive (default: equal). NaN in, NaN out, for that group.
    ValueError for a group without clients, and weights that are not positive.
    """
    f, member = _clients(client_losses, groups)
    w = np.ones(f.shape[1]) if weights is None else checks.positive("weights", weights)
    w = checks.broadcast("weights", w, (f.shape[1],), f"({f.shape[1]},) or ()")
    share = np.where(member, w, 0.0)
    share /= share.sum(axis=1, keepdims=True)
    return np.stack(
        [f[:, in_group] @ part[in_group] for in_group, part in zip(member, share, strict=True)],
        axis=1,
    )


def benefit(losses: ArrayLike, joins: ArrayLike) -> Array:
    """L_{v_i}(w_{t_i}) - L_{v_i}(w_t), shape (T, S): what training brought group i up to time t,
    NaN before it joins; (2).
    """
    table, at = _trajectory(losses, joins)
    return table[at, np.arange(len(at))] - table


def fairness_margin(losses: ArrayLike, joins: ArrayLike) -> Array:
    """min over t_i < t_j < t of benefit_i(t) - benefit_j(t), shape (T,); NaN without such a pair.
    Positive: who joined earlier has gained more. Definition 2, (3), read with L_{t_j}^{v_j} on its
    right (printed: L_{t_i}^{v_2}).
    """
    return _smallest(_gaps(losses, joins))


def relative_margin(losses: ArrayLike, other: ArrayLike, joins: ArrayLike) -> Array:
    """min over t_i < t_j < t of (benefit_i - benefit_j)(t) under ``losses`` less the same under
    ``other``, shape (T,). Positive: the first training is the fairer one at t. (4), read with t_i <
    t_j and L_{t_j}^{v_j} (printed: t_i < t_i and L_{t_i}^{v_j}).
    """
    gaps, other_gaps = _gaps(losses, joins), _gaps(other, joins)
    if gaps.shape != other_gaps.shape:
        raise ValueError(
            f"other must have the shape of losses, {np.shape(losses)}, got {np.shape(other)}"
        )
    return _smallest(gaps - other_gaps)


def group_benefit(losses: ArrayLike, joins: ArrayLike, form: str = "loss") -> Array:
    """GB_t, shape (T,): mean over neighbouring groups of exp(gap) - 1, 0 while there is one group,
    NaN before.

    ``form`` "loss", (9): gap = L_{v_{i+1}}(w_t) - L_{v_i}(w_t). "benefit", (20): gap = benefit_i(t)
    - benefit_{i+1}(t), the one that follows definition 1; (9) leaves out the losses at joining,
    which the paper says are the same for its algorithms and FedAvg (so they are for two groups;
    from t_3 on the models differ). With two groups (20) is positive iff the earlier has the larger
    benefit; with more, exp lets one large gap outweigh a negative one. The sign of (9) tells
    nothing of definition 2.
    Errors: ValueError for another form, and where exp overflows.
    """
    checks.one_of("form", form, ("loss", "benefit"))
    table, times = _trajectory(losses, joins)
    levels = table if form == "loss" else -benefit(losses, joins)
    gaps = levels[:, 1:] - levels[:, :-1]
    has_gap = ~np.isnan(gaps)
    if (gaps[has_gap] > np.log(np.finfo(float).max)).any():
        raise ValueError(f"losses must have gaps below 709 for exp, got {np.nanmax(gaps)}")
    total = np.expm1(np.where(has_gap, gaps, 0.0)).sum(axis=1)
    means = total / np.maximum(has_gap.sum(axis=1), 1)
    return np.where(np.arange(len(table)) >= times[0], means, np.nan)


def within_group_std(client_losses: ArrayLike, groups: ArrayLike, joins: ArrayLike) -> Array:
    """LS_t, shape (T,): mean over the groups that have joined of ``group_spread``; (19). NaN before
    anybody has joined, and 0 while there is one group, as the paper sets it.
    """
    spread = group_spread(client_losses, groups, joins)
    has_joined = ~np.isnan(spread)
    count = has_joined.sum(axis=1)
    mean = np.where(has_joined, spread, 0.0).sum(axis=1) / np.maximum(count, 1)
    return np.where(count == 0, np.nan, np.where(count == 1, 0.0, mean))


def group_spread(client_losses: ArrayLike, groups: ArrayLike, joins: ArrayLike) -> Array:
    """Standard deviation of the losses (T, m) of the clients of each group (m,), shape (T, S);
    (16), (18). NaN before the group has joined. A smaller mean of it, LS, implies nothing for one
    group.
    """
    f, member = _clients(client_losses, groups)
    at = _joins(joins, len(f), len(member))
    with np.errstate(invalid="ignore"):  # infinite before joining: not looked at
        spread = np.stack([f[:, in_group].std(axis=1) for in_group in member], axis=1)
    has_joined = np.arange(len(f))[:, None] >= at
    _finite_when("client_losses", spread, has_joined)
    return np.where(has_joined, spread, np.nan)


def _gaps(losses: ArrayLike, joins: ArrayLike) -> Array:
    """benefit_i - benefit_j for all i < j, shape (T, pairs), NaN up to the joining of j."""
    table, at = _trajectory(losses, joins)
    gain = table[at, np.arange(len(at))] - table
    early, late = np.triu_indices(len(at), 1)
    gaps = gain[:, early] - gain[:, late]
    return np.where(np.arange(len(table))[:, None] > at[late], gaps, np.nan)


def _smallest(gaps: Array) -> Array:
    none = np.isnan(gaps)
    smallest = np.where(none, np.inf, gaps).min(axis=1, initial=np.inf)
    return np.where(none.all(axis=1), np.nan, smallest)


def _trajectory(losses: ArrayLike, joins: ArrayLike) -> tuple[Array, Array]:
    """The table with NaN before the joinings, and the joinings, checked."""
    table = _table("losses", losses)
    at = _joins(joins, *table.shape)
    has_joined = np.arange(len(table))[:, None] >= at
    _finite_when("losses", table, has_joined)
    return np.where(has_joined, table, np.nan), at


def _table(name: str, values: ArrayLike) -> Array:
    array = checks.as_array(name, values)
    try:
        table = array.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a table of numbers, got {shown(values)}") from None
    if table.ndim != 2 or table.size == 0:
        raise ValueError(f"{name} must have shape (times, columns), neither 0, got {table.shape}")
    return table


def _finite_when(name: str, table: Array, has_joined: Array) -> None:
    bad = has_joined & ~np.isfinite(table)
    if bad.any():
        t, i = (int(k) for k in np.argwhere(bad)[0])
        raise ValueError(
            f"{name} must be finite once a group has joined, got {table[t, i]} at time {t}, "
            f"group {i}"
        )


def _joins(joins: ArrayLike, times: int, groups: int) -> Array:
    at = checks.as_array("joins", joins)
    if at.shape != (groups,) or at.dtype.kind not in "iu":
        raise ValueError(
            f"joins must be {groups} whole numbers, one for each group, got {shown(joins)}"
        )
    if at[0] < 0 or at[-1] >= times or (np.diff(at) <= 0).any():
        raise ValueError(
            f"joins must be strictly increasing, from 0 to below {times} (the times), got "
            f"{at.tolist()}"
        )
    return at


def _clients(client_losses: ArrayLike, groups: ArrayLike) -> tuple[Array, Array]:
    """The table, and which client is in which group: (S, m)."""
    f = _table("client_losses", client_losses)
    of = checks.as_array("groups", groups)
    if of.shape != (f.shape[1],) or of.dtype.kind not in "iu" or of.min() < 0:
        raise ValueError(
            f"groups must be {f.shape[1]} whole numbers >= 0, one per client, got {shown(groups)}"
        )
    member = np.arange(of.max() + 1)[:, None] == of
    if not member.any(axis=1).all():
        raise ValueError(
            "groups must use every number up to its largest, got none of "
            f"{np.argmin(member.any(axis=1))}"
        )
    return f, member
