"""Studies between sites on Flower; see docs/flower.md."""
