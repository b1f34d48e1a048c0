"""PSyclone's names for regions: those of a profiler, and the longest ones of any kind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.scripting.errors import TransformationError, refusal
from psyclone_storage.scripting.psyir.choices import IfBlock
from psyclone_storage.scripting.psyir.directives import Directive
from psyclone_storage.scripting.psyir.live import LiveNode
from psyclone_storage.scripting.psyir.loops import Loop
from psyclone_storage.scripting.psyir.session import routine_around
from psyclone_storage.scripting.psyir.statements import Schedule
from psyclone_storage.scripting.transformations.base import (
    ForFiles,
    Nodes,
    RegionTrans,
    Transformation,
    TransformationOptions,
)
from psyclone_storage.scripting.transformations.on_files import NodeRequest, live_nodes
from psyclone_storage.scripting.views import ScheduleNode
from psyclone_storage.transform.file_regions import profiled_region
from psyclone_storage.transform.profile import AddProfileRegion
from psyclone_storage.transform.step import Step
from psyclone_storage.transform.workbench import NamedStep


class Profile(RegionTrans):
    """Measure neighbouring nodes with a profiler.

    `region_name` contains the names of a module and a region, as in PSyclone.
    """

    options: Mapping[str, object] = {"region_name": None}

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        first, last = self._ends(nodes)
        names = _region_names(options["region_name"])
        if names is None:
            return AddProfileRegion(first, last)
        module, region = names
        return AddProfileRegion(first, last, region, module)

    def _on_file(self, request: NodeRequest) -> NamedStep:
        names = _region_names(request.options["region_name"])
        inside = request.neighbours()
        try:
            return profiled_region(request.bench, request.routine.key, inside, names)
        except CompileError as error:
            raise TransformationError(*error.problems) from error


def _region_names(names: object) -> tuple[str, str] | None:
    """Return the names of a module and a region, None if none are given.

    Raises:
        TransformationError: `T015`, they are something else.
    """
    if names is None:
        return None
    if not isinstance(names, Sequence) or isinstance(names, str) or len(names) != 2:
        message = f"A region is named by its module and itself, not by '{names}'."
        raise TransformationError(Diagnostic("T015", message))
    module, region = map(str, names)
    return module, region


class MaximalRegions(ForFiles):
    """Apply a transformation to the longest runs of neighbouring statements of a file.

    Subclasses in scripts set `_allowed_contiguous_statements`, classes of nodes, and
    `_transformation`, the class of the transformation. Loops and branches belong to a run if all
    statements in them do. A run that the transformation refuses is left out, with a warning.
    """

    _allowed_contiguous_statements: tuple[type[LiveNode], ...] = ()
    _transformation: type[Transformation] = Transformation

    def apply(
        self,
        node: Nodes,
        *more: object,
        options: TransformationOptions | None = None,
        **keywords: object,
    ) -> tuple[None, None]:
        """Apply the transformation to each run, on all levels.

        Raises:
            TransformationError: `T015`, the nodes are not in a file, or no transformation is set.
        """
        nodes, kind = live_nodes(node, more), self._transformation
        if kind is Transformation or not nodes:
            raise refusal(f"'{self.name}' takes nodes of files, and needs a '_transformation'.")
        if len(nodes) == 1 and isinstance(nodes[0], Schedule):
            nodes = tuple(nodes[0].children)
        for run in tuple(self._runs(nodes)):
            try:
                kind().apply(run, options={**(options or {}), **keywords})
            except TransformationError as error:
                routine_around(run[0])[1].left_out += error.problems
        return None, None

    def validate(
        self,
        node: Nodes,
        *more: object,
        options: TransformationOptions | None = None,
        **keywords: object,
    ) -> None:
        """Check that the nodes are in a file.

        Raises:
            TransformationError: `T015`, they are not.
        """
        if self._transformation is Transformation or not live_nodes(node, more):
            raise refusal(f"'{self.name}' takes nodes of files, and needs a '_transformation'.")

    def _satisfies_minimum_region_rules(self, region: list[LiveNode]) -> bool:
        """Return whether a run is transformed; subclasses in scripts may have other rules."""
        return bool(region)

    def _runs(self, nodes: Iterable[LiveNode]) -> Iterator[list[LiveNode]]:
        run: list[LiveNode] = []
        for node in (*nodes, None):
            if node is not None and self._fits(node):
                run.append(node)
                continue
            if run and self._satisfies_minimum_region_rules(run):
                yield run
            run = []
            for block in () if node is None or isinstance(node, Directive) else node.blocks():
                yield from self._runs(block.children)

    def _fits(self, node: LiveNode) -> bool:
        if isinstance(node, self._allowed_contiguous_statements):
            return True
        blocks = node.blocks() if isinstance(node, Loop | IfBlock) else ()
        return bool(blocks) and all(self._fits(one) for block in blocks for one in block.children)
