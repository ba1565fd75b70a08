"""LFT+Ensemble: the average of the clients' own fair classifiers."""
