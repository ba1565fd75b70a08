"""Statements of the papers as data, with checks that return certificates. How to write one:
README.md.
"""
