"""Dynamic participants' experiments: figures 1 to 8."""
