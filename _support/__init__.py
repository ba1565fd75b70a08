"""Shared by every layer, without mathematics: argument checks, files written whole, manifests,
the registry of parts.
"""
