"""What the routines of all infrastructures have in common: names, order, one subroutine per invoke.

Statements are lowered first. What they need is asked for on the way and collects in the
routine's workspace, so that declarations and set-up, which are written before them, hold
what is used and nothing else. How a statement is spelt is for the infrastructure to say.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Protocol

from psyclone_storage.backend import abi_profile
from psyclone_storage.backend.profile import profiled
from psyclone_storage.backend.workspace import Imports, Workspace
from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.ir.expr import Expr, Name, spell
from psyclone_storage.ir.schedule import (
    Compound,
    HaloExchange,
    Invoke,
    KernelCall,
    ProfileRegion,
    Program,
    Schedule,
    Statement,
)
from psyclone_storage.ir.unit import Blank, Comment, Declare, Line, Routine, Unit
from psyclone_storage.ir.walk import kernel_calls

Timed = Callable[[ProfileRegion, tuple[Line, ...]], tuple[Line, ...]]


class RoutineLowering(Protocol):
    """What the frame asks while it lowers one routine, in this order."""

    def dummies(self) -> tuple[Declare, ...]:
        """Return the declarations of the routine's dummy arguments, in order."""

    def lower(self, statement: Statement) -> tuple[Line, ...]:
        """Return the lines of a statement that stands directly in the schedule or a region."""

    def lower_joint(self, exchanges: tuple[HaloExchange, ...]) -> tuple[Line, ...]:
        """Return the lines of exchanges that share their messages."""

    def finish(self) -> None:
        """Add to the set-up what can only be known when all statements are lowered."""


@dataclass(frozen=True, slots=True)
class Infrastructure:
    """What generated code is written against.

    `reserved` are names that no variable may have. `home_of_kind` gives the module of a kind
    parameter, in lower case, that the algorithm does not import by name. `begin` starts the
    lowering of a routine in its workspace. `helpers` gives the routines that those of the program
    hand over or call.
    """

    reserved: frozenset[str]
    home_of_kind: Callable[[str], str]
    begin: Callable[[Schedule, Workspace], RoutineLowering]
    helpers: Callable[[Program, Imports], tuple[Routine, ...]] = lambda _program, _imports: ()


def lower_routines(program: Program, infrastructure: Infrastructure, comment: str = "") -> Unit:
    """Return the module of a program's routines."""
    routines = {invoke.name for invoke in program.invokes}
    data = {datum.name for invoke in program.invokes for datum in invoke.schedule.data}
    own = {
        call.kernel.procedure
        for invoke in program.invokes
        for call in kernel_calls(invoke.schedule)
        if call.kernel.module == program.name
    }
    imports = Imports({program.name, *routines, *data, *own}, program.name)
    lowered = tuple(
        _lower_invoke(program, invoke, imports, infrastructure) for invoke in program.invokes
    )
    helpers = infrastructure.helpers(program, imports)
    return Unit(program.name, imports.uses(), lowered, comment, helpers)


def _lower_invoke(
    program: Program, invoke: Invoke, imports: Imports, infrastructure: Infrastructure
) -> Routine:
    schedule = invoke.schedule
    home_of_kind = partial(_home_of_kind, invoke, infrastructure)
    taken = infrastructure.reserved | abi_profile.RESERVED | _taken(program, schedule)
    work = Workspace(imports, taken, home_of_kind)
    lowering = infrastructure.begin(schedule, work)
    dummies = lowering.dummies()
    body = tuple(_lower_body(lowering, schedule.body, partial(profiled, work, program.name)))
    lowering.finish()
    heading = Comment(_heading(schedule))
    lines = (*work.set_up(), heading, *body, *work.tear_down())
    declarations, directives = work.declarations(), work.directives()
    return Routine(schedule.name, dummies, declarations, lines, directives=directives)


def imported_variable(schedule: Schedule, call: KernelCall, arg: int, work: Workspace) -> Expr:
    """Return the variable of a module that `call` passes for the argument `arg`, imported."""
    name = call.args[arg].datum
    if name is None:
        raise InternalError(f"'{call.uid}' imports no variable for argument {arg}.")
    datum = schedule.datum(name)
    return Name(work.imports.local(datum.module, spell(datum.actual)))


def _heading(schedule: Schedule) -> str:
    if not schedule.body:
        return "Nothing to do: all calls are for halo cells, and data are not distributed"
    return "Halo exchanges and loops" if schedule.distributed else "Loops"


def _taken(program: Program, schedule: Schedule) -> set[str]:
    """Return the names of the program that no variable of the routine may have."""
    kernels = [call.kernel for item in program.invokes for call in kernel_calls(item.schedule)]
    return {
        *(datum.name for datum in schedule.all_data),
        *(invoke.name for invoke in program.invokes),
        *(name for kernel in kernels for name in (kernel.procedure, kernel.module)),
        program.name,
    }


def _home_of_kind(invoke: Invoke, infrastructure: Infrastructure, kind: str) -> str:
    """Return the module of a kind parameter: the algorithm's, if that imports it by name."""
    for scope in invoke.parsed.scopes:
        for use in scope.uses:
            if any(name.local.lower() == kind.lower() for name in use.only or ()):
                return use.module
    return infrastructure.home_of_kind(kind.lower())


def _lower_body(
    lowering: RoutineLowering, body: tuple[Statement, ...], timed: Timed
) -> Iterator[Line]:
    """Yield the statements, an empty line before each loop and before the exchanges for it.

    `timed` puts the lines of a region between the calls of a profiler.
    """
    before: Statement | None = None
    for items in _by_message(body):
        statement, *others = items
        if isinstance(statement, ProfileRegion):
            lines = timed(statement, tuple(_lower_body(lowering, statement.body, timed)))
        elif others:
            exchanges = tuple(item for item in items if isinstance(item, HaloExchange))
            lines = lowering.lower_joint(exchanges)
        else:
            lines = lowering.lower(statement)
        starts = isinstance(statement, HaloExchange | Compound)
        if before is not None and starts and not isinstance(before, HaloExchange):
            yield Blank()
        yield from lines
        before = statement


def _by_message(body: tuple[Statement, ...]) -> Iterator[tuple[Statement, ...]]:
    """Yield the statements one by one, but exchanges that share their messages together."""

    def message(numbered: tuple[int, Statement]) -> Hashable:
        number, statement = numbered
        return (isinstance(statement, HaloExchange) and statement.joint) or number

    for _, items in groupby(enumerate(body), key=message):
        yield tuple(statement for _, statement in items)
