"""PSyclone's names for profiling transformations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.scripting.errors import TransformationError
from psyclone_storage.scripting.transformations.base import RegionTrans, TransformationOptions
from psyclone_storage.scripting.views import ScheduleNode
from psyclone_storage.transform.profile import AddProfileRegion
from psyclone_storage.transform.step import Step


class Profile(RegionTrans):
    """Measure neighbouring nodes with a profiler.

    `region_name` contains the names of a module and a region, as in PSyclone.
    """

    options: Mapping[str, object] = {"region_name": None}

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        first, last = self._ends(nodes)
        names = options["region_name"]
        if names is None:
            return AddProfileRegion(first, last)
        if not isinstance(names, Sequence) or isinstance(names, str) or len(names) != 2:
            message = f"A region is named by its module and itself, not by '{names}'."
            raise TransformationError(Diagnostic("T015", message))
        module, region = map(str, names)
        return AddProfileRegion(first, last, region, module)
