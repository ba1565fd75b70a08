"""Random federations, and what must hold on each: the frontiers and minima of every scheme held
against random budgets.

A sweep audits many, and this file sums its tables up as audit.csv of the release:

    fairfl sweep tests/helpers/audit_finite.toml --import tests/helpers/audit.py --out finite
    python tests/helpers/audit.py finite/table.parquet ... --out audit.csv
"""

import argparse
import sys
import traceback
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

import fairfl as ff
from fairfl.solvers.solution import CertificationError

SCHEMES = ("cfl", "lft_ensemble", "lft_fedavg")


@dataclass(frozen=True)
class Finite:
    """A federation on a finite X: masses (I, 2, n), eta (n,), (I, n) or (I, 2, n), weight (I,)."""

    masses: np.ndarray
    eta: np.ndarray
    weight: np.ndarray

    @classmethod
    def random(cls, rng):
        clients = int(
            rng.choice(
                [2, 3, 4, 5, 6, 8, 12, 20, 30], p=np.array([20, 15, 12, 12, 15, 10, 8, 5, 3]) / 100
            )
        )
        n = int(rng.integers(2, 21))
        masses = rng.gamma(rng.choice([0.2, 1.0, 5.0]), size=(clients, 2, n)) + 1e-300
        if rng.random() < 0.3:  # people counted
            masses = np.maximum(rng.poisson(masses * rng.choice([2.0, 30.0])), 0.0)
        if rng.random() < 0.1:
            masses[rng.random(masses.shape) < 0.3] *= 1e-9
        masses[:, 0, rng.integers(n)] += 1e-3
        masses[:, 1, rng.integers(n)] += 1e-3
        if rng.random() < 0.1:  # a client without one of the groups
            masses[-1, rng.integers(2)] = 0.0
        shares = rng.beta(*((1, 1) if rng.random() < 0.7 else (30, 30)), size=clients)
        group = masses.sum(axis=2, keepdims=True)
        masses = np.divide(masses, group, out=np.zeros_like(masses), where=group > 0)
        masses *= np.stack([1 - shares, shares], axis=1)[:, :, None]
        masses /= masses.sum(axis=(1, 2), keepdims=True)
        shape = [(n,), (n,), (clients, n), (clients, 2, n)][rng.integers(4)]
        eta = rng.random(shape)
        if rng.random() < 0.7:
            eta = np.sort(eta, axis=-1)
        if rng.random() < 0.3:  # ties, and η of 0, 1/2 and 1
            eta = np.round(eta * 4) / 4
        weight = np.ones(clients) if rng.random() < 0.5 else rng.gamma(1.0, size=clients) + 0.01
        return cls(masses, eta, weight)

    def build(self):
        return ff.Federation.finite(
            np.arange(self.masses.shape[2]), self.masses, self.eta, self.weight
        )

    def relabelled(self):
        eta = self.eta[:, ::-1] if self.eta.ndim == 3 else self.eta
        return replace(self, masses=self.masses[:, ::-1], eta=eta)

    def permuted(self, order):
        eta = self.eta[order] if self.eta.ndim > 1 else self.eta
        return Finite(self.masses[order], eta, self.weight[order])


LAWS = ("mean", "sd", "q", "weight", "slope", "shift")


