"""Uniformity, welfare, and benefits of participants who join during training."""
