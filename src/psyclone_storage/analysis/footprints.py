"""Legality of loop transformations, on footprints.

A footprint is what the iterations of a loop touch. Metadata of kernels provide it for loops of a
schedule (`analysis.schedules.nests`), statements for loops of a subroutine
(`analysis.bodies.nests`). The functions here combine what a provider reports, and know
neither an API nor a language. Each returns the reasons against one transformation.
"""

from __future__ import annotations

from typing import Protocol, Self, TypeVar

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass

Reasons = tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class UserAssertions:
    """Properties of loops that a user asserts or permits.

    `same_space` means that the bounds of loops over dofs agree, which metadata may leave open;
    `in_order` that iterations of a fused loop over a grid may wait for each other; `tested` that
    the program may compare bounds on a grid when it runs; `sums` that sums may be rounded in
    another order.
    """

    same_space: bool = False
    in_order: bool = False
    tested: bool = False
    sums: bool = False


NO_ASSERTIONS = UserAssertions()


class Footprint(Protocol):
    """The data that the iterations of one loop touch.

    Each method reports what prevents one property of the loop.
    """

    @property
    def inner(self) -> Self | None:
        """The loop that is all of the body, if there is one."""

    def check_nested(self) -> Reasons:
        """Return why the body is not exactly one loop."""

    def check_known(self) -> Reasons:
        """Return which statements may touch anything or jump out of the loop."""

    def check_bounds(self) -> Reasons:
        """Return why the bounds of the loop and the inner loop may change between iterations."""

    def check_order(self) -> Reasons:
        """Return what another order of the iterations of the loop and the inner loop changes."""

    def check_strips(self) -> Reasons:
        """Return why the loop cannot count strips."""

    def check_alike(self, other: Self | None) -> Reasons:
        """Return why the iterations of the loop and of `other`, which follows it, differ."""

    def check_ahead(self, other: Self) -> Reasons:
        """Return what `other` would touch too early or too late in one loop with this one."""

    def check_concurrent(self) -> Reasons:
        """Return why the iterations must not run at the same time."""


AnyFootprint = TypeVar("AnyFootprint", bound=Footprint)


def check_swap(nest: Footprint) -> Reasons:
    """Return why a loop and the loop that is all of its body must not change places."""
    problems = nest.check_nested()
    return problems or (*nest.check_known(), *nest.check_bounds(), *nest.check_order())


def check_strip_mine(nest: Footprint) -> Reasons:
    """Return why a loop cannot be split into strips of iterations in the same order."""
    return (*nest.check_known(), *nest.check_strips())


def check_tile(nest: Footprint) -> Reasons:
    """Return why a loop and the loop that is all of its body cannot run in tiles."""
    strips = () if nest.inner is None else (*check_strip_mine(nest), *check_strip_mine(nest.inner))
    return tuple(dict.fromkeys((*check_swap(nest), *strips)))


def check_jam(nest: Footprint) -> Reasons:
    """Return why several iterations of a loop cannot share the loop that is all of its body."""
    return tuple(dict.fromkeys((*check_swap(nest), *check_strip_mine(nest))))


def check_fuse(first: AnyFootprint, second: AnyFootprint | None) -> Reasons:
    """Return why a loop must not become part of the one before it."""
    problems = first.check_alike(second)
    if problems or second is None:
        return problems
    return (*first.check_known(), *second.check_known(), *first.check_ahead(second))


def check_parallel(nest: Footprint) -> Reasons:
    """Return why the iterations of a loop must not run at the same time."""
    return nest.check_concurrent()
