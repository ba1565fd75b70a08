"""Data: tables of people (`tables`), data sets of clients (`federated`), partitions."""
