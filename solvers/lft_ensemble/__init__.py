"""LFT+Ensemble: the average of the clients' own fair classifiers; files `laws_*` and `finite_*`."""
