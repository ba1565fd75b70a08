"""LFT+FedAvg over all budgets on a finite X, for every notion and any number of groups: the most
useful rule at one disparity after another, each with a bound on what every rule has.

A *place* is the best rule of a face at some disparity (``finite_faces``). Where the vertices of
faces are few all are known (``finite_exact``). Else the cheap answers come first, until one has
what CFL has: the faces so far, the budgets that CFL's rule keeps, and climbs from face to face. The
mixed-integer programme (``finite_programme``) looks for a better rule: what it does not exclude is
the bound.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.finite_x.linear_programme import solve_box, solve_finite
from fairfl.solvers.frontier import SLACK_BUDGET, Frontier, Points, build, fitting, points_of
from fairfl.solvers.lft_fedavg.finite_exact import ExactFedAvg
from fairfl.solvers.lft_fedavg.finite_faces import Face, Faces, Place
from fairfl.solvers.lft_fedavg.finite_programme import Effort, FedAvgProgramme, TooLarge
from fairfl.solvers.lft_fedavg.finite_vertices import TooMany
from fairfl.solvers.solution import CertificationError, Solution
from fairfl.solvers.task import Task
from fairfl.solvers.tolerances import BOUND_WRONG, MET, MIXED_MET, RISE
from fairfl.theory.populations.federation import Federation

EFFORTS = {"ordinary": Effort(300, 20), "thorough": Effort(20_000, 5000)}
"""What the proof of one point may take."""
STARTS, RETRIED = 11, 3
"""At each disparity climbs start from so many faces, those that are best there; and from so many
once the others are solved.
"""
FAR, DRAWN, CELLS, FEWEST = 1e-3, 200, 400_000, 8
"""Where a climb ends further than FAR below CFL, budgets are drawn to start from, once: DRAWN, or
as many as have CELLS cells together, and FEWEST at least.
"""
NEARLY, MARGIN = 1e-4, 0.01
"""Every second vector of them is scaled by this, as programmes are degenerate at budgets of zero;
and they are drawn up to the disparities of the most useful rule, and this more.
"""
FIRST = 1e-8
"""Where the programme of all rules that are better than the known one is too large, it is asked for
rules this close to CFL's.
"""
COARSE = 12  # points of the frontier at whose beginning an unproven minimum is
RANGE = 2.0  # in units of the largest cost: utilities do not differ by more
DIGITS = 9  # places that agree to so many have the same rule, for all the search knows

Proven = tuple[Place | None, float]
"""The best place that is known, and a bound on the gain of every one."""


def search_finite(
    fed: Federation, task: Task, effort: str = "ordinary"
) -> ExactFedAvg | FedAvgSearch:
    """All rules of one rate of two groups, if those of few vertices; else a search for them."""
    if not (task.several or task.monotone):
        with suppress(TooMany, CertificationError):
            return ExactFedAvg.of(fed, task)
    return FedAvgSearch.of(fed, task, effort)


@dataclass
class FedAvgSearch:
    """A question to a federation, its ``faces`` so far, the ``effort`` that the proof of a point
    takes, what is ``solved`` and ``asked`` by disparity, which faces were climbed from at which
    disparity, and whether budgets were drawn to start from.
    """

    fed: Federation
    task: Task
    faces: Faces
    effort: Effort
    solved: dict[float, Proven] = field(default_factory=dict)
    climbed: set[tuple[Face, float | None]] = field(default_factory=set)
    is_drawn: bool = False
    asked: dict[float, Proven] = field(default_factory=dict)

    @classmethod
    def of(cls, fed: Federation, task: Task, effort: str = "ordinary") -> FedAvgSearch:
        """Start from budgets of zero and of one."""
        search = cls(fed, task, Faces.of(fed, task), EFFORTS[effort])
        for eps in (0.0, SLACK_BUDGET):
            search.start(np.full(fed.n_clients, eps))
        return search

    def start(self, eps: Array) -> Face | None:
        """The face of the multipliers that are found for budgets (I,); None where none are."""
        with suppress(CertificationError):
            f, lam = solve_box(self.faces.local.at(eps))
            return self.faces.face(lam, f)
        return None

    @cached_property
    def programme(self) -> FedAvgProgramme:
        """What finds the best rules, and proves them."""
        return FedAvgProgramme(self.faces)

    def best(self, disparity: float) -> Proven:
        """The most useful place with at most ``disparity``; None, and -inf, if there is none."""
        if disparity not in self.solved:
            self.solved[disparity] = self._best(disparity)
        return self.solved[disparity]

    def _best(self, disparity: float) -> Proven:
        relaxed = self.programme.relaxed(disparity)
        place, bound = None, relaxed.bound
        for start in (self._known, self._at_cfl, partial(self._climb, bound)):
            place = max((place, start(disparity)), key=_gain)
            if bound - _gain(place) <= MIXED_MET:
                return place, bound
        widest = RANGE * self.task.unit
        needed = min(bound - _gain(place) + MIXED_MET, widest)
        for gap, start_face in ((needed, place and place.face), (FIRST, None)):
            with suppress(CertificationError, TooLarge):
                face, most = self.programme.within(relaxed, gap, self.effort, start_face)
                place = max((place, self._reached(face, disparity)), key=_gain)
                if most > -np.inf:  # solved, or out of nodes
                    bound = max(most, bound - gap)
                elif gap == widest and place is None:
                    return None, -np.inf
                elif start_face is None:
                    bound -= gap
                break  # a known rule that the programme lacks proves that it is wrong
        return self._believed(place, min(bound, relaxed.bound), disparity)

    def _believed(self, place: Place | None, bound: float, disparity: float) -> Proven:
        """A place and its bound; CFL's in place of one that the place is above, which is wrong."""
        if _gain(place) > bound + BOUND_WRONG:
            bound = self.programme.relaxed(disparity).bound
        return place, max(bound, _gain(place))

    def _reached(self, face: Face | None, disparity: float | None) -> Place | None:
        """The best place of a face of the programme, at multipliers complementary to rounding."""
        place = None if face is None else face.place(disparity)
        exact = None if place is None else next(self.faces.beyond(place), None)
        return None if exact is None else exact.place(disparity)

    def _known(self, disparity: float) -> Place | None:
        """The best place of the faces so far with at most ``disparity``."""
        return next(iter(self._starts(disparity)), None)

    def _starts(self, disparity: float) -> list[Place]:
        """The best places of the faces so far with at most ``disparity``, the most useful first."""
        starts: list[Place] = []
        faces = self.faces.by_signs.values()
        for face in sorted(faces, key=lambda face: -face.bound_at(disparity)):
            if face.bound_at(disparity) <= (starts[-1].gain if len(starts) == STARTS else -np.inf):
                break  # neither this face nor a later one has a better place
            place = face.place(disparity) if face.reaches(disparity) else None
            if place is not None:
                ranked = sorted([*starts, place], key=lambda place: -place.gain)
                starts = distinct(ranked)[:STARTS]
            if starts and starts[0].unbeaten:
                break
        return starts

    def _at_cfl(self, disparity: float) -> Place | None:
        """The best place of the face at the budgets that CFL's rule keeps."""
        cfl_place = self.faces.free.place(disparity)
        face = None if cfl_place is None else self.start(self.faces.tight(cfl_place.f)[1])
        return None if face is None else face.place(disparity)

    def _climb(self, bound: float, disparity: float) -> Place | None:
        """Where climbs end from the next larger disparity and the best faces, ``bound`` at most."""
        candidates = (self._below(disparity), *self._starts(disparity))
        place = self.climbs([place for place in candidates if place is not None], disparity)
        if bound - _gain(place) <= FAR or self.is_drawn:
            return place
        self._draw()
        return max((place, self.climbs(self._starts(disparity), disparity)), key=_gain)

    def _draw(self) -> None:
        """Start from random budgets: the first bind few clients, the last all."""
        self.is_drawn, rng = True, np.random.default_rng(0)  # the same answer each time
        count = min(DRAWN, max(FEWEST, CELLS // self.faces.local.u.size))
        free = np.nan_to_num(self.free.local_disparities) + MARGIN
        tight = rng.random((count, free.size)) < np.linspace(0.0, 1.0, count)[:, None]
        scale = np.where(np.arange(count) % 2, 1.0, NEARLY)[:, None]
        budgets = np.empty(tight.shape)
        order = np.lexsort((self.fed.weight, free))
        budgets[:, order] = np.where(tight, scale * rng.random(tight.shape), np.inf)
        for eps in np.minimum(budgets * free, SLACK_BUDGET):
            self.start(eps)

    @cached_property
    def free(self) -> Solution:
        """The solution without budgets."""
        return solve_finite(self.fed, self.task, np.full(self.fed.n_clients, SLACK_BUDGET))

    def climbs(self, starts: list[Place], disparity: float | None) -> Place | None:
        """The best place with at most ``disparity``, or the least disparate, that climbs reach."""
        best = None
        for start in distinct(starts):
            place: Place | None = start
            while place is not None:
                if best is None or place.worth(disparity) > best.worth(disparity) + RISE:
                    best = place
                if (step := (place.face, disparity)) in self.climbed:
                    break  # it led to faces that are asked for their best
                self.climbed.add(step)
                place = self._next(place, disparity)
        return best

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

    def _below(self, disparity: float) -> Place | None:
        """What leads from the best place with the next larger disparity down to this one."""
        places = [place for place, _ in self.solved.values() if place is not None]
        above = [place for place in places if place.disparity > disparity]
        start = min(above, key=lambda place: place.disparity, default=None)
        while start is not None and (fairest := start.face.fairest) is not None:
            if fairest.disparity <= disparity:
                return start.face.place(disparity)
            end = start.face.place(fairest.disparity)
            start = None if end is None else self._next(end, None)
        return None

    @cached_property
    def lowest(self) -> Place | None:
        """The least disparate place that is found."""
        fair = self.best(0.0)[0]
        if fair is not None:
            return fair
        fairest_places = [face.fairest for face in self.faces.by_signs.values()]
        starts = sorted((p for p in fairest_places if p is not None), key=lambda p: p.disparity)
        lowest = self.climbs(distinct(starts)[: 2 * STARTS], None)
        with suppress(CertificationError, TooLarge):
            gap, start_face = RANGE * self.task.unit, lowest and lowest.face
            relaxed = self.programme.relaxed(None)
            face, _ = self.programme.within(relaxed, gap, self.effort, start_face)
            places = [p for p in (self._reached(face, None), lowest) if p is not None]
            lowest = min(places, key=lambda place: place.disparity, default=None)
        return lowest

    def attained(self, places: Iterable[Place | None]) -> Points:
        """What the places' rules attain, certified, or the solutions for their budgets."""
        fed, faces, solutions = self.fed, self.faces, []
        for place in distinct(place for place in places if place is not None):
            for attempt in (
                partial(faces.solution, fed, self.task, place.face, place.disparity),
                partial(solve_finite, fed, self.task, faces.binding(place.face, place.eps)),
            ):
                with suppress(CertificationError):
                    solutions.append(attempt())
                    break
        return points_of(fed, solutions)

    def frontier(self, points: int) -> Frontier:
        """Up to ``points`` of it, at even steps of the disparity."""
        low = 0.0 if self.lowest is None else self.lowest.disparity
        targets = np.linspace(low, max(low, self.free.disparity), points)
        for d in targets[::-1]:
            self.best(float(d))
        for d in map(float, targets):  # up again: what was found at one is known at the others
            place, bound = self.solved[d]
            if bound - _gain(place) > MIXED_MET:
                place = max((place, self.climbs(self._starts(d)[:RETRIED], d)), key=_gain)
                self.solved[d] = self._believed(place, bound, d)
        places = [self.solved[float(d)][0] for d in targets]
        attained = self.attained([self.lowest, *places]).join(points_of(self.fed, [self.free]))
        curve = build("lft_fedavg", attained, partial(self._between, attained))
        bounds = self.bounds(curve.disparity, curve.points.worth)
        return dataclasses.replace(curve, bounds=bounds, worth_bound=self.bounds)

    def bounds(self, disparity: Array, worth: Array) -> Array:
        """(P,) bounds on what rules with at most the disparities (P,) are worth, by the programmes
        at these, or at larger ones where they are close to the worths (P,).
        """
        base, bounds = self.faces.local.base, []
        for d, value in zip(disparity, worth, strict=True):
            above = [at for at in self.solved if at >= d - MET]
            bound = min((self.solved[at][1] for at in above), default=np.inf)
            if base + bound > value + MIXED_MET + MET and min(above, default=np.inf) > d + MET:
                bound = min(bound, self._ask(float(d))[1])
            bounds.append(base + bound)
        return np.maximum(bounds, worth)

    def _between(self, attained: Points, disparity: Array) -> Points:
        """The best points with at most the disparities (P,), of new ones and of the attained."""
        places = [self._ask(float(d))[0] for d in disparity]
        return fitting(self.attained(places).join(attained), disparity)

    def _ask(self, disparity: float) -> Proven:
        """As ``best``, from which the search learns nothing."""
        if disparity not in self.asked:
            with self.unchanged():
                self.asked[disparity] = self.best(disparity)
        return self.asked[disparity]

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """The search learns nothing: an answer depends on no question that came before."""
        by_signs, solved = self.faces.by_signs.copy(), self.solved.copy()
        is_drawn, climbed = self.is_drawn, self.climbed.copy()
        lines = {face: face.lines.copy() for face in by_signs.values()}
        for programme, *_ in (self.faces.programme, self.faces.dual):
            programme.forget()
        try:
            yield
        finally:  # also where a user stops it
            self.solved, self.is_drawn, self.climbed = solved, is_drawn, climbed
            self.faces.by_signs.clear()
            self.faces.by_signs.update(by_signs)
            for face, face_lines in lines.items():
                face.lines[:] = face_lines

    def minimum(self) -> Points:
        """The least disparate rule found, of several the most useful."""
        low = self.lowest
        place, bound = (None, np.inf) if low is None else self.best(low.disparity)
        if bound - _gain(place) > MIXED_MET:  # what other disparities find may be better
            return self.frontier(COARSE).points.take([0])
        return self.attained([low, place]).least_disparate


def _gain(place: Place | None) -> float:
    return -np.inf if place is None else place.gain


def distinct(places: Iterable[Place]) -> list[Place]:
    """The first of those with one disparity and gain: many faces have the same best rule."""
    first: dict[tuple[float, float], Place] = {}
    for place in places:
        first.setdefault((round(place.disparity, DIGITS), round(place.gain, DIGITS)), place)
    return list(first.values())
