"""The mathematics: laws, federations, classifiers and exact rates. No solver, no torch."""
