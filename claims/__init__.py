"""Statements of the papers as data, and checks that return certificates: see README.md."""
