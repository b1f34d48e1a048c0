"""Input of printers: a module, its routines, and their statements.

A unit is the result of lowering: every name is chosen, every quantity is declared and set up, and
only the spelling is left to decide. It holds statements of a procedural language with arrays and
pointers, and knows neither a domain nor a file. The bodies of kernels, and files that are read
whole, have the same statements, and some that lowering never makes. Expressions are those of
`ir.expr`. An author's statement knows its `place`, and a construct its `extent`; equality ignores
both. The `name` of a construct is what `exit` and `cycle` may call it by.
"""

from __future__ import annotations

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.base.source import Span
from psyclone_storage.ir.directive import Directive, KernelDirective, RegionOptions
from psyclone_storage.ir.expr import Expr, Name
from psyclone_storage.ir.kernel import ReductionOp
from psyclone_storage.ir.keys import (
    Attributed,
    FromModule,
    Named,
    RenamedImport,
)
from psyclone_storage.ir.transfer import Held, Side
from psyclone_storage.ir.types import DataType

# ---------------------------------------------------------------------------- statements


@dataclass(frozen=True, slots=True)
class Comment:
    """A line, or several, for the person who reads the generated code.

    An author's own is `as_written`: one line, the text after its `!`.
    """

    text: str
    as_written: bool = False
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Blank:
    """An empty line."""

    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class DirectiveLine:
    """An instruction to a compiler such as `omp parallel do`.

    `text` is what an author has written, without the sentinel's `!$`; a step gives the `meaning`
    alone. A directive of an author has a meaning if it is of those that steps ask for.
    """

    text: str = ""
    meaning: KernelDirective | None = None
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Assign:
    """`target = value`."""

    target: Expr
    value: Expr
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class PointerAssign:
    """`target => value`."""

    target: Expr
    value: Expr
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a subroutine, which may be bound to an object."""

    procedure: Expr
    args: tuple[Expr, ...] = ()
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Do:
    """A counted loop; `start` and `stop` are both included. Without a `step` it counts by one.

    `uid` identifies a loop of a subroutine, whatever steps change (`ir.loops`).
    """

    variable: Name
    start: Expr
    stop: Expr
    body: tuple[Line, ...]
    step: Expr | None = None
    name: str = field(default="", kw_only=True)
    uid: str = field(default="", compare=False, repr=False, kw_only=True)
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)
    extent: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Branch:
    """One condition of an `If`, and what is done where it is the first to hold."""

    condition: Expr
    body: tuple[Line, ...]
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class If:
    """A choice; `otherwise` is done where no branch's condition holds."""

    branches: tuple[Branch, ...]
    otherwise: tuple[Line, ...] = ()
    name: str = field(default="", kw_only=True)
    extent: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Allocate:
    """Allocate `arrays`, each with its extents, or one that is a copy of `source=`.

    `type` is the type before a `::`.
    """

    arrays: tuple[Expr, ...]
    type: str = ""
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Deallocate:
    """Deallocate `arrays`."""

    arrays: tuple[Expr, ...]
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class ScopedBlock:
    """Statements with variables and imports of their own, which nothing outside of it sees."""

    uses: tuple[Use, ...]
    declarations: tuple[Declare | Comment | Blank | Opaque, ...]
    body: tuple[Line, ...]
    name: str = field(default="", kw_only=True)
    extent: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Opaque:
    """Statements of an author that are carried along as written, without being understood.

    `text` starts unindented; `names` (lower case) are all in it; `associate` is what `place` holds.
    """

    text: str
    names: frozenset[str]
    associate: Associate | None = field(default=None, compare=False, repr=False, kw_only=True)
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


# ---------------------------------------------------------------------------- where control goes


