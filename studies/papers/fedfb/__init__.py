"""FedFB's experiments."""
