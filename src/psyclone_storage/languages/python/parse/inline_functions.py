"""Inlining of user functions in kernels: statements of the function replace the call.

A function is parsed like a kernel, with the types of the actual arguments. Each control-flow path
may contain at most one `return`, which must not be inside a loop.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.ir.expr import Name, walk
from psyclone_storage.ir.interface import Role
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.ir.unit import Assign, Line
from psyclone_storage.languages.python.parse import node_factory as nodes
from psyclone_storage.languages.python.parse.assignments import ANNOTATIONS
from psyclone_storage.languages.python.parse.compile_time import (
    UNKNOWN_VALUE,
    module_values,
    value_of,
)
from psyclone_storage.languages.python.parse.expressions import read
from psyclone_storage.languages.python.parse.function_sources import (
    WRAPS,
    HelperText,
    ModuleTexts,
    RefusedError,
    find_helper,
    is_kernel,
    names_helper,
    no_modules,
)
from psyclone_storage.languages.python.parse.function_text import passes_a_name
from psyclone_storage.languages.python.parse.functions import CallableImports, offered
from psyclone_storage.languages.python.parse.imports import imported_modules
from psyclone_storage.languages.python.parse.module_names import (
    assigned_names,
    constants_of,
    without_text,
)
from psyclone_storage.languages.python.parse.promotion import fresh_local, record_local
from psyclone_storage.languages.python.parse.rounding_integers import evaluated_first
from psyclone_storage.languages.python.parse.scope import (
    A_VALUE,
    UNKNOWN,
    ArgumentAccess,
    CalledHelper,
    KernelScope,
    TypedExpression,
)
from psyclone_storage.languages.python.parse.sequences import tuple_of
from psyclone_storage.languages.python.parse.statements import read_block
from psyclone_storage.languages.python.parse.tree import MAX_DEPTH, PythonTree, depth_of

_MOST, _MOST_RETURNS, _LARGEST = 500, 30, 200
"""So many calls may stand in one kernel: each has the statements of the function."""


def _wish(function: str, local: str) -> str:
    """Return a plain ASCII name for a local variable of an inlined function."""
    plain = "".join(one if one.isascii() else "x" for one in f"{function}_{local}")
    return plain if plain[0].isalpha() else f"own{plain}"


@dataclass(frozen=True, slots=True)
class _NamesOfFile:
    """Meaning of the names of a file: functions, names of the API, numbers and modules."""

    offered: CallableImports
    access: ArgumentAccess
    constants: Mapping[str, Intrinsic]
    modules: Mapping[str, str]
    tables: Mapping[str, Any]


@dataclass(slots=True)
class HelpersInPlace:
    """Inliner of the functions called by one kernel.

    - `words`: the module that exports the names of the API.

    - `depth`: the nesting depth of the kernel itself.
    """

    words: str
    beside: ModuleTexts = no_modules
    depth: int = 0
    count: int = 0
    _known: dict[SourceText, _NamesOfFile] = field(default_factory=dict)

    def is_called(self, scope: KernelScope, node: ast.expr) -> bool:
        """Return whether an expression may call a user function."""
        return any(
            isinstance(one, ast.Call) and names_helper(scope, one.func) for one in ast.walk(node)
        )

    def value(self, scope: KernelScope, node: ast.Call) -> TypedExpression | None:
        """Return the value of an inlined call; return None if it calls no user function."""
        try:
            helper = self._helper(scope, node)
        except RefusedError:
            return UNKNOWN
        if helper is None:
            return None
        if _count_of_results(helper.node) or _returns_empty_tuple(helper.node):
            return _refuse_tuple(scope, helper.node, node)
        inner = self._entered(scope, node, helper, frozen=_arrays(scope))
        if inner is None:
            return UNKNOWN
        found = _value(inner, helper.node)
        scope.known = inner.known
        return found

    def parts(self, scope: KernelScope, node: ast.Call) -> list[ast.expr] | None:
        """Return the names of the results of a call; None if it calls no function with several."""
        try:
            helper = self._helper(scope, node)
        except RefusedError:
            return None
        count = 0 if helper is None else _count_of_results(helper.node)
        if helper is None or not count:
            return None
        inner = self._entered(scope, node, helper, frozen=_arrays(scope))
        if inner is None:
            return None
        if not _always_returns(without_text(helper.node.body)):
            what = f"'{helper.node.name}' may end without a value, which is needed."
            inner.refuse("P051", what, inner.tree.name_of(helper.node), "Return one on every way.")
            return None
        returns = _Returns(inner, helper.node)
        with inner.reached(None):
            inner.before += read_block(inner, returns.put_in_place())
        scope.known = inner.known
        return _aliases(scope, inner, returns.result, node)

    def statements(self, scope: KernelScope, node: ast.Call) -> list[Line] | None:
        """Return the statements of an inlined call; return None if it calls no user function."""
        try:
            helper = self._helper(scope, node)
        except RefusedError:
            return []
        if helper is None:
            return None
        inner = self._entered(scope, node, helper, frozen=scope.frozen)
        if inner is None:
            return []
        with inner.reached(None):
            lines = read_block(inner, _Returns(inner, helper.node).put_in_place())
        scope.known = inner.known
        return list(lines)

    def put_before(self, scope: KernelScope, body: Sequence[ast.stmt]) -> None:
        """Add statements to those before the current statement."""
        scope.before += read_block(scope, body)

    def _helper(self, scope: KernelScope, node: ast.Call) -> HelperText | None:
        return find_helper(scope, node, self.beside) if names_helper(scope, node.func) else None

    def _entered(
        self, scope: KernelScope, call: ast.Call, helper: HelperText, frozen: frozenset[str]
    ) -> KernelScope | None:
        """Return the scope of an inlined function for a call; record an error if it is invalid."""
        node, name = helper.node, helper.node.name
        self.count += 1
        if problem := self._problem(scope, helper):
            scope.refuse("P051", problem[0], call.func, problem[1])
            return None
        passed = _bound(scope, call, helper)
        if passed is None:
            return None
        assigned, about = assigned_names(node), self._about(scope, helper.tree)
        place = scope.tree.span(call)
        called = CalledHelper(helper.tree, name, place, helper.module, _depth_of(node))
        inner = replace(
            scope,
            tree=helper.tree,
            offered=about.offered,
            access=about.access,
            arguments={},
            constants=about.constants,
            assigned=assigned,
            chain=(*scope.chain, called),
            names={one: scope.fresh_name(_wish(name, one)) for one in sorted(assigned)},
            values={},
            frozen=frozen,
            modules=about.modules,
            tables=about.tables,
            literals={},
            current={},
            parts={},
            lists=set(),
            fixes=False,
        )
        written = {*call.args, *(one.value for one in call.keywords)}
        with scope.fixing() if passes_a_name(call) else nullcontext():
            is_right = [
                _passed(scope, inner, one, helper, is_default=one[1] not in written)
                for one in passed.items()
            ]
        inner.known = scope.known
        return inner if all(is_right) and _sees_no_numbers_around(inner, helper) else None

    def _about(self, scope: KernelScope, tree: PythonTree) -> _NamesOfFile:
        """Return the meaning of the names of a file; the result is cached."""
        if tree.source not in self._known:
            known = offered(tree)
            constants = constants_of(tree, scope.real, known, self.beside)
            access = scope.access.within(tree)
            tables = module_values(tree, self.beside)
            self._known[tree.source] = _NamesOfFile(
                known, access, constants, imported_modules(tree), tables
            )
        return self._known[tree.source]

    def _problem(self, scope: KernelScope, helper: HelperText) -> tuple[str, str] | None:
        """Return an error message and a hint if a function cannot be inlined, else None."""
        node = helper.node
        if helper.wraps:
            return f"'{node.name}' wraps '{helper.wraps}', for which it stands.", WRAPS
        if is_kernel(helper, self.words):
            return f"'{node.name}' is a kernel, which invokes call.", "Call a function."
        if node.decorator_list:
            return f"'{node.name}' has a decorator.", "A function is read and not run."
        source = helper.tree.source
        if any(one.tree.source is source and one.name == node.name for one in scope.chain):
            ways = " calls ".join(f"'{one.name}'" for one in scope.chain)
            return f"'{node.name}' calls itself: {ways} calls '{node.name}'.", "Write a loop."
        around = self.depth + sum(one.depth for one in scope.chain)
        if around + _depth_of(node) > MAX_DEPTH:
            what = f"With '{node.name}' the kernel is nested more than {MAX_DEPTH} levels deep."
            return what, "Call it outside of other functions, or from another kernel."
        if self.count > _MOST:
            return f"A kernel calls no more than {_MOST} functions.", "Make it several kernels."
        return None


def _count_of_results(node: ast.FunctionDef) -> int:
    """Return how many values a function returns as a tuple, 0 if it returns none or one."""
    returns = _returned(node.body)
    counts = {len(one.elts) if isinstance(one, ast.Tuple) else 0 for one in returns}
    return counts.pop() if len(counts) == 1 else 0


def _returns_empty_tuple(node: ast.FunctionDef) -> bool:
    returns = _returned(node.body)
    return any(isinstance(one, ast.Tuple) and not one.elts for one in returns)


def _returned(body: list[ast.stmt]) -> Iterator[ast.expr | None]:
    """Yield what statements return, up to the first `return` of each block."""
    for one in body:
        if isinstance(one, ast.Return):
            yield one.value
            return
        for name in ("body", "orelse"):
            yield from _returned(getattr(one, name, []))


def _aliases(
    scope: KernelScope, inner: KernelScope, name: str, place: ast.expr
) -> list[ast.expr] | None:
    """Return the items of a function's tuple, as names of the caller."""
    found: list[ast.expr] = []
    for part in inner.parts.get(name, ()):
        if part in inner.parts:
            items = _aliases(scope, inner, part, place) or []
            found.append(tuple_of(items, None if part in inner.lists else tuple, place))
        else:
            found.append(scope.alias(inner.code(part), place))
    return found or None


