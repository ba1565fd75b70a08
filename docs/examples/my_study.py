"""A study of one's own: ``fairfl crosscheck my_study --import my_study.py``."""

from functools import partial

import pandas as pd

from fairfl.studies.crosscheck.study import Verdict
from fairfl.studies.experiment import Unit

NAME, TITLE = "my_study", "Squares"


def measured(seed):
    return pd.DataFrame({"seed": [seed], "square": [seed**2]})


def units(scale):
    return [Unit(f"my-{s}", "none", s, (), partial(measured, s)) for s in range(scale.seeds)]


def tables(measures):
    return {"squares": measures}


def verdicts(measures):
    low = measures["square"].min()
    return (Verdict("positive", bool(low >= 0), "Squares are >= 0.", f"least: {low}", hard=True),)
