"""Populations of known laws, learned rules on them, and exact optima."""