@dataclass(frozen=True)
class Densities:
    """Normal laws: mean, sd (I, 2), q, weight (I,), slopes and shifts of η by client and group."""

    mean: np.ndarray
    sd: np.ndarray
    q: np.ndarray
    weight: np.ndarray
    slope: np.ndarray
    shift: np.ndarray

    @classmethod
    def random(cls, rng):
        clients = int(rng.choice([2, 3, 4, 5, 6, 8], p=[0.35, 0.2, 0.15, 0.12, 0.1, 0.08]))
        shape = (clients, 2)
        wide = rng.random() < 0.4
        sd = (
            np.exp(rng.uniform(np.log(0.05), np.log(50), shape))
            if wide
            else rng.uniform(0.5, 2.5, shape)
        )
        mean = rng.normal(0, 2, shape) * (np.maximum(sd, 1) if wide else 1)
        q = (
            np.full(clients, rng.uniform(0.1, 0.9))
            if rng.random() < 0.3
            else rng.uniform(0.05, 0.95, clients)
        )
        weight = np.ones(clients) if rng.random() < 0.5 else rng.uniform(0.2, 3, clients)
        slope, shift = np.ones(shape), np.zeros(shape)
        kind = rng.integers(4)
        if kind == 2:
            slope = np.repeat(rng.uniform(0.3, 3, (clients, 1)), 2, axis=1)
            shift = np.repeat(rng.normal(size=(clients, 1)), 2, axis=1)
        if kind == 3:
            slope, shift = rng.uniform(0.3, 3, shape), rng.normal(size=shape)
        return cls(mean, sd, q, weight, slope, shift)

    def build(self):
        pairs = zip(self.slope, self.shift, strict=True)
        eta = [(ff.Logistic(s[0], t[0]), ff.Logistic(s[1], t[1])) for s, t in pairs]
        if (self.slope == 1).all() and (self.shift == 0).all():
            eta = None
        return ff.Federation.normal(self.mean, self.sd, self.q, self.weight, eta)

    def relabelled(self):
        two = {name: getattr(self, name)[:, ::-1] for name in ("mean", "sd", "slope", "shift")}
        return replace(self, q=1 - self.q, **two)

    def permuted(self, order):
        return replace(self, **{name: getattr(self, name)[order] for name in LAWS})


@dataclass(frozen=True)
class Odds(Densities):
    """The same under equalised odds, with η bounded away from 0 and 1 and not logistic: it rises
    from ``low`` to ``high`` like an arctangent about ``centre``.
    """

    low: float
    high: float
    centre: float

    @classmethod
    def random(cls, rng):
        laws = Densities.random(rng)
        fields = {name: getattr(laws, name)[:3] for name in LAWS}
        return cls(**fields, low=rng.uniform(0, 0.3), high=rng.uniform(0.7, 1), centre=rng.normal())

    def build(self):
        height = self.high - self.low
        eta = ff.Monotone(
            lambda x: self.low + height * (0.5 + np.arctan(x - self.centre) / np.pi),
            lambda p: self.centre + np.tan(np.pi * ((p - self.low) / height - 0.5)),
            self.low,
            self.high,
        )
        return ff.Federation.normal(self.mean, self.sd, self.q, self.weight, eta)


KINDS = {"finite": Finite, "densities": Densities, "odds": Odds}
NOTION = {"odds": "equalized_odds"}


def random_budgets(fed, count, rng, notion="demographic_parity"):
    """Budgets (count, I): even, scaled by the free rule's disparities, and sparse."""
    free = np.nan_to_num(ff.solve(fed, "lft_fedavg", 1.0, notion=notion).local_disparities)
    eps = rng.random((count, fed.n_clients)) * np.where(
        rng.random((count, 1)) < 0.7, 1.2 * free, 1.0
    )
    kind = rng.random(eps.shape)
    often = rng.random((count, 1)) * 0.5
    eps[kind < often] = 0.0
    eps[kind > 1 - rng.random((count, 1)) * 0.6] = 1.0
    return eps


def solved(fed, scheme, budgets, notion="demographic_parity"):
    """The certified solutions, as disparities and accuracies, NaN where there is none."""
    out = np.full((len(budgets), 2), np.nan)
    for k, eps in enumerate(budgets):
        try:
            s = ff.solve(fed, scheme, eps, notion=notion)
            out[k] = s.disparity, s.accuracy
        except CertificationError:
            continue
    return out.T


