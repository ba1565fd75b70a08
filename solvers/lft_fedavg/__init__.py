"""LFT+FedAvg: the most accurate classifier with a budget on every client. Files `laws_*` and `finite_*`."""
