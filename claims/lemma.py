"""A user's lemma: a predicate, a strategy and near misses that must fail; checked as claims are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial, update_wrapper
from inspect import signature
from typing import TYPE_CHECKING, Any

from fairfl._support.checks import instance

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from fairfl.claims.case import Case
    from fairfl.claims.claim import Claim
    from fairfl.claims.effort import Effort
    from fairfl.claims.evidence import Evidence

Changes = Mapping[str, object]
EXAMPLES = 1000


@dataclass(frozen=True)
class LemmaReport:
    """Result of a check of a lemma; true as a condition where the lemma held and no mutant did.

    Attributes
    ----------
    statement : in words.
    level : "property" where it held at every instance, None where it was refuted.
    examples, discarded : instances drawn that satisfy the hypotheses, and those that do not.
    counterexample : where it was refuted, the instance, made small; else None.
    margin : the smallest that the predicate returned; a predicate that returns a bool has none.
    survivors : mutants that held at every instance: the lemma could state them instead, or its
        strategy draws no instance that separates them from it.
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
        counts = f"{self.examples} examples, {self.discarded} discarded"
        lines = [f"holds ({self.level}, {counts}): {self.statement}"]
        lines += [f"mutant {name!r} is refuted at {x!r}" for name, x in self.refuted.items()]
        lines += [f"mutant {name!r} SURVIVES" for name in self.survivors]
        return "\n".join(lines)


@dataclass(eq=False)
class Lemma:
    """A predicate and the parts of its check, see :func:`check_lemma`; called as the predicate is.

    ``fairfl claims check`` finds it by its ``id``, "mine/name".
    """

    predicate: Callable[..., bool | float]
    strategy: SearchStrategy[object]
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
        parameters = list(signature(self.predicate).parameters)
        for name, changes in self.mutants.items():
            if not changes.keys() <= set(parameters) or not changes:
                raise ValueError(
                    f"mutant {name} must change parameters of {', '.join(parameters)}, got "
                    f"{', '.join(changes) or 'none'}"
                )
        update_wrapper(self, self.predicate)

    def __call__(self, *args: object, **keywords: object) -> bool | float:
        return self.predicate(*args, **keywords)

    @property
    def statement(self) -> str:
        """The docstring's first paragraph."""
        text = (self.predicate.__doc__ or self.predicate.__name__).strip()
        return " ".join(text.partition("\n\n")[0].split())

    def case(self, instance: Changes, **changes: object) -> Case:
        """The statement at the instance under the key "instance"."""
        from fairfl.claims.case import Case, Relation

        values = instance["instance"]
        premises = {name: bool(holds(values)) for name, holds in self.where.items()}
        if not all(premises.values()):
            return Case.outside(premises)
        arguments, keywords = ((), values) if isinstance(values, dict) else ((values,), {})
        verdict = self.predicate(*arguments, **keywords, **changes)
        if isinstance(verdict, bool) or type(verdict).__name__ == "bool_":
            return Case((Relation(0 if verdict else 1, "==", 0, self.statement),), premises)
        return Case((Relation(0.0, "<=", float(verdict), self.statement),), premises)

    def draws(self) -> SearchStrategy[dict[str, object]]:
        """The strategy, each instance under the key "instance"."""
        return self.strategy.map(lambda values: {"instance": values})

    def check(self, examples: int = EXAMPLES, seed: int = 0) -> LemmaReport:
        """See :func:`check_lemma`."""
        report = self._report({}, examples, seed)
        if report.counterexample is not None:
            return report
        reports = {n: self._report(changes, examples, seed) for n, changes in self.mutants.items()}
        refuted = {name: r.counterexample for name, r in reports.items() if r.level is None}
        survivors = tuple(name for name in reports if name not in refuted)
        return replace(report, refuted=refuted, survivors=survivors)

    def _report(self, changes: Changes, examples: int, seed: int) -> LemmaReport:
        from hypothesis.errors import Unsatisfiable

        from fairfl.claims.draws import Tally, draw
        from fairfl.claims.exact import decode

        tally = Tally(partial(self.case, **changes), self.tolerance)
        is_violated = False
        with suppress(Unsatisfiable):  # reported below
            is_violated = draw(tally, self.draws, examples, seed, shrink=True)
        if not tally.examples:
            raise ValueError(
                "strategy must draw instances that satisfy the hypotheses "
                f"{', '.join(self.where)}, got none among {tally.discarded}"
            )
        counterexample = decode(tally.worst["instance"])["instance"] if is_violated else None
        level, margin = None if is_violated else "property", tally.worst["margin"]
        counts = tally.examples, tally.discarded
        return LemmaReport(self.statement, level, *counts, counterexample, margin, (), {})

    def claim(self) -> Claim:
        """The claim that ``fairfl claims check`` checks, its parts found by name."""
        from fairfl.claims.call import Call
        from fairfl.claims.certificates import PropertyRun
        from fairfl.claims.claim import Claim
        from fairfl.claims.evidence import Evidence
        from fairfl.claims.exact import encode

        path = f"{self.predicate.__module__}:{self.predicate.__name__}"

        def check(effort: Effort, **changes: object) -> Evidence:
            case, draws = Call(f"{path}.case", encode(changes)), Call(f"{path}.draws")
            return Evidence.of(PropertyRun.of(case, draws, effort, tolerance=self.tolerance))

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
            mutants={name: (str(dict(changes)), changes) for name, changes in self.mutants.items()},
        )


