"""Instances beside algebra: they hold its model to numbers, and give no level."""

from dataclasses import dataclass

from fairfl.claims.certificates.base import ClaimCertificate, require
from fairfl.claims.words import LEVELS, Level


@dataclass(frozen=True)
class Beside(ClaimCertificate):
    """The same statement at instances, computed another way than in the algebra beside them.

    Attributes
    ----------
    parts : certificates that hold. They are verified, and refute variants of the statement; the
        level is that of the algebra, which shows it for all instances.
    """

    parts: tuple[ClaimCertificate, ...]

    @property
    def level(self) -> Level:
        return LEVELS[0]  # the strongest: it lowers none

    def verify(self) -> None:
        for part in self.parts:
            require(part.finding == self.finding, f"beside algebra must hold: {part.summary()}")
            part.verify()

    @property
    def inner(self) -> tuple[ClaimCertificate, ...]:
        return self.parts

    def summary(self) -> str:
        return f"beside it: {'; '.join(part.summary() for part in self.parts)}"
