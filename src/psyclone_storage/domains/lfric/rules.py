"""Halo rules of loops over an LFRic mesh: required halo, and halo state afterwards.

The decision tables determine the extent of a loop, the replicas that a call reads, and the replicas
that are clean afterwards. They follow from four facts about a partition:

- A dof on an owned cell that another rank owns is *annexed*. Fields on discontinuous spaces have
  none. Every annexed dof is on an owned cell and on a cell of halo level 1.

- A dof has the level of the innermost cell that contains it. A cell of level k touches only dofs of
  the levels k and k
- 1.

- The owner has the correct value. An exchange to depth d copies it to annexed dofs and levels 1 to
  d.

- A kernel with GH_WRITE on a continuous space writes the same value to a shared dof from every
  cell. A kernel with GH_INC adds a contribution from every cell around the dof.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.fresh import Fresh
from psyclone_storage.base.memo import kept_by_version, kept_lately
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.splices import Splice
from psyclone_storage.infrastructures.lfric import (
    OPERATOR_DEPTH,
    discontinuous_data,
    is_continuous,
    is_wildcard,
)
from psyclone_storage.ir.expr import spell
from psyclone_storage.ir.kernel import Access, ArgKind, Iteration, Kernel, KernelArg, MeshRole
from psyclone_storage.ir.loop_split import Interior, PeelSection
from psyclone_storage.ir.region import NOTHING, WHOLE, Depth, deepest, describe_depth
from psyclone_storage.ir.rules import HaloLeft, HaloNeed, WrittenPart
from psyclone_storage.ir.schedule import (
    Compound,
    Extent,
    KernelCall,
    Loop,
    Over,
    Reach,
    Schedule,
    Statement,
)
from psyclone_storage.ir.walk import kernel_calls, place_of

FINE_LEVELS = 2
"""Cells of the fine mesh along one edge of a coarse cell: neighbouring meshes differ by this."""

_NO_NEED = HaloNeed(NOTHING, False, "on owned dofs only")
_ONE = Depth.of(1)


def iteration_argument(kernel: Kernel) -> int:
    """Return the position of the argument whose space and mesh determine loop bounds (spec 6.1).

    The first match in this order is used: a written operator (computed in the halo); in a kernel
    between two meshes, the first coarse field; the written field whose space needs the largest loop
    (continuous including `any_w2`, then `any_space`, then discontinuous); the first field; an
    operator that is read.

    Raises:
        ValueError: the kernel has neither a field nor an operator.
    """
    args = list(enumerate(kernel.args))
    fields = [(at, arg) for at, arg in args if arg.kind is ArgKind.FIELD]
    written = [(at, arg.space) for at, arg in fields if arg.access.writes]
    choices = [at for at, arg in args if arg.kind.is_operator and arg.access.writes]
    if kernel.is_intergrid:
        choices += [at for at, arg in fields if arg.mesh is MeshRole.COARSE]
    choices += [at for at, space in written if is_continuous(space) and not is_wildcard(space)]
    choices += [at for at, space in written if is_continuous(space) and is_wildcard(space)]
    choices += [at for at, space in written if not is_continuous(space)]
    choices += [at for at, _ in fields] + [at for at, arg in args if arg.kind.is_operator]
    if not choices:
        raise ValueError(f"kernel '{kernel.name}' has neither a field nor an operator")
    return choices[0]


@dataclass(frozen=True, slots=True)
class LfricRules:
    """Implementation of `ir.rules.Rules` for LFRic.

    - `ordered_sums`: sums over threads are reproducible.

    - `exact_sums`: reals are summed without rounding.

    - `strips`: exchanges copy from a device only the values that they send.
    """

    ordered_sums: bool = False
    exact_sums: bool = False
    strips: bool = False

    def initial_extent(self, call: KernelCall, schedule: Schedule) -> Extent:
        """Return the extent of the loop around `call` before any transformation (spec 6.1).

        A kernel over halo cells keeps its extent even if data are not distributed. There is no halo
        then, and the loop is empty.
        """
        kernel = call.kernel
        if kernel.iteration is Iteration.HALO_CELL_COLUMN:
            return Extent(Reach.HALO_ONLY, _asked_depth(call))
        if not schedule.distributed:
            return Extent(Reach.ALL)
        match kernel.iteration:
            case Iteration.OWNED_AND_HALO_CELL_COLUMN | Iteration.OWNED_AND_HALO_DOF if (
                _asked_depth(call).terms
            ):
                return Extent(Reach.HALO, _asked_depth(call))
            case Iteration.OWNED_AND_HALO_DOF:
                return Extent(Reach.ANNEXED)
            case Iteration.DOF if schedule.annexed_clean and not _reduces(kernel):
                return Extent(Reach.ANNEXED)
            case Iteration.CELL_COLUMN if _must_enter_halo(kernel):
                return Extent(Reach.HALO, _ONE)
        return Extent(Reach.OWNED)

    def halo_need(self, schedule: Schedule, loop: Loop, call: KernelCall, arg: int) -> HaloNeed:
        """Return the replicas that must be clean before `loop` runs `call`, for argument `arg`.

        Only fields are exchanged (spec 6.2). Depths follow spec 6.3, except in four cases:

        - A kernel with only GH_WRITE over owned cells still reads the annexed dofs of every other
          continuous field that it reads (B6).

        - A loop over owned and annexed dofs reads annexed dofs.

        - GH_INC over owned cells only, or halo cells only, makes all replicas stale, so none has to
          be clean before.

        - GH_INC to level d of the coarse mesh reads 2 d
        - 1 levels of a fine field, not 2 d.
        """
        described = call.kernel.args[arg]
        if described.kind is not ArgKind.FIELD or not described.access.reads:
            return _NO_NEED
        reach = loop.extent.reach
        if reach is Reach.ALL or not schedule.distributed:
            return _NO_NEED
        if _stays_inside(loop, call, arg):
            return _NO_NEED
        continuous = is_continuous(described.space)
        if loop.over is Over.DOFS:
            return _dofs_need(loop.computed.reach, loop.computed.depth, continuous)
        extent = call.args[arg].extent if described.stencil else None
        if reach is Reach.OWNED and extent is None and not continuous:
            return _NO_NEED
        stencil = None if extent is None else Depth.value(extent)
        asked = call.kernel.iteration.takes_halo_depth
        use = _FieldUse(described.access, continuous, described.mesh is MeshRole.FINE)
        return _cells_need(reach, _levels(loop.extent.depth, stencil, asked), use, stencil is None)

    def halo_left(self, schedule: Schedule, loop: Loop, call: KernelCall, arg: int) -> HaloLeft:
        """Return the halo state after `loop` of the field that `call` writes at argument `arg`.

        It follows spec 6.4, except for GH_WRITE on a continuous space. There every cell writes the
        correct value to all of its dofs. The outermost level is thus also clean, and annexed dofs
        are clean even if the loop covers only owned cells (W7). Deeper levels of a discontinuous
        field remain unchanged.

        The values written by a kernel over halo cells are considered correct. LFRic's halo masks
        and remapped edges differ from the owner's values on purpose.
        """
        described = call.kernel.args[arg]
        continuous = is_continuous(described.space)
        if loop.over is Over.DOFS:
            return _dofs_left(loop.computed.reach, loop.computed.depth, continuous)
        if _is_interior(loop):
            annexed = Fresh.of(not continuous)
            return HaloLeft(NOTHING, annexed, "its halo stale: only inner cells are computed")
        use = _FieldUse(described.access, continuous, described.mesh is MeshRole.FINE)
        return _cells_left(loop.extent.reach, loop.extent.depth, use)

    def written_part(self, loop: Loop, call: KernelCall, arg: int) -> WrittenPart:
        """Return whether `loop` writes all owned values, as far as metadata ensure it.

        Replicas that a loop omits are stale afterwards. Built-ins and kernels over dofs write each
        dof. A kernel over cells has the number of layers of its first field, and the dofmap of only
        the first of several values at a dof. It therefore covers a discontinuous field completely
        only if that field has the same number of layers.
        """
        described = call.kernel.args[arg]
        if described.kind is not ArgKind.FIELD or described.mesh is not None:
            return WrittenPart(Fresh.NO, "what another mesh or the levels of an operator ask for")
        if loop.peel is not None:
            return WrittenPart(Fresh.NO, "a part of its cells")
        if loop.extent.reach is Reach.HALO_ONLY:
            return WrittenPart(Fresh.NO, "its halo alone")
        if call.kernel.mask is not None:
            return WrittenPart(Fresh.NO, "the cells that a mask marks")
        if loop.over is Over.DOFS:
            return WrittenPart(Fresh.YES, "all dofs that its rank owns")
        if is_continuous(described.space):
            return WrittenPart(Fresh.NO, "dofs that cells share")
        if loop.over is Over.DOMAIN:
            return WrittenPart(Fresh.NO, "the cells that it counts itself")
        if not _has_layers_of_first(call.kernel, arg):
            return WrittenPart(Fresh.NO, "the levels that another field has")
        return WrittenPart(Fresh.MAYBE, "all dofs that its rank owns")

    def keeps_annexed_clean(self, schedule: Schedule) -> bool:
        """Return whether annexed dofs are clean before and after every invoke."""
        return schedule.distributed and schedule.annexed_clean

    def shares_dofs(self, described: KernelArg) -> bool:
        """Return whether neighbouring cells may access the same dof of an argument."""
        return described.kind is ArgKind.FIELD and is_continuous(described.space)

    def without_annexed(self, schedule: Schedule) -> frozenset[str]:
        """Return the names of data that some call uses as a discontinuous field.

        Built-ins accept fields on any space, so only other calls determine the space. A field also
        used as a continuous one has contradictory metadata and is omitted.
        """
        return _discontinuous_data(_uses_on_spaces(schedule))

    def knows_clean_halos(self) -> bool:
        """Return True, because every field has a flag for each halo level."""
        return True

    def known_bounds(self, loop: Loop) -> None:
        """Return None, because the numbers of cells and dofs are known only at run time."""

    def sums_in_order(self) -> bool:
        """Return whether the settings ask for reproducible reductions."""
        return self.ordered_sums

    def sums_exactly(self) -> bool:
        """Return whether the settings request exact sums."""
        return self.exact_sums

    def interior(self, loop: Loop) -> Interior:
        """Return the smallest depth from which no call of `loop` reads halo or annexed dofs."""
        depths = (
            _depth_inside(call, at)
            for call in kernel_calls(loop)
            for at, described in enumerate(call.kernel.args)
            if described.kind is ArgKind.FIELD
        )
        return Interior(deepest(depths))

    def check_split(self, schedule: Schedule, loop: Loop) -> tuple[Diagnostic, ...]:
        """Return diagnostics if `loop` must not be split into inner cells and the others.

        Written fields must not be exchanged between the two parts, because neighbours would receive
        incomplete data.
        """
        if loop.over is not Over.CELLS or loop.extent.reach is Reach.HALO_ONLY:
            what = loop.over.value if loop.over is not Over.CELLS else "cells of the halo alone"
            message = f"'{loop.uid}' runs over {what}, of which none are told to be inside."
            return (Diagnostic("T037", message, place_of(loop)),)
        problems: dict[str, Diagnostic] = {}
        for call in kernel_calls(loop):
            for at in range(len(call.kernel.args)):
                if (why := self._why_in_one_piece(schedule, loop, call, at)) is not None:
                    problems.setdefault(why.message, why)
        return tuple(problems.values())

    def _why_in_one_piece(
        self, schedule: Schedule, loop: Loop, call: KernelCall, at: int
    ) -> Diagnostic | None:
        described, place = call.kernel.args[at], call.args[at].span or call.span
        name = spell(call.args[at].value)
        if described.mesh is not None:
            message = f"'{call.kernel.name}' works on the cells of two meshes."
            return Diagnostic("T037", message, place)
        if described.access is Access.REDUCTION:
            message = f"'{call.kernel.name}' sums over all cells into '{name}'."
            return Diagnostic("T037", message, place)
        if described.access.increments and self.shares_dofs(described):
            message = (
                f"'{call.kernel.name}' adds to '{name}' at dofs that cells of the interior and of"
                " the rim share: half of a sum would be there in between."
            )
            return Diagnostic("T037", message, place)
        if described.access.writes and self.halo_need(schedule, loop, call, at).anything:
            message = f"'{call.kernel.name}' reads the halo of '{name}', which it changes."
            return Diagnostic("T037", message, place)
        return None

    def overlaps_exchanges(self) -> bool:
        """Return True, because the start and the end of an exchange are separate procedures."""
        return True

    def exchanges_in_strips(self) -> bool:
        """Return whether the settings request strips; a separate module determines the dofs."""
        return self.strips

    def may_fill(self, loop: Loop) -> bool:
        """Return whether `loop` contains only built-ins that set fields without reading fields."""
        return (
            loop.over is Over.DOFS
            and loop.extent.reach in (Reach.OWNED, Reach.ANNEXED)
            and all(map(_sets_constants, kernel_calls(loop)))
        )

    def check_extent(self, loop: Loop, call: KernelCall) -> tuple[Diagnostic, ...]:
        """Return diagnostics if `call` must not run over the whole extent of `loop`.

        An operator needs values in all cells where it is read (B4) or written, and where a stencil
        reaches from these cells. An operator that reads a field cannot be applied in the whole
        halo, because it would read beyond it (B3). If the extent of an operator's stencil is known
        only at run time, the generated code checks it.
        """
        problems = []
        for at, described in enumerate(call.kernel.args):
            if described.kind.is_operator and _goes_too_far(loop.extent, call):
                problems.append(_operator_problem(loop, call, at))
            elif described.kind.is_operator and described.stencil:
                problems += _matrices_problem(loop, call, at)
            elif described.stencil and not _stencil_fits(loop.extent, call):
                problems.append(_stencil_problem(call, at))
        return tuple(problems)


# ---------------------------------------------------------------------------- inside


def _updated_uses(
    known: Counter[tuple[str, str]], _: Schedule, splice: Splice[Statement]
) -> Counter[tuple[str, str]]:
    """Return the number of uses of each datum as a field on each function space."""
    removed = Counter(chain.from_iterable(map(_passed_fields, splice.removed)))
    added = Counter(chain.from_iterable(map(_passed_fields, splice.added)))
    return known if removed == added else known + added - removed


_uses_on_spaces = kept_by_version(Counter[tuple[str, str]])(_updated_uses)
_discontinuous_data = kept_lately(discontinuous_data)


def _passed_fields(item: Statement) -> list[tuple[str, str]]:
    """Return the function space and name of each field passed by the calls in a statement."""
    return [
        (described.space, actual.datum)
        for call in (kernel_calls(item) if isinstance(item, Compound) else ())
        for described, actual in zip(call.kernel.args, call.args, strict=True)
        if described.kind is ArgKind.FIELD and actual.datum is not None
    ]


def _is_interior(loop: Loop) -> bool:
    return loop.peel is not None and loop.peel.section is PeelSection.INTERIOR


def _depth_inside(call: KernelCall, arg: int) -> Depth:
    """Return the depth of cells (0 at the edge) that touch only owned dofs of an argument."""
    described, extent = call.kernel.args[arg], call.args[arg].extent
    reach = Depth.value(extent) if described.stencil and extent is not None else NOTHING
    return reach.plus(_ONE) if is_continuous(described.space) else reach


def _stays_inside(loop: Loop, call: KernelCall, arg: int) -> bool:
    """Return whether a loop is an interior that reads only owned dofs."""
    if loop.peel is None or not _is_interior(loop):
        return False
    return loop.peel.interior.depth.covers(_depth_inside(call, arg)) is Fresh.YES


# ---------------------------------------------------------------------------- how far


def _asked_depth(call: KernelCall) -> Depth:
    """Return the halo depth that the algorithm requests for the kernel; it may be 0."""
    if call.halo_depth is None:
        return NOTHING
    return Depth.value(call.halo_depth)


def _reduces(kernel: Kernel) -> bool:
    return any(arg.access is Access.REDUCTION for arg in kernel.args)


def _has_layers_of_first(kernel: Kernel, arg: int) -> bool:
    """Return whether an argument certainly has the layers of the first field or operator."""
    described = kernel.args[arg]
    at, first = next((at, one) for at, one in enumerate(kernel.args) if not one.kind.is_scalar)
    if described.layers or described.data_per_dof:
        return False
    shared = not is_wildcard(described.space) and not (first.layers or first.data_per_dof)
    same = (first.space, first.numbering) == (described.space, described.numbering)
    return at == arg or (shared and same and first.kind is ArgKind.FIELD)


def _sets_constants(call: KernelCall) -> bool:
    """Return whether `call` is a built-in that assigns values known on each rank."""
    fields = [arg for arg in call.kernel.args if arg.kind is ArgKind.FIELD]
    return (
        call.kernel.is_builtin
        and call.kernel.iteration is Iteration.DOF
        and not _reduces(call.kernel)
        and all(arg.access is Access.WRITE for arg in fields)
    )


def _must_enter_halo(kernel: Kernel) -> bool:
    """Return whether owned and annexed dofs are only correct if halo cells are also computed.

    This holds for operators, which are computed in the halo by convention, and for dofs that
    receive a contribution from each adjacent cell. It is also assumed for kernels that update data
    other than by GH_WRITE, if their iteration argument may be continuous.
    """
    described = kernel.args[iteration_argument(kernel)]
    if described.kind.is_operator:
        return described.access.writes
    updated = [arg for arg in kernel.args if arg.access.writes]
    if all(arg.access is Access.WRITE for arg in updated):
        return False
    gathers = any(arg.access.increments and is_continuous(arg.space) for arg in updated)
    return gathers or is_continuous(described.space)


# ---------------------------------------------------------------------------- what is read


@dataclass(frozen=True, slots=True)
class _FieldUse:
    """Use of a field by a call, as input of the decision tables."""

    access: Access
    continuous: bool
    fine: bool


def _levels(depth: Depth, stencil: Depth | None, asked: bool) -> Depth:
    """Return the number of levels accessed from cells down to halo level `depth`.

    A stencil of extent s reaches s levels further. If the algorithm requests the depth (`asked`),
    the larger of both is the result. Such kernels are called for the whole halo of a field, and
    their stencils stay inside it. An exchange deeper than the halo is a run-time error in LFRic
    (PSyclone issue 2781).
    """
    if stencil is None:
        return depth
    return depth.max(stencil) if asked else depth.plus(stencil)


@lru_cache(maxsize=4096)
def _cells_need(reach: Reach, levels: Depth, use: _FieldUse, in_cell: bool) -> HaloNeed:
    """Return what a loop over cells reads to `levels`; `in_cell` is true without a stencil."""
    touched = levels.times(FINE_LEVELS) if use.fine else levels
    if use.access is Access.INC and in_cell:
        return _increment_need(reach, touched, use)
    if not in_cell:
        why = f"with a stencil that reaches halo level {describe_depth(touched)}"
    elif reach is Reach.OWNED:
        why = "at the annexed dofs of owned cells"
    else:
        why = f"in halo cells to level {describe_depth(touched)}"
    return HaloNeed(touched, use.continuous, why)


def _increment_need(reach: Reach, touched: Depth, use: _FieldUse) -> HaloNeed:
    if reach is not Reach.HALO:
        why = "to add to, and all its replicas are stale afterwards"
        return HaloNeed(NOTHING, False, why, filled=touched)
    inner = touched.minus(1)
    why = f"to add to its halo level {describe_depth(inner)}"
    if inner == NOTHING:
        why = "to add to its annexed dofs"
    return HaloNeed(inner, use.continuous, why, carried=True, filled=touched)


@lru_cache(maxsize=4096)
def _dofs_need(reach: Reach, depth: Depth, continuous: bool) -> HaloNeed:
    match reach:
        case Reach.ANNEXED if continuous:
            return HaloNeed(NOTHING, True, "at annexed dofs")
        case Reach.HALO:
            return HaloNeed(depth, continuous, f"at the dofs of halo level {describe_depth(depth)}")
    return _NO_NEED


# ---------------------------------------------------------------------------- what is left


@lru_cache(maxsize=4096)
def _cells_left(reach: Reach, depth: Depth, use: _FieldUse) -> HaloLeft:
    """Return the halo state after a loop over cells: see `LfricRules.halo_left`."""
    outermost = depth.times(FINE_LEVELS) if use.fine else depth
    match reach:
        case Reach.ALL:
            return HaloLeft(WHOLE, Fresh.YES, "nothing stale: no data are distributed")
        case Reach.HALO if use.access.increments:
            inner = outermost.minus(1)
            annexed = _annexed_if_entered(outermost, use)
            return HaloLeft(inner, annexed, _clean_to(inner, "dofs there lack parts"))
        case Reach.HALO:
            return HaloLeft(outermost, Fresh.YES, _clean_to(outermost, "not computed there"))
        case Reach.HALO_ONLY if not use.access.increments:
            why = f"its halo as computed, to level {describe_depth(outermost)}"
            annexed = _annexed_if_entered(outermost, use)
            return HaloLeft(outermost, annexed, why, keeps_beyond=not use.continuous)
    if not use.continuous:
        return HaloLeft(NOTHING, Fresh.YES, "its halo stale: only owned cells are computed")
    if use.access is Access.WRITE:
        return HaloLeft(NOTHING, Fresh.YES, "its halo stale and its annexed dofs clean")
    return HaloLeft(NOTHING, Fresh.NO, "its halo and its annexed dofs stale: dofs there lack parts")


def _annexed_if_entered(depth: Depth, use: _FieldUse) -> Fresh:
    """Return whether annexed dofs are clean after halo cells to `depth` are computed."""
    entered = depth.covers(_ONE) is Fresh.YES
    return Fresh.YES if entered or not use.continuous else Fresh.MAYBE


def _clean_to(depth: Depth, because: str) -> str:
    if depth == NOTHING:
        return f"its halo stale ({because}) and its annexed dofs clean"
    if depth == WHOLE:
        return "its halo clean"
    return f"its halo clean to level {describe_depth(depth)} and stale beyond ({because})"


@lru_cache(maxsize=4096)
def _dofs_left(reach: Reach, depth: Depth, continuous: bool) -> HaloLeft:
    match reach:
        case Reach.ALL:
            return HaloLeft(WHOLE, Fresh.YES, "nothing stale: no data are distributed")
        case Reach.HALO:
            return HaloLeft(depth, Fresh.YES, _clean_to(depth, "not computed there"))
        case Reach.ANNEXED:
            return HaloLeft(NOTHING, Fresh.YES, "its halo stale and its annexed dofs clean")
    if not continuous:
        return HaloLeft(NOTHING, Fresh.YES, "its halo stale: only owned dofs are computed")
    why = "its halo and its annexed dofs stale: only owned dofs are computed"
    return HaloLeft(NOTHING, Fresh.NO, why)


# ---------------------------------------------------------------------------- what must not be


def _goes_too_far(extent: Extent, call: KernelCall) -> bool:
    """Return whether a loop of known depth enters cells without memory of an operator."""
    known = Depth.of(OPERATOR_DEPTH).covers(extent.depth)
    seen_later = call.kernel.iteration.takes_halo_depth and known is Fresh.MAYBE
    return extent.reach.in_halo and known is not Fresh.YES and not seen_later


def _stencil_fits(extent: Extent, call: KernelCall) -> bool:
    whole = extent.reach.in_halo and any(term.whole for term in extent.depth.terms)
    return not whole or call.kernel.iteration.takes_halo_depth


def _operator_problem(loop: Loop, call: KernelCall, at: int) -> Diagnostic:
    actual = call.args[at]
    return Diagnostic(
        "S001",
        f"Kernel '{call.kernel.name}' uses the operator '{spell(actual.value)}' in halo cells to"
        f" level {describe_depth(loop.extent.depth)}, but operators hold values to level"
        f" {OPERATOR_DEPTH} only.",
        actual.span or call.span,
        hint=f"Compute this loop to level {OPERATOR_DEPTH} of the halo at most.",
    )


def _matrices_problem(loop: Loop, call: KernelCall, at: int) -> Iterator[Diagnostic]:
    """Yield a diagnostic if a stencil reaches cells for which an operator has no values."""
    actual = call.args[at]
    around = Depth.value(actual.extent) if actual.extent else NOTHING
    levels = loop.extent.depth.plus(around) if loop.extent.reach.in_halo else around
    known = Depth.of(OPERATOR_DEPTH).covers(levels)
    if loop.extent.reach is Reach.ALL or known is Fresh.YES:
        return
    if known is Fresh.MAYBE and not loop.extent.reach.in_halo:
        return
    in_halo = loop.extent.reach.in_halo
    yield Diagnostic(
        "S001",
        f"Kernel '{call.kernel.name}' looks at the operator '{spell(actual.value)}' with a stencil"
        f" that reaches halo level {describe_depth(levels)}, but operators hold values to level"
        f" {OPERATOR_DEPTH} only.",
        actual.span or call.span,
        hint="Keep the kernel on owned cells: write its fields with 'gh_write' or on discontinuous"
        " spaces, or use 'operates_on = OWNED_CELL_COLUMN'."
        if in_halo
        else f"Give the stencil an extent of {OPERATOR_DEPTH}.",
    )


def _stencil_problem(call: KernelCall, at: int) -> Diagnostic:
    actual = call.args[at]
    return Diagnostic(
        "S002",
        f"Kernel '{call.kernel.name}' reads '{spell(actual.value)}' with a stencil, which would"
        " look beyond the halo if the loop ran over the whole of it.",
        actual.span or call.span,
        hint="Give the loop a depth that leaves room for the stencil.",
    )
