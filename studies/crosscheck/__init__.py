"""Practice compared with theory: learned classifiers, evaluated exactly, and the exact frontiers.

A module of ``studies/`` with a ``NAME`` is a study; its ``all_studies.py`` finds it.
``population/`` has the federations, whose laws are known, so that a learned rule has no test noise; it does without
torch, and the claims that keep a study's outcome use it.
"""
