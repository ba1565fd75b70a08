"""How hard a check tries."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Effort:
    """How hard a check tries.

    Attributes
    ----------
    name : "quick" or "deep".
    examples : instances to draw for a property.
    shrink : whether a violation is made small for readers; a mutant's is not shown.
    """

    name: str
    examples: int
    shrink: bool = True

    def pick(self, quick: int, deep: int) -> int:
        """The count for this effort: ``quick`` or ``deep``."""
        return deep if self.name == "deep" else quick


QUICK = Effort("quick", examples=40)
DEEP = Effort("deep", examples=10_000)
EFFORTS = {effort.name: effort for effort in (QUICK, DEEP)}