def _depth_of(node: ast.FunctionDef) -> int:
    """Return the nesting depth of a function after its `return` statements become branches."""
    return depth_of(node) + sum(isinstance(one, ast.Return) for one in ast.walk(node))


# ---------------------------------------------------------------------------- arguments


def _arrays(scope: KernelScope) -> frozenset[str]:
    """Return the names in typed code of the arrays that can be passed to a function."""
    own = (name for name, one in scope.locals.items() if one.shape)
    return frozenset((*map(scope.code, scope.arguments), *own, *scope.frozen))


def _bound(
    scope: KernelScope, call: ast.Call, helper: HelperText
) -> Mapping[ast.arg, ast.expr] | None:
    """Return the actual argument for each argument of a function, in the order of the call."""
    args, name = helper.node.args, helper.node.name
    if args.vararg or args.kwarg:
        what = f"'{name}' takes any number of arguments."
        scope.refuse("P051", what, call.func, "Write them one by one.")
        return None
    by_order = [*args.posonlyargs, *args.args]
    found: dict[ast.arg, ast.expr] = {}
    problems: list[tuple[ast.AST, str]] = []
    for number, value in enumerate(call.args):
        if isinstance(value, ast.Starred):
            problems.append((value, f"'{scope.text(value)}' is no argument of '{name}'."))
        elif number >= len(by_order):
            problems.append((value, f"'{name}' takes no more than {len(by_order)} by order."))
        else:
            found[by_order[number]] = value
    for said in call.keywords:
        arg = next((one for one in (*args.args, *args.kwonlyargs) if one.arg == said.arg), None)
        if arg is None or arg in found:
            twice = "is given twice" if arg is not None else f"is no argument of '{name}'"
            problems.append((said, f"'{scope.text(said)}' {twice}."))
        else:
            found[arg] = said.value
    for arg in (*by_order, *args.kwonlyargs):
        default = _defaults(helper).get(arg)
        if arg not in found and default is None and not problems:
            problems.append((call, f"'{name}' is given no '{arg.arg}'."))
        elif arg not in found and default is not None:
            found[arg] = default
    for place, what in problems:
        scope.refuse("P051", what, place)
    return None if problems else found


