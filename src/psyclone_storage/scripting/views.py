"""Light views on a program, in the words of a script.

A view holds the schedule and the path to one statement of it, and no state of its own: it reads the
frozen tree and can change nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from psyclone_storage.analysis.dependence import dag_dot
from psyclone_storage.ir import schedule as tree
from psyclone_storage.ir.expr import spell
from psyclone_storage.ir.region import describe_depth
from psyclone_storage.ir.view import schedule_text

Wanted = TypeVar("Wanted", bound="Node")


class Node:
    """A place in a schedule: the schedule itself or a statement of it."""

    __slots__ = ("_path", "_schedule")

    def __init__(self, schedule: tree.Schedule, path: tuple[tree.Statement, ...]) -> None:
        self._schedule = schedule
        self._path = path

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Node) and other._schedule is self._schedule and other.uid == self.uid
        )

    def __hash__(self) -> int:
        return hash((id(self._schedule), self.uid))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.uid}>"

    @property
    def uid(self) -> str:
        """The name of this place, which survives changes elsewhere in the tree."""
        return self._path[-1].uid if self._path else self._schedule.name

    @property
    def parent(self) -> Node | None:
        """The loop or schedule around this, None for a schedule."""
        return _view(self._schedule, self._path[:-1]) if self._path else None

    @property
    def children(self) -> tuple[Node, ...]:
        """What is directly inside, in order."""
        inside = self._path[-1] if self._path else self._schedule
        if not isinstance(inside, tree.Loop | tree.Schedule):
            return ()
        return tuple(_view(self._schedule, (*self._path, item)) for item in inside.body)

    @property
    def root(self) -> Schedule:
        """The schedule that this is in."""
        return Schedule(self._schedule, ())

    @property
    def position(self) -> int:
        """The number of this among its siblings, from 0."""
        parent = self.parent
        return parent.children.index(self) if parent else 0

    def walk(self, wanted: type[Wanted] | tuple[type[Wanted], ...]) -> list[Wanted]:
        """Return this and all below it that are of the class or classes `wanted`, in order."""
        return [node for node in _all_below(self) if isinstance(node, wanted)]

    def ancestor(self, wanted: type[Wanted]) -> Wanted | None:
        """Return the nearest node around this one that is of the class `wanted`, or None."""
        node = self.parent
        while node is not None and not isinstance(node, wanted):
            node = node.parent
        return node

    def following(self) -> list[Node]:
        """Return the later siblings of this."""
        parent = self.parent
        return list(parent.children[self.position + 1 :]) if parent else []


class Schedule(Node):
    """What one invoke does."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name of the routine that the invoke becomes."""
        return self._schedule.name

    def view(self) -> str:
        """Return the schedule as readable text."""
        return schedule_text(self._schedule)

    def dag(self) -> str:
        """Return the dependences between the statements, in the language of Graphviz."""
        return dag_dot(self._schedule)

    def loops(self) -> list[Loop]:
        """Return all loops, the outer ones before those in them."""
        return self.walk(Loop)

    def kernels(self) -> list[KernelCall]:
        """Return all calls of kernels and built-ins."""
        return self.walk(KernelCall)


class Loop(Node):
    """A loop over cells or dofs."""

    __slots__ = ()

    @property
    def _loop(self) -> tree.Loop:
        loop = self._path[-1]
        assert isinstance(loop, tree.Loop)
        return loop

    @property
    def over(self) -> str:
        """What it counts: `cells`, `dofs`, `domain`, `colours`, `cells of a colour`."""
        return self._loop.over.value

    @property
    def reach(self) -> str:
        """Its upper limit: `all`, `owned`, `annexed`, `halo`, `halo only`."""
        return self._loop.extent.reach.value

    @property
    def depth(self) -> str:
        """How many levels of halo it computes: `0`, `2`, `extent + 1`, `whole`."""
        return describe_depth(self._loop.extent.depth)


