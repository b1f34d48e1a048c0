"""The schedule: what one invoke does, in order, as a frozen tree.

Nothing is edited in place. A node keeps its `uid` when the tree around it is rebuilt, so that a
place in a schedule is a readable string such as `loop2` or `halo(u)@loop2`.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from psyclone_storage.base.memo import Keeper, Versions, kept_lately
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.base.source import Span
from psyclone_storage.ir.directive import NO_OPTIONS, Directive, RegionOptions
from psyclone_storage.ir.expr import Binary, Expr, intrinsic, whole
from psyclone_storage.ir.interface import Dummy
from psyclone_storage.ir.kernel import Access, ArgKind, GridBounds, Kernel, ReductionOp
from psyclone_storage.ir.keys import FromModule, Named
from psyclone_storage.ir.loop_split import Peel
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.parsed import ParsedAlgorithm, ParsedInvoke
from psyclone_storage.ir.region import NOTHING, Depth
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.storage_access import StoragePlan
from psyclone_storage.ir.transfer import EnterData, Side, TaskWait, Update, Wait
from psyclone_storage.ir.types import DataType

# ---------------------------------------------------------------------------- data


class DatumRole(Enum):
    """Role of a dummy argument of an invoke's routine."""

    ARGUMENT = "argument"
    EXTENT = "stencil extent"
    DIRECTION = "stencil direction"
    QUADRATURE = "quadrature"
    HALO_DEPTH = "halo depth"
    IMPORTED = "variable of a module"


@dataclass(frozen=True, slots=True)
class Datum(Named, FromModule):
    """One dummy argument of the routine of an invoke.

    `name` is its name there; `actual` is the actual argument in the algorithm. `vector` is the
    number of components of a field vector, 1 for a field. `kind` is None if it is not a kernel
    argument.
    `type` is the type that the algorithm declares. `access` joins all accesses to it.
    `may_alias` names other data that may be the same object at run time, as `f(i)` and `f(j)` may.
    One that is imported is the variable `actual` of `module`.
    """

    name: str
    actual: Expr
    type: DataType
    role: DatumRole = DatumRole.ARGUMENT
    kind: ArgKind | None = None
    vector: int = 1
    rank: int = 0
    access: Access = Access.READ
    may_alias: tuple[str, ...] = ()
    module: str = ""
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Actual:
    """Actual argument of a kernel call for one argument of the metadata.

    `datum` names the invoke's datum, or is None for a constant, which is `value`. `component` is
    set where one part of a field vector is passed. `extent` is the stencil's depth, `direction`
    its direction; both refer to data by name or are constants.
    """

    datum: str | None
    value: Expr
    component: int | None = None
    extent: Expr | None = None
    direction: Expr | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


# ---------------------------------------------------------------------------- statements


class Axis(Enum):
    """A direction of a structured grid: along its rows (i), or from row to row (j)."""

    EAST = "i"
    NORTH = "j"


LoopLimits = tuple[Expr, Expr, Expr | None]
"""First index, last index and step of a loop; without a step it counts by one."""

LimitsOf = Callable[[Expr, Expr, int, tuple[Expr, ...]], LoopLimits]
"""Returns the limits of a loop from those of its range, its `tile`, and counters around it."""


def _of_range(start: Expr, stop: Expr, _tile: int, _within: tuple[Expr, ...]) -> LoopLimits:
    return start, stop, None


def _of_tiles(start: Expr, stop: Expr, tile: int, _within: tuple[Expr, ...]) -> LoopLimits:
    return start, stop, whole(tile)


def _in_tile(_start: Expr, stop: Expr, tile: int, within: tuple[Expr, ...]) -> LoopLimits:
    (first,) = within
    end = intrinsic("min", Binary(Operator.PLUS, first, whole(tile - 1)), stop)
    return first, end, None


