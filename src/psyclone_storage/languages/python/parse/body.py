"""Parsing of a Python kernel's statements as typed code.

The types of arguments are given by metadata. All errors of a kernel are collected before an
exception is raised. A module variable is read when the kernel runs. Like a local variable, it has
one type.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from psyclone_storage.base.diagnostic import raise_if_any
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.expr import Expr, Name, Origin, Range, Sort, Symbol
from psyclone_storage.ir.interface import OF_VALUES, Dummy, Role
from psyclone_storage.ir.loops import addressed
from psyclone_storage.ir.rewrite import substituted
from psyclone_storage.ir.routine import KernelModule, Routine, specification_of
from psyclone_storage.ir.symbols import SymbolTable
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import Declare, Line
from psyclone_storage.languages.python.parse import node_factory as nodes
from psyclone_storage.languages.python.parse.api_words import Dialect
from psyclone_storage.languages.python.parse.columns import ColumnAccess
from psyclone_storage.languages.python.parse.compile_time import declared_arrays, module_values
from psyclone_storage.languages.python.parse.function_sources import ModuleTexts, no_modules
from psyclone_storage.languages.python.parse.functions import offered
from psyclone_storage.languages.python.parse.imports import dotted, imported_modules
from psyclone_storage.languages.python.parse.inline_functions import HelpersInPlace
from psyclone_storage.languages.python.parse.metadata import (
    IN_FORTRAN_TOO,
    KernelDefinition,
    check_kernel_name,
    code_name,
    find_kernel_definition,
    module_name,
    python_kernel_names,
)
from psyclone_storage.languages.python.parse.module_names import (
    assigned_names,
    constants_of,
    without_text,
)
from psyclone_storage.languages.python.parse.points import PointAccess
from psyclone_storage.languages.python.parse.scope import (
    ArgumentAccess,
    KernelScope,
    LoopPlace,
    ModuleVariable,
)
from psyclone_storage.languages.python.parse.statements import read_block
from psyclone_storage.languages.python.parse.tree import depth_of, names_in_tree
from psyclone_storage.languages.python.parse.weak_types import NumberKinds
from psyclone_storage.passes.proven_indices import with_proven_indices

_INDICES = (Role.GRID_INDEX_I, Role.GRID_INDEX_J)
_SHORT = "float32"
_OF_C = frozenset({"cbrt", "exp2", "expm1", "log1p", "log2"})
"""Functions of C's library that Fortran does not have."""


def read_python_body(
    dialect: Dialect,
    source: SourceText,
    name: str,
    dummies: tuple[Dummy, ...],
    beside: ModuleTexts = no_modules,
) -> Routine:
    """Return the code of the kernel with the procedure `name`; `dummies` are its arguments.

    Functions imported by the kernel are read from the modules that `beside` finds.

    Raises:
        CompileError: everything that is wrong with the body.
    """
    found = _find(dialect, source, name)
    scope, body = _read_body(found, dialect, dummies, beside)
    _check_names(scope)
    raise_if_any(scope.problems)
    declarations = (*_dummies(scope), *_locals(scope), *declared_arrays(scope))
    constants = tuple(
        Declare(one, nodes.scalar_type(kind, dialect.real)) for one, kind in _used(scope)
    )
    routine = found.tree.span(found.node)
    symbols = _symbols(scope, dialect.real)
    module = KernelModule(module_name(source), source.whole(), routine, declarations=constants,
                          symbols=symbols, is_python=True)  # fmt: skip
    specification = specification_of((), declarations)
    made = Routine(code_name(found.node.name), tuple(scope.passed), specification, body, module)
    return addressed(with_proven_indices(made, scope.passed))


