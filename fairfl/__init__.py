"""What a federation loses in accuracy and fairness by the way it trains."""

from fairfl._version import __version__

__all__ = ["__version__"]