class KernelCall(Node):
    """A call of a kernel or a built-in."""

    __slots__ = ()

    @property
    def _call(self) -> tree.KernelCall:
        call = self._path[-1]
        assert isinstance(call, tree.KernelCall)
        return call

    @property
    def name(self) -> str:
        """The name that the algorithm uses."""
        return self._call.kernel.name

    @property
    def is_builtin(self) -> bool:
        """Whether it is a built-in."""
        return self._call.kernel.is_builtin

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of the data it is passed, or the constant where one is passed."""
        return tuple(actual.datum or spell(actual.value) for actual in self._call.args)

    @property
    def accesses(self) -> tuple[str, ...]:
        """What it does with each argument.

        One of `read`, `write`, `readwrite`, `inc`, `readinc` and `reduction`.
        """
        return tuple(arg.access.value for arg in self._call.kernel.args)


class HaloExchange(Node):
    """A halo exchange, or one end of an asynchronous one."""

    __slots__ = ()

    @property
    def _exchange(self) -> tree.HaloExchange:
        exchange = self._path[-1]
        assert isinstance(exchange, tree.HaloExchange)
        return exchange

    @property
    def field(self) -> str:
        """The name of the field."""
        return self._exchange.datum

    @property
    def component(self) -> int | None:
        """The number of the component of a field vector, from 1; None for a field."""
        return self._exchange.component

    @property
    def depth(self) -> str:
        """How many levels it brings up to date."""
        return describe_depth(self._exchange.depth)

    @property
    def guarded(self) -> bool:
        """Whether a run-time test decides if it happens."""
        return self._exchange.guarded

    @property
    def reasons(self) -> tuple[str, ...]:
        """For each read that needs it, one line that says which, and what made it stale."""
        return tuple(
            f"{reason.reader} reads it {reason.read}; "
            f"{reason.writer or 'what ran before the invoke'} left {reason.written}"
            for reason in self._exchange.reasons
        )


class MarkHalo(Node):
    """A note at run time of what a loop left clean or dirty."""

    __slots__ = ()


class GlobalReduction(Node):
    """The combination of a reduction over all ranks."""

    __slots__ = ()


class Invoke:
    """One invoke of the algorithm."""

    __slots__ = ("_invoke",)

    def __init__(self, invoke: tree.Invoke) -> None:
        self._invoke = invoke

    @property
    def name(self) -> str:
        """The name of the routine that it becomes."""
        return self._invoke.name

    @property
    def schedule(self) -> Schedule:
        """What it does."""
        return Schedule(self._invoke.schedule, ())


class Invokes:
    """All invokes of the algorithm."""

    __slots__ = ("_invokes",)

    def __init__(self, invokes: tuple[tree.Invoke, ...]) -> None:
        self._invokes = tuple(map(Invoke, invokes))

    @property
    def invoke_list(self) -> list[Invoke]:
        """The invokes, in the order of the algorithm."""
        return list(self._invokes)

    @property
    def names(self) -> list[str]:
        """Their names, in the same order."""
        return [invoke.name for invoke in self._invokes]

    def get(self, name: str) -> Invoke:
        """Return the invoke called `name`, with or without `invoke_` before it.

        Raises:
            KeyError: there is none; the message lists those that there are.
        """
        wanted = {name.lower(), f"invoke_{name.lower()}"}
        for invoke in self._invokes:
            if invoke.name in wanted:
                return invoke
        raise KeyError(f"There is no invoke '{name}'; there are: {', '.join(self.names)}.")


class Psy:
    """The PSy layer of one algorithm: what `trans` is called with."""

    __slots__ = ("_program",)

    def __init__(self, program: tree.Program) -> None:
        self._program = program

    @property
    def name(self) -> str:
        """The name of the module that is generated."""
        return self._program.name

    @property
    def invokes(self) -> Invokes:
        """The invokes of the algorithm."""
        return Invokes(self._program.invokes)

    @property
    def children(self) -> tuple[Schedule, ...]:
        """The schedule of each invoke."""
        return tuple(invoke.schedule for invoke in self.invokes.invoke_list)

    def walk(self, wanted: type[Wanted] | tuple[type[Wanted], ...]) -> list[Wanted]:
        """Return everything in all schedules that is of the class or classes `wanted`."""
        return [node for schedule in self.children for node in schedule.walk(wanted)]

    def view(self) -> str:
        """Return all schedules as readable text."""
        return "\n".join(schedule.view() for schedule in self.children)


def _all_below(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from _all_below(child)


def _view(schedule: tree.Schedule, path: tuple[tree.Statement, ...]) -> Node:
    return _VIEWS[type(path[-1])](schedule, path) if path else Schedule(schedule, ())


_VIEWS: dict[type, type[Node]] = {
    tree.Loop: Loop,
    tree.KernelCall: KernelCall,
    tree.HaloExchange: HaloExchange,
    tree.MarkHalo: MarkHalo,
    tree.GlobalReduction: GlobalReduction,
}
