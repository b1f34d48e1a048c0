"""Views of a program for scripts.

A view contains the uid of a statement and its workbench, but no other state. It reads the tree
after the last step. Only steps change the tree.
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
    """Node that can return the loops and calls inside it."""

    __slots__ = ()

    def loops(self) -> list[Loop]:
        """Return all loops in preorder."""
        return self.walk(Loop)

    def kernels(self) -> list[KernelCall]:
        """Return all calls of kernels and built-ins."""
        return self.walk(KernelCall)

    def coded_kernels(self) -> list[CodedCall]:
        """Return all kernel calls, without built-ins."""
        return self.walk(CodedCall)

    def kern_calls(self) -> list[CodedCall]:
        """Return all kernel calls, like `coded_kernels`; the name of 2019."""
        return self.walk(CodedCall)

    def reductions(self) -> list[KernelCall]:
        """Return all calls that compute a reduction."""
        return [call for call in self.kernels() if call.is_reduction]


class ScheduleNode(Searched):
    """Node of a schedule: the schedule itself or one of its statements."""

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
        """State shared by all views of the invoke."""
        return self._session

    @property
    def uid(self) -> str:
        """Unique name of the node, which is kept when other parts of the tree change."""
        return self._uid or self._tree.name

    @property
    def dag_name(self) -> str:
        """Name of the node in the dependence graph."""
        return self.uid

    @property
    def parent(self) -> Node | None:
        """Enclosing loop, construct, region or schedule; for a schedule, its container."""
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
        """Schedule that contains the node."""
        return Schedule(self._session, "")

    def node_str(self, colour: bool = False) -> str:
        """Return the node on one line, with its name in bold if `colour` is true."""
        return line_text(self._path[-1], colour=colour)

    def _text(self, *, colour: bool) -> str:
        """Return the node with all its children as readable text."""
        return block_text(self._path[-1], colour=colour)

    def debug_string(self) -> str:
        """Return the node as readable text, like `view`."""
        return self.view()

    # ------------------------------------------------------------------ dependences

    def backward_dependence(self) -> ScheduleNode | None:
        """Return the nearest earlier statement on which this node depends, or None."""
        earlier = [edge.earlier for edge in backward(self._tree, self._outermost)]
        return self._beside(earlier[-1:])

    def forward_dependence(self) -> ScheduleNode | None:
        """Return the nearest later statement that depends on this node, or None."""
        later = [edge.later for edge in forward(self._tree, self._outermost)]
        return self._beside(later[:1])

    def is_valid_location(self, new_node: ScheduleNode, position: str = "before") -> bool:
        """Return whether the node can be moved directly before or after `new_node`."""
        step = MoveStatement(self.uid, new_node.uid, after=position == "after")
        return not self._session.bench.check(step)

    @property
    def _outermost(self) -> str:
        """Uid of the outermost statement that is or contains this node."""
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
    """Schedule of one invoke."""

    __slots__ = ()

    def __getitem__(self, number: int) -> Node:
        return self.children[number]

    @property
    def name(self) -> str:
        """Name of the routine generated for the invoke."""
        return self._tree.name

    def node_str(self, colour: bool = False) -> str:
        """Return the schedule on one line, with its name in bold if `colour` is true."""
        return schedule_text(self._tree, colour=colour).partition("\n")[0]

    def _text(self, *, colour: bool) -> str:
        """Return the schedule as readable text."""
        return schedule_text(self._tree, colour=colour)

    def dag(self, file_name: str = "", file_format: str = "svg") -> str:
        """Return the dependences between the statements, in the Graphviz language.

        With a `file_name`, and always for a script that uses PSyclone's names, they are also
        written to `<file_name>.<file_format>`: as text for `dot` and `gv`, otherwise as a picture.
        Without Graphviz the text is written, with a message on standard error.

        Raises:
            CompileError: `T002`, Graphviz cannot draw in this format.
        """
        text = dag_dot(self._tree)
        if file_name or self._session.psyclone:
            draw(text, file_name or "dag", file_format)
        return text

    @property
    def invoke(self) -> Invoke:
        """Invoke to which the schedule belongs."""
        return Invoke(self._session)

    def lower_to_language_level(self) -> Schedule:
        """Return this schedule unchanged; it is lowered when it is printed."""
        return self

    def check(self, step: Step) -> tuple[Diagnostic, ...]:
        """Return all reasons for which `step` is rejected; () if it is legal."""
        return self._session.bench.check(step)

    def apply(self, step: Step | str) -> Schedule:
        """Apply a step, or steps in command-line syntax, and return this schedule.

        Raises:
            CompileError: all reasons for which a step at a given location is rejected.
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
        """Undo the last step and return this schedule."""
        self._session.bench.undo()
        return self

    @property
    def history(self) -> tuple[Step, ...]:
        """Steps applied so far, in order."""
        return tuple(applied.step for applied in self._session.bench.history)


