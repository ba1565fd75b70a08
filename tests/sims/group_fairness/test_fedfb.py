"""FedFB: against a plain loop, against FairBatch on pooled data; its bits."""

import numpy as np
import pytest
from grouped import EXACT, by_person, people, pooled, run, table

from fairfl.sims.engine import Logistic, Replicate, Simulation, Training
from fairfl.sims.engine.group_label_sums import CellSums
from fairfl.sims.engine.task import as_floats
from fairfl.sims.group_fairness import FairBatch, FedFB
from fairfl.sims.group_fairness.fedfb import Quantiser


def loop(parts, alpha, rounds, lr, epochs, local):
    """FedFB for parity, algorithm 2 as a plain loop over clients, cells and steps."""
    x, y, group, offsets = table(parts)
    n, groups = len(x), int(group.max()) + 1
    people_of = np.array([(group == a).sum() for a in range(groups)])
    lam, w = people_of / n, np.zeros(3)

    def losses(w, rows):
        z = x[rows] @ w
        return np.log1p(np.exp(np.where(y[rows] == 1, -z, z)))

    def moved(lam, models):
        F = np.zeros(groups)
        for a in range(groups):
            for b, sign in ((a, 1), (0, -1)):
                F[a] -= sign * ((group == b) & (y == 0)).sum() / people_of[b]
                for k, model in enumerate(models):
                    rows = np.arange(offsets[k], offsets[k + 1])
                    for label, way in ((0, 1), (1, -1)):
                        cell = rows[(group[rows] == b) & (y[rows] == label)]
                        F[a] += sign * way * losses(model, cell).sum() / people_of[b]
        mu = np.append(-F[1:].sum(), F[1:])
        return np.clip(lam + alpha / np.linalg.norm(mu) * mu, 0, 2 * people_of / n)

    for t in range(rounds):
        if t > 0 and not local:
            lam = moved(lam, [w] * (len(offsets) - 1))
        weights = np.where(y == 0, lam[group], 2 * people_of[group] / n - lam[group])
        trained = by_person(parts, w, weights * n / people_of[group], lr, epochs)
        w = sum(size / n * v for size, v in zip(np.diff(offsets), trained, strict=True))
        if local:
            lam = moved(lam, trained)
    return w, lam


@pytest.mark.exact
@pytest.mark.parametrize("evaluated", ["global", "local"])
@pytest.mark.parametrize("groups", [2, 3])
def test_against_the_plain_loop(evaluated, groups):
    parts = people(groups=groups)
    simulation, _ = run(parts, FedFB(FairBatch(alpha=0.2), evaluated=evaluated), rounds=4, epochs=3)
    w, lam = loop(parts, 0.2, 4, 0.3, 3, evaluated == "local")
    # the secure sum rounds to 2^-36
    np.testing.assert_allclose(simulation.params[0].numpy(), w, atol=1e-9)
    np.testing.assert_allclose(as_floats(simulation.states[0]["lam"]), lam, atol=1e-9)


@pytest.mark.exact
@pytest.mark.parametrize("notion", ["dp", "eo", "eodds"])
@pytest.mark.parametrize("surrogate", ["loss", "acceptance", "zero_one"])
def test_one_step_a_round_is_fairbatch_on_pooled_data(notion, surrogate):
    """One full-batch step is a step on all data, and F a sum over the people."""
    parts, algorithm = people(groups=3), FedFB(FairBatch(notion, 0.1, surrogate=surrogate))
    many, _ = run(parts, algorithm, 6)
    single, _ = run(pooled(parts), algorithm, 6)
    np.testing.assert_allclose(many.params, single.params, atol=1e-9)
    np.testing.assert_allclose(many.states[0]["lam"], single.states[0]["lam"], atol=1e-9)


def test_lambda_moves_every_k_rounds():
    moves = []
    settings = Training(rounds=6, lr=0.3, batch_size=None, epochs=1)
    simulation = Simulation(Logistic(2), people(), [Replicate(FedFB(every=2))], settings, EXACT)
    for _ in range(6):
        before = as_floats(simulation.states[0]["lam"])
        simulation.step()
        moves.append(bool((as_floats(simulation.states[0]["lam"]) != before).any()))
    assert moves == [False, False, True, False, True, False]


