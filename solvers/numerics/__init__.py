"""Numerical methods that several schemes share."""
