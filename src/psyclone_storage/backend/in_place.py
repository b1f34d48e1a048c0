"""The statements of a kernel where it is called: dummies become what would be passed.

The kernel's own variables and imports stand in a block of their own, so that each thread and each
iteration has them for itself and none is seen by other calls. A name in there that is also a name
in what is passed gets another one. What is passed for an array starts from index 1, as all
arrays of the infrastructures do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from psyclone_storage.backend.workspace import Workspace
from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.directive import AccLoopDirective
from psyclone_storage.ir.expr import (
    Binary,
    Expr,
    Index,
    Literal,
    Name,
    Range,
    canonical,
    walk,
    whole,
    whole_number,
)
from psyclone_storage.ir.keys import key_of, keys_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import (
    everywhere,
    expressions_of,
    names_in,
    rewritten,
    walk_lines,
    with_parts,
)
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import Declare, DirectiveLine, Imported, Line, ScopedBlock, Use

_ONE = whole(1)


@dataclass(frozen=True, slots=True)
class _Names:
    """What names in a kernel's code stand for at one call; all in lower case.

    `passed` are the dummies. `lower` are the first indices of dummy arrays that do not start
    from 1. `renamed` are own names that have another one here. `kinds` are those of the names that
    kinds have in the module of the routine.
    """

    passed: Mapping[str, Expr]
    lower: Mapping[str, tuple[Expr | None, ...]]
    renamed: Mapping[str, str]
    kinds: Mapping[str, str]


def in_place_lines(code: KernelCode, passed: tuple[Expr, ...], work: Workspace) -> tuple[Line, ...]:
    """Return the statements of `code` with `passed` in the place of its dummies.

    Kinds are imported for all of the module, everything else for the statements alone.
    """
    names = _names(code, passed, work)

    def change(expr: Expr) -> Expr:
        return _changed(expr, names)

    body = rewritten(everywhere(code.body, change), lambda line: (_directive(line, names),))
    own = tuple(_declared(item, names, change) for item in _locals(code))
    uses = tuple(used for use in code.uses if (used := _used(use, names)).names)
    return (ScopedBlock(uses, own, body),) if own or uses else body


def _locals(code: KernelCode) -> Iterator[Declare]:
    dummies = {*code.dummy_keys}
    for item in code.declarations:
        if isinstance(item, Declare) and item.key not in dummies:
            yield item


def _names(code: KernelCode, passed: tuple[Expr, ...], work: Workspace) -> _Names:
    dummies = [*code.dummy_keys]
    outside = frozenset[str]().union(*map(names_in, passed))
    declared = [item.name for item in _locals(code)]
    imported = {name.key: (use, name) for use in code.uses for name in use.names}
    own = [*declared, *(name.local for _, name in imported.values())]
    exprs = [expr for line in walk_lines(code.body) for expr in expressions_of(line)]
    table = NameTable({*outside, *own, *frozenset().union(*map(names_in, exprs))})
    renamed = {key_of(name): table.fresh(name) for name in own if key_of(name) in outside}
    used = sorted(kinds_in_place(code) - keys_of(declared))
    kinds = {word: imported_kind(code, word, work) for word in used}
    lower = {name: _lower_bounds(code.declared(name)) for name in dummies}
    return _Names(dict(zip(dummies, passed, strict=True)), lower, renamed, kinds)


def imported_kind(code: KernelCode, kind: str, work: Workspace) -> str:
    """Return what the module of the routine calls a kind of the kernel's, imported there."""
    for use in code.uses:
        for name in use.names:
            if name.key == key_of(kind):
                return work.imports.local(use.module, name.original)
    return work.kind(kind)


def kinds_in_place(code: KernelCode) -> frozenset[str]:
    """Return the names of the kinds of literals and of own variables: those of dummies are gone."""
    exprs = [expr for line in walk_lines(code.body) for expr in expressions_of(line)]
    found: set[str] = set()
    for item in _locals(code):
        exprs += [*item.shape, *([] if item.value is None else [item.value])]
        if isinstance(item.type, ScalarType) and item.type.kind:
            found.add(item.type.kind)
    for expr in exprs:
        found |= {part.kind for part in walk(expr) if isinstance(part, Literal) and part.kind}
    return keys_of(name for name in found if name.isidentifier())


