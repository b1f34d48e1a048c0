"""Containers of schedules for scripts: invokes, the generated module, and its file.

`trans` is called with a `Psy`. For a script that uses PSyclone's names, it represents the file,
which contains one module with the schedules, as in PSyclone. For other scripts it contains the
schedules directly.
"""

from __future__ import annotations

from abc import ABC
from typing import NoReturn

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.records import replace
from psyclone_storage.ir import schedule as tree
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rules import KernelSource, Rules
from psyclone_storage.scripting.context import ScriptContext
from psyclone_storage.scripting.node import Node
from psyclone_storage.scripting.session import Session
from psyclone_storage.scripting.views import Invoke, Schedule, Searched
from psyclone_storage.transform.workbench import Workbench


class Invokes:
    """All invokes of the algorithm."""

    __slots__ = ("_invokes",)

    def __init__(self, sessions: tuple[Session, ...]) -> None:
        self._invokes = tuple(map(Invoke, sessions))

    def __iter__(self) -> NoReturn:
        raise TypeError("'psy.invokes' is not iterable: write 'psy.invokes.invoke_list'.")

    @property
    def invoke_list(self) -> list[Invoke]:
        """Invokes in the order of the algorithm."""
        return list(self._invokes)

    @property
    def names(self) -> list[str]:
        """Names of the invokes, in the same order."""
        return [invoke.name for invoke in self._invokes]

    def get(self, name: str) -> Invoke:
        """Return the invoke called `name`, with or without the prefix `invoke_`.

        Raises:
            KeyError: no invoke has this name; the message lists the existing ones.
        """
        wanted = {key_of(name), f"invoke_{key_of(name)}"}
        for invoke in self._invokes:
            if invoke.name in wanted:
                return invoke
        raise KeyError(f"There is no invoke '{name}'; there are: {', '.join(self.names)}.")


class Holder(Searched, ABC):
    """Node that contains schedules directly or indirectly, and is not a statement."""

    __slots__ = ()

    def node_str(self, colour: bool = False) -> str:
        """Return the name of the node's class."""
        return type(self).__name__

    def _text(self, *, colour: bool) -> str:
        """Return all schedules as readable text."""
        return "\n".join(child.view(colour=colour) for child in self.children)

    def debug_string(self) -> str:
        """Return all schedules as readable text, in the same way as `view`."""
        return self.view()


class Module(Holder):
    """Generated module, as a node in PSyclone's tree."""

    __slots__ = ("_file",)

    def __init__(self, file: Psy) -> None:
        self._file = file

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Module) and other._file is self._file

    def __hash__(self) -> int:
        return hash(id(self._file))

    @property
    def name(self) -> str:
        """Name of the module."""
        return self._file.name

    @property
    def parent(self) -> Psy:
        """File that contains the module."""
        return self._file

    @property
    def children(self) -> tuple[Node, ...]:
        """Schedules of all invokes, followed by the subroutines inlined into the module."""
        calls = [call for one in self._file.schedules for call in one.coded_kernels()]
        routines = [call.get_kernel_schedule() for call in calls if call.is_inlined]
        return (*self._file.schedules, *dict.fromkeys(routines))


class Psy(Holder):
    """PSy layer of one algorithm: the argument of `trans`."""

    __slots__ = ("_emit", "_home", "_program", "_sessions")

    def __init__(
        self,
        program: tree.Program,
        rules: Rules,
        source: KernelSource | None = None,
        *,
        psyclone: bool = False,
        context: ScriptContext | None = None,
    ) -> None:
        self._program = program
        self._emit = context.emit if context else None
        journal = context.journal if context else None
        moves = context is None or context.recipes_move
        home = Module(self) if psyclone else None
        self._sessions = tuple(
            Session(Workbench(invoke.schedule, rules, source, journal), psyclone, home, moves)
            for invoke in program.invokes
        )
        self._home = home

    @property
    def program(self) -> tree.Program:
        """Program with the steps applied so far; the original object if none exist."""
        if not any(session.bench.history for session in self._sessions):
            return self._program
        invokes = tuple(
            replace(invoke, schedule=session.bench.schedule)
            for invoke, session in zip(self._program.invokes, self._sessions, strict=True)
        )
        return replace(self._program, invokes=invokes)

    @property
    def name(self) -> str:
        """Name of the generated module."""
        return self._program.name

    @property
    def gen(self) -> str:
        """Text of the generated module for the current schedules.

        Raises:
            InternalError: no printer is set.
        """
        if self._emit is None:
            raise InternalError(f"Nothing prints '{self.name}'.")
        return self._emit(self.program, None)

    @property
    def invokes(self) -> Invokes:
        """The invokes of the algorithm."""
        return Invokes(self._sessions)

    @property
    def schedules(self) -> tuple[Schedule, ...]:
        """Schedules of all invokes."""
        return tuple(invoke.schedule for invoke in self.invokes.invoke_list)

    @property
    def parent(self) -> None:
        """None, because this is the root of the tree."""

    @property
    def children(self) -> tuple[Node, ...]:
        """Schedules of all invokes; for a script that uses PSyclone's names, the module."""
        return self.schedules if self._home is None else (self._home,)
