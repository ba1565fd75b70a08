"""Random numbers by counter: orders of samples, and who takes part."""
