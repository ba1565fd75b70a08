"""Random numbers by counter: orders of samples, and participation."""
