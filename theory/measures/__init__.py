"""Uniformity, welfare, benefits of participants who join during training, and their updates."""
