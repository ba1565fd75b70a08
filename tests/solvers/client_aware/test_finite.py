"""Client-aware rules on a finite X where several are optimal."""

import numpy as np
import pytest

import fairfl as ff


@pytest.mark.parametrize("notion", ["accuracy_parity", "dp", "eodds"])
@pytest.mark.parametrize("seed", range(8))
def test_clients_with_the_same_people_have_the_same_rule(seed: int, notion: str) -> None:
    """A vertex of the linear programme is randomised at one client, and unfair there."""
    rng = np.random.default_rng(seed)
    mass = rng.gamma(1.0, size=(2 + seed % 2, 6)) + 1e-3
    masses = np.broadcast_to(mass / mass.sum(), (4, *mass.shape))
    fed = ff.Federation.finite(np.arange(6), masses, np.sort(rng.random(6)))
    for eps in (0.0, 0.05):
        s = ff.solve(fed, "client_aware", eps, notion=notion)
        cfl = ff.solve(fed, "cfl", eps, notion=notion)
        assert s.accuracy == pytest.approx(cfl.accuracy, abs=1e-12)
        assert s.local_disparities == pytest.approx(np.full(4, cfl.disparity), abs=1e-9)
