"""LFT+FedAvg: the most accurate classifier with a budget on every client; files `laws_*` and
`finite_*`.
"""
