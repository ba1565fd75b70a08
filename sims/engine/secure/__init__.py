"""Secure aggregation: the server adds masked reports."""
