"""Results of the readers before interpretation: names, expressions and source positions.

This module contains no parser objects and nothing specific to a domain: a metadata entry is a
constructor with items.
"""

from __future__ import annotations

from enum import Enum

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.ir.expr import Expr
from psyclone_storage.ir.keys import FromModule, Named, RenamedImport, key_of
from psyclone_storage.ir.types import DataType, DerivedType, Intent

# ---------------------------------------------------------------------------- declarations


@dataclass(frozen=True, slots=True)
class UsedName(RenamedImport):
    """A name in the list of a `use` statement: `local => original`.

    Without renaming both are equal.
    """

    local: str
    original: str
    span: Span


@dataclass(frozen=True, slots=True)
class ParsedUse(FromModule):
    """A `use` statement; `only` equals None if the whole module is imported.

    `renames` are the renamed names of a statement without `only`.
    """

    module: str
    only: tuple[UsedName, ...] | None
    renames: tuple[UsedName, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class KernelPlace:
    """Definition of a kernel: the file, the lower-case name, and the name of the module."""

    source: SourceText
    name: str
    module: str


@dataclass(frozen=True, slots=True)
class Declaration(Named):
    """The declaration of one name.

    `shape` has one expression per dimension: `Range` for `:`, `Star` for an assumed size. A scalar
    has an empty shape. `attributes` are in lower case without blanks, including `class` and
    `len=...`. `intent` equals None if not given. `value` is the initial value, or the value of a
    constant.
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
    """A derived type defined in the file, with its components.

    Components inherited from types of the same file are included.

    - `names`: other parts in lower case: bound procedures and parent types.
    - `extends`: the first parent type that is not in the file, or None.
    - `is_complete`: whether all statements of the definitions are read and no others can be there.
    - `module`: lower-case name of the module that defines it; None in any other scope.
    """

    name: str
    components: tuple[Declaration, ...]
    span: Span
    names: frozenset[str] = frozenset()
    extends: DerivedType | None = None
    is_complete: bool = True
    module: str | None = None


class ScopeKind(Enum):
    """Kind of a program unit, procedure or construct with a scope, by its `end` keyword."""

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
    """A name of an `associate` construct and the expression that it denotes."""

    name: str
    expr: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Scope(Named):
    """A program unit, procedure or construct, with its specification part.

    - `end_of_uses`: offset at which a `use` statement can be inserted. This is the start of the
      line after the last `use` outside preprocessor conditionals, or after the opening statement.
      If that line contains further text, it is the end of the statement.
    - `indent`: number of blanks before the statements there.
    - `associations`: pairs of an `associate`, `select type` or `select rank` construct.
    - `implicit`: text of the `implicit` statement in lower case, such as `none`.
    - `others`: other declared names in lower case, such as interfaces and enumerators.
    - `includes`: whether a file is included, which may declare any name.
    - `untyped`: dummy arguments, results and names in attribute statements, in lower case, that may
      have an implicit type.
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
    """An actual argument as written in the algorithm layer."""

    expr: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class ParsedCall(Named):
    """A kernel or built-in inside an invoke: `name(args)`."""

    name: str
    name_span: Span
    args: tuple[ParsedArgument, ...]
    span: Span


INVOKE_PREFIX = "invoke_"


def routine_name(label: str) -> str:
    """Return the name of the generated routine for an invoke with this label (spec 2.9)."""
    return label if key_of(label).startswith(INVOKE_PREFIX) else INVOKE_PREFIX + label


@dataclass(frozen=True, slots=True)
class ParsedInvoke:
    """One `call invoke(...)` statement.

    `span` is its text from `call` to the closing parenthesis. `label` is the value of `name=`, or
    None. `scopes` are the enclosing program units, innermost first.
    """

    calls: tuple[ParsedCall, ...]
    label: str | None
    label_span: Span | None
    scopes: tuple[Scope, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class ParsedAlgorithm:
    """An algorithm file: its outermost program unit and its invokes, in order.

    `types` are the derived types defined in any of its `scopes`. `warnings` report invalid
    statements in the enclosing scopes.
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
    """An item of a metadata entry: `gh_field*3`, `stencil(cross)`, `mesh_arg=gh_fine`.

    `items` are the arguments if the item is a constructor or a reference. `expr` is the complete
    item without its keyword.
    """

    expr: Expr
    keyword: str | None
    items: tuple[MetadataItem, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class MetadataComponent:
    """A component of the metadata type, with its initial value.

    `items` are the elements of an array constructor; a scalar has one item. `span` is the position
    of the component's name.
    """

    name: str
    type_name: str
    shape: tuple[Expr, ...]
    items: tuple[MetadataItem, ...]
    is_array: bool
    span: Span


@dataclass(frozen=True, slots=True)
class ParsedRoutine:
    """The interface of a subroutine: its dummy arguments in order, and its declarations.

    `uses` include those of the enclosing module. `declarations` does not contain undeclared dummy
    arguments.
    """

    name: str
    dummies: tuple[str, ...]
    declarations: tuple[Declaration, ...]
    uses: tuple[ParsedUse, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class ParsedKernel:
    """A kernel type of a module: uninterpreted metadata and the names of its subroutines.

    `procedure` is the procedure to call. `implementations` are the specific subroutines, several if
    `procedure` is a generic interface. `span` is the position of the type's name.
    """

    name: str
    module: str
    components: tuple[MetadataComponent, ...]
    procedure: str
    implementations: tuple[str, ...]
    source: SourceText
    span: Span

    def component(self, name: str) -> MetadataComponent | None:
        """Return the component with the lower-case name `name`, or None."""
        return next((part for part in self.components if part.name == name), None)
