"""Shared by every layer, without mathematics: argument checks, files, manifests, the registry."""