def lemma(
    id: str,
    strategy: SearchStrategy[object],
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
    return partial(
        Lemma,
        strategy=strategy,
        id=id,
        where=where or {},
        mutants=mutants or {},
        tolerance=tolerance,
    )


def check_lemma(
    predicate: Callable[..., bool | float],
    strategy: SearchStrategy[object] | None = None,
    *,
    where: Mapping[str, Callable[[Any], bool]] | None = None,
    mutants: Mapping[str, Changes] | None = None,
    tolerance: float = 1e-9,
    examples: int = EXAMPLES,
    seed: int = 0,
) -> LemmaReport:
    """Check a statement on instances that hypothesis draws, and that each near miss of it fails.

    Parameters
    ----------
    predicate : a function, or a lemma by :func:`lemma`, which has the other parts.
        ``predicate(instance, ...)`` returns whether the statement holds there, or a number that is
        >= 0 where it does; the items of a dict are passed as keyword arguments.
    strategy : of hypothesis; it draws numbers, strings, lists and dicts of them.
    where : hypotheses by name, instance -> bool; instances that break one are discarded.
    mutants : near misses by name: parameters of the predicate that get other values. Each must be
        refuted, else the check could not have failed.
    tolerance : numbers above minus this count as >= 0.
    examples, seed : the number of instances, and the seed: the same seed draws the same ones.

    Returns
    -------
    A report, true as a condition where the lemma held at every instance and no mutant did;
    ``print`` shows the instances that refute it and its mutants, made small.

    Raises
    ------
    ValueError : a mutant that changes no parameter, no strategy, or one that draws no instance
        which satisfies the hypotheses.

    Examples
    --------
    >>> from hypothesis import strategies as st
    >>> import fairfl as ff
    >>> square = lambda x, c=0: x * x >= c
    >>> report = ff.check_lemma(square, st.integers(-9, 9), mutants={"more": {"c": 1}}, examples=99)
    >>> bool(report), report.refuted
    (True, {'more': 0})
    """
    if isinstance(predicate, Lemma):
        if strategy is not None or where or mutants:
            raise ValueError("strategy, where and mutants of a lemma are its own, got more")
        return predicate.check(examples, seed)
    if strategy is None:
        raise ValueError("strategy must be given with a predicate that is no lemma, got None")
    lemma = Lemma(predicate, strategy, "mine/lemma", where or {}, mutants or {}, tolerance)
    return lemma.check(examples, seed)
