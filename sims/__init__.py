"""The simulator: data, models, engine and algorithms. Only what needs torch imports it."""
