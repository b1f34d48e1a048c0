"""Names in a kernel while it is parsed: arguments, locals, constants, and recorded errors.

The scope also tracks which local variables certainly have a value. Others cannot be read.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
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
    """Accuracy of a real that represents an integer beyond 32 bits.

    A `NEAR` value is exact up to 2**53 and correctly exceeds 2**32 where the integer does.
    """

    EXACT = 0
    ROUNDED = 1
    NEAR = 2
    LOST = 3


@dataclass(frozen=True, slots=True)
class WideNumber:
    """Integer that may exceed 32 bits, represented as a real, with its location."""

    expr: Expr
    how: Exactness
    place: Span


@dataclass(frozen=True, slots=True)
class TypedExpression:
    """Expression with its type, which equals None after an error.

    - `wide`: the value as a real, for an integer that may exceed 32 bits.

    - `within`: a real known to be in the integer range.

    - `kinds`: the kinds that the number may have in Python; None if the expression determines them.

    - `may_change`: the value may be a zero-dimensional NumPy array, which `+=` changes in place.
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
    """Local variable with its type, first assignment and array extents.

    - `real`: the type of a real variable.

    - `kinds`: the kinds of the assigned values.
    """

    type: Intrinsic | None
    first: Span
    shape: tuple[Expr, ...] = ()
    real: ScalarType | None = None
    kinds: NumberKinds | None = None


@dataclass(frozen=True, slots=True)
class ModuleVariable:
    """Variable of another module, with its key in this kernel and its name there."""

    key: str
    module: str
    name: str
    type: Intrinsic


@dataclass(frozen=True, slots=True)
class CountedRange:
    """Range of a loop in typed code: first and last value of the loop variable, and step.

    - `taken`: the loop has at least one iteration.

    - `from_one`: the loop variable is one more than in Python.
    """

    first: Expr
    last: Expr
    step: Expr | None = None
    taken: bool = False
    from_one: bool = False


class ArgumentAccess(Protocol):
    """Interface to the argument access rules for one iteration space of kernels."""

    @property
    def hint(self) -> str:
        """Hint that explains how to write an element of an argument."""

    @property
    def has_python_scalars(self) -> bool:
        """True if scalar arguments are numbers of Python, which take the kind of what they meet."""

    @property
    def has_arrays(self) -> bool:
        """True if a kernel may have local arrays."""

    def assigned(self, name: str, dummy: Dummy) -> str:
        """Return a hint that explains how to assign an element of the argument `name`."""

    def within(self, tree: PythonTree) -> ArgumentAccess:
        """Return the rules for a function in another file, which has its own imports."""

    def read(self, scope: KernelScope, node: ast.Subscript) -> TypedExpression:
        """Return an element as a typed expression; record any error."""

    def target(
        self, scope: KernelScope, node: ast.Subscript, value: TypedExpression
    ) -> Expr | None:
        """Return an assigned element; record an error and return None if that is illegal."""

    def extent(self, scope: KernelScope, node: ast.Subscript, part: int) -> Expr | None:
        """Return the extent for one part of an index, or None if it is unknown."""

    def counted(self, scope: KernelScope, node: ast.expr) -> CountedRange | None:
        """Return the range of a loop over a name of the API, or None for another loop."""

    def length(self, scope: KernelScope, node: ast.expr) -> TypedExpression | None:
        """Return the number of iterations of an API range, or None for another expression."""

    def number(self, scope: KernelScope, node: ast.Call) -> TypedExpression | None:
        """Return an integer that is passed to the kernel, or None for another expression."""


class HelperCalls(Protocol):
    """Interface to the inlining of user functions called by a kernel."""

    def value(self, scope: KernelScope, node: ast.Call) -> TypedExpression | None:
        """Return the value of an inlined call; return None if it calls no user function."""

    def parts(self, scope: KernelScope, node: ast.Call) -> list[ast.expr] | None:
        """Return the names of the results of a call; None if it calls no function with several."""

    def statements(self, scope: KernelScope, node: ast.Call) -> list[Line] | None:
        """Return the statements of an inlined call; return None if it calls no user function."""

    def is_called(self, scope: KernelScope, node: ast.expr) -> bool:
        """Return whether an expression may call a user function."""

    def put_before(self, scope: KernelScope, body: Sequence[ast.stmt]) -> None:
        """Add statements to those before the current statement."""


