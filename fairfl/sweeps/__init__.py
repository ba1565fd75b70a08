"""Sweeps: one function over a grid of parameters, in processes, on Ray, or in shards."""
