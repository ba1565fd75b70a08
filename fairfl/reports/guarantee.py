"""Rules whose disparity is kept among all people such as these; see ``fairfl.solvers.guarantee``.

Those who test a rule had no part in it: where rows are at hand, levels of the score are made of the
others' too.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fairfl._support.checks import Array
from fairfl.reports.comparison import ZERO, Comparison, compare
from fairfl.reports.comparison_words import difference, number, shower
from fairfl.reports.curves import noted
from fairfl.reports.people import Read
from fairfl.reports.sampling import LEVEL, Progress, accepted, by_label, judged
from fairfl.solvers.guarantee import Guarantee, Promise, guaranteed, path_of
from fairfl.solvers.schemes import CFL, SCHEMES
from fairfl.theory.populations.calibration import AUTO, Counted
from fairfl.theory.populations.classifiers import Classifier, called
from fairfl.theory.populations.count_people import count_people
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import NOTIONS, local_budgets, pooled_budget

BEYOND = 1.5
"""Rules whose disparity is so many times the limit on their makers are not tested."""
FEW = "guarantee needs people of every group and of every client, to make a rule and to test it"


def limits_of(scheme: str, eps: Any, clients: int) -> tuple[Array, Array]:
    """A path of a scheme's budgets, and the largest disparities (1 + I,) that they allow: of all
    people, of an ensemble's too, or of each client.
    """
    row, none = SCHEMES[scheme], np.full(clients, np.inf)
    if row.sees_client:
        raise ValueError(f"guarantee goes with one rule for all clients, got scheme {scheme!r}")
    budgets = pooled_budget(eps, scheme) if row.is_pooled else local_budgets("eps", eps, clients)
    is_one = row.is_pooled or row.is_averaged
    if (budgets <= 0).any() or (is_one and np.ptp(budgets) > 0):
        raise ValueError(f"eps must be above 0{', one number,' * is_one} with guarantee, got {eps}")
    if is_one:
        return np.zeros((1, budgets.size)), np.append(budgets[0], none)
    return path_of(budgets), np.append(np.inf, budgets)


def of_rows(rows: Sequence[Array], tests: Array, levels: int | None) -> tuple[Counted, Array]:
    """Of scores, y, and numbers 0, 1, ... of groups and clients, (N,) each: those who make a rule,
    and the people ``tests`` as counts (I, A, 2, n) on the others' levels.
    """
    score, y, a, i = (row[~tests] for row in rows)
    makers = count_people(score, y, a, i, levels=levels)
    if makers.counts.shape[:2] != tuple(row.max() + 1 for row in rows[:1:-1]):
        raise ValueError(FEW)
    score, y, a, i = (row[tests] for row in rows)
    testers = np.zeros(makers.counts.shape)
    np.add.at(testers, (i, a, y, makers.level(score)), 1.0)  # pyright: ignore
    return makers, testers


def with_guarantee(
    comparison: Comparison, read: Read, level: float, progress: Progress | None = None
) -> Comparison:
    """The comparison with, of each scheme of one shared rule, a rule that keeps the first disparity
    in words among all people with probability ``level``, and what it promises.

    ValueError : no people, or counts that are not theirs; no disparity that limits the rules.
    """
    people, question = read.people, comparison.question
    altered = people is None or people.ranges is not None or people.is_noisy
    if people is None or altered or people.weighted is not None:
        raise ValueError(
            "guarantee needs people as they are: no weights, no withheld counts, and no noise"
        )
    d = comparison.disparities[comparison.worded[0]] if comparison.worded else 0.0
    local_eps = np.inf if question.local_eps is None else question.local_eps
    clients = len(people.counts)
    if min(d, local_eps) <= 0.0:
        raise ValueError("guarantee needs disparities above 0 that limit the rules: --at")
    promises = {
        scheme: Promise(
            question.notion,
            question.sees,
            np.append(d, [local_eps if SCHEMES[scheme].is_local else np.inf] * clients),
            level,
        )
        for scheme, chosen in comparison.rules.items()
        if isinstance(chosen.solution.classifier, Classifier)
    }
    counts_labels = NOTIONS[question.notion].counts_labels
    share = max(promise.share_of_testers(people.counts) for promise in promises.values())
    makers, testers = _dealt(read, people, share, counts_labels=counts_labels)
    fed, everyone = (
        Federation.of_people(makers, warn=False),
        replace(makers, counts=makers.counts + testers),
    )
    paths = {CFL.name: np.zeros((1, 1))}
    if set(promises) > {CFL.name}:
        others = replace(question, only=tuple(promises))
        fitted = compare(fed, question=others, at=[d], progress=progress)
        comparison.failures.update(fitted.failures)
        for scheme, reach in fitted.reaches.items():
            chosen, curve = fitted.rules[scheme].solution, reach.frontier
            path = curve.eps[curve.disparity <= max(chosen.disparity, BEYOND * d)]
            if chosen.local_eps is not None:
                path = path_of(np.append(chosen.eps, chosen.local_eps))
            paths.setdefault(scheme, path)
    promised: dict[str, Classifier | None] = dict.fromkeys(promises)
    words = [
        f"The rules that are written have a guarantee: a disparity of at most {d:g} among all "
        f"people such as these, with a probability of {100 * level:g} % for each rule, whatever "
        f"the people's distribution. {testers.sum():,.0f} people tested the rules, "
        f"{makers.people:,} others made them."
    ]
    for scheme, path in paths.items():
        with noted(f"guarantee of {scheme}", comparison.failures):
            task = question.task(fed, scheme)
            out = guaranteed(makers, task, path, promises[scheme], testers)
            promised[scheme] = out.rule
            words.append(_words(comparison, people, everyone, scheme, out))
    return replace(comparison, guaranteed=promised, promises=tuple(words))


def _dealt(
    read: Read, people: Counted, share: float, *, counts_labels: bool
) -> tuple[Counted, Array]:
    """Who make rules, with their calibration, and who test them."""
    rng, calibrate = np.random.default_rng(0), AUTO if people.calibration else people.calibrate
    settings: dict[str, Any] = {"calibrate": calibrate, "calibration": None, "merged": None}
    if read.columns:
        x, y, *codes = read.columns
        rows = x, y, *(np.unique(code, return_inverse=True)[1] for code in codes)
        levels = 0 if people.names else read.levels
        makers, testers = of_rows(rows, rng.random(len(x)) < share, levels)
        settings |= {name: getattr(people, name) for name in ("names", "groups", "clients")}
        if makers.cells is not None and people.cells is not None:
            settings["cells"] = replace(makers.cells, names=people.cells.names)
    else:
        testers = rng.binomial(people.counts.astype(np.int64), share).astype(float)
        makers = replace(people, counts=people.counts - testers)
        if not all(makers.counts.sum(axis=axes).all() for axes in ((0, 2, 3), (1, 2, 3))):
            raise ValueError(FEW)
    return replace(makers, **settings).calibrated(counts_labels=counts_labels), testers


def _words(
    comparison: Comparison, people: Counted, everyone: Counted, scheme: str, outcome: Guarantee
) -> str:
    """What a rule with a guarantee is, and what it costs; or how many people would do. ``people``
    are on the levels of the comparison, ``everyone`` the same on those of the makers.
    """
    question, row, rule = comparison.question, SCHEMES[scheme], outcome.rule
    if rule is None:
        enough, smallest = "more people would do", comparison.reaches[scheme].smallest
        if smallest > comparison.disparities[comparison.worded[0]]:
            enough = f"on these people its smallest disparity is {number(smallest)}"
        elif outcome.sufficient > people.people:
            enough = f"about {float(f'{outcome.sufficient:.2g}'):,.0f} people would do"
        return f"{row.label}: no rule with the guarantee was found, and none is written; {enough}."
    task = question.task(Federation.of_people(people, warn=False), CFL.name)
    (plain, _), (value, disparity) = (
        judged(*by_label(accepted(f.on(sample.points)[None], sample.counts)), task, question)
        for f, sample in ((comparison.rules[scheme].solution.classifier, people), (rule, everyone))
    )
    accepts = "; ".join(f"{called(name)}: {rule.accepted(name)}" for name in rule.groups)
    local = f" (and {question.local_eps:g} at each client)" if row.is_local else ""
    return (
        f"{row.label} with the guarantee{local} accepts {accepts}. Counted on all these people its "
        f"disparity is {number(disparity)}, its {question.value} {shower(question)(value)}, "
        f"{difference(question, plain - value)} less than without the guarantee."
    )


def exceeded(comparison: Comparison, sample: Counted) -> tuple[str, ...]:
    """How often pooling's rule exceeds its disparity among all people; none if it limits none."""
    k = comparison.worded[0] if comparison.worded else 0
    d, chosen = (*comparison.disparities, 0.0)[k], comparison.rules[CFL.name]
    if not 0.0 < d <= chosen.solution.disparity + ZERO:
        return ()
    by_group, error = sample.counts.sum(axis=(0, 3)), 0.0
    for rate, r in zip(NOTIONS[comparison.question.notion].rates, chosen.rates, strict=True):
        size = by_group @ [rate.mass[0], sum(rate.mass)]
        variance = np.divide(r * (1.0 - r), size, out=np.zeros_like(r), where=size > 0)
        error = max(error, float(np.sqrt(np.sort(variance)[-2:].sum())))
    held_out = ""
    if comparison.judged and comparison.spread is not None:
        row = list(comparison.reaches).index(CFL.name)
        held_out = f"; held out it is {number(comparison.spread.held_out[row, k + 1, 1])}"
    return (
        f"A disparity of {d:g} is that of these people. Among all such people pooling's rule has "
        f"more in about half of samples such as this one (the standard error is about "
        f"{number(error)}{held_out}): --guarantee {LEVEL:g} writes rules that keep to it.",
    )
