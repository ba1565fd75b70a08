"""The largest standard errors of a test on 10,000 people, in which "near" is counted. No torch."""

PEOPLE = 10_000
"""Rules are *near* where a test on so many people, half a group each, cannot part them."""
NEAR = 0.5 / PEOPLE**0.5
"""Of an accuracy: sqrt(p (1 - p) / n) <= 1 / (2 sqrt n)."""
OVER = 1 / PEOPLE**0.5
"""Of MD: sqrt(r_0 (1 - r_0) / (n / 2) + r_1 (1 - r_1) / (n / 2)) <= 1 / sqrt n."""
