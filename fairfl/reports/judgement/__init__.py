"""Predictions, judged: numbers of their parts, and how far from the best rules they are."""
