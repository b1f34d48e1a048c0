"""What all quantities of one routine have in common: its schedule and its workspace.

This file also owns the few expressions that every other module of this room writes.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from psyclone_storage.backend import abi_lfric as abi
from psyclone_storage.backend.workspace import Section, Workspace
from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.ir.expr import Expr, Index, Literal, Member, Name, Range
from psyclone_storage.ir.schedule import Actual, Datum, KernelCall, Schedule
from psyclone_storage.ir.types import DataType, Intrinsic
from psyclone_storage.ir.unit import Declare


@dataclass(frozen=True, slots=True)
class Context:
    """A routine that is being lowered.

    `several_meshes` says that not all fields need be on one mesh, so that nothing which depends on
    the mesh may be shared between fields. `partial_sums` gives, for scalars that are reduced
    reproducibly, what a thread adds to instead; they are `padding` values apart, so that no two
    threads write to one line of a cache. `exact_sums` asks for sums that are rounded once.
    """

    schedule: Schedule
    work: Workspace
    several_meshes: bool
    partial_sums: Mapping[str, Expr] = field(default_factory=dict)
    exact_sums: bool = False
    padding: int = 8

    def datum(self, call: KernelCall, arg: int) -> Datum:
        """Return the datum that `call` passes for its argument at position `arg`."""
        return self.of(call.args[arg])

    def of(self, actual: Actual) -> Datum:
        """Return the datum behind an actual argument, which must not be a constant."""
        if actual.datum is None:
            raise InternalError("A constant was asked for its data.")
        return self.schedule.datum(actual.datum)


def constant(context: Context, value: Expr) -> Expr:
    """Return an expression of the algorithm, of which the kinds of literals are imported."""
    return context.work.constant(value)


def bound(base: Expr, procedure: str, *args: Expr) -> Expr:
    """Return the reference `base%procedure(args)`."""
    return Index(Member(base, procedure), args)


def whole(value: int) -> Literal:
    """Return an integer constant."""
    return Literal(str(value), Intrinsic.INTEGER)


def colons(rank: int) -> tuple[Range, ...]:
    """Return the shape of an array of which the extents are not declared."""
    return (Range(),) * rank


def number(context: Context, section: Section, key: Hashable, wish: str, value: Expr) -> Name:
    """Return the integer variable for `key`, which holds `value`."""
    return context.work.assigned(section, key, Declare(wish, abi.INTEGER), value)


def view(wish: str, data_type: DataType, rank: int) -> Declare:
    """Return the declaration of a pointer to an array without gaps.

    LFRic's own arrays are allocatables behind pointers, so they have none; saying so lets a
    compiler pass them to a kernel without a test, and vectorise loops over them.
    """
    return Declare(wish, data_type, ("contiguous",), colons(rank))