class Over(Enum):
    """Iterations of a loop: one row for each form of loop, with all that lowering needs to know.

    The points of a structured grid are counted by two loops, one over the rows (j) and one over
    the columns (i) of the grid, whichever is inside the other. A loop over tiles of rows counts
    their first rows; it contains the loop over the rows of a tile. The columns are the text in a
    schedule, the counter, PSyclone's word, and for some: the direction in a grid, the counters of
    enclosing loops that the limits depend on, the limits, and whether an iteration is a tile.
    """

    CELLS = "cells", "cell", ""
    DOFS = "dofs", "df", "dof"
    DOMAIN = "domain", "", "null"
    COLOURS = "colours", "colour", "colours"
    CELLS_OF_COLOUR = "cells of a colour", "cell_of_colour", "cells_in_colour", None, ("colour",)
    ROWS = "rows", "j", "outer", Axis.NORTH
    COLUMNS = "columns", "i", "inner", Axis.EAST
    TILE_COLOURS = "colours of tiles", "colour", "colours"
    TILES_OF_COLOUR = "tiles of a colour", "tile", "tiles_in_colour", None, ("colour",)
    CELLS_OF_TILE = "cells of a tile", "cell_of_tile", "cells_in_tile", None, ("colour", "tile")
    ROW_TILES = "tiles of rows", "j_tile", "outer", Axis.NORTH, (), _of_tiles, True
    ROWS_OF_TILE = "rows of a tile", "j", "outer", Axis.NORTH, ("j_tile",), _in_tile
    COLUMN_TILES = "tiles of columns", "i_tile", "inner", Axis.EAST, (), _of_tiles, True
    COLUMNS_OF_TILE = "columns of a tile", "i", "inner", Axis.EAST, ("i_tile",), _in_tile

    _value_: str
    counter: str
    loop_type: str
    axis: Axis | None
    within: tuple[str, ...]
    limits: LimitsOf
    counts_tiles: bool

    def __new__(  # noqa: PLR0913, PLR0917
        cls,
        text: str,
        counter: str,
        loop_type: str,
        axis: Axis | None = None,
        within: tuple[str, ...] = (),
        limits: LimitsOf = _of_range,
        counts_tiles: bool = False,
    ) -> Over:
        """Return the member with the columns of its row; its value is the text alone."""
        made = object.__new__(cls)
        made._value_ = text
        made.counter, made.loop_type, made.axis, made.within = counter, loop_type, axis, within
        made.limits, made.counts_tiles = limits, counts_tiles
        return made

    @property
    def in_sequence(self) -> bool:
        """Return whether the iterations have to be executed in order, as colours."""
        return self in (Over.COLOURS, Over.TILE_COLOURS)

    @property
    def starts_cells(self) -> bool:
        """Return whether the loop encloses all others that together visit cells."""
        return self in (Over.CELLS, Over.COLOURS, Over.TILE_COLOURS)


class Reach(Enum):
    """The upper limit of a loop, from the inside of a partition to the outside.

    `ALL` is every cell or dof that there is, used without distributed memory. `HALO` needs a
    depth; `HALO_ONLY` leaves the owned cells out.
    """

    ALL = "all"
    OWNED = "owned"
    ANNEXED = "annexed"
    HALO = "halo"
    HALO_ONLY = "halo only"

    def __init__(self, word: str) -> None:
        self.in_halo = word in ("halo", "halo only")
        """Whether the loop enters the halo."""


@dataclass(frozen=True, slots=True)
class Extent:
    """Range of a loop, in terms of the partition.

    One that a step has `extended` into the halo relies on the halo depths of the loop's fields.
    """

    reach: Reach
    depth: Depth = NOTHING
    extended: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class KernelCall:
    """A call of a kernel, or a built-in's formula, for one cell, dof or domain.

    `args` match `kernel.args`; `dummies` is the order of the subroutine's arguments.
    `quadratures` match `kernel.quadratures`. `halo_depth` is what the algorithm asks for
    when the kernel iterates over the halo. `own_codes` are the kernel's subroutines as they are
    written, one for each of its implementations; none as long as no step has had to know them.
    `codes` are those that a step has made of them; none where the kernel's own are called.
    """

    uid: str
    kernel: Kernel
    args: tuple[Actual, ...]
    dummies: tuple[Dummy, ...] = ()
    quadratures: tuple[Actual, ...] = ()
    halo_depth: Expr | None = None
    codes: tuple[Routine, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)
    own_codes: tuple[Routine, ...] = field(default=(), compare=False, repr=False)

    @property
    def known_codes(self) -> tuple[Routine, ...]:
        """The subroutines as they are called now, as far as they are known."""
        return self.codes or self.own_codes

    @property
    def is_called(self) -> bool:
        """Return whether a subroutine is called; false for inlined statements."""
        in_place = any(code.kernel_use.in_place for code in self.codes)
        return not self.kernel.is_builtin and not in_place


