"""Runs from their configuration to their tables: folders that a stopped run continues from."""
