"""What the schemes, and the rates of the notions, are called."""

LABELS = {"cfl": "CFL", "lft_fedavg": "LFT+FedAvg", "lft_ensemble": "LFT+Ensemble"}
"""The three schemes for rules that are not told the client, best first."""
COMMON = {
    "lft_fedavg_common": "LFT+FedAvg, one budget",
    "lft_ensemble_common": "LFT+Ensemble, one budget",
}
"""Local training at one budget for all clients, as reports call it."""
NAMES = LABELS | COMMON | {"client_aware": "Client-aware"}
RATES = {
    "demographic_parity": "acceptance rates",
    "true_positive_rate_parity": "true-positive rates",
    "false_positive_rate_parity": "false-positive rates",
    "equalized_odds": "true- and false-positive rates",
    "accuracy_parity": "accuracies",
}
"""What each notion compares."""