def _read_body(
    found: KernelDefinition, dialect: Dialect, dummies: tuple[Dummy, ...], beside: ModuleTexts
) -> tuple[KernelScope, tuple[Line, ...]]:
    """Return the statements of a kernel, and the names in it, when nothing new is found."""
    kinds: dict[str, NumberKinds] = {}
    changing: set[str] = set()
    unrolled: set[LoopPlace] = set()
    while True:
        scope = _scope(found, dialect, dummies, beside)
        scope.unrolled = set(unrolled)
        scope.helpers = HelpersInPlace(dialect.module, beside, depth_of(found.node))
        scope.local_kinds, scope.changing = dict(kinds), set(changing)
        with scope.reached(None if _may_return(found.node) else {}):
            body = read_block(scope, without_text(found.node.body))
        if (scope.local_kinds, scope.changing, scope.unrolled) == (kinds, changing, unrolled):
            return scope, body
        # What a local has later, and which loops are unrolled, is known when it is read again.
        kinds, changing = scope.local_kinds, scope.changing
        if scope.unrolled != unrolled:
            kinds, changing, unrolled = {}, set(), scope.unrolled


def _symbols(scope: KernelScope, real: ScalarType) -> SymbolTable:
    """Return the variables of other modules, and the functions that Fortran does not have."""
    known = {key: _symbol(one, real) for key, one in scope.imported.items()}
    known |= {name: Symbol(name, name, Origin.INTRINSIC, Sort.PROCEDURE)
              for name in scope.called if name in _OF_C}  # fmt: skip
    return SymbolTable(known)


def _may_return(node: ast.FunctionDef) -> bool:
    """Return whether a kernel contains a `return` statement."""
    return any(isinstance(one, ast.Return) for one in ast.walk(node))


def _find(dialect: Dialect, source: SourceText, name: str) -> KernelDefinition:
    known = python_kernel_names(dialect, source)
    meant = next((one for one in known if code_name(one) == name.lower()), name)
    return find_kernel_definition(dialect, source, meant)


def _scope(
    found: KernelDefinition, dialect: Dialect, dummies: tuple[Dummy, ...], beside: ModuleTexts
) -> KernelScope:
    """Return the initial names in the body of a kernel."""
    tree, args = found.tree, found.node.args
    own = tuple(arg.arg for arg in (*args.posonlyargs, *args.args))
    names = NameTable({*own, found.node.name, *names_in_tree(found.node)})
    assigned = assigned_names(found.node)
    constants = constants_of(tree, dialect.real, offered(tree), beside)
    renamed: dict[str, str] = {}
    if dialect.of_points:
        used = (constants.keys() & names_in_tree(found.node)) - assigned
        renamed = _renamed((*own, *sorted(assigned)), used, names)
    inside = tuple(renamed.get(one, one) for one in own)
    passed = _passed(inside, dummies, names)
    arguments = _arguments(own, inside, passed, dummies)
    made = KernelScope(
        tree,
        dialect.real,
        offered(tree),
        _access(inside, passed, dialect, found),
        passed,
        arguments,
        constants,
        assigned,
    )
    made.names = renamed
    made.modules = imported_modules(tree)
    made.tables = module_values(tree, beside)
    made.single = _other_real(passed, dialect)
    if made.single is None and _computes_in_single(found.node):
        made.single = dialect.single
    made.taken = names
    made.variables = {made.code(one).lower() for one in (*arguments, *assigned)}
    made.variables |= {one.lower() for one in passed}
    return made


def _computes_in_single(node: ast.FunctionDef) -> bool:
    """Return whether a kernel converts numbers to single precision, and not at once to `float`."""
    calls = [one for one in ast.walk(node) if isinstance(one, ast.Call)]
    floats = [one for one in calls if isinstance(one.func, ast.Name) and one.func.id == "float"]
    at_once = {id(one.args[0]) for one in floats if one.args}
    return any(
        (dotted(one.func) or "").rpartition(".")[2] == _SHORT and id(one) not in at_once
        for one in calls
    )


def _other_real(passed: Mapping[str, Dummy], dialect: Dialect) -> ScalarType | None:
    """Return the type of arguments with another precision than the default; None without any."""
    others = [
        one.type for one in passed.values()
        if one.type.intrinsic is Intrinsic.REAL and one.type != dialect.real
        and one.role is not Role.CMA_MATRIX  # its elements are widened where they are looked at
    ]  # fmt: skip
    return others[0] if others else None


