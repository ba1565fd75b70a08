"""Experiments of the papers, a folder per paper, run by the simulator and set beside the published
numbers.

A module with a ``NAME`` is an experiment: it lists its runs (``units``), turns what they measured
into a table (``values``), and knows the ``PUBLISHED`` numbers and what ``differences`` there are in
data or protocol. ``all_experiments.py`` finds it; ``studies/execute.py`` runs it, in a folder that
a stopped run is taken up from.
"""
