"""FedMinMax: minimises the worst group's mean loss, by gradient ascent on the groups' mixture."""

from dataclasses import dataclass
from typing import ClassVar

from fairfl._support.checks import positive
from fairfl.sims.engine import CellSums, Floats, LocalTask, State, as_floats, as_tensor
from fairfl.sims.engine.secure_sums import CellRound, SumOnly
from fairfl.sims.group_fairness.notions import check_groups
from fairfl.theory.numerics.projections import onto_simplex


@dataclass(frozen=True)
class FedMinMax(SumOnly):
    r"""min over w of the max over mixtures μ (simplex) of Σ_a μ_a r_a(w), r_a the mean loss of the
    federation's people of group a, by descent and ascent at once.

    .. math::
        w^{t+1} = \sum_k \tfrac{n_k}{n} w_k, \quad
        \mu^{t+1} = \Pi\bigl(\mu^t + \text{rate} \cdot r(w^t)\bigr), \quad \mu^0_a = n_a / n

    w_k: client k's model after local steps on its people's losses, of group a weighed by μ_a^t n /
    n_a; Π: the projection on the simplex; r: secure sums. With one full-gradient step in each round
    it is AFL where every client has one group. ``rate`` is of μ over loss.

    Errors: ValueError for rate <= 0, and when a run starts for a group that nobody is in.
    Source: Papadaki et al., Minimax demographic group fairness in federated learning (FAccT 2022),
    algorithm 1, from memory: the text was not at hand. There a round has one step, and the mean of
    all w^t is returned, here the last. μ, its start n_a / n and these weights are those of two
    published implementations by others.
    """

    rate: float = 0.1
    name: ClassVar[str] = "fedminmax"

    def __post_init__(self) -> None:
        positive("rate", self.rate)

    @property
    def needs(self) -> frozenset[str]:
        return frozenset(("loss",))

    def enrol(self, counts: Floats) -> Floats:
        return counts.sum(2)

    def begin(self, total: Floats, clients: int) -> State:
        check_groups(total, "people")
        mixture = as_tensor(total / total.sum())
        return {"people": as_tensor(total), "mixture": mixture, "next_mixture": mixture}

    def report(self, round: CellRound, cells: CellSums) -> Floats:
        return cells.loss.sum(2)

    def steer(self, total: Floats, state: State) -> State:
        mean = total / as_floats(state["people"])
        mixture = onto_simplex(as_floats(state["next_mixture"]) + self.rate * mean)
        return {"mixture": state["next_mixture"], "next_mixture": as_tensor(mixture)}

    def client(self, round: CellRound) -> tuple[LocalTask, ...]:  # type: ignore[override]
        mixture, people = (as_floats(round.state[name]) for name in ("mixture", "people"))
        table = (mixture * people.sum() / people)[:, None]
        return (LocalTask(sample_weights=round.index.spread(table)),)
