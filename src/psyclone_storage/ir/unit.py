"""What printers print: a module, its routines, and the statements in them.

A unit is what lowering makes of a program: every name is chosen, every quantity is declared and
set up, and nothing is left to decide but the spelling. It holds statements of a procedural
language with arrays and pointers, and knows neither a domain nor a file. Expressions
are those of `ir.expr`. A statement that an author wrote knows its `place`; two that differ in that
alone are equal.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from psyclone_storage.base.source import Span
from psyclone_storage.ir.expr import Expr
from psyclone_storage.ir.types import DataType

# ---------------------------------------------------------------------------- statements


@dataclass(frozen=True, slots=True)
class Comment:
    """A line, or several, for the person who reads the generated code.

    An author's own is `as_written`: one line, all that stands behind its `!`.
    """

    text: str
    as_written: bool = False


@dataclass(frozen=True, slots=True)
class Blank:
    """An empty line."""


@dataclass(frozen=True, slots=True)
class DirectiveLine:
    """An instruction to a compiler such as `omp parallel do`, without its sentinel's `!$`."""

    text: str


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


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a subroutine, which may be bound to an object."""

    procedure: Expr
    args: tuple[Expr, ...] = ()
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Do:
    """A counted loop; `start` and `stop` are both included. Without a `step` it counts by one."""

    variable: str
    start: Expr
    stop: Expr
    body: tuple[Line, ...]
    step: Expr | None = None
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


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


@dataclass(frozen=True, slots=True)
class Allocate:
    """Make room for `arrays`, each with its extents, or for one that is a copy of `source=`."""

    arrays: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Deallocate:
    """Give back the room of `arrays`."""

    arrays: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class ScopedBlock:
    """Statements with variables and imports of their own, which nothing outside of it sees."""

    uses: tuple[Use, ...]
    declarations: tuple[Declare, ...]
    body: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Opaque:
    """Statements of an author that are carried along as written, without being understood.

    `text` has no indentation of its own on its first line. `names` are all the names in it, in
    lower case: what it may read, write or call.
    """

    text: str
    names: frozenset[str]


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
)

# ---------------------------------------------------------------------------- scopes


@dataclass(frozen=True, slots=True)
class Imported:
    """A name taken from a module: `local => original`, or the same name twice."""

    local: str
    original: str


@dataclass(frozen=True, slots=True)
class Use:
    """The names taken from one module; `intrinsic` says that the language itself provides it.

    With `whole` the module is taken as a whole, and `names` are those that get a local name.
    """

    module: str
    names: tuple[Imported, ...]
    intrinsic: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Declare:
    """The declaration of one variable.

    `shape` has one expression per dimension, `Range()` where the extent is deferred or assumed.
    `attributes` are in the order in which they are written, an intent included. `polymorphic`
    says that a derived type stands for its extensions too. `value` is the value of a constant, or
    the initial one of a variable.
    """

    name: str
    type: DataType
    attributes: tuple[str, ...] = ()
    shape: tuple[Expr, ...] = ()
    polymorphic: bool = False
    value: Expr | None = None


@dataclass(frozen=True, slots=True)
class Routine:
    """A subroutine. `dummies` and `variables` are declared in their order, then `directives`."""

    name: str
    dummies: tuple[Declare, ...]
    variables: tuple[Declare, ...]
    body: tuple[Line, ...]
    comment: str = ""
    directives: tuple[DirectiveLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Unit:
    """A module with public `routines`, and `helpers`, which are private.

    `comment` stands at its head.
    """

    name: str
    uses: tuple[Use, ...]
    routines: tuple[Routine, ...]
    comment: str = ""
    helpers: tuple[Routine, ...] = ()
