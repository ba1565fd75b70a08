"""AgnosticFair (Du et al.): a minimax over reweighed populations, by gradient steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from fairfl._support.checks import in_range, positive, whole
from fairfl.sims.engine import ClientData, Floats, Model, Parts, as_floats, as_tensor
from fairfl.sims.engine import secure_masks as secure
from fairfl.sims.engine.draws import counter


@dataclass(frozen=True, eq=False)
class AgnosticFit:
    """The end of a run: parameters w (P,), the adversary's weights of the kernels (M,), and the
    multiplier of the constraint, that of its upper side less that of its lower.
    """

    params: Tensor
    alpha: Floats
    multiplier: float


@dataclass(frozen=True)
class AgnosticFair:
    r"""Train against the worst of the populations that kernels can make of the people.

    .. math::
        \min_w \max_{\alpha \in \Lambda} \tfrac1n \sum_s \theta_\alpha(x_s) \ell_s(w)
        \quad \text{s.t.} \quad
        \Bigl| \tfrac1n \sum_s \theta_\alpha(x_s) (a_s - \bar a) z_s(w) \Bigr| \le \tau, \qquad
        \theta_\alpha = \sum_m \alpha_m K_m

    with Gaussian kernels K_m around M centres, Λ = {0 <= α_m <= cap, (1/n) Σ_s θ_α(x_s) = 1}, z the
    score (log odds) and \bar a the share of group 1. A round: the sums over clients of K_m ℓ and
    K_m (a - \bar a) z go to the server; it moves α towards the linear programme's vertex (one
    equality and a box: filled in the order of gain per mass), the multipliers of the constraint's
    two sides by ascent, and sends all; clients send their gradients of the Lagrangian, of which the
    server knows the sum.

    Parameters
    ----------
    kernels : M.
    width : of the kernels, in standard deviations of the (standardised) inputs, times the root of
        their number.
    cap : >= 1; the largest α_m, in units of the α that is even: 1 leaves no choice, and is plain
        training.
    tau : float >= 0
    rate, decay : in (0, 1]: how far α goes towards the vertex in a round t, divided by (t +
        1)^decay.
    momentum : in [0, 1), of the steps of w: w <- w - lr v, v <- momentum v + gradient. The
        server's, which knows the sum.
    dual_rate, penalty : >= 0; of the multipliers, and of the augmented Lagrangian's quadratic term;
        both 0 leave fairness out.

    Errors: ValueError for anything else, and for data without two groups.
    Source: Du, Xu, Wu and Tong, Fairness-aware agnostic federated learning (SDM 2021), eqs.
    (3)-(9), as FedFB, section 5.3 and appendix C.6, compares with it: it "exchanges information
    every local update". The centres are drawn from a normal law with the people's (summed) mean and
    variance, for the server knows no person.
    """

    kernels: int = 20
    width: float = 0.5
    cap: float = 3.0
    tau: float = 0.01
    rate: float = 0.5
    decay: float = 0.5
    momentum: float = 0.0
    dual_rate: float = 0.02
    penalty: float = 2.0

    def __post_init__(self) -> None:
        whole("kernels", self.kernels, 1)
        positive("width", self.width)
        in_range("cap", self.cap, 1.0, 1e300)
        in_range("tau", self.tau, 0.0, 1e300)
        in_range("rate", self.rate, 0.0, 1.0, open_low=True)
        in_range("decay", self.decay, 0.0, 1.0, open_low=True)
        in_range("momentum", self.momentum, 0.0, 1.0, open_high=True)
        in_range("dual_rate", self.dual_rate, 0.0, 1e300)
        in_range("penalty", self.penalty, 0.0, 1e300)

    def fit(
        self,
        model: Model,
        data: Parts,
        rounds: int,
        lr: float,
        seeds: Sequence[int] = (0,),
        device: torch.device | str = "cpu",
    ) -> list[AgnosticFit]:
        """The end of each seed's run: full-batch steps of size ``lr`` in float64."""
        whole("rounds", rounds, 1)
        positive("lr", lr)
        group = data.train.group
        if group is None or set(np.unique(group)) != {0, 1}:
            groups = None if group is None else np.unique(group).tolist()
            raise ValueError(f"group must hold the groups 0 and 1 for AgnosticFair, got {groups}")
        threads = torch.get_num_threads()
        torch.set_num_threads(1)  # several are slower at this size
        try:
            with torch.no_grad():
                return _Runs(self, model, data.train, seeds, device).finish(rounds, lr)
        finally:
            torch.set_num_threads(threads)


