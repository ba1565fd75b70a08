"""The examples of docs/simulator.md run, and give what they say."""

import re
from pathlib import Path

import numpy as np
import torch
from federations import classified, quick, trained

from fairfl.sims.engine import ClientData, LeastSquares, Parts

PAGE = Path(__file__).parents[2] / "docs" / "simulator.md"


def test_the_examples_run():
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), flags=re.DOTALL)
    assert len(blocks) == 3
    names = {"__name__": "page"}
    for block in blocks:
        exec(compile(block, PAGE.name, "exec", dont_inherit=True), names)
    result = names["result"]
    assert result.params.shape == (6, 18)
    assert sorted(result.clients["round"].unique()) == [10, 20, 30]
    assert (result.rounds["loss_samples"] > 0).all() and len(result.rounds) == 30 * 6
    kept = names["best_of"](result.clients)
    last = result.clients.query("round == 30 and part == 'validation'").pivot(
        index="client", columns="replicate", values="accuracy"
    )
    np.testing.assert_array_equal(
        last.to_numpy()[np.arange(4), kept["replicate"]], last.to_numpy().max(1)
    )
    worst = result.rounds.groupby("replicate")["max_loss"].last().to_numpy()
    assert (worst[4:] < worst[:2]).all()  # q = 5 leaves the worst client better off than q = 0
    assert names["again"].simulation.done

    # the last one, on a client whose update is 0
    data = classified((5, 4)).train
    x = torch.cat([0 * data.x[:5], data.x[5:]])
    parts = Parts(ClientData(x, x.sum(1), data.offsets))
    done = trained(LeastSquares(4, bias=False), parts, [names["UnitMomentum"]()], quick(rounds=3))
    assert 1 < float(done.params.norm()) < 3
