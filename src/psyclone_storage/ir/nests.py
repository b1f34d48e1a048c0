"""A common interface to loops of a schedule and of a Fortran subroutine."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from psyclone_storage.ir.schedule import Loop
from psyclone_storage.ir.unit import Blank, Comment, Do


class Nest(Protocol):
    """A loop with its body: `schedule.Loop` or `unit.Do`."""

    @property
    def uid(self) -> str:
        """The identifier of the loop, which does not change when other loops change."""

    @property
    def body(self) -> tuple[Any, ...]:
        """The statements in the loop."""


AnyLoop = TypeVar("AnyLoop", Loop, Do)
"""A loop of one kind: rewrites of a nest return loops of the kind that they got."""


def inner_loop(outer: AnyLoop) -> AnyLoop | None:
    """Return the loop that is the only statement in `outer`, ignoring comments; None otherwise."""
    match statements_of(outer):
        case [inner] if isinstance(inner, type(outer)):
            return inner
    return None


def statements_of(nest: Nest) -> list[Any]:
    """Return the statements directly in a loop, without comments and blank lines."""
    return [item for item in nest.body if not isinstance(item, Comment | Blank)]
