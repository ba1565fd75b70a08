"""LFT+FedAvg: the most accurate classifier with a budget on every client."""
