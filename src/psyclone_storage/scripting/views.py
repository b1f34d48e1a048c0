"""Light views on a program, in the words of a script.

A view holds the name of a statement and the workbench that it is on, and no state of its own:
it reads the tree as the last step left it. Only steps change the tree.
"""

from __future__ import annotations

from abc import ABC

from psyclone_storage.analysis.schedules.dependence import backward, dag_dot, forward
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.ir import schedule as tree
from psyclone_storage.ir import transfer
from psyclone_storage.ir.kernel import Access
from psyclone_storage.ir.region import describe_depth
from psyclone_storage.ir.view import block_text, line_text, schedule_text
from psyclone_storage.ir.walk import kernel_calls
from psyclone_storage.scripting import loop_words
from psyclone_storage.scripting.arguments import (
    Argument,
    Arguments,
    FieldSpace,
    PassesArguments,
    arguments_of,
)
from psyclone_storage.scripting.drawing import draw
from psyclone_storage.scripting.kernel_views import KernelRoutine
from psyclone_storage.scripting.node import Node
from psyclone_storage.scripting.session import Session
from psyclone_storage.transform.asynchronous import exchanges_instead
from psyclone_storage.transform.catalogue import apply_request, read_steps, without_moves
from psyclone_storage.transform.move import MoveStatement
from psyclone_storage.transform.step import Step


class Searched(Node, ABC):
    """A node that answers for the loops and calls inside of it."""

    __slots__ = ()

    def loops(self) -> list[Loop]:
        """Return all loops, the outer ones before those in them."""
        return self.walk(Loop)

    def kernels(self) -> list[KernelCall]:
        """Return all calls of kernels and built-ins."""
        return self.walk(KernelCall)

    def coded_kernels(self) -> list[CodedCall]:
        """Return all calls of kernels."""
        return self.walk(CodedCall)

    def kern_calls(self) -> list[CodedCall]:
        """Return all calls of kernels, as `coded_kernels` does under the name of 2019."""
        return self.walk(CodedCall)

    def reductions(self) -> list[KernelCall]:
        """Return all calls that reduce to a scalar."""
        return [call for call in self.kernels() if call.is_reduction]


class ScheduleNode(Searched):
    """A place in a schedule: the schedule itself or a statement of it."""

    __slots__ = ("_session", "_uid")

    def __init__(self, session: Session, uid: str) -> None:
        self._session = session
        self._uid = uid

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ScheduleNode)
            and other._session.bench is self._session.bench
            and other._uid == self._uid
            and isinstance(other, Body) == isinstance(self, Body)
        )

    def __hash__(self) -> int:
        return hash((self._session.bench, self._uid))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.uid}>"

    @property
    def session(self) -> Session:
        """The shared state of all views of the invoke."""
        return self._session

    @property
    def uid(self) -> str:
        """The name of this place, which survives changes elsewhere in the tree."""
        return self._uid or self._tree.name

    @property
    def dag_name(self) -> str:
        """The name of this place in the graph of dependences."""
        return self.uid

    @property
    def parent(self) -> Node | None:
        """The loop, construct, region or schedule around this, or what holds a schedule."""
        if not self._uid:
            return self._session.home
        path = self._path
        return _view(self._session, path[-2]) if len(path) > 1 else self.schedule

    @property
    def children(self) -> tuple[Node, ...]:
        """The child nodes, in order."""
        inside = self._path[-1] if self._uid else self._tree
        if not isinstance(inside, tree.Compound | tree.Schedule):
            return ()
        return tuple(
            _view(self._session, item)
            for item in inside.body
            if not (self._session.psyclone and isinstance(item, tree.MarkHalo | tree.FillHalo))
        )

    @property
    def schedule(self) -> Schedule:
        """The schedule that this is in."""
        return Schedule(self._session, "")

    def node_str(self, colour: bool = False) -> str:
        """Return this in one line, its name in bold letters if `colour`."""
        return line_text(self._path[-1], colour=colour)

    def _text(self, *, colour: bool) -> str:
        """Return this, and all inside, as readable text."""
        return block_text(self._path[-1], colour=colour)

    def debug_string(self) -> str:
        """Return this as readable text, as `view` does."""
        return self.view()

    # ------------------------------------------------------------------ dependences

    def backward_dependence(self) -> ScheduleNode | None:
        """Return the nearest statement before this that this depends on, or None."""
        earlier = [edge.earlier for edge in backward(self._tree, self._outermost)]
        return self._beside(earlier[-1:])

    def forward_dependence(self) -> ScheduleNode | None:
        """Return the nearest statement after this that depends on this, or None."""
        later = [edge.later for edge in forward(self._tree, self._outermost)]
        return self._beside(later[:1])

    def is_valid_location(self, new_node: ScheduleNode, position: str = "before") -> bool:
        """Return whether this may move to just `before` or just `after` the node `new_node`."""
        step = MoveStatement(self.uid, new_node.uid, after=position == "after")
        return not self._session.bench.check(step)

    @property
    def _outermost(self) -> str:
        """The statement of the schedule that this is or is in."""
        return self._path[0].uid if self._uid else ""

    def _beside(self, uids: list[str]) -> ScheduleNode | None:
        return _view(self._session, self._session.bench[uids[0]]) if uids else None

    @property
    def _tree(self) -> tree.Schedule:
        return self._session.bench.schedule

    @property
    def _path(self) -> tuple[tree.Statement, ...]:
        return self._session.path(self._uid)


