"""Experiments of the papers, a folder per paper, run by the simulator and set beside the published
numbers. ``all_experiments.py`` finds the tuple ``EXPERIMENTS`` of each module;
``studies/execute.py`` runs one.
"""
