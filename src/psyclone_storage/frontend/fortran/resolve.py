"""The names in a kernel's subroutine, resolved: what each stands for, and what its brackets mean.

A name is looked up in the subroutine, in what it imports, in the module around it, in what that
imports, and in the language. What is not found stays `UNRESOLVED`, and brackets behind it an
`Index`. The extents in an `allocate` statement are no subscripts and stay one, too.
"""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.source import SourceText
from psyclone_storage.frontend.finder import ModuleFinder
from psyclone_storage.frontend.fortran.module_symbols import symbol_of
from psyclone_storage.frontend.fortran.specification import read_declarations
from psyclone_storage.frontend.fortran.statements import scan
from psyclone_storage.ir.code import KernelCode, Specified
from psyclone_storage.ir.expr import (
    CallFunction,
    Construct,
    Element,
    Expr,
    Index,
    Literal,
    Member,
    Name,
    Range,
    Section,
    Substring,
)
from psyclone_storage.ir.intrinsics import PROCEDURES, PURE
from psyclone_storage.ir.rewrite import rewritten, walk_lines, with_expressions, with_parts
from psyclone_storage.ir.scopes import (
    imports_of,
    local_names,
    surroundings,
    used_kinds,
    used_names,
)
from psyclone_storage.ir.symbols import (
    ModuleSymbols,
    Origin,
    Sort,
    Symbol,
    SymbolTable,
    declared_symbol,
)
from psyclone_storage.ir.typed import Typing
from psyclone_storage.ir.types import DerivedType, Intrinsic, ScalarType
from psyclone_storage.ir.unit import Allocate, Associate, Declare, Line, Opaque, ScopedBlock, Select


def resolve_code(code: KernelCode, finder: ModuleFinder) -> KernelCode:
    """Return `code` with a symbol for each name, and its bracketed names told apart."""
    resolver = _Resolver(code, finder)
    used = used_names(code)
    table = {key: resolver.symbol(key) for key in used}
    around = {name.local.lower(): resolver.symbol(name.local) for _, name in imports_of(code)}
    imports = _imports(code, finder, used)
    module = replace(
        code.module,
        constants=imports.constants,
        variables=imports.variables,
        unresolved=imports.unresolved,
        symbols=SymbolTable({**around, **table}, resolver.structures),
    )
    return replace(
        code,
        module=module,
        declarations=tuple(map(resolver.specified, code.declarations)),
        body=rewritten(code.body, lambda line: (resolver.line(line),)),
    )


