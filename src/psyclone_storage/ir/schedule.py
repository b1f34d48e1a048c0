"""The schedule: the statements of one invoke as an immutable tree.

Transformations rebuild the tree. A node keeps its `uid`, a readable identifier such as `loop2` or
`halo(u)@loop2`.
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
from psyclone_storage.ir.loop_split import Peel, RowStrips
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.parsed import ParsedAlgorithm, ParsedInvoke
from psyclone_storage.ir.region import NOTHING, Depth
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.storage_access import StoragePlan
from psyclone_storage.ir.transfer import EnterData, Side, TaskWait, Update, Wait
from psyclone_storage.ir.types import DataType

# ---------------------------------------------------------------------------- data


class DatumRole(Enum):
    """Role of a dummy argument of a generated routine."""

    ARGUMENT = "argument"
    EXTENT = "stencil extent"
    DIRECTION = "stencil direction"
    QUADRATURE = "quadrature"
    HALO_DEPTH = "halo depth"
    IMPORTED = "variable of a module"


@dataclass(frozen=True, slots=True)
class Datum(Named, FromModule):
    """A dummy argument of the generated routine of an invoke.

    - `name`: its name in the routine. `actual`: the actual argument in the algorithm.
    - `vector`: number of components of a field vector, 1 for a single field.
    - `kind`: kind of kernel argument, None if it is not a kernel argument.
    - `type`: type declared in the algorithm. `access`: union of all accesses.
    - `may_alias`: other data that may be the same object at run time, such as `f(i)` and `f(j)`.
    - `module`: for an imported datum, the module of the variable `actual`.
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
    """The actual argument for one metadata argument of a kernel call.

    `datum` names a datum of the invoke; it equals None for a constant, which is `value`.
    `component` is set if one component of a field vector is passed. `extent` and `direction`
    describe a stencil.
    """

    datum: str | None
    value: Expr
    component: int | None = None
    extent: Expr | None = None
    direction: Expr | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


# ---------------------------------------------------------------------------- statements


class Axis(Enum):
    """An axis of a structured grid: i along a row, or j across rows."""

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
    """Iteration kind of a loop: what it counts, and the properties that lowering needs.

    A structured grid has two loops, over rows (j) and over columns (i), in either order. A loop
    over tiles of rows counts the first rows of tiles and contains the loop over the rows of a tile.
    The columns of the table are: the text in a schedule, the counter, PSyclone's loop type, the
    axis, the enclosing counters on which the limits depend, the limits, and whether an iteration is
    a tile.
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
        """Return the member with these properties; its value is `text`."""
        made = object.__new__(cls)
        made._value_ = text
        made.counter, made.loop_type, made.axis, made.within = counter, loop_type, axis, within
        made.limits, made.counts_tiles = limits, counts_tiles
        return made

    @property
    def in_sequence(self) -> bool:
        """Return whether the iterations must run in order, as for colours."""
        return self in (Over.COLOURS, Over.TILE_COLOURS)

    @property
    def starts_cells(self) -> bool:
        """Return whether this is the outermost kind of loop over cells."""
        return self in (Over.CELLS, Over.COLOURS, Over.TILE_COLOURS)


class Reach(Enum):
    """Upper limit of a loop, from the interior of a partition outwards.

    `ALL` is every cell or dof, used without distributed memory. `HALO` requires a depth.
    `HALO_ONLY` excludes owned cells.
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
    """Range of a loop in terms of the partition.

    A loop that a step has `extended` into the halo requires sufficient halo depth of its fields.
    """

    reach: Reach
    depth: Depth = NOTHING
    extended: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class KernelCall:
    """A call of a kernel, or the formula of a built-in, for one cell, dof or domain.

    - `args`: match `kernel.args`. `dummies`: the arguments of the subroutine, in order.
    - `quadratures`: match `kernel.quadratures`.
    - `halo_depth`: the depth passed by the algorithm if the kernel iterates over the halo.
    - `own_codes`: the original subroutines, one for each implementation; empty until a step needs
      them.
    - `codes`: the transformed subroutines; empty if the original ones are called.
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
        """The current subroutines of the kernel, if they have been read."""
        return self.codes or self.own_codes

    @property
    def is_called(self) -> bool:
        """Return whether a subroutine is called; false for built-ins and inlined statements."""
        in_place = any(code.kernel_use.in_place for code in self.codes)
        return not self.kernel.is_builtin and not in_place


@dataclass(frozen=True, slots=True)
class LoopPart:
    """An original loop of a fused loop: the uid of its first call, and the source of its bounds."""

    call: str
    bounds_from: int


@dataclass(frozen=True, slots=True)
class Loop(Keeper):
    """A loop of a schedule; a loop over `Over.DOMAIN` runs its body once.

    - `bounds_from`: position of the argument of the first call whose space and mesh give the
      bounds.
    - `bounds`: bounds set by a step, relative to the internal region of a grid.
    - `tile`: number of rows or columns in a tile, for loops over or inside tiles.
    - `filled`: halo levels that a dof loop also computes because a later loop adds to them.
    - `parts`: the original loops of a loop fused under a run-time test of their bounds. If the
      bounds differ, the parts run one after the other (`ir.loop_versions`). For `asserted` parts
      the user promises equal bounds.
    - `outlined`: the loop is in a procedure of its own, with its directive. `one_level`: a second
      procedure handles columns with one level.
    - `for_threads`: colours are only for teams of threads; one thread visits cells in mesh order.
    - `peel`: the part of a split loop that this loop and its inner loops represent.
    - `strips`: the place of a loop over rows in a chain of loops that run strip by strip.
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
    for_threads: bool = False
    peel: Peel | None = None
    strips: RowStrips | None = None

    @property
    def computed(self) -> Extent:
        """The range of the loop, including the halo levels that it fills."""
        return Extent(Reach.HALO, self.filled) if self.filled.terms else self.extent


