"""Populations of known laws without torch: dynamics, minimisers, learned classifiers."""
