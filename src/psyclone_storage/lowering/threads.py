"""Decisions at run time that depend on the number of OpenMP threads."""

from __future__ import annotations

from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.types import ScalarType
from psyclone_storage.ir.unit import Assign, Comment, Declare, ScopedBlock
from psyclone_storage.lowering.routine_builder import SetupSection, Workspace


def one_thread(work: Workspace, section: SetupSection, type_: ScalarType) -> ex.Name:
    """Return the variable that is true if parallel regions have one thread, of a logical type.

    Conditional compilation by OpenMP sets it, so that programs are also compiled without OpenMP.
    """
    name = work.variable(section, "one thread", Declare("one_thread", type_))
    if work.first("one thread is set"):
        uses = Comment("$ use omp_lib, only: omp_get_max_threads", as_written=True)
        test = Comment(f"$ {name.text} = omp_get_max_threads() == 1", as_written=True)
        work.add(section, Assign(name, ex.logical(True)), ScopedBlock((), (uses,), (test,)))
    return name
