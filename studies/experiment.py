"""Experiment: runs, each made when it is needed, and a table of their measures."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pandas as pd

from fairfl._support.checks import one_of, shown, whole
from fairfl.sims.engine import Computing, Model, Parts, Replicate, Result, Training
from fairfl.studies.beside_published import COLUMNS

PROFILES = ("quick", "paper")
MOST_SEEDS = 1000
SEEDS = {"quick": 2, "paper": 5}
"""Seeds of each profile, for experiments that do not set their own."""
MODELS = "models"
"""Folder of trained models."""


@dataclass(frozen=True)
class Scale:
    """How much is run: ``profile`` "quick" or "paper" (its rounds), and how many ``seeds``."""

    profile: str = "quick"
    seeds: int = 2

    def __post_init__(self) -> None:
        one_of("profile", self.profile, PROFILES)
        whole("seeds", self.seeds, 1, MOST_SEEDS)

    def __str__(self) -> str:
        return f"profile {self.profile}, {self.seeds} seed{'s' * (self.seeds > 1)}"

    @property
    def paper(self) -> bool:
        """Whether the rounds are the paper's."""
        return self.profile == "paper"

    def of(self, seeds: list[int]) -> list[int]:
        """These seeds of a file, or where another number of them is run 0, 1, ..."""
        return seeds if self.seeds == len(seeds) else list(range(self.seeds))


@dataclass(frozen=True, eq=False)
class Setting:
    """The arguments of one call of ``fairfl.sims.engine.simulate``; replicates go together."""

    model: Model
    parts: Parts
    replicates: tuple[Replicate, ...]
    training: Training
    evaluate_every: int
    computing: Computing = field(default_factory=Computing)

    @property
    def arguments(self) -> tuple[Model, Parts, tuple[Replicate, ...], Training, Computing]:
        """Those of ``simulate`` and ``Simulation``."""
        return self.model, self.parts, self.replicates, self.training, self.computing


@dataclass(frozen=True)
class Unit:
    """One call of ``simulate``: it has a folder of its own, and ``make`` loads the data when its
    turn comes.

    Attributes
    ----------
    name : of its folder. Experiments that share runs share the name.
    dataset : what the table calls the data.
    seed : of the draw or split of the data, and of the replicates.
    objectives : what the table calls each replicate.
    make : () -> Setting, or DataFrame; what is to be run; or, of what does not run in the engine,
        what was measured, as ``measured`` gives it. A ``functools.partial`` of a function of a
        module, so that another process can call it.
    measured : (Result) -> DataFrame; what is measured in place of the engine's table of clients:
        rows with the columns round, part, model, objective and seed at least (group-fair
        experiments, whose replicates have seeds of their own).
    models : (Result) -> texts of files by name, kept in the folder ``MODELS`` of the run's.
    """

    name: str
    dataset: str
    seed: int
    objectives: tuple[str, ...]
    make: Callable[[], Setting | pd.DataFrame]
    measured: Callable[[Result], pd.DataFrame] | None = None
    models: Callable[[Result], dict[str, str]] | None = None


@dataclass(frozen=True)
class Picture:
    """A picture of the measures of a part, ``kind`` "distribution" (last round), "convergence" (by
    round), or "tradeoff" (the experiment's points, whose axis ``x`` names), of these
    ``objectives``, or all.
    """

    name: str
    kind: str
    title: str
    part: str = "test"
    objectives: tuple[str, ...] = ()
    x: str = "DP disparity"

    def __post_init__(self) -> None:
        one_of("kind", self.kind, ("distribution", "convergence", "tradeoff"))


@dataclass(frozen=True)
class Runs:
    """Shared by experiments and studies: name, title, the seeds of each profile unless one asks for
    another number, and ``units``, (Scale) -> list of Unit, what is run.
    """

    name: str
    title: str
    seeds: dict[str, int]
    units: Callable[[Scale], list[Unit]]

    def __post_init__(self) -> None:
        if not self.name.strip(".") or not self.name.isprintable():
            raise ValueError(
                "the file's name without its ending, which a folder gets, must be printable and "
                f"more than dots, got {shown(self.name)}"
            )


@dataclass(frozen=True)
class Experiment(Runs):
    """Runs that are compared with a paper's table or figure, or a user's runs.

    Attributes
    ----------
    values : (clients) -> DataFrame; from the clients' measures (see ``execute.py``) a row per
        dataset, objective, seed and measure: ``value``.
    differences : (clients) -> tuple of str; what differs from the paper in data or protocol, a line
        each.
    published : columns dataset, objective, measure, published, published_sd; empty by default.
    pictures : tuple of Picture
    shown : (clients) -> DataFrame; the rows that pictures show, objectives as they call them; all
        of them by default.
    points : (clients) -> DataFrame; what pictures of the kind "tradeoff" show, with the columns of
        ``papers/fedfb/points.py``.
    curves : (clients) -> DataFrame; kept as curves.csv: measures by round.
    """

    values: Callable[[pd.DataFrame], pd.DataFrame]
    differences: Callable[[pd.DataFrame], tuple[str, ...]]
    published: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=COLUMNS))
    pictures: tuple[Picture, ...] = ()
    shown: Callable[[pd.DataFrame], pd.DataFrame] = lambda clients: clients
    points: Callable[[pd.DataFrame], pd.DataFrame] | None = None
    curves: Callable[[pd.DataFrame], pd.DataFrame] | None = None
