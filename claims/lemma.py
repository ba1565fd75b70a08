"""A lemma of one's own: a predicate, a strategy that draws instances, and near misses that must
fail; found, shrunk and judged as the claims are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import update_wrapper
from inspect import signature
from typing import TYPE_CHECKING, Any

from fairfl._support.checks import instance

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from fairfl.claims.case import Case
    from fairfl.claims.claim import Claim

Changes = Mapping[str, Any]
HOW_MANY = 1000


@dataclass(frozen=True)
class LemmaReport:
    """What a check of a lemma found; true as a condition where the lemma held and no mutant did.

    Attributes
    ----------
    statement : in words.
    level : "property" where it held at every instance, None where it was refuted.
    examples, discarded : instances drawn that satisfy the hypotheses, and those that do not.
    counterexample : where it was refuted, the instance, made small; else None.
    margin : the smallest that the predicate gave; a predicate that says True has none.
    survivors : mutants that held at every instance: the lemma could say as much, or its strategy
        draws no instance that tells them apart.
    refuted : for each other mutant an instance that refutes it.
    """

    statement: str
    level: str | None
    examples: int
    discarded: int
    counterexample: Any
    margin: float | None
    survivors: tuple[str, ...]
    refuted: Mapping[str, Any]

    def __bool__(self) -> bool:
        return self.level is not None and not self.survivors

    def __str__(self) -> str:
        if self.level is None:
            return f"refuted: {self.statement} At {self.counterexample!r}."
        drawn = f"{self.examples} examples, {self.discarded} discarded"
        lines = [f"holds ({self.level}, {drawn}): {self.statement}"]
        lines += [f"mutant {name!r} is refuted at {at!r}" for name, at in self.refuted.items()]
        lines += [f"mutant {name!r} SURVIVES" for name in self.survivors]
        return "\n".join(lines)


@dataclass(eq=False)
class Lemma:
    """A predicate with all that is needed to check it; called as the predicate is.

    Attributes
    ----------
    predicate : instance, parameters -> whether it holds there, or a number that is >= 0 where it
        does. An instance that is a dict is given by its names.
    strategy : of hypothesis; it draws instances.
    id : "mine/name", by which ``fairfl claims check`` finds it.
    where : hypotheses by name, instance -> bool; instances that break one are discarded.
    mutants : near misses by name: the parameters that get other values.
    tolerance : a number above minus this counts as >= 0: the rounding of floats.
    """

    predicate: Callable[..., bool | float]
    strategy: SearchStrategy[Any]
    id: str
    where: Mapping[str, Callable[[Any], bool]] = field(default_factory=dict)
    mutants: Mapping[str, Changes] = field(default_factory=dict)
    tolerance: float = 1e-9

    def __post_init__(self) -> None:
        from hypothesis.strategies import SearchStrategy

        instance("id", self.id, str)
        for name in ("mutants", "where"):
            instance(name, getattr(self, name), Mapping)
        if not callable(self.predicate):
            raise ValueError(f"predicate must be a function, got {self.predicate!r}")
        if not isinstance(self.strategy, SearchStrategy):
            raise ValueError(f"strategy must be one of hypothesis, got {self.strategy!r}")
        known = list(signature(self.predicate).parameters)
        for name, changes in self.mutants.items():
            if not changes.keys() <= set(known) or not changes:
                raise ValueError(
                    f"mutant {name} must change parameters of {', '.join(known)}, got "
                    f"{', '.join(changes) or 'none'}"
                )
        update_wrapper(self, self.predicate)

    def __call__(self, *args: Any, **given: Any) -> bool | float:
        return self.predicate(*args, **given)

    @property
    def statement(self) -> str:
        """The docstring's first paragraph."""
        text = (self.predicate.__doc__ or self.predicate.__name__).strip()
        return " ".join(text.partition("\n\n")[0].split())

    def case(self, instance: Changes, **changes: Any) -> Case:
        """The statement at an instance, under a key of its own."""
        from fairfl.claims.case import Case, Relation

        at = instance["instance"]
        premises = {name: bool(holds(at)) for name, holds in self.where.items()}
        if not all(premises.values()):
            return Case((Relation(0, "==", 0),), premises)
        found = (
            self.predicate(**at, **changes)
            if isinstance(at, dict)
            else (self.predicate(at, **changes))
        )
        if isinstance(found, bool) or type(found).__name__ == "bool_":
            return Case((Relation(0 if found else 1, "==", 0, self.statement),), premises)
        return Case((Relation(0.0, "<=", float(found), self.statement),), premises)

    def draws(self) -> SearchStrategy[Any]:
        """The strategy, its instances under a key of their own."""
        return self.strategy.map(lambda one: {"instance": one})

    def check(self, examples: int = HOW_MANY, seed: int = 0) -> LemmaReport:
        """See :func:`check_lemma`."""
        whole = self._tried({}, examples, seed)
        if whole.counterexample is not None:
            return whole
        tried = {name: self._tried(how, examples, seed) for name, how in self.mutants.items()}
        refuted = {name: r.counterexample for name, r in tried.items() if r.level is None}
        return replace(
            whole, refuted=refuted, survivors=tuple(n for n in tried if n not in refuted)
        )

    def _tried(self, changes: Changes, examples: int, seed: int) -> LemmaReport:
        from hypothesis.errors import Unsatisfiable

        from fairfl.claims.draws import Tally, draw

        violated: list[Any] = []  # the smallest is evaluated last

        def statement(instance: Changes) -> Case:
            case = self.case(instance, **changes)
            if case.applies and not case.margin >= -self.tolerance:
                violated[:] = [instance["instance"]]
            return case

        tally = Tally(statement)
        broken = False
        with suppress(Unsatisfiable):  # told below
            broken = draw(tally, self.draws, examples, self.tolerance, seed, shrink=True)
        if not tally.examples:
            raise ValueError(
                "strategy must draw instances that satisfy the hypotheses "
                f"{', '.join(self.where)}, got none among {tally.discarded}"
            )
        at = violated[0] if broken else None
        level, margin = None if broken else "property", tally.worst()[0]["margin"]
        return LemmaReport(
            self.statement, level, tally.examples, tally.discarded, at, margin, (), {}
        )

    def claim(self) -> Claim:
        """The claim that ``fairfl claims check`` checks."""
        from fairfl.claims.call import Call
        from fairfl.claims.certificates import PropertyRun
        from fairfl.claims.claim import Claim, Effort
        from fairfl.claims.evidence import Evidence
        from fairfl.claims.exact import encode

        here = f"{self.predicate.__module__}:{self.predicate.__name__}"

        def check(effort: Effort, **changes: Any) -> Evidence:
            case = Call(f"{here}.case", encode(changes))
            return Evidence.of(
                PropertyRun.of(case, Call(f"{here}.draws"), effort, tolerance=self.tolerance)
            )

        return Claim(
            self.id,
            0,
            self.statement,
            number=self.id.partition("/")[2],
            printed=self.statement,
            statement=self.statement,
            kind="implication",
            hypotheses={name: name for name in self.where},
            scope="instances that were drawn",
            whose="ours",
            check=check,
            mutants={name: (str(dict(how)), how) for name, how in self.mutants.items()},
        )


