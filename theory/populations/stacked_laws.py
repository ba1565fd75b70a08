"""The laws of x of all clients and groups, evaluated together; normal ones five times faster."""

from collections.abc import Callable, Sequence

import numpy as np
import scipy

from fairfl._support.checks import Array
from fairfl.theory.populations.laws import Law, Normal

Table = Sequence[tuple[Law, ...]]


class StackedLaws:
    """The laws of I clients, for each group a: of any kind, one by one."""

    def __init__(self, laws: Table) -> None:
        self.laws = laws

    def sf(self, a: int, t: Array) -> Array:
        """P(X > t | a, i) for every client: shape (I, *t.shape)."""
        return np.stack([np.asarray(pair[a].sf(t), dtype=np.float64) for pair in self.laws])

    def sf_of(self, a: int, t: Array, client: Array) -> Array:
        """P(X > t_b | a, client_b), element by element: t (B,), client (B,) -> (B,)."""
        return self._per_client(client, t, lambda i, at: self.laws[i][a].sf(at))

    def log_tails_of(self, a: int, t: Array, client: Array) -> tuple[Array, Array]:
        """log P(X > t_b) and log P(X <= t_b) in group a of client_b: (B,) twice."""
        with np.errstate(divide="ignore"):
            above = self._per_client(client, t, lambda i, at: self.laws[i][a].logsf(at))
            below = self._per_client(client, t, lambda i, at: self.laws[i][a].logcdf(at))
        return above, below

    @staticmethod
    def _per_client(client: Array, t: Array, function: Callable[[int, Array], Array]) -> Array:
        out = np.empty(t.shape)
        for i in np.unique(client):
            rows = client == i
            out[rows] = function(int(i), t[rows])
        return out

    def own_log_tails(self, a: int, t: Array) -> tuple[Array, Array]:
        """``log_tails_of`` with each client at its own points: t (I, ...) -> (I, ...) twice."""
        client = np.repeat(np.arange(len(t)), t[0].size)
        above, below = self.log_tails_of(a, t.ravel(), client)
        return above.reshape(t.shape), below.reshape(t.shape)

    def pdf(self, a: int, x: Array) -> Array:
        """Densities p_a^(i)(x): shape (I, *x.shape)."""
        return np.stack([np.asarray(pair[a].pdf(x), dtype=np.float64) for pair in self.laws])

    def interval_masses(self, a: int, low: Array, high: Array) -> Array:
        """P(low < X <= high | a, i): shape (I, *low.shape), relative accuracy in both tails."""
        rows = []
        for pair in self.laws:
            lower = pair[a].cdf(low)
            rows.append(
                np.where(lower > 0.5, pair[a].sf(low) - pair[a].sf(high), pair[a].cdf(high) - lower)
            )
        return np.stack(rows)


class NormalLaws(StackedLaws):
    """Normal laws with means and standard deviations (I, A)."""

    def __init__(self, laws: Table) -> None:
        super().__init__(laws)
        self.mean = np.array([[law.mean for law in pair] for pair in laws])  # type: ignore[attr-defined]
        self.sd = np.array([[law.sd for law in pair] for pair in laws])  # type: ignore[attr-defined]

    def _standard(self, a: int, x: Array, axes: int) -> Array:
        """(x - mean_i) / sd_i in group a, over ``axes`` trailing axes."""
        shape = (-1, *([1] * axes))
        return (x - self.mean[:, a].reshape(shape)) / self.sd[:, a].reshape(shape)

    def sf(self, a: int, t: Array) -> Array:
        return scipy.special.ndtr(-self._standard(a, t, np.ndim(t)))

    def sf_of(self, a: int, t: Array, client: Array) -> Array:
        return scipy.special.ndtr((self.mean[client, a] - t) / self.sd[client, a])

    def log_tails_of(self, a: int, t: Array, client: Array) -> tuple[Array, Array]:
        z = (t - self.mean[client, a]) / self.sd[client, a]
        return scipy.special.log_ndtr(-z), scipy.special.log_ndtr(z)

    def own_log_tails(self, a: int, t: Array) -> tuple[Array, Array]:
        z = self._standard(a, t, t.ndim - 1)  # without a copy of the parameters for each point
        return scipy.special.log_ndtr(-z), scipy.special.log_ndtr(z)

    def pdf(self, a: int, x: Array) -> Array:
        z = self._standard(a, x, x.ndim)
        return np.exp(-0.5 * z * z) / (
            self.sd[:, a].reshape(-1, *([1] * x.ndim)) * np.sqrt(2 * np.pi)
        )

    def interval_masses(self, a: int, low: Array, high: Array) -> Array:
        first, last = self._standard(a, low, 1), self._standard(a, high, 1)
        mirror = first > 0  # in the upper tail difference the survival functions
        return scipy.special.ndtr(np.where(mirror, -first, last)) - scipy.special.ndtr(
            np.where(mirror, -last, first)
        )


def stack(laws: Table) -> StackedLaws:
    """The laws as a stack."""
    normal = all(isinstance(law, Normal) for pair in laws for law in pair)
    return NormalLaws(laws) if normal else StackedLaws(laws)
