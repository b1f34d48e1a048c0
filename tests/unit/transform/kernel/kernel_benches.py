"""Workbenches with one call of a kernel whose code is given, for the tests of steps on code."""

from __future__ import annotations

from dataclasses import replace

from kernel_bodies import NO_MODULES
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.kernel import Kernel
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.rules import SharedProcedure
from psyclone_storage.ir.schedule import KernelCall
from psyclone_storage.languages.fortran.parse.body import read_code
from psyclone_storage.languages.fortran.parse.resolve import resolve_code
from psyclone_storage.languages.fortran.parse.state import read_state
from psyclone_storage.languages.fortran.print.kernel import emit_code
from psyclone_storage.pipeline.module_context import ModuleContexts
from psyclone_storage.transform.halos import with_halos
from psyclone_storage.transform.step import Step
from psyclone_storage.transform.workbench import Workbench
from unit.analysis.small import RULES, cells, schedule


class OneFile:
    """Reads every kernel from one text; counts how often."""

    def __init__(self, text: str) -> None:
        self._source = SourceText("work_mod.f90", text)
        self.asked = 0
        self.thread_safe: tuple[str, ...] = ()

    def codes_of(self, kernel: Kernel) -> tuple[Routine, ...]:
        self.asked += 1
        names = kernel.implementations or ("work_code",)
        context = ModuleContexts(NO_MODULES).of(self._source)
        found = (resolve_code(read_code(self._source, name), NO_MODULES) for name in names)
        return tuple(replace(one, module=replace(one.module, context=context)) for one in found)

    def shared_procedures(
        self, kernel: Kernel, codes: tuple[Routine, ...]
    ) -> tuple[SharedProcedure, ...]:
        if not codes and not read_state(self._source, "work_mod", "work_code").may_change:
            return ()
        return tuple(map(SharedProcedure, codes or self.codes_of(kernel)))

    def is_thread_safe(self, kernel: Kernel, code: Routine) -> bool:
        return code.name in self.thread_safe


def module(
    body: str = "a(1) = 0.0", specification: str = "", above: str = "", below: str = ""
) -> str:
    """Return a module with the subroutine `work_code`; `above` is its own specification part."""
    return f"""module work_mod
{above}
contains
subroutine work_code(n, a)
{specification}
integer, intent(in) :: n
real, intent(inout) :: a(n)
{body}
end subroutine work_code
{below}
end module work_mod
"""


def bench(text: str, *calls: KernelCall) -> Workbench:
    """Return a workbench with `calls`, whose code is in `text`."""
    planned = with_halos(schedule(*(calls or (cells("u inc w0"),))), RULES)
    return Workbench(planned, RULES, OneFile(text))


def printed(work: Workbench, step: Step, uid: str = "call1") -> list[str]:
    """Return the lines, without indentation, that `step` makes of the code of the call."""
    work.apply(step)
    (code,) = codes(work, uid)
    return [line.strip() for line in emit_code(code) if line.strip()]


def codes(work: Workbench, uid: str = "call1") -> tuple[Routine, ...]:
    """Return the subroutines that steps have made for the call."""
    call = work[uid]
    assert isinstance(call, KernelCall)
    return call.codes