class Schedule(ScheduleNode):
    """The schedule of one invoke."""

    __slots__ = ()

    def __getitem__(self, number: int) -> Node:
        return self.children[number]

    @property
    def name(self) -> str:
        """The name of the routine that the invoke becomes."""
        return self._tree.name

    def node_str(self, colour: bool = False) -> str:
        """Return what this is in one line, its name in bold letters if `colour`."""
        return schedule_text(self._tree, colour=colour).partition("\n")[0]

    def _text(self, *, colour: bool) -> str:
        """Return the schedule as readable text."""
        return schedule_text(self._tree, colour=colour)

    def dag(self, file_name: str = "", file_format: str = "svg") -> str:
        """Return the dependences between the statements, in the language of Graphviz.

        With a `file_name`, or always for a script of PSyclone, they go to the file
        `<file_name>.<file_format>`, too: as text for `dot` and `gv`, for others as a picture, which
        takes Graphviz. Without that the text goes to a file, and standard error says so.

        Raises:
            CompileError: `T002`, Graphviz cannot draw in this format.
        """
        text = dag_dot(self._tree)
        if file_name or self._session.psyclone:
            draw(text, file_name or "dag", file_format)
        return text

    @property
    def invoke(self) -> Invoke:
        """The invoke that does this."""
        return Invoke(self._session)

    def lower_to_language_level(self) -> Schedule:
        """Return this: it is lowered when it is printed, and stays what it is."""
        return self

    def check(self, step: Step) -> tuple[Diagnostic, ...]:
        """Return all reasons against `step`; nothing if it may be applied."""
        return self._session.bench.check(step)

    def apply(self, step: Step | str) -> Schedule:
        """Apply a step, or steps written as on the command line, and return this.

        Raises:
            CompileError: all reasons against a step whose place is given.
        """
        if isinstance(step, str):
            requests = read_steps(step)
            moves = self._session.recipes_move
            for request in requests if moves else without_moves(requests):
                apply_request(self._session.bench, request)
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


