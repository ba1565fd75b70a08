"""Linear regression; with a suitable x, any positive semidefinite quadratic."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from fairfl.sims.engine.kernels.linear import Linear


@dataclass(frozen=True)
class LeastSquares(Linear):
    """Loss (1/2) ||z - y||², y of shape (N,) for one output, else (N, outputs)."""

    def check_targets(self, y: Tensor) -> None:
        shape = (self.outputs,) if y.ndim == 2 else ()
        if not y.is_floating_point() or y.shape[1:] != shape or (self.outputs > 1 and y.ndim != 2):
            wanted = "(N,)" if self.outputs == 1 else f"(N, {self.outputs})"
            raise ValueError(
                f"y must be floats of shape {wanted}, got {y.dtype} of {tuple(y.shape)}"
            )

    def slopes(self, z: Tensor, y: Tensor, want: bool) -> Tensor | None:
        z -= y.view(z.shape)
        return z.square().sum(2).mul_(0.5) if want else None

    def sample_losses(self, z: Tensor, y: Tensor) -> Tensor:
        return z.sub_(y.view(len(z), -1, self.outputs).mT).square_().sum(1).mul_(0.5)

    def reference(self, params: Tensor, x: Tensor, y: Tensor) -> Tensor:
        z = x @ params.view(self.outputs, -1).T
        return ((z - y.reshape(z.shape)) ** 2).sum(1) / 2

    def correct(self, params: Tensor, x: Tensor, y: Tensor) -> None:
        return None
