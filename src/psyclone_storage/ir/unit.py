"""Generated units: a module, its routines and their statements, as input of the printers.

A unit is the result of lowering: all names are chosen, and only the syntax is left to the printer.
Statements are procedural and independent of domains and files. Kernel bodies and whole files use
the same statements, and some that lowering never generates. Those of a file have a `place`, and
constructs an `extent`; comparisons ignore both. `exit` and `cycle` use the construct's `name`.
"""

from __future__ import annotations

from psyclone_storage.base.memo import Keeper
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.base.source import Span
from psyclone_storage.ir.directive import Directive, KernelDirective, RegionOptions
from psyclone_storage.ir.expr import Expr, Name
from psyclone_storage.ir.kernel import ReductionOp
from psyclone_storage.ir.keys import Attributed, FromModule, Named, RenamedImport
from psyclone_storage.ir.transfer import Held, Side
from psyclone_storage.ir.types import DataType

# ---------------------------------------------------------------------------- statements


class CompoundStatement(Keeper):
    """A statement that contains other statements."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment of one or more lines.

    If `as_written`, it comes from the source: one line, the text after `!`.
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
    """A directive such as `omp parallel do`.

    `text` is the source text without `!$`; a directive created by a step has only a `meaning`. A
    directive of the source has a meaning if steps support that directive.
    """

    text: str = ""
    meaning: KernelDirective | None = None
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Assign(Keeper):
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
class Call(Keeper):
    """A call of a subroutine, possibly type-bound."""

    procedure: Expr
    args: tuple[Expr, ...] = ()
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Do(CompoundStatement):
    """A counted loop from `start` to `stop`, inclusive; the default step is 1.

    `uid` identifies the loop across transformations (`ir.loops`). A `label` may end it.
    """

    variable: Name
    start: Expr
    stop: Expr
    body: tuple[Line, ...]
    step: Expr | None = None
    name: str = field(default="", kw_only=True)
    uid: str = field(default="", compare=False, repr=False, kw_only=True)
    label: Span | None = field(default=None, compare=False, repr=False, kw_only=True)
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)
    extent: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Branch:
    """One branch of an `If`: a condition and its statements."""

    condition: Expr
    body: tuple[Line, ...]
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class If(CompoundStatement):
    """A conditional; `otherwise` runs if no branch condition holds."""

    branches: tuple[Branch, ...]
    otherwise: tuple[Line, ...] = ()
    name: str = field(default="", kw_only=True)
    extent: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Allocate:
    """An `allocate` statement for `arrays`, with their extents or a `source=`.

    `type` is the type specification before `::`.
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
class ScopedBlock(CompoundStatement):
    """A `block` construct: statements with local declarations and imports."""

    uses: tuple[Use, ...]
    declarations: tuple[Declare | Comment | Blank | Opaque, ...]
    body: tuple[Line, ...]
    name: str = field(default="", kw_only=True)
    extent: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Opaque:
    """Source statements that are preserved without being interpreted.

    `text` starts unindented. `names` are all names in it, in lower case. `associate` is set for an
    `associate` construct.
    """

    text: str
    names: frozenset[str]
    associate: Associate | None = field(default=None, compare=False, repr=False, kw_only=True)
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


# ---------------------------------------------------------------------------- where control goes


@dataclass(frozen=True, slots=True)
class Return:
    """A `return` statement; `value` selects an alternate return."""

    value: Expr | None = None
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Exit:
    """An `exit` from the construct `name`, or from the innermost loop."""

    name: str = ""
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Cycle:
    """A `cycle` of the loop `name`, or of the innermost loop."""

    name: str = ""
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Stop:
    """A `stop` or `error stop` statement; `quiet` is the value of `quiet=`."""

    code: Expr | None = None
    error: bool = False
    quiet: Expr | None = None
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Continue:
    """A `continue` statement."""

    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Label:
    """The label of the following statement."""

    number: str
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Goto:
    """A `go to` one of `labels`; a computed one uses the index `selector`."""

    labels: tuple[str, ...]
    selector: Expr | None = None
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class While(CompoundStatement):
    """A `do while` loop; without a condition, an endless loop."""

    condition: Expr | None
    body: tuple[Line, ...]
    name: str = field(default="", kw_only=True)
    label: Span | None = field(default=None, compare=False, repr=False, kw_only=True)
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)
    extent: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Control:
    """A counter of a `DoConcurrent` or `Forall`, and its range."""

    variable: Name
    start: Expr
    stop: Expr
    step: Expr | None = None


