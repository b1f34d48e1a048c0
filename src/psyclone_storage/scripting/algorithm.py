"""Read-only view of the algorithm for scripts: its invokes and the calls in them.

`trans_alg` is called with this view. The text of the algorithm is kept unchanged, except for the
calls that replace invokes. Therefore a script cannot change anything in this view.
"""

from __future__ import annotations

from abc import ABC

from psyclone_storage.ir.expr import spell
from psyclone_storage.ir.parsed import ParsedCall
from psyclone_storage.ir.schedule import Invoke, Program
from psyclone_storage.scripting.node import Node


class AlgorithmNode(Node, ABC):
    """Node of an algorithm."""

    __slots__ = ("_around", "_of")

    def __init__(self, around: AlgorithmNode | None, of: object) -> None:
        self._around = around
        self._of = of

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AlgorithmNode) and other._of is self._of

    def __hash__(self) -> int:
        return hash(id(self._of))

    @property
    def parent(self) -> AlgorithmNode | None:
        """The enclosing node."""
        return self._around

    def _text(self, *, colour: bool) -> str:
        """Return the node with all its children as readable text."""
        inner = "".join(
            f"  {line}\n"
            for child in self.children
            for line in child.view(colour=colour).splitlines()
        )
        return f"{self.node_str(colour)}\n{inner}"

    def debug_string(self) -> str:
        """Return the node as readable text, in the same way as `view`."""
        return self.view()


class Algorithm(AlgorithmNode):
    """Algorithm file: the argument of `trans_alg`."""

    __slots__ = ("_program",)

    def __init__(self, program: Program) -> None:
        super().__init__(None, program)
        self._program = program

    @property
    def name(self) -> str:
        """Name of the outermost program unit in the algorithm."""
        return self._program.algorithm.unit.name

    @property
    def children(self) -> tuple[AlgorithmInvoke, ...]:
        """Invokes of the algorithm, in order."""
        return tuple(AlgorithmInvoke(self, invoke) for invoke in self._program.invokes)

    def node_str(self, colour: bool = False) -> str:
        """Return the name of the algorithm on one line."""
        return f"Algorithm '{self.name}'"


class AlgorithmInvoke(AlgorithmNode):
    """Invoke in the algorithm: one `call invoke(...)`."""

    __slots__ = ("_invoke",)

    def __init__(self, around: Algorithm, invoke: Invoke) -> None:
        super().__init__(around, invoke)
        self._invoke = invoke

    @property
    def name(self) -> str:
        """Name of the routine generated for the invoke."""
        return self._invoke.name

    @property
    def label(self) -> str | None:
        """Value of the invoke's `name=` argument, or None."""
        return self._invoke.parsed.label

    @property
    def children(self) -> tuple[AlgorithmCall, ...]:
        """Calls in the invoke, in order."""
        return tuple(AlgorithmCall(self, call) for call in self._invoke.parsed.calls)

    def node_str(self, colour: bool = False) -> str:
        """Return the name of the invoke on one line."""
        return f"Invoke '{self.name}'"


class AlgorithmCall(AlgorithmNode):
    """Call of a kernel or built-in in an invoke."""

    __slots__ = ("_call",)

    def __init__(self, around: AlgorithmInvoke, call: ParsedCall) -> None:
        super().__init__(around, call)
        self._call = call

    @property
    def name(self) -> str:
        """Name of the kernel or built-in."""
        return self._call.name

    @property
    def arguments(self) -> tuple[str, ...]:
        """Actual arguments, as text of expressions."""
        return tuple(spell(arg.expr) for arg in self._call.args)

    @property
    def children(self) -> tuple[Node, ...]:
        """Empty tuple, because arguments are not nodes."""
        return ()

    def node_str(self, colour: bool = False) -> str:
        """Return the call as written in an algorithm."""
        return f"{self.name}({', '.join(self.arguments)})"
