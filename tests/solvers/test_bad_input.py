"""Bad input to the solvers: one clear error each, that names the argument and the value."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.stats import norm

import fairfl as ff

NORMAL = norm()
THREE_LAWS = ff.Federation.normal([[0, 1, 2]])
LAWS = ff.Federation.normal([[0, 1], [1, 0]], q=[0.3, 0.6])
ATOMS = ff.Federation.finite([0.0, 1.0], np.full((2, 2, 2), 0.25), [0.25, 0.75])
THREE = ff.Federation.finite([0.0, 1.0], np.full((1, 3, 2), 1 / 6), [0.25, 0.75])
NO_EVENT = ff.Federation.finite(
    [0.0, 1.0], np.full((2, 2, 2), 0.25), [[[0.25, 0.75], [1e-310, 0.0]], [[0.25, 0.75]] * 2]
)
NAN = float("nan")
FRONTIER = ff.frontier(LAWS, "lft_ensemble", points=5)

CASES: dict[str, tuple[Callable[[], Any], str]] = {
    "no federation": (
        lambda: ff.solve([[0, 1]], "cfl", 0.1),
        r"federation must be a Federation, got list",
    ),  # type: ignore[arg-type]
    "scheme": (
        lambda: ff.solve(LAWS, "fedavg", 0.1),
        r"scheme must be one of 'cfl', 'lft_ensemble', 'lft_fedavg', 'client_aware', got 'fedavg'",
    ),
    "no eps": (lambda: ff.solve(ATOMS, "cfl", None), r"eps must be numbers, got None"),
    "an eps without a number": (
        lambda: ff.solve(ATOMS, "lft_fedavg", [0.1, None]),
        r"eps must be numbers, got \[0.1, None\]",
    ),
    "next to nobody": (
        lambda: ff.Federation.finite([0.0], [[[1.0], [1e-320]]], [0.5]),
        r"weight times share of client 0's group 1 must be 0 or at least 1e-307, got 9.9998\de-321",
    ),
    "next to nobody on laws": (
        lambda: ff.Federation.normal([[0, 1], [1, 0]], q=[0.5, 1e-310]),
        r"weight times share of client 1's group 1 must be 0 or at least 1e-307, got 5e-311",
    ),
    "next to no event": (
        lambda: ff.solve(NO_EVENT, "lft_fedavg", 0.1, notion="eo"),
        r"true_positive_rate_parity.* of group 1 at 0, must be 0 or at least 1e-307, got",
    ),
    "method": (
        lambda: ff.solve(LAWS, "cfl", 0.1, method="grid"),
        r"method must be one of 'exact', 'lp', got 'grid'",
    ),
    "notion": (
        lambda: ff.solve(ATOMS, "cfl", 0.1, notion="dpp"),
        r"notion must be one of 'demographic_parity', .*'eodds', 'equal_opportunity', got 'dpp'",
    ),
    "difference": (
        lambda: ff.solve(ATOMS, "cfl", 0.1, difference="largest"),
        r"difference must be one of 'pairwise', 'overall', got 'largest'",
    ),
    "certify of another notion": (
        lambda: ff.min_disparity(LAWS, "lft_ensemble", notion="eo", certify=True),
        r"certify takes demographic parity of two groups, .*notion='true_positive_rate_parity'",
    ),
    "laws of other numbers": (
        lambda: ff.Federation([ff.Client([NORMAL] * 3), ff.Client([NORMAL] * 2)]),
        r"clients\[1\].laws must hold 3 laws as those of client 0 do, got 2",
    ),
    "share of three groups": (
        lambda: ff.Federation([ff.Client([NORMAL] * 3, 0.5)]),
        r"clients\[0\].q must be 3 shares that sum to one, got 0.5",
    ),
    "shares that sum to more": (
        lambda: ff.Federation([ff.Client([NORMAL] * 2, [0.5, 0.6])]),
        r"clients\[0\].q must be one number or 2 shares that sum to one, got \[0.5, 0.6\]",
    ),
    "shares of clients, of three groups": (
        lambda: ff.Federation.normal([[0, 1, 2]], q=0.5),
        r"q must have shape \(1, 3\) for 3 groups, got \(\)",
    ),
    "three finite laws": (
        lambda: ff.Federation([ff.Client([ff.Finite([0], [1])] * 3)]),
        r"Finite and Samples are laws of two groups, got 3",
    ),
    "sees": (
        lambda: ff.solve(ATOMS, "cfl", 0.1, sees="a"),
        r"sees must be one of 'xa', 'x', got 'a'",
    ),
    "costs negative": (
        lambda: ff.solve(ATOMS, "cfl", 0.1, costs=(1, -1)),
        r"costs must not be negative, and the largest from 0.001 to 1000 .*got \(1, -1\)",
    ),
    "costs zero": (
        lambda: ff.solve(ATOMS, "cfl", 0.1, costs=(0, [0, 0])),
        r"costs must not be negative, and the largest from 0.001",
    ),
    "costs infinite": (
        lambda: ff.solve(ATOMS, "cfl", 0.1, costs=(1, np.inf)),
        r"costs must not be negative, and the largest",
    ),
    "costs of three groups": (
        lambda: ff.solve(ATOMS, "cfl", 0.1, costs=([1, 2, 3], 1)),
        r"costs must be 'balanced', or two costs, each a number or one for each of 2 groups",
    ),
    "three costs": (
        lambda: ff.solve(ATOMS, "cfl", 0.1, costs=(1, 2, 3)),
        r"costs must be .*got \(1, 2, 3\)",
    ),
    "one cost": (lambda: ff.solve(ATOMS, "cfl", 0.1, costs=5), r"costs must be .*got 5"),
    "costs in cents": (
        lambda: ff.solve(ATOMS, "cfl", 0.1, costs=(1e6, 2e6)),
        r"costs must not be negative, and the largest from 0.001 to 1000 \(only their ratios",
    ),
    "costs by name": (
        lambda: ff.solve(ATOMS, "cfl", 0.1, costs={1: 2, 3: 4}),
        r"costs must be 'balanced', or two costs",
    ),
    "costs in words": (
        lambda: ff.solve(ATOMS, "cfl", 0.1, costs="fair"),
        r"costs must be 'balanced', .*got 'fair'",
    ),
    "balanced without negatives": (
        lambda: ff.solve(
            ff.Federation.finite([0.0], [[[0.5], [0.5]]], [1.0]), "cfl", 0.1, costs="balanced"
        ),
        r"costs='balanced' needs people of both labels, got P\(y = 1\) = 1",
    ),
    "local_eps of another scheme": (
        lambda: ff.solve(ATOMS, "lft_fedavg", 0.1, local_eps=0.1),
        r"local_eps goes with 'client_aware', got scheme 'lft_fedavg': use eps",
    ),
    "local_eps negative": (
        lambda: ff.solve(ATOMS, "client_aware", 0.1, local_eps=[0.1, -2]),
        r"local_eps must be non-negative, got -2",
    ),
    "local_eps of three": (
        lambda: ff.solve(ATOMS, "client_aware", 0.1, local_eps=[0.1] * 3),
        r"local_eps must have shape \(\) or \(2,\), one per client, got \(3,\)",
    ),
    "eps by client, told the client": (
        lambda: ff.solve(ATOMS, "client_aware", [0.1, 0.1]),
        r"eps must be one number for 'client_aware', got shape \(2,\)",
    ),
    "accuracy_at other costs": (
        lambda: ff.frontier(ATOMS, "cfl", 2, costs=(5, 1)).accuracy_at(0.1),
        r"accuracy_at needs costs of one, this frontier's differ: utility_at",
    ),
    "client number": (
        lambda: ff.solve(ATOMS, "client_aware", 0.1).classifier(0.0, 0, 2),
        r"i must be a client number in 0..1, got \[2\]",
    ),
    "eps negative": (lambda: ff.solve(LAWS, "cfl", -0.1), r"eps must be non-negative, got -0.1"),
    "eps negative for one": (
        lambda: ff.solve(LAWS, "lft_fedavg", [0.1, -1]),
        r"eps must be non-negative, got -1",
    ),
    "eps NaN": (lambda: ff.solve(LAWS, "cfl", NAN), r"eps must not hold NaN, got nan"),
    "eps text": (lambda: ff.solve(LAWS, "cfl", "tight"), r"eps must be numbers, got 'tight'"),
    "eps None": (lambda: ff.solve(LAWS, "cfl", None), r"eps must .*"),
    "two eps for cfl": (
        lambda: ff.solve(LAWS, "cfl", [0.1, 0.1]),
        r"eps must be one number for 'cfl', got shape \(2,\)",
    ),
    "three eps for two": (
        lambda: ff.solve(LAWS, "lft_ensemble", [0.1] * 3),
        r"eps must have shape \(\) or \(2,\), one per client, got \(3,\)",
    ),
    "eps matrix": (
        lambda: ff.solve(LAWS, "lft_fedavg", [[0.1, 0.1]] * 2),
        r"eps must have shape .*got \(2, 2\)",
    ),
    "grid": (
        lambda: ff.solve(LAWS, "cfl", 0.1, method="lp", grid=1),
        r"grid must be a whole number of at least 2, got 1",
    ),
    "grid fraction": (
        lambda: ff.solve(LAWS, "cfl", 0.1, method="lp", grid=10.5),
        r"grid must be a whole number of at least 2, got 10.5",
    ),  # type: ignore[arg-type]
    "frontier federation": (
        lambda: ff.frontier(None, "cfl"),
        r"federation must be a Federation, got NoneType",
    ),  # type: ignore[arg-type]
    "frontier scheme": (lambda: ff.frontier(LAWS, "CFL"), r"scheme must be one of .*got 'CFL'"),
    "frontier effort": (
        lambda: ff.frontier(LAWS, "lft_fedavg", effort="much"),
        r"effort must be one of 'ordinary', 'thorough', got 'much'",
    ),
    "frontier points": (
        lambda: ff.frontier(LAWS, "cfl", points=1),
        r"points must be a whole number of at least 2, got 1",
    ),
    "frontier points float": (
        lambda: ff.frontier(LAWS, "cfl", points=10.0),
        r"points must be a whole number of at least 2, got 10.0",
    ),  # type: ignore[arg-type]
    "frontier below reach": (
        lambda: FRONTIER.accuracy_at(-1.0),
        r"disparity must be at least .*got -1",
    ),
    "frontier NaN": (lambda: FRONTIER.accuracy_at(NAN), r"disparity must not hold NaN"),
    "minimum scheme": (lambda: ff.min_disparity(LAWS, "lft"), r"scheme must be one of .*got 'lft'"),
    "minimum federation": (
        lambda: ff.min_disparity(3, "cfl"),
        r"federation must be a Federation, got int",
    ),  # type: ignore[arg-type]
    "certify cfl": (
        lambda: ff.min_disparity(LAWS, "cfl", certify=True),
        r"certify is available for local training, got 'cfl'",
    ),
    "certify fedavg of three": (
        lambda: ff.min_disparity(ff.Federation.normal([[0, 1]] * 3), "lft_fedavg", certify=True),
        r"certify takes 'lft_fedavg' of two clients, got 3",
    ),
    "certify fedavg of other laws": (
        lambda: ff.min_disparity(
            ff.Federation([ff.Client((stats.laplace(), stats.norm(1)))] * 2),
            "lft_fedavg",
            certify=True,
        ),
        r"laws must be normal for an enclosure",
    ),
    "certify atoms": (
        lambda: ff.min_disparity(ATOMS, "lft_ensemble", certify=True),
        r"certify takes normal laws",
    ),
    "certify other laws": (
        lambda: ff.min_disparity(
            ff.Federation([ff.Client((stats.laplace(), stats.norm(1)))]),
            "lft_ensemble",
            certify=True,
        ),
        r"normal",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_named(name: str) -> None:
    call, message = CASES[name]
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert type(caught.value) is ValueError
    assert len(str(caught.value)) < 250 and "\n" not in str(caught.value)
