"""The packages of fairfl in the order in which one may import another."""

LAYERS = ("_support", "theory", "solvers", "sims", "studies", "claims", "figures", "fairfl")
"""From the lowest to the highest; fairfl is what stands in none of the others."""
