"""Data and a model of one's own: ``fairfl simulate my_run.toml --import my_data_and_model.py``."""

import numpy as np

from fairfl.sims import FederatedData, Softmax, register, register_model


@register("my_blobs", "Two blobs, four clients")
def blobs(folder, progress):
    y = np.arange(400) % 2
    x = np.random.default_rng(0).normal(size=(400, 3)) + y[:, None]
    return FederatedData("my_blobs", x, y, np.arange(400) // 100)


register_model("my_softmax")(lambda shape, classes: Softmax(shape[0], classes))
