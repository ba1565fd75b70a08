"""Partitions: nothing lost or dealt twice, the properties each promises, one answer a seed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl.sims.data.partition import PartitionError, dirichlet, iid, label_shards, two_groups

LABELS = st.lists(st.integers(0, 4), min_size=8, max_size=80)
SEED = st.integers(0, 2**32)


@given(st.integers(1, 300), st.integers(1, 20), SEED)
def test_iid_sizes_differ_by_one_at_most(rows: int, clients: int, seed: int) -> None:
    clients = min(clients, rows)
    owner = iid(rows, clients, seed)
    sizes = np.bincount(owner, minlength=clients)
    assert owner.shape == (rows,) and sizes.size == clients and sizes.max() - sizes.min() <= 1
    assert (owner == iid(rows, clients, seed)).all()


@given(LABELS, st.integers(1, 6), SEED, st.sampled_from((0.05, 0.5, 50.0)))
def test_dirichlet_keeps_every_row_and_the_minimum(
    label: list[int], clients: int, seed: int, beta: float
) -> None:
    try:
        owner = dirichlet(label, clients, beta, min_size=1, seed=seed, tries=50)
    except PartitionError as error:
        assert "lower min_size" in str(error)
        return
    sizes = np.bincount(owner, minlength=clients)
    assert owner.shape == (len(label),) and sizes.size == clients and sizes.min() >= 1
    assert (owner == dirichlet(label, clients, beta, min_size=1, seed=seed, tries=50)).all()


def test_dirichlet_shares_have_the_laws_mean_and_variance() -> None:
    # share of one client of Dirichlet(b,...,b) over K: mean 1/K, variance (K-1) / (K^2 (K b + 1))
    K, b = 4, 0.7
    label = np.zeros(1000, dtype=int)
    owners = [dirichlet(label, K, b, min_size=0, seed=s) for s in range(2000)]
    share = np.array([np.mean(owner == 0) for owner in owners])
    variance = (K - 1) / (K**2 * (K * b + 1))
    assert share.mean() == pytest.approx(1 / K, abs=5 * np.sqrt(variance / 2000))
    # kurtosis about 3: five standard errors are 0.16
    assert share.var() == pytest.approx(variance, rel=0.15)


def test_dirichlet_beta_sets_the_skew() -> None:
    label = np.repeat(np.arange(10), 500)

    def shares(clients: int, beta: float, min_size: int) -> np.ndarray:
        owner = dirichlet(label, clients, beta, seed=1, min_size=min_size)
        return np.bincount(owner * 10 + label, minlength=10 * clients).reshape(-1, 10) / 500

    spread = [shares(10, b, 1).std(axis=0).mean() for b in (0.1, 1.0, 100.0)]
    assert spread[0] > spread[1] > spread[2]
    with pytest.raises(PartitionError, match="no draw of 3 gave every one of 4 clients 1 rows"):
        dirichlet([0, 1, 0, 1], 4, 1e-9, min_size=1, tries=3)
    # gamma draws underflow: a class sits with one client
    assert (shares(3, 1e-8, 0).max(axis=0) == 1).all()


@given(LABELS, st.integers(1, 4), st.integers(1, 2), SEED)
def test_shards_hold_few_classes(label: list[int], clients: int, shards: int, seed: int) -> None:
    owner = label_shards(label, clients, shards, seed)
    assert owner.shape == (len(label),) and set(owner) == set(range(clients))
    sizes = np.bincount(owner)
    assert sizes.max() - sizes.min() <= shards  # every shard is within one row of the others
    # a shard is a run of the sorted labels: the cuts make at most classes + shards - 1 (client,
    # class) pairs in all
    pairs = len(set(zip(owner.tolist(), label, strict=True)))
    assert pairs <= len(set(label)) + clients * shards - 1


@given(
    st.integers(2, 6), st.integers(6, 20), st.sampled_from((0.5, 0.9, 1.0)), st.integers(1, 3), SEED
)
def test_two_groups_split_every_class_by_alpha(
    classes: int, per_class: int, alpha: float, per: int, seed: int
) -> None:
    label = np.tile(np.arange(classes), per_class)
    owner = two_groups(label, alpha, per, seed)
    group = owner // per
    for c in range(classes):
        home = 0 if c < classes // 2 else 1
        assert (group[label == c] == home).sum() == round(alpha * per_class)
    for g in (0, 1):
        sizes = np.bincount(owner[group == g] - g * per, minlength=per)
        assert sizes.max() - sizes.min() <= 1


@given(
    st.integers(2, 5), st.integers(1, 3), st.integers(4, 20), st.sampled_from((0.0, 0.7, 1.0)), SEED
)
def test_more_groups_keep_alpha_of_their_classes_and_share_the_rest(
    groups: int, group_classes: int, per_class: int, alpha: float, seed: int
) -> None:
    label = np.tile(np.arange(groups * group_classes), per_class * groups)
    owner = two_groups(label, alpha, 1, seed, groups)
    for c in range(groups * group_classes):
        counts = np.bincount(owner[label == c], minlength=groups)
        others = np.delete(counts, c // group_classes)
        assert counts[c // group_classes] == round(alpha * (per_class * groups))
        assert others.max() - others.min() <= 1


@pytest.mark.parametrize("beta", [1e12, 1e300, 1e308])
def test_a_huge_beta_makes_the_clients_alike(beta: float) -> None:
    owner = dirichlet(np.arange(2000) % 2, 10, beta, seed=1)
    assert (np.bincount(owner) == 200).all()
