"""The checkout's root, and its layers."""

from pathlib import Path

from fairfl._support.layers import LAYERS

__all__ = ["LAYERS", "ROOT"]

ROOT = Path(__file__).resolve().parents[2]
