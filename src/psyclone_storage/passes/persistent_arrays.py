"""Local arrays that stay allocated between the calls of their routine.

An automatic array is allocated in each call. With the attributes `save` and `allocatable` it is
allocated in the first call, and again only if its bounds change. Its values need not survive a
call, because those of an automatic array are undefined when a call starts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce

from psyclone_storage.analysis.bodies.flow import flow_of
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import replace
from psyclone_storage.base.regex import regex
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.parsed import ScopeKind
from psyclone_storage.ir.rewrite import names_in, walk_lines
from psyclone_storage.ir.routine import DeclarationStatement, Routine, SpecificationItem, Specified
from psyclone_storage.passes.array_rank import is_plain_array
from psyclone_storage.passes.scratch import nothing_to_do

_ONE_CALL = regex(r"\b(?:pure|elemental|recursive)\b")
_ENTRY = regex(r"\s*entry\b")
_WORD = regex(r"[a-z]\w*")


def check_persistent(code: Routine) -> Iterator[Diagnostic]:
    """Yield the reasons for which a routine cannot have arrays that stay allocated."""
    place = code.module.routine
    if code.kind not in (ScopeKind.SUBROUTINE, ScopeKind.FUNCTION):
        yield Diagnostic("T060", f"'{code.name}' is not called.", place)
    elif found := _ONE_CALL.search(key_of(code.prefix)):
        message = f"'{code.name}' is {found.group()}, so it cannot have saved arrays."
        yield Diagnostic("T060", message, place)
    elif any(isinstance(one, un.Opaque) and _ENTRY.match(key_of(one.text))
             for one in walk_lines(code.body)):  # fmt: skip
        yield Diagnostic("T060", f"'{code.name}' has an 'entry' statement.", place)
    elif not persistent_arrays(code):
        yield nothing_to_do(code, "has no local array with variable bounds")


def persistent_arrays(code: Routine) -> tuple[str, ...]:
    """Return the automatic arrays of numbers that may stay allocated, by their keys.

    Arrays that directives or other declarations name are omitted, as these need them at the start
    of a call.
    """
    flow = flow_of(code)
    named = {word for one in code.directives for word in _WORD.findall(key_of(one.text))}
    found = [
        item.key
        for item in code.declarations
        if isinstance(item, un.Declare)
        and item.key not in named | {key_of(code.result or code.name)}
        and item.value is None
        and is_plain_array(item.key, flow)
        and _has_variable_bounds(item)
    ]
    while True:
        others = [one for one in code.declarations if getattr(one, "key", "") not in found]
        needed = set(found).intersection(*[set().union(*map(_names, others))])
        if not needed:
            return tuple(found)
        found = [key for key in found if key not in needed]


def _has_variable_bounds(item: un.Declare) -> bool:
    """Return whether all bounds of an array are declared, and some of them are not literals."""
    ends = [end for one in item.shape for end in _ends(one)]
    known = [end for end in ends if end is not None]
    return len(known) == len(ends) and any(ex.integer_value(end) is None for end in known)


def _names(item: Specified) -> Iterator[str]:
    """Yield the names in a declaration, without what it declares."""
    if isinstance(item, un.Opaque):
        yield from item.names
    elif isinstance(item, un.Declare):
        yield from _WORD.findall(key_of(str(item.type)))
        for one in (*item.shape, *(() if item.value is None else (item.value,))):
            yield from names_in(one)


def with_persistent_arrays(code: Routine) -> Routine:
    """Return `code`, whose automatic arrays stay allocated between calls."""
    keys = persistent_arrays(code)
    first: list[un.Line] = []
    for key in keys:
        declared = code.declared(key)
        assert declared is not None
        first += _allocations(declared)
    items = tuple(one for item in code.specification for one in _changed(item, keys))
    return replace(code, specification=items, body=(*first, *code.body))


def _changed(item: SpecificationItem, keys: Iterable[str]) -> Iterator[SpecificationItem]:
    if not isinstance(item, DeclarationStatement) or not any(
        one.key in keys for one in item.declares
    ):
        yield item
        return
    same = tuple(one for one in item.declares if one.key not in keys)
    if same:
        yield replace(item, declares=same)
    for one in item.declares:
        if one.key in keys:
            shape = (ex.Range(),) * len(one.shape)
            yield DeclarationStatement(
                (replace(one, attributes=("allocatable", "save"), shape=shape),)
            )


def _allocations(declared: un.Declare) -> Iterator[un.Line]:
    """Yield the statements that give an array its bounds at the start of a call."""
    name = ex.Name(declared.name)
    bounds = [_ends(one) for one in declared.shape]
    others = [
        ex.Binary(Operator.NOT_EQUAL, ex.intrinsic(word, name, ex.whole(at)), end)
        for at, ends in enumerate(bounds, 1)
        for word, end in zip(("lbound", "ubound"), ends, strict=True)
        if end is not None
    ]
    differ = reduce(lambda one, other: ex.Binary(Operator.OR, one, other), others)
    is_there = ex.intrinsic("allocated", name)
    inner = un.If((un.Branch(differ, (un.Deallocate((name,)),)),))
    yield un.If((un.Branch(is_there, (inner,)),))
    extents = tuple(ex.Range(low, high) for low, high in bounds)
    allocation = un.Allocate((ex.Extents(name, extents),))
    yield un.If((un.Branch(ex.Unary(Operator.NOT, is_there), (allocation,)),))


def _ends(extent: ex.Expr) -> tuple[ex.Expr | None, ex.Expr | None]:
    """Return the bounds of a dimension, None for an upper bound that is not declared."""
    if isinstance(extent, ex.Range):
        return extent.lower or ex.whole(1), extent.upper
    return ex.whole(1), None if isinstance(extent, ex.Star) else extent
