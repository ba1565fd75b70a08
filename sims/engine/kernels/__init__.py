"""Models: hand-batched linear kernels, a file each, and any ``nn.Module``."""
