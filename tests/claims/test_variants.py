"""False variants of claims, put into their code: the checks must not pass them.

A row is a claim, the file and the texts that are replaced in it. They are of three kinds: beside a
proof, where Python alone is wrong; where both sides of an identity came from one model, or a slack
was the model; and a hypothesis that is left out of the text.
"""

# ruff: noqa: E501 - a variant is a line

import sys
from importlib import import_module
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

import fairfl.claims
from fairfl.claims.certificates import kernel_proof
from fairfl.claims.effort import QUICK
from fairfl.claims.outcome import examine

ROOT = "fairfl.claims."
A1, FIRST = "propfair/theorem-A.1/repaired", "propfair/conjugate-fedavg"
MORE = " + Fraction(9, 1000)"
VARIANTS = [
    # beside a proof
    (A1, "propfair.theorem_A_1", "reduce(arb.min, squared_gradients(instance, world.eta, world.law))", "squared_gradients(instance, world.eta, world.law)[-1]"),
    (A1, "propfair.theorem_A_1", "Fraction(min(steps)) if law", "Fraction(max(steps)) if law"),
    (A1, "propfair.theorem_A_1", "k**4 for k in steps", "k**2 for k in steps"),
    (A1, "propfair.theorem_A_1", "sum(chances) == 1", "abs(sum(chances) - 1) * 1000 <= 9"),
    (A1, "propfair.rounds", "(ball(second) + drift)", "ball(second)"),
    (A1, "propfair.rounds", "return sum((x * x for x in p), Fraction(0)) * sum", "return Fraction(1, len(p)) * sum"),
    ("propfair/theorem-3.3/repaired", "propfair.cosines", "left = min(expected(instance, eta))", "left = expected(instance, eta)[-1]"),
    ("propfair/theorem-3.3-full", "propfair.cosines", "a([k**2 * (s", "a([k * (s"),
    (FIRST, "propfair.conjugates", "a == Fraction(scale, n) for a in x", "abs(a - Fraction(scale, n)) <= Fraction(1, 100) for a in x"),
    ("propfair/conjugate-term", "propfair.conjugates", "sum(x, Fraction(0)) == 1", "abs(sum(x, Fraction(0)) - 1) * 1000 <= 9"),
    ("propfair/conjugate-term", "propfair.conjugates", "min(x) >= 0", "min(x) >= -Fraction(1, 200)"),
    ("propfair/conjugate-afl", "propfair.conjugate_qffl", "sum(positive) <= total", f"sum(positive) <= total{MORE}"),
    ("propfair/conjugate-afl", "propfair.conjugate_qffl", "sum(weights) == total", "abs(sum(weights) - total) * 50 <= 1"),
    ("propfair/conjugate-qffl/repaired", "propfair.conjugate_qffl", "ball(1 + shift)", f"ball(1 + shift{MORE})"),
    ("propfair/conjugate-propfair", "propfair.conjugates", "if product >= threshold", "if product >= threshold - Fraction(1, 500)"),
    ("propfair/generalized-means-limits", "propfair.generalized_means", "min(f) >= 0", "min(f) >= -Fraction(1, 100)"),
    ("propfair/proposition-2.3", "propfair.nash_product", "slope <= 0 else [", "slope <= Fraction(1, 10) else [", "worth if slope > 0", "worth if slope > Fraction(1, 10)"),
    ("pffl/eq-3", "pffl.rank_weights", "min(u) >= 0", "min(u) >= -Fraction(1, 200)"),
    ("pffl/conjugate", "pffl.conjugate", "sum(ranked[:k]) <= caps * sum(w[:k])", "sum(ranked[:k]) <= caps * sum(w[:k]) + Fraction(1, 1000)"),
    ("fedfb/lemma-14", "fedfb.lemma_12", "eps < erm", "eps < erm * 101 / 100"),
    ("fedfb/lemma-15", "fedfb.lemma_15", "{**common(world), \"same\"", "{\"same\""),
    ("fedfb/lemma-10", "fedfb.lemma_10", "len(set(world.q)) == 1", "len(world.q) > 1"),
    ("fedfb/lemma-16/repaired", "fedfb.worlds", "self.clients[i].shares[a] for i in members", "HALF for i in members"),
    ("fedfb/lemma-16/repaired", "fedfb.lemma_16", "eps < start,\n        \"g_i increase\"", "eps < start * 101 / 100,\n        \"g_i increase\""),
    ("fedfb/lemma-15", "fedfb.lemma_15", "<= instance[\"part\"] < 1", "<= instance[\"part\"] < Fraction(101, 100)"),
    ("fedfb/lemma-7/repaired", "fedfb.worlds", "HALF - lam / (2 * (1 - self.q))", "HALF - lam / (2 * self.q)"),
    ("fedfb/lemma-20/repaired", "fedfb.lemma_10", "j**2 * s * e", "j * s * e"),
    ("fedfb/theorem-24/repaired", "fedfb.theorem_24", "max(abs(lams[0] - goal) - sum(used, ZERO), *after)", "max(abs(lams[0] - goal) - sum(used, ZERO), used[-1] / 2)"),
    ("pffl/relative", "pffl.rank_weights", "strict: bool = True", "strict: bool = False"),
    ("qffl/lemma-10/repaired", "qffl.generalization", "norm(mixture, (q + 1) / q if q else None)", "norm(mixture, q + 1)"),
    # one model on both sides
    ("fedfb/lemma-23/repaired", "fedfb.bilevel", "(2 * shares[a], {a: -1})", "(shares[a], {a: -1})"),
    ("fedfb/lemma-25/repaired", "fedfb.bilevel", "{\"0*\": (shares[0], {})}", "{\"0*\": (shares[1], {})}"),
    ("fedfb/lemma-26/repaired", "fedfb.bilevel", "(shares[y], dict.fromkeys(index.values(), -1))", "(shares[0], dict.fromkeys(index.values(), -1))"),
    ("fedfb/lemma-27/repaired", "fedfb.bilevel", "{\"0\": (1, dict", "{\"0\": (2, dict"),
    ("fedfb/theorem-24/repaired", "fedfb.bilevel", "(2 * shares[a], {a: -1})", "(shares[a], {a: -1})"),
    ("fedfb/algorithm-2-weights/repaired", "fedfb.client_objectives", "2 * people[a] / sum(people.values()) for a in \"01\"", "people[a] / sum(people.values()) for a in \"01\""),
    ("fedfb/algorithm-3/repaired", "fedfb.client_objectives", "people[\"0*\"] / total\n    local", "people[\"10\"] / total\n    local"),
    ("fedfb/algorithm-3/repaired", "fedfb.client_objectives", "n[c] * v[c] / people[c] for c", "n[c] * v[c] / total for c"),
    ("fedfb/secagg", "fedfb.proposition_5", "prime[1, 0] + prime[0, 1] - prime[1, 1]", "prime[1, 0] - prime[0, 1] + prime[1, 1]"),
    ("fedfb/lemma-18/sufficient", "fedfb.finite_worlds", "return self.weight[i] * (", "return ("),
    ("dynamic/eq-5-6", "dynamic.expansion", "c * eta**2 * square / 2\n", "c * eta**2 * square\n", "divisor: str = \"2\"", "divisor: str = \"1\""),
    ("dynamic/ngd-bounds", "dynamic.ngd", "c * (eta / length) ** 2 * length**2 / 2", "c * (eta / length) ** 2 * length**2", "divisor: str = \"2\"", "divisor: str = \"1\""),
    ("dynamic/ngd-fair", "dynamic.ngd", "(-length + p) - (length - q)", "(-length / 2 + p) - (length - q)", "2 * eta * z / (1 + z)]", "3 * eta * z / (2 + 2 * z)]", "needed: str = \"2\"", "needed: str = \"3/2\""),
    ("dynamic/theorem-2/repaired", "dynamic.theorem_2", "gap(instance, fedavg), \"<\", gap(instance, normalised)", "gap(instance, normalised), \"<\", gap(instance, fedavg)"),
    ("dynamic/gb/repaired", "dynamic.definitions", "0, \"<\", value, \"fair: GB\"", "Fraction(1, 10), \"<\", value, \"fair: GB\""),
    ("qffl/lemma-8/repaired", "qffl.lemma_8", "ball(q + 1) ** 2 * X * X", "ball(q + 1) * X * X"),
    ("propfair/smoothness-direct", "propfair.smoothness", "factor, printed = M / 2,", "factor, printed = M / 4,", "way=\"split\", c=1", "way=\"split\", c=Fraction(1, 2)", "c=Fraction(1), moved", "c=Fraction(1, 2), moved"),
    ("qffl/lemma-12", "qffl.lemma_12", "factor * q * f", "factor * q / 2 * f", "outer = q * f ** (q - 1)\n    bound", "outer = q * f ** (q - 1) / 2\n    bound"),
    ("propfair/theorem-3.3-full", "propfair.theorem_3_3", "9 * M**2 * steep**2", "4 * M**2 * steep**2"),
    # a hypothesis left out
    ("dynamic/gb/repaired", "dynamic.definitions", "    \"groups\": \"at least two groups have joined\",\n", ""),
    ("propfair/conjugate-term", "propfair.conjugates", ", \"alpha\": \"alpha > 0\"", ""),
    ("fedfb/lemma-9/repaired", "fedfb.lemmas_8_and_9", "                \"g increases\": \"g is strictly increasing, as the proof of lemma 7 says\",\n", ""),
]  # fmt: skip