@dataclass(frozen=True, slots=True)
class LoopPart:
    """A loop before it was fused: the uid of its first call, and what gave it its bounds."""

    call: str
    bounds_from: int


@dataclass(frozen=True, slots=True)
class Loop(Keeper):
    """A loop; one over `Over.DOMAIN` calls its body once.

    `bounds_from` is the position of the argument of its first call whose function space and mesh
    give the bounds. On a grid a step may have given it `bounds` in terms of the ends of the grid's
    internal region. `tile` is the number of rows or columns in a tile, for loops over tiles and
    inside of them. One over dofs computes `filled` levels of halo besides, as a loop after it adds
    to them: that is derived, as exchanges are. One that was fused under a test has `parts`: where
    their bounds differ when the program runs, they run one after the other (`ir.parts`). For those
    that are `asserted` the user has promised the bounds of the loop. An
    `outlined` one is in a procedure of its own, with the directive that shares its iterations;
    with `one_level` it has a second procedure for columns of one level.
    One with a `peel` is the interior of a loop or a part of its rim, and so are loops inside it.
    """

    uid: str
    over: Over
    extent: Extent
    bounds_from: int
    body: tuple[Statement, ...]
    bounds: GridBounds | None = None
    tile: int = 0
    filled: Depth = NOTHING
    parts: tuple[LoopPart, ...] = ()
    asserted: tuple[LoopPart, ...] = ()
    outlined: bool = False
    one_level: bool = False
    peel: Peel | None = None

    @property
    def computed(self) -> Extent:
        """The range of the loop, with the levels that it fills."""
        return Extent(Reach.HALO, self.filled) if self.filled.terms else self.extent


@dataclass(frozen=True, slots=True)
class DirectiveRegion(Keeper):
    """Statements under a directive. One that shares work holds a single loop.

    `options` are requests of a script; clauses for data are derived from the body. `place` is where
    the body runs, or has its data. One that `copies` moves its data to a device and back each
    time, so that the host's copy stays valid; for others the schedule has transfers.
    """

    uid: str
    directive: Directive
    body: tuple[Statement, ...]
    options: RegionOptions = NO_OPTIONS
    place: Side = Side.HOST
    copies: bool = False

    @property
    def runs_on_device(self) -> bool:
        """Return whether its statements run on a device; false if it only keeps data there."""
        return self.place is Side.DEVICE and not self.directive.holds_data


class Phase(Enum):
    """Phase of a halo exchange."""

    WHOLE = "whole"
    START = "start"
    FINISH = "finish"


@dataclass(frozen=True, slots=True)
class Reason:
    """Reason for an inserted statement.

    `reader` is the statement that needs it and `read` describes how; `writer` is the statement that
    made the data stale, empty if that happened outside the invoke, and `written` describes how.
    """

    reader: str
    read: str
    writer: str
    written: str


