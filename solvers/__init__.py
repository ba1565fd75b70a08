"""Optimal classifiers and models, frontiers, and the certificates that prove them."""
