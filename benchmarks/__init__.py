"""Timings against other libraries and plain code; run in a checkout, not part of the package."""