def _defaults(helper: HelperText) -> dict[ast.arg, ast.expr]:
    """Return the defaults of arguments; in a running program these are the current values."""
    args = helper.node.args
    by_order = [*args.posonlyargs, *args.args]
    last = by_order[len(by_order) - len(args.defaults) :]
    by_name = zip(args.kwonlyargs, args.kw_defaults, strict=True)
    found = dict(zip(last, args.defaults, strict=True)) | {
        arg: value for arg, value in by_name if value is not None
    }
    if helper.defaults is None:
        return found
    return {
        arg: _default(helper.defaults[arg.arg], found.get(arg), arg)
        for arg in (*by_order, *args.kwonlyargs)
        if arg.arg in helper.defaults
    }


def _default(now: float | None, written: ast.expr | None, arg: ast.arg) -> ast.expr:
    """Return the default of an argument: the source expression, or the current number."""
    if written is not None and (
        not _is_number(written) or repr(ast.literal_eval(written)) == repr(now)
    ):
        return written
    is_negative = now is not None and math.copysign(1, now) < 0
    made: ast.expr = ast.Constant(-now if now is not None and is_negative else now)
    if is_negative:
        made = ast.UnaryOp(ast.USub(), made)
    return ast.fix_missing_locations(ast.copy_location(made, written or arg))


