"""Federations, laws, regression functions η, classifiers and notions of fairness."""
