"""The mathematics: populations, aggregation objectives and measures. No solver, no torch."""