def lemma(
    id: str,
    strategy: SearchStrategy[Any],
    *,
    where: Mapping[str, Callable[[Any], bool]] | None = None,
    mutants: Mapping[str, Changes] | None = None,
    tolerance: float = 1e-9,
) -> Callable[[Callable[..., bool | float]], Lemma]:
    """Make a lemma of a predicate, see :func:`check_lemma`.

    Examples
    --------
    >>> from hypothesis import strategies as st
    >>> import fairfl as ff
    >>> @ff.lemma(
    ...     "mine/mean", st.lists(st.floats(0.1, 9), min_size=1), mutants={"twice": {"factor": 2}}
    ... )
    ... def mean_above_minimum(u, factor=1):
    ...     \"\"\"The mean is at least the minimum.\"\"\"
    ...     return sum(u) / len(u) - factor * min(u)
    >>> bool(ff.check_lemma(mean_above_minimum, examples=100))
    True
    """

    def made(predicate: Callable[..., bool | float]) -> Lemma:
        return Lemma(predicate, strategy, id, where or {}, mutants or {}, tolerance)

    return made


def check_lemma(
    predicate: Callable[..., bool | float],
    strategy: SearchStrategy[Any] | None = None,
    *,
    where: Mapping[str, Callable[[Any], bool]] | None = None,
    mutants: Mapping[str, Changes] | None = None,
    tolerance: float = 1e-9,
    examples: int = HOW_MANY,
    seed: int = 0,
) -> LemmaReport:
    """Check a statement on instances that hypothesis draws, and that each near miss of it fails.

    Parameters
    ----------
    predicate : a function, or what :func:`lemma` made of one, which has the rest.
        ``predicate(instance, ...)`` says whether the statement holds there, or gives a number that
        is >= 0 where it does; an instance that is a dict is given by its names.
    strategy : of hypothesis; it draws numbers, strings, lists and dicts of them.
    where : hypotheses by name, instance -> bool; instances that break one are discarded.
    mutants : near misses by name: parameters of the predicate that get other values. Each must be
        refuted, else the check could not have failed.
    tolerance : numbers above minus this count as >= 0.
    examples, seed : how many instances, and which: the same seed draws the same ones.

    Returns
    -------
    A report, true as a condition where the lemma held at every instance and no mutant did;
    ``print`` says which instance refutes what, made small.

    Raises
    ------
    ValueError : a mutant that changes no parameter, no strategy, or one that draws no instance
        which satisfies the hypotheses.

    Examples
    --------
    >>> from hypothesis import strategies as st
    >>> import fairfl as ff
    >>> square = lambda x, c=0: x * x >= c
    >>> found = ff.check_lemma(square, st.integers(-9, 9), mutants={"more": {"c": 1}}, examples=100)
    >>> bool(found), found.refuted
    (True, {'more': 0})
    """
    if isinstance(predicate, Lemma):
        if strategy is not None or where or mutants:
            raise ValueError("strategy, where and mutants of a lemma are its own, got more")
        return predicate.check(examples, seed)
    if strategy is None:
        raise ValueError("strategy must be given with a predicate that is no lemma, got None")
    made = Lemma(predicate, strategy, "mine/lemma", where or {}, mutants or {}, tolerance)
    return made.check(examples, seed)
