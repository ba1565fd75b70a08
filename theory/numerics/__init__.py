"""Numerical tools of the theory."""
