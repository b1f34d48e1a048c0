"""Regions under directives in a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from psyclone_storage.base.records import replace
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.directive import Directive as Kind
from psyclone_storage.scripting.errors import GenerationError
from psyclone_storage.scripting.psyir.live import LiveNode
from psyclone_storage.scripting.psyir.statements import Known, Schedule, Statement, statement_of


class Directive(Statement):
    """Statements under a directive, which a transformation has put there."""

    never_in_expressions: ClassVar[bool] = True
    fixed: ClassVar[str] = "The body of a directive cannot be removed."

    def _shown(self) -> Iterable[LiveNode]:
        if isinstance(self.source, un.DirectiveBlock):
            yield Schedule.of_block(self.source.body, self.known_nodes)

    def blocks(self) -> Sequence[LiveNode]:
        """Return the statements under the directive."""
        return self.children

    def _made(self) -> un.Line:
        if not isinstance(self.source, un.DirectiveBlock):
            raise GenerationError("A directive is made by a transformation.")
        return replace(self.source, body=self.dir_body.block())

    def sync(self, line: un.Line, known: Known | None) -> None:
        """Show `line`, which a step has made of this region."""
        assert isinstance(line, un.DirectiveBlock)
        if self.is_unseen(line):
            return
        self.dir_body.sync(line.body, known)
        self.source = self.cached_line = line

    @property
    def dir_body(self) -> Any:
        """The statements under the directive."""
        return self.children[0]


class OMPDirective(Directive):
    """A region of OpenMP."""


class ACCDirective(Directive):
    """A region of OpenACC."""


class OMPParallelDirective(OMPDirective):
    """Statements that a team of threads runs."""


class OMPDoDirective(OMPDirective):
    """A loop whose iterations the threads of a team share."""


class OMPParallelDoDirective(OMPParallelDirective, OMPDoDirective):
    """A loop whose iterations a new team of threads shares."""


class OMPTeamsDistributeParallelDoDirective(  # pylint: disable=too-many-ancestors
    OMPParallelDoDirective
):
    """A loop whose iterations the teams of threads of a device share."""


class OMPLoopDirective(OMPDirective):
    """A loop whose iterations may run in any order."""


class OMPTeamsLoopDirective(  # pylint: disable=too-many-ancestors
    OMPParallelDoDirective
):
    """A loop whose iterations the teams of threads of a device share in any order."""


class OMPTaskloopDirective(OMPDirective):
    """A loop whose iterations become tasks."""


class OMPTaskDirective(OMPDirective):
    """Statements that become a task."""


class OMPSingleDirective(OMPDirective):
    """Statements that one thread of a team runs."""


class OMPMasterDirective(OMPDirective):
    """Statements that the first thread of a team runs."""


class OMPCriticalDirective(OMPDirective):
    """Statements that one thread runs at a time."""


class OMPSimdDirective(OMPDirective):
    """A loop whose iterations the lanes of vectors share."""


class OMPTargetDirective(OMPDirective):
    """Statements that run on a device."""


class ACCParallelDirective(ACCDirective):
    """Statements that gangs of a device run."""


class ACCKernelsDirective(ACCDirective):
    """Statements whose loops a compiler distributes over a device."""


class ACCLoopDirective(ACCDirective):
    """A loop whose iterations run on a device in any order."""


class ACCDataDirective(ACCDirective):
    """Statements during which data are on a device."""


class ACCUpdateDirective(ACCDirective):
    """Statements of the host during which data are there, and not on a device."""


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