class Loop(ScheduleNode):
    """A loop over cells or dofs."""

    __slots__ = ()

    @property
    def _loop(self) -> tree.Loop:
        loop = self._path[-1]
        assert isinstance(loop, tree.Loop)
        return loop

    @property
    def over(self) -> str:
        """The iterations: `cells`, `dofs`, `domain`, `colours`, `cells of a colour`."""
        return str(self._loop.over.value)

    @property
    def reach(self) -> str:
        """Its upper limit: `all`, `owned`, `annexed`, `halo`, `halo only`."""
        return self._loop.extent.reach.value

    @property
    def depth(self) -> str:
        """The number of halo levels that it computes: `0`, `2`, `extent + 1`, `whole`."""
        return describe_depth(self._loop.extent.depth)

    @property
    def iteration_space(self) -> str:
        """The iteration space of its first kernel in metadata: `cell_column`, `dof`."""
        return kernel_calls(self._loop)[0].kernel.iteration.value

    @property
    def field_space(self) -> FieldSpace:
        """The function space that gives the loop its bounds."""
        call = kernel_calls(self._loop)[0]
        return FieldSpace(call.kernel.args[self._loop.bounds_from].space)

    @property
    def loop_type(self) -> str:
        """PSyclone's word for what it counts, empty for cells."""
        return self._loop.over.loop_type

    def unique_fields_with_halo_reads(self) -> list[Argument]:
        """Return its first argument for each field that it reads beyond what this rank owns."""
        return loop_words.fields_beyond_owned(self._session.bench, self._path, self._args)

    def create_halo_exchanges(self) -> list[Node]:
        """Return the exchanges that make what this loop reads clean, in order.

        None is missing: whenever a step has changed the schedule, all are planned anew.
        """
        return loop_words.exchanges_before(self._session.bench, self._args)

    def update_halo_exchanges(self) -> list[Node]:
        """Take away what this loop has made needless, and return the exchanges that serve it.

        What is needless is an exchange that a script has moved or split, of a field that this loop
        writes, if `required` says so. All others follow the loops by themselves.
        """
        loop_words.drop_needless(self._session.bench, self._args)
        return self.create_halo_exchanges()

    @property
    def _args(self) -> list[Argument]:
        return [arg for call in self.kernels() for arg in call.args]

    @property
    def loop_body(self) -> Body:
        """The child nodes, as a list."""
        return Body(self._session, self._uid)


class Body(ScheduleNode):
    """The statements directly inside of a loop, in order."""

    __slots__ = ()

    def __getitem__(self, number: int) -> Node:
        return self.children[number]

    @property
    def parent(self) -> Node | None:
        """The loop."""
        return _view(self._session, self._path[-1])


class DirectiveRegion(ScheduleNode):
    """Statements under a directive of OpenMP or OpenACC."""

    __slots__ = ()

    @property
    def directive(self) -> str:
        """The directive, such as `omp parallel do`."""
        construct = self._path[-1]
        assert isinstance(construct, tree.DirectiveRegion)
        return construct.directive.value


class ProfileRegion(ScheduleNode):
    """Statements that a profiler times as one."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name under which a profiler reports it."""
        region = self._path[-1]
        assert isinstance(region, tree.ProfileRegion)
        return region.name


class KernelCall(ScheduleNode, PassesArguments):
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
        return kernel.key if kernel.is_builtin else kernel.procedure

    @property
    def is_builtin(self) -> bool:
        """Return whether it is a built-in."""
        return self._call.kernel.is_builtin

    @property
    def arguments(self) -> Arguments:
        """The names of the actual arguments, or constants; `args` has more about each."""
        return Arguments(self.args)

    @property
    def args(self) -> tuple[Argument, ...]:
        """The arguments in order, comparable with those of other calls."""
        return arguments_of(self._tree, self._call, self)

    @property
    def is_reduction(self) -> bool:
        """Return whether it reduces to a scalar."""
        return any(arg.access is Access.REDUCTION for arg in self._call.kernel.args)

    @property
    def accesses(self) -> tuple[str, ...]:
        """The access to each argument.

        One of `read`, `write`, `readwrite`, `inc`, `readinc` and `reduction`.
        """
        return tuple(arg.access.value for arg in self._call.kernel.args)


class CodedCall(KernelCall):
    """A call of a kernel, which has code of its own."""

    __slots__ = ()

    @property
    def is_inlined(self) -> bool:
        """Return whether its subroutine is part of the generated module."""
        return any(code.kernel_use.inlined for code in self._call.codes)

    def get_callees(self) -> list[KernelRoutine]:
        """Return the subroutines that may be called, one for each precision, read if need be.

        Raises:
            CompileError: they cannot be read.
        """
        count = len(self._session.bench.codes_of(self._uid))
        return [KernelRoutine(self._session, self._uid, self, at) for at in range(count)]

    def get_kernel_schedule(self) -> KernelRoutine:
        """Return the first of the subroutines, by the name that PSyclone had for it before."""
        return self.get_callees()[0]


class InlinedCall(ScheduleNode):
    """The statements of a kernel where it was called: no call any more."""

    __slots__ = ()


class BuiltInCall(KernelCall):
    """A call of a built-in."""

    __slots__ = ()


