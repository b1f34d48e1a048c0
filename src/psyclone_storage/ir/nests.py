"""Loop nests, whether their loops are those of a schedule or of a Fortran subroutine."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from psyclone_storage.ir.schedule import Loop
from psyclone_storage.ir.unit import Blank, Comment, Do


class Nest(Protocol):
    """A loop with the statements in it: `schedule.Loop` or `unit.Do`."""

    @property
    def uid(self) -> str:
        """The name that the loop keeps when the loops around it change."""

    @property
    def body(self) -> tuple[Any, ...]:
        """The statements in the loop."""


AnyLoop = TypeVar("AnyLoop", Loop, Do)
"""A loop of one kind: rewrites of a nest return loops of the kind that they got."""


def inner_loop(outer: AnyLoop) -> AnyLoop | None:
    """Return the loop that is all of the body of `outer`, except for comments."""
    match statements_of(outer):
        case [inner] if isinstance(inner, type(outer)):
            return inner
    return None


def statements_of(nest: Nest) -> list[Any]:
    """Return the statements directly in a loop, without comments and empty lines."""
    return [item for item in nest.body if not isinstance(item, Comment | Blank)]
