"""A bound over a box, by ball arithmetic: a bisection of the box with a certain bound on each
leaf.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from fairfl.claims.call import Call
from fairfl.claims.certificates.base import ClaimCertificate, Level, Rejected, require
from fairfl.claims.exact import ball

Box = tuple[tuple[Fraction, Fraction], ...]
LEAF = "."


@dataclass(frozen=True)
class IntervalLeaves(ClaimCertificate):
    """margin(x) > 0 for every x in a box.

    Attributes
    ----------
    margin : [balls] -> arb, enclosing the margin over the ball; positive where the bound holds.
    box : (low, high) of each coordinate, "p/q".
    tree : the bisection in preorder: a digit splits that coordinate in half (at most ten), "." is a
        leaf. The halves meet, so the leaves cover the box by construction.
    precision : working precision in bits.
    """

    margin: Call
    box: tuple[tuple[str, str], ...]
    tree: str
    precision: int

    @property
    def level(self) -> Level:
        return "certified"

    def verify(self) -> None:
        with ctx.workprec(self.precision):
            for box in self.leaves():
                value = self.margin(balls(box))
                require(bool(value > 0), f"not certain on {_words(box)}: the margin is {value}")

    def leaves(self) -> Iterator[Box]:
        """The boxes of the leaves.

        Raises
        ------
        Rejected : the tree is not one, or splits a coordinate that is not there.
        """
        todo: list[Box] = [tuple((Fraction(low), Fraction(high)) for low, high in self.box)]
        require(all(low <= high for low, high in todo[0]) and len(todo[0]) > 0, "not a box")
        for letter in self.tree:
            if not todo:
                raise Rejected("the tree goes on after its last leaf")
            box = todo.pop()
            if letter == LEAF:
                yield box
                continue
            require(
                letter.isdigit() and int(letter) < len(box), f"no coordinate {letter!r} to split"
            )
            todo.extend(reversed(halves(box, int(letter))))
        require(not todo, f"the tree leaves {len(todo)} boxes undecided")

    def summary(self) -> str:
        where = " x ".join(f"[{low}, {high}]" for low, high in self.box)
        return (
            f"{self.margin} > 0 on {where}: {self.tree.count(LEAF)} boxes at {self.precision} bits"
        )


def halves(box: Box, axis: int) -> tuple[Box, Box]:
    """The two halves of the box."""
    low, high = box[axis]
    middle = (low + high) / 2
    return (
        (*box[:axis], (low, middle), *box[axis + 1 :]),
        (*box[:axis], (middle, high), *box[axis + 1 :]),
    )


def balls(box: Box) -> list[arb]:
    """Balls that hold the intervals of the box, at the working precision."""
    return [ball(low).union(ball(high)) for low, high in box]


def _words(box: Box) -> str:
    return " x ".join(f"[{float(low):.6g}, {float(high):.6g}]" for low, high in box)
