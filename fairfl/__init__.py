"""fairfl: what a federation loses in accuracy and fairness by the way it trains; exact answers, checked.

Public names are imported on first use, so that ``import fairfl`` stays fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fairfl._version import __version__

if TYPE_CHECKING:
    from fairfl.solvers.api import solve as solve
    from fairfl.solvers.frontier import Frontier as Frontier
    from fairfl.solvers.frontiers import frontier as frontier
    from fairfl.solvers.minimax import solve_minimax as solve_minimax
    from fairfl.solvers.minimum import MinDisparity as MinDisparity
    from fairfl.solvers.minimum import min_disparity as min_disparity
    from fairfl.solvers.solution import Certificate as Certificate
    from fairfl.solvers.solution import CertificationError as CertificationError
    from fairfl.solvers.solution import Solution as Solution
    from fairfl.theory.calibration import ScoreWarning as ScoreWarning
    from fairfl.theory.classifiers import Classifier as Classifier
    from fairfl.theory.eta import Logistic as Logistic
    from fairfl.theory.eta import Monotone as Monotone
    from fairfl.theory.federation import Client as Client
    from fairfl.theory.federation import Federation as Federation
    from fairfl.theory.laws import Finite as Finite
    from fairfl.theory.laws import Mixture as Mixture
    from fairfl.theory.laws import Samples as Samples

_WHERE = {
    "Certificate": "solvers.solution",
    "CertificationError": "solvers.solution",
    "Classifier": "theory.classifiers",
    "Client": "theory.federation",
    "Federation": "theory.federation",
    "Finite": "theory.laws",
    "Frontier": "solvers.frontier",
    "Logistic": "theory.eta",
    "MinDisparity": "solvers.minimum",
    "Mixture": "theory.laws",
    "Monotone": "theory.eta",
    "Samples": "theory.laws",
    "ScoreWarning": "theory.calibration",
    "Solution": "solvers.solution",
    "frontier": "solvers.frontiers",
    "min_disparity": "solvers.minimum",
    "solve": "solvers.api",
    "solve_minimax": "solvers.minimax",
}

__all__ = ["__version__", *_WHERE]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        value = getattr(import_module(f"fairfl.{_WHERE[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'fairfl' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
