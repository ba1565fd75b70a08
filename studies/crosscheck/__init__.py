"""Practice compared with theory: learned classifiers, evaluated exactly, and the exact frontiers.
``studies/`` has the studies, ``population/`` federations of known laws and rules on them.
"""
