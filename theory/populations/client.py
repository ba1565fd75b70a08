"""A client of a federation: the laws of x in its groups, their shares, and its weight, checked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairfl._support.checks import Array, in_range, positive, shown, single
from fairfl.theory.populations.laws import Finite, Law, as_law, check_resolved


@dataclass(frozen=True, eq=False)
class Client:
    """One client: the laws of x in each group, the groups' shares, and the client's weight.

    Parameters
    ----------
    laws : the law of x in group 0, in group 1, ...: frozen continuous scipy.stats laws or Mixture;
        or Finite or Samples.
    q : of two groups P(a=1 | this client), in [0, 1]; of any number A the shares (A,), which sum to
        one. Equal shares by default.
    weight : relative amount of data, positive; weights are normalised over the federation.

    Examples
    --------
    >>> import fairfl as ff
    >>> from scipy import stats
    >>> ff.Federation([ff.Client((stats.norm(3, 1), stats.gamma(2)), q=0.4, weight=2.0)])
    Federation(1 clients, 2 groups, continuous X)
    """

    laws: tuple[Any, ...]
    q: Any = None
    weight: float = 1.0


def read_clients(clients: Any) -> tuple[list[tuple[Law | Finite, ...]], Array, Array]:
    """The laws of clients, their groups' shares (I, A) and their weights (I,), checked."""
    if isinstance(clients, (str, bytes)) or not isinstance(clients, Sequence):
        raise ValueError(f"clients must be a sequence of Client, got {shown(clients)}")
    if len(clients) == 0:
        raise ValueError("clients must hold at least one Client, got none")
    laws: list[tuple[Law | Finite, ...]] = []
    share, weight = [], np.empty(len(clients))
    for i, client in enumerate(clients):
        if not isinstance(client, Client):
            raise ValueError(f"clients[{i}] must be a Client, got {shown(client)}")
        if not isinstance(client.laws, Sequence) or len(client.laws) < 2:
            size = len(client.laws) if isinstance(client.laws, Sequence) else shown(client.laws)
            raise ValueError(
                f"clients[{i}].laws must hold a law for each of two groups or more, got {size}"
            )
        groups = len(laws[0]) if laws else len(client.laws)
        if len(client.laws) != groups:
            raise ValueError(
                f"clients[{i}].laws must hold {groups} laws as those of client 0 do, got "
                f"{len(client.laws)}"
            )
        names = [f"clients[{i}].laws[{a}]" for a in range(groups)]
        client_laws = tuple(as_law(law, name) for law, name in zip(client.laws, names, strict=True))
        for law, name in zip(client_laws, names, strict=True):
            check_resolved(law, name)
        laws.append(client_laws)
        share.append(_shares(f"clients[{i}].q", client.q, groups))
        weight[i] = positive(f"clients[{i}].weight", single(f"clients[{i}].weight", client.weight))
    finite_laws = [isinstance(law, Finite) for pair in laws for law in pair]
    if any(finite_laws) and not all(finite_laws):
        raise ValueError("laws must be all continuous or all finite, got a mixture of both kinds")
    return laws, np.stack(share), weight


def _shares(name: str, q: Any, groups: int) -> Array:
    """(A,) shares of the groups from a client's ``q``."""
    if q is None:
        return np.full(groups, 1.0 / groups)
    value = in_range(name, q, 0, 1)
    if groups == 2 and value.ndim == 0:
        return np.array([1.0 - value, value])
    allowed = f"{'one number or ' * (groups == 2)}{groups} shares that sum to one"
    if value.shape != (groups,) or abs(value.sum() - 1.0) > 1e-9:
        raise ValueError(f"{name} must be {allowed}, got {shown(q)}")
    return value / value.sum()
