"""Arguments of calls and their overlap: `Argument` and `DataAccess`.

An argument is one access of one call, exchange or global reduction to one datum. It finds the
arguments before and after it that it depends on, or that depend on it; `analysis.schedules.access`
compares the accessed regions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable

from psyclone_storage.analysis.schedules import access as analysis
from psyclone_storage.analysis.schedules.dependence import data_uses
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.ir.expr import spell
from psyclone_storage.ir.kernel import Access, ArgKind, KernelArg
from psyclone_storage.ir.schedule import GlobalReduction, HaloExchange, KernelCall, Schedule
from psyclone_storage.scripting.node import Node


@dataclass(frozen=True, slots=True)
class FieldSpace:
    """A function space, by the name that metadata give it."""

    orig_name: str


class PassesArguments(Node, ABC):
    """A node that does something to data."""

    __slots__ = ()

    @property
    @abstractmethod
    def args(self) -> tuple[Argument, ...]:
        """The access and its data."""

    @property
    @abstractmethod
    def schedule(self) -> Node:
        """The schedule that it is in."""


@dataclass(frozen=True, slots=True)
class Argument:
    """An access of one call, exchange or global reduction to one datum, or a constant passed.

    `use` is what analysis knows of it, `maybe` are accesses to data that may be the same object;
    `described` is what metadata say, None where nothing is passed to a kernel. `call` is the node.
    """

    use: analysis.DataUse
    call: Node | None = None
    described: KernelArg | None = None
    maybe: tuple[analysis.DataUse, ...] = field(default=(), repr=False)

    @property
    def name(self) -> str:
        """The name of the datum, or the constant."""
        return self.use.datum

    @property
    def access(self) -> str:
        """The access: `read`, `write`, `readwrite`, `inc`, `readinc`, `reduction`."""
        return self.use.access.value

    @property
    def intent(self) -> str:
        """The intent in a subroutine: `in`, `out` or `inout`."""
        access = self.use.access
        if not access.writes:
            return "in"
        return "out" if access is Access.WRITE else "inout"

    @property
    def components(self) -> tuple[int, ...]:
        """The accessed components of a field vector, from 1; 1 for anything else."""
        return tuple(sorted(self.use.components))

    @property
    def vector_size(self) -> int:
        """The number of components in metadata; 1 unless it is a field vector."""
        return self.described.vector if self.described else 1

    @property
    def kind(self) -> str:
        """The kind: `field`, `operator`, `scalar` and so on, `field` for an exchange."""
        return (self.described.kind if self.described else ArgKind.FIELD).value

    @property
    def is_scalar(self) -> bool:
        """Return whether it is a scalar or an array of scalars."""
        return self.described is not None and self.described.kind.is_scalar

    @property
    def is_literal(self) -> bool:
        """Return whether a constant or an expression is passed instead of a datum."""
        return not self.use.components

    @property
    def function_space(self) -> FieldSpace | None:
        """The function space, or the points of a grid; None where metadata name none."""
        space = self.described.space if self.described else ""
        return FieldSpace(space) if space else None

    @property
    def stencil(self) -> str | None:
        """The shape of the neighbours that the kernel looks at, as metadata have it, or None."""
        shape = self.described.stencil if self.described else None
        return shape if shape is None else str(shape.value)

    # ------------------------------------------------------------------ dependences

    def forward_dependence(self) -> Argument | None:
        """Return the next argument that must stay after this one, or None."""
        return next(iter(self._found(self._after(), _conflict)), None)

    def backward_dependence(self) -> Argument | None:
        """Return the nearest argument that must stay before this one, or None."""
        return next(iter(self._found(self._before(), _conflict)), None)

    def forward_read_dependencies(self) -> list[Argument]:
        """Return the arguments that read what is written here, until all of it is overwritten."""
        return self._found(self._after(), _writes_what_is_read)

    def forward_write_dependencies(self, ignore_halos: bool = False) -> list[Argument]:
        """Return the next arguments that overwrite what is read here, exchanges or not."""
        return self._found(self._after(ignore_halos), _reads_what_is_written)

    def backward_read_dependencies(self) -> list[Argument]:
        """Return the arguments before that read what is overwritten here, since it was written."""
        return self._found(self._before(), _writes_what_is_read)

    def backward_write_dependencies(self, ignore_halos: bool = False) -> list[Argument]:
        """Return the arguments that wrote what is read here, nearest first, exchanges or not."""
        return self._found(self._before(ignore_halos), _reads_what_is_written)

    def _before(self, ignore_halos: bool = False) -> list[Argument]:
        nodes, at = self._sequence()
        return _of(reversed(nodes[:at]), ignore_halos)

    def _after(self, ignore_halos: bool = False) -> list[Argument]:
        nodes, at = self._sequence()
        return _of(nodes[at + 1 :], ignore_halos)

    def _sequence(self) -> tuple[list[PassesArguments], int]:
        """Return all nodes of the schedule that touch data, in order, and where this one is."""
        call = self.call
        if not isinstance(call, PassesArguments):
            return [], 0
        found = call.schedule.walk(PassesArguments)
        return found, found.index(call)

    def _found(self, others: Iterable[Argument], counts: _Counts) -> list[Argument]:
        """Return those of `others`, nearest first, that count, until writes have covered all."""
        access = analysis.AccessCoverage(self.use)
        found = []
        for other in others:
            common = access.remaining & other.use.components
            certain = other.use.datum == self.use.datum and bool(common)
            if (certain or self._may_meet(other)) and counts(self, other):
                found.append(other)
            if certain and other.use.access.writes:
                access.update_coverage(other.use)
                if access.covered:
                    break
        return found

    def _may_meet(self, other: Argument) -> bool:
        """Return whether the two may be of one object under two names."""
        pairs = [(self.use, one) for one in other.maybe] + [(other.use, one) for one in self.maybe]
        return any(analysis.AccessCoverage(first).overlaps(second) for first, second in pairs)


_Counts = Callable[[Argument, Argument], bool]


def _conflict(this: Argument, other: Argument) -> bool:
    return this.use.access.writes or other.use.access.writes


def _writes_what_is_read(this: Argument, other: Argument) -> bool:
    return this.use.access.writes and other.use.access.reads


def _reads_what_is_written(this: Argument, other: Argument) -> bool:
    return this.use.access.reads and other.use.access.writes


def _of(nodes: Iterable[PassesArguments], ignore_halos: bool) -> list[Argument]:
    args = [arg for node in nodes for arg in node.args]
    return [arg for arg in args if not (ignore_halos and arg.use.exchange)]


class Arguments(tuple[str, ...]):
    """The names of what a call is passed, in order; `args` are the arguments themselves."""

    args: tuple[Argument, ...]

    def __new__(cls, args: tuple[Argument, ...]) -> Arguments:
        """Return the names of `args`, which knows them."""
        made = super().__new__(cls, (arg.name for arg in args))
        made.args = args
        return made

    @property
    def names(self) -> list[str]:
        """The names alone, as a list."""
        return list(self)


class DataAccess:
    """An argument, compared with others, and how much of it the others cover.

    The seed's class of this name (its "Dependence Analysis"): arguments overlap if they are of one
    datum and touch a common component of it; reading and writing make no difference.
    """

    def __init__(self, argument: Argument) -> None:
        self._access = analysis.AccessCoverage(argument.use)

    def overlaps(self, other: Argument) -> bool:
        """Return whether `other` touches data that the argument touches."""
        return self._access.overlaps(other.use)

    def update_coverage(self, other: Argument) -> None:
        """Count what `other` touches as covered, if it overlaps."""
        self._access.update_coverage(other.use)

    @property
    def covered(self) -> bool:
        """Return whether the arguments so far together cover the accesses of the argument."""
        return self._access.covered

    def reset_coverage(self) -> None:
        """Forget the arguments so far."""
        self._access.reset_coverage()


def arguments_of(
    schedule: Schedule, item: KernelCall | HaloExchange | GlobalReduction, node: Node
) -> tuple[Argument, ...]:
    """Return what `item`, which `node` shows, does to which data, in order; constants included."""
    accesses: list[list[analysis.DataUse]] = []
    for use in data_uses(schedule, item):
        if use.maybe:
            accesses[-1].append(use)
        else:
            accesses.append([use])
    if not isinstance(item, KernelCall):
        return tuple(Argument(use, node, None, tuple(more)) for use, *more in accesses)
    known = iter(accesses)
    found = []
    for described, actual in zip(item.kernel.args, item.args, strict=True):
        if actual.datum is None:
            text = spell(actual.value)
            use, more = analysis.DataUse(item.uid, text, frozenset(), described.access), []
        else:
            use, *more = next(known)
        found.append(Argument(use, node, described, tuple(more)))
    return tuple(found)
