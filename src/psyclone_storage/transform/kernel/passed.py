"""Variables that a procedure changes through its calls.

A call may change a variable passed as an argument. It may also associate a pointer with data that
outlive the call.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from psyclone_storage.analysis.bodies.effects import (
    ProcedureCall,
    base_of,
    has_pointers,
    names_behind,
)
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.expr import CallFunction, Index, Keyword, Member, Name, Origin
from psyclone_storage.ir.rewrite import walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.unit import Assign, Associate, Call, PointerAssign
from psyclone_storage.transform.kernel.state import kept_variables, unknown_variables


@dataclass(frozen=True, slots=True)
class PassingCall:
    """A call and the procedures that it may call, each followed by inlined helpers if known."""

    call: ProcedureCall
    bodies: tuple[tuple[Routine, ...], ...]


def changed_by_calls(
    code: Routine, sites: list[PassingCall]
) -> tuple[frozenset[str], tuple[str, ...], frozenset[str]]:
    """Return the variables and pointers that calls in `code` change.

    The variables outlive `code`; the pointers become associated with shared data.
    """
    aimed = {name for site in sites for name in _aimed(code, site)}
    behind = names_behind(code)
    aimed |= {name for name, others in behind.items() if aimed & others}
    owners = kept_variables(code).keys() | unknown_variables(code)
    passed = {name for site in sites for name in _passed(site, owners, behind, _changes)}
    passed |= {name for site in sites for name in _passed(site, aimed, behind, _changes_target)}
    return frozenset(passed), (), frozenset(aimed)


def _passed(
    site: PassingCall,
    owners: Collection[str],
    behind: Mapping[str, frozenset[str]],
    changes: Callable[[tuple[Routine, ...], object, int], bool],
) -> Iterator[str]:
    """Yield the variables in `owners` that a call passes to a procedure that changes them."""
    for at, arg in enumerate(site.call.args):
        base = base_of(arg)
        kept = ({base} | behind.get(base, frozenset())).intersection(owners)
        positions = range(at, at + 1 + isinstance(site.call.procedure, Member))
        if kept and any(changes(codes, arg, one) for codes in site.bodies for one in positions):
            yield from kept


def _aimed(code: Routine, site: PassingCall) -> Iterator[str]:
    """Yield the pointers, and objects with pointers, that a call associates with shared data."""
    if not any(map(_points_at_shared, site.bodies)):
        return
    for line in walk_lines(code.body):
        match line:
            case PointerAssign(target, Index(base)) if base is site.call.procedure:
                yield base_of(target)
            case Assign(target, Index(base)) if base is site.call.procedure:
                if has_pointers(target, code):
                    yield base_of(target)
            case Associate(pairs):
                yield from (
                    name.key
                    for name, value in pairs
                    if isinstance(value, Index) and value.base is site.call.procedure
                )
    for at, arg in enumerate(site.call.args):
        positions = range(at, at + 1 + isinstance(site.call.procedure, Member))
        if any(_sets_pointer(codes, arg, one) for codes in site.bodies for one in positions):
            yield base_of(arg)


def _points_at_shared(codes: tuple[Routine, ...]) -> bool:
    """Return whether a procedure may associate a pointer with data that outlive the call.

    Procedures to which it passes its pointers count too.
    """
    for code in codes[:1]:
        owners = kept_variables(code)
        for line in walk_lines(code.body):
            match line:
                case PointerAssign(_, CallFunction(Name() as function)):
                    if code.symbol(function.key).origin is not Origin.INTRINSIC:
                        return True
                case PointerAssign(_, value) if base_of(value) in owners:
                    return True
                case Call(_, args) if any(_is_pointer(code, base_of(arg)) for arg in args):
                    return True
    return False


def _is_pointer(code: Routine, key: str) -> bool:
    declared = code.declared(key)
    return declared is not None and "pointer" in declared.words


def _sets_pointer(codes: tuple[Routine, ...], arg: object, at: int) -> bool:
    """Return whether a procedure may associate a pointer argument or its components."""
    key = _dummy(codes, arg, at)
    if not key or "intent(in)" in getattr(codes[0].declared(key), "words", ()):
        return False
    return _is_pointer(codes[0], key) or any(
        isinstance(line, PointerAssign) and base_of(line.target) == key
        for line in walk_lines(codes[0].body)
    )


def _changes_target(codes: tuple[Routine, ...], arg: object, at: int) -> bool:
    return _changes(codes, arg, at) and not _sets_pointer(codes, arg, at)


def _dummy(codes: tuple[Routine, ...], arg: object, at: int) -> str:
    """Return the dummy for the argument at a position or with a keyword; empty if unknown."""
    keys = codes[0].dummy_keys if codes else ()
    key = arg.key if isinstance(arg, Keyword) else next(iter(keys[at : at + 1]), "")
    return key if key in keys else ""


def _changes(codes: tuple[Routine, ...], arg: object, at: int) -> bool:
    """Return whether a procedure may change an argument, given by position or keyword."""
    if not codes:
        return True
    key = _dummy(codes, arg, at)
    if not key:
        return False
    declared = codes[0].declared(key)
    return declared is None or not {"intent(in)", "value"} & declared.words