@dataclass(frozen=True, slots=True)
class DirectiveRegion(Keeper):
    """Statements under a directive; a work-sharing directive contains a single loop.

    `options` come from a script; data clauses are derived from the body. `place` is the side on
    which the body runs or has its data. A region that `copies` transfers its data to the device and
    back each time; for others the schedule contains transfers.
    """

    uid: str
    directive: Directive
    body: tuple[Statement, ...]
    options: RegionOptions = NO_OPTIONS
    place: Side = Side.HOST
    copies: bool = False

    @property
    def runs_on_device(self) -> bool:
        """Return whether the statements run on a device; false for a pure data region."""
        return self.place is Side.DEVICE and not self.directive.holds_data


class Phase(Enum):
    """Phase of a halo exchange: the complete exchange, its start or its end."""

    WHOLE = "whole"
    START = "start"
    FINISH = "finish"


@dataclass(frozen=True, slots=True)
class Reason:
    """The reason for an inserted statement.

    `reader` is the statement that needs it and `read` describes the access. `writer` is the
    statement that made the data stale, empty if that happened outside the invoke, and `written`
    describes it.
    """

    reader: str
    read: str
    writer: str
    written: str


@dataclass(frozen=True, slots=True)
class HaloExchange:
    """A halo exchange of a field to level `depth`.

    - `guarded`: a run-time test decides whether it is needed.
    - `annexed_only`: only annexed dofs are needed, which an exchange to depth 1 updates.
    - `pinned`: moved or split by a script; planning does not change it.
    - `fetched`: newer device values are copied to the host before. `sent`: the halo is copied to
      the device afterwards. `in_strips`: only the values that are sent are copied.
    - `joint`: uids of adjacent exchanges, including this one, that share messages; empty for none.
      If `overlapped`, they are started together and finished together instead.
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
    overlapped: bool = False
    reasons: tuple[Reason, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class MarkHalo:
    """Records the halo state after a loop at run time.

    If `dirty`, the whole halo is marked dirty. Then it is marked clean to level `clean`.
    """

    uid: str
    datum: str
    component: int | None
    dirty: bool
    clean: Depth


@dataclass(frozen=True, slots=True)
class FillHalo:
    """Initialises halo values that a loop is about to add to and that may be undefined.

    These are the annexed dofs if `annexed`, and the levels after `beyond` to `depth`. No statement
    reads them before an exchange. `reader` is the call that adds to them.
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
    """A reduction of the scalar `datum` over all ranks."""

    uid: str
    datum: str
    op: ReductionOp


@dataclass(frozen=True, slots=True)
class ProfileRegion(Keeper):
    """Statements that a profiler measures as one region.

    `module` is the module name of the region, empty for the generated module. A region contains
    complete loops, directive regions and other profile regions. With `with_exchanges`, it also
    contains the exchanges for its first loop.
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
    """The statements of an invoke.

    - `data`: in the order of the routine's dummy arguments. `imported`: module variables that are
      passed to kernels.
    - `distributed`: the data are distributed over ranks.
    - `annexed_clean`: every loop leaves annexed dofs clean (COMPUTE_ANNEXED_DOFS).
    - `fills`: dofs are initialised before a loop adds to them (FILL_BEFORE_INCREMENT).
    - `versions`: cached results for this and earlier bodies of the schedule.
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
        """All data, the imported ones last."""
        return (*self.data, *self.imported)

    def datum(self, name: str) -> Datum:
        """Return the datum called `name`.

        Raises:
            KeyError: it does not exist.
        """
        return data_by_name(self)[name]


def data_by_name(schedule: Schedule) -> dict[str, Datum]:
    """Return all data of `schedule` by name."""
    return _by_name(schedule.data, schedule.imported)


@kept_lately
def _by_name(data: tuple[Datum, ...], imported: tuple[Datum, ...]) -> dict[str, Datum]:
    return {datum.name: datum for datum in (*data, *imported)}


@kept_lately
def names_of_data(data: tuple[Datum, ...]) -> frozenset[str]:
    """Return the names of `data`."""
    return frozenset(datum.name for datum in data)


def data_keys(schedule: Schedule) -> frozenset[str]:
    """Return the names of all data of `schedule` in lower case."""
    return _keys_of_data(schedule.data, schedule.imported)


@kept_lately
def _keys_of_data(data: tuple[Datum, ...], imported: tuple[Datum, ...]) -> frozenset[str]:
    return frozenset(datum.key for datum in (*data, *imported))


@dataclass(frozen=True, slots=True)
class Invoke:
    """One invoke of an algorithm; `schedule.name` is the name of its routine.

    `held` are its accesses to storages, if the target uses storages.
    """

    schedule: Schedule
    parsed: ParsedInvoke
    held: StoragePlan = StoragePlan()

    @property
    def name(self) -> str:
        """The name of the routine, by which scripts refer to the invoke."""
        return self.schedule.name


@dataclass(frozen=True, slots=True)
class Program:
    """All invokes of an algorithm file; `name` is the module of their routines."""

    name: str
    algorithm: ParsedAlgorithm
    invokes: tuple[Invoke, ...]