@dataclass(frozen=True, slots=True)
class Return:
    """The end of a call; `value` chooses an alternate return."""

    value: Expr | None = None
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Exit:
    """A jump to the end of the construct called `name`, or of the innermost loop."""

    name: str = ""
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Cycle:
    """A jump to the next iteration of the loop called `name`, or of the innermost one."""

    name: str = ""
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Stop:
    """The end of the program: normal, or with `error`. `quiet` is the value of `quiet=`."""

    code: Expr | None = None
    error: bool = False
    quiet: Expr | None = None
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Continue:
    """A statement that does nothing."""

    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Label:
    """A number in front of the statement that follows, to which others may jump."""

    number: str
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Goto:
    """A jump to one of `labels`: the one that the `selector` counts, or the only one."""

    labels: tuple[str, ...]
    selector: Expr | None = None
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class While:
    """A loop while `condition` holds, or an endless loop without one."""

    condition: Expr | None
    body: tuple[Line, ...]
    name: str = field(default="", kw_only=True)
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)
    extent: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Control:
    """One counter of a `DoConcurrent` or `Forall`, and the values that it takes."""

    variable: Name
    start: Expr
    stop: Expr
    step: Expr | None = None


@dataclass(frozen=True, slots=True)
class DoConcurrent:
    """Iterations in any order, for the values of `controls` for which `mask` holds.

    `kind` is the type of the counters where the head declares them, `locality` what it says about
    variables, as written.
    """

    controls: tuple[Control, ...]
    body: tuple[Line, ...]
    mask: Expr | None = None
    kind: str = ""
    locality: str = ""
    name: str = field(default="", kw_only=True)
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)
    extent: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Case:
    """Branch of a `Select` for `guards`: values and ranges, or types; without any, the default.

    `word` precedes the guards: `case`, `type is`, `class is` or `rank`.
    """

    guards: tuple[Expr, ...]
    body: tuple[Line, ...]
    word: str = "case"
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Select:
    """A choice by a value, or by the type or rank of a variable.

    `word` is `case`, `type` or `rank`; `alias` is the name of the selector in the cases, if
    it differs. `before` has the comments before the first case.
    """

    selector: Expr
    cases: tuple[Case, ...]
    word: str = "case"
    alias: Name | None = None
    before: tuple[Line, ...] = ()
    name: str = field(default="", kw_only=True)
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)
    extent: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Where:
    """Assignments to those elements of arrays for which a mask is the first to hold."""

    branches: tuple[Branch, ...]
    otherwise: tuple[Line, ...] = ()
    name: str = field(default="", kw_only=True)
    extent: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Forall:
    """Assignments for all values of `controls`, each done for all of them before the next one."""

    controls: tuple[Control, ...]
    body: tuple[Line, ...]
    mask: Expr | None = None
    kind: str = ""
    name: str = field(default="", kw_only=True)
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)
    extent: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Associate:
    """Statements in which names denote the expressions paired with them."""

    pairs: tuple[tuple[Name, Expr], ...]
    body: tuple[Line, ...]
    name: str = field(default="", kw_only=True)
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)
    extent: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Critical:
    """Statements that one image at a time is in."""

    body: tuple[Line, ...]
    name: str = field(default="", kw_only=True)
    extent: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class ConditionalBranch:
    """Statements that are compiled where the preprocessor's line in front of them says so."""

    text: str
    body: tuple[Line, ...]
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Conditional:
    """Statements of which the preprocessor chooses those of one branch, or none."""

    branches: tuple[ConditionalBranch, ...]
    extent: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


# ---------------------------------------------------------------------------- memory and files


@dataclass(frozen=True, slots=True)
class Nullify:
    """Let `pointers` point at nothing."""

    pointers: tuple[Expr, ...]
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class InputOutput:
    """Input, output or another operation on a file.

    `word` is the statement's own. `controls` say which file and how, each with its keyword if it
    has one; of a statement without brackets there is one. `items` are what is transferred.
    """

    word: str
    controls: tuple[Expr, ...]
    items: tuple[Expr, ...] = ()
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Format:
    """Format of values in a file, for statements that name its `label`."""

    label: str
    text: str
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Include:
    """The text of another file, whose name is in quotes."""

    file: str
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


# ---------------------------------------------------------------------------- threads and devices


@dataclass(frozen=True, slots=True)
class DeviceItem:
    """An object or array that a device has to have.

    `level` is the number of objects that it lies in; those must be on the device first.
    """

    what: Expr
    level: int = 0
    written: bool = False


