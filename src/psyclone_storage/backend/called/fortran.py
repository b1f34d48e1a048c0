"""Procedures in the place of their calls in Fortran: what may stand elsewhere, and which is meant.

Sizes of kinds are known to the compiler of the program alone. Two kinds are one only if they have
one name, of one module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from psyclone_storage.backend.c.scope import CScope
from psyclone_storage.backend.called.arguments import CallArguments
from psyclone_storage.backend.called.arrays import NotInPlaceError
from psyclone_storage.backend.called.code import written_in
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.base.source import Span
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.expr import Element, Expr, Literal, Name, Origin, Section, Symbol
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import construct_name, walk_lines
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import Declare, DirectiveLine, Use

_Kind = tuple[str, str]
"""A kind: the module that names it, and its name there; a number, or nothing, of no module."""

_Type = tuple[Intrinsic, _Kind]
Merged = tuple[KernelCode, KernelCode, dict[Span | None, str]]
"""A procedure as it was read, with others in the place of its calls, and why calls stay."""


@dataclass(frozen=True, slots=True)
class FortranModules:
    """What others see of modules, by their keys, and why code may depend on where it stands.

    `known` are procedures that were looked at, by what they were read as, with others in the place
    of their calls: many kernels call the same ones.
    """

    hidden: Callable[[str, str], bool]
    bound: Callable[[KernelCode], str | None]
    imported: Callable[[Iterable[Use], str], Symbol | None]
    known: dict[int, Merged] = field(default_factory=dict)

    def gives(self, uses: Iterable[Use], name: str) -> bool:
        """Return whether imports give a name; refuse the call if nobody knows."""
        found = self.imported(uses, name)
        if found is not None and not found.is_resolved:
            raise NotInPlaceError(f"whether '{found.module}' has a '{name}' is not known")
        return found is not None

    def check(self, written: KernelCode, code: KernelCode) -> None:
        """Refuse a procedure, `written` so and with others in place `code`, that must stay."""
        if why := self.bound(written):
            raise NotInPlaceError(f"'{code.name}' may depend on '{why}'")
        own = {item.key for item in code.declarations if isinstance(item, Declare)}
        if changed := sorted(written_in(code.body) - own - {*code.dummy_keys}):
            raise NotInPlaceError(f"'{code.name}' changes '{changed[0]}' of a module")
        for line in walk_lines(code.body):
            if isinstance(line, DirectiveLine):
                raise NotInPlaceError(f"'{code.name}' holds a directive")
            if construct_name(line):
                raise NotInPlaceError(f"'{code.name}' names a construct")


def have_same_kinds(
    scope: CScope, passed: CallArguments, within: CScope, given: tuple[Expr, ...]
) -> bool:
    """Return whether types, kinds and ranks of arguments are certainly those of a procedure."""
    for key, arg in zip(within.code.dummy_keys, given, strict=True):
        symbol = within.symbol(key)
        wanted, known = _type_of(within, symbol), _passed_type(scope, passed, arg)
        extents = passed.extents(arg)
        if wanted is None or known != wanted or extents is None:
            return False
        if len(extents) != len(symbol.shape):
            return False
    return True


def _passed_type(scope: CScope, passed: CallArguments, arg: Expr) -> _Type | None:
    match arg:
        case Name() | Element(Name()) | Section(Name()):
            base = arg if isinstance(arg, Name) else arg.base
            assert isinstance(base, Name)
            return _type_of(scope, passed.symbol_of(base.key))
        case Literal() if not arg.is_double:
            kind = _home(scope, arg.kind)
            return None if kind is None else (arg.intrinsic, kind)
    return None


def _type_of(scope: CScope, symbol: Symbol) -> _Type | None:
    """Return the type and kind of a variable of a procedure, None if that is not known."""
    if symbol.origin not in (Origin.LOCAL, Origin.DUMMY):
        return None
    if not isinstance(symbol.type, ScalarType):
        return None
    kind = _home(scope, symbol.type.kind)
    return None if kind is None else (symbol.type.intrinsic, kind)


def _home(scope: CScope, kind: str | None) -> _Kind | None:
    if kind is None or kind.isdigit():
        return "", kind or ""
    symbol = scope.symbol(key_of(kind)) if kind.isidentifier() else None
    if symbol is None or symbol.origin in (Origin.LOCAL, Origin.DUMMY):
        return None
    return symbol.module_key or scope.code.module.key, key_of(symbol.name)
