"""Printing of nodes as Fortran: PSyclone's `FortranWriter`."""

from __future__ import annotations

from collections.abc import Callable

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.scripting.containers import Module, Psy
from psyclone_storage.scripting.errors import TransformationError
from psyclone_storage.scripting.kernel_views import KernelRoutine
from psyclone_storage.scripting.node import Node
from psyclone_storage.scripting.psyir.live import LiveNode
from psyclone_storage.scripting.session import Emit
from psyclone_storage.scripting.views import Schedule


class FileWriter:
    """Printer of a file's tree or a part of it, called as `FortranWriter()(psyir)`."""

    def __init__(self, *_: object, **__: object) -> None:
        """Ignore PSyclone's options, which affect only the layout."""

    def __call__(self, node: LiveNode) -> str:
        """Return `node` as Fortran."""
        return node.debug_string()


class Writer:
    """Printer of the current program or one of its routines.

    A script calls it with a node, as in `FortranWriter()(psyir)`.
    """

    def __init__(self, emit: Emit) -> None:
        self._emit = emit

    def __call__(self, node: Node) -> str:
        """Return a file, module, schedule or subroutine as Fortran.

        Raises:
            TransformationError: `T015`, `node` is a statement, which cannot be printed without its
                routine.
        """
        if isinstance(node, KernelRoutine):
            return node.view()
        home = node.root
        if isinstance(home, Psy) and isinstance(node, Psy | Module | Schedule):
            return self._emit(home.program, node.name if isinstance(node, Schedule) else None)
        message = "A file, a module or a schedule is written as Fortran, no part of one."
        raise TransformationError(Diagnostic("T015", message))


def writer_maker(emit: Emit) -> Callable[..., Writer]:
    """Return a function that creates a `FortranWriter`; the writer prints with `emit`."""

    def make(*_: object, **__: object) -> Writer:
        return Writer(emit)

    return make
