"""The names in a kernel while it is read: arguments, locals, constants, and errors so far.

Owns which locals certainly have a value at a place: one that may have none cannot be read.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from typing import Any, Protocol

from psyclone_storage.base.diagnostic import Diagnostic, Related
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.base.source import Span
from psyclone_storage.ir.expr import Expr, Name, Verbatim
from psyclone_storage.ir.interface import Dummy
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import Line
from psyclone_storage.languages.python.parse.functions import CallableImports
from psyclone_storage.languages.python.parse.tree import PythonTree
from psyclone_storage.languages.python.parse.weak_types import NumberKinds


class Exactness(Enum):
    """The accuracy with which a real represents an integer that may have more than 32 bits.

    One that is `NEAR` is the same up to 2**53, and beyond 2**32 where the integer is.
    """

    EXACT = 0
    ROUNDED = 1
    NEAR = 2
    LOST = 3


@dataclass(frozen=True, slots=True)
class WideNumber:
    """An integer that may have more than 32 bits, as a real, with its place in the text."""

    expr: Expr
    how: Exactness
    place: Span


@dataclass(frozen=True, slots=True)
class TypedExpression:
    """An expression and the type of its value, None where an error is in it.

    `wide` is an integer as a real, where it may exceed the range of integers. A real that is
    `within` is known not to exceed it. `kinds` are those of numbers in Python that it may have,
    None where the expression itself determines that. One that `may_change` is in Python an array
    without dimensions, which `+=` changes in place.
    """

    expr: Expr
    type: Intrinsic | None
    wide: WideNumber | None = None
    within: bool = False
    kinds: NumberKinds | None = None
    may_change: bool = False


UNKNOWN = TypedExpression(Verbatim("?"), None)


@dataclass(frozen=True, slots=True)
class LocalVariable:
    """A local variable: its type, where it first gets a value, and the extents of an array.

    One that is real has the type `real`; `kinds` are those of its values.
    """

    type: Intrinsic | None
    first: Span
    shape: tuple[Expr, ...] = ()
    real: ScalarType | None = None
    kinds: NumberKinds | None = None


@dataclass(frozen=True, slots=True)
class ModuleVariable:
    """A variable of another module: its key here, and its name there."""

    key: str
    module: str
    name: str
    type: Intrinsic


@dataclass(frozen=True, slots=True)
class CountedRange:
    """The range of a loop: the first and last value of the counter, and the step, in typed code.

    If it is `taken`, there is at least one iteration. One counted `from_one` counts from 0 in
    Python.
    """

    first: Expr
    last: Expr
    step: Expr | None = None
    taken: bool = False
    from_one: bool = False


class ArgumentAccess(Protocol):
    """The iteration space of a kernel, which determines the access to its arguments."""

    @property
    def hint(self) -> str:
        """Return the spelling of an element of an argument."""

    @property
    def has_arrays(self) -> bool:
        """Return whether a kernel may have local arrays."""

    def assigned(self, name: str, dummy: Dummy) -> str:
        """Return how an element of the argument `name` is given a value."""

    def within(self, tree: PythonTree) -> ArgumentAccess:
        """Return the rules as they are for a function of another file, whose words are its own."""

    def read(self, scope: KernelScope, node: ast.Subscript) -> TypedExpression:
        """Return an element that is read; errors are recorded."""

    def target(
        self, scope: KernelScope, node: ast.Subscript, value: TypedExpression
    ) -> Expr | None:
        """Return an element that is given a value; None, with a note, if that cannot be."""

    def extent(self, scope: KernelScope, node: ast.Subscript, part: int) -> Expr | None:
        """Return how many elements a part of an index counts; None if that is not known."""

    def counted(self, scope: KernelScope, node: ast.expr) -> CountedRange | None:
        """Return the range of a loop over a word of the API; None for another loop."""

    def length(self, scope: KernelScope, node: ast.expr) -> TypedExpression | None:
        """Return the number of iterations of such a loop; None if `node` is no word of the API."""

    def number(self, scope: KernelScope, node: ast.Call) -> TypedExpression | None:
        """Return an integer that the kernel is passed; None if `node` is no word of the API."""


class HelperCalls(Protocol):
    """The handling of a kernel's calls of user functions."""

    def value(self, scope: KernelScope, node: ast.Call) -> TypedExpression | None:
        """Return the value of a call; None if it calls no user function."""

    def parts(self, scope: KernelScope, node: ast.Call) -> list[ast.expr] | None:
        """Return the names of the results of a call; None if it calls no function with several."""

    def statements(self, scope: KernelScope, node: ast.Call) -> list[Line] | None:
        """Return the statements of a call statement; None if it calls no user function."""

    def is_called(self, scope: KernelScope, node: ast.expr) -> bool:
        """Return whether there is such a call in an expression."""