def _arguments(
    own: tuple[str, ...],
    inside: tuple[str, ...],
    passed: Mapping[str, Dummy],
    dummies: tuple[Dummy, ...],
) -> dict[str, Dummy]:
    """Return the arguments by their names, which are `inside` in the code."""
    found = {name: passed[code] for name, code in zip(own, inside, strict=True) if code in passed}
    first = {own[one.arg]: one for one in dummies if one.arg is not None and one.component == 1}
    return found | {name: one for name, one in first.items() if name not in found}


def _renamed(own: tuple[str, ...], constants: set[str], names: NameTable) -> dict[str, str]:
    """Return names in the code for those that differ from others in case alone, or are `_`."""
    seen = {name.lower(): name for name in constants}
    found = {}
    for name in own:
        if name.startswith("_") and name.isascii():
            found[name] = names.fresh(f"own{name}".rstrip("_"))
        elif seen.setdefault(name.lower(), name) != name:
            found[name] = names.fresh(f"{name}_of_kernel")
    return found


def _access(
    own: tuple[str, ...], passed: dict[str, Dummy], dialect: Dialect, found: KernelDefinition
) -> ArgumentAccess:
    """Return the access rules of a kernel's arguments; `own` contains the argument names."""
    if not dialect.of_points:
        return ColumnAccess(own, passed, dialect, found.names)
    i, j = (name for name, one in passed.items() if one.role in _INDICES)
    return PointAccess((i, j), own, passed, dialect, found.names)


def _passed(own: tuple[str, ...], dummies: tuple[Dummy, ...], names: NameTable) -> dict[str, Dummy]:
    """Return the dummies by name: an argument's name, or a fresh name.

    If several dummies belong to one argument, the dummy with the values has the argument's name.
    """
    found: dict[str, Dummy] = {}
    for dummy in dummies:
        if dummy.arg is not None and dummy.role in OF_VALUES and dummy.component is None:
            found[own[dummy.arg]] = dummy
        elif dummy.arg is not None and dummy.role in OF_VALUES:
            found[names.fresh(f"{own[dummy.arg]}_{dummy.component}")] = dummy
        else:
            found[names.fresh(dummy.name)] = dummy
    return found


def _check_names(scope: KernelScope) -> None:
    """Record errors for names that differ only in case, including those of called functions."""
    seen = {scope.code(name).lower(): scope.code(name) for name in scope.arguments}
    for name, local in scope.locals.items():
        if problem := check_kernel_name(name, seen, local.first):
            scope.problems.append(problem)
    for name, _ in _used(scope):
        if (other := seen.setdefault(name.lower(), name)) != name:
            what = f"'{name}' of the module and '{other}' differ in case alone."
            scope.refuse("P052", what, scope.used[name][1], IN_FORTRAN_TOO)
    own = {scope.code(name).lower() for name in scope.arguments}
    own |= {name.lower() for name in (*scope.locals, *scope.used)}
    for function, span in scope.called.items():
        if function in own:
            what = f"'{function}' is a variable of this kernel and is needed as a function here."
            scope.refuse("P052", what, span, "Give the variable another name.")


def _dummies(scope: KernelScope) -> Iterator[Declare]:
    names: dict[str, Expr] = {dummy.name: Name(name) for name, dummy in scope.passed.items()}
    for name, dummy in scope.passed.items():
        shape = tuple(
            one if isinstance(one, Range) else substituted(one, names) for one in dummy.shape
        )
        yield Declare(name, dummy.type, (f"intent({dummy.intent})",), shape)


def _locals(scope: KernelScope) -> Iterator[Declare]:
    for name, local in scope.locals.items():
        type_ = nodes.scalar_type(local.type or Intrinsic.REAL, local.real or scope.real)
        yield Declare(name, type_, (), local.shape)


def _symbol(one: ModuleVariable, real: ScalarType) -> Symbol:
    """Return the symbol of a variable in another module."""
    type_ = nodes.scalar_type(one.type, real)
    return Symbol(one.key, one.name, Origin.IMPORTED, Sort.VARIABLE, type_, module=one.module)


def _used(scope: KernelScope) -> Iterator[tuple[str, Intrinsic]]:
    """Yield the module variables that the body reads."""
    first = [name for name in scope.constants if name in scope.used]
    for name in dict.fromkeys((*first, *scope.used)):
        yield name, scope.used[name][0]
