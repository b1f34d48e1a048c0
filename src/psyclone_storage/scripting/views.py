"""Light views on a program, in the words of a script.

A view holds the name of a statement and the workbench that it is on, and no state of its own:
it reads the tree as the last step left it. Only steps change the tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from psyclone_storage.analysis.dependence import dag_dot
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.ir import schedule as tree
from psyclone_storage.ir.expr import spell
from psyclone_storage.ir.region import describe_depth
from psyclone_storage.ir.rules import KernelSource, Rules
from psyclone_storage.ir.view import schedule_text
from psyclone_storage.ir.walk import kernel_calls
from psyclone_storage.scripting.session import Session
from psyclone_storage.transform.catalogue import grant, read_steps
from psyclone_storage.transform.step import Step
from psyclone_storage.transform.workbench import Workbench

Wanted = TypeVar("Wanted", bound="Node")


class Node:
    """A place in a schedule: the schedule itself or a statement of it."""

    __slots__ = ("_session", "_uid")

    def __init__(self, session: Session, uid: str) -> None:
        self._session = session
        self._uid = uid

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Node)
            and other._session.bench is self._session.bench
            and other._uid == self._uid
        )

    def __hash__(self) -> int:
        return hash((id(self._session.bench), self._uid))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.uid}>"

    @property
    def session(self) -> Session:
        """What this view shares with all others of its invoke."""
        return self._session

    @property
    def uid(self) -> str:
        """The name of this place, which survives changes elsewhere in the tree."""
        return self._uid or self._tree.name

    @property
    def parent(self) -> Node | None:
        """The loop, construct or schedule around this, None for a schedule."""
        if not self._uid:
            return None
        path = self._path
        return _view(self._session, path[-2]) if len(path) > 1 else self.root

    @property
    def children(self) -> tuple[Node, ...]:
        """What is directly inside, in order."""
        inside = self._path[-1] if self._uid else self._tree
        if not isinstance(inside, tree.Compound | tree.Schedule):
            return ()
        return tuple(
            _view(self._session, item)
            for item in inside.body
            if not (self._session.psyclone and isinstance(item, tree.MarkHalo))
        )

    @property
    def root(self) -> Schedule:
        """The schedule that this is in."""
        return Schedule(self._session, "")

    @property
    def position(self) -> int:
        """The number of this among its siblings, from 0."""
        parent = self.parent
        return parent.children.index(self) if parent else 0

    @property
    def _tree(self) -> tree.Schedule:
        return self._session.bench.schedule

    @property
    def _path(self) -> tuple[tree.Statement, ...]:
        return self._session.path(self._uid)

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
        return self._tree.name

    def view(self) -> str:
        """Return the schedule as readable text."""
        return schedule_text(self._tree)

    def dag(self) -> str:
        """Return the dependences between the statements, in the language of Graphviz."""
        return dag_dot(self._tree)

    def loops(self) -> list[Loop]:
        """Return all loops, the outer ones before those in them."""
        return self.walk(Loop)

    def kernels(self) -> list[KernelCall]:
        """Return all calls of kernels and built-ins."""
        return self.walk(KernelCall)

    @property
    def invoke(self) -> Invoke:
        """The invoke that does this."""
        return Invoke(self._session)

    def check(self, step: Step) -> tuple[Diagnostic, ...]:
        """Return all reasons against `step`; nothing if it may be applied."""
        return self._session.bench.check(step)

    def apply(self, step: Step | str) -> Schedule:
        """Apply a step, or steps written as on the command line, and return this.

        Raises:
            CompileError: all reasons against a step whose place is given.
        """
        if isinstance(step, str):
            for wish in read_steps(step):
                grant(self._session.bench, wish)
        else:
            self._session.bench.apply(step)
        return self

    def undo(self) -> Schedule:
        """Take the last step back and return this."""
        self._session.bench.undo()
        return self

    @property
    def history(self) -> tuple[Step, ...]:
        """The steps applied so far, in order."""
        return tuple(applied.step for applied in self._session.bench.history)


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

    @property
    def iteration_space(self) -> str:
        """What its first kernel is called for, as metadata say it: `cell_column`, `dof`."""
        return kernel_calls(self._loop)[0].kernel.iteration.value

    @property
    def field_space(self) -> FieldSpace:
        """The function space that gives the loop its bounds."""
        call = kernel_calls(self._loop)[0]
        return FieldSpace(call.kernel.args[self._loop.bounds_from].space)

    @property
    def loop_type(self) -> str:
        """PSyclone's word for what it counts, empty for cells."""
        return _LOOP_TYPES[self._loop.over]

    def kernels(self) -> list[KernelCall]:
        """Return all calls inside."""
        return self.walk(KernelCall)