class _Runs:
    """The runs of all seeds, an axis R, on the device; one transfer to the host a round."""

    def __init__(
        self,
        rule: AgnosticFair,
        model: Model,
        train: ClientData,
        seeds: Sequence[int],
        device: torch.device | str,
    ) -> None:
        self.rule, self.model, self.seeds, self.names = rule, model, seeds, train.names
        self.data = model.prepare(train.to(device, torch.float64))
        self.sums, self.n, count = 0, len(train.x), len(seeds)
        x = train.x.to(device, torch.float64)
        group = as_tensor(np.asarray(train.group)).to(x.device)
        self.parts = [slice(a, b) for a, b in pairwise(train.offsets.tolist())]
        numbers = torch.cat([x, x.square(), group[:, None]], 1).expand(count, -1, -1)
        ones = x.new_ones(count, 1, self.n)
        moments = self._reported(ones, numbers)
        mean, square, share = np.split(moments, [x.shape[1], 2 * x.shape[1]], 1)
        spread = np.sqrt(np.maximum(square - mean**2, 1e-12))
        centres = [
            np.random.default_rng([seed, 7]).normal(size=(rule.kernels, x.shape[1]))
            for seed in seeds
        ]
        means, spreads, centre_rows, shares = (
            as_tensor(array).to(x.device) for array in (mean, spread, np.stack(centres), share)
        )
        self.away = group - shares  # (R, N)
        standard = (x - means[:, None]) / spreads[:, None]
        # a kernel at a time: N x M x features may be large
        squares = [(standard - centre[:, None]).square().sum(2) for centre in centre_rows.unbind(1)]
        # (R, N, M)
        self.kernel = torch.exp(-0.5 * torch.stack(squares, 2) / (rule.width**2 * x.shape[1]))
        self.mass = self._reported(ones, self.kernel)  # (R, M)
        self.even = 1 / self.mass.sum(1, keepdims=True)

    def _reported(self, weights: Tensor, values: Tensor) -> Floats:
        """Secure sums over clients (R, W S): weights (R, W, N) times values (R, N, S), over n."""
        client_sums = [torch.bmm(weights[:, :, part], values[:, part]) for part in self.parts]
        reports = as_floats(torch.stack(client_sums).flatten(2) / self.n)
        self.sums += 1
        words = self.sums, counter.ORDER
        sent = [secure.mask(reports[:, r], self.names, s, *words) for r, s in enumerate(self.seeds)]
        return np.stack([secure.unmask(messages) for messages in sent])

    def finish(self, rounds: int, lr: float) -> list[AgnosticFit]:
        """Train."""
        rule = self.rule
        w = torch.stack([self.model.init(seed) for seed in self.seeds]).to(self.kernel.device)
        velocity, alpha = torch.zeros_like(w), np.repeat(self.even, rule.kernels, 1)
        upper = lower = np.zeros((len(w), 1))
        for t in range(rounds):
            risk, gap = self._statistics(w)
            gains, caps = risk + (upper - lower) * gap, rule.cap * self.even[:, 0]
            rows = zip(gains, self.mass, caps, strict=True)
            vertex = np.stack([worst(*row) for row in rows])
            alpha = alpha + rule.rate / (t + 1) ** rule.decay * (vertex - alpha)
            difference = (alpha * gap).sum(1, keepdims=True)
            upper_gap, lower_gap = difference - rule.tau, -difference - rule.tau
            upper = np.maximum(0.0, upper + rule.dual_rate * upper_gap)
            lower = np.maximum(0.0, lower + rule.dual_rate * lower_gap)
            # the augmented Lagrangian's slope: without the second terms w and the multipliers
            # circle each other
            pull = np.maximum(0.0, upper + rule.penalty * upper_gap)
            pull = pull - np.maximum(0.0, lower + rule.penalty * lower_gap)
            velocity = rule.momentum * velocity + self._slopes(w, alpha, pull)
            w = w - lr * velocity
        fits = zip(w, alpha, (upper - lower)[:, 0].tolist(), strict=True)
        return [AgnosticFit(*fit) for fit in fits]

    def _statistics(self, w: Tensor) -> tuple[Floats, Floats]:
        """(1/n) Σ K_m ℓ and (1/n) Σ K_m (a - mean) z, (R, M) each; z: the score's log odds."""
        y, copies = self.data.y, 3 * len(w)
        labels = torch.stack([y, torch.zeros_like(y), torch.ones_like(y)]).repeat(len(w), 1)
        x = self.data.x.expand(copies, *self.data.x.shape)
        losses = self.model.losses(w.repeat_interleave(3, 0), x, labels)
        loss, loss_of_0, loss_of_1 = losses.view(len(w), 3, -1).unbind(1)
        weights = torch.stack([loss, self.away * (loss_of_0 - loss_of_1)], 1)
        risk, gap = np.split(self._reported(weights, self.kernel), 2, 1)
        return risk, gap

    def _slopes(self, w: Tensor, alpha: Floats, pull: Floats) -> Tensor:
        """The sums of the clients' gradients of (1/n) Σ θ (ℓ + pull (a - mean) z), (R, P)."""
        alphas, pulls = (as_tensor(array).to(w.device) for array in (alpha, pull))
        theta = (self.kernel @ alphas[:, :, None]).squeeze(2) / self.n
        lean = pulls * theta * self.away
        x, y = (t.expand(len(w), *t.shape) for t in (self.data.x, self.data.y))
        slope = self.model.gradient(w, x, y, theta)
        slope = slope + self.model.gradient(w, x, torch.zeros_like(y), lean)
        return slope - self.model.gradient(w, x, torch.ones_like(y), lean)


def worst(gains: Floats, mass: Floats, cap: float) -> Floats:
    """argmax of gains·α over 0 <= α <= cap, mass·α = 1 (mass > 0): filled by gain per mass."""
    order = np.argsort(-gains / mass, kind="stable")
    mass_before = np.cumsum(cap * mass[order]) - cap * mass[order]
    alpha = np.empty_like(mass)
    alpha[order] = np.clip((1 - mass_before) / mass[order], 0.0, cap)
    return alpha
