"""An objective of one's own, a convex function with a gradient: ``python my_objective.py``."""

import numpy as np

import fairfl as ff
from fairfl.theory.aggregation import ConvexFunction

ROOT_MEAN_SQUARE = ConvexFunction(
    lambda f: np.sqrt((f**2).mean(-1) + 0.01),
    lambda f: f / f.shape[-1] / np.sqrt((f**2).mean(-1, keepdims=True) + 0.01),
    lower=0.0,
)
if __name__ == "__main__":
    print(ff.check_objective(ROOT_MEAN_SQUARE, examples=50))
