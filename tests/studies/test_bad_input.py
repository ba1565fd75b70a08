"""What studies/ refuses: calls, and the words of their errors."""
# ruff: noqa: F401 (the rows call what is imported)

from dataclasses import replace

import numpy as np
from bad_input import refused
from scipy import stats

import fairfl as ff
from fairfl.studies.crosscheck.population.worlds import World, by_name, random_world
from fairfl.studies.crosscheck.rates import Rate
from fairfl.studies.crosscheck.studies.notions import NotionPlan
from fairfl.studies.crosscheck.study import Drawing
from fairfl.studies.crosscheck.training_plan import CFL, ENSEMBLE, FEDFB, Plan
from fairfl.studies.published_numbers import printed
from fairfl.studies.user_runs.people_runs import Request

THREE, TWO, FIGURE = random_world(1, 3), random_world(0, 2, 3), by_name("figure-5d")
SHORT, WORD = "A | q = 0 | 80.8", "A | q = 0 | 8o | 1"


def plan(scheme=CFL, rows=10, budgets=((0.1,),)):
    return Plan(FIGURE, scheme, 1, rows, 0, budgets)


def asked(**options):
    return Request("people.csv", **{"label": "y", "group": "a", "client": "site"} | options)


def short(name):
    return replace(THREE, **{name: getattr(THREE, name)[:2]})


test_studies = refused(
    r"""
plan('SGD') | scheme must be one of
plan(FEDFB, budgets=((0.1, 0.2),)) | budgets must hold \[1\] numbers each for FedFB
plan(ENSEMBLE, budgets=((0.1, 0.2, 0.3),)) | budgets must hold \[1, 2\]
plan(rows=0) | rows must be a whole number of at least 1
plan(rows=5).setting() | rows must be enough for people of every group
NotionPlan(TWO, CFL, 1, 100, 0, ((0.0,),), notion='cp') | notion must be one of
Drawing('n', 't', 'x', 'y', dict, log='z') | log must be one of
Rate.of([0, 1, 2, 3], [1, 1, 1, 1], np.full(4, 'a')) | sizes must be positive, got 0
Rate.of([1, 2, 3, 4], [1, 0, 1, 1], np.full(4, 'a'))
    | distances must not vanish, got 0 at size 2
random_world(-1) | seed must be a whole number of at least 0, got -1
random_world(0, groups=3) | clients must be
short('mean') | mean must have an entry a client, 3, got 2
World.of('w', ff.Federation([ff.Client((stats.gamma(2), stats.norm()))] * 2))
    | must have normal laws and eta = 1
World.of('w', ff.Federation.normal([[0, 1]], eta=ff.Logistic(2.0)))
    | must have normal laws and eta = 1
asked(notion='cp') | notion must be one of 'dp', 'eo', 'eodds'
asked(hidden=-1) | hidden must be
asked(budgets=(-0.1,)) | budgets must be
printed(SHORT, ('average', 'KL')) | must have 2 numbers
printed(WORD, ('average', 'KL')) | must be a number.*'8o'
""",
    globals(),
)
