"""Studies between sites, and strategies of the simulator, on Flower; see docs/flower.md."""