@dataclass(frozen=True, slots=True)
class CalledHelper:
    """User function while it is inlined: its file, its name, and its call site.

    - `module`: the module with its variables, '' for the kernel's module, or None if unknown.

    - `depth`: its nesting depth.
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

    A loop that cannot be unrolled, or is unrolled already, has no place.
    """

    place: LoopPlace | None = None
    leave: str = ""
    following: str = ""


@dataclass(slots=True)
class KernelScope:
    """Names in a kernel while it is parsed.

    - `real`, `single`: the default real type, and a second type if some arguments have it.

    - `access`: the access rules for arguments.

    - `passed`: all arguments of the subroutine, in order.

    - `assigned`, `locals`: names of all local variables, and those parsed so far.

    - `local_kinds`: kinds of values assigned to local variables, known from a previous pass.

    - `changing`: local variables that may hold a zero-dimensional array.

    - `from_one`: loop variables that are one more than in Python.

    - `known`: names that certainly have a value here; None after a `return`.

    - `called`: the required intrinsic functions.

    - `imported`, `modules`: variables of other modules, and the names of these modules.

    - `used`: constants that are read, with their types and first locations.

    - `written`: argument arrays with an assigned element so far.

    - `before`: statements that must precede the current one.

    - `ranges`: enclosing loops, by loop variable.

    - `certain`: enclosing loops, by loop variable, whose iterations all execute the current
      statement; None if it is conditional.

    An inlined function has its own scope, which shares the data on typed code. The keys of
    `locals`, `counters`, `ranges`, `from_one`, `known` and `written` are names in typed code.

    - `helpers`, `chain`: the inliner, and the enclosing inlined calls.

    - `names`: a mapping from names of the function to names in typed code.

    - `values`: arguments that are not arrays.

    - `taken`, `variables`: all names in typed code, and the lower-case names that are not
      constants.

    - `frozen`: arrays that must not be written.

    Values known at compile time:

    - `tables`: the values of the module's names.

    - `literals`, `current`: values of the targets of unrolled loops, and of local variables and
      arguments at the current statement.

    - `parts`: names of the items of local tuples.

    - `lists`: local tuples and arrays that may be lists in Python.

    - `fixes`: whether integers of the module are known, because the code is made for their values.

    - `arrays`: tables that typed code declares as arrays.

    - `loops`, `unrolled`: enclosing loops, and loops parsed once for each iteration. A loop
      whose variable is needed at compile time is added, and the kernel is parsed again.
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
    ranges: dict[str, CountedRange] = field(default_factory=dict)
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
    fixes: bool = False
    parts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    lists: set[str] = field(default_factory=set)
    arrays: dict[str, ConstantArray] = field(default_factory=dict)
    loops: list[OpenLoop] = field(default_factory=list)
    unrolled: set[LoopPlace] = field(default_factory=set)

    @contextmanager
    def reached(self, certain: Mapping[str, CountedRange] | None) -> Iterator[None]:
        """Set the loops that certainly execute the statements parsed in this context."""
        before, self.certain = self.certain, certain
        yield
        self.certain = before

    @contextmanager
    def fixing(self) -> Iterator[None]:
        """Know the integers of the module in this context.

        A running program compiles the kernel again if one of them has changed.
        """
        before, self.fixes = self.fixes, True
        yield
        self.fixes = before

    def refuse(
        self,
        code: str,
        message: str,
        place: ast.AST | Span,
        hint: str = "",
        related: tuple[Related, ...] = (),
    ) -> TypedExpression:
        """Record an error at a location, and return an expression without a type.

        An error is recorded once if an expression is read several times.
        """
        span = place if isinstance(place, Span) else self.tree.span(place)
        if not any(one.message == message and one.span == span for one in self.problems):
            calls = (Related(one.called_at, f"'{one.name}' is called here")
                     for one in reversed(self.chain))  # fmt: skip
            made = Diagnostic(code, message, span, hint=hint, related=(*related, *calls))
            self.problems.append(made)
        return UNKNOWN

    def code(self, name: str) -> str:
        """Return the name in typed code for a name of the function."""
        return self.names.get(name, name)

    def local(self, name: str) -> LocalVariable | None:
        """Return the local variable of this name, or None if none was parsed yet."""
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
        """Return a new local variable that has a value; `real` is its type if it is real."""
        name = self.fresh_name(wish)
        self.locals[name] = LocalVariable(type_, first, real=real, kinds=kinds)
        self.gives_element(name)
        return Name(name)

    def fresh_name(self, wish: str) -> str:
        """Return an unused name in typed code."""
        name = self.taken.fresh(wish)
        self.variables.add(name.lower())
        return name

    def name_of_constant(self, wish: str) -> str:
        """Return a name in typed code for a constant, which may have this name in the kernel."""
        key = wish.lower()
        if key in self.variables or any(one.lower() == key for one in self.constants):
            return self.fresh_name(wish)
        self.taken.reserve(wish)
        self.variables.add(key)
        return wish

    def constant(self, node: ast.Name, type_: Intrinsic) -> TypedExpression:
        """Return a module variable, which is read when the kernel runs."""
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
        """Return the source text at `node` on one line, truncated if long."""
        words = " ".join(self.tree.span(node).text.split())
        return words if len(words) <= _SHOWN else f"{words[:_SHOWN]}..."

    def may_write(self, target: ast.Subscript, dummy: Dummy) -> bool:
        """Return whether an argument may be written; record an error if not."""
        if not dummy.access.writes:
            what = f"'{self.text(target.value)}' is only read, but is written here."
            self.refuse("M204", what, target, "Let its access be one that writes.")
        return dummy.access.writes and self.is_free(target)

    def is_free(self, target: ast.Subscript) -> bool:
        """Return whether a function may write an array; record an error if not."""
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
        """Return whether a value can be assigned to elements of an array.

        Record an error if not.
        """
        if value.type is None or fits(value.type, wanted):
            return True
        plural = A_VALUE[wanted].partition(" ")[2] + "s"
        what = f"'{name}' holds {plural} and is given {A_VALUE[value.type]}."
        self.refuse("P054", what, target)
        return False

    def variable_of(self, module: str, name: str, type_: Intrinsic) -> Name:
        """Return the variable `name` of another module, which is read when the kernel runs.

        The name may denote an element, as in `a[0, 1]`.
        """
        real = self.modules[module]
        return self._imported((real if self.chain else module, real), name, type_)

    def _imported(self, module: tuple[str, str], name: str, type_: Intrinsic) -> Name:
        """Return a module variable; `module` contains its name in the file and its full name."""
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
        """Return an alias of a local of typed code, at a place of the text."""
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
        """Return whether a local variable certainly has a value here."""
        return self.has_element(self.code(name))

    def gives_value(self, name: str) -> None:
        """Record that a local variable has a value from here on."""
        self.gives_element(self.code(name))

    def has_element(self, element: str) -> bool:
        """Return whether an element, identified by its text, certainly has a value here."""
        return self.known is None or element in self.known

    def gives_element(self, element: str) -> None:
        """Record that an element, identified by its text, has a value from here on."""
        if self.known is not None:
            self.known |= {element}

    def forgets(self, name: str) -> None:
        """Remove the elements with `name` in their index from the elements that have a value."""
        if self.known is not None:
            word = re.compile(rf"\[.*\b{re.escape(name)}\b.*\]")
            self.known = frozenset(one for one in self.known if not word.search(one))


def _spelled_out(word: str) -> str:
    """Encode a word of a dotted name, so that lower-case joined names remain unique.

    `_0` replaces an underscore, and `_1` precedes a letter that was in upper case. No word starts
    with a digit.
    """
    word = word.replace("_", "_0")
    return "".join(f"_1{one.lower()}" if one != one.lower() else one for one in word)


_SHOWN = 60
_RESULT = "a result: "
A_VALUE = {
    Intrinsic.REAL: "a real number",
    Intrinsic.INTEGER: "an integer",
    Intrinsic.LOGICAL: "a condition",
}


def fits(value: Intrinsic, wanted: Intrinsic) -> bool:
    """Return whether a value may be assigned to a variable of the type `wanted`."""
    return value is wanted or (value is Intrinsic.INTEGER and wanted is Intrinsic.REAL)


def both(first: frozenset[str] | None, second: frozenset[str] | None) -> frozenset[str] | None:
    """Return the names with a value after two control-flow paths join; None means unreachable."""
    if first is None:
        return second
    return first if second is None else first & second