def _passed(
    scope: KernelScope,
    inner: KernelScope,
    passed: tuple[ast.arg, ast.expr],
    helper: HelperText,
    *,
    is_default: bool,
) -> bool:
    """Bind an argument to a passed value; return whether this is allowed."""
    arg, value = passed
    reader = inner if is_default else scope
    if is_default and not _is_number(value):
        what = f"'{inner.text(value)}' is no number, which the value of '{arg.arg}' has to be."
        inner.refuse("P051", what, value, "Write a number, or pass it.")
        return False
    if isinstance(value, ast.Name) and _is_array(reader, value.id):
        return _array(scope, inner, arg, value)
    known = value_of(reader, value)
    if isinstance(known, tuple | range):
        inner.literals = {**inner.literals, arg.arg: known}
        return True
    if known is not UNKNOWN_VALUE:
        inner.current = {**inner.current, arg.arg: known}
    found = read(reader, value)
    if found.type is None:
        return False
    wanted = None if arg.annotation is None else ANNOTATIONS.get(inner.text(arg.annotation))
    if wanted is not None and wanted is not found.type:
        what = f"'{reader.text(value)}' is {A_VALUE[found.type]}, not {A_VALUE[wanted]}."
        reader.refuse("P054", what, value, f"'{helper.node.name}' takes that for '{arg.arg}'.")
        return False
    if arg.arg not in inner.assigned and _stays(value, found):
        inner.values = {**inner.values, arg.arg: found}
        return True
    place = reader.tree.span(value)
    if arg.arg in inner.assigned:
        to = Name(inner.code(arg.arg))
        record_local(scope, to.text, found, place)
        scope.gives_element(to.text)
        if found.may_change:
            scope.changing.add(to.text)
    else:
        to = fresh_local(scope, _wish(helper.node.name, arg.arg), found, place)
        inner.values = {
            **inner.values,
            arg.arg: TypedExpression(to, found.type, may_change=found.may_change),
        }
    scope.before.append(Assign(to, found.expr, place=place))
    return True


def _is_number(value: ast.expr) -> bool:
    inner = value.operand if isinstance(value, ast.UnaryOp) else value
    return isinstance(inner, ast.Constant) and isinstance(inner.value, int | float)


def _stays(value: ast.expr, found: TypedExpression) -> bool:
    """Return whether an argument expression is simple enough to be substituted for each use."""
    if isinstance(value, ast.Name) or _is_number(value):
        return True
    if not isinstance(value, ast.BinOp) or found.type is not Intrinsic.INTEGER:
        return False
    parts = value.left, value.right
    is_sum = isinstance(value.op, ast.Add | ast.Sub) and found.wide is None
    return is_sum and all(isinstance(one, ast.Name) or _is_number(one) for one in parts)


def _is_array(scope: KernelScope, name: str) -> bool:
    dummy, local = scope.arguments.get(name), scope.local(name)
    if dummy is not None:
        return bool(dummy.rank) or dummy.role is Role.DOF_VALUE
    return local is not None and bool(local.shape)


def _array(scope: KernelScope, inner: KernelScope, arg: ast.arg, value: ast.Name) -> bool:
    """Bind an argument to a passed array, so that assignments change that array."""
    if arg.arg in inner.assigned:
        what = f"'{value.id}' is an array, and '{arg.arg}' is given other values."
        scope.refuse("P051", what, value, "Give these another name in the function.")
        return False
    if value.id not in scope.arguments and not scope.has_value(value.id):
        what = f"'{value.id}' may have no value here."
        scope.refuse("P053", what, value, "Make it on every way that leads here.")
        return False
    inner.names = {**inner.names, arg.arg: scope.code(value.id)}
    if (dummy := scope.arguments.get(value.id)) is not None:
        inner.arguments = {**inner.arguments, arg.arg: dummy}
    return True


def _sees_no_numbers_around(inner: KernelScope, helper: HelperText) -> bool:
    """Return whether a function uses no variable of an enclosing function.

    Record an error if so.
    """
    own = {*inner.assigned, *inner.arguments, *inner.values}
    for one in ast.walk(helper.node):
        if isinstance(one, ast.Name) and one.id in helper.around and one.id not in own:
            what = f"'{one.id}' is a variable of the function around '{helper.node.name}'."
            hint = "Pass it to the function, or make it a variable of the module."
            inner.refuse("P053", what, one, hint)
            return False
    return True


# ---------------------------------------------------------------------------- values


def _refuse_tuple(
    scope: KernelScope, node: ast.FunctionDef, place: ast.AST | Span
) -> TypedExpression:
    what = f"'{node.name}' returns a tuple, which is no number."
    hint = "Assign its items, as in 'a, b = f(x)', or index it."
    return scope.refuse("P051", what, place, hint)


