"""Samples with a client: nothing is lost on the way to clients."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from small_data import samples

import fairfl as ff
from fairfl.sims.data.federated import FederatedData, sample, synthetic
from fairfl.sims.data.federated.synthetic import client_sizes
from fairfl.sims.engine import Parts


def test_rows_by_client() -> None:
    parts = Parts.of(
        samples(owner=[1, 0, 1, 1], part=[0, 0, 0, 2], n_clients=2, group=[0, 1, 2, 0])
    )
    assert parts.train.offsets.tolist() == [0, 1, 3] and parts.test.offsets.tolist() == [0, 0, 1]
    assert parts.train.x.tolist() == [[2, 3], [0, 1], [4, 5]] and parts.validation is None
    assert parts.train.y.tolist() == [1, 0, 1] and parts.train.group.tolist() == [1, 0, 2]
    pixels = Parts.of(
        samples(owner=[0] * 4, x=np.full((4, 1, 2, 2), 51, np.uint8), n_clients=1)
    ).train.x
    assert pixels.dtype == torch.float32 and np.allclose(pixels, 0.2, atol=1e-7)
    assert "small" in repr(samples()) and "4 train" in repr(samples())
    with pytest.raises(ValueError, match="read-only"):
        samples().x[0] = 0.0


def test_clients_can_be_assigned_anew() -> None:
    data = samples().assigned([0, 0, 1, 1])
    assert data.n_clients == 2 and data.sizes().tolist() == [2, 2] and len(data) == 4


def test_synthetic_labels_follow_linear_models() -> None:
    data = synthetic(clients=6, seed=3)
    assert data.x.shape[1] == 60 and set(np.unique(data.y)) <= set(range(10))
    assert (data.sizes() >= 85).all()  # the Pareto law begins at 84.76
    spread = np.array([data.x[data.owner == k].var(axis=0, ddof=1) for k in range(6)]).mean(axis=0)
    np.testing.assert_allclose(spread, np.arange(1, 61) ** -1.2, rtol=0.3)
    same = synthetic(clients=6, seed=3)
    assert (same.x == data.x).all() and (same.y == data.y).all()


def test_iid_and_hybrid_share_a_model() -> None:
    # features of iid clients have mean 0; of the others mean v_k, of unit variance at least
    centres = [
        np.abs(np.stack([d.x[d.owner == k].mean(axis=0) for k in range(8)])).mean(axis=1)
        for d in (synthetic(clients=8, kind=kind, seed=1) for kind in ("iid", "hybrid", "non-iid"))
    ]
    assert (
        (centres[0] < 0.1).all() and (centres[1][:4] < 0.1).all() and (centres[1][4:] > 0.4).all()
    )
    assert (centres[2] > 0.4).all()


def test_sizes_have_the_printed_mean_and_spread() -> None:
    sizes = client_sizes(400_000, np.random.default_rng(0)).astype(float)
    # the law's fourth moment is infinite: the spread converges slowly
    assert sizes.mean() == pytest.approx(127, rel=0.005) and sizes.std() == pytest.approx(
        73, rel=0.1
    )


def test_alpha_changes_labels_where_classes_have_means_of_their_own() -> None:
    """One number u_k adds as much to the score of every class, and so to none."""
    printed, by_class = (
        [synthetic(alpha=alpha, clients=6, seed=3, means=means) for alpha in (0.0, 1.0, 1e12)]
        for means in ("number", "class")
    )
    assert all((d.y == printed[0].y).all() and (d.x == printed[0].x).all() for d in printed)
    assert (by_class[1].y != by_class[0].y).any()
    # alpha large: the class of the largest u_k where 1 + sum x > 0, of the least elsewhere
    data = by_class[2]
    for k in range(6):
        above = 1 + data.x[data.owner == k].sum(1) > 0
        labels = data.y[data.owner == k]
        assert len(set(labels[above])) <= 1 and len(set(labels[~above])) <= 1
    assert max(len(set(printed[2].y[printed[2].owner == k])) for k in range(6)) > 2


def test_samples_follow_the_federation() -> None:
    fed = ff.Federation.normal(
        mean=[[3, 5], [1, -1]], sd=[1.0, 2.0], q=[0.3, 0.8], weight=[0.25, 0.75]
    )
    n = 200_000
    data = sample(fed, n, seed=5)
    assert data.group is not None
    for i in range(2):
        rows = data.owner == i
        assert rows.mean() == pytest.approx(fed.weight[i], abs=5 * 0.5 / np.sqrt(n))
        assert data.group[rows].mean() == pytest.approx(fed.q[i], abs=5 * 0.5 / np.sqrt(rows.sum()))
        for a in (0, 1):
            x = data.x[rows & (data.group == a), 0]
            sd = (1.0, 2.0)[i]
            assert x.mean() == pytest.approx([[3, 5], [1, -1]][i][a], abs=5 * sd / np.sqrt(x.size))
    assert data.y.mean() == pytest.approx(fed.base_rate, abs=5 * 0.5 / np.sqrt(n))


def test_samples_of_a_finite_x_and_of_mixtures() -> None:
    from scipy import stats

    masses = np.array([[[0.1, 0.3], [0.2, 0.4]], [[0.5, 0.0], [0.0, 0.5]]])
    fed = ff.Federation.finite([0.0, 1.0], masses, eta=np.array([0.2, 0.9]))
    n = 100_000
    data = sample(fed, n, seed=2)
    assert data.group is not None
    for i in range(2):
        for a in range(2):
            for k in range(2):
                share = ((data.owner == i) & (data.group == a) & (data.x[:, 0] == k)).mean()
                assert share == pytest.approx(masses[i, a, k] / 2, abs=5 * 0.5 / np.sqrt(n))
    assert data.y[data.x[:, 0] == 1].mean() == pytest.approx(0.9, abs=0.01)
    mixed = ff.Mixture([stats.norm(-5, 1), stats.gamma(2.0)], [0.25, 0.75])
    laws = ff.Federation([ff.Client((mixed, stats.norm(0, 1)), q=0.5)])
    mixture_data = sample(laws, 40_000, seed=0)
    assert mixture_data.group is not None
    x = mixture_data.x[mixture_data.group == 0, 0]
    for t in (-5.0, 0.0, 2.0):
        assert (x > t).mean() == pytest.approx(float(mixed.sf(t)), abs=5 * 0.5 / np.sqrt(x.size))


@given(st.integers(0, 10_000))
def test_a_split_gives_every_client_its_shares(seed: int) -> None:
    """A client keeps somebody to train on; published test rows stay, and are the only ones."""
    rng = np.random.default_rng(seed)
    n, clients = int(rng.integers(1, 60)), int(rng.integers(1, 9))
    part = rng.choice(np.array([0, 0, 1, 2], np.int8), n) if seed % 2 else np.zeros(n, np.int8)
    owner, (test, validation) = rng.integers(0, clients, n), rng.dirichlet([1, 1, 1])[:2]
    data = FederatedData("few", rng.normal(size=(n, 1)), np.zeros(n), owner, clients, part)
    after = data.split(validation, test, seed).part
    assert (after[part == 2] == 2).all() and (
        after == data.split(validation, test, seed).part
    ).all()
    for k in np.unique(owner[part != 2]):
        counts = np.bincount(after[(owner == k) & (part != 2)], minlength=3)
        wanted = np.array([0.0 if (part == 2).any() else test, validation]) * counts.sum()
        assert counts[0] >= 1 and (np.abs(counts[:0:-1] - wanted)[: counts[0]] <= 1).all()
