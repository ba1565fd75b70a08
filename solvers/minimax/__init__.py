"""Models that are best for an objective of fair federated learning, their dual weights, and bargaining."""
