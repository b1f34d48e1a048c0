"""The code of a kernel in Python: its statements as typed code.

The arguments are what metadata say of them. All that is wrong with a kernel is noted before
anything is raised. A variable of the module is read when the kernel runs, and has one type, as
locals have.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from psyclone_storage.base.diagnostic import raise_if_any
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.source import SourceText
from psyclone_storage.frontend.python import expressions, nodes
from psyclone_storage.frontend.python.dialect import Dialect
from psyclone_storage.frontend.python.functions import CallableImports, offered
from psyclone_storage.frontend.python.imports import modules_in
from psyclone_storage.frontend.python.metadata import (
    KernelDefinition,
    code_name,
    find_kernel,
    module_name,
    unusable_name,
)
from psyclone_storage.frontend.python.scope import KernelScope, ModuleVariable
from psyclone_storage.frontend.python.statements import read_block
from psyclone_storage.frontend.python.tree import Tree
from psyclone_storage.ir.code import KernelCode, KernelModule
from psyclone_storage.ir.expr import Origin, Range, Sort, Symbol
from psyclone_storage.ir.interface import Dummy
from psyclone_storage.ir.loops import addressed
from psyclone_storage.ir.symbols import SymbolTable
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import Declare

_INDICES = 2


def read_code(
    dialect: Dialect, source: SourceText, name: str, dummies: tuple[Dummy, ...]
) -> KernelCode:
    """Return the code of the kernel whose procedure is `name`; `dummies` are its arguments.

    Raises:
        CompileError: everything that is wrong with the body.
    """
    found = _find(dialect, source, name)
    scope = _scope(found, dialect.real, dummies)
    body = read_block(scope, _without_text(found.node.body))
    _check_names(scope)
    raise_if_any(scope.problems)
    declarations = (*_dummies(scope), *_locals(scope))
    constants = tuple(Declare(one, nodes.type_of(kind, dialect.real)) for one, kind in _used(scope))
    routine = found.tree.span(found.node)
    symbols = SymbolTable({key: _symbol(one, dialect.real) for key, one in scope.imported.items()})
    module = KernelModule(module_name(source), source.whole(), routine, declarations=constants,
                          symbols=symbols)  # fmt: skip
    order = (*scope.index, *scope.arguments)
    return addressed(KernelCode(code_name(found.node.name), order, declarations, body, module))


def _find(dialect: Dialect, source: SourceText, name: str) -> KernelDefinition:
    for suffix in ("", "_type"):
        kernel = f"{name.lower().removesuffix('_code')}{suffix}"
        if suffix or code_name(kernel) == name.lower():
            break
    return find_kernel(dialect, source, kernel)


def _scope(found: KernelDefinition, real: ScalarType, dummies: tuple[Dummy, ...]) -> KernelScope:
    """Return the names that the body of a kernel begins with."""
    tree, args = found.tree, [*found.node.args.posonlyargs, *found.node.args.args]
    arguments = dict(zip((arg.arg for arg in args), dummies[_INDICES:], strict=True))
    written = {node.id for node in ast.walk(found.node) if isinstance(node, ast.Name)}
    names = NameTable({*arguments, *written, found.node.name})
    index = tuple(names.fresh(dummy.name) for dummy in dummies[:_INDICES])
    known = offered(tree)
    assigned = frozenset(
        node.id
        for node in ast.walk(found.node)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    constants = _constants(tree, real, known)
    made = KernelScope(tree, real, known, (index[0], index[1]), arguments, constants, assigned)
    made.modules = modules_in(tree)
    return made


def _constants(tree: Tree, real: ScalarType, known: CallableImports) -> dict[str, Intrinsic]:
    """Return the numbers that the module assigns to names, with their types."""
    scope = KernelScope(tree, real, known, ("", ""), {}, {})
    found: dict[str, Intrinsic] = {}
    for node in tree.module.body:
        for name, value in _assigned(node):
            scope.constants = found
            kind = expressions.read(scope, value).type
            if kind is not None:
                found.setdefault(name, kind)
    return found


def _assigned(node: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                if isinstance(target, ast.Name):
                    yield target.id, value
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            yield name, value


def _without_text(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return statements without the text that describes them."""
    match body[0]:
        case ast.Expr(value=ast.Constant(value=str())):
            return body[1:]
    return body


def _check_names(scope: KernelScope) -> None:
    """Refuse locals that differ in case alone, and names of functions that are called, too."""
    seen = {name.lower(): name for name in scope.arguments}
    for name, local in scope.locals.items():
        if problem := unusable_name(name, seen, local.first):
            scope.problems.append(problem)
    own = {name.lower() for name in (*scope.arguments, *scope.locals)}
    for function, span in scope.called.items():
        if function in own:
            what = f"'{function}' is a variable of this kernel and is needed as a function here."
            scope.refuse("P052", what, span, "Give the variable another name.")


def _dummies(scope: KernelScope) -> Iterator[Declare]:
    for name in scope.index:
        yield Declare(name, nodes.type_of(Intrinsic.INTEGER, scope.real), ("intent(in)",))
    for name, dummy in scope.arguments.items():
        shape = tuple(Range() for _ in dummy.shape)
        yield Declare(name, dummy.type, (f"intent({dummy.intent})",), shape)


def _locals(scope: KernelScope) -> Iterator[Declare]:
    for name, local in scope.locals.items():
        yield Declare(name, nodes.type_of(local.type or Intrinsic.REAL, scope.real))


def _symbol(one: ModuleVariable, real: ScalarType) -> Symbol:
    """Return a variable of another module."""
    return Symbol(one.key, one.name, Origin.IMPORTED, Sort.VARIABLE, nodes.type_of(one.type, real),
                  module=one.module)  # fmt: skip


def _used(scope: KernelScope) -> Iterator[tuple[str, Intrinsic]]:
    """Yield the variables of the module that the body does not hide."""
    for name, kind in scope.constants.items():
        if name not in scope.locals and name not in scope.arguments:
            yield name, kind
