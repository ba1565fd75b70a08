"""Practice compared with theory: learned classifiers, evaluated exactly, and the exact frontiers.

A module of ``studies/`` with a ``NAME`` is a study; its ``all_studies.py`` finds it.
``population/`` has the federations. Their laws are known, so that a learned rule has no test noise.
It does without torch, and claims use it.
"""
