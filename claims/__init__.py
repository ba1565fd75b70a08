"""Statements of the papers, and the certificates that they are checked by. How to write one: README.md."""
