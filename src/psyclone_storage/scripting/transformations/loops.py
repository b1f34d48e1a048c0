"""PSyclone's names for transformations of loops and of halo exchanges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.infrastructures.lfric import Continuity, continuity_of
from psyclone_storage.ir.loops import following_loop
from psyclone_storage.ir.walk import kernel_calls
from psyclone_storage.scripting.errors import TransformationError
from psyclone_storage.scripting.transformations.base import (
    Nodes,
    Transformation,
    TransformationOptions,
    two_nodes,
)
from psyclone_storage.scripting.transformations.on_files import NodeRequest
from psyclone_storage.scripting.views import Loop, Schedule, ScheduleNode
from psyclone_storage.transform.asynchronous import SplitExchange
from psyclone_storage.transform.bounds import ConstantLoopBounds
from psyclone_storage.transform.colour import ColourLoop
from psyclone_storage.transform.fuse import FuseInKernel, FuseLoops
from psyclone_storage.transform.move import MoveStatement
from psyclone_storage.transform.redundant import ComputeRedundantly
from psyclone_storage.transform.step import Step, loop_named
from psyclone_storage.transform.swap import SwapInKernel, SwapLoops
from psyclone_storage.transform.tile import (
    StripMineInKernel,
    StripMineLoop,
    TileInKernel,
    TileLoops,
)
from psyclone_storage.transform.workbench import NamedStep, Workbench


class Colour(Transformation):
    """Colour a loop over cells; a loop without races on shared dofs remains unchanged."""

    of_loops = True
    options: Mapping[str, object] = {"tiling": False}

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        return ColourLoop(nodes[0].uid, tiling=bool(options["tiling"]))

    def _tried(self, step: Step, bench: Workbench) -> Reasons:
        """Return the reasons for which nothing has to be changed.

        Raises:
            TransformationError: all reasons for which `step` is rejected. Loops over discontinuous
                spaces are rejected.
        """
        reasons = super()._tried(step, bench)
        if reasons and isinstance(step, ColourLoop):
            loop = loop_named(bench.schedule, step.loop)
            space = kernel_calls(loop)[0].kernel.args[loop.bounds_from].space
            if continuity_of(space) is Continuity.DISCONTINUOUS:
                raise TransformationError(*reasons)
        return reasons

    def _is_idle(self, reasons: Reasons) -> bool:
        return all(reason.code == "T006" for reason in reasons)


class RedundantComputation(Transformation):
    """Compute halo cells redundantly, to a given depth or to the whole halo depth."""

    of_loops = True
    options: Mapping[str, object] = {"depth": None}

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        depth = options["depth"]
        if depth is None:
            return ComputeRedundantly(nodes[0].uid)
        if not isinstance(depth, int) or depth < 1:
            raise TransformationError(Diagnostic("T014", f"A halo has no level '{depth}'."))
        return ComputeRedundantly(nodes[0].uid, depth)


class LoopFuse(Transformation):
    """Fuse a loop with the next loop."""

    of_loops = True
    options: Mapping[str, object] = {"same_space": False}
    tested = False
    """Whether bounds that may differ are compared when the program runs."""

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        first, second = two_nodes(self, nodes)
        same_space = bool(options["same_space"])
        return FuseLoops(first.uid, second.uid, same_space=same_space, tested=self.tested)

    def _on_file(self, request: NodeRequest) -> NamedStep:
        first, second = request.two_loops()
        step = FuseInKernel(request.routine.key, request.loop_number(first))
        if following_loop(request.bench.code(request.routine.key), first) is not second:
            message = f"'{self.name}' takes two loops that follow one another."
            raise TransformationError(Diagnostic("T063", message, first.place))
        return step


class GeneralLoopFuse(LoopFuse):
    """Fuse a loop with the next loop, without requiring equal bounds at compile time.

    PSyclone's general transformation does not check whether loops over a grid have equal bounds,
    unlike the transformation for an API. Here the bounds are compared at run time.
    """

    tested = True


class LoopSwap(Transformation):
    """Interchange a loop over a grid with the loop inside."""

    of_loops = True

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        return SwapLoops(nodes[0].uid)

    def _on_file(self, request: NodeRequest) -> NamedStep:
        return SwapInKernel(request.routine.key, request.loop_number())


class ChunkLoop(Transformation):
    """Strip-mine a loop over a grid into chunks."""

    of_loops = True
    options: Mapping[str, object] = {"chunksize": 32}

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        return StripMineLoop(nodes[0].uid, _size(self, options["chunksize"]))

    def _on_file(self, request: NodeRequest) -> NamedStep:
        size = _size(self, request.options["chunksize"])
        return StripMineInKernel(request.routine.key, request.loop_number(), size)


class LoopTiling2D(Transformation):
    """Tile the two loops over a grid with square tiles."""

    of_loops = True
    options: Mapping[str, object] = {"tilesize": 32}

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        size = _size(self, options["tilesize"])
        return TileLoops(nodes[0].uid, size, size)

    def _on_file(self, request: NodeRequest) -> NamedStep:
        size = _size(self, request.options["tilesize"])
        return TileInKernel(request.routine.key, request.loop_number(), size, size)


class LoopTiling(Transformation):
    """Tile the two loops over a grid; `tiledims` contains the tile sizes, outer loop first."""

    of_loops = True
    options: Mapping[str, object] = {"tiledims": (32, 32)}

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        outer, inner = self._sizes(options["tiledims"])
        if isinstance(nodes[0], Loop) and nodes[0].loop_type == "inner":
            return TileLoops(nodes[0].uid, inner, outer)
        return TileLoops(nodes[0].uid, outer, inner)

    def _on_file(self, request: NodeRequest) -> NamedStep:
        outer, inner = self._sizes(request.options["tiledims"])
        return TileInKernel(request.routine.key, request.loop_number(), outer, inner)

    def _sizes(self, sizes: object) -> tuple[int, int]:
        if not isinstance(sizes, Sequence) or len(sizes) != 2:
            message = f"'{self.name}' takes a size for rows and one for columns, not '{sizes}'."
            raise TransformationError(Diagnostic("T015", message))
        outer, inner = (_size(self, size) for size in sizes)
        return outer, inner


def _size(transformation: Transformation, size: object) -> int:
    if isinstance(size, int):
        return size
    message = f"'{transformation.name}' takes integers as sizes, not '{size}'."
    raise TransformationError(Diagnostic("T015", message))


class ConstLoopBounds(Transformation):
    """Use the bounds of GOcean's table for a loop, or for all loops of a schedule.

    If `const_bounds` is false, loops keep the bounds of their fields, as in PSyclone 1.8.
    """

    options: Mapping[str, object] = {"const_bounds": True}

    def apply(
        self,
        node: Nodes,
        *more: object,
        options: TransformationOptions | None = None,
        **keywords: object,
    ) -> tuple[Schedule, Step | None]:
        """Apply the transformation to each loop; return the schedule and the last step.

        Raises:
            TransformationError: all reasons for which a loop is rejected; then no loop changes.
        """
        given = {**(options or {}), **keywords}
        self.validate(node, *more, options=given)
        nodes, chosen = self._read(node, more, given)
        step = None
        for loop in self._loops(nodes, chosen):
            step = self._step((loop,), chosen)
            loop.session.bench.apply(step)
        return nodes[0].schedule, step

    def validate(
        self,
        node: Nodes,
        *more: object,
        options: TransformationOptions | None = None,
        **keywords: object,
    ) -> None:
        """Check the transformation without applying it.

        Raises:
            TransformationError: all reasons for which `apply` would reject it.
        """
        nodes, chosen = self._read(node, more, {**(options or {}), **keywords})
        reasons = [
            reason
            for loop in self._loops(nodes, chosen)
            for reason in loop.session.bench.check(self._step((loop,), chosen))
        ]
        if reasons:
            raise TransformationError(*reasons)

    def _loops(
        self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions
    ) -> tuple[ScheduleNode, ...]:
        if not options["const_bounds"]:
            return ()
        if not isinstance(nodes[0], Schedule):
            return nodes
        loops = nodes[0].walk(Loop)
        return tuple(loop for loop in loops if loop.ancestor(Loop) is None)

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        return ConstantLoopBounds(nodes[0].uid, of_table=True)


class Move(Transformation):
    """Move a node before or after another node."""

    options: Mapping[str, object] = {"position": "before"}

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        moved, target = two_nodes(self, nodes)
        return MoveStatement(moved.uid, target.uid, after=options["position"] == "after")


class AsyncHaloExchange(Transformation):
    """Split a halo exchange into its start and its end."""

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        return SplitExchange(nodes[0].uid)