@dataclass(frozen=True, slots=True)
class DoConcurrent(CompoundStatement):
    """A `do concurrent` loop over `controls` where `mask` holds.

    `kind` is the type of the counters if declared in the header. `locality` is the text of the
    locality clauses.
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
    """A case of a `Select`: values, ranges or types; without `guards`, the default.

    `word` is the keyword before the guards: `case`, `type is`, `class is` or `rank`.
    """

    guards: tuple[Expr, ...]
    body: tuple[Line, ...]
    word: str = "case"
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Select(CompoundStatement):
    """A `select case`, `select type` or `select rank` construct.

    `word` is `case`, `type` or `rank`. `alias` is the name of the selector inside the cases, if it
    differs. `before` are comments before the first case.
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
class Where(CompoundStatement):
    """A `where` construct: masked array assignments; an element uses the first mask that holds."""

    branches: tuple[Branch, ...]
    otherwise: tuple[Line, ...] = ()
    name: str = field(default="", kw_only=True)
    extent: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Forall(CompoundStatement):
    """A `forall` construct: each assignment runs for all values of `controls` before the next."""

    controls: tuple[Control, ...]
    body: tuple[Line, ...]
    mask: Expr | None = None
    kind: str = ""
    name: str = field(default="", kw_only=True)
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)
    extent: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Associate(CompoundStatement):
    """An `associate` construct."""

    pairs: tuple[tuple[Name, Expr], ...]
    body: tuple[Line, ...]
    name: str = field(default="", kw_only=True)
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)
    extent: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Critical(CompoundStatement):
    """A `critical` construct, which one image at a time executes."""

    body: tuple[Line, ...]
    name: str = field(default="", kw_only=True)
    extent: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class ConditionalBranch:
    """A branch of a preprocessor conditional, with the preprocessor line before it."""

    text: str
    body: tuple[Line, ...]
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Conditional(CompoundStatement):
    """A preprocessor conditional (`#if`) around statements."""

    branches: tuple[ConditionalBranch, ...]
    extent: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


# ---------------------------------------------------------------------------- memory and files


@dataclass(frozen=True, slots=True)
class Nullify:
    """A `nullify` statement."""

    pointers: tuple[Expr, ...]
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class InputOutput:
    """An input/output statement: its keyword, its control list and the transferred `items`."""

    word: str
    controls: tuple[Expr, ...]
    items: tuple[Expr, ...] = ()
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Format:
    """A `format` statement; input/output statements refer to its `label`."""

    label: str
    text: str
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Include:
    """An `include` line; `file` includes the quotes."""

    file: str
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


# ---------------------------------------------------------------------------- threads and devices


@dataclass(frozen=True, slots=True)
class DeviceItem:
    """An object that must be on a device, after the `level` objects that it is nested in."""

    what: Expr
    level: int = 0
    written: bool = False


@dataclass(frozen=True, slots=True)
class DirectiveBlock(CompoundStatement):
    """Statements under a directive, with their data clauses.

    `reductions` include their operations. `items` must be on the device beforehand. An analysis
    gives the clauses, `if(condition)` too, for files (`analysed`). The host `waits` for its queue.
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
    waits: bool = False
    condition: Expr | None = None


@dataclass(frozen=True, slots=True)
class EnterDataLine:
    """An `enter data` directive: copies `items` to a device, or without `values` creates them."""

    items: tuple[Expr, ...]
    queue: int = -1
    values: bool = True
    openmp: bool = False


@dataclass(frozen=True, slots=True)
class ExitDataLine:
    """An `exit data` directive that deletes `items`; with `finalize`, also if entered twice."""

    items: tuple[Expr, ...]
    openmp: bool = False
    finalize: bool = False


@dataclass(frozen=True, slots=True)
class UpdateLine:
    """An update of the copies of `items` on side `to`; with `if_present`, they may be absent."""

    to: Side
    items: tuple[Expr, ...]
    if_present: bool = False
    openmp: bool = False


@dataclass(frozen=True, slots=True)
class QueueWaitLine:
    """A wait for all operations in a device queue."""

    queue: int


@dataclass(frozen=True, slots=True)
class TaskWaitLine:
    """A wait for the tasks that this thread has created."""


@dataclass(frozen=True, slots=True)
class ReductionLine:
    """A `declare reduction` that combines the threads' sums of the type `type_name`."""

    type_name: str


@dataclass(frozen=True, slots=True)
class HoldData(CompoundStatement):
    """Statements during which data are acquired; they record dirty halos if it `sets_flags`."""

    items: tuple[Held, ...]
    body: tuple[Line, ...]
    sets_flags: bool = False


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
    """An imported name: `local => original`; without renaming both are equal."""

    local: str
    original: str


@dataclass(frozen=True, slots=True)
class Use(FromModule):
    """The imports from one module; `intrinsic` marks an intrinsic module.

    With `whole`, the whole module is imported, and `names` are only the renamed ones.
    """

    module: str
    names: tuple[Imported, ...]
    intrinsic: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Declare(Named, Attributed):
    """The declaration of one variable.

    `shape` has one expression per dimension; `Range()` is a deferred or assumed extent.
    `attributes` are in source order, including an intent. `polymorphic` means `class`. `value` is
    the initial value, or the value of a constant.
    """

    name: str
    type: DataType
    attributes: tuple[str, ...] = ()
    shape: tuple[Expr, ...] = ()
    polymorphic: bool = False
    value: Expr | None = None


@dataclass(frozen=True, slots=True)
class GeneratedRoutine:
    """A generated subroutine; the specification part is `dummies`, `variables`, `directives`."""

    name: str
    dummies: tuple[Declare, ...]
    variables: tuple[Declare, ...]
    body: tuple[Line, ...]
    comment: str = ""
    directives: tuple[DirectiveLine | ReductionLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Unit:
    """A generated module: public `routines`, public `outlined` loops, private `helpers`."""

    name: str
    uses: tuple[Use, ...]
    routines: tuple[GeneratedRoutine, ...]
    comment: str = ""
    helpers: tuple[GeneratedRoutine, ...] = ()
    outlined: tuple[GeneratedRoutine, ...] = ()
