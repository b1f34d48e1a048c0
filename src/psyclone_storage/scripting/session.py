"""Shared state of all views of one invoke: the workbench, and the vocabulary of the script.

A script that imports names of PSyclone gets the tree as PSyclone shows it: without the
statements that only this compiler has, and with kernels called after their subroutines.
"""

from __future__ import annotations

from collections.abc import Callable

from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.schedule import Program, Statement
from psyclone_storage.ir.walk import path_to
from psyclone_storage.scripting.node import Node
from psyclone_storage.transform.workbench import Workbench

Emit = Callable[[Program, str | None], str]
"""Prints the module that a program becomes or, given its name, one routine in it."""


@dataclass(frozen=True, slots=True)
class Session:
    """A workbench, and whether the script that works on it was written for PSyclone.

    `home` is what the script sees around the schedule, if there is anything. `recipes_move` says
    whether recipes bring data to devices.
    """

    bench: Workbench
    psyclone: bool = False
    home: Node | None = None
    recipes_move: bool = True

    def path(self, uid: str) -> tuple[Statement, ...]:
        """Return the statements from the outermost to `uid`, none for the schedule itself.

        Raises:
            CompileError: `T003` or `T008`, there is no such statement (any more).
        """
        if not uid:
            return ()
        return path_to(self.bench.schedule, self.bench[uid].uid)
