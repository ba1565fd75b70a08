"""PropFair's experiments."""