class Loop(ScheduleNode):
    """Loop over cells, dofs, colours or grid points."""

    __slots__ = ()

    @property
    def _loop(self) -> tree.Loop:
        loop = self._path[-1]
        assert isinstance(loop, tree.Loop)
        return loop

    @property
    def over(self) -> str:
        """Iterations of the loop, such as `cells`, `dofs`, `domain` or `colours`."""
        return str(self._loop.over.value)

    @property
    def reach(self) -> str:
        """Upper limit of the loop: `all`, `owned`, `annexed`, `halo`, or `halo only`."""
        return self._loop.extent.reach.value

    @property
    def depth(self) -> str:
        """Number of halo levels computed by the loop, such as `0`, `extent + 1` or `whole`."""
        return describe_depth(self._loop.extent.depth)

    @property
    def iteration_space(self) -> str:
        """Iteration space of the first kernel in metadata, such as `cell_column` or `dof`."""
        return kernel_calls(self._loop)[0].kernel.iteration.value

    @property
    def field_space(self) -> FieldSpace:
        """Function space that determines the bounds of the loop."""
        call = kernel_calls(self._loop)[0]
        return FieldSpace(call.kernel.args[self._loop.bounds_from].space)

    @property
    def loop_type(self) -> str:
        """PSyclone's loop type; '' for a loop over cells."""
        return self._loop.over.loop_type

    def unique_fields_with_halo_reads(self) -> list[Argument]:
        """Return the first argument for each field that the loop reads beyond owned dofs."""
        return loop_words.fields_beyond_owned(self._session.bench, self._path, self._args)

    def create_halo_exchanges(self) -> list[Node]:
        """Return the exchanges that make the data read by this loop clean, in order.

        All exchanges are already present, because each step replans them.
        """
        return loop_words.exchanges_before(self._session.bench, self._args)

    def update_halo_exchanges(self) -> list[Node]:
        """Remove exchanges not needed after this loop, and return the exchanges that it needs.

        Only exchanges that a script has moved or split, of fields that this loop writes, can become
        unnecessary: `required` returns False. All others are replanned automatically.
        """
        loop_words.drop_needless(self._session.bench, self._args)
        return self.create_halo_exchanges()

    @property
    def _args(self) -> list[Argument]:
        return [arg for call in self.kernels() for arg in call.args]

    @property
    def loop_body(self) -> Body:
        """Node that contains the statements of the loop."""
        return Body(self._session, self._uid)


class Body(ScheduleNode):
    """Statements directly inside a loop, in order."""

    __slots__ = ()

    def __getitem__(self, number: int) -> Node:
        return self.children[number]

    @property
    def parent(self) -> Node | None:
        """Loop that contains the statements."""
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
    """Statements measured together by a profiler."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """Name of the region in the profiler's report."""
        region = self._path[-1]
        assert isinstance(region, tree.ProfileRegion)
        return region.name


class KernelCall(ScheduleNode, PassesArguments):
    """Call of a kernel or a built-in."""

    __slots__ = ()

    @property
    def _call(self) -> tree.KernelCall:
        call = self._path[-1]
        assert isinstance(call, tree.KernelCall)
        return call

    @property
    def name(self) -> str:
        """Name used in the algorithm; for a script that uses PSyclone's names, the subroutine."""
        kernel = self._call.kernel
        if not self._session.psyclone:
            return kernel.name
        return kernel.key if kernel.is_builtin else kernel.procedure

    @property
    def is_builtin(self) -> bool:
        """True if a built-in is called."""
        return self._call.kernel.is_builtin

    @property
    def arguments(self) -> Arguments:
        """Names of the actual arguments, or constants; `args` contains details of each one."""
        return Arguments(self.args)

    @property
    def args(self) -> tuple[Argument, ...]:
        """Arguments in order, comparable with those of other calls."""
        return arguments_of(self._tree, self._call, self)

    @property
    def is_reduction(self) -> bool:
        """True if the call computes a reduction."""
        return any(arg.access is Access.REDUCTION for arg in self._call.kernel.args)

    @property
    def accesses(self) -> tuple[str, ...]:
        """Access to each argument, such as `read`, `write`, `readwrite` or `inc`."""
        return tuple(arg.access.value for arg in self._call.kernel.args)