class _Resolver:
    """What the names in one subroutine stand for."""

    def __init__(self, code: KernelCode, finder: ModuleFinder) -> None:
        self._code = code
        self._finder = finder
        self._host = finder.of_source(code.module.source, code.module.name)
        self._known = dict(_local_symbols(code))
        self._doubtful = _declared_elsewhere(code)
        self.structures: dict[tuple[str, str], Symbol] = {}
        self._typing = Typing(self.symbol, self._structure)
        self._name_associated()

    def symbol(self, name: str) -> Symbol:
        """Return what `name` stands for in the subroutine."""
        key = name.lower()
        if key not in self._known:
            self._known[key] = self._looked_up(key)
        return self._known[key]

    def _looked_up(self, key: str) -> Symbol:
        found = self._finder.imported(self._code.uses, key)
        if found is not None and found.is_resolved:
            return found
        host = _host_symbol(self._host, key)
        if host is None and found is None and self._host is not None:
            found = self._finder.imported(self._host.uses, key)
        if host is not None or (found is not None and found.is_resolved):
            return host or found or Symbol(key, key, Origin.UNRESOLVED)
        if key in PROCEDURES and not self._is_listed(key):
            sort = Sort.FUNCTION if key in PURE else Sort.PROCEDURE
            return Symbol(key, key, Origin.INTRINSIC, sort)
        return found or Symbol(key, key, Origin.UNRESOLVED)

    def _is_listed(self, key: str) -> bool:
        """Return whether a module is said to give the name."""
        return any(name.local.lower() == key for _, name in imports_of(self._code))

    def _name_associated(self) -> None:
        """Note what the names of `associate` constructs stand for, where one stands for one."""
        for line in walk_lines(self._code.body):
            if not isinstance(line, Associate):
                continue
            for name, selector in line.pairs:
                key, value = name.lower(), self.expr(selector)
                rank = self._typing.rank_of(value)
                if key in self._known or rank is None:
                    self._doubtful |= {key}
                    continue
                type_ = self._typing.type_of(value)
                shape = (Range(),) * rank
                self._known[key] = Symbol(key, name, Origin.LOCAL, Sort.VARIABLE, type_, shape)

    def _structure(self, type_: DerivedType) -> Symbol | None:
        """Return the definition of a derived type that a declaration names."""
        place = (type_.module or "", type_.name)
        if place not in self.structures:
            found = self._defined(type_)
            if found is None:
                return None
            self.structures[place] = found
        return self.structures[place]

    def _defined(self, type_: DerivedType) -> Symbol | None:
        if type_.module and type_.module != self._code.module.name.lower():
            return self._finder.structure(type_.module, type_.name)
        found = self.symbol(type_.name)
        return found if found.sort is Sort.TYPE else None

    # ------------------------------------------------------------------------ statements

    def specified(self, item: Specified) -> Specified:
        """Return a declaration with its expressions resolved."""
        if not isinstance(item, Declare):
            return item
        value = None if item.value is None else self.expr(item.value)
        return replace(item, shape=tuple(map(self.expr, item.shape)), value=value)

    def line(self, line: Line) -> Line:
        """Return a statement with its own expressions resolved."""
        if isinstance(line, Allocate):
            return with_expressions(line, lambda array: with_parts(array, self.expr))
        return with_expressions(line, self.expr)

    def expr(self, expr: Expr) -> Expr:
        """Return `expr` with its bracketed names told apart."""
        expr = with_parts(expr, self.expr)
        # What is of a class of its own is resolved: only a plain `Index` is not.
        return self._bracketed(expr) if expr.__class__ is Index else expr

    def _bracketed(self, index: Index) -> Expr:
        match index.base:
            case Name() as name:
                return self._of_name(index, name.key)
            case Member() as member:
                return self._of_component(index, member)
            case Literal() | Element():
                return _made(Substring, index) if _is_substring(index.items) else index
        return index

    def _of_name(self, index: Index, key: str) -> Expr:
        found = self.symbol(key)
        if key in self._doubtful:
            return index
        if found.is_data:
            return self._of_data(index, found.rank, found)
        if found.is_called or found.origin is Origin.INTRINSIC:
            return _made(CallFunction, index)
        return _made(Construct, index) if found.sort is Sort.TYPE else index

    def _of_data(self, index: Index, rank: int, found: Symbol | Declare) -> Expr:
        if rank:
            return self._of_array(index) if rank == len(index.items) else index
        is_text = isinstance(found.type, ScalarType) and (
            found.type.intrinsic is Intrinsic.CHARACTER
        )
        if is_text and _is_substring(index.items):
            return _made(Substring, index)
        # A scalar with brackets that are no substring's is a function whose type is declared.
        is_function = isinstance(found, Symbol) and found.origin in (Origin.LOCAL, Origin.DUMMY)
        return _made(CallFunction, index) if is_function else index

    def _of_component(self, index: Index, member: Member) -> Expr:
        component = self._typing.component(member)
        if component is not None:
            return self._of_data(index, len(component.shape), component)
        return _made(CallFunction, index) if self._typing.is_binding(member) else index

    def _of_array(self, index: Index) -> Expr:
        ranks = map(self._typing.subscript_rank, index.items)
        return _made(Element if all(rank == 0 for rank in ranks) else Section, index)


def _made(kind: type[Index], index: Index) -> Index:
    return kind(index.base, index.items)


