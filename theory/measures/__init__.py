"""Inequality, uniformity, welfare, and benefits of participants who join during training."""
