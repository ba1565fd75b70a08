"""A study of one's own: ``fairfl crosscheck my_study --import my_study.py``."""

from fairfl.studies.crosscheck.study import Verdict

NAME, TITLE = "my_study", "Squares"


def measured(seed):
    return {"square": seed**2}


def verdicts(measures):
    low = measures["square"].min()
    return (Verdict("positive", bool(low >= 0), "Squares are >= 0.", f"least: {low}", hard=True),)
