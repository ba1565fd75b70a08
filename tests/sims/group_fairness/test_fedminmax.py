"""FedMinMax: against a plain loop, against AFL where every client has one group, and its aim."""

from types import SimpleNamespace

import numpy as np
import pytest
from grouped import by_person, people, run, table

from fairfl.sims.engine import ClientData, Parts, secure_sums
from fairfl.sims.group_fairness import FedMinMax

pytestmark = pytest.mark.exact


def group_losses(parts, w):
    x, y, group, _ = table(parts)
    losses = np.logaddexp(0, -(2 * y - 1) * (x @ w))
    return np.array([losses[group == a].mean() for a in range(group.max() + 1)])


def loop(parts, rate, rounds, lr, epochs):
    """Algorithm 1 of Papadaki et al., person by person; local steps as many as ``epochs``."""
    _, _, group, _ = table(parts)
    shares = [(group == a).mean() for a in range(group.max() + 1)]
    mixture, w = np.array(shares), np.zeros(3)
    for _ in range(rounds):
        weights = (mixture / shares)[group]
        average = parts.p @ np.array(by_person(parts, w, weights, lr, epochs))
        raised = mixture + rate * group_losses(parts, w)
        # the shift by bisection
        low, high = raised.min() - 1, raised.max()
        for _ in range(200):
            shift = (low + high) / 2
            total = np.maximum(raised - shift, 0).sum()
            low, high = (shift, high) if total > 1 else (low, shift)
        mixture, w = np.maximum(raised - low, 0), average
    return w, mixture


@pytest.mark.parametrize(("groups", "rate", "epochs"), [(2, 0.3, 1), (3, 0.1, 3), (3, 5.0, 2)])
def test_against_the_plain_loop(groups, rate, epochs, monkeypatch):
    """Masked sums are rounded to 2^-36; here they are plain."""
    plain = SimpleNamespace(mask=lambda rows, *_: rows, unmask=lambda rows: rows.sum(0), BITS=64)
    masked, _ = run(people(groups=groups), FedMinMax(rate), 6, epochs=epochs)
    monkeypatch.setattr(secure_sums, "secure", plain)
    simulation, _ = run(people(groups=groups), FedMinMax(rate), 6, epochs=epochs)
    w, mixture = loop(people(groups=groups), rate, 6, 0.3, epochs)
    np.testing.assert_allclose(simulation.params[0], w, atol=1e-12)
    np.testing.assert_allclose(simulation.states[0]["next_mixture"], mixture, atol=1e-12)
    np.testing.assert_allclose(masked.params[0], w, atol=1e-9)


def test_a_group_of_nobody_and_a_rate_of_zero_are_refused():
    with pytest.raises(ValueError, match="rate must be .* got 0"):
        FedMinMax(0.0)
    data = people().train
    skipped = Parts(ClientData(data.x, data.y, data.offsets, group=2 * data.group))
    with pytest.raises(ValueError, match="group 1 must have people"):
        run(skipped, FedMinMax())
