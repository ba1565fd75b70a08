"""Shared parts of figures: style, saving, panels, the registry."""
