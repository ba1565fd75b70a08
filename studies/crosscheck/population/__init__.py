"""Populations of known laws, and what is computed on them without torch: dynamics, minimisers,
learned classifiers.
"""
