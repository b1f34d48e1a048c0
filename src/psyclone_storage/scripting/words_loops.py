"""PSyclone's names for changes of loops and of the exchanges between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.scripting.transformation import (
    Options,
    Transformation,
    TransformationError,
    Unsupported,
    two_nodes,
)
from psyclone_storage.scripting.views import Node, Schedule
from psyclone_storage.transform.asynchronous import SplitExchange
from psyclone_storage.transform.colour import ColourLoop
from psyclone_storage.transform.fuse import FuseLoops
from psyclone_storage.transform.move import MoveStatement
from psyclone_storage.transform.profile import ProfileRegion
from psyclone_storage.transform.redundant import ComputeRedundantly
from psyclone_storage.transform.step import Reasons, Step


class Colour(Transformation):
    """Colour a loop; one that gains nothing by colours stays as it is."""

    options: Mapping[str, object] = {"tiling": False}

    def _step(self, nodes: tuple[Node, ...], options: Options) -> Step:
        if options["tiling"]:
            message = "Colours of tiles are not supported: cells are coloured one by one."
            raise TransformationError(Diagnostic("T015", message))
        return ColourLoop(nodes[0].uid)

    def _is_idle(self, reasons: Reasons) -> bool:
        return all(reason.code == "T006" for reason in reasons)


class RedundantComputation(Transformation):
    """Compute a halo redundantly, to a depth or, without one, all of it."""

    options: Mapping[str, object] = {"depth": None}

    def _step(self, nodes: tuple[Node, ...], options: Options) -> Step:
        depth = options["depth"]
        if depth is None:
            return ComputeRedundantly(nodes[0].uid)
        if not isinstance(depth, int) or depth < 1:
            raise TransformationError(Diagnostic("T014", f"A halo has no level '{depth}'."))
        return ComputeRedundantly(nodes[0].uid, depth)


class LoopFuse(Transformation):
    """Fuse a loop and the next."""

    options: Mapping[str, object] = {"same_space": False}

    def _step(self, nodes: tuple[Node, ...], options: Options) -> Step:
        first, second = two_nodes(self, nodes)
        return FuseLoops(first.uid, second.uid, same_space=bool(options["same_space"]))


class Move(Transformation):
    """Move a node before or after another."""

    options: Mapping[str, object] = {"position": "before"}

    def _step(self, nodes: tuple[Node, ...], options: Options) -> Step:
        moved, target = two_nodes(self, nodes)
        return MoveStatement(moved.uid, target.uid, after=options["position"] == "after")


class AsyncHaloExchange(Transformation):
    """Split a halo exchange into its start and its end."""

    def _step(self, nodes: tuple[Node, ...], options: Options) -> Step:
        return SplitExchange(nodes[0].uid)


class Profile(Transformation):
    """Let a profiler time one or several neighbouring nodes; `region_name` is two names.

    They are a module and a region, as PSyclone's option of that name.
    """

    options: Mapping[str, object] = {"region_name": None}

    def _step(self, nodes: tuple[Node, ...], options: Options) -> Step:
        first, last = nodes[0], nodes[-1]
        if isinstance(first, Schedule):
            first, last = first.children[0], first.children[-1]
        names = options["region_name"]
        if names is None:
            return ProfileRegion(first.uid, last.uid)
        if not isinstance(names, Sequence) or isinstance(names, str) or len(names) != 2:
            message = f"A region is named by its module and itself, not by '{names}'."
            raise TransformationError(Diagnostic("T015", message))
        module, region = map(str, names)
        return ProfileRegion(first.uid, last.uid, region, module)


NAMES: Mapping[type[Transformation], str] = {
    Colour: "ColourTrans Dynamo0p3ColourTrans LFRicColourTrans",
    RedundantComputation: "Dynamo0p3RedundantComputationTrans LFRicRedundantComputationTrans",
    LoopFuse: "LoopFuseTrans DynamoLoopFuseTrans GOceanLoopFuseTrans LFRicLoopFuseTrans",
    Move: "MoveTrans",
    AsyncHaloExchange: "Dynamo0p3AsyncHaloExchangeTrans LFRicAsyncHaloExchangeTrans",
    Profile: "ProfileTrans ProfileRegionTrans",
    Unsupported: "ExtractTrans LFRicExtractTrans",
}
"""What PSyclone calls each of them, in both of its generations."""
