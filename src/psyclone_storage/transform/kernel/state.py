"""State that a procedure keeps between calls and modifies, so that threads would race.

Metadata describe only arguments. A subroutine can also change saved variables, module variables and
files, which concurrent threads share. Changes by assignments, loops, allocations and input count,
including those through pointers and in unsupported statements, as do procedures that receive a
`save` variable. Paths that end the program do not count. The analysis includes all called
procedures.

If all accesses to a variable store the same constant, their order does not matter: LFRic's
`conv_gr_code` disables a physics option in this way for each column. This is not a race if no
concurrent code reads the variable.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from psyclone_storage.analysis.bodies.effects import (
    base_of,
    continuing,
    defined_arguments,
    is_internal,
    names_behind,
    other_effects,
    unit_of,
)
from psyclone_storage.analysis.bodies.files import names_namelist, written_parts
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.names import listed
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import Span
from psyclone_storage.infrastructures.lfric import MESSAGE_PROCEDURES
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.keys import key_of, keys_of
from psyclone_storage.ir.rewrite import expressions_of, names_in, walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.scopes import imports_of, local_names
from psyclone_storage.ir.symbols import declaration_of
from psyclone_storage.ir.typed import Typing
from psyclone_storage.ir.types import DerivedType

_SAVED = regex(r"(?:\d+\s+)?(?:save|data|common)\b", re.IGNORECASE)
_INITIAL = regex(r"(?!.*\bparameter\b).*::.*=", re.IGNORECASE)
_JOINED = regex(r"(?:\d+\s+)?equivalence\b", re.IGNORECASE)
_ALL_SAVED = regex(r"(?:\d+\s+)?save\s*$", re.IGNORECASE)
_SET = regex(r"\s*(?:\d+\s+)?(?:.*\)\s*)?([a-z]\w*)\s*(?:[(%].*)?=(?![=>])", re.IGNORECASE)
_SAVED_INSIDE = regex(
    r"^[ \t]*(?:save\b|data[ \t]+\w|(?:integer|real|double|complex|logical|character|type|class)\b"
    r"(?!.*\bparameter\b)(?=.*,[ \t]*save\b|.*::.*=)).*",
    re.IGNORECASE | re.MULTILINE,
)
_OTHER_NAME = regex(r"=>\s*([a-z]\w*)", re.IGNORECASE)
_OF_EACH_THREAD = regex(r"^\s*!\$omp\s+threadprivate\s*\((.*?)\)", re.IGNORECASE | re.MULTILINE)


Mentioned = Callable[[Routine, str], bool]
"""Whether a name, as its module declares it, is used beside a subroutine by what runs with it."""


def changed_and_saved(code: Routine) -> frozenset[str]:
    """Return the saved local variables that a subroutine changes or passes on."""
    changed = _changed(code, walk_lines(code.body))
    return frozenset(_saved(code)) & (changed | frozenset(_passed(code)))


def saved_inside(code: Routine) -> str:
    """Return a declaration with `save` in a block or internal procedure, or an empty text.

    The function does not check whether the variable is changed.
    """
    inside = [line for line in walk_lines(code.body) if isinstance(line, un.Opaque)]
    inside += [] if code.internal is None else [code.internal]
    found = next(filter(None, (_SAVED_INSIDE.search(item.text) for item in inside)), None)
    return "" if found is None else found.group().strip()


def check_shared_state(
    code: Routine,
    mentioned: Mentioned | None = None,
    passed: frozenset[str] = frozenset(),
    callers: tuple[str, ...] = (),
    aimed: frozenset[str] = frozenset(),
) -> Iterator[Diagnostic]:
    """Yield diagnostics for changes of `code` to data shared between threads (S015).

    `passed` are variables passed to procedures that change them; `aimed` are pointers associated
    with shared data. `callers` are the call path from the kernel, empty for the kernel itself. A
    variable to which all threads store the same constant is ignored if no code reads it: neither
    the subroutine nor the code covered by `mentioned`. Without `mentioned`, it is reported.
    """
    lines = tuple(continuing(code.body, ends_program(code)))
    owners = {**kept_variables(code), **dict.fromkeys(aimed, "a pointer that a procedure sets")}
    found, written = _assigned(code, lines)
    changed = _with_targets(code, found - aimed, written) | (written & aimed) | passed
    for name in sorted(changed & owners.keys()):
        if mentioned is not None and not passed and _is_switch(code, name, mentioned):
            continue
        shown = name.partition("@")[0]
        place = code.place_of(shown)
        yield _race(code, f"it changes '{shown}', {owners[name]}", place, callers)
    for effect in other_effects(lines, code):
        yield _race(code, effect.text, effect.place or code.module.routine, callers)


def unknown_variables(code: Routine) -> frozenset[str]:
    """Return names that may be variables of modules that were not found."""
    hidden = local_names(code)
    return frozenset(
        key
        for key, symbol in code.module.symbols.symbols.items()
        if symbol.origin is ex.Origin.UNRESOLVED and symbol.module and key not in hidden
    )


def changes_unknown(code: Routine, passed: frozenset[str]) -> bool:
    """Return whether `code` may change a variable of a module that was not found.

    `passed` are variables passed to procedures that change them.
    """
    unknown = unknown_variables(code) - kept_variables(code).keys()
    if not unknown:
        return False
    found, _ = _assigned(code, continuing(code.body, ends_program(code)))
    return not unknown.isdisjoint(found | passed)


def _race(code: Routine, text: str, place: Span, callers: tuple[str, ...]) -> Diagnostic:
    way = ""
    if callers:
        kernel, *between = callers
        through = f" through {listed(between, 'and')}" if between else ""
        way = f", which '{kernel}' calls{through}"
    return Diagnostic(
        "S015",
        f"Threads race in '{code.name}'{way}: {text}.",
        place,
        hint="Make what it changes an argument of the kernel. If threads may share it as it is, use"
        f" the option 'force', or set 'THREAD_SAFE_PROCEDURES = {code.key}' in the settings.",
    )


def ends_program(code: Routine) -> Callable[[un.Line], bool]:
    """Return a function that tests whether a statement ends the program with a log message."""

    def ends(line: un.Line) -> bool:
        if not isinstance(line, un.Call) or not isinstance(line.procedure, ex.Name):
            return False
        symbol = code.symbol(line.procedure.key)
        level = MESSAGE_PROCEDURES.get((symbol.module_key, key_of(symbol.name)))
        return level is not None and any(
            isinstance(arg, ex.Name) and key_of(code.symbol(arg.key).name) == level
            for arg in (one.value if isinstance(one, ex.Keyword) else one for one in line.args)
        )

    return ends


def kept_variables(code: Routine) -> Mapping[str, str]:
    """Return the variables that outlive a call of `code` and are shared by threads, with owners."""
    owners = {**_of_modules(code), **_saved(code)}
    return {name: owners[name] for name in owners.keys() - _of_each_thread(code)}


def _is_switch(code: Routine, name: str, mentioned: Mentioned) -> bool:
    """Return whether only the same constant is stored to `name`, and no code reads it."""
    return _stores_one_constant(code, name) and not mentioned(code, _original(code, name))


def _stores_one_constant(code: Routine, name: str) -> bool:
    """Return whether the only accesses of `code` to `name` store one constant."""
    constants: set[str] = set()
    for line in walk_lines(code.body):
        match line:
            case un.Assign(ex.Name() as target, value) if target.key == name and ex.is_constant(
                value
            ):
                constants.add(ex.canonical(value))
            case un.Opaque() if name in line.names:
                return False
            case un.Do(variable=ex.Name(key=counter)) if counter == name:
                return False
            case _ if any(name in names_in(expr) for expr in expressions_of(line)):
                return False
    beside = [item.names for item in code.module.procedures if item.name != code.key]
    beside += [item.names for item in (code.internal, *_opaque(code)) if item is not None]
    return len(constants) == 1 and name not in frozenset().union(*beside) | _with_other_names(code)


def _with_other_names(code: Routine) -> frozenset[str]:
    """Return the variables that may be read under another name."""
    declared = (*code.declarations, *code.module.declarations)
    known = [(item.name, item) for item in declared if isinstance(item, un.Declare)]
    known += [(item.key, declaration_of(item)) for item in code.module.variables]
    marks = {"pointer", "target"}
    pointed = keys_of(name for name, item in known if marks & item.words)
    return pointed.union(*_joined(code.module.declarations))


def _original(code: Routine, name: str) -> str:
    """Return the name of a variable in the module that declares it."""
    for _, item in imports_of(code):
        if item.key == name:
            return item.original_key
    return name


def _saved(code: Routine) -> Mapping[str, str]:
    """Return the saved local variables."""
    all_saved = any(_ALL_SAVED.match(item.text) for item in _opaque(code))
    saved = {
        name
        for item in _opaque(code)
        if _SAVED.match(item.text) or _INITIAL.match(item.text)
        for name in item.names
    }
    for item in code.declarations:
        if not isinstance(item, un.Declare) or not _is_variable(item):
            continue
        if all_saved or _says_save(item) or item.value is not None:
            saved.add(item.key)
    saved |= _sharing_memory(code.declarations, saved)
    return dict.fromkeys(saved, "which it saves")


def _sharing_memory(lines: Iterable[object], names: Collection[str]) -> frozenset[str]:
    """Return `names` and all variables that share their memory by `equivalence`.

    All variables in one `equivalence` statement count as one memory, even in separate lists.
    """
    joined = _joined(lines)
    found = frozenset(names)
    for _ in joined:
        found = found.union(*(together for together in joined if together & found))
    return found


def _joined(lines: Iterable[object]) -> list[frozenset[str]]:
    """Return the names in each `equivalence` statement."""
    known = (item for item in lines if isinstance(item, un.Opaque) and _JOINED.match(item.text))
    return [item.names - {"equivalence"} for item in known]


def variables_around(code: Routine) -> frozenset[str]:
    """Return the variables of the enclosing module that `code` can access.

    Python kernels receive them as arguments, so the result is empty for them.
    """
    if code.module.is_python:
        return frozenset()
    declared = {item.key for item in code.declarations if isinstance(item, un.Declare)}
    imported = {name.key for use in code.uses for name in use.names}
    own = {
        item.key
        for item in code.module.declarations
        if isinstance(item, un.Declare) and _is_variable(item)
    }
    return frozenset(own - declared - imported - {*code.dummy_keys})


def _of_modules(code: Routine) -> Mapping[str, str]:
    """Return the module variables that may be changed, with their owners."""
    declared = {item.key for item in code.declarations if isinstance(item, un.Declare)}
    own = {
        item.key: f"a variable of its module '{code.module.name}'"
        for item in code.module.declarations
        if isinstance(item, un.Declare) and _is_variable(item)
    }
    own |= {
        key: f"a variable of its module '{code.module.name}'"
        for key, symbol in code.module.symbols.symbols.items()
        if symbol.origin is ex.Origin.HOST and symbol.sort is ex.Sort.VARIABLE
    }
    known = {item.key: _imported(item.module) for item in code.module.variables}
    imported = {name.key: _imported(use.module) for use, name in imports_of(code)}
    hidden = declared | {*code.dummy_keys}
    found = {**own, **known, **imported}
    return {name: owner for name, owner in found.items() if name not in hidden}


def _imported(module: str) -> str:
    return f"a variable of the module '{module}'"


def _of_each_thread(code: Routine) -> frozenset[str]:
    lists = _OF_EACH_THREAD.findall(code.module.source.text)
    return keys_of(name for text in lists for name in re.findall(r"\w+", text))


def _is_variable(item: un.Declare) -> bool:
    return "parameter" not in item.words


def _says_save(item: un.Declare) -> bool:
    return "save" in item.words


def _opaque(code: Routine) -> Iterator[un.Opaque]:
    return (item for item in code.declarations if isinstance(item, un.Opaque))


# ---------------------------------------------------------------------------- changes


def _changed(code: Routine, lines: Iterable[un.Line]) -> frozenset[str]:
    return _with_targets(code, *_assigned(code, lines))


def _with_targets(code: Routine, found: frozenset[str], written: frozenset[str]) -> frozenset[str]:
    """Return `found` and the possible targets of the names in `written`."""
    behind = names_behind(code)
    return found.union(*(behind.get(name, frozenset()) for name in written))


def _assigned(code: Routine, lines: Iterable[un.Line]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the variables that `lines` change, and those whose values or targets change."""
    says_so = (
        item for item in code.declarations if isinstance(item, un.Declare) and _says_save(item)
    )
    saved = _sharing_memory(code.declarations, {item.key for item in says_so})
    found: set[str] = set()
    written: set[str] = set()
    for line in lines:
        targets = {base_of(target) for target in _targets(line, code)}
        found |= targets
        aims = isinstance(line, un.PointerAssign | un.Nullify | un.Allocate)
        if not aims and not _keeps_targets(line, code):
            written |= targets
        if isinstance(line, un.Call):
            found.update(saved & {base_of(arg) for arg in line.args})
        if isinstance(line, un.Opaque):
            found.update(_set_in(line.text))
        if isinstance(line, un.InputOutput) and names_namelist(line):
            found.update(_of_namelists(code))
    return frozenset(found), frozenset(written)


