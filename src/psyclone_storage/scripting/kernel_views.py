"""View of a kernel's subroutine for scripts: its text, intrinsic calls and loops.

A script sees only the parts that transformations can use: intrinsic functions that can be replaced
by statements, and numbered loops. It changes a kernel body by applying transformations to the call.
"""

from __future__ import annotations

from enum import Enum

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.ir.expr import Index, spell
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.loops import loops_of
from psyclone_storage.ir.rewrite import walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.unit import Do
from psyclone_storage.languages.fortran.print.kernel import emit_code
from psyclone_storage.languages.fortran.print.printer import emit_lines
from psyclone_storage.scripting.node import Node
from psyclone_storage.scripting.session import Session
from psyclone_storage.transform.kernel.intrinsics import FUNCTIONS, calls_of_functions

_FUNCTIONS = {name.upper(): name for name in sorted(FUNCTIONS)}
_Function = Enum("Intrinsic", _FUNCTIONS)  # type: ignore[misc]
"""The functions of the language that can be written out."""


class KernelRoutine(Node):
    """Subroutine that a kernel call may execute, after the steps applied so far."""

    __slots__ = ("_at", "_session", "_uid", "call")

    def __init__(self, session: Session, uid: str, call: Node, at: int = 0) -> None:
        self._session = session
        self._uid = uid
        self._at = at
        self.call = call
        """The call of the kernel."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KernelRoutine) and other.code == self.code

    def __hash__(self) -> int:
        return hash(self.code.name)

    @property
    def code(self) -> Routine:
        """Current code of the subroutine."""
        return self._session.bench.codes_of(self._uid)[self._at]

    @property
    def name(self) -> str:
        """The name of the subroutine."""
        return self.code.name

    @property
    def parent(self) -> Node | None:
        """Container of the schedules, for a script that uses PSyclone's names; else None."""
        return self._session.home

    @property
    def children(self) -> tuple[Node, ...]:
        """Calls of intrinsic functions in order, followed by the outermost loops."""
        calls = tuple(IntrinsicCall(self, one) for one in calls_of_functions(self.code, FUNCTIONS))
        return (*calls, *(loop for loop in self.loops if loop.parent is self))

    @property
    def loops(self) -> tuple[KernelLoop, ...]:
        """All loops of the subroutine, in source order."""
        return tuple(KernelLoop(self, loop.uid) for loop in loops_of(self.code))

    def node_str(self, colour: bool = False) -> str:
        """Return the name of the subroutine on one line."""
        return f"subroutine {self.name}"

    def _text(self, *, colour: bool) -> str:
        """Return the text of the subroutine."""
        return "\n".join(emit_code(self.code, 0)) + "\n"

    def debug_string(self) -> str:
        """Return the text of the subroutine, like `view`."""
        return self.view()


class KernelLoop(Node):
    """Loop in a kernel, identified independently of changes to it or to other loops."""

    __slots__ = ("_address", "_routine")

    def __init__(self, routine: KernelRoutine, address: str) -> None:
        self._routine = routine
        self._address = address

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, KernelLoop)
            and other._address == self._address
            and other._routine == self._routine
        )

    def __hash__(self) -> int:
        return hash((self._routine, self._address))

    @property
    def number(self) -> int:
        """Number of the loop in the current text of the kernel, counted from 1."""
        for number, loop in enumerate(loops_of(self._routine.code), start=1):
            if loop.uid == self._address:
                return number
        message = f"A loop of '{self._routine.name}' is no longer there: a step has removed it."
        raise CompileError(Diagnostic("T008", message, hint="Undo that step first."))

    @property
    def _loop(self) -> Do:
        return loops_of(self._routine.code)[self.number - 1]

    @property
    def call(self) -> Node:
        """Kernel call whose subroutine contains the loop."""
        return self._routine.call

    @property
    def variable(self) -> str:
        """Name of the loop variable."""
        return self._loop.variable.text

    @property
    def parent(self) -> Node:
        """Enclosing loop, or the subroutine."""
        around = [loop for loop in loops_of(self._routine.code) if self._is_in(loop)]
        return KernelLoop(self._routine, around[-1].uid) if around else self._routine

    def _is_in(self, loop: Do) -> bool:
        inside = (line for line in walk_lines(loop.body) if isinstance(line, Do))
        return any(line.uid == self._address for line in inside)

    @property
    def children(self) -> tuple[Node, ...]:
        """Loops directly inside this loop."""
        return tuple(loop for loop in self._routine.loops if loop.parent == self)

    def node_str(self, colour: bool = False) -> str:
        """Return the first line of the loop."""
        return self.view().partition("\n")[0]

    def _text(self, *, colour: bool) -> str:
        """Return the text of the loop."""
        return "\n".join(emit_lines((self._loop,), 0)) + "\n"


class IntrinsicCall(Node):
    """Call of an intrinsic function in a kernel."""

    __slots__ = ("_expr", "_routine")

    Intrinsic = _Function

    def __init__(self, routine: KernelRoutine, expr: Index) -> None:
        self._routine = routine
        self._expr = expr

    @property
    def call(self) -> Node:
        """Kernel call whose subroutine contains the intrinsic call."""
        return self._routine.call

    @property
    def intrinsic(self) -> Enum:
        """The intrinsic function."""
        return _Function(key_of(spell(self._expr.base)))

    @property
    def parent(self) -> KernelRoutine:
        """Subroutine that contains the intrinsic call."""
        return self._routine

    @property
    def children(self) -> tuple[Node, ...]:
        """Empty tuple, because arguments are not nodes."""
        return ()

    def node_str(self, colour: bool = False) -> str:
        """Return the call as Fortran."""
        return spell(self._expr)

    def _text(self, *, colour: bool) -> str:
        """Return the call as Fortran."""
        return f"{self.node_str()}\n"
