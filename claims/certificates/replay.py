"""One instance, evaluated again: a counterexample violates a statement, a witness satisfies it."""

from abc import abstractmethod
from dataclasses import dataclass, fields
from functools import cached_property
from typing import ClassVar, Self

from fairfl.claims.call import Call
from fairfl.claims.case import Case
from fairfl.claims.certificates.base import ClaimCertificate, compare_numbers, require
from fairfl.claims.exact import Instance, decode, encode
from fairfl.claims.words import Finding, Level


@dataclass(frozen=True)
class _Replay(ClaimCertificate):
    """A statement at an instance, as JSON data; ``numbers`` of its first relations, "2/7 == 3/11; 0
    < 0.123457", which a statement with another factor or exponent has otherwise.
    """

    statement: Call[Case]
    instance: Instance
    shows: str
    numbers: str = ""

    @classmethod
    def at(
        cls, statement: Call[Case], shows: str, numbers: str = "", /, **instance: object
    ) -> Self:
        """The certificate for this instance, encoded."""
        return cls(statement, encode(instance), shows, numbers)

    def __getstate__(self) -> dict[str, object]:
        """The fields, for another process: the numbers of a case may not leave this one."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def case(self) -> Case:
        """The statement at the instance."""
        return self.statement(decode(self.instance))

    @property
    def level(self) -> Level:
        """Certified where every number is exact or a ball, numeric where one is a float."""
        return "certified" if self.case.exact else "numeric"

    def verify(self) -> None:
        violated = [name for name, holds in self.case.premises.items() if not holds]
        require(not violated, f"the instance breaks the premises {', '.join(violated)}")
        self._judge(self.case)
        compare_numbers((r.numbers for r in self.case.relations), self.numbers)

    def premises(self) -> frozenset[str]:
        return frozenset(self.case.premises)

    @abstractmethod
    def _judge(self, case: Case) -> None: ...

    def summary(self) -> str:
        numbers = f" ({self.numbers})" if self.numbers else ""
        return f"{type(self).__name__.lower()}: {self.shows}{numbers}"


@dataclass(frozen=True)
class Counterexample(_Replay):
    """An instance at which every premise holds, and a relation of the statement certainly fails."""

    finding: ClassVar[Finding] = "refuted"

    def _judge(self, case: Case) -> None:
        relations = "; ".join(map(str, case.relations))
        require(case.broken is not None, f"no relation certainly fails: {relations}")


@dataclass(frozen=True)
class Witness(_Replay):
    """An instance at which every premise and relation holds: it proves an existence claim."""

    def _judge(self, case: Case) -> None:
        unsure = [str(r) for r in case.relations if not r.holds()]
        require(not unsure, f"not certain: {'; '.join(unsure)}")
