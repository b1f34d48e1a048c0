"""The questions that an analysis may ask of a domain.

An analysis works with loops, accesses and depths. A domain defines the halo that an iteration over
its mesh reads, and the state of the halo afterwards. Each answer is a small record.
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
    """Halo that must be clean before a loop reads a field.

    `depth` levels of halo, and the annexed dofs if `annexed`; depth 0 with `annexed` is
    a need of annexed dofs alone. `why` completes the sentence "the loop reads it ...".

    `carried` means that a stale replica affects only itself: the loop adds to it, and it stays
    stale. It must still have a value, which a replica that was never filled need not have:
    `filled` is the number of halo levels that the loop adds to, annexed dofs included, and None if
    it adds to owned dofs alone.
    """

    depth: Depth
    annexed: bool
    why: str
    carried: bool = False
    filled: Depth | None = None

    @property
    def anything(self) -> bool:
        """Return whether a loop reads anything beyond owned dofs."""
        return self.annexed or bool(self.depth.terms) or self.filled is not None


@dataclass(frozen=True, slots=True)
class HaloLeft:
    """State of the halo of a field after a loop that writes it.

    The halo is clean down to `clean` and dirty beyond, unless `keeps_beyond`: then no owner's
    value changed, so that deeper levels are as good as they were. `annexed` is the state of the
    annexed dofs; a field without any counts as clean. `why` completes "the loop leaves ...".
    """

    clean: Depth
    annexed: Fresh
    why: str
    keeps_beyond: bool = False


@dataclass(frozen=True, slots=True)
class KnownBounds:
    """Bounds of the loops over points of a grid in terms of the ends of its internal region.

    `own` means that they equal the bounds of the field that the loop is over.
    """

    bounds: GridBounds
    own: bool


@dataclass(frozen=True, slots=True)
class WrittenPart:
    """Part of an argument that a loop writes, if each call writes all its values.

    With `all_of_it` MAYBE these are the points of the field's region, or one value at each of its
    dofs, which are all that there are unless its halo is wider than that, or a dof has more. `why`
    completes "the loop writes ...".
    """

    all_of_it: Fresh
    why: str


class Rules(Protocol):
    """Interface of a domain for loops over its mesh."""

    def initial_extent(self, call: KernelCall, schedule: Schedule) -> Extent:
        """Return how far the loop around `call` must run before any transformation."""

    def halo_need(self, schedule: Schedule, loop: Loop, call: KernelCall, arg: int) -> HaloNeed:
        """Return what the loop needs of the argument at position `arg` of `call` before it."""

    def halo_left(self, schedule: Schedule, loop: Loop, call: KernelCall, arg: int) -> HaloLeft:
        """Return what the loop leaves of the written argument at position `arg` of `call`."""

    def written_part(self, loop: Loop, call: KernelCall, arg: int) -> WrittenPart:
        """Return how much `loop` writes of the argument at `arg` of `call`, which is only written.

        What is left out must be nothing, or values that are stale after the loop.
        """

    def keeps_annexed_clean(self, schedule: Schedule) -> bool:
        """Return whether annexed dofs are clean before and after every invoke."""

    def shares_dofs(self, described: KernelArg) -> bool:
        """Return whether neighbouring cells may both touch a dof of such an argument."""

    def without_annexed(self, schedule: Schedule) -> frozenset[str]:
        """Return the names of the data that provably have no annexed dofs."""

    def knows_clean_halos(self) -> bool:
        """Return whether run-time flags record which halos are clean."""

    def known_bounds(self, loop: Loop) -> KnownBounds | None:
        """Return bounds of `loop` that are known before the program runs, if there are any."""

    def sums_exactly(self) -> bool:
        """Return whether reals are summed without rounding, in an object of its own."""

    def interior(self, loop: Loop) -> Interior:
        """Return how far inside an iteration of `loop` has to be to read nothing of a halo."""

    def check_split(self, schedule: Schedule, loop: Loop) -> tuple[Diagnostic, ...]:
        """Return why `loop` must not be cut into its interior and a rim; nothing if it may."""

    def overlaps_exchanges(self) -> bool:
        """Return whether an exchange can be started and finished apart."""

    def exchanges_in_strips(self) -> bool:
        """Return whether an exchange itself brings what it sends from a device, and the halo there.

        It does so if the device's copy is valid, and does not change the rest of the host's copy.
        """

    def sums_in_order(self) -> bool:
        """Return whether the parts of a sum are added in the order of the threads, unless told."""

    def may_fill(self, loop: Loop) -> bool:
        """Return whether `loop` sets values that are right in the halo, too, whatever is there."""

    def check_extent(self, loop: Loop, call: KernelCall) -> tuple[Diagnostic, ...]:
        """Return why `call` must not run as far as `loop` goes; nothing if it may."""


@dataclass(frozen=True, slots=True)
class SharedProcedure:
    """A procedure that may change what threads share: a kernel's own, or one that it calls.

    `passed` are variables that it passes to procedures that change them, and `aimed` pointers that
    procedures associate with shared data. `callers` are the names of the kernel and of the
    procedures through which it is called, nothing for the kernel's own.
    """

    code: Routine
    passed: frozenset[str] = frozenset()
    callers: tuple[str, ...] = ()
    aimed: frozenset[str] = frozenset()


class KernelSource(Protocol):
    """Source of the code of kernels, read when a step requests it."""

    def codes_of(self, kernel: Kernel) -> tuple[Routine, ...]:
        """Return the subroutines that implement `kernel`, which is no built-in, in their order.

        Raises:
            CompileError: it cannot be read.
        """

    def shared_procedures(
        self, kernel: Kernel, codes: tuple[Routine, ...]
    ) -> tuple[SharedProcedure, ...]:
        """Return what of `kernel` and all that it calls may change what threads share.

        `codes` are its subroutines after steps, if any. Procedures that are not found or cannot be
        read are left out.
        """

    def is_thread_safe(self, kernel: Kernel, code: Routine) -> bool:
        """Return whether the user says that threads may share `code`, whatever it keeps."""
