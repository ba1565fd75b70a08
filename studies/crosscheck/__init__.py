"""Practice compared with theory: learned classifiers, evaluated exactly, and the exact frontiers.
``studies/`` has the studies; ``population/``, which claims use, their federations, without torch.
"""