def audit(kind, seed, *, budgets=100, points=8, schemes=SCHEMES):
    """{(scheme, statement): by how much it fails}, at most 0 where it holds exactly."""
    rng = np.random.default_rng([seed, list(KINDS).index(kind)])
    specification = KINDS[kind].random(rng)
    fed, order = specification.build(), rng.permutation(len(specification.weight))
    turned, permuted = specification.relabelled().build(), specification.permuted(order).build()
    task = {"notion": NOTION.get(kind, "demographic_parity")}
    cfl = ff.frontier(fed, "cfl", points, **task)
    drawn_eps = random_budgets(fed, budgets, rng, **task)
    out = {}
    for scheme in schemes:

        def tell(statement, figure, scheme=scheme):
            worst = float(np.max(figure)) if np.size(figure) else 0.0
            out[scheme, statement] = (
                worst if np.isnan(worst) else max(out.get((scheme, statement), -np.inf), worst)
            )

        try:
            F = ff.frontier(fed, scheme, points, **task)
            fairest = ff.min_disparity(fed, scheme, **task)
            d = np.sort(np.append(F.disparity, rng.uniform(F.disparity[0], 1.0, 12)))
            accuracy = F.accuracy_at(d)
            tell("accuracy_at falls", -np.diff(accuracy))
            tell("frontier above CFL's", accuracy - cfl.accuracy_at(d))
            off, lost = abs(F.disparity[0] - fairest.disparity), fairest.accuracy - F.accuracy[0]
            tell("frontier starts elsewhere than min_disparity", off)
            tell("frontier begins below min_disparity's accuracy", lost)
            if scheme != "cfl":
                reached, got = solved(fed, scheme, drawn_eps, **task)
                tell("random budgets not certified (share)", np.mean(np.isnan(got)))
                reached, got = reached[~np.isnan(got)], got[~np.isnan(got)]
                gain = got - F.accuracy_at(np.maximum(reached, F.disparity[0]))
                tell("random budgets beat the frontier", gain)
                tell("random budgets beat the minimum", fairest.disparity - reached)
            same = np.broadcast_to(F.reproduced, F.disparity.shape)
            tell("points not reproduced (share)", 1 - np.mean(same))
            again = solved(fed, scheme, F.eps[same], **task)
            for name, row in zip(("disparity", "accuracy"), again, strict=True):
                change = np.abs(row - getattr(F, name)[same])
                tell(f"budgets solved again: {name}", [0, *change])
            tell("minimum not reproduced", 1 - np.mean(fairest.reproduced))
            if fairest.reproduced:
                again = solved(fed, scheme, [fairest.eps], **task)
                tell("minimum solved again: disparity", np.abs(again[0] - fairest.disparity))
                tell("minimum solved again: accuracy", np.abs(again[1] - fairest.accuracy))
            for name, twin in (("groups relabelled", turned), ("clients permuted", permuted)):
                curve = ff.frontier(twin, scheme, points, **task)
                tell(f"{name}: smallest disparity", abs(curve.disparity[0] - F.disparity[0]))
                above = d >= curve.disparity[0]
                tell(f"{name}: accuracy", np.abs(curve.accuracy_at(d[above]) - accuracy[above]))
        except Exception as error:
            out[scheme, f"raised {type(error).__name__}"] = 1.0
            trace = "".join(traceback.format_exception(error)[-2:])
            print(f"{kind} {seed} {scheme}: {trace}", file=sys.stderr, flush=True)
    return out


def audited(kind, seed, **settings):
    """:func:`audit`, a row a statement: a unit of a sweep."""
    rows = audit(kind, seed, **settings).items()
    return [
        {"scheme": scheme, "statement": name, "figure": figure} for (scheme, name), figure in rows
    ]


def summary(table):
    """A row for each kind, scheme and statement: how many federations, and the worst figure."""
    keys = ["kind", "scheme", "statement"]
    table = table.assign(figure=table.figure.fillna(np.inf))  # what is not a number is the worst
    by = table.sort_values("seed").groupby(keys)
    worst = table.loc[by.figure.idxmax()].set_index(keys)
    columns = {
        "federations": by.size(),
        "worst": worst.figure.map("{:.2g}".format),
        "seed": worst.seed,
        "above 1e-7": by.figure.agg(lambda figure: int((figure > 1e-7).sum())),
    }
    return pd.DataFrame(columns)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Sum up what sweeps have audited.")
    parser.add_argument("tables", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    summary(pd.concat(map(pd.read_parquet, arguments.tables))).to_csv(
        arguments.out, lineterminator="\n"
    )
