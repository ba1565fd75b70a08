"""Statements of the papers, and the certificates that they are checked by."""
