"""FedFB, tables 1 and 7: what both have, compared."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from fairfl.claims.forms import Case, Relation, caption, counterexample
from fairfl.studies.papers.fedfb import published_numbers as numbers


def repeated(instance: dict[str, Any]) -> Case:
    """Table 7 has in a column table 1's numbers of "row" under FedFB."""
    column, row = instance["column"], instance["row"]
    pair = numbers.TABLE_7[column, "FedFB"], numbers.TABLE_1[column, row]
    means = {name: [Fraction(table[name][0]) for table in pair] for name in numbers.MEASURES}
    return Case(tuple(Relation(a, "==", b, name) for name, (a, b) in means.items()))


CLAIMS = (
    caption(
        "fedfb/table-7",
        1653,
        "table 7: FedFB's numbers are those of table 1",
        r"Table 7: Comparison of accuracy and fairness in the synthetic, Adult, COMPAS, and Bank "
        r"datasets w.r.t demographic parity (DP) on multilayer perceptron. FedFB (Ours): .725, "
        r".051; .804, .028; .616, .036; .883, .000.",
        number="Table 7, appendix C.6",
        statement="FedFB on COMPAS: the same in tables 1 and 7.",
        scope="COMPAS; the other three data sets agree",
        check=counterexample(
            repeated,
            "COMPAS: .606, .086 in table 1 and .616, .036 in table 7, which are table 1's numbers "
            "of CFL",
            {"column": "COMPAS", "row": "FedFB"},
        ),
        mutants={"CFL": ("CFL's row of table 1", {"row": "CFL"})},
        erratum="Table 7 has CFL's row of table 1 (.616 ± .033, .036 ± .028) under FedFB. With "
        "table 1's own numbers (.606, .086) FedFB is less accurate than AgnosticFair on COMPAS "
        "(.612, .096).",
    ),
)
