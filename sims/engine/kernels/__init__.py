"""Models: their base, hand-batched kernels, a file each, and any ``nn.Module``."""