@dataclass(frozen=True, slots=True)
class DirectiveBlock:
    """Statements under a directive, and its clauses about the data in them.

    `reductions` have their operations; `items` is what a device must have before. In files of an
    author the clauses are `analysed`: they hold for this block, and not for the block around it.
    """

    directive: Directive
    options: RegionOptions
    body: tuple[Line, ...]
    private: tuple[str, ...] = ()
    reductions: tuple[tuple[str, ReductionOp], ...] = ()
    items: tuple[DeviceItem, ...] = ()
    firstprivate: tuple[str, ...] = ()
    lastprivate: tuple[str, ...] = ()
    analysed: bool = False


@dataclass(frozen=True, slots=True)
class EnterDataLine:
    """Enter `items`, components of as many objects, on a device, with or without `values`."""

    items: tuple[Expr, ...]
    queue: int = -1
    values: bool = True


@dataclass(frozen=True, slots=True)
class ExitDataLine:
    """Delete `items`, whose values are no longer needed, from a device."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class UpdateLine:
    """Make one side's copy of `item` equal to the other's, if a device has one or for certain."""

    to: Side
    item: Expr
    if_present: bool = False


@dataclass(frozen=True, slots=True)
class QueueWaitLine:
    """Wait until a device has done all that was put into `queue`."""

    queue: int


@dataclass(frozen=True, slots=True)
class TaskWaitLine:
    """Wait until the tasks that this thread has made are done."""


@dataclass(frozen=True, slots=True)
class ReductionLine:
    """Declare how sums of the derived type `type_name`, one for each thread, are combined."""

    type_name: str


@dataclass(frozen=True, slots=True)
class HoldData:
    """Statements while data are acquired on their side; written data are recorded afterwards."""

    items: tuple[Held, ...]
    body: tuple[Line, ...]


Generated = (
    DirectiveBlock
    | HoldData
    | EnterDataLine
    | ExitDataLine
    | UpdateLine
    | QueueWaitLine
    | TaskWaitLine
    | ReductionLine
)
"""What lowering makes and no author writes: directives, and statements under them."""

Line = (
    Comment
    | Blank
    | DirectiveLine
    | Assign
    | PointerAssign
    | Call
    | Do
    | If
    | Allocate
    | Deallocate
    | ScopedBlock
    | Opaque
    | Return
    | Exit
    | Cycle
    | Stop
    | Continue
    | Label
    | Goto
    | While
    | DoConcurrent
    | Select
    | Where
    | Forall
    | Associate
    | Critical
    | Conditional
    | Nullify
    | InputOutput
    | Format
    | Include
    | Generated
)

# ---------------------------------------------------------------------------- scopes


@dataclass(frozen=True, slots=True)
class Imported(RenamedImport):
    """A name taken from a module: `local => original`, or the same name twice."""

    local: str
    original: str


@dataclass(frozen=True, slots=True)
class Use(FromModule):
    """The names taken from one module; `intrinsic` says that the language itself provides it.

    With `whole` the module is taken as a whole, and `names` are those that get a local name.
    """

    module: str
    names: tuple[Imported, ...]
    intrinsic: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Declare(Named, Attributed):
    """The declaration of one variable.

    `shape` has one expression per dimension, `Range()` where the extent is deferred or assumed.
    `attributes` are in the order in which they are written, an intent included. `polymorphic`
    means that a derived type includes its extensions. `value` is the value of a constant, or
    the initial one of a variable.
    """

    name: str
    type: DataType
    attributes: tuple[str, ...] = ()
    shape: tuple[Expr, ...] = ()
    polymorphic: bool = False
    value: Expr | None = None


@dataclass(frozen=True, slots=True)
class GeneratedRoutine:
    """A subroutine. `dummies` and `variables` are declared in their order, then `directives`."""

    name: str
    dummies: tuple[Declare, ...]
    variables: tuple[Declare, ...]
    body: tuple[Line, ...]
    comment: str = ""
    directives: tuple[DirectiveLine | ReductionLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Unit:
    """A module with public `routines`, public `outlined` loops of these, and private `helpers`."""

    name: str
    uses: tuple[Use, ...]
    routines: tuple[GeneratedRoutine, ...]
    comment: str = ""
    helpers: tuple[GeneratedRoutine, ...] = ()
    outlined: tuple[GeneratedRoutine, ...] = ()
