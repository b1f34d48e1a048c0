"""Consistency checks of a kernel's subroutine against its metadata.

Exchanges, colouring and statement order are planned from metadata. A body that does more than its
metadata declare therefore computes wrong values in other places. This module compares the
statements of a body with the metadata:

- A read-only argument must not be assigned, and a written argument should be assigned.
- The previous value of a write-only argument must not be read.
- On a grid, a kernel reads neighbours only if its metadata declare a stencil, and writes only to
  its own point. A subscript through a scalar, such as `jiv = j + 1`, is resolved.

Only certain violations are reported. Statements that are not understood, called procedures, and
subscripts at an unknown distance from the point are skipped.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from psyclone_storage.analysis.bodies.accesses import (
    MemoryAccess,
    accesses_of,
    unknown_procedures,
    written_names,
)
from psyclone_storage.analysis.bodies.flow import Flow, flow_of
from psyclone_storage.analysis.bodies.names import RoutineNames
from psyclone_storage.base.diagnostic import Diagnostic, Related, Severity
from psyclone_storage.base.names import listed
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.source import Span
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.affine import difference
from psyclone_storage.ir.expr import Expr, Name, Range
from psyclone_storage.ir.interface import Dummy, Role
from psyclone_storage.ir.kernel import Access, ArgKind, GridStencil, Kernel, KernelArg
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import walk_lines
from psyclone_storage.ir.routine import Routine

_DATA = frozenset(
    {
        Role.FIELD,
        Role.DOF_VALUE,
        Role.OPERATOR,
        Role.CMA_MATRIX,
        Role.SCALAR,
        Role.SCALAR_ARRAY,
        Role.GRID_PROPERTY,
    }
)
"""The dummy arguments that contain data; all others describe these data."""

_HERE = (0, 0)


@dataclass(frozen=True, slots=True)
class _CertainAccess:
    """A certain access to an argument, in the statement at `place`."""

    access: MemoryAccess
    place: Span | None


@dataclass(frozen=True, slots=True)
class _Argument:
    """An argument of the metadata, with the names of its dummy arguments in lower case."""

    described: KernelArg
    names: tuple[str, ...]


def check_against_metadata(
    kernel: Kernel, code: Routine, wanted: tuple[Dummy, ...]
) -> tuple[Diagnostic, ...]:
    """Return the contradictions between the statements of `code` and the kernel's metadata.

    `wanted` are the dummy arguments that the metadata require. There are no diagnostics if the
    subroutine has another number of them, or if it is an empty stub.
    """
    is_stub = all(isinstance(line, un.Blank | un.Comment | un.DirectiveLine) for line in code.body)
    if is_stub or len(wanted) != len(code.dummies):
        return ()
    checking = _KernelCheck(kernel, code, tuple(_certain(flow_of(code))))
    return tuple(
        problem
        for argument in _arguments(kernel, code, wanted)
        for problem in checking.of(argument)
    )


def _arguments(kernel: Kernel, code: Routine, wanted: tuple[Dummy, ...]) -> Iterator[_Argument]:
    names: dict[int, list[str]] = defaultdict(list)
    for name, dummy in zip(code.dummies, wanted, strict=True):
        if dummy.arg is not None and dummy.role in _DATA:
            names[dummy.arg].append(key_of(name))
    for position, found in names.items():
        yield _Argument(kernel.args[position], tuple(found))


# ---------------------------------------------------------------------------- accesses


def _certain(flow: Flow) -> Iterator[_CertainAccess]:
    """Yield the accesses of statements whose effects are known, in source order.

    A statement that calls an unknown procedure is skipped.
    """
    for node in flow.nodes:
        for part, place in _parts(node.line):
            if not unknown_procedures(_shallow(part), flow.names):
                for access in accesses_of(part, flow.names):
                    yield _CertainAccess(MemoryAccess(node.seen(access.path), access.writes), place)


def _parts(line: un.Line) -> Iterator[tuple[un.Line, Span | None]]:
    """Yield a statement with its position; each branch of an `if` separately."""
    match line:
        case un.If():
            for branch in line.branches:
                yield un.If((branch,)), branch.place
        case un.Assign() | un.Do() | un.While() | un.Return():
            yield line, line.place


def _shallow(line: un.Line) -> tuple[un.Line, ...]:
    """Return the statement without nested statements."""
    match line:
        case un.If((branch,)):
            return (un.If((un.Branch(branch.condition, ()),)),)
        case un.Do():
            return (un.Do(line.variable, line.start, line.stop, (), line.step),)
        case un.While():
            return (un.While(line.condition, ()),)
    return (line,)


@dataclass(frozen=True, slots=True)
class _KernelCheck:
    """The checks of one kernel: its subroutine, and the certain accesses of that."""

    kernel: Kernel
    code: Routine
    seen: tuple[_CertainAccess, ...]

    def of(self, argument: _Argument) -> Iterator[Diagnostic]:
        """Yield the problems of the accesses to one argument."""
        access = argument.described.access
        if access is Access.READ:
            yield from self._assigned(argument)
        else:
            yield from self._left_alone(argument)
        if access is Access.WRITE:
            yield from self._asked_before(argument)
        if self.kernel.points is not None and argument.described.kind is ArgKind.FIELD:
            yield from self._elsewhere(argument)

    def _assigned(self, argument: _Argument) -> Iterator[Diagnostic]:
        for item in self._first(argument, writes=True):
            yield self._problem(
                "M204",
                argument,
                f"'{item.access.root}' is assigned to, but the metadata says that it is read.",
                item.place,
                hint="Nothing knows that it changes: say so in the metadata.",
            )

    def _left_alone(self, argument: _Argument) -> Iterator[Diagnostic]:
        changed = written_names(self.code.body, RoutineNames(self.code)) | _unclear_names(self.code)
        if changed & set(argument.names):
            return
        names = listed(argument.names, "and")
        verb = "are" if len(argument.names) > 1 else "is"
        problem = self._problem(
            "M205",
            argument,
            f"{names} {verb} never changed, but the metadata says that '{self.code.name}' does so.",
            self.code.place_of(argument.names[0]),
            hint="What is only read needs no exchange after it, and lets loops run in parallel.",
        )
        yield replace(problem, severity=Severity.WARNING)

    def _asked_before(self, argument: _Argument) -> Iterator[Diagnostic]:
        """Yield a problem for each write-only dummy argument that is certainly read first."""
        unclear = _unclear_names(self.code)
        for name in argument.names:
            found = next((item for item in self.seen if item.access.root == name), None)
            if found is None or found.access.writes or name in unclear:
                continue
            problem = self._problem(
                "M206",
                argument,
                f"'{name}' is read before it is written, but the metadata says that it is written"
                " only.",
                found.place,
                hint="What it holds before the call is not seen to: its access reads and writes.",
            )
            grid = self.kernel.points is not None
            yield replace(problem, severity=Severity.ERROR if grid else Severity.WARNING)

    def _elsewhere(self, argument: _Argument) -> Iterator[Diagnostic]:
        """Yield a problem for each accessed point that the metadata do not declare."""
        stencil = argument.described.stencil
        named = stencil.offsets if isinstance(stencil, GridStencil) else ()
        told: set[tuple[bool, tuple[int, int]]] = set()
        for item in self.seen:
            access = item.access
            if access.root not in argument.names:
                continue
            point = self._point(access)
            if point is None or point == _HERE or (access.writes, point) in told:
                continue
            told.add((access.writes, point))
            if access.writes:
                where = f"{_direction(point)} of the kernel's own point"
                message = f"'{item.access.root}' is written {where}."
                hint = "A kernel writes to its own point alone, so that loops can run in any order."
                yield self._problem("M207", argument, message, item.place, hint=hint)
            elif point not in named:
                yield self._read_elsewhere(argument, item, point)

    def _read_elsewhere(
        self, argument: _Argument, item: _CertainAccess, point: tuple[int, int]
    ) -> Diagnostic:
        name, stencil = item.access.root, argument.described.stencil
        said = f"has the stencil {stencil.value}" if isinstance(stencil, GridStencil) else (
            "names no neighbours"
        )  # fmt: skip
        message = f"'{name}' is read {_direction(point)}, but the metadata {said}."
        hint = "Name the neighbour in 'go_stencil': halos and the order of loops follow from it."
        return self._problem("M207", argument, message, item.place, hint=hint)

    def _point(self, access: MemoryAccess) -> tuple[int, int] | None:
        """Return the distance of an access from the kernel's own point, None if unknown."""
        subscripts = access.path.subscripts
        if len(subscripts) != len(_HERE):
            return None
        own = [*self.code.dummy_keys[: len(_HERE)]]
        if set(own) & written_names(self.code.body, RoutineNames(self.code)):
            return None
        east, north = map(_distance, subscripts, own)
        return None if east is None or north is None else (east, north)

    def _first(self, argument: _Argument, *, writes: bool) -> Iterator[_CertainAccess]:
        """Yield the first read, or with `writes` the first write, of each dummy argument."""
        found: Mapping[str, _CertainAccess] = {
            item.access.root: item
            for item in reversed(self.seen)
            if item.access.root in argument.names and item.access.writes is writes
        }
        yield from found.values()

    def _problem(
        self,
        code: str,
        argument: _Argument,
        message: str,
        place: Span | None,
        hint: str = "",
    ) -> Diagnostic:
        entry = argument.described.span or self.kernel.span
        related = (Related(entry, "the metadata"),) if entry else ()
        return Diagnostic(code, message, place, hint=hint, related=related)


def _unclear_names(code: Routine) -> frozenset[str]:
    """Return the names in statements with unknown effects."""
    names = RoutineNames(code)
    found: set[str] = set(code.internal.names) if code.internal else set()
    for line in walk_lines(code.body):
        for part, _ in _parts(line):
            if unknown_procedures(_shallow(part), names):
                found |= {access.root for access in accesses_of(part, names)}
        if not isinstance(line, un.Assign | un.Do | un.If | un.While | un.Return):
            found |= {access.root for access in accesses_of(line, names)}
    return frozenset(found)


def _distance(subscript: Expr, own: str) -> int | None:
    if isinstance(subscript, Range):
        return None
    return difference(subscript, Name(own))


def _direction(point: tuple[int, int]) -> str:
    """Return a distance in words, such as `1 to the north and 2 to the east`."""
    east, north = point
    words = [(north, "north", "south"), (east, "east", "west")]
    return " and ".join(
        f"{abs(count)} to the {positive if count > 0 else negative}"
        for count, positive, negative in words
        if count
    )
