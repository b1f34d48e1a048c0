"""Interface between analyses and domains.

An analysis works with loops, accesses and depths. A domain defines which halo values an iteration
over its mesh reads, and the state of the halo afterwards.
"""

from __future__ import annotations

from typing import Protocol

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.fresh import Fresh
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.kernel import GridBounds, Kernel, KernelArg
from psyclone_storage.ir.loop_split import Interior
from psyclone_storage.ir.region import Depth
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.schedule import Extent, KernelCall, Loop, Schedule


@dataclass(frozen=True, slots=True)
class HaloNeed:
    """Halo values that must be clean before a loop reads a field.

    - `depth`: number of halo levels. `annexed`: whether annexed dofs must be clean too.
    - `why`: completes the sentence "the loop reads it ...".
    - `carried`: the loop only adds to the stale values, which remain stale. They must be
      initialised nevertheless: `filled` is the number of halo levels, including annexed dofs, to
      which the loop adds; None if it adds only to owned dofs.
    """

    depth: Depth
    annexed: bool
    why: str
    carried: bool = False
    filled: Depth | None = None

    @property
    def anything(self) -> bool:
        """Return whether a loop reads or adds to anything beyond owned dofs."""
        return self.annexed or bool(self.depth.terms) or self.filled is not None


@dataclass(frozen=True, slots=True)
class HaloLeft:
    """State of the halo of a field after a loop that writes the field.

    The halo is clean to level `clean` and dirty beyond. With `keeps_beyond` no owned value has
    changed, so the state of deeper levels is unchanged. `annexed` is the state of annexed dofs; it
    is clean if the field has none. `why` completes "the loop leaves ...".
    """

    clean: Depth
    annexed: Fresh
    why: str
    keeps_beyond: bool = False


@dataclass(frozen=True, slots=True)
class KnownBounds:
    """Bounds of loops over grid points, relative to the internal region of the grid.

    `own` means that they equal the bounds of the field over which the loop runs.
    """

    bounds: GridBounds
    own: bool


@dataclass(frozen=True, slots=True)
class WrittenPart:
    """The part of an argument that a loop overwrites completely.

    If `all_of_it` is MAYBE, the loop writes the internal region of the field, or one value at each
    dof. This is everything unless the halo is wider or dofs have several values. `why` completes
    "the loop writes ...".
    """

    all_of_it: Fresh
    why: str


class Rules(Protocol):
    """Rules of a domain for loops over its mesh."""

    def initial_extent(self, call: KernelCall, schedule: Schedule) -> Extent:
        """Return the range of the loop around `call` before any transformation."""

    def halo_need(self, schedule: Schedule, loop: Loop, call: KernelCall, arg: int) -> HaloNeed:
        """Return the halo values that `loop` needs of argument `arg` (a position) of `call`."""

    def halo_left(self, schedule: Schedule, loop: Loop, call: KernelCall, arg: int) -> HaloLeft:
        """Return the halo state of the written argument `arg` of `call` after `loop`."""

    def written_part(self, loop: Loop, call: KernelCall, arg: int) -> WrittenPart:
        """Return which part of the write-only argument `arg` of `call` is written by `loop`.

        Values that are not written must be stale after the loop.
        """

    def keeps_annexed_clean(self, schedule: Schedule) -> bool:
        """Return whether annexed dofs are clean before and after every invoke."""

    def shares_dofs(self, described: KernelArg) -> bool:
        """Return whether neighbouring cells may access the same dof of such an argument."""

    def without_annexed(self, schedule: Schedule) -> frozenset[str]:
        """Return the names of data that provably have no annexed dofs."""

    def knows_clean_halos(self) -> bool:
        """Return whether run-time flags record which halos are clean."""

    def known_bounds(self, loop: Loop) -> KnownBounds | None:
        """Return the bounds of `loop` if they are known at compile time, otherwise None."""

    def sums_exactly(self) -> bool:
        """Return whether real sums are accumulated exactly, in an accumulator object."""

    def interior(self, loop: Loop) -> Interior:
        """Return the distance from the border at which an iteration of `loop` reads no halo."""

    def check_split(self, schedule: Schedule, loop: Loop) -> tuple[Diagnostic, ...]:
        """Return diagnostics for each reason not to split `loop` into interior and rim."""

    def overlaps_exchanges(self) -> bool:
        """Return whether the start and the end of an exchange can be separate operations."""

    def exchanges_in_strips(self) -> bool:
        """Return whether an exchange itself transfers its values from and to a device.

        It transfers the values to send from the device and the halo to it if the device copy is
        valid; the rest of the host copy does not change.
        """

    def sums_in_order(self) -> bool:
        """Return whether partial sums are added in thread order by default."""

    def may_fill(self, loop: Loop) -> bool:
        """Return whether `loop` computes correct halo values independent of previous values."""

    def check_extent(self, loop: Loop, call: KernelCall) -> tuple[Diagnostic, ...]:
        """Return diagnostics for each reason why `call` must not run over the range of `loop`."""


@dataclass(frozen=True, slots=True)
class SharedProcedure:
    """A procedure that may change data shared between threads: of a kernel or called by it.

    `passed` are shared variables passed to procedures that modify them. `aimed` are pointers that
    procedures associate with shared data. `callers` are the kernel and the procedures on the call
    path, empty for the kernel's own subroutine.
    """

    code: Routine
    passed: frozenset[str] = frozenset()
    callers: tuple[str, ...] = ()
    aimed: frozenset[str] = frozenset()


class KernelSource(Protocol):
    """Provider of kernel source code, read on demand."""

    def codes_of(self, kernel: Kernel) -> tuple[Routine, ...]:
        """Return the subroutines that implement `kernel`, which is not a built-in, in order.

        Raises:
            CompileError: the source cannot be read.
        """

    def shared_procedures(
        self, kernel: Kernel, codes: tuple[Routine, ...]
    ) -> tuple[SharedProcedure, ...]:
        """Return the procedures reachable from `kernel` that may change data shared by threads.

        `codes` are the kernel's subroutines after transformation, if any. Procedures that cannot be
        found or read are left out.
        """

    def is_thread_safe(self, kernel: Kernel, code: Routine) -> bool:
        """Return whether the user asserts that `code` is thread-safe despite its saved data."""
