"""LFT+Ensemble: the average of the clients' own fair classifiers. Files `laws_*` and `finite_*`."""
