"""Property tests at run time: instances drawn by hypothesis."""

from __future__ import annotations

from fairfl.claims.call import Call
from fairfl.claims.certificates.property_run import PropertyRun
from fairfl.claims.claim import Effort
from fairfl.claims.draws import Tally, draw


def explore(
    statement: Call,
    draws: Call,
    effort: Effort,
    *,
    tolerance: float = 1e-9,
    seed_: int = 0,
    examples: int | None = None,
) -> PropertyRun:
    """Test a statement on drawn instances.

    The first violation stops the search, shrunk by hypothesis where the effort asks for it: the
    certificate holds it as its worst, and is rejected when it is verified.

    Parameters
    ----------
    statement : instance -> :class:`Case`; instances are dicts of JSON data and fractions.
    draws : () -> strategy of instances that satisfy the premises; those that do not are counted as
        discarded. By its name they are drawn again when the certificate is verified.
    effort : how many.
    tolerance : margins above minus this are taken for rounding.
    seed_ : of the draws.
    examples : how many, in place of the effort's.
    """
    tally = Tally(statement)
    wanted = examples if examples is not None else effort.examples
    draw(tally, draws, wanted, tolerance, seed_, shrink=effort.shrink)
    return PropertyRun(
        statement=statement,
        tolerance=tolerance,
        worst=tally.worst(),
        draws=draws,
        asked=wanted,
        examples=tally.examples,
        discarded=tally.discarded,
        seed=seed_,
    )
