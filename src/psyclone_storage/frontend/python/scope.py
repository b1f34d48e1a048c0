"""The names in a kernel while it is read: arguments, locals, constants, and what is wrong so far.

Owns which locals certainly have a value at a place: one that may have none cannot be read.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from psyclone_storage.base.diagnostic import Diagnostic, Related
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.base.source import Span
from psyclone_storage.frontend.python.functions import CallableImports
from psyclone_storage.frontend.python.tree import Tree
from psyclone_storage.ir.expr import Expr, Name, Verbatim
from psyclone_storage.ir.interface import Dummy
from psyclone_storage.ir.types import Intrinsic, ScalarType

OFFSETS = "Write the distance from the point, as in 'height[1, 0]': whole numbers."


@dataclass(frozen=True, slots=True)
class TypedExpression:
    """An expression and the type of its value; none where something is wrong with it."""

    expr: Expr
    type: Intrinsic | None


UNKNOWN = TypedExpression(Verbatim("?"), None)


@dataclass(frozen=True, slots=True)
class LocalVariable:
    """A local variable: its type, and where it first gets a value."""

    type: Intrinsic | None
    first: Span


@dataclass(frozen=True, slots=True)
class ModuleVariable:
    """A variable of another module: the key that it has here, and what it is called there."""

    key: str
    module: str
    name: str
    type: Intrinsic


@dataclass(slots=True)
class KernelScope:
    """What the names in a kernel stand for; real numbers are of the type `real`.

    Arrays are looked at from the point `index`. `assigned` are the names of all locals, `locals`
    those that reading has come to. `known` are the names that certainly have a value where it has
    come to; None behind a `return`. `called` are the functions of the language that are needed,
    `imported` the variables of other modules, which are called by what is in `modules`.
    """

    tree: Tree
    real: ScalarType
    offered: CallableImports
    index: tuple[str, str]
    arguments: Mapping[str, Dummy]
    constants: Mapping[str, Intrinsic]
    assigned: frozenset[str] = frozenset()
    locals: dict[str, LocalVariable] = field(default_factory=dict)
    counters: list[str] = field(default_factory=list)
    known: frozenset[str] | None = frozenset()
    called: dict[str, Span] = field(default_factory=dict)
    problems: list[Diagnostic] = field(default_factory=list)
    modules: Mapping[str, str] = field(default_factory=dict)
    imported: dict[str, ModuleVariable] = field(default_factory=dict)

    def refuse(
        self,
        code: str,
        message: str,
        place: ast.AST | Span,
        hint: str = "",
        related: tuple[Related, ...] = (),
    ) -> TypedExpression:
        """Note what is wrong at a place, and return an expression without a type."""
        span = place if isinstance(place, Span) else self.tree.span(place)
        self.problems.append(Diagnostic(code, message, span, hint=hint, related=related))
        return UNKNOWN

    def text(self, node: ast.AST) -> str:
        """Return what is written at `node`, on one line and not for long."""
        words = " ".join(self.tree.span(node).text.split())
        return words if len(words) <= _SHOWN else f"{words[:_SHOWN]}..."

    def variable_of(self, module: str, name: str, type_: Intrinsic) -> Name:
        """Return the variable `name` of another module, which is read when the kernel runs."""
        key = "_".join((*map(_spelled_out, (*module.split("."), name)), "of_module"))
        while key in {one.lower() for one in (*self.arguments, *self.assigned)}:
            key += "_"
        self.imported[key] = ModuleVariable(key, self.modules[module], name, type_)
        return Name(key)

    def has_value(self, name: str) -> bool:
        """Return whether a local certainly has a value here."""
        return self.known is None or name in self.known

    def gives_value(self, name: str) -> None:
        """Note that a local has a value from here on."""
        if self.known is not None:
            self.known |= {name}


def _spelled_out(word: str) -> str:
    """Return a word of a dotted name so that no two names are one when joined in lower case.

    Digits begin no word: `_0` and `_1` stand for an underscore and for the next letter's case.
    """
    word = word.replace("_", "_0")
    return "".join(f"_1{one.lower()}" if one != one.lower() else one for one in word)


_SHOWN = 60


def both(first: frozenset[str] | None, second: frozenset[str] | None) -> frozenset[str] | None:
    """Return what is known where two ways meet; nobody comes along a way that is None."""
    if first is None:
        return second
    return first if second is None else first & second
