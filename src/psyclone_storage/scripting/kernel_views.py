"""The subroutine of a kernel as a script sees it: its text, and the calls of functions in it.

Of a body a script is shown what scripts look for, the functions of the language that a
transformation can write out, and the loops, whose numbers the steps on loops in kernels take. It
changes a body by transformations of the call.
"""

from __future__ import annotations

from enum import Enum

from psyclone_storage.backend.fortran.kernel import emit_code
from psyclone_storage.backend.fortran.printer import emit_lines
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.expr import Index, spell
from psyclone_storage.ir.rewrite import walk_lines
from psyclone_storage.ir.unit import Do
from psyclone_storage.scripting.node import Node
from psyclone_storage.scripting.session import Session
from psyclone_storage.transform.kernel.intrinsics import FUNCTIONS, calls_of
from psyclone_storage.transform.kernel.loops import loops_of

_FUNCTIONS = {name.upper(): name for name in sorted(FUNCTIONS)}
_Function = Enum("Intrinsic", _FUNCTIONS)  # type: ignore[misc]
"""The functions of the language that can be written out."""


class KernelRoutine(Node):
    """A subroutine that one call of a kernel may lead to, as the steps so far have left it."""

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
    def code(self) -> KernelCode:
        """What is known of it."""
        return self._session.bench.codes_of(self._uid)[self._at]

    @property
    def name(self) -> str:
        """The name of the subroutine."""
        return self.code.name

    @property
    def parent(self) -> Node | None:
        """What holds the schedules, for a script of PSyclone."""
        return self._session.home

    @property
    def children(self) -> tuple[Node, ...]:
        """The calls of functions in its statements, in order, and its outermost loops."""
        calls = tuple(IntrinsicCall(self, one) for one in calls_of(self.code, FUNCTIONS))
        return (*calls, *(loop for loop in self.loops if loop.parent is self))

    @property
    def loops(self) -> tuple[KernelLoop, ...]:
        """All loops in its statements, in the order of its text."""
        return tuple(KernelLoop(self, at) for at in range(1, len(loops_of(self.code)) + 1))

    def node_str(self, colour: bool = False) -> str:
        """Return its name, in one line."""
        return f"subroutine {self.name}"

    def view(self) -> str:
        """Return its text."""
        return "\n".join(emit_code(self.code, 0)) + "\n"

    def debug_string(self) -> str:
        """Return its text, as `view` does."""
        return self.view()


class KernelLoop(Node):
    """One loop in a kernel; a step that changes loops may change the numbers of others."""

    __slots__ = ("_routine", "number")

    def __init__(self, routine: KernelRoutine, number: int) -> None:
        self._routine = routine
        self.number = number
        """Which one it is in the text of the kernel, from 1."""

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, KernelLoop)
            and other.number == self.number
            and other._routine == self._routine
        )

    def __hash__(self) -> int:
        return hash((self._routine, self.number))

    @property
    def _loops(self) -> tuple[Do, ...]:
        return loops_of(self._routine.code)

    @property
    def call(self) -> Node:
        """The call of the kernel that it is in."""
        return self._routine.call

    @property
    def variable(self) -> str:
        """The name of what it counts."""
        return self._loops[self.number - 1].variable

    @property
    def parent(self) -> Node:
        """The loop around it, or else the subroutine."""
        loops = self._loops
        this = loops[self.number - 1]
        for at in range(self.number - 1, 0, -1):
            if any(line is this for line in walk_lines(loops[at - 1].body)):
                return KernelLoop(self._routine, at)
        return self._routine

    @property
    def children(self) -> tuple[Node, ...]:
        """The loops directly inside of it."""
        return tuple(loop for loop in self._routine.loops if loop.parent == self)

    def node_str(self, colour: bool = False) -> str:
        """Return its first line."""
        return self.view().partition("\n")[0]

    def view(self) -> str:
        """Return its text."""
        return "\n".join(emit_lines(self._loops[self.number - 1 : self.number], 0)) + "\n"


class IntrinsicCall(Node):
    """One call of a function of the language in a kernel."""

    __slots__ = ("_expr", "_routine")

    Intrinsic = _Function

    def __init__(self, routine: KernelRoutine, expr: Index) -> None:
        self._routine = routine
        self._expr = expr

    @property
    def call(self) -> Node:
        """The call of the kernel that it is in."""
        return self._routine.call

    @property
    def intrinsic(self) -> Enum:
        """Which function it is."""
        return _Function(spell(self._expr.base).lower())

    @property
    def parent(self) -> KernelRoutine:
        """The subroutine."""
        return self._routine

    @property
    def children(self) -> tuple[Node, ...]:
        """Nothing: arguments are no nodes."""
        return ()

    def node_str(self, colour: bool = False) -> str:
        """Return the call as Fortran."""
        return spell(self._expr)

    def view(self) -> str:
        """Return the call as Fortran."""
        return f"{self.node_str()}\n"
