"""Output of the readers: names, expressions and places, before interpretation.

It contains no parser object and no knowledge of a domain: a metadata entry is a constructor with
items.
"""

from __future__ import annotations

from enum import Enum

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.ir.expr import Expr
from psyclone_storage.ir.keys import FromModule, Named, RenamedImport, key_of
from psyclone_storage.ir.types import DataType, Intent

# ---------------------------------------------------------------------------- declarations


@dataclass(frozen=True, slots=True)
class UsedName(RenamedImport):
    """One name of a `use` statement's list: `local => original`, or the same name twice."""

    local: str
    original: str
    span: Span


@dataclass(frozen=True, slots=True)
class ParsedUse(FromModule):
    """A `use` statement. `only` is None where the whole module is imported.

    `renames` are the names of a statement without `only` that get a local name.
    """

    module: str
    only: tuple[UsedName, ...] | None
    renames: tuple[UsedName, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Declaration(Named):
    """One declared name.

    `shape` has one expression per dimension (`:` is a `Range`, an assumed size is `Star`); a scalar
    has none. `attributes` are in lower case without blanks; `class` and `len=...` are among them
    where the type says so. `intent` is None where none is given. `value` is the initial value or
    the value of a constant.
    """

    name: str
    type: DataType
    shape: tuple[Expr, ...]
    attributes: tuple[str, ...]
    intent: Intent | None
    span: Span
    value: Expr | None = None

    @property
    def rank(self) -> int:
        """The number of dimensions, 0 for a scalar."""
        return len(self.shape)


@dataclass(frozen=True, slots=True)
class ParsedStructure(Named):
    """A derived type defined in the file, with the declarations of its components.

    The components that it inherits from types of the same file are among them.
    """

    name: str
    components: tuple[Declaration, ...]
    span: Span


class ScopeKind(Enum):
    """Kind of program unit, procedure or construct of a scope, by the words that end it."""

    PROGRAM = "program"
    MODULE = "module"
    SUBMODULE = "submodule"
    BLOCK_DATA = "block data"
    SUBROUTINE = "subroutine"
    FUNCTION = "function"
    SEPARATE = "procedure"
    BLOCK = "block"
    ASSOCIATE = "associate"


@dataclass(frozen=True, slots=True)
class Association(Named):
    """A name of an `associate` construct and its expression."""

    name: str
    expr: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Scope(Named):
    """A program unit, procedure or construct with its specification part.

    `end_of_uses` is the offset at which a further `use` statement can be inserted: the start of the
    line after the last one that is in no preprocessor conditional, or after the statement that
    opens the scope. If that line has further text, it is the end of that statement. `indent` is the
    number of blanks before the statements there. `associations` are those of an `associate`
    construct, or of the `select type` and `select rank` constructs in another scope.
    `implicit` is what an `implicit` statement says, in lower case, such as `none`. `others` are, in
    lower case, further names that mean something there, of interfaces or enumerations. Where
    `includes` is true a file is included, which may declare any name. `untyped` are, in lower case,
    dummy arguments, results and names in attribute statements, which may have an implicit type.
    """

    kind: ScopeKind
    name: str
    uses: tuple[ParsedUse, ...]
    declarations: tuple[Declaration, ...]
    end_of_uses: int
    indent: int
    span: Span
    associations: tuple[Association, ...] = ()
    implicit: str = ""
    others: frozenset[str] = frozenset()
    includes: bool = False
    untyped: frozenset[str] = frozenset()


# ---------------------------------------------------------------------------- algorithms


@dataclass(frozen=True, slots=True)
class ParsedArgument:
    """An actual argument as written in the algorithm."""

    expr: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class ParsedCall(Named):
    """One kernel functor or built-in inside an invoke: `name(args)`."""

    name: str
    name_span: Span
    args: tuple[ParsedArgument, ...]
    span: Span


INVOKE_PREFIX = "invoke_"


def routine_name(label: str) -> str:
    """Return the name of the routine that an invoke labelled `label` becomes (spec 2.9)."""
    return label if key_of(label).startswith(INVOKE_PREFIX) else INVOKE_PREFIX + label


@dataclass(frozen=True, slots=True)
class ParsedInvoke:
    """One `call invoke(...)`. `span` is the statement's text from `call` to the last bracket.

    `label` is the value of `name=`, None without one. `scopes` are the program units around it,
    the innermost first.
    """

    calls: tuple[ParsedCall, ...]
    label: str | None
    label_span: Span | None
    scopes: tuple[Scope, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class ParsedAlgorithm:
    """An algorithm file: its outermost program unit and every invoke in it, in order.

    `types` are the derived types that the file defines, in any of its `scopes`. `warnings` report
    invalid statements around the invokes.
    """

    source: SourceText
    unit: Scope
    scopes: tuple[Scope, ...]
    invokes: tuple[ParsedInvoke, ...]
    types: tuple[ParsedStructure, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()


# ---------------------------------------------------------------------------- kernels


@dataclass(frozen=True, slots=True)
class MetadataItem:
    """One item of a metadata entry: `gh_field*3`, `stencil(cross)`, `mesh_arg=gh_fine`.

    `items` are the arguments of an item that is a constructor or a reference, each with a place of
    its own; `expr` is the item as a whole, without its keyword.
    """

    expr: Expr
    keyword: str | None
    items: tuple[MetadataItem, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class MetadataComponent:
    """A component of the metadata type with an initial value.

    `shape` is the declared shape. An array's `items` are the elements of its constructor; a
    scalar has one item. `span` is the component's name.
    """

    name: str
    type_name: str
    shape: tuple[Expr, ...]
    items: tuple[MetadataItem, ...]
    is_array: bool
    span: Span


@dataclass(frozen=True, slots=True)
class ParsedRoutine:
    """The interface of a subroutine: its dummy arguments in order, and what was declared.

    `uses` are those in scope, of the module as well as its own. A dummy argument without a
    declaration is absent from `declarations`.
    """

    name: str
    dummies: tuple[str, ...]
    declarations: tuple[Declaration, ...]
    uses: tuple[ParsedUse, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class ParsedKernel:
    """A kernel type as found in a module: raw metadata and the names it is implemented under.

    `procedure` is what is called; `implementations` are its specific subroutines, more
    than one if `procedure` is a generic interface. `span` is the type's name.
    """

    name: str
    module: str
    components: tuple[MetadataComponent, ...]
    procedure: str
    implementations: tuple[str, ...]
    source: SourceText
    span: Span

    def component(self, name: str) -> MetadataComponent | None:
        """Return the component `name`, in lower case, or None."""
        return next((part for part in self.components if part.name == name), None)
