"""Practice compared with theory: learned classifiers, evaluated exactly, and the exact frontiers.

A module of ``studies/`` with a ``NAME`` is a study; ``registry.py`` finds it. ``worlds.py`` has the
federations, whose laws are known, so that a learned rule (``learned.py``) has no test noise.
``worlds.py`` and ``bounds.py`` do without torch: the claims that keep a study's outcome use them.
"""
