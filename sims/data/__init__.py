"""Data: tables of people (`tables`), data sets with a client a sample (`federated`), partitions
among clients.
"""