def _passed(code: Routine) -> Iterator[str]:
    """Yield names passed to user-defined procedures, and pointer targets."""
    for line in walk_lines(code.body):
        if isinstance(line, un.Call):
            yield from map(base_of, line.args)
        if isinstance(line, un.PointerAssign):
            yield base_of(line.value)
        for expr in expressions_of(line):
            for part in ex.walk(expr):
                if isinstance(part, ex.CallFunction) and ex.intrinsic_called(part) is None:
                    yield from map(base_of, part.items)


def _set_in(text: str) -> Iterator[str]:
    """Yield names that unsupported statements assign to or associate."""
    for statement in re.split(r"[;\n]", text):
        if target := _SET.match(statement):
            yield key_of(target[1])
        yield from keys_of(_OTHER_NAME.findall(statement))


def _targets(line: un.Line, code: Routine) -> tuple[ex.Expr, ...]:
    match line:
        case un.Assign(target, _) | un.PointerAssign(target, _):
            return (target,)
        case un.Allocate(items) | un.Deallocate(items):
            return tuple(item for item in items if not _is_template(item))
        case un.Call():
            return tuple(defined_arguments(line, code))
        case un.Nullify(pointers):
            return pointers
        case un.InputOutput():
            unit = unit_of(line)
            written = tuple(written_parts(line))
            return written if is_internal(line, code) else tuple(x for x in written if x != unit)
        case un.Do():
            return (line.variable,)
    return ()


def _keeps_targets(line: un.Line, code: Routine) -> bool:
    """Return whether a statement assigns to a local object, and not through a pointer."""
    target = line.target if isinstance(line, un.Assign) else None
    declared = None if target is None else code.declared(base_of(target))
    if (
        declared is None
        or not isinstance(declared.type, DerivedType)
        or "pointer" in declared.words
    ):
        return False
    typing = Typing(code.symbol, code.structure)
    while isinstance(target, ex.Index | ex.Member):
        part = typing.component(target) if isinstance(target, ex.Member) else declared
        if part is None or "pointer" in part.attributes:
            return False
        target = target.base
    return True


def _is_template(item: ex.Expr) -> bool:
    """Return whether an `allocate` option reads its value (`source=`, `mold=`)."""
    return isinstance(item, ex.Keyword) and item.key in ("source", "mold")


def _of_namelists(code: Routine) -> frozenset[str]:
    """Return the names of variables that a namelist may contain."""
    items = (*code.declarations, *code.module.declarations)
    found = (item for item in items if isinstance(item, un.Opaque) and "namelist" in item.names)
    return frozenset[str]().union(*(item.names for item in found))