def _value(inner: KernelScope, node: ast.FunctionDef) -> TypedExpression:
    """Return the value of an inlined function; its statements precede the current statement."""
    body = without_text(node.body)
    wanted = _type_of_value(inner, node)
    match body:
        case [ast.Return(value=ast.expr() as value)]:
            found = read(inner, value)
            if found.type is not None and wanted not in (None, found.type):
                what = f"'{inner.text(value)}' is {A_VALUE[found.type]}, not {A_VALUE[wanted]}."
                return inner.refuse("P054", what, value, _ONE_TYPE)
            if found.wide is None and sum(1 for _ in walk(found.expr)) > _LARGEST:
                place = inner.tree.span(value)
                local = fresh_local(inner, _wish(node.name, "value"), found, place)
                inner.before.append(Assign(local, found.expr, place=place))
                return TypedExpression(local, found.type, may_change=found.may_change)
            wide = evaluated_first(found.wide)
            return replace(found, expr=nodes.parenthesized(found.expr), wide=wide)
    if not _always_returns(body) or None in _returned(body):
        what = f"'{node.name}' may end without a value, which is needed."
        return inner.refuse("P051", what, inner.tree.name_of(node), "Return one on every way.")
    returns = _Returns(inner, node)
    with inner.reached(None):
        inner.before += read_block(inner, returns.put_in_place())
    if returns.result in inner.parts:
        return _refuse_tuple(inner, node, inner.tree.name_of(node))
    result, name = inner.local(returns.result), Name(inner.code(returns.result))
    if result is None or result.type is None:
        return UNKNOWN
    return TypedExpression(name, result.type, may_change=name.text in inner.changing)


_ONE_TYPE = "What a function gives has one type. Write '0.0', not '0', for a real number."


def _type_of_value(inner: KernelScope, node: ast.FunctionDef) -> Intrinsic | None:
    """Return the annotated result type of a function, or None."""
    return None if node.returns is None else ANNOTATIONS.get(inner.text(node.returns))


def _always_returns(body: Sequence[ast.stmt]) -> bool:
    """Return whether statements return a value on every control-flow path."""
    for node in body:
        match node:
            case ast.Return(value=value):
                return value is not None
            case ast.If(body=first, orelse=second):
                if _always_returns(first) and _always_returns(second):
                    return True
    return False


def _has_return(node: ast.stmt) -> ast.Return | None:
    """Return a `return` statement in a statement, ignoring nested functions, or None."""
    waiting: list[ast.AST] = [node]
    while waiting:
        one = waiting.pop(0)
        if isinstance(one, ast.Return):
            return one
        if not isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            waiting += ast.iter_child_nodes(one)
    return None


@dataclass(slots=True)
class _Returns:
    """Transformer that replaces each `return` by an assignment to a result variable.

    Statements after an `if` with a `return` in a branch are moved into the branches without it.
    """

    scope: KernelScope
    node: ast.FunctionDef
    count: int = 0

    @property
    def result(self) -> str:
        """Name of the result in error messages."""
        return f"the value of {self.node.name}"

    def put_in_place(self) -> list[ast.stmt]:
        """Return the statements of the function without `return`."""
        name = self.scope.fresh_name(_wish(self.node.name, "value"))
        self.scope.names = {**self.scope.names, self.result: name}
        return self._without(without_text(self.node.body), 0)

    def _without(self, body: Sequence[ast.stmt], depth: int) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for number, node in enumerate(body):
            self.count += 1
            if isinstance(node, ast.Return):
                return [*made, *self._kept(node)]
            found = _has_return(node)
            if found is None:
                made.append(node)
            elif not isinstance(node, ast.If):
                what = f"'{self.node.name}' returns from within a loop."
                self.scope.refuse("P051", what, found, "Give a local the value and write 'break'.")
                return made
            elif self.count > _MOST or depth > _MOST_RETURNS:
                what = f"'{self.node.name}' returns on too many ways."
                self.scope.refuse("P051", what, found, "Give a local the value and return once.")
                return made
            else:
                rest = body[number + 1 :]
                first = self._without([*node.body, *rest], depth + 1)
                second = self._without([*node.orelse, *rest], depth + 1)
                choice = ast.If(node.test, first, second)
                return [*made, ast.copy_location(choice, node)]
        return made

    def _kept(self, node: ast.Return) -> list[ast.stmt]:
        """Return the assignment that replaces a `return` statement."""
        if node.value is None:
            return []
        target = ast.copy_location(ast.Name(self.result, ast.Store()), node)
        if _type_of_value(self.scope, self.node) is not None and self.node.returns is not None:
            note = self.node.returns
            return [ast.copy_location(ast.AnnAssign(target, note, node.value, 1), node)]
        return [ast.copy_location(ast.Assign([target], node.value), node)]
