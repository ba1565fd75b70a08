"""Experiments of the papers, run by the simulator and set beside the published numbers.

A module with a ``NAME`` is an experiment: it lists its runs (``units``), turns what they measured into a table
(``values``), and knows the ``PUBLISHED`` numbers and what ``differences`` there are in data or protocol.
``registry.py`` finds it; ``execute.py`` runs it, in a folder that a stopped run is taken up from.
"""

from fairfl.sims.experiments.execute import run_units
from fairfl.sims.experiments.experiment import Experiment, Scale, Setting, Unit
from fairfl.sims.experiments.registry import experiments, find

__all__ = ["Experiment", "Scale", "Setting", "Unit", "experiments", "find", "run_units"]
