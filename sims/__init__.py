"""The simulator: data, models, engine and algorithms of federated learning. Only what needs torch
imports it.
"""
