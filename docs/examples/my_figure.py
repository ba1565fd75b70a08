"""A figure of one's own: ``fairfl figures my_figure --import my_figure.py``."""

import pandas as pd

NAME, TITLE = "my_figure", "Squares"


def data():
    return pd.DataFrame({"x": range(5), "y": [k**2 for k in range(5)]})


def draw(data):
    figure = data.plot("x", "y").figure
    return figure
