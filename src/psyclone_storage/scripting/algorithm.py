"""The algorithm as a script sees it: its invokes and the calls in them, to be looked at.

This is what `trans_alg` is called with. The algorithm's text stays as its author wrote it, but for
the calls that take the place of invokes, so that nothing here can be changed.
"""

from __future__ import annotations

from abc import ABC

from psyclone_storage.ir.expr import spell
from psyclone_storage.ir.parsed import ParsedCall
from psyclone_storage.ir.schedule import Invoke, Program
from psyclone_storage.scripting.node import Node


class AlgorithmNode(Node, ABC):
    """A part of an algorithm."""

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
        """Return this, and all inside, as readable text."""
        inner = "".join(
            f"  {line}\n"
            for child in self.children
            for line in child.view(colour=colour).splitlines()
        )
        return f"{self.node_str(colour)}\n{inner}"

    def debug_string(self) -> str:
        """Return this as readable text, as `view` does."""
        return self.view()


class Algorithm(AlgorithmNode):
    """An algorithm file: what `trans_alg` is called with."""

    __slots__ = ("_program",)

    def __init__(self, program: Program) -> None:
        super().__init__(None, program)
        self._program = program

    @property
    def name(self) -> str:
        """The name of its outermost program unit."""
        return self._program.algorithm.unit.name

    @property
    def children(self) -> tuple[AlgorithmInvoke, ...]:
        """Its invokes, in order."""
        return tuple(AlgorithmInvoke(self, invoke) for invoke in self._program.invokes)

    def node_str(self, colour: bool = False) -> str:
        """Return its name, in one line."""
        return f"Algorithm '{self.name}'"


class AlgorithmInvoke(AlgorithmNode):
    """One `call invoke(...)`."""

    __slots__ = ("_invoke",)

    def __init__(self, around: Algorithm, invoke: Invoke) -> None:
        super().__init__(around, invoke)
        self._invoke = invoke

    @property
    def name(self) -> str:
        """The name of the routine that it becomes."""
        return self._invoke.name

    @property
    def label(self) -> str | None:
        """The value of its `name=`, None without one."""
        return self._invoke.parsed.label

    @property
    def children(self) -> tuple[AlgorithmCall, ...]:
        """The calls in it, in order."""
        return tuple(AlgorithmCall(self, call) for call in self._invoke.parsed.calls)

    def node_str(self, colour: bool = False) -> str:
        """Return its name, in one line."""
        return f"Invoke '{self.name}'"


class AlgorithmCall(AlgorithmNode):
    """One kernel functor or built-in in an invoke."""

    __slots__ = ("_call",)

    def __init__(self, around: AlgorithmInvoke, call: ParsedCall) -> None:
        super().__init__(around, call)
        self._call = call

    @property
    def name(self) -> str:
        """The name of the kernel or built-in."""
        return self._call.name

    @property
    def arguments(self) -> tuple[str, ...]:
        """The actual arguments, as expressions."""
        return tuple(spell(arg.expr) for arg in self._call.args)

    @property
    def children(self) -> tuple[Node, ...]:
        """Nothing: arguments are no nodes."""
        return ()

    def node_str(self, colour: bool = False) -> str:
        """Return the call as written in an algorithm."""
        return f"{self.name}({', '.join(self.arguments)})"
