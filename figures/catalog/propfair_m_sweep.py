"""PropFair's baseline M (figure 3 of the paper), solved exactly: the models between AFL's and
FedAvg's.

Ten clients, logistic regression of two features, cross entropy in nats with a ridge of 1e-3 ||θ||².
PropFair needs M > f_i for all i: as M falls to M₀ = min over θ of max_i f_i(θ), the model tends to
AFL's. As M grows, -M log(1 - f_i/M) = f_i + f_i²/(2M) + ..., so it tends to FedAvg's, at a distance
of about 1/M (section 5.3).
"""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from fairfl._support.checks import Array
from fairfl.figures.lib import style
from fairfl.solvers.minimax.solution import MinimaxSolution
from fairfl.solvers.minimax.solve_minimax import solve_minimax
from fairfl.studies.frames import first, floats, pick
from fairfl.theory.aggregation import AFL, FedAvg, Objective, PropFair
from fairfl.theory.measures import uniformity

NAME = "propfair_m_sweep"
TITLE = (
    "PropFair figure 3 on convex losses, solved: mean and worst loss against M, from AFL to FedAvg"
)

CLIENTS, SAMPLES, RIDGE = 10, 60, 1e-3
CLOSE, FAR = 1e-3, 1e3
"""Smallest and largest M - M₀, nats."""


def features() -> NDArray[np.float64]:
    """(clients, samples, 3): y_ij (x_ij, 1), y = ±1; the labels' means change by client."""
    rng = np.random.default_rng(20)
    turn = np.linspace(-0.9, 0.9, CLIENTS)
    distance = np.linspace(2.2, 0.7, CLIENTS)
    y = np.where(np.arange(SAMPLES) % 2 == 0, 1.0, -1.0)
    towards = np.stack([np.cos(turn), np.sin(turn)], -1)
    middle = distance[:, None, None] * y[None, :, None] * towards[:, None, :] / 2
    x = middle + rng.normal(size=(CLIENTS, SAMPLES, 2))
    return np.concatenate([x, np.ones((CLIENTS, SAMPLES, 1))], axis=2) * y[None, :, None]


def losses(theta: Array) -> tuple[Array, Array]:
    """θ (3,) to the losses (10,), nats, and their gradients (10, 3)."""
    z = DATA @ theta
    value = np.logaddexp(0.0, -z).mean(1) + RIDGE * theta @ theta
    slope = np.einsum("nm,nmd->nd", -1.0 / (1.0 + np.exp(z)), DATA) / SAMPLES + 2 * RIDGE * theta
    return value, slope


DATA = features()


def data(points: int = 61) -> pd.DataFrame:
    """One row a model. Columns: aim ("FedAvg", "AFL", "PropFair"); excess = M - M₀ and M (nats; NaN
    but for PropFair); mean, worst (the largest, of 10 clients the worst 10 %) and variance of the
    losses; distance to FedAvg's θ; stationarity.
    """
    fedavg, afl = _solve(FedAvg(), np.zeros(3)), _solve(AFL(), np.zeros(3))
    smallest = afl.value
    rows = [_row("FedAvg", fedavg, fedavg), _row("AFL", afl, fedavg)]
    theta = fedavg.theta
    for excess in np.geomspace(FAR, CLOSE, points):
        M = smallest + float(excess)
        # PropFair starts where all losses are below M
        start = theta if losses(theta)[0].max() < M else afl.theta
        solution = _solve(PropFair(M), start)
        theta = solution.theta
        rows.append({**_row("PropFair", solution, fedavg), "excess": excess, "M": M})
    return pd.DataFrame(rows)


def _solve(aim: Objective, start: Array) -> MinimaxSolution:
    return solve_minimax(losses, aim, start, jac=True)


def _row(name: str, solution: MinimaxSolution, fedavg: MinimaxSolution) -> dict[str, object]:
    f = solution.losses
    row: dict[str, object] = {"aim": name, "excess": np.nan, "M": np.nan}
    row |= {"mean": f.mean(), "worst": f.max()}
    row |= {"variance": uniformity.variance(f)}
    row |= {"distance": float(np.linalg.norm(solution.theta - fedavg.theta))}
    return row | {"stationarity": solution.certificate.stationarity}


def draw(data: pd.DataFrame) -> Figure:
    """Worst and mean loss against M - M₀, between the levels of AFL and FedAvg."""
    figure = Figure(figsize=(style.COLUMN, 2.9))
    axes = figure.add_subplot()
    sweep = pick(data, aim="PropFair")
    x = floats(sweep, "excess")
    looks = (
        ("worst", "worst client", "#D55E00", "-"),
        ("mean", "mean of the clients", "#0072B2", (0, (5, 1.6))),
    )
    for column, label, colour, line in looks:
        look = {"color": colour, "ls": line, "lw": 1.8, "label": f"PropFair, {label}"}
        axes.plot(x, floats(sweep, column), **look)
        for aim, dots in (("FedAvg", (0, (1, 1.4))), ("AFL", (0, (4, 1.4, 1, 1.4)))):
            y = first(pick(data, aim=aim), column)
            axes.axhline(y, color=colour, ls=dots, lw=0.8)
            left = aim == "AFL"
            place, shift = (CLOSE if left else FAR, y), (3 if left else -3, 1.5)
            words = {"ha": "left" if left else "right", "va": "bottom", "fontsize": 6.5}
            axes.annotate(aim, place, shift, textcoords="offset points", color=colour, **words)
    axes.set(xscale="log", xlim=(CLOSE, FAR))
    smallest = floats(sweep, "M")[0] - x[0]
    axes.set(xlabel=f"M − M₀ (nats), M₀ = min max fᵢ = {smallest:.3f}", ylabel="loss (nats)")
    axes.margins(y=0.12)
    figure.legend(loc="outside lower center", ncols=2)
    return figure
