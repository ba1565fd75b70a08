"""LFT+FedAvg over all budgets on a finite X, for every notion and any number of groups: multi-start
local search from face to face (``finite_faces``), its starts by continuation.

A *face* is the polyhedron of the rules, with their budgets, that given multipliers are
complementary to; a *place* is the best rule of a face at some disparity. Some budgets are solved.
From one disparity to the next climbs start from CFL's rule and from the best faces so far at that
disparity, and end where no multipliers of a rule lead to a better one: the rule is then a local
optimum. Fewer starts are tried while they do not help and CFL is near. So the frontier is searched
for and not proven, except where a rule is as good as one without budgets. CFL's frontier bounds it.
Every point is solved again for its budgets and certified for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.finite_x.linear_programme import certified, solve_box, solve_finite
from fairfl.solvers.frontier import SLACK_BUDGET, Frontier, Points, build, fitting, points_of
from fairfl.solvers.lft_fedavg.finite_exact import ExactFedAvg
from fairfl.solvers.lft_fedavg.finite_faces import Face, Faces, Place
from fairfl.solvers.lft_fedavg.finite_vertices import TooMany
from fairfl.solvers.problem import clients_problem, law_problem
from fairfl.solvers.solution import CertificationError, Solution
from fairfl.solvers.task import Task
from fairfl.solvers.tolerances import PROGRAMME_TIED, RISE
from fairfl.theory.populations.federation import Federation

STARTS, SEVERAL = 80, 200
"""Numbers of budget vectors to start from, for one difference and for several. The first bind few
clients, the last all; every second one is scaled by NEARLY.
"""
CELLS, FEWEST = 400_000, 8
"""Budgets to start from times cells, at most; and so many budgets at least."""
NEARLY = 1e-4
"""The smallest budget used in place of 0, where the linear programme is degenerate."""
MARGIN = 0.01
"""Tight budgets are drawn up to the disparities of the most useful rule, and this more."""
PATIENCE, LOWEST, OPEN = 11, 2, 3e-4
"""At each disparity climbs start from so many faces, those that are best there, and end after so
many in a row that found nothing better, for the smallest disparity after ``LOWEST`` times as many.
Where CFL's gain is at most ``OPEN`` higher and no later start helped, the next disparity gets one
such climb fewer; once a later start helps, the number is ``PATIENCE`` again.
"""
COARSE = 12
"""Points of the frontier at whose beginning the minimum is."""
DIGITS = 9
"""Places that agree to so many have the same rule, for all the search knows."""


def search_finite(fed: Federation, task: Task) -> ExactFedAvg | FedAvgSearch:
    """What finds the frontier and the smallest disparity: exact where the vertices are few.

    Where cells tie at too many multipliers (many clients, or thousands of points), a search is used
    instead. Of several rules that are optimal for one eps each counts as attained.
    """
    if not (task.several or task.affine or task.monotone):
        with suppress(TooMany):
            return ExactFedAvg.of(fed, task)
    return FedAvgSearch.of(fed, task)


@dataclass
class FedAvgSearch:
    """A question to a federation, its ``faces`` so far, the ``best_places``, and after how
    many climbs in vain the next disparity is left.
    """

    fed: Federation
    task: Task
    faces: Faces
    best_places: list[Place] = field(default_factory=list)
    patience: int = PATIENCE

    @classmethod
    def of(cls, fed: Federation, task: Task) -> FedAvgSearch:
        """Solve the budgets to start from, drawn for the clients in an order of their own."""
        search = cls(fed, task, Faces(clients_problem(fed, task).box, law_problem(fed, task).box))
        unit_budgets = np.ones(fed.n_clients)
        rng = np.random.default_rng(0)  # part of the algorithm: the same answer each time
        free = np.nan_to_num(search.ends[0].local_disparities) + MARGIN
        cells = search.faces.local.u.size
        starts = min(SEVERAL if task.several else STARTS, max(FEWEST, CELLS // cells))
        tight = rng.random((starts, unit_budgets.size)) < np.linspace(0.0, 1.0, starts)[:, None]
        scale = np.where(np.arange(starts) % 2, 1.0, NEARLY)[:, None]
        budgets = np.empty(tight.shape)
        order = np.lexsort((fed.weight, free))
        budgets[:, order] = np.where(tight, scale * rng.random(tight.shape), np.inf)
        for eps in (0.0 * unit_budgets, unit_budgets, *np.minimum(budgets * free, SLACK_BUDGET)):
            search.start(eps)
        return search

    def start(self, eps: Array) -> Face | None:
        """The face of the multipliers that are found for budgets (I,); None where none are."""
        with suppress(CertificationError):
            f, lam = solve_box(self.faces.local.at(eps))
            return self.faces.face(lam, f)
        return None

    @cached_property
    def ends(self) -> list[Solution]:
        """The solutions without budgets and with all of them zero."""
        budgets = np.outer([SLACK_BUDGET, 0.0], np.ones(self.fed.n_clients))
        return [solve_finite(self.fed, self.task, eps) for eps in budgets]

    def climbs(self, starts: list[Place], disparity: float | None, bound: float) -> Place | None:
        """The best place with at most ``disparity``, or the least disparate (None), that steps from
        face to face reach; ``bound`` is what no place is worth more than.
        """
        best, passed, last = None, set[Face](), 0
        patience = self.patience * (LOWEST if disparity is None else 1)
        for k, start in enumerate(distinct(starts)):
            place: Place | None = start
            while place is not None and place.face not in passed:
                passed.add(place.face)
                if best is None or place.worth(disparity) > best.worth(disparity) + RISE:
                    best, last = place, k
                place = self._next(place, disparity)
            is_best = best is not None and best.worth(disparity) >= bound - RISE
            if is_best or k == last + patience:
                break
        is_open = best is None or bound - best.worth(disparity) > OPEN
        self.patience = PATIENCE if last > 1 or is_open else max(1, self.patience - 1)
        return best

    def budgets(self, place: Place) -> Array:
        """(I,) of a place, of clients that are not bound SLACK_BUDGET."""
        eps = np.full(self.fed.n_clients, SLACK_BUDGET)
        binds = self.faces.local.owner[(place.face.sign != 0) & self.faces.has_budget]
        eps[binds] = place.eps[binds]
        return eps

    def _next(self, place: Place, disparity: float | None) -> Place | None:
        """A better place of a face that has its rule too."""
        if place.unbeaten:
            return None
        worth = place.worth(disparity) + RISE
        for face in self.faces.beyond(place):
            if disparity is None:
                candidate = face.fairest
            else:
                candidate = face.place(disparity) if face.bound_at(disparity) > worth else None
            if candidate is not None and candidate.worth(disparity) > worth:
                return candidate
        return None

    def best(self, disparity: float) -> Place | None:
        """The most useful place with at most ``disparity`` that climbs from the best faces find."""
        best_starts: list[Place] = []
        faces = self.faces.by_signs.values()
        for face in sorted(faces, key=lambda face: -face.bound_at(disparity)):
            is_full = len(best_starts) == self.patience
            if face.bound_at(disparity) <= (best_starts[-1].gain if is_full else -np.inf):
                break  # neither this face nor a later one has a better place
            start = face.place(disparity) if face.reaches(disparity) else None
            if start is not None:
                ranked = sorted([*best_starts, start], key=lambda place: -place.gain)
                best_starts = distinct(ranked)[: self.patience]
            if best_starts and best_starts[0].unbeaten:
                return best_starts[0]
        cfl_place = self.faces.free.place(disparity)
        # continuation from CFL: the face at the budgets that CFL's rule keeps
        start_from_cfl, bound = None, np.inf
        if cfl_place is not None:
            bound = cfl_place.gain
            face_at_cfl_budgets = self.start(self.faces.tight(cfl_place.f)[1])
            if face_at_cfl_budgets is not None:
                start_from_cfl = face_at_cfl_budgets.place(disparity)
        candidates = (start_from_cfl, self.below(disparity), *best_starts)
        starts = [place for place in candidates if place is not None]
        best = self.climbs(starts, disparity, bound)
        if best is not None:
            self.best_places.append(best)
        return best

    def below(self, disparity: float) -> Place | None:
        """What leads from the best place with the next larger disparity down to this one: at its
        face's least disparity to a face that has less, and so on.
        """
        above = [place for place in self.best_places if place.disparity > disparity]
        start = min(above, key=lambda place: place.disparity, default=None)
        while start is not None and (fairest := start.face.fairest) is not None:
            if fairest.disparity <= disparity:
                return start.face.place(disparity)
            end = start.face.place(fairest.disparity)
            start = None if end is None else self._next(end, None)
        return None

    @cached_property
    def lowest(self) -> Place | None:
        """The least disparate place that climbs reach."""
        fairest_places = [face.fairest for face in self.faces.by_signs.values()]
        starts = sorted((p for p in fairest_places if p is not None), key=lambda p: p.disparity)
        return self.climbs(distinct(starts), None, 0.0)

    def attained(self, places: Iterable[Place | None]) -> Points:
        """What the places' budgets attain, certified, or left out; where of several optimal rules
        a more disparate one is found, the place's own rule counts, to rounding.
        """
        fed, solutions = self.fed, []
        for place in distinct(place for place in places if place is not None):
            with suppress(CertificationError):
                solutions.append(solve_finite(fed, self.task, self.budgets(place)))
                refined = None
                if solutions[-1].disparity > place.disparity + PROGRAMME_TIED:
                    refined = place.face.place(place.disparity, refine=True)
                if refined is not None:
                    posed = self.faces.local.at(budgets := self.budgets(refined))
                    lam, problem = solve_box(posed)[1], clients_problem(fed, self.task)
                    certificates = (certified(posed, refined.f, lam),)
                    f, lam = problem.of_box(refined.f, lam)
                    rule = problem.rule(f, fed.n_groups)
                    solutions.append(Solution(fed, self.task, budgets, rule, lam, certificates))
        return points_of(fed, solutions)

    def frontier(self, points: int) -> Frontier:
        """Up to ``points`` of it, at even steps of the disparity."""
        low = 0.0 if self.lowest is None else self.lowest.disparity
        targets = np.linspace(low, max(low, self.ends[0].disparity), points)
        steep = (low + targets[1:2]) / 2.0
        # down and up again: what was found at one disparity is known at the others
        down = [self.best(float(d)) for d in (*targets[:0:-1], *steep)]
        places = [*down[: points - 1], *(self.best(float(d)) for d in targets)]
        attained = self.attained([self.lowest, *places]).join(points_of(self.fed, self.ends))
        return build("lft_fedavg", attained, partial(self._between, attained))

    def _between(self, attained: Points, disparity: Array) -> Points:
        """The best points with at most the disparities (P,), of new ones and of the attained."""
        best_places = []
        for d in disparity:
            with self.unchanged():
                best_places.append(self.best(float(d)))
        return fitting(self.attained(best_places).join(attained), disparity)

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """The search learns nothing: an answer depends on no question that came before."""
        by_signs, best_places = self.faces.by_signs.copy(), self.best_places.copy()
        lines = {face: face.lines.copy() for face in by_signs.values()}
        self.patience = PATIENCE
        for programme, *_ in (self.faces.programme, self.faces.dual):
            programme.forget()
        try:
            yield
        finally:  # also where a user stops it
            self.best_places = best_places
            self.faces.by_signs.clear()
            self.faces.by_signs.update(by_signs)
            for face, face_lines in lines.items():
                face.lines[:] = face_lines

    def minimum(self) -> Points:
        """The least disparate rule found, of several the most useful."""
        return self.frontier(COARSE).points.take([0])


def distinct(places: Iterable[Place]) -> list[Place]:
    """The first of those with one disparity and gain: many faces have the same best rule."""
    first: dict[tuple[float, float], Place] = {}
    for place in places:
        first.setdefault((round(place.disparity, DIGITS), round(place.gain, DIGITS)), place)
    return list(first.values())
