"""Engine and loop on random federations: sizes, batches, epochs, rates."""

from dataclasses import replace

import numpy as np
from federations import EXACT, classified, trained
from hypothesis import given
from hypothesis import strategies as st

from fairfl.sims.algorithms.ditto import Ditto
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.algorithms.gifair import GIFAIR
from fairfl.sims.algorithms.propfair import PropFair
from fairfl.sims.algorithms.term import TERM
from fairfl.sims.engine import Softmax, Training
from fairfl.sims.engine.task import Jobs
from fairfl.sims.engine.train import CACHE, chunk_size

MODEL = Softmax(4, 3)
ALGORITHMS = (FedAvg(), PropFair(4.0), TERM(1.0, 0.3), GIFAIR(1e-4), Ditto(0.2))


@given(
    sizes=st.lists(st.integers(1, 25), min_size=1, max_size=7),
    batch=st.one_of(st.none(), st.integers(1, 9)),
    work=st.one_of(
        st.fixed_dictionaries({"epochs": st.integers(1, 3)}),
        st.fixed_dictionaries({"steps": st.integers(1, 8)}),
    ),
    momentum=st.sampled_from([0.0, 0.9]),
    decay=st.sampled_from([0.0, 0.1]),
    stragglers=st.sampled_from([0.0, 0.5]),
    algorithm=st.sampled_from(ALGORITHMS),
    limit=st.sampled_from([1, 4000, 1 << 30]),
)
def test_engine_and_loop_agree(sizes, batch, work, momentum, decay, stragglers, algorithm, limit):
    training = Training(
        rounds=2,
        lr=0.05,
        batch_size=batch,
        momentum=momentum,
        weight_decay=decay,
        stragglers=stragglers,
        **work,
    )
    data = classified(sizes)
    fast = trained(MODEL, data, [algorithm], training, replace(EXACT, memory_limit=limit))
    slow = trained(MODEL, data, [algorithm], training, replace(EXACT, backend="loop"))
    np.testing.assert_allclose(
        fast.params.numpy(), slow.params.detach().numpy(), rtol=1e-12, atol=1e-13
    )
    own = algorithm.personal(fast.states[0])
    if own is not None:
        np.testing.assert_allclose(
            own, algorithm.personal(slow.states[0]).detach(), rtol=1e-12, atol=1e-13
        )


@given(st.integers(1, 500), st.integers(1, 64), st.integers(1, 1 << 34))
def test_chunks_keep_to_the_limit_and_one_client_always_goes(size, batch, limit):
    many = np.full(3, size)
    whole = np.zeros(3, np.int64)
    jobs = Jobs(whole, whole, whole.astype(np.uint64), many, many, batch, np.zeros((5, 3)))
    params = trained(
        MODEL, classified((2,)), [FedAvg()], Training(rounds=1), EXACT, rounds=0
    ).params
    count = chunk_size(MODEL, jobs, params, limit, size)
    least = 8 * MODEL.size + 8 * min(size, batch) * 5  # parameters and one batch, in float64
    assert count >= 1 and (count == 1 or count * least <= min(limit, CACHE))