@dataclass(frozen=True, slots=True)
class HaloExchange:
    """Make the halo of a field clean down to `depth`.

    `guarded` means that a run-time test decides whether it is needed. `annexed_only` means
    that the annexed dofs alone are wanted, which a depth of 1 brings up to date.
    `pinned` marks one that a script has moved or split: it is a fact, not planned again.

    An exchange works on the host's copy. With `fetched` a device may have newer values, which are
    brought to the host before; with `sent` its copy, if it has one, gets the halo. With
    `in_strips` no more is brought than is sent: the rest of the host's copy does not change.

    `joint` names the adjacent exchanges, itself included, that share their messages; it is empty
    for one with messages of its own.
    """

    uid: str
    datum: str
    component: int | None
    depth: Depth
    guarded: bool
    annexed_only: bool = False
    phase: Phase = Phase.WHOLE
    pinned: bool = False
    fetched: bool = False
    sent: bool = False
    in_strips: bool = False
    joint: tuple[str, ...] = ()
    reasons: tuple[Reason, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class MarkHalo:
    """Record the state of a halo after a loop at run time.

    All of the halo is dirty if `dirty`; then it is clean down to `clean`.
    """

    uid: str
    datum: str
    component: int | None
    dirty: bool
    clean: Depth


@dataclass(frozen=True, slots=True)
class FillHalo:
    """Give a number to replicas that a loop is about to add to and that may never have had one.

    They are the annexed dofs if `annexed`, and the levels of the halo after `beyond` down to
    `depth`. No statement reads them before they are exchanged.
    `reader` is the call that adds to them.
    """

    uid: str
    datum: str
    component: int | None
    annexed: bool
    beyond: Depth
    depth: Depth
    reader: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class GlobalReduction:
    """Combine the partial values of the scalar `datum` over all ranks."""

    uid: str
    datum: str
    op: ReductionOp


@dataclass(frozen=True, slots=True)
class ProfileRegion(Keeper):
    """Statements that a profiler counts and times as one, under the name `name`.

    `module` is the name that the region's module goes by, empty for the one that is generated.
    Regions hold whole loops and constructs, and other regions; no loop or construct holds one.
    With `with_exchanges` it contains the exchanges for its first loop.
    """

    uid: str
    module: str
    name: str
    body: tuple[Statement, ...]
    with_exchanges: bool = True


Statement = (
    KernelCall
    | Loop
    | DirectiveRegion
    | ProfileRegion
    | HaloExchange
    | MarkHalo
    | FillHalo
    | GlobalReduction
    | EnterData
    | Update
    | Wait
    | TaskWait
)
Compound = Loop | DirectiveRegion | ProfileRegion
"""The statements that have others inside."""


# ---------------------------------------------------------------------------- trees


@dataclass(frozen=True, slots=True)
class Schedule:
    """The statements of an invoke. `data` are in the order of the routine's dummy arguments.

    `imported` are data that the routine imports: variables of modules that kernels are passed.

    `distributed`: the data are distributed over ranks; `annexed_clean`: every loop leaves annexed
    dofs clean, so that no reader needs an exchange for them (COMPUTE_ANNEXED_DOFS). With
    `fills` nothing is added to a dof that may never have been filled (FILL_BEFORE_INCREMENT).
    `versions` caches what functions have derived from earlier bodies of the schedule.
    """

    name: str
    data: tuple[Datum, ...]
    body: tuple[Statement, ...]
    distributed: bool
    annexed_clean: bool
    imported: tuple[Datum, ...] = ()
    fills: bool = True
    versions: Versions = field(default_factory=Versions, compare=False, repr=False)

    @property
    def all_data(self) -> tuple[Datum, ...]:
        """All data, those that are imported last."""
        return (*self.data, *self.imported)

    def datum(self, name: str) -> Datum:
        """Return the datum called `name`; raise `KeyError` without one."""
        return data_by_name(self)[name]


def data_by_name(schedule: Schedule) -> dict[str, Datum]:
    """Return all data of `schedule` by their names."""
    return _by_name(schedule.data, schedule.imported)


@kept_lately
def _by_name(data: tuple[Datum, ...], imported: tuple[Datum, ...]) -> dict[str, Datum]:
    return {datum.name: datum for datum in (*data, *imported)}


@dataclass(frozen=True, slots=True)
class Invoke:
    """One invoke of an algorithm. `schedule.name` is the routine that it becomes.

    `held` is what it asks of storages, where the target has some.
    """

    schedule: Schedule
    parsed: ParsedInvoke
    held: StoragePlan = StoragePlan()

    @property
    def name(self) -> str:
        """The name of the routine, as scripts ask for it."""
        return self.schedule.name


@dataclass(frozen=True, slots=True)
class Program:
    """All invokes of one algorithm file, and the module `name` that their routines go to."""

    name: str
    algorithm: ParsedAlgorithm
    invokes: tuple[Invoke, ...]
