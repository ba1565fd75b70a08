"""Algorithms of fair federated learning, a file each: a frozen dataclass with its hooks."""
