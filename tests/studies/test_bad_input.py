"""What studies/ refuses: calls, and the words of their errors."""
# ruff: noqa: F401 (the rows call what is imported)

from dataclasses import replace

from bad_input import refused
from scipy import stats

import fairfl as ff
from fairfl.studies.crosscheck.population.worlds import World, by_name, random_world
from fairfl.studies.crosscheck.practice import Practice, people_of
from fairfl.studies.user_runs.people_experiment import Request

THREE = random_world(1, 3)


def asked(**options):
    return Request("people.csv", **{"label": "y", "group": "a", "client": "site"} | options)


def short(name):
    return replace(THREE, **{name: getattr(THREE, name)[:2]})


test_studies = refused(
    r"""
Practice('SGD') | scheme must be one of
Practice('CFL', notion='cp') | notion must be one of 'dp', 'eo', 'eodds'
Practice('CFL', is_sampled=False, notion='eo') | notion must be one of 'dp', got 'eo'
people_of(by_name('figure-5d'), 5, 0) | rows must be enough for people of every group
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
""",
    globals(),
)