def _lower_bounds(declared: Declare | None) -> tuple[Expr | None, ...]:
    """Return the first index per dimension where that is not 1, else None."""
    shape = declared.shape if declared is not None else ()
    lower = (extent.lower if isinstance(extent, Range) else None for extent in shape)
    return tuple(None if bound is None or whole_number(bound) == 1 else bound for bound in lower)


# ---------------------------------------------------------------------------- exchanging


def _changed(expr: Expr, names: _Names) -> Expr:
    match expr:
        case Name(text):
            return _value(text, names)
        case Literal(_, intrinsic, kind) if kind and expr.kind_key in names.kinds:
            other = _kind(kind, names)
            if intrinsic is Intrinsic.CHARACTER or other == kind:
                return expr
            return expr.with_kind(other)
        case Index(Name() as dummy, items) if dummy.key in names.passed:
            changed = tuple(_changed(item, names) for item in items)
            return _element(dummy.key, expr.__class__(dummy, changed), names)
    return with_parts(expr, lambda part: _changed(part, names))


def _kind(name: str, names: _Names) -> str:
    """Return what a kind is called here, spelt as in the kernel if that differs in case only."""
    other = names.kinds[key_of(name)]
    return name if key_of(other) == key_of(name) else other


def _value(name: str, names: _Names) -> Expr:
    """Return what a name alone stands for."""
    key = key_of(name)
    if key in names.kinds:
        return Name(_kind(name, names))
    if key in names.renamed:
        return Name(names.renamed[key])
    return names.passed.get(key, Name(name))


def _element(name: str, expr: Index, names: _Names) -> Expr:
    """Return the part `expr` of a dummy array in terms of what is passed for the array."""
    lower = tuple(None if bound is None else _changed(bound, names) for bound in names.lower[name])
    shifted = tuple(
        item if bound is None else _shifted(item, bound)
        for item, bound in zip(expr.items, lower, strict=True)
    )
    actual = names.passed[name]
    if not isinstance(actual, Index) or not any(isinstance(item, Range) for item in actual.items):
        return expr.__class__(actual, shifted)
    rest = iter(shifted)
    merged = tuple(_merged(item, rest) for item in actual.items)
    if next(rest, None) is not None:
        raise InternalError(f"'{name}' has more dimensions than '{canonical(actual)}'.")
    return expr.__class__(actual.base, merged)


def _merged(item: Expr, rest: Iterator[Expr]) -> Expr:
    if not isinstance(item, Range):
        return item
    if item != Range():
        raise InternalError(f"A part '{canonical(item)}' of an array is passed.")
    index = next(rest, None)
    if index is None:
        raise InternalError(f"'{canonical(item)}' of an array is passed for no dimension.")
    return index


def _shifted(item: Expr, lower: Expr) -> Expr:
    """Return the index that counts from 1 for one that counts from `lower`."""
    if isinstance(item, Range):
        low, high = (
            None if part is None else _shifted(part, lower) for part in (item.lower, item.upper)
        )
        return Range(low, high, item.step)
    return Binary(Operator.PLUS, Binary(Operator.MINUS, item, lower), _ONE)


def _directive(line: Line, names: _Names) -> Line:
    """Return a directive of a step with the names that variables have here."""
    match line:
        case DirectiveLine(meaning=AccLoopDirective() as shared):
            private = tuple(names.renamed.get(key_of(one), one) for one in shared.private)
            reductions = tuple(
                (operator, names.renamed.get(key_of(one), one))
                for operator, one in shared.reductions
            )
            meaning = replace(shared, private=private, reductions=reductions)
            return replace(line, meaning=meaning)
    return line


def _declared(item: Declare, names: _Names, change: Callable[[Expr], Expr]) -> Declare:
    kind = item.type
    if isinstance(kind, ScalarType) and kind.kind and kind.kind_key in names.kinds:
        kind = replace(kind, kind=_kind(kind.kind, names))
    return replace(
        item,
        name=names.renamed.get(item.key, item.name),
        type=kind,
        shape=tuple(map(change, item.shape)),
        value=None if item.value is None else change(item.value),
    )


def _used(use: Use, names: _Names) -> Use:
    imported = tuple(
        Imported(names.renamed.get(name.key, name.local), name.original)
        for name in use.names
        if name.key not in names.kinds
    )
    return replace(use, names=imported)
