"""Generalisation bounds of q-FFL: from the clients' empirical losses to any mixture of clients
(theorem 11).

Client k has n_k samples, losses in [0, M], empirical loss F_k(h), expected loss L_k(h); L_lambda =
sum_k lambda_k L_k, and L~_q(h) = (sum_k F_k^(q+1))^(1/(q+1)), which is at least every F_k.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support import checks
from fairfl._support.checks import Array
from fairfl.theory.aggregation._checks import probabilities


def generalisation_bound(
    losses: ArrayLike,
    mixture: ArrayLike,
    q: float,
    *,
    bound: float,
    samples: ArrayLike,
    delta: float,
    complexity: float,
) -> Any:
    """||lambda||_p L~_q(h) + C + M sqrt(sum_k lambda_k^2 / (2 n_k) log(1/delta)), 1/p + 1/(q+1) =
    1; shape (...).

    With probability at least 1 - delta over the samples, L_lambda(h) is at most this for all h at
    once, for the *one* ``mixture`` lambda, chosen before the samples were seen. Lemma 10 says "for
    any lambda in Lambda", which the one application of McDiarmid's inequality does not give, and
    which is false: see ``uniform_generalisation_bound``.

    ``losses`` (..., m) = F_k(h) in [0, M]; ``mixture`` (m,), >= 0, sum one; ``bound`` M > 0;
    ``samples`` n_k, a whole number or (m,); ``delta`` in (0, 1); ``complexity`` C >= E max_h
    (L_lambda - L^_lambda), 0 for a single h. Errors: ValueError for whatever is outside these
    ranges. Source: q-FFL, lemma 10.
    """
    f, n, large, risk = _setting(losses, bound, samples, delta)
    weights = np.asarray(probabilities("mixture", mixture, positive=False))
    if weights.shape != f.shape[-1:]:
        raise ValueError(f"mixture must be {f.shape[-1]} weights, one a client, got {len(weights)}")
    power = _power(q)
    extra = float(checks.in_range("complexity", complexity, 0.0, np.finfo(float).max))
    spread = large * np.sqrt((weights**2 / (2 * n)).sum() * np.log(1 / risk))
    return _dual_norm(weights, power) * _qffl_norm(f, power) + extra + spread


def uniform_generalisation_bound(
    losses: ArrayLike,
    q: float,
    *,
    bound: float,
    samples: ArrayLike,
    delta: float,
    complexity: ArrayLike,
    mixture: ArrayLike | None = None,
    variant: str = "repaired",
) -> Any:
    """A bound of L_lambda(h) that holds for all h and all mixtures lambda at once; shape (...).

    Variant "repaired", with probability at least 1 - delta: L_lambda(h) is at most

        ||lambda||_p L~_q(h) + sum_k lambda_k (C_k + M sqrt(log(m/delta) / (2 n_k))),

    with ``complexity`` C_k >= E max_h (L_k - F_k), a number or (m,). Without a ``mixture`` its
    maximum over lambda is bounded, L~_q(h) + max_k (C_k + M sqrt(log(m/delta) / (2 n_k))): the norm
    is 1 at every vertex of the simplex. Proof: L_lambda - L^_lambda is linear in lambda, so it is
    enough to have McDiarmid's inequality for each client with delta / m. Mixtures may thus depend
    on the samples, as the dual weights of an objective do.

    Variant "printed" is theorem 11's right-hand side, L~_q(h) + max_lambda C + M sqrt(log(1/delta)
    / (2 min n_k)), with ``complexity`` = max over lambda of E max_h (L_lambda - L^_lambda), a
    number, and no ``mixture``. It is no bound: for m hypotheses, h_k with losses 0 off client k and
    fair coins on it, all m clients must keep within a deviation that was allowed for one. Errors:
    as for ``generalisation_bound``.
    Source: q-FFL, theorem 11; the repair is ours.
    """
    f, n, large, risk = _setting(losses, bound, samples, delta)
    checks.one_of("variant", variant, ("printed", "repaired"))
    power, m = _power(q), f.shape[-1]
    extra = checks.in_range("complexity", complexity, 0.0, np.finfo(float).max)
    if variant == "printed":
        if mixture is not None or extra.ndim:
            raise ValueError(
                "mixture must be None and complexity a number for the printed variant: it is a "
                "maximum"
            )
        return _qffl_norm(f, power) + extra + large * np.sqrt(np.log(1 / risk) / (2 * n.min()))
    each = checks.broadcast("complexity", extra, (m,), f"() or ({m},)") + large * np.sqrt(
        np.log(m / risk) / (2 * n)
    )
    if mixture is None:
        return _qffl_norm(f, power) + each.max()
    weights = checks.in_range("mixture", mixture, 0.0, 1.0)
    if weights.shape[-1:] != (m,) or (np.abs(weights.sum(-1) - 1) > 1e-10).any():
        raise ValueError(
            f"mixture must be {m} weights of sum one, one a client, got shape {weights.shape}"
        )
    return _dual_norm(weights, power) * _qffl_norm(f, power) + weights @ each


def _qffl_norm(f: Array, q: float) -> Any:
    """(sum_k F_k^(q+1))^(1/(q+1)), scaled so that no power overflows or underflows as a whole."""
    largest = f.max(-1)
    scaled = f / np.where(largest > 0, largest, 1.0)[..., None]
    with np.errstate(under="ignore"):
        return largest * (scaled ** (q + 1)).sum(-1) ** (1 / (q + 1))


def _dual_norm(weights: Array, q: float) -> Any:
    """||lambda||_p with p = (q+1)/q, the largest entry for q = 0."""
    largest = weights.max(-1)
    if q == 0:
        return largest
    p = (q + 1) / q
    with np.errstate(under="ignore"):
        return largest * ((weights / largest[..., None]) ** p).sum(-1) ** (1 / p)


def _power(q: float) -> float:
    return float(checks.in_range("q", q, 0.0, np.finfo(float).max))


def _setting(
    losses: ArrayLike, bound: float, samples: ArrayLike, delta: float
) -> tuple[Array, Array, float, float]:
    large = float(checks.positive("bound", bound))
    f = checks.in_range("losses", losses, 0.0, large)
    if f.ndim == 0 or f.shape[-1] == 0:
        raise ValueError(
            f"losses must have shape (..., m) with m >= 1 clients on the last axis, got {f.shape}"
        )
    n = checks.positive("samples", samples)
    if (n != np.round(n)).any():
        raise ValueError(f"samples must be whole numbers, got {n[n != np.round(n)][0]:g}")
    n = checks.broadcast("samples", n, f.shape[-1:], f"() or ({f.shape[-1]},)")
    risk = float(checks.in_range("delta", delta, 0.0, 1.0, open_low=True))
    if risk == 1:
        raise ValueError("delta must be below 1, got 1.0")
    return f, n, large, risk
