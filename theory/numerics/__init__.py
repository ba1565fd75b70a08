"""Numerical methods of the theory."""
