"""q-FFL's experiments."""
