"""Fortran for what a script looks at: PSyclone's `FortranWriter` over our own back end."""

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
    """A printer of the tree of a file, or of a part of it, called as `FortranWriter()(psyir)`."""

    def __init__(self, *_: object, **__: object) -> None:
        """Ignore PSyclone's options, which change the layout alone."""

    def __call__(self, node: LiveNode) -> str:
        """Return the Fortran of `node`."""
        return node.debug_string()


class Writer:
    """A printer of the current program, or of one of its routines.

    A script calls it with a node, as `FortranWriter()(psyir)`.
    """

    def __init__(self, emit: Emit) -> None:
        self._emit = emit

    def __call__(self, node: Node) -> str:
        """Return the Fortran of the file, the module, the schedule or the subroutine `node`.

        Raises:
            TransformationError: `T015`, `node` is a statement, whose generated code depends
                on its routine.
        """
        if isinstance(node, KernelRoutine):
            return node.view()
        home = node.root
        if isinstance(home, Psy) and isinstance(node, Psy | Module | Schedule):
            return self._emit(home.program, node.name if isinstance(node, Schedule) else None)
        message = "A file, a module or a schedule is written as Fortran, no part of one."
        raise TransformationError(Diagnostic("T015", message))


def writer_maker(emit: Emit) -> Callable[..., Writer]:
    """Return what a script calls to have a `FortranWriter`, which prints by `emit`."""

    def make(*_: object, **__: object) -> Writer:
        return Writer(emit)

    return make
