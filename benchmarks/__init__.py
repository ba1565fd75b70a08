"""Timings against what else could be used. They run in a checkout, and are not part of the package."""