@dataclass(frozen=True, slots=True)
class CalledHelper:
    """A function of the author's that is read: its text, its name, and where it is called.

    `module` has its variables, which is the kernel's own where it is empty; None is not known. So
    many levels deep is it nested.
    """

    tree: PythonTree
    name: str
    called_at: Span
    module: str | None = ""
    depth: int = 0


@dataclass(frozen=True, slots=True)
class ConstantArray:
    """A table as an array in the code: its name there, its type and its values."""

    name: str
    type: Intrinsic
    value: Any


LoopPlace = tuple[str, int, int]
"""The place of a loop: the file, the line and the column."""


@dataclass(frozen=True, slots=True)
class OpenLoop:
    """An enclosing loop: its place, and the names of its construct that jumps refer to.

    The place is None if the loop cannot be unrolled or is unrolled already.
    """

    place: LoopPlace | None = None
    leave: str = ""
    following: str = ""


@dataclass(slots=True)
class KernelScope:
    """The meaning of the names in a kernel; real numbers are of the type `real`.

    Where some of the arguments have other reals, these are `single`, and `local_kinds` are those of
    the values assigned to locals, by their names in the code: they are known when the kernel has
    been read before. `changing` are the locals that may hold a value that `may_change`. Arguments
    are read by the rules of `access`; `passed` are all that the subroutine takes, in order. Of the
    counters `from_one` the value is one more than in Python. `assigned` are the names of all
    locals, `locals` those that have been read so far. `known` are the names that certainly have a
    value at the current statement; None after a `return`. `called` are the functions of the
    language that are needed, `imported` the variables of other modules, with the names in
    `modules`. `used` are the constants that are read, with their types, and their first place.
    `written` are the arrays of arguments of which some element has been assigned so far.

    A function that a kernel calls has its own scope, which shares the information on the code:
    `helpers` reads it, and `chain` are the enclosing calls with the function itself. The keys of
    `locals`, `counters`, `from_one`, `known` and `written` there are names of the code, which
    `names` maps from those of the function; `values` are its other arguments. `taken` are all names
    of the code, `variables` those that are no constants, in lower case. Arrays that are `frozen`
    cannot be written. `before` are statements that have to precede the current one. `certain` are
    the enclosing loops, by their counters, all iterations of which reach the current statement;
    None where it is conditional.

    Values known at compile time: `tables` are those of the module's names, `literals` those of the
    targets of unrolled loops, and `current` those of locals and arguments at the current statement.
    `parts` are the names of the items of locals that are tuples. `arrays` are the tables that the
    code needs as arrays. `loops` are the enclosing loops, and those `unrolled` are read once for
    each iteration: a loop whose counter is needed at compile time is added, and the kernel is read
    again.
    """

    tree: PythonTree
    real: ScalarType
    offered: CallableImports
    access: ArgumentAccess
    passed: Mapping[str, Dummy]
    arguments: Mapping[str, Dummy]
    constants: Mapping[str, Intrinsic]
    assigned: frozenset[str] = frozenset()
    taken: NameTable = field(default_factory=NameTable)
    variables: set[str] = field(default_factory=set)
    helpers: HelperCalls | None = None
    chain: tuple[CalledHelper, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, TypedExpression] = field(default_factory=dict)
    frozen: frozenset[str] = frozenset()
    before: list[Line] = field(default_factory=list)
    locals: dict[str, LocalVariable] = field(default_factory=dict)
    counters: list[str] = field(default_factory=list)
    from_one: set[str] = field(default_factory=set)
    known: frozenset[str] | None = frozenset()
    called: dict[str, Span] = field(default_factory=dict)
    problems: list[Diagnostic] = field(default_factory=list)
    modules: Mapping[str, str] = field(default_factory=dict)
    imported: dict[str, ModuleVariable] = field(default_factory=dict)
    used: dict[str, tuple[Intrinsic, Span]] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    single: ScalarType | None = None
    local_kinds: dict[str, NumberKinds] = field(default_factory=dict)
    changing: set[str] = field(default_factory=set)
    certain: Mapping[str, CountedRange] | None = None
    tables: Mapping[str, Any] = field(default_factory=dict)
    literals: dict[str, Any] = field(default_factory=dict)
    current: dict[str, Any] = field(default_factory=dict)
    parts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    arrays: dict[str, ConstantArray] = field(default_factory=dict)
    loops: list[OpenLoop] = field(default_factory=list)
    unrolled: set[LoopPlace] = field(default_factory=set)

    @contextmanager
    def reached(self, certain: Mapping[str, CountedRange] | None) -> Iterator[None]:
        """Read something inside `certain` loops."""
        before, self.certain = self.certain, certain
        yield
        self.certain = before

    def refuse(
        self,
        code: str,
        message: str,
        place: ast.AST | Span,
        hint: str = "",
        related: tuple[Related, ...] = (),
    ) -> TypedExpression:
        """Record an error at a place, and return an expression without a type.

        A function that is called several times is wrong once, as is an expression that is read
        several times.
        """
        span = place if isinstance(place, Span) else self.tree.span(place)
        if not any(one.message == message and one.span == span for one in self.problems):
            calls = (Related(one.called_at, f"'{one.name}' is called here")
                     for one in reversed(self.chain))  # fmt: skip
            made = Diagnostic(code, message, span, hint=hint, related=(*related, *calls))
            self.problems.append(made)
        return UNKNOWN

    def code(self, name: str) -> str:
        """Return the name in the code of a name of the function."""
        return self.names.get(name, name)

    def local(self, name: str) -> LocalVariable | None:
        """Return the local of a name; None if none has been read so far."""
        if self.chain and name not in self.names:
            return None
        return self.locals.get(self.code(name))

    def fresh(
        self,
        wish: str,
        type_: Intrinsic | None,
        first: Span,
        real: ScalarType | None = None,
        kinds: NumberKinds | None = None,
    ) -> Name:
        """Return a new local, which has a value; one that is real has the type `real`."""
        name = self.fresh_name(wish)
        self.locals[name] = LocalVariable(type_, first, real=real, kinds=kinds)
        self.gives_element(name)
        return Name(name)

    def fresh_name(self, wish: str) -> str:
        """Return a name that nothing in the code has."""
        name = self.taken.fresh(wish)
        self.variables.add(name.lower())
        return name

    def constant(self, node: ast.Name, type_: Intrinsic) -> TypedExpression:
        """Return a variable of the function's module, which is read when the kernel runs."""
        name, module = node.id, self.chain[-1].module if self.chain else ""
        if module is None:
            what = f"It is not known from which module '{name}' is to be read."
            hint = "Import the function by the whole name of its module, without dots before it."
            return self.refuse("P053", what, node, hint)
        if module:
            return TypedExpression(self._imported((module, module), name, type_), type_)
        if name.lower() in self.variables:
            what = f"'{name}' is a variable of the module here, and another one in the kernel."
            hint = "Give the kernel's own another name: names that differ in case alone are one."
            return self.refuse("P052", what, node, hint)
        self.taken.reserve(name)
        self.used.setdefault(name, (type_, self.tree.span(node)))
        return TypedExpression(Name(name), type_)

    def text(self, node: ast.AST) -> str:
        """Return the source text at `node`, on one line and truncated."""
        words = " ".join(self.tree.span(node).text.split())
        return words if len(words) <= _SHOWN else f"{words[:_SHOWN]}..."

    def may_write(self, target: ast.Subscript, dummy: Dummy) -> bool:
        """Return whether the access of an argument is one that writes; note it if it is not."""
        if not dummy.access.writes:
            what = f"'{self.text(target.value)}' is only read, but is written here."
            self.refuse("M204", what, target, "Let its access be one that writes.")
        return dummy.access.writes and self.is_free(target)

    def is_free(self, target: ast.Subscript) -> bool:
        """Return whether an array may be written by the function; note it if it may not."""
        name = self.text(target.value)
        if self.code(name) not in self.frozen:
            return True
        what = f"'{name}' is written by a function of which the value is needed."
        hint = "Call it by a statement of its own, before its value is needed."
        self.refuse("P051", what, target, hint)
        return False

    def accepts(
        self, target: ast.AST, name: str, wanted: Intrinsic, value: TypedExpression
    ) -> bool:
        """Return whether elements of an array may be given a value; note it if they may not."""
        if value.type is None or fits(value.type, wanted):
            return True
        what = f"'{name}' holds {A_VALUE[wanted]}s and is given {A_VALUE[value.type]}."
        self.refuse("P054", what, target)
        return False

    def variable_of(self, module: str, name: str, type_: Intrinsic) -> Name:
        """Return the variable `name` of another module, which is read when the kernel runs.

        It may be an element, as in `a[0, 1]`.
        """
        real = self.modules[module]
        return self._imported((real if self.chain else module, real), name, type_)

    def _imported(self, module: tuple[str, str], name: str, type_: Intrinsic) -> Name:
        """Return a variable of a module, which is called something and has a name."""
        called, real = module
        array, _, index = name.partition("[")
        at = "".join(f"_2{one}" for one in index.rstrip("]").split(", ") if one)
        key = "_".join((*map(_spelled_out, (*called.split("."), array)), f"of_module{at}"))
        while (known := self.imported.get(key)) != (
            made := ModuleVariable(key, real, name, type_)
        ) and (known is not None or key in self.taken):
            key += "_"
        self.imported[key] = made
        self.taken.reserve(key)
        self.variables.add(key)
        return Name(key)

    def alias(self, code: str, place: ast.AST) -> ast.expr:
        """Return a name that stands for a local of the code, at a place of the text."""
        name = f"{_RESULT}{code}"
        self.names = {**self.names, name: code}
        return ast.copy_location(ast.Name(name, ast.Load()), place)

    def needs_unrolling(self) -> bool:
        """Return whether a value may be known at compile time once enclosing loops are unrolled.

        These loops are unrolled when the kernel is read again.
        """
        places = {one.place for one in self.loops if one.place is not None}
        self.unrolled |= places
        return bool(places)

    def has_value(self, name: str) -> bool:
        """Return whether a local certainly has a value here."""
        return self.has_element(self.code(name))

    def gives_value(self, name: str) -> None:
        """Note that a local has a value from here on."""
        self.gives_element(self.code(name))

    def has_element(self, element: str) -> bool:
        """Return whether an element, as the code calls it, certainly has a value here."""
        return self.known is None or element in self.known

    def gives_element(self, element: str) -> None:
        """Note that an element, as the code calls it, has a value from here on."""
        if self.known is not None:
            self.known |= {element}

    def forgets(self, name: str) -> None:
        """Note that elements whose index has `name` in it need not have a value any more."""
        if self.known is not None:
            word = re.compile(rf"\[.*\b{re.escape(name)}\b.*\]")
            self.known = frozenset(one for one in self.known if not word.search(one))


def _spelled_out(word: str) -> str:
    """Return a word of a dotted name so that names joined in lower case stay distinct.

    Digits begin no word: `_0` and `_1` replace an underscore and mark the next letter's case.
    """
    word = word.replace("_", "_0")
    return "".join(f"_1{one.lower()}" if one != one.lower() else one for one in word)


_SHOWN = 60
_RESULT = "a result: "
A_VALUE = {
    Intrinsic.REAL: "a real number",
    Intrinsic.INTEGER: "a whole number",
    Intrinsic.LOGICAL: "a condition",
}


def fits(value: Intrinsic, wanted: Intrinsic) -> bool:
    """Return whether a value may be assigned to a variable of the type `wanted`."""
    return value is wanted or (value is Intrinsic.INTEGER and wanted is Intrinsic.REAL)


def both(first: frozenset[str] | None, second: frozenset[str] | None) -> frozenset[str] | None:
    """Return what is known where two control-flow paths join; None is an unreachable path."""
    if first is None:
        return second
    return first if second is None else first & second