class CodedCall(KernelCall):
    """Call of a kernel, not a built-in."""

    __slots__ = ()

    @property
    def is_inlined(self) -> bool:
        """True if the subroutine is part of the generated module."""
        return any(code.kernel_use.inlined for code in self._call.codes)

    def get_callees(self) -> list[KernelRoutine]:
        """Return the subroutines that may be called, one for each precision; read them if needed.

        Raises:
            CompileError: a subroutine cannot be read.
        """
        count = len(self._session.bench.codes_of(self._uid))
        return [KernelRoutine(self._session, self._uid, self, at) for at in range(count)]

    def get_kernel_schedule(self) -> KernelRoutine:
        """Return the first subroutine; the previous PSyclone name of `get_callees`."""
        return self.get_callees()[0]


class InlinedCall(ScheduleNode):
    """Statements of an inlined kernel, which replace the call."""

    __slots__ = ()


class BuiltInCall(KernelCall):
    """Call of a built-in."""

    __slots__ = ()


class HaloExchange(ScheduleNode, PassesArguments):
    """Halo exchange, or the start or end of an asynchronous one."""

    __slots__ = ()

    @property
    def _exchange(self) -> tree.HaloExchange:
        exchange = self._path[-1]
        assert isinstance(exchange, tree.HaloExchange)
        return exchange

    @property
    def field(self) -> str | Argument:
        """Name of the field; for a script that uses PSyclone's names, the argument."""
        return self.args[0] if self._session.psyclone else self._exchange.datum

    @property
    def args(self) -> tuple[Argument, ...]:
        """Access to the field, which is the only datum."""
        return arguments_of(self._tree, self._exchange, self)

    def required(self) -> tuple[bool, bool]:
        """Return whether the exchange may be needed, and whether that is known at compile time.

        The schedule is planned without this exchange. A moved or split exchange remains even if it
        is not needed. `UnpinExchange` removes it.
        """
        bench = self._session.bench
        instead = exchanges_instead(bench.schedule, bench.rules, self.uid)
        return bool(instead), not any(one.guarded for one in instead)

    @property
    def component(self) -> int | None:
        """Component number of a field vector, counted from 1; None for a field."""
        return self._exchange.component

    @property
    def depth(self) -> str:
        """Number of halo levels that are exchanged."""
        return describe_depth(self._exchange.depth)

    @property
    def guarded(self) -> bool:
        """True if a run-time test controls the exchange."""
        return self._exchange.guarded

    @property
    def reasons(self) -> tuple[str, ...]:
        """One line for each read that needs the exchange, with the cause of the stale halo."""
        return loop_words.reasons_of(self._exchange)


class StartOfExchange(HaloExchange):
    """The start of an asynchronous halo exchange."""

    __slots__ = ()


class EndOfExchange(HaloExchange):
    """The end of an asynchronous halo exchange."""

    __slots__ = ()


class MarkHalo(ScheduleNode):
    """Statement that sets halo levels to clean or stale at run time."""

    __slots__ = ()


class FillHalo(ScheduleNode):
    """Initialisation of halo dofs that a loop increments but no statement reads."""

    __slots__ = ()


class GlobalReduction(ScheduleNode, PassesArguments):
    """Reduction of a value over all ranks."""

    __slots__ = ()

    @property
    def args(self) -> tuple[Argument, ...]:
        """Access to the scalar, which is the only datum."""
        item = self._path[-1]
        assert isinstance(item, tree.GlobalReduction)
        return arguments_of(self._tree, item, self)


class Transfer(ScheduleNode):
    """Data transfer between host and device, or the wait for one."""

    __slots__ = ()


class Invoke:
    """Invoke of the algorithm."""

    __slots__ = ("_session",)

    def __init__(self, session: Session) -> None:
        self._session = session

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Invoke) and other._session.bench is self._session.bench

    def __hash__(self) -> int:
        return hash(self._session.bench)

    @property
    def name(self) -> str:
        """Name of the routine generated for the invoke."""
        return self._session.bench.schedule.name

    @property
    def schedule(self) -> Schedule:
        """Schedule; it can be assigned to itself, as scripts for PSyclone 1.8 do at their end."""
        return Schedule(self._session, "")

    @schedule.setter
    def schedule(self, schedule: Schedule) -> None:
        if schedule != self.schedule:
            raise ValueError(f"The schedule of '{self.name}' cannot become that of another invoke.")


def _view(session: Session, statement: tree.Statement) -> ScheduleNode:
    return _kind(statement)(session, statement.uid)


def _kind(statement: tree.Statement) -> type[ScheduleNode]:
    """Return the view class for `statement`."""
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
