"""Runs of one's own: from a TOML file, or on a table of people."""
