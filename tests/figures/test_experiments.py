"""Pictures of experiments from handmade measures."""

from itertools import product

import pandas as pd
import pytest

from fairfl.figures.lib import experiments, style


@pytest.fixture
def clients():
    """Two devices of 10 and 30 samples, two rounds, two seeds."""
    bases = {"q = 0": 0.3, "q = 1": 0.4}
    rows = [
        ("A", name, t, seed, k, (10, 30)[k], bases[name] + 0.1 * t + 0.02 * seed + 0.2 * k)
        for name, t, seed, k in product(bases, (1, 2), (0, 1), (0, 1))
    ]
    columns = "dataset objective round seed client samples accuracy".split()
    return pd.DataFrame(rows, columns=columns)


def test_rounds_by_hand(clients):
    table = experiments.rounds(clients).set_index(["objective", "round"])
    first = 100 * (10 * 0.4 + 30 * 0.6) / 40
    accuracies = table.loc[("q = 0", 1), ["average", "least", "most"]].tolist()
    assert accuracies == pytest.approx([first + 1, first, first + 2])


def test_distribution_by_hand(clients):
    """Round 2 of q = 0: devices at 50 and 70 %, with the second seed at 52 and 72 %."""
    table = experiments.distribution(clients[clients["round"] == 2])
    rows = table[table["objective"] == "q = 0"]
    assert rows["accuracy"].tolist() == pytest.approx([50, 52, 70, 72])
    assert rows["share"].tolist() == [25, 50, 75, 100]
    figure = experiments.draw_distribution(table)
    assert all(
        line.get_xdata()[-1] == 100 and line.get_ydata()[-1] == 100 for line in figure.axes[0].lines
    )


def test_curves_that_coincide_can_be_told_apart_and_bands_are_few(clients):
    """Neighbours in the legend differ in line; with more than three curves there are no bands."""
    many = pd.concat(
        [clients[clients["objective"] == "q = 0"].assign(objective=f"q = {q}") for q in range(9)],
        ignore_index=True,
    )
    figure = experiments.draw_rounds(experiments.rounds(many))
    looks = [(line.get_color(), line._unscaled_dash_pattern) for line in figure.axes[0].lines]
    assert len(set(map(str, looks))) == 9
    assert all(a[1] != b[1] for a, b in zip(looks, looks[1:], strict=False))
    assert not figure.axes[0].collections
    assert len(experiments.draw_rounds(experiments.rounds(clients)).axes[0].collections) == 2


@pytest.mark.parametrize("panels", ["A", "ABC"])
def test_the_legend_stays_on_the_picture(clients, panels):
    """Seven long names, on one panel and on three."""
    rows = clients[clients["objective"] == "q = 0"]
    names = [f"{k} steps on all data" for k in range(7)]
    many = pd.concat([rows.assign(dataset=p, objective=name) for p in panels for name in names])
    with style.sheet():
        figure = experiments.draw_rounds(experiments.rounds(many))
        figure.canvas.draw()
        box = figure.legends[0].get_window_extent()
    assert box.x0 >= 0 and box.x1 <= figure.bbox.x1 and box.y0 >= 0
