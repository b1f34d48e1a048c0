"""State shared by all views of one invoke: the workbench, and the script's vocabulary.

A script that imports PSyclone names gets PSyclone's tree. This tree has no statements that exist
only in this compiler, and calls have the names of their subroutines.
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
    """Workbench, with the vocabulary of the script that uses it.

    - `psyclone`: the script uses PSyclone's names.

    - `home`: the node that contains the schedule in the script's tree, or None.

    - `recipes_move`: recipes move data to devices.
    """

    bench: Workbench
    psyclone: bool = False
    home: Node | None = None
    recipes_move: bool = True

    def path(self, uid: str) -> tuple[Statement, ...]:
        """Return the statements from the outermost one to `uid`; () for the schedule itself.

        Raises:
            CompileError: `T003` or `T008`, there is no such statement (any more).
        """
        if not uid:
            return ()
        return path_to(self.bench.schedule, self.bench[uid].uid)
