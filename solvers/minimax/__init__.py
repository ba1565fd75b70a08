"""Models that minimise an objective of fair federated learning, their dual weights, and bargaining
solutions.
"""