class HaloExchange(ScheduleNode, PassesArguments):
    """A halo exchange, or one end of an asynchronous one."""

    __slots__ = ()

    @property
    def _exchange(self) -> tree.HaloExchange:
        exchange = self._path[-1]
        assert isinstance(exchange, tree.HaloExchange)
        return exchange

    @property
    def field(self) -> str | Argument:
        """The name of the field; for a script of PSyclone the argument of this name."""
        return self.args[0] if self._session.psyclone else self._exchange.datum

    @property
    def args(self) -> tuple[Argument, ...]:
        """The access to the field, its only datum."""
        return arguments_of(self._tree, self._exchange, self)

    def required(self) -> tuple[bool, bool]:
        """Return whether it may be needed, and whether that is known without a run-time test.

        The schedule is planned without it. What a script has moved or split stays where it was put,
        needed or not: `UnpinExchange` takes it away.
        """
        bench = self._session.bench
        instead = exchanges_instead(bench.schedule, bench.rules, self.uid)
        return bool(instead), not any(one.guarded for one in instead)

    @property
    def component(self) -> int | None:
        """The number of the component of a field vector, from 1; None for a field."""
        return self._exchange.component

    @property
    def depth(self) -> str:
        """The number of levels that it exchanges."""
        return describe_depth(self._exchange.depth)

    @property
    def guarded(self) -> bool:
        """Return whether a run-time test guards it."""
        return self._exchange.guarded

    @property
    def reasons(self) -> tuple[str, ...]:
        """For each read that needs it, one line that says which, and what made it stale."""
        return loop_words.reasons_of(self._exchange)


class StartOfExchange(HaloExchange):
    """The start of an asynchronous halo exchange."""

    __slots__ = ()


class EndOfExchange(HaloExchange):
    """The end of an asynchronous halo exchange."""

    __slots__ = ()


class MarkHalo(ScheduleNode):
    """A note at run time of what a loop left clean or dirty."""

    __slots__ = ()


class FillHalo(ScheduleNode):
    """Initialisation of halo dofs that a loop adds to and no statement reads."""

    __slots__ = ()


class GlobalReduction(ScheduleNode, PassesArguments):
    """The combination of a reduction over all ranks."""

    __slots__ = ()

    @property
    def args(self) -> tuple[Argument, ...]:
        """The access to the scalar, its only datum."""
        item = self._path[-1]
        assert isinstance(item, tree.GlobalReduction)
        return arguments_of(self._tree, item, self)


class Transfer(ScheduleNode):
    """A transfer between host and device, or the wait for one."""

    __slots__ = ()


class Invoke:
    """One invoke of the algorithm."""

    __slots__ = ("_session",)

    def __init__(self, session: Session) -> None:
        self._session = session

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Invoke) and other._session.bench is self._session.bench

    def __hash__(self) -> int:
        return hash(self._session.bench)

    @property
    def name(self) -> str:
        """The name of the routine that it becomes."""
        return self._session.bench.schedule.name

    @property
    def schedule(self) -> Schedule:
        """The schedule. It can be set to itself, as scripts for PSyclone 1.8 do at their end."""
        return Schedule(self._session, "")

    @schedule.setter
    def schedule(self, schedule: Schedule) -> None:
        if schedule != self.schedule:
            raise ValueError(f"The schedule of '{self.name}' cannot become that of another invoke.")


def _view(session: Session, statement: tree.Statement) -> ScheduleNode:
    return _kind(statement)(session, statement.uid)


def _kind(statement: tree.Statement) -> type[ScheduleNode]:
    """Return the class of the view on `statement`."""
    match statement:
        case tree.KernelCall(kernel=kernel):
            if kernel.is_builtin:
                return BuiltInCall
            return CodedCall if statement.is_called else InlinedCall
        case tree.HaloExchange(phase=phase):
            return _PHASES[phase]
    return _VIEWS[type(statement)]


_PHASES = {
    tree.Phase.WHOLE: HaloExchange,
    tree.Phase.START: StartOfExchange,
    tree.Phase.FINISH: EndOfExchange,
}
_VIEWS: dict[type, type[ScheduleNode]] = {
    tree.Loop: Loop,
    tree.DirectiveRegion: DirectiveRegion,
    tree.ProfileRegion: ProfileRegion,
    tree.MarkHalo: MarkHalo,
    tree.FillHalo: FillHalo,
    tree.GlobalReduction: GlobalReduction,
    transfer.EnterData: Transfer,
    transfer.Update: Transfer,
    transfer.Wait: Transfer,
    transfer.TaskWait: Transfer,
}
