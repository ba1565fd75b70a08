"""Federations: clients' masses, group shares, laws of x and η, and what follows by Bayes' rule."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support.checks import (
    Array,
    broadcast,
    coded,
    finite,
    in_range,
    positive,
    shares,
    sized,
    whole,
)
from fairfl._support.tabular import Tabular
from fairfl.theory.populations.calibration import (
    AUTO,
    CALIBRATIONS,
    Calibration,
    Counted,
    Merged,
    ScoreWarning,
    doubts,
)
from fairfl.theory.populations.client import Client, read_clients
from fairfl.theory.populations.continuous import ContinuousModel
from fairfl.theory.populations.count_people import checked_counts, count_people
from fairfl.theory.populations.eta import by_client
from fairfl.theory.populations.finite import ACCURATE, FiniteModel, Joint
from fairfl.theory.populations.laws import Finite, Normal
from fairfl.theory.populations.notions import MOST_GROUPS, MOST_GROUPS_OF_LAWS, NOTIONS, check_mass

Model = ContinuousModel | FiniteModel


class Federation(Tabular):
    """I clients with masses π_i, group shares P(a | i), laws of x | a, i and η(x) = P(y = 1 | x).

    Parameters
    ----------
    clients : sequence of :class:`Client`, at least one. All laws continuous, or all finite.
    eta : an :class:`Eta` (or a vectorised callable for finite laws); or one per client; or one per
        client and group (nested sequences). Default: the logistic function.

    Attributes
    ----------
    weight : (I,) masses π_i, summing to one.
    share : (I, A) P(a | i).
    mass : (I, A) joint masses P(a, i) = π_i P(a | i).
    group_mass : (A,) P(a);  within : (I, A) P(i | a), by Bayes' rule.
    model : the laws, :class:`ContinuousModel` or :class:`FiniteModel`.
    sample : the people that it was made of, counted; None of laws.

    Raises
    ------
    ValueError : a value out of range, shapes that do not match, a law without a density, a group
        nobody has.

    Examples
    --------
    >>> import fairfl as ff
    >>> ff.Federation.normal(mean=[[3, 5], [1, -1]], sd=1.0, q=[0.5, 0.4], weight=[2, 1])
    Federation(2 clients, 2 groups, continuous X)
    >>> ff.Federation.finite([0, 1], [[[0.3, 0.2], [0.4, 0.1]]], eta=[0.2, 0.8])
    Federation(1 clients, 2 groups, finite X of 2)
    >>> fed = ff.Federation.from_samples(
    ...     [0.1, 0.9] * 40, label=[0, 1] * 40, group=["a", "a", "b", "b"] * 20, client=["x"] * 80
    ... )
    >>> fed.groups, fed.client_names
    (('a', 'b'), ('x',))
    """

    weight: Array
    share: Array
    model: Model
    from_summaries: ClassVar[Callable[..., Federation]]
    """From files of sites: ``fairfl/federation.py``, a layer above, which reads them."""

    def __init__(self, clients: Sequence[Client], eta: Any = None) -> None:
        laws, share, weight = read_clients(clients)
        if isinstance(laws[0][0], Finite):
            model, share = FiniteModel.from_laws(laws, share, eta)  # type: ignore[arg-type]
            self._set(weight, share, model)
        else:
            etas = by_client(eta, len(laws), share.shape[1])
            densities = laws, etas, shares("weight", weight), share
            self._set(weight, share, ContinuousModel(*densities))  # type: ignore[arg-type]

    @classmethod
    def normal(
        cls,
        mean: ArrayLike,
        sd: ArrayLike = 1.0,
        q: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        eta: Any = None,
    ) -> Federation:
        """Federation of normal laws x | a, i ~ N(mean[i, a], sd[i, a]²), of A >= 2 groups.

        Parameters
        ----------
        mean : (I, A), rows clients, columns a = 0, 1, ...
        sd : a number, (I,) one per client, or (I, A); positive.
        q : of two groups a number or (I,), P(a=1 | i) in [0, 1]; of any number the shares P(a | i)
            (I, A), rows that sum to one. Equal shares by default.
        weight : (I,) positive; default equal.
        eta : see :class:`Federation`.
        """
        means = finite("mean", mean)
        if means.ndim != 2 or means.shape[1] < 2 or means.shape[0] == 0:
            raise ValueError(
                f"mean must have shape (I, A), rows clients and columns groups, got {means.shape}"
            )
        count, groups = means.shape
        spread = positive("sd", sd)
        if spread.shape == (count,):
            spread = np.repeat(spread[:, None], groups, axis=1)
        sds = broadcast("sd", spread, means.shape, f"(), ({count},) or {means.shape}")
        q_table: Any = [None] * count if q is None else in_range("q", q, 0, 1)
        if q is not None and q_table.shape != means.shape:
            if groups > 2:
                raise ValueError(
                    f"q must have shape {means.shape} for {groups} groups, got {q_table.shape}"
                )
            q_table = broadcast("q", q_table, (count,), f"(), ({count},) or {means.shape}")
        table = zip(means, sds, q_table, _weights(weight, count), strict=True)
        return cls(
            [
                Client(tuple(map(Normal, m.tolist(), s.tolist())), share, float(w))
                for m, s, share, w in table
            ],
            eta=eta,
        )

    @classmethod
    def finite(
        cls, points: ArrayLike, masses: ArrayLike, eta: ArrayLike, weight: ArrayLike | None = None
    ) -> Federation:
        """Federation on a finite X, with any number A >= 2 of groups.

        Parameters
        ----------
        points : (n,) distinct values of x.
        masses : (I, A, n), masses[i, a, k] = P(x = points[k], a | i); each client's sum to one
            within 1e-9.
        eta : P(y=1 | x): (n,), (I, n) per client, or (I, A, n) per client and group, in [0, 1]; or
            a callable of x.
        weight : (I,) positive; default equal.
        """
        self = cls.__new__(cls)
        model, share = FiniteModel.from_masses(points, masses, eta)
        self._set(_weights(weight, share.shape[0]), share, model)
        return self

    @classmethod
    def from_samples(
        cls,
        score: ArrayLike,
        label: ArrayLike,
        group: ArrayLike,
        client: ArrayLike,
        *,
        calibrate: str = AUTO,
        weight: ArrayLike | None = None,
        levels: int | None = None,
        pos_label: Hashable = None,
    ) -> Federation:
        """Federation of real people: x is a level of their score, η its isotonic calibration,
        weights the clients' counts.

        Parameters
        ----------
        score : (n,) finite numbers, larger for a likelier label 1; or (n, d) numbers of a person,
            such as P(y=1|x) and P(a|x), which make :mod:`fairfl.theory.populations.cells`: what
            rules need that do not see the group.
        label : (n,) 0 or 1, or any two values; of two numbers the larger stands for 1.
        group, client : (n,) any labels, numbered in sorted order (``groups``, ``client_names``). Of
            groups (n, k), race and sex say, the combinations that somebody has.
        calibrate : "shared" fits one η to all, "group" one per group, "client" one per client,
            "client_group" one per client and group; "auto" takes the simplest whose cross-validated
            log loss is within one standard error of the smallest, and for notions that count labels
            one by group at least; ``calibration`` of the federation says which.
        weight : (I,) replaces the counts of people as the clients' weights; or (n,) one positive
            number per person (where n is not I), the inverse of the chance to be in the sample,
            say, of which the sums are counted.
        levels : merge scores into so many levels at most, each of a like share of the people or
            more; 0: keep every score. By default each of a hundredth of the people or more, and of
            10 for each client and group on average. The loss is the least, see
            :mod:`fairfl.theory.populations.score_levels`; ``merged`` of the federation has it.
        pos_label : the value of ``label`` that stands for 1; needed where the two are texts.

        Warns
        -----
        ScoreWarning : y = 1 is likelier at smaller scores, the most accurate rule is a constant,
            levels hold fewer than 5 people for each client and group on average, or a group has
            nobody of one label.

        Notes
        -----
        Where a rule is constant on the level sets of each η, its accuracy and its rates are those
        counted on these people; between, they differ by people of one level set.
        """
        w = None if weight is None else positive("weight", weight)
        columns = score, label, group, client, calibrate, levels, pos_label
        if w is not None and w.shape == sized("score", score).shape[:1]:
            clients, _ = coded("client", client, w.size)
            if len(clients) < w.size:
                return cls.of_people(count_people(*columns, w))
        return cls.of_people(count_people(*columns), w)

    @classmethod
    def from_counts(
        cls,
        counts: ArrayLike,
        score: ArrayLike,
        *,
        calibrate: str = AUTO,
        weight: ArrayLike | None = None,
        cuts: ArrayLike | None = None,
        sums: ArrayLike | None = None,
        squares: ArrayLike | None = None,
    ) -> Federation:
        """As :meth:`from_samples`, from numbers of people.

        Parameters
        ----------
        counts : (I, A, 2, n) people by client, group, label and level of the score, whole numbers;
            every client has some. Levels are not merged.
        score : (n,) distinct numbers, the levels, larger for a likelier label 1.
        cuts : (n - 1,) increasing, where the levels meet; by default half-way.
        sums, squares : (I, A, 2, n) of the weights of these people, and of their squares.
        """
        people = checked_counts(counts, score, calibrate, cuts, sums, squares)
        return cls.of_people(people, weight)

    @classmethod
    def of_people(
        cls, sample: Counted, weight: ArrayLike | None = None, *, warn: bool = True
    ) -> Federation:
        """As :meth:`from_samples`, from counts of people; ``warn``: of a doubtful score."""
        people = sample.calibrated()
        masses = people.counts.sum(axis=2)
        size = masses.sum(axis=(1, 2))
        self = cls.__new__(cls)
        model, share = FiniteModel.from_masses(
            people.points, masses / size[:, None, None], people.eta
        )
        model.cuts, model.names, model.cells = people.cuts, people.names, people.cells
        self.merged = people.merged
        self._set(size if weight is None else _weights(weight, size.size), share, model)
        self.groups = people.groups or self.groups
        self.client_names = people.clients or self.client_names
        self.sample, self.calibration = sample, people.calibration
        if warn and (odd := doubts(people, self.pooled.gain(ACCURATE, "xa")[0] > 0, self.groups)):
            warnings.warn(odd, ScoreWarning, stacklevel=3)
        return self

    def for_notion(self, notion: str) -> Federation:
        """This federation; or the same people with an η for each group, where ``calibrate="auto"``
        chose none and the notion's rates count labels.
        """
        chosen = self.calibration
        if chosen is None or not NOTIONS[notion].counts_labels or CALIBRATIONS[chosen.name][1]:
            return self
        return self._by_group

    @cached_property
    def _by_group(self) -> Federation:
        assert self.sample is not None
        people = self.sample.calibrated(counts_labels=True)
        return Federation.of_people(people, self.weight, warn=False)

    groups: tuple[Any, ...]
    client_names: tuple[Any, ...]
    merged: Merged | None = None
    calibration: Calibration | None = None
    sample: Counted | None = None

    def _set(
        self, weight: Array, share: Array, model: Model, *, may_lack_groups: bool = False
    ) -> None:
        self.weight, self.share, self.model = shares("weight", weight), share, model
        limit, kind = (MOST_GROUPS, "people") if self.is_finite else (MOST_GROUPS_OF_LAWS, "laws")
        if self.n_groups > limit:
            raise ValueError(f"groups of {kind} must be at most {limit}, got {self.n_groups}")
        self.mass = self.weight[:, None] * share
        self.group_mass = self.mass.sum(axis=0)
        if not may_lack_groups and (self.group_mass <= 0).any():
            empty = int(np.flatnonzero(self.group_mass <= 0)[0])
            raise ValueError(f"group {empty} is empty: no client has anybody with a = {empty}")
        check_mass(self.mass, "weight times share of client {0}'s group {1}")
        is_present = self.group_mass > 0
        self.within = np.divide(self.mass, self.group_mass, np.zeros_like(share), where=is_present)
        self.groups = tuple(range(share.shape[1]))
        self.client_names = tuple(range(share.shape[0]))
        for array in (self.weight, self.share, self.mass, self.group_mass, self.within):
            array.setflags(write=False)

    def part(self, clients: Sequence[int]) -> Federation:
        """Some clients of laws, in this order; a group that they all lack is empty."""
        for client in clients:
            whole("client", client, 0, self.n_clients - 1)
        if isinstance(self.model, FiniteModel):
            raise ValueError(f"part and alone take a federation of laws, got {self!r}")
        subset = Federation.__new__(Federation)
        weight = shares("weight", self.weight[list(clients)])
        model = self.model.part(clients, weight)
        subset._set(weight, model.share, model, may_lack_groups=True)
        return subset

    def alone(self, client: int) -> Federation:
        """Client ``client`` of laws without the others."""
        return self._alone[whole("client", client, 0, self.n_clients - 1)]

    @cached_property
    def _alone(self) -> list[Federation]:
        return [self.part([i]) for i in range(self.n_clients)]

    @property
    def n_clients(self) -> int:
        """Number of clients I."""
        return self.share.shape[0]

    @property
    def n_groups(self) -> int:
        """Number of groups A."""
        return self.share.shape[1]

    @property
    def q(self) -> Array:
        """(I,) P(a=1 | i); two groups only."""
        if self.n_groups != 2:
            raise ValueError(f"q is defined for two groups, this federation has {self.n_groups}")
        return self.share[:, 1]

    @property
    def is_finite(self) -> bool:
        """Whether X is finite (atoms) rather than a line with densities."""
        return isinstance(self.model, FiniteModel)

    @cached_property
    def defined(self) -> Array:
        """(I,) bool: clients that have people of every group, and so a mean difference."""
        return np.all(self.share > 0, axis=1)

    @cached_property
    def joint(self) -> Joint:
        """On a finite X the clients' laws P(x, a, i)."""
        assert isinstance(self.model, FiniteModel)
        return self.model.joint(self.mass)

    @cached_property
    def pooled(self) -> Joint:
        """On a finite X the law of all clients together."""
        assert isinstance(self.model, FiniteModel)
        return self.model.pooled(self.mass)

    @cached_property
    def base_rate(self) -> float:
        """P(y = 1)."""
        if isinstance(self.model, FiniteModel):
            return float((self.pooled.people * self.pooled.eta).sum())
        return (1.0 + float(sum(self.model.gain(a).totals[0] for a in range(self.n_groups)))) / 2.0

    def _columns(self) -> dict[str, ArrayLike]:
        shares = {f"share_{name}": self.share[:, a] for a, name in enumerate(self.groups)}
        return {"client": list(map(str, self.client_names)), "weight": self.weight, **shares}

    def __repr__(self) -> str:
        kind = "continuous X"
        if isinstance(self.model, FiniteModel):
            scores = f" from {self.merged.scores} scores" if self.merged else ""
            kind = f"finite X of {self.model.points.size}{scores}"
        return f"Federation({self.n_clients} clients, {self.n_groups} groups, {kind})"


def _weights(weight: ArrayLike | None, count: int) -> Array:
    """(count,) positive weights; equal ones for None."""
    weights = positive("weight", 1.0 if weight is None else weight)
    return broadcast("weight", weights, (count,), f"({count},)")
