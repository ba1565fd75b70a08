"""The mathematics: populations, aggregation objectives, measures and bounds. No solver, no
torch.
"""
