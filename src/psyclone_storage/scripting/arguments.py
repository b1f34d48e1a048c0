"""Arguments of calls and the dependences between them: `Argument` and `DataAccess`.

An argument is one access of a call, halo exchange or global reduction to one datum. It finds
earlier and later arguments on which it depends, or which depend on it. `analysis.schedules.access`
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
    """Function space with its name in metadata."""

    orig_name: str


class PassesArguments(Node, ABC):
    """Node that accesses data."""

    __slots__ = ()

    @property
    @abstractmethod
    def args(self) -> tuple[Argument, ...]:
        """Accesses of the node to data."""

    @property
    @abstractmethod
    def schedule(self) -> Node:
        """Schedule that contains the node."""


@dataclass(frozen=True, slots=True)
class Argument:
    """Access of a call, exchange or global reduction to one datum, or a passed constant.

    - `use`: the access as determined by analysis.

    - `maybe`: the accesses to data that may be the same object.

    - `described`: the kernel argument in metadata; None if it is not an argument of a kernel.

    - `call`: the node that has the access.
    """

    use: analysis.DataUse
    call: Node | None = None
    described: KernelArg | None = None
    maybe: tuple[analysis.DataUse, ...] = field(default=(), repr=False)

    @property
    def name(self) -> str:
        """Name of the datum, or the text of the constant."""
        return self.use.datum

    @property
    def access(self) -> str:
        """Access type: `read`, `write`, `readwrite`, `inc`, `readinc`, or `reduction`."""
        return self.use.access.value

    @property
    def intent(self) -> str:
        """Intent of a dummy argument with this access: `in`, `out` or `inout`."""
        access = self.use.access
        if not access.writes:
            return "in"
        return "out" if access is Access.WRITE else "inout"

    @property
    def components(self) -> tuple[int, ...]:
        """Accessed components of a field vector, counted from 1; `(1,)` for other data."""
        return tuple(sorted(self.use.components))

    @property
    def vector_size(self) -> int:
        """Number of components in metadata; 1 if the argument is not a field vector."""
        return self.described.vector if self.described else 1

    @property
    def kind(self) -> str:
        """Kind of the argument, such as `field`, `operator` or `scalar`.

        `field` for an exchange.
        """
        return (self.described.kind if self.described else ArgKind.FIELD).value

    @property
    def is_scalar(self) -> bool:
        """True if the argument is a scalar or an array of scalars."""
        return self.described is not None and self.described.kind.is_scalar

    @property
    def is_literal(self) -> bool:
        """True if the argument is a constant or an expression, not a datum."""
        return not self.use.components

    @property
    def function_space(self) -> FieldSpace | None:
        """Function space or grid-point type; None if metadata do not give one."""
        space = self.described.space if self.described else ""
        return FieldSpace(space) if space else None

    @property
    def stencil(self) -> str | None:
        """Stencil shape in metadata, or None."""
        shape = self.described.stencil if self.described else None
        return shape if shape is None else str(shape.value)

    # ------------------------------------------------------------------ dependences

    def forward_dependence(self) -> Argument | None:
        """Return the next argument that depends on this one, or None."""
        return next(iter(self._found(self._after(), _conflict)), None)

    def backward_dependence(self) -> Argument | None:
        """Return the nearest previous argument on which this one depends, or None."""
        return next(iter(self._found(self._before(), _conflict)), None)

    def forward_read_dependencies(self) -> list[Argument]:
        """Return the later arguments that read the values written here.

        The search stops when all of the data are overwritten.
        """
        return self._found(self._after(), _writes_what_is_read)

    def forward_write_dependencies(self, ignore_halos: bool = False) -> list[Argument]:
        """Return the next arguments that overwrite the data read here.

        Halo exchanges are omitted if `ignore_halos` is true.
        """
        return self._found(self._after(ignore_halos), _reads_what_is_written)

    def backward_read_dependencies(self) -> list[Argument]:
        """Return the earlier arguments that read the data before they are overwritten here.

        The search stops at the statements that wrote these data.
        """
        return self._found(self._before(), _writes_what_is_read)

    def backward_write_dependencies(self, ignore_halos: bool = False) -> list[Argument]:
        """Return the arguments that wrote the data read here, nearest first.

        Halo exchanges are omitted if `ignore_halos` is true.
        """
        return self._found(self._before(ignore_halos), _reads_what_is_written)

    def _before(self, ignore_halos: bool = False) -> list[Argument]:
        nodes, at = self._sequence()
        return _of(reversed(nodes[:at]), ignore_halos)

    def _after(self, ignore_halos: bool = False) -> list[Argument]:
        nodes, at = self._sequence()
        return _of(nodes[at + 1 :], ignore_halos)

    def _sequence(self) -> tuple[list[PassesArguments], int]:
        """Return all nodes of the schedule that access data, in order, and this node's position."""
        call = self.call
        if not isinstance(call, PassesArguments):
            return [], 0
        found = call.schedule.walk(PassesArguments)
        return found, found.index(call)

    def _found(self, others: Iterable[Argument], counts: _Counts) -> list[Argument]:
        """Return the matching arguments among `others`, nearest first.

        The search stops when writes have covered the whole access.
        """
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
        """Return whether two arguments may refer to the same object under different names."""
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
    """Names of a call's arguments, in order; `args` contains the arguments themselves."""

    args: tuple[Argument, ...]

    def __new__(cls, args: tuple[Argument, ...]) -> Arguments:
        """Return the tuple of names of `args`, with `args` attached."""
        made = super().__new__(cls, (arg.name for arg in args))
        made.args = args
        return made

    @property
    def names(self) -> list[str]:
        """Names as a list."""
        return list(self)


class DataAccess:
    """Access of an argument, with the part that other arguments cover.

    The class has the name of PSyclone's class in "Dependence Analysis". Two arguments overlap if
    they access a common component of the same datum, for reading or writing.
    """

    def __init__(self, argument: Argument) -> None:
        self._access = analysis.AccessCoverage(argument.use)

    def overlaps(self, other: Argument) -> bool:
        """Return whether `other` accesses a component that the argument accesses."""
        return self._access.overlaps(other.use)

    def update_coverage(self, other: Argument) -> None:
        """Mark the components that `other` accesses as covered, if it overlaps."""
        self._access.update_coverage(other.use)

    @property
    def covered(self) -> bool:
        """True if the arguments so far together cover the access."""
        return self._access.covered

    def reset_coverage(self) -> None:
        """Mark all components as not covered."""
        self._access.reset_coverage()


def arguments_of(
    schedule: Schedule, item: KernelCall | HaloExchange | GlobalReduction, node: Node
) -> tuple[Argument, ...]:
    """Return the accesses of `item` in order, including constants; `node` is its view."""
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
