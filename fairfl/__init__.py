"""fairfl: what a federation loses in accuracy and fairness by the way it trains; exact answers,
checked.

Public names are imported on first use, so that ``import fairfl`` stays fast.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairfl._support.version import __version__ as __version__
    from fairfl.claims.lemma import check_lemma as check_lemma
    from fairfl.claims.lemma import lemma as lemma
    from fairfl.claims.objective_check import check_objective as check_objective
    from fairfl.fair_thresholds import FairThresholds as FairThresholds
    from fairfl.solvers.api import frontier as frontier
    from fairfl.solvers.api import min_disparity as min_disparity
    from fairfl.solvers.api import solve as solve
    from fairfl.solvers.frontier import Frontier as Frontier
    from fairfl.solvers.minimax.solve_minimax import solve_minimax as solve_minimax
    from fairfl.solvers.plots import plot_frontiers as plot_frontiers
    from fairfl.solvers.solution import Certificate as Certificate
    from fairfl.solvers.solution import CertificationError as CertificationError
    from fairfl.solvers.solution import MinDisparity as MinDisparity
    from fairfl.solvers.solution import Solution as Solution
    from fairfl.sweeps.sweep import sweep as sweep
    from fairfl.theory.populations.calibration import ScoreWarning as ScoreWarning
    from fairfl.theory.populations.classifiers import Classifier as Classifier
    from fairfl.theory.populations.client import Client as Client
    from fairfl.theory.populations.eta import Logistic as Logistic
    from fairfl.theory.populations.eta import Monotone as Monotone
    from fairfl.theory.populations.federation import Federation as Federation
    from fairfl.theory.populations.laws import Finite as Finite
    from fairfl.theory.populations.laws import Mixture as Mixture
    from fairfl.theory.populations.laws import Samples as Samples

# In a checkout's root Python imports this folder, and the layers stand beside it.
if not Path(__file__).with_name("_support").exists():
    from fairfl.checkout import find_layers

    find_layers(Path(__file__).parents[1])

_WHERE = {
    "__version__": "_support.version",
    "Certificate": "solvers.solution",
    "CertificationError": "solvers.solution",
    "Classifier": "theory.populations.classifiers",
    "Client": "theory.populations.client",
    "FairThresholds": "fair_thresholds",
    "Federation": "theory.populations.federation",
    "Finite": "theory.populations.laws",
    "Frontier": "solvers.frontier",
    "Logistic": "theory.populations.eta",
    "MinDisparity": "solvers.solution",
    "Mixture": "theory.populations.laws",
    "Monotone": "theory.populations.eta",
    "Samples": "theory.populations.laws",
    "ScoreWarning": "theory.populations.calibration",
    "Solution": "solvers.solution",
    "check_lemma": "claims.lemma",
    "check_objective": "claims.objective_check",
    "frontier": "solvers.api",
    "lemma": "claims.lemma",
    "min_disparity": "solvers.api",
    "plot_frontiers": "solvers.plots",
    "solve": "solvers.api",
    "solve_minimax": "solvers.minimax.solve_minimax",
    "sweep": "sweeps.sweep",
}

__all__ = [*_WHERE]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        value = getattr(import_module(f"fairfl.{_WHERE[name]}"), name)
        globals()[name] = value
        return value
    if name == "figures":
        return import_module("fairfl.figures")
    raise AttributeError(f"module 'fairfl' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*_WHERE, "figures"])
