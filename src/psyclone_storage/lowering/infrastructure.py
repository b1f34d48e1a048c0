"""Description of an infrastructure, and the context for lowering a routine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.ir.expr import Expr, Name
from psyclone_storage.ir.runtime_ops import RuntimeAction, RuntimeValue
from psyclone_storage.ir.schedule import (
    Actual,
    Datum,
    KernelCall,
    ProfileRegion,
    Program,
    Schedule,
    Statement,
)
from psyclone_storage.ir.storage_access import StorageAction, StoragePlan, StoragePolicy
from psyclone_storage.ir.types import ScalarType
from psyclone_storage.ir.unit import Declare, DeviceItem, GeneratedRoutine, Line
from psyclone_storage.lowering.profile import profiled
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
    """An infrastructure: properties and code tables of the library that generated code calls.

    - `name`: for messages. `reserved`: names that variables must not have.
    - `home_of_kind`: returns the module of a kind parameter that the algorithm does not import.
    - `integer`: type of counters and bounds. `value_type`: type of the values of a datum.
    - `dummies`: declares the dummy arguments of a routine.
    - `values`, `actions`: lower the records of `ir.runtime_ops`, by class.
    - `region_items`: data of a device region, from its calls and lowered lines.
    - `finish`: adds set-up that depends on all lowered statements. `helpers`: shared routines.
    - `exact_sums`: reals are summed without rounding. `sums_in_order`: reproducible sums use
      partial sums of threads; otherwise they are exact. `padding`: distance between partial sums of
      threads, to avoid false sharing.
    - `names_what_is_copied`: copying regions list their data.
    - `around`: wraps the statements of a routine.
    - `holding`: policy for storages. `storages` lowers the actions of `ir.storage_access`, unless
      all data are bound at once.
    - `beside`: adds code before and after a statement for data outside the invoke.
    - `outlines`: loops may be moved to procedures.
    - `fetches_strips`: code around an exchange transfers the sent values to the host.
    - `starts_together`: joint exchanges may be started and finished separately.
    - `reads_all_flags`: generated code reads the halo flags after each loop, so no update is dead.
    - `sizes`: sizes in bytes of kinds that calls pass to kernels.
    - `faster_layers`: kernels may compute several columns or layers together.
    - `profiled`: encloses the lines of a profile region in profiler calls.
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
    reads_all_flags: bool = False
    storages: Mapping[type[StorageAction], Callable[[LoweringContext, Any], tuple[Line, ...]]] = (
        field(default_factory=dict)
    )
    sizes: Mapping[str, int] = field(default_factory=dict)
    faster_layers: bool = False
    profiled: Callable[[Workspace, str, ProfileRegion, tuple[Line, ...]], tuple[Line, ...]] = (
        profiled
    )


@dataclass(frozen=True, slots=True)
class StripOfRows:
    """The current strip in a chain of loops: variables with its first row and number of rows."""

    first: Expr
    rows: Expr


@dataclass(frozen=True, slots=True)
class LoweringContext:
    """Context for lowering one routine.

    - `several_meshes`: fields may use different meshes or dofmaps, so they share no quantities.
    - `partial_sums`: the per-thread variable of each reproducibly reduced scalar.
    - `held`: planned storage accesses.
    - `outlines`: loops may be moved to procedures, except inside such a procedure.
    - `strip`: the current strip inside a chain of loops.
    - `ends`: the first and the last index of a loop that runs inside its kernels.
    - `on_device`: the code is inside a device region, where loops are not outlined.
    - `for_threads`: the code is inside a loop over colours that one thread does not use.
    """

    schedule: Schedule
    work: Workspace
    ops: Infrastructure
    several_meshes: bool = False
    partial_sums: Mapping[str, Expr] = field(default_factory=dict)
    held: StoragePlan = StoragePlan()
    outlines: bool = True
    on_device: bool = False
    strip: StripOfRows | None = None
    ends: tuple[Expr, ...] = ()
    for_threads: bool = False

    def value(self, asked: RuntimeValue) -> Expr:
        """Return the infrastructure's expression for a run-time value."""
        if (answer := self.ops.values.get(type(asked))) is None:
            raise InternalError(f"{self.ops.name} has no {type(asked).__name__}.")
        return answer(self, asked)

    def lines(self, asked: RuntimeAction) -> tuple[Line, ...]:
        """Return the infrastructure's statements for an action."""
        if (answer := self.ops.actions.get(type(asked))) is None:
            raise InternalError(f"{self.ops.name} has no {type(asked).__name__}.")
        return answer(self, asked)

    def storage_lines(self, asked: StorageAction) -> tuple[Line, ...]:
        """Return the infrastructure's statements for a storage action."""
        if (answer := self.ops.storages.get(type(asked))) is None:
            raise InternalError(f"{self.ops.name} has no {type(asked).__name__}.")
        return answer(self, asked)

    def counter(self, name: str) -> Name:
        """Return the integer variable `name`, a loop counter or thread-private."""
        return self.work.variable(SetupSection.COUNTERS, name, Declare(name, self.ops.integer))

    def datum(self, call: KernelCall, arg: int) -> Datum:
        """Return the datum passed for argument `arg` of `call`."""
        return self.of(call.args[arg])

    def of(self, actual: Actual) -> Datum:
        """Return the datum of an actual argument, which must not be a constant."""
        if actual.datum is None:
            raise InternalError("A constant was asked for its data.")
        return self.schedule.datum(actual.datum)
