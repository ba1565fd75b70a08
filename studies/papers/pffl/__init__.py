"""p-FFL's experiments."""
