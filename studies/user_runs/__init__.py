"""Runs of the user's own: from a TOML file, or on a table of people."""
