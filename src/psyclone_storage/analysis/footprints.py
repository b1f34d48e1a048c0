"""Legality of loop transformations, based on footprints.

A footprint is the set of accesses of a loop's iterations. Kernel metadata provide it for loops of a
schedule (`analysis.schedules.nests`), statements for loops of a subroutine
(`analysis.bodies.nests`). These functions are independent of API and language; each returns the
reasons why a transformation is illegal.
"""

from __future__ import annotations

from typing import Protocol, Self, TypeVar

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass

Reasons = tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class UserAssertions:
    """Properties of loops that a user asserts or permits.

    `same_space`: the bounds of dof loops agree, which metadata may not imply. `in_order`:
    iterations of a fused grid loop may depend on each other. `tested`: the program may compare grid
    bounds at run time. `sums`: sums may be reassociated.
    """

    same_space: bool = False
    in_order: bool = False
    tested: bool = False
    sums: bool = False


NO_ASSERTIONS = UserAssertions()


class Footprint(Protocol):
    """The accesses of the iterations of a loop.

    Each method returns diagnostics for violations of one property.
    """

    @property
    def inner(self) -> Self | None:
        """The loop that is the complete body, or None."""

    def check_nested(self) -> Reasons:
        """Return diagnostics if the body is not exactly one loop."""

    def check_known(self) -> Reasons:
        """Return diagnostics for statements with unknown accesses or jumps out of the loop."""

    def check_bounds(self) -> Reasons:
        """Return diagnostics if bounds of the loop or the inner loop may change during the loop."""

    def check_order(self) -> Reasons:
        """Return diagnostics for dependences that interchange with the inner loop would violate."""

    def check_strips(self) -> Reasons:
        """Return diagnostics if the loop cannot be strip-mined."""

    def check_alike(self, other: Self | None) -> Reasons:
        """Return diagnostics if `other`, the following loop, has a different iteration space."""

    def check_ahead(self, other: Self) -> Reasons:
        """Return diagnostics for dependences on `other` that fusion would violate."""

    def check_concurrent(self) -> Reasons:
        """Return diagnostics if the iterations must not run concurrently."""


AnyFootprint = TypeVar("AnyFootprint", bound=Footprint)


def check_swap(nest: Footprint) -> Reasons:
    """Return diagnostics if a loop and its inner loop must not be interchanged."""
    problems = nest.check_nested()
    return problems or (*nest.check_known(), *nest.check_bounds(), *nest.check_order())


def check_strip_mine(nest: Footprint) -> Reasons:
    """Return diagnostics if a loop cannot be strip-mined."""
    return (*nest.check_known(), *nest.check_strips())


def check_tile(nest: Footprint) -> Reasons:
    """Return diagnostics if a loop and its inner loop cannot be tiled."""
    strips = () if nest.inner is None else (*check_strip_mine(nest), *check_strip_mine(nest.inner))
    return tuple(dict.fromkeys((*check_swap(nest), *strips)))


def check_jam(nest: Footprint) -> Reasons:
    """Return diagnostics if a loop cannot be unrolled and jammed into its inner loop."""
    return tuple(dict.fromkeys((*check_swap(nest), *check_strip_mine(nest))))


def check_fuse(first: AnyFootprint, second: AnyFootprint | None) -> Reasons:
    """Return diagnostics if `second` must not be fused into `first`, the loop before it."""
    problems = first.check_alike(second)
    if problems or second is None:
        return problems
    return (*first.check_known(), *second.check_known(), *first.check_ahead(second))


def check_parallel(nest: Footprint) -> Reasons:
    """Return diagnostics if the iterations of a loop must not run concurrently."""
    return nest.check_concurrent()