def _is_substring(items: tuple[Expr, ...]) -> bool:
    return len(items) == 1 and isinstance(items[0], Range)


def _host_symbol(host: ModuleSymbols | None, key: str) -> Symbol | None:
    return None if host is None else host.symbols.get(key)


# ---------------------------------------------------------------------------- local names


def _local_symbols(code: KernelCode) -> Iterator[tuple[str, Symbol]]:
    """Yield what the subroutine declares itself, also in declarations that are kept as text."""
    dummies = {name.lower() for name in code.dummies}
    internal = local_names(code) - dummies
    for key in internal:
        if code.internal is not None and key in code.internal.names:
            yield key, Symbol(key, key, Origin.LOCAL, Sort.PROCEDURE)
    for key in dummies:
        yield key, Symbol(key, key, Origin.DUMMY)
    for item in code.declarations:
        for symbol in _symbols_of(item):
            origin = Origin.DUMMY if symbol.key in dummies else Origin.LOCAL
            yield symbol.key, replace(symbol, origin=origin)


def _symbols_of(item: Specified) -> Iterator[Symbol]:
    if isinstance(item, Declare):
        yield declared_symbol(item, Origin.LOCAL)
    elif isinstance(item, Opaque):
        for statement in scan(SourceText("", item.text)):
            try:
                declared = read_declarations(statement)
            except CompileError:
                continue
            yield from (symbol_of(one, Origin.LOCAL) for one in declared)


def _declared_elsewhere(code: KernelCode) -> frozenset[str]:
    """Return the names of which a declaration of their type does not say all.

    A statement such as `dimension` may say more, and a block has names of its own.
    """
    found: set[str] = set()
    for item in code.declarations:
        if isinstance(item, Opaque) and not any(True for _ in _symbols_of(item)):
            found |= item.names
    for line in walk_lines(code.body):
        if isinstance(line, ScopedBlock):
            for item in line.declarations:
                found |= item.names if isinstance(item, Opaque) else set()
                found |= {item.name.lower()} if isinstance(item, Declare) else set()
        elif isinstance(line, Select) and line.alias:
            found.add(line.alias.lower())
    return frozenset(found)


# ---------------------------------------------------------------------------- other modules


@dataclass(frozen=True, slots=True)
class _Imports:
    """The names that a subroutine takes from other modules, by what they are."""

    constants: frozenset[str]
    variables: tuple[Symbol, ...]
    unresolved: frozenset[str]


def _imports(code: KernelCode, finder: ModuleFinder, used: frozenset[str]) -> _Imports:
    """Return what the names are that `code` takes from other modules.

    Constants are all that it and its module import by name, and what it uses of modules that are
    imported as a whole; the rest is what it uses. A kind is a constant wherever it comes from.
    """
    listed = {
        name.local.lower(): finder.imported((use,), name.local) for use, name in imports_of(code)
    }
    whole = tuple(use for use in (*code.uses, *code.module.uses) if use.whole)
    kinds = used_kinds(code)
    unknown = surroundings(code).unknown - kinds
    # A variable may have the name of a function of the language.
    words = (used & PURE) - local_names(code)
    others = {key: finder.imported(whole, key) for key in unknown | words}
    found = {**listed, **{key: others[key] for key in unknown}}
    found |= {key: item for key, item in others.items()
              if key in words and item and item.sort is Sort.VARIABLE}  # fmt: skip
    variables = tuple(
        replace(item, key=key)
        for key, item in sorted(found.items())
        if key in used and item is not None and item.sort is Sort.VARIABLE
    )
    lost = {key for key, item in found.items() if key in used and _is_lost(item, whole)}
    constants = {key for key, item in found.items() if item and item.sort is Sort.CONSTANT}
    return _Imports(frozenset(constants), variables, frozenset(lost - kinds))


def _is_lost(found: Symbol | None, whole: tuple[object, ...]) -> bool:
    """Return whether nobody knows what a name is: it may be of a module, or of none."""
    return not whole if found is None else not found.is_resolved
