"""What limits the updates of clients who join during training."""
