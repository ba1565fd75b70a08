"""Experiments: data, engine and algorithms; only what needs torch imports it."""