@pytest.mark.parametrize("notion", ["dp", "eo", "eodds", "cp"])
def test_lambda_stays_in_its_set(notion):
    """Steps far larger than the set, and every projection is where it was."""
    algorithm = FedFB(FairBatch(notion, alpha=5.0))
    simulation, _ = run(people(groups=3), algorithm, 5)
    lam, sizes = (as_floats(simulation.states[0][name]) for name in ("lam", "known"))
    np.testing.assert_allclose(algorithm.rule.rules.project(lam, sizes), lam, atol=1e-15)
    assert (algorithm.rule.rules.table(lam, sizes, simulation.summed[0].index.counts) >= 0).all()


@pytest.mark.parametrize(
    ("notion", "surrogate"),
    [("dp", "loss"), ("eo", "zero_one"), ("eodds", "acceptance"), ("cp", "loss")],
)
@pytest.mark.parametrize("bits", [2, 6, 10])
def test_quantised_gap_is_within_its_bound(bits, notion, surrogate):
    """|F_a - quantised F_a| <= K step, K = 3 clients, for every report of a run and every a."""
    gaps = []

    class Both(FedFB):
        name = ""

        def report(self, round, cells):
            coded = super().report(round, cells)
            rules, sizes = self.rule.rules, as_floats(round.state["known"])
            exact = rules.direction(self._statistics(round, cells).sum(0), sizes)
            sent = rules.direction(self._quantiser.decode(coded.sum(0), terms=3), sizes)
            gaps.extend(rules.gaps(exact - sent))
            return coded

    algorithm = Both(FairBatch(notion, surrogate=surrogate), bits=bits, loss_bound=2.0)
    simulation, _ = run(people(groups=3), algorithm, 6)
    assert as_floats(simulation.states[0]["own.outside"])[0] == 0
    assert len(gaps) == 5 * (4 if notion == "eodds" else 2)
    width = 4.0 if algorithm.rule.signed else 2.0
    assert max(map(abs, gaps)) <= 3 * width / (2**bits - 1)
    assert max(map(abs, gaps)) > 0


@pytest.mark.parametrize(
    ("notion", "low"), [("dp", -4.0), ("eo", 0.0), ("eodds", -4.0), ("cp", -4.0)]
)
def test_acceptance_in_bits_has_room_below_zero(notion, low):
    """1 - ℓ(1, ŷ) is negative where the loss exceeds one: levels from 0 up would send 0 for it.

    Two clients, all of their people's ℓ(1, ŷ) = 3: label 0 of every cell has 1 - 3 = -2 a person,
    label 1 has 3.
    """
    algorithm = FedFB(FairBatch(notion, surrogate="acceptance"), bits=12, loss_bound=4.0)
    counts = np.ones((2, 2, 2))
    sums = algorithm.rule.sums(CellSums(counts, counts, counts, accepting=3 * counts))
    assert sums[..., 0].tolist() == [[-2, -2]] * 2 and sums[..., 1].tolist() == [[3, 3]] * 2
    rules, coder = algorithm.rule.rules, algorithm._quantiser
    sizes = rules.people(rules.enrol(counts).sum(0))
    reports = rules.statistics(sums, counts, np.arange(2), sizes)
    assert coder.low == low
    assert coder.outside(reports) == 0
    assert np.abs(coder.decode(coder.encode(reports)) - reports).max() <= coder.step / 2 + 1e-12


@pytest.mark.parametrize(("clients", "bits"), [(1, 16), (1023, 16), (1025, 15), (10_000, 12)])
def test_codes_must_have_room_to_add_up(clients, bits):
    """Reports are below 2^26 / K: 1,023 codes of 16 bits, 1,025 of 15, 10,000 of 12."""
    total = np.ones(4)
    FedFB(bits=bits).begin(total, clients)
    assert clients * (2**bits - 1) < 2**26
    if bits < 16:
        message = f"bits must be at most {bits} for {clients} clients.*got {bits + 1}"
        with pytest.raises(ValueError, match=message):
            FedFB(bits=bits + 1).begin(total, clients)


def test_losses_beyond_the_bound_are_counted():
    simulation, _ = run(people(), FedFB(bits=4, loss_bound=0.01), 4)
    assert as_floats(simulation.states[0]["own.outside"])[0] > 0


def test_the_bound_is_reached():
    """Two bits on [0, 3]: the levels 0, 1, 2, 3; 0.5 goes to 0, an error of half a step."""
    quantiser = Quantiser(2, 0.0, 3.0)
    assert quantiser.step == 1
    assert quantiser.decode(quantiser.encode(np.array([0.5, 1.4, 3.0]))).tolist() == [0, 1, 3]
    assert quantiser.outside(np.array([-0.1, 0.0, 3.0, 3.1])) == 2
