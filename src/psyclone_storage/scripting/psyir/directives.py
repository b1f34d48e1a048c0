"""Directive nodes of a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from psyclone_storage.base.records import replace
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.directive import Directive as Kind
from psyclone_storage.scripting.errors import GenerationError
from psyclone_storage.scripting.psyir.known_nodes import Known
from psyclone_storage.scripting.psyir.live import LiveNode
from psyclone_storage.scripting.psyir.statements import Schedule, Statement, statement_of


class Directive(Statement):
    """Statements enclosed by a directive that a transformation has added."""

    never_in_expressions: ClassVar[bool] = True
    fixed: ClassVar[str] = "The body of a directive cannot be removed."

    def _shown(self) -> Iterable[LiveNode]:
        if isinstance(self.source, un.DirectiveBlock):
            yield Schedule.of_block(self.source.body, self.known_nodes)

    def blocks(self) -> Sequence[LiveNode]:
        """Return the statements enclosed by the directive."""
        return self.children

    def _made(self) -> un.Line:
        if not isinstance(self.source, un.DirectiveBlock):
            raise GenerationError("A directive is made by a transformation.")
        return replace(self.source, body=self.dir_body.block())

    def sync(self, line: un.Line, known: Known | None) -> None:
        """Update the node to show `line`, into which a step has transformed this region."""
        assert isinstance(line, un.DirectiveBlock)
        if self.is_unseen(line):
            return
        self.dir_body.sync(line.body, known)
        self.source = self.cached_line = line

    @property
    def dir_body(self) -> Any:
        """The statements enclosed by the directive."""
        return self.children[0]


class OMPDirective(Directive):
    """An OpenMP directive."""


class ACCDirective(Directive):
    """An OpenACC directive."""


class OMPParallelDirective(OMPDirective):
    """Statements executed by a team of threads (`parallel`)."""


class OMPDoDirective(OMPDirective):
    """A loop whose iterations are distributed over the threads of a team (`do`)."""


class OMPParallelDoDirective(OMPParallelDirective, OMPDoDirective):
    """A loop whose iterations are distributed over a new team of threads (`parallel do`)."""


class OMPTeamsDistributeParallelDoDirective(  # pylint: disable=too-many-ancestors
    OMPParallelDoDirective
):
    """A loop distributed over the teams of a device (`teams distribute parallel do`)."""


class OMPLoopDirective(OMPDirective):
    """A loop whose iterations may execute in any order (`loop`)."""


class OMPTeamsLoopDirective(  # pylint: disable=too-many-ancestors
    OMPParallelDoDirective
):
    """A loop distributed over the teams of a device, in any order (`teams loop`)."""


class OMPTaskloopDirective(OMPDirective):
    """A loop whose iterations become tasks (`taskloop`)."""


class OMPTaskDirective(OMPDirective):
    """Statements that become a task (`task`)."""


class OMPSingleDirective(OMPDirective):
    """Statements executed by one thread of a team (`single`)."""


class OMPMasterDirective(OMPDirective):
    """Statements executed by the first thread of a team (`master`)."""


class OMPCriticalDirective(OMPDirective):
    """Statements executed by one thread at a time (`critical`)."""


class OMPSimdDirective(OMPDirective):
    """A loop whose iterations are executed in SIMD lanes (`simd`)."""


class OMPTargetDirective(OMPDirective):
    """Statements executed on a device (`target`)."""


class ACCParallelDirective(ACCDirective):
    """Statements executed by the gangs of a device (`parallel`)."""


class ACCKernelsDirective(ACCDirective):
    """Statements whose loops the compiler maps to a device (`kernels`)."""


class ACCLoopDirective(ACCDirective):
    """A loop whose iterations execute on a device in any order (`loop`)."""


class ACCDataDirective(ACCDirective):
    """Statements during which data are present on a device (`data`)."""


class ACCUpdateDirective(ACCDirective):
    """Statements executed on the host after an update of its data from the device (`update`)."""


_CLASSES: dict[Kind, type[Directive]] = {
    Kind.OMP_PARALLEL: OMPParallelDirective,
    Kind.OMP_DO: OMPDoDirective,
    Kind.OMP_PARALLEL_DO: OMPParallelDoDirective,
    Kind.OMP_SIMD: OMPSimdDirective,
    Kind.OMP_SINGLE: OMPSingleDirective,
    Kind.OMP_MASTER: OMPMasterDirective,
    Kind.OMP_CRITICAL: OMPCriticalDirective,
    Kind.OMP_TASK: OMPTaskDirective,
    Kind.OMP_TASKLOOP: OMPTaskloopDirective,
    Kind.OMP_TARGET: OMPTargetDirective,
    Kind.OMP_TEAMS_DO: OMPTeamsDistributeParallelDoDirective,
    Kind.OMP_TEAMS_LOOP: OMPTeamsLoopDirective,
    Kind.OMP_LOOP: OMPLoopDirective,
    Kind.ACC_PARALLEL: ACCParallelDirective,
    Kind.ACC_LOOP: ACCLoopDirective,
    Kind.ACC_KERNELS: ACCKernelsDirective,
    Kind.ACC_DATA: ACCDataDirective,
    Kind.ACC_UPDATE: ACCUpdateDirective,
}


@statement_of.register
def _region(line: un.DirectiveBlock) -> Directive:
    kind = _CLASSES.get(line.directive)
    if kind is None:
        kind = ACCDirective if line.directive.is_openacc else OMPDirective
    return kind.of_line(line)