@dataclass(frozen=True, slots=True)
class FieldSpace:
    """A function space, by the name that metadata give it."""

    orig_name: str


_LOOP_TYPES = {
    tree.Over.CELLS: "",
    tree.Over.DOFS: "dof",
    tree.Over.DOMAIN: "null",
    tree.Over.COLOURS: "colours",
    tree.Over.CELLS_OF_COLOUR: "cells_in_colour",
    tree.Over.ROWS: "outer",
    tree.Over.COLUMNS: "inner",
}


class Construct(Node):
    """Statements under a directive of OpenMP."""

    __slots__ = ()

    @property
    def directive(self) -> str:
        """The directive, such as `omp parallel do`."""
        construct = self._path[-1]
        assert isinstance(construct, tree.Construct)
        return construct.directive.value


class Region(Node):
    """Statements that a profiler times as one."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name under which a profiler reports it."""
        region = self._path[-1]
        assert isinstance(region, tree.Region)
        return region.name


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
        """The name that the algorithm uses, or the subroutine's for a script of PSyclone."""
        kernel = self._call.kernel
        if not self._session.psyclone:
            return kernel.name
        return kernel.name.lower() if kernel.is_builtin else kernel.procedure

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

    __slots__ = ("_session",)

    def __init__(self, session: Session) -> None:
        self._session = session

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Invoke) and other._session.bench is self._session.bench

    def __hash__(self) -> int:
        return hash(id(self._session.bench))

    @property
    def name(self) -> str:
        """The name of the routine that it becomes."""
        return self._session.bench.schedule.name

    @property
    def schedule(self) -> Schedule:
        """What it does. It can be set to itself, as scripts for PSyclone 1.8 do at their end."""
        return Schedule(self._session, "")

    @schedule.setter
    def schedule(self, schedule: Schedule) -> None:
        if schedule != self.schedule:
            raise ValueError(f"The schedule of '{self.name}' cannot become that of another invoke.")


class Invokes:
    """All invokes of the algorithm."""

    __slots__ = ("_invokes",)

    def __init__(self, sessions: tuple[Session, ...]) -> None:
        self._invokes = tuple(map(Invoke, sessions))

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

    __slots__ = ("_program", "_sessions")

    def __init__(
        self,
        program: tree.Program,
        rules: Rules,
        source: KernelSource | None = None,
        *,
        psyclone: bool = False,
    ) -> None:
        self._program = program
        self._sessions = tuple(
            Session(Workbench(invoke.schedule, rules, source), psyclone)
            for invoke in program.invokes
        )

    @property
    def program(self) -> tree.Program:
        """The program with the steps applied so far; the very one if there are none."""
        if not any(session.bench.history for session in self._sessions):
            return self._program
        invokes = tuple(
            replace(invoke, schedule=session.bench.schedule)
            for invoke, session in zip(self._program.invokes, self._sessions, strict=True)
        )
        return replace(self._program, invokes=invokes)

    @property
    def name(self) -> str:
        """The name of the module that is generated."""
        return self._program.name

    @property
    def invokes(self) -> Invokes:
        """The invokes of the algorithm."""
        return Invokes(self._sessions)

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


def _view(session: Session, statement: tree.Statement) -> Node:
    return _VIEWS[type(statement)](session, statement.uid)


_VIEWS: dict[type, type[Node]] = {
    tree.Loop: Loop,
    tree.Construct: Construct,
    tree.Region: Region,
    tree.KernelCall: KernelCall,
    tree.HaloExchange: HaloExchange,
    tree.MarkHalo: MarkHalo,
    tree.GlobalReduction: GlobalReduction,
}
