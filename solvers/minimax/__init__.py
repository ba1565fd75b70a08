"""Models that minimise an objective of fair federated learning, and their dual weights."""
