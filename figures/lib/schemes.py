"""What the schemes are called, best first."""

LABELS = {"cfl": "CFL", "lft_fedavg": "LFT+FedAvg", "lft_ensemble": "LFT+Ensemble"}