@pytest.fixture
def changed(monkeypatch):
    """Import a paper's claims anew, one of its files with other texts."""

    def imported(id, module, *texts):
        paper = f"{ROOT}{id.partition('/')[0]}."
        for name in [name for name in sys.modules if name.startswith(paper)]:
            monkeypatch.delitem(sys.modules, name)
        plain = SourceFileLoader.get_code

        def get_code(loader, name):
            if name != ROOT + module:
                return plain(loader, name)
            source = Path(loader.path).read_text("utf-8")
            for old, new in zip(texts[::2], texts[1::2], strict=True):
                assert old in source, f"{module} must have {old!r}"
                source = source.replace(old, new)
            return compile(source, loader.path, "exec")

        monkeypatch.setattr(SourceFileLoader, "get_code", get_code)
        folder = Path(fairfl.claims.__path__[0]) / id.partition("/")[0]
        modules = (import_module(paper + file.stem) for file in sorted(folder.glob("*.py")))
        claims = (claim for module in modules for claim in getattr(module, "CLAIMS", ()))
        return next(form for claim in claims for form in claim.forms() if form.id == id)

    token = kernel_proof.COMPILING.set(False)  # Python's part must notice
    yield imported
    kernel_proof.COMPILING.reset(token)


@pytest.mark.every(6)
@pytest.mark.parametrize(("id", "module", "texts"), [(*row[:2], row[2:]) for row in VARIANTS])
def test_a_false_variant_does_not_pass(id, module, texts, changed):
    outcome = examine(changed(id, module, *texts), QUICK)
    assert outcome.fault or outcome.finding != "holds" or outcome.survivors
