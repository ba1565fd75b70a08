"""Uses of the simulator: published tables and figures, practice compared with theory."""
