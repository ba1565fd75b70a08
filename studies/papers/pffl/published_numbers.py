"""p-FFL's table 1: accuracies in percent, variances of accuracies as shares of one."""

from __future__ import annotations

from fairfl.studies.printed_numbers import printed

TABLE_1 = printed(
    """
    Synthetic | q = 0 | 72.8 | 12.1 | 100 | 0.08
    Synthetic | q = 1 | 70.3 | 20.0 | 100 | 0.06
    Synthetic | Gini | 56.8 | 0.00 | 100 | 0.144
    Synthetic | Harmonic | 66.6 | 0.00 | 100 | 0.141
    Synthetic | Geo = 0.5 | 38.6 | 0.00 | 100 | 0.154
    Synthetic | Geo = 0.85 | 62.1 | 0.00 | 100 | 0.132
    Vehicle | q = 0 | 85.5 | 41.9 | 97.4 | 0.034
    Vehicle | q = 5 | 86.6 | 66.8 | 95.2 | 0.007
    Vehicle | Gini | 85.6 | 44.1 | 97.1 | 0.031
    Vehicle | Harmonic | 85.5 | 41.6 | 97.3 | 0.034
    Vehicle | Geo = 0.5 | 85.1 | 45.7 | 96.2 | 0.028
    Vehicle | Geo = 0.85 | 85.7 | 43.7 | 96.9 | 0.032
    FMNIST | q = 0 | 69.5 | - | - | 0.015
    FMNIST | q = 15 | 79.0 | - | - | 0.047
    FMNIST | Gini | 50.7 | - | - | 0.350
    FMNIST | Harmonic | 63.3 | - | - | 0.064
    FMNIST | Geo = 0.5 | 53.5 | - | - | 0.396
    FMNIST | Geo = 0.85 | 65.8 | - | - | 0.100
    """,
    ("average", "worst 10%", "best 10%", "variance"),
)
