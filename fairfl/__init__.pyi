"""The public names and where they are defined, for type checkers and for ``__init__.py``."""

from typing import Any

from fairfl._support.version import __version__ as __version__
from fairfl.claims.lemma import check_lemma as check_lemma
from fairfl.claims.lemma import lemma as lemma
from fairfl.claims.objective_check import check_objective as check_objective
from fairfl.fair_thresholds import FairThresholds as FairThresholds
from fairfl.federation import Federation as Federation
from fairfl.reports.answer import compare as compare
from fairfl.reports.judgement.judge import judge as judge
from fairfl.sims.data.decisions import apply as apply
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
from fairfl.sweeps.arena import arena as arena
from fairfl.sweeps.sweep import sweep as sweep
from fairfl.theory.populations.calibration import ScoreWarning as ScoreWarning
from fairfl.theory.populations.classifiers import Classifier as Classifier
from fairfl.theory.populations.client import Client as Client
from fairfl.theory.populations.eta import Logistic as Logistic
from fairfl.theory.populations.eta import Monotone as Monotone
from fairfl.theory.populations.laws import Finite as Finite
from fairfl.theory.populations.laws import Mixture as Mixture
from fairfl.theory.populations.laws import Samples as Samples

def __getattr__(name: str) -> Any: ...  # fairfl.figures
