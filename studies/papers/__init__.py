"""The papers' experiments, run by the simulator and set beside the published numbers."""
