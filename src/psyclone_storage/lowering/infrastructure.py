"""The target interface of generated code, as one row, and a routine that is being lowered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.ir.expr import Expr, Name
from psyclone_storage.ir.runtime_ops import RuntimeAction, RuntimeValue
from psyclone_storage.ir.schedule import Actual, Datum, KernelCall, Program, Schedule, Statement
from psyclone_storage.ir.storage_access import StorageAction, StoragePlan, StoragePolicy
from psyclone_storage.ir.types import ScalarType
from psyclone_storage.ir.unit import Declare, DeviceItem, GeneratedRoutine, Line
from psyclone_storage.lowering.routine_builder import ModuleImports, SetupSection, Workspace

PADDING = 8
"""Values from one partial sum to the next, unless a user asks for another number."""


def _no_helpers(_program: Program, _imports: ModuleImports) -> tuple[GeneratedRoutine, ...]:
    return ()


def _as_it_is(_context: LoweringContext, lines: tuple[Line, ...]) -> tuple[Line, ...]:
    return lines


def _nothing_beside(
    _context: LoweringContext, _statement: Statement, lines: tuple[Line, ...]
) -> tuple[Line, ...]:
    return lines


def _nothing_more(_context: LoweringContext) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Infrastructure:
    """The target interface of generated code: facts, and tables of its code for each operation.

    `name` is for messages. `reserved` are names that no variable may have. `home_of_kind` returns
    the module of a kind parameter, in lower case, that the algorithm does not import by name.
    `integer` is the type of counters and bounds, `value_type` that of the values of a field, an
    operator or a scalar. `dummies` declares the dummy arguments of a routine. `values` and
    `actions` lower the records of `ir.runtime_ops`, by class. `region_items` are the data of a
    region for a device, by its calls and its lowered lines. `finish` adds to the set-up what can
    only be known when all statements are lowered; `helpers` are the routines that those of a
    program pass on or call. With `exact_sums` reals are summed without rounding. Threads can have
    partial sums `sums_in_order`; else reproducible sums are exact. Partial sums of threads are
    `padding` values apart, so that no two write to one line of a cache. Regions that copy their
    data name them where it `names_what_is_copied`. `around` wraps the statements of a routine in
    the code that they need. One with a contract for `holding` keeps data in storages: `storages`
    lowers the actions of `ir.storage_access`, or all data are bound `at_once` by the code around
    the statements. `beside` adds before and after the lines of one statement the code for data that
    do not belong to the invoke. One whose loops are compiled by themselves anyway `outlines` none.
    With `fetches_strips` code around an exchange transfers the sent values to the host, as fields
    do not by themselves. One that `starts_together` sends one message for several fields also where
    exchanges are started and finished apart. `sizes` are the bytes of the kinds of numbers, where
    calls have to pass kernels their kinds.
    """

    name: str
    reserved: frozenset[str]
    home_of_kind: Callable[[str], str]
    integer: ScalarType
    value_type: Callable[[Datum], ScalarType]
    dummies: Callable[[LoweringContext], tuple[Declare, ...]]
    values: Mapping[type[RuntimeValue], Callable[[LoweringContext, Any], Expr]]
    actions: Mapping[type[RuntimeAction], Callable[[LoweringContext, Any], tuple[Line, ...]]]
    region_items: Callable[
        [LoweringContext, Iterable[KernelCall], Iterable[Line]], tuple[DeviceItem, ...]
    ]
    finish: Callable[[LoweringContext], None] = _nothing_more
    helpers: Callable[[Program, ModuleImports], tuple[GeneratedRoutine, ...]] = _no_helpers
    exact_sums: bool = False
    sums_in_order: bool = True
    names_what_is_copied: bool = True
    padding: int = PADDING
    around: Callable[[LoweringContext, tuple[Line, ...]], tuple[Line, ...]] = _as_it_is
    holding: StoragePolicy | None = None
    beside: Callable[[LoweringContext, Statement, tuple[Line, ...]], tuple[Line, ...]] = (
        _nothing_beside
    )
    outlines: bool = True
    fetches_strips: bool = False
    starts_together: bool = False
    storages: Mapping[type[StorageAction], Callable[[LoweringContext, Any], tuple[Line, ...]]] = (
        field(default_factory=dict)
    )
    sizes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LoweringContext:
    """A routine that is being lowered.

    `several_meshes` means that fields may be on different meshes, or numbered differently on one
    space, so that fields share nothing that depends on either. `partial_sums` gives, for scalars
    that are reduced reproducibly, the variable that a thread adds to instead. `held` are the
    requests to storages. Loops may go into their own procedures where it `outlines`: not in one of
    these, nor under a directive for a device (`on_device`), whose compiler has to see them.
    """

    schedule: Schedule
    work: Workspace
    ops: Infrastructure
    several_meshes: bool = False
    partial_sums: Mapping[str, Expr] = field(default_factory=dict)
    held: StoragePlan = StoragePlan()
    outlines: bool = True
    on_device: bool = False

    def value(self, asked: RuntimeValue) -> Expr:
        """Return the expression that the infrastructure has for `asked`."""
        if (answer := self.ops.values.get(type(asked))) is None:
            raise InternalError(f"{self.ops.name} has no {type(asked).__name__}.")
        return answer(self, asked)

    def lines(self, asked: RuntimeAction) -> tuple[Line, ...]:
        """Return the statements that the infrastructure has for `asked`."""
        if (answer := self.ops.actions.get(type(asked))) is None:
            raise InternalError(f"{self.ops.name} has no {type(asked).__name__}.")
        return answer(self, asked)

    def storage_lines(self, asked: StorageAction) -> tuple[Line, ...]:
        """Return the statements by which the infrastructure asks its storages."""
        if (answer := self.ops.storages.get(type(asked))) is None:
            raise InternalError(f"{self.ops.name} has no {type(asked).__name__}.")
        return answer(self, asked)

    def counter(self, name: str) -> Name:
        """Return the integer that a loop counts, or that a thread has for itself."""
        return self.work.variable(SetupSection.COUNTERS, name, Declare(name, self.ops.integer))

    def datum(self, call: KernelCall, arg: int) -> Datum:
        """Return the datum that `call` passes for its argument at position `arg`."""
        return self.of(call.args[arg])

    def of(self, actual: Actual) -> Datum:
        """Return the datum of an actual argument, which must not be a constant."""
        if actual.datum is None:
            raise InternalError("A constant was asked for its data.")
        return self.schedule.datum(actual.datum)
