"""One unit of the arena: a setting of an entrant trained on one sample, and scored on the laws."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from fairfl._support.checks import Array
from fairfl.sims.data.federated.data import FederatedData
from fairfl.sims.data.federated.population import sample
from fairfl.sims.engine import Computing, Joining, Logistic, Parts, Replicate, Simulation, Training
from fairfl.sims.engine.draws.participation import Everyone
from fairfl.sims.engine.task import as_floats
from fairfl.sims.group_fairness import AgnosticFair
from fairfl.solvers.densities.problem import Rule
from fairfl.studies.arena.entrants import BUDGET, Entrant, entrants
from fairfl.studies.arena.published import Published, federations
from fairfl.studies.arena.scores import Aim, gap, rule_scores
from fairfl.studies.crosscheck.population.learned_rules import learned
from fairfl.studies.papers.fedfb.data import pooled
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.client_classifiers import ClientClassifiers

LEAST_PEOPLE, PEOPLE = 1000, 100
"""People in a sample: in all at least, and for each client."""
STEPS = 5
"""Full gradient steps of a client in a round."""
SHARES = (0.05, 0.1, 0.2, 0.5, 1.0)
"""Shares of the rounds after which models are scored."""
Row = dict[str, object]


def people_of(place: Published, seed: int) -> FederatedData:
    """The sample of a seed, the same for every entrant."""
    return sample(place.federation, max(LEAST_PEOPLE, PEOPLE * place.federation.n_clients), seed)


def unit(federation: str, entrant: str, seed: int, setting: str, rounds: int) -> list[Row]:
    """A row for each scored round: scores, and the bytes of models and messages until then."""
    place, competitor = federations()[federation], entrants()[entrant]
    people = people_of(place, seed)
    assert people.group is not None
    parts = Parts.of(replace(people, x=place.basis(people.x[:, 0], people.group)))
    parts = pooled(parts) if competitor.is_pooled else parts
    marks = sorted({max(1, round(share * rounds)) for share in SHARES})
    return [
        {"round": mark, "bytes": sent, **_scores(place, competitor, parts.p, model, personal)}
        for mark, model, personal, sent in _trained(place, competitor, setting, parts, seed, marks)
    ]


def _trained(
    place: Published,
    competitor: Entrant,
    setting: str,
    parts: Parts,
    seed: int,
    marks: Sequence[int],
) -> Iterator[tuple[int, Array, Array | None, float]]:
    """After the rounds ``marks``: the global model (P,), the clients' own (I, P), bytes sent."""
    chosen, model = competitor.trained(setting), Logistic(place.basis.size, bias=False)
    algorithm = chosen.algorithm
    if isinstance(algorithm, AgnosticFair):
        # sums are exchanged after every step, so that a round is one step; each run starts anew
        numbers = 2 * model.size + 3 * algorithm.kernels + 1  # model, gradient, sums and weights
        rate = chosen.rates.get("lr", Training.lr)
        for mark in marks:
            (fit,) = algorithm.fit(model, parts, mark, rate, (seed,))
            yield mark, as_floats(fit.params), None, 8.0 * numbers * parts.train.clients * mark
        return
    joins = Joining((0, marks[-1] // 2)) if competitor.is_joining else Everyone()
    training = Training(rounds=marks[-1], steps=STEPS, batch_size=None, participation=joins)
    replicate = Replicate(algorithm, seed, **chosen.rates)  # type: ignore[arg-type]
    computing = Computing(device="cpu", dtype="float64")
    run, sent = Simulation(model, parts, [replicate], training, computing), 0.0
    while not run.done:
        (row,) = run.step()
        sent += row["bytes_up"] + row["bytes_down"]
        if run.round in marks:
            personal = algorithm.personal(run.states[0])
            models = None if personal is None else as_floats(personal)
            once = 8 * models.size if algorithm.is_ensemble and models is not None else 0
            volume = np.nan if competitor.is_pooled else sent + once
            yield run.round, as_floats(run.params[0]), models, volume


def _scores(
    place: Published, competitor: Entrant, p: Array, model: Array, models: Array | None
) -> Row:
    """Scores of what an entrant aims at; p (I,) the shares of the people."""
    aim, own_models = competitor.aim, models if competitor.by_clients else None
    if not competitor.is_rule:
        return {"score": gap(place, aim, model if own_models is None else own_models)}
    rows = model[None] if own_models is None else own_models
    members = [learned(place.basis, row) for row in rows]
    rule = members[0]
    if own_models is not None:
        is_told = aim == "client_aware"
        rule = ClientClassifiers(members) if is_told else Classifier.average(members, p)
    return scored(place, aim, rule, members, competitor.is_end)


def scored(
    place: Published, aim: Aim, rule: Rule, members: Sequence[Classifier] = (), is_end: bool = False
) -> Row:
    """Scores of a rule, its excess over ``BUDGET``, and the sum of both below CFL's frontier."""
    scores = rule_scores(place, aim, rule, members)
    violation = 0.0 if is_end else max(0.0, scores.pop("limited") - BUDGET)
    return {**scores, "violation": violation, "score": scores["below_cfl"] + violation}
