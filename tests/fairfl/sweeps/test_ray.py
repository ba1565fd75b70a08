"""fairfl.sweep on a real Ray cluster of two nodes on this machine; needs the extra ray."""

from pathlib import Path

import pytest
import swept

import fairfl as ff
from fairfl.sweeps.sweep import LOST

pytest.importorskip("ray")
pytestmark = [pytest.mark.deep, pytest.mark.filterwarnings("ignore")]


@pytest.fixture
def cluster(monkeypatch):
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("PYTHONPATH", str(Path(swept.__file__).parent))
    local_cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    local_cluster.add_node(num_cpus=1)
    yield local_cluster
    local_cluster.shutdown()


@pytest.mark.parametrize("loss", ["none", "node", "process"])
def test_the_table_is_that_of_the_local_engine(loss, cluster, tmp_path):
    function = swept.deadly if loss == "process" else swept.slow
    for name in ("here", "ray"):
        (tmp_path / name).mkdir()

    def progress(done: int, _: int) -> None:
        if loss == "node" and done == 15:
            cluster.remove_node(list(cluster.worker_nodes)[0], allow_graceful=False)

    grid = {"log": [str(tmp_path / "ray")], "a": list(range(40))}
    table = ff.sweep(
        function, grid, tmp_path / "o", engine="ray", address=cluster.address, progress=progress
    )
    assert table["error"].dropna().tolist() == ([LOST] if loss == "process" else [])
    done = swept.counts(tmp_path / "ray")
    assert len(done) == 40 - (loss == "process")
    ff.sweep(function, grid, tmp_path / "p", jobs=2)
    by_local, by_ray = ((tmp_path / name / "table.parquet").read_bytes() for name in "op")
    assert by_local == by_ray
