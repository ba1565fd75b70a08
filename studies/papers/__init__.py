"""Experiments of the papers, a folder per paper, run by the simulator and set beside the published
numbers.

An ``Experiment`` lists its runs (``units``), turns what they measured into a table (``values``),
and knows the published numbers and what ``differences`` there are in data or protocol. A module has
a tuple of them, ``EXPERIMENTS``. ``all_experiments.py`` finds them; ``studies/execute.py`` runs
one, in a folder that a stopped run is taken up from.
"""
