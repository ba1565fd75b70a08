"""Claims of: Relative Fair Federated Learning."""

from fairfl.claims.claim import Paper

PAPER = Paper(
    key="pffl",
    title="Relative Fair Federated Learning",
    authors="A.-A. Iacob",
    text="a manuscript without date, venue or address",
    names={"p": "the weights", "columns": "of table 1"},
)
