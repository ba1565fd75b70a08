"""AgnosticFair (Du et al.): a minimax over reweighed populations under a fairness constraint, by
gradient steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from fairfl._support.checks import in_range, positive, whole
from fairfl.sims.engine.data import ClientData, Parts
from fairfl.sims.engine.draws import counter
from fairfl.sims.engine.model import Model
from fairfl.sims.engine.secure import masks as secure
from fairfl.sims.engine.task import Floats


@dataclass(frozen=True, eq=False)
class AgnosticFit:
    """Where a run ended, and how far that is from an equilibrium: one has ``slope`` = ``regret`` =
    0, |gap| <= tau.

    Attributes
    ----------
    params : tensor (P,)
    alpha : array (M,)
        The adversary's weights of the kernels.
    multiplier : float
        Of the constraint: that of its upper side less that of its lower.
    risk, gap : float
        The reweighed loss, and the reweighed covariance of group and score, which is held in [-tau,
        tau].
    slope : float
        Norm of the gradient in w of the Lagrangian, risk + multiplier gap.
    regret : float >= 0
        How much more of the Lagrangian the adversary could have.
    """

    params: Tensor
    alpha: Floats
    multiplier: float
    risk: float
    gap: float
    slope: float
    regret: float


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
    equality and a box: filled in the order of worth), the multipliers of the constraint's two sides
    by ascent, and sends all; clients send their gradients of the Lagrangian, of which the server
    knows the sum.

    Parameters
    ----------
    kernels : int
        M.
    width : float
        Of the kernels, in standard deviations of the (standardised) inputs, times the root of their
        number.
    cap : float >= 1
        The largest α_m, in units of the α that is even: 1 leaves no choice, and is plain training.
    tau : float >= 0
    rate, decay : float
        In (0, 1]: how far α goes towards the vertex in a round t, divided by (t + 1)^decay.
    momentum : float
        In [0, 1), of the steps of w: w <- w - lr v, v <- momentum v + gradient. The server's, which
        knows the sum.
    dual_rate, penalty : float >= 0
        Of the multipliers, and of the augmented Lagrangian's quadratic term; both 0 leave fairness
        out.

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
        if not 0 <= self.momentum < 1:
            raise ValueError(f"momentum must be in [0, 1), got {self.momentum}")
        in_range("dual_rate", self.dual_rate, 0.0, 1e300)
        in_range("penalty", self.penalty, 0.0, 1e300)

    def train(
        self, model: Model, data: Parts, rounds: int, lr: float, seeds: Sequence[int] = (0,)
    ) -> Tensor:
        """Parameters (R, P) after so many rounds with full-batch steps of size ``lr``, a row a
        seed, float64.
        """
        return torch.stack([found.params for found in self.fit(model, data, rounds, lr, seeds)])

    def fit(
        self, model: Model, data: Parts, rounds: int, lr: float, seeds: Sequence[int] = (0,)
    ) -> list[AgnosticFit]:
        """The same, with what tells whether it had ended, a seed each."""
        whole("rounds", rounds, 1)
        positive("lr", lr)
        train = data.train.to("cpu", torch.float64)
        if train.group is None or set(np.unique(train.group)) != {0, 1}:
            found = None if train.group is None else np.unique(train.group).tolist()
            raise ValueError(f"group must hold the groups 0 and 1 for AgnosticFair, got {found}")
        threads = torch.get_num_threads()
        torch.set_num_threads(1)  # several are slower at this size
        try:
            with torch.no_grad():
                return [_Run(self, model, train, seed).finish(rounds, lr) for seed in seeds]
        finally:
            torch.set_num_threads(threads)

    def bytes_per_round(self, model: Model, clients: int, element: int = 8) -> tuple[int, int]:
        """Down and up: parameters, α and the multipliers' difference; gradients and 2 M masked
        statistics.
        """
        numbers = secure.BITS // 8
        down = element * model.size + numbers * (self.kernels + 1)
        return clients * down, clients * (element * model.size + numbers * 2 * self.kernels)


class _Run:
    """One seed's run."""

    def __init__(self, rule: AgnosticFair, model: Model, train: ClientData, seed: int) -> None:
        self.rule, self.model, self.seed, self.names = rule, model, seed, train.names
        self.data = model.prepare(train)
        assert train.group is not None  # checked
        self.n = len(train.x)
        self.parts = [slice(a, b) for a, b in zip(train.offsets, train.offsets[1:], strict=False)]
        self.sums = 0
        x = train.x.numpy()
        moments = self.add(
            [np.concatenate([x[p].sum(0), (x[p] ** 2).sum(0)]) / self.n for p in self.parts]
        )
        mean, square = np.split(moments, 2)
        spread = np.sqrt(np.maximum(square - mean**2, 1e-12))
        share = self.add([np.array([train.group[p].sum() / self.n]) for p in self.parts])[0]
        self.away = train.group - share
        generator = np.random.default_rng([seed, 7])
        centres = generator.normal(size=(rule.kernels, x.shape[1]))
        square_distance = (((x - mean) / spread)[:, None, :] - centres).astype(float)
        scale = rule.width**2 * x.shape[1]
        self.kernel: Floats = np.exp(-0.5 * (square_distance**2).sum(2) / scale)
        self.mass = self.add([self.kernel[p].sum(0) / self.n for p in self.parts])
        self.even = 1 / self.mass.sum()

    def add(self, rows: list[Floats]) -> Floats:
        """A secure sum over the clients."""
        self.sums += 1
        return secure.unmask(
            secure.mask(np.array(rows), self.names, self.seed, self.sums, counter.ORDER)
        )

    def finish(self, rounds: int, lr: float) -> AgnosticFit:
        """Train."""
        rule, w = self.rule, self.model.init(self.seed)
        velocity, alpha, above = torch.zeros_like(w), np.full(rule.kernels, self.even), 0.0
        below = 0.0
        for t in range(rounds):
            risk, gap = self._sums(w)
            vertex = worst(risk + (above - below) * gap, self.mass, rule.cap * self.even)
            alpha = alpha + rule.rate / (t + 1) ** rule.decay * (vertex - alpha)
            found = float(alpha @ gap)
            over, under = found - rule.tau, -found - rule.tau
            above = max(0.0, above + rule.dual_rate * over)
            below = max(0.0, below + rule.dual_rate * under)
            # the augmented Lagrangian's slope: without the second terms w and the multipliers
            # circle each other
            pull = max(0.0, above + rule.penalty * over) - max(0.0, below + rule.penalty * under)
            velocity = rule.momentum * velocity + self._slope(w, alpha, pull)
            w = w - lr * velocity
        return self._fit(w, alpha, above - below)

    def _fit(self, w: Tensor, alpha: Floats, multiplier: float) -> AgnosticFit:
        risk, gap = self._sums(w)
        worth = risk + multiplier * gap
        regret = float((worst(worth, self.mass, self.rule.cap * self.even) - alpha) @ worth)
        slope = float(self._slope(w, alpha, multiplier).norm())
        return AgnosticFit(
            w, alpha, multiplier, float(alpha @ risk), float(alpha @ gap), slope, max(regret, 0.0)
        )

    def _sums(self, w: Tensor) -> list[Floats]:
        """(1/n) Σ K_m ℓ and (1/n) Σ K_m (a - mean) z, (M,) each: what the server learns of the
        people in a round.
        """
        losses, scores = self._forward(w)
        return np.split(self.add([self._statistics(losses, scores, p) for p in self.parts]), 2)

    def _slope(self, w: Tensor, alpha: Floats, pull: float) -> Tensor:
        """The sum of the clients' gradients."""
        return torch.stack([self._gradient(w, alpha, pull, p) for p in self.parts]).sum(0)

    def _forward(self, w: Tensor) -> tuple[Floats, Floats]:
        """Losses, and scores z = ℓ(0, ŷ) - ℓ(1, ŷ), which is the log odds of a model with log
        loss.
        """
        x, y = self.data.x[None], self.data.y[None]
        own, none, one = (
            self.model.losses(w[None], x, v)[0]
            for v in (y, torch.zeros_like(y), torch.ones_like(y))
        )
        return own.numpy(), (none - one).numpy()

    def _statistics(self, losses: Floats, scores: Floats, part: slice) -> Floats:
        kernel = self.kernel[part] / self.n
        return np.concatenate([losses[part] @ kernel, (self.away[part] * scores[part]) @ kernel])

    def _gradient(self, w: Tensor, alpha: Floats, pull: float, part: slice) -> Tensor:
        """Client's part of the gradient of (1/n) Σ θ (ℓ + pull (a - mean) z)."""
        theta = self.kernel[part] @ alpha / self.n
        x, y = self.data.x[None, part], self.data.y[None, part]
        lean = torch.from_numpy(pull * theta * self.away[part])[None]
        slope = self.model.gradient(w[None], x, y, torch.from_numpy(theta)[None])
        slope = slope + self.model.gradient(w[None], x, torch.zeros_like(y), lean)
        return (slope - self.model.gradient(w[None], x, torch.ones_like(y), lean))[0]


def worst(worth: Floats, mass: Floats, cap: float) -> Floats:
    """argmax of worth·α over 0 <= α <= cap, mass·α = 1: filled in the order of worth per mass, mass
    > 0.
    """
    order = np.argsort(-worth / mass, kind="stable")
    before = np.cumsum(cap * mass[order]) - cap * mass[order]
    alpha = np.empty_like(mass)
    alpha[order] = np.clip((1 - before) / mass[order], 0.0, cap)
    return alpha
