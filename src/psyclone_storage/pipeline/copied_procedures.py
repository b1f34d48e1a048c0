"""Copies of procedures of other modules, as text for the module that calls them.

The text is the author's, with a new name and imports of everything that the procedure sees in its
module. A procedure is not copied if a name or an operator could denote something else in the other
module, if it has saved variables, internal procedures or blocks, or if something that it uses is
private. All names must be found: other names in a `call` are external procedures.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from psyclone_storage.base.records import dataclass
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.intrinsic_modules import INTRINSIC_MODULES
from psyclone_storage.ir.intrinsics import PROCEDURES
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.parsed import ScopeKind
from psyclone_storage.ir.routine import ProcedureCopy, Routine
from psyclone_storage.ir.symbols import ModuleSymbols
from psyclone_storage.ir.types import DerivedType
from psyclone_storage.ir.unit import Declare, Opaque, Use
from psyclone_storage.languages.fortran.parse.module_symbols import read_scope_symbols
from psyclone_storage.languages.fortran.parse.statements import scan
from psyclone_storage.languages.fortran.parse.syntax_tree import read_file
from psyclone_storage.languages.fortran.parse.trivia import words_in
from psyclone_storage.languages.sources.module_finder import ModuleFinder

_KEPT = regex(r"\s*(?:save|data|entry|include|#)|.*\bsave\b|.*::.*=", re.IGNORECASE)
_INITIAL = regex(r"\s*(?:parameter\b|.*\bparameter\b.*::)", re.IGNORECASE)
_STATIC = regex(
    r"(?:save|entry)\b(?!\s*[=(%])|data\b(?!\s*[=%]).*/|.*\bsave\b.*::"
    r"|(?:integer|real|double|complex|logical|character|type)\b[^=]*/[^=]*/\s*$",
    re.IGNORECASE,
)
_BLOCK = regex(r"(?:\w+\s*:\s*)?block\s*$", re.IGNORECASE)
_PREPROCESSED = regex(r"^[ \t]*(?:#|include\b|!\$[ \t&])", re.IGNORECASE | re.MULTILINE)
_INCLUDE = regex(r"^[ \t]*(?:#[ \t]*)?include\b", re.IGNORECASE | re.MULTILINE)
_MACRO = regex(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
_OPERATOR = regex(
    r"^[^!\n]*\b(?:(?:operator|assignment)[\s&]*\(|(?:read|write)[\s&]*\([\s&]*(?:un)?formatted\b)",
    re.IGNORECASE | re.MULTILINE,
)
_DOTTED = regex(r"\.\s*([a-z]+)\s*\.", re.IGNORECASE)
_OPERATORS = frozenset("and or not eqv neqv eq ne lt le gt ge true false".split())
_STRING = regex(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"")
_CALLED = regex(r"\bcall\s+([a-z]\w*)", re.IGNORECASE)
_LABELLED = regex(r"^\s*([a-z]\w*)\s*:(?!:)|[(,]\s*([a-z]\w*)\s*=>", re.IGNORECASE)
_SELECTED = regex(
    r"%\s*[a-z]\w*|[(,]\s*[a-z]\w*\s*=(?![=>])|^\s*(?:common|namelist)\s*/\s*\w+\s*/",
    re.IGNORECASE,
)
_KEYWORDS = frozenset(
    """allocatable allocate associate asynchronous backspace call case character class close common
    complex concurrent contiguous continue critical cycle data deallocate default dimension do
    double elemental else elseif elsewhere end endassociate enddo endfile endforall endfunction
    endif endselect endsubroutine endwhere equivalence error exit external flush forall format
    function go goto if implicit import impure in inout inquire integer intent intrinsic is
    logical namelist none non_intrinsic nullify only open optional out parameter pointer print
    procedure pure read result return rewind select stop subroutine target then to type use value
    volatile wait where while write""".split()
)
_PRIVATE_PART = regex(r"\btype\b.*\bprivate\b", re.IGNORECASE | re.DOTALL)


class CopyError(Exception):
    """A procedure cannot be copied; the text is the reason."""


@dataclass(frozen=True, slots=True)
class _Original:
    """A procedure with its module, and the words in its statements."""

    unit: Routine
    module: Routine
    scope: ModuleSymbols
    own: ModuleSymbols
    source: SourceText
    text: str
    words: frozenset[str]


def copied_procedure(
    finder: ModuleFinder, into: SourceText, home: str, module: str, name: str
) -> ProcedureCopy | str:
    """Return the copy of a procedure for the module `home` in a file, or a reason against it."""
    try:
        original = _found(finder, into, module, name)
        _check_self_contained(original)
        _check_texts(original, into)
        _check_types(original)
        _check_operators(finder, original, home)
        seen = dict(_seen(finder, original))
        _check_words(finder, original, seen)
        _check_not_hidden(finder, original, seen, home)
    except CopyError as error:
        return str(error)
    return _copy(original, seen)


def _found(finder: ModuleFinder, into: SourceText, module: str, name: str) -> _Original:
    source, scope = finder.source_of(module), finder.module(module)
    if source is None or scope is None:
        raise CopyError(f"the module '{module}' was not found")
    if source.written is not None or into.written is not None:
        raise CopyError("a file has fixed form")
    units = (one for one in read_file(source).every_unit() if one.key == key_of(module))
    around = next((one for one in units if one.kind is ScopeKind.MODULE), None)
    inside = () if around is None else around.procedures
    unit = next((one for one in inside if one.key == key_of(name)), None)
    if around is None or unit is None or not (unit.place and unit.end and unit.extent):
        raise CopyError(f"'{name}' is no procedure in the module '{module}'")
    text = source.text[unit.extent.start : unit.extent.stop]
    words = (words_in(one.text) for one in scan(SourceText("", text)))
    own = read_scope_symbols(source).get(unit.place.start)
    if own is None or _PREPROCESSED.search(text):
        raise CopyError(f"the preprocessor may change '{name}'")
    return _Original(unit, around, scope, own, source, text, frozenset().union(*words))


def _check_self_contained(original: _Original) -> None:
    """Check that a copy has no state, and no other meaning because of its name or typing."""
    unit, name = original.unit, original.unit.name
    prefix = key_of(f"{unit.prefix} {unit.suffix}")
    if "recursive" in prefix.split() or "module" in prefix.split() or "bind" in prefix:
        raise CopyError(f"'{name}' is recursive, separate or has a binding label")
    texts = [one.text for one in scan(SourceText("", _inside(unit)))]
    own = rf"\b{name}\s*\(" if _is_own_result(unit) else rf"\b{name}\b"
    if any(re.search(own, one, re.IGNORECASE) for one in texts):
        raise CopyError(f"'{name}' may call itself")
    if unit.contains is not None or unit.contained or any(map(_BLOCK.match, texts)):
        raise CopyError(f"'{name}' has internal procedures or blocks")
    for item in unit.declarations:
        if isinstance(item, Declare):
            is_kept = item.value is not None and "parameter" not in item.words
            if is_kept or "save" in item.words:
                raise CopyError(f"'{item.name}' of '{name}' keeps its value between calls")
        elif isinstance(item, Opaque) and _KEPT.match(item.text) and not _INITIAL.match(item.text):
            raise CopyError(f"'{item.text.splitlines()[0]}' of '{name}' is not understood")
    for one in filter(_STATIC.match, texts):
        raise CopyError(f"'{one}' of '{name}' cannot be in a copy")
    declared = (*unit.declarations, *original.module.declarations)
    implicit = [one.text for one in declared if isinstance(one, Opaque)]
    if not any(re.match(r"implicit\s+none\b", one, re.IGNORECASE) for one in implicit):
        raise CopyError(f"'{name}' has implicit types")


def _is_own_result(unit: Routine) -> bool:
    """Return whether a function's result has the name of the function."""
    return unit.kind is ScopeKind.FUNCTION and key_of(unit.result or unit.name) == unit.key


def _inside(unit: Routine) -> str:
    """Return the text between the first and the last statement of a procedure."""
    assert unit.place is not None
    assert unit.end is not None
    return unit.place.source.text[unit.place.stop : unit.end.start]


def _check_texts(original: _Original, into: SourceText) -> None:
    """Check that included files and macros do not change names of a copy."""
    for source in (original.source, into):
        if _INCLUDE.search(source.text):
            raise CopyError(f"'{source.name}' includes files, which may declare any name")
        for macro in _MACRO.findall(source.text):
            if key_of(macro) in original.words:
                raise CopyError(f"'{macro}' is a macro in '{source.name}'")


def _check_types(original: _Original) -> None:
    """Check that components of derived types are accessible elsewhere."""
    texts = [one.text for one in original.module.declarations if isinstance(one, Opaque)]
    symbols = original.own.symbols.values()
    has_types = "%" in _inside(original.unit) or any(
        isinstance(one.type, DerivedType) for one in symbols
    )
    if has_types and any(map(_PRIVATE_PART.search, texts)):
        raise CopyError(f"types of '{original.module.name}' have private components")


@lru_cache(maxsize=256)
def _has_operators(source: SourceText) -> bool:
    """Return whether a file may define or import operators or assignments."""
    return _OPERATOR.search(source.text) is not None


def _check_operators(finder: ModuleFinder, original: _Original, home: str) -> None:
    """Check that neither module, nor one that it uses, defines operators or assignments.

    Modules that are not found are no concern here: if they are imported without `only`, names of
    the procedure are unknown.
    """
    modules = list(dict.fromkeys((original.module.key, key_of(home))))
    for module in modules:
        source, scope = finder.source_of(module), finder.module(module)
        if source is not None and _has_operators(source):
            raise CopyError(f"'{module}' defines operators or assignments, or imports them")
        used = () if scope is None else scope.uses
        modules += [key for one in used if (key := key_of(one.module)) not in modules]


def _seen(finder: ModuleFinder, original: _Original) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the words that denote entities of the module, with the module and name of each."""
    unit, own, scope = original.unit, original.own, original.scope
    local = {*own.symbols, *unit.dummy_keys, unit.key, key_of(unit.result)}
    for word in sorted(original.words - local):
        if _is_used(finder, own.uses, word):
            continue
        if word in scope.symbols:
            symbol = scope.symbols[word]
            if scope.hidden(word) or "protected" in symbol.words:
                raise CopyError(f"'{word}' is private in '{scope.name}', or protected")
            yield word, (scope.name, symbol.name)
        elif _is_used(finder, scope.uses, word):
            found = finder.imported(scope.uses, word)
            assert found is not None
            if "protected" in found.words:
                raise CopyError(f"'{word}' is protected")
            yield word, (found.module, found.name)


def _is_used(finder: ModuleFinder, uses: Iterable[Use], word: str) -> bool:
    """Return whether imports give a name.

    Raises:
        CopyError: it is unknown.
    """
    found = finder.imported(uses, word)
    if found is None:
        return False
    if not found.is_resolved:
        raise CopyError(f"whether '{found.module}' has a '{word}' is not known")
    return True


def _check_words(
    finder: ModuleFinder, original: _Original, seen: Mapping[str, tuple[str, str]]
) -> None:
    """Check that all names in the statements of a procedure are known."""
    unit, own = original.unit, original.own
    known = {*own.symbols, *unit.dummy_keys, unit.key, key_of(unit.result), *seen, *PROCEDURES}
    known |= {word for word in original.words if _is_used(finder, own.uses, word)}
    known |= {key_of(name) for one in own.uses for name in (one.module, *_originals(one))}
    labels = set[str]()
    for statement in scan(SourceText("", original.text)):
        text = _STRING.sub(" ", statement.text)
        for word in map(key_of, _DOTTED.findall(text)):
            if word not in _OPERATORS:
                raise CopyError(f"'{unit.name}' uses the operator '.{word}.'")
        for word in map(key_of, _CALLED.findall(text)):
            if word not in known:
                raise CopyError(f"'{word}' may be an external procedure")
        labels |= {key_of(one) for pair in _LABELLED.findall(text) for one in pair if one}
        unknown = words_in(_SELECTED.sub("(", text)) - known - labels - _KEYWORDS
        if unknown:
            raise CopyError(f"what '{min(unknown)}' of '{unit.name}' denotes is not known")


def _originals(use: Use) -> Iterator[str]:
    """Yield the names in an import."""
    for name in use.names:
        yield from (name.local, name.original)


def _check_not_hidden(
    finder: ModuleFinder, original: _Original, seen: Mapping[str, tuple[str, str]], home: str
) -> None:
    """Check that intrinsic procedures are the same in the other module."""
    scope = finder.module(home)
    if scope is None:
        raise CopyError(f"the module '{home}' was not found")
    for word in sorted(original.words & PROCEDURES):
        if word in seen or word in original.own.symbols:
            continue
        if word in scope.symbols or _is_used(finder, scope.uses, word):
            raise CopyError(f"'{word}' may be another name in '{home}'")


def _copy(original: _Original, seen: Mapping[str, tuple[str, str]]) -> ProcedureCopy:
    unit = original.unit
    lines: list[str] = []
    for word, (module, name) in seen.items():
        nature = ", intrinsic ::" if key_of(module) in INTRINSIC_MODULES else ""
        item = word if word == key_of(name) else f"{word} => {name}"
        lines.append(f"use{nature} {module}, only: {item}")
    opening = unit.opening
    at = re.search(rf"\b(?:subroutine|function)\s+({unit.name})\b", opening, re.IGNORECASE)
    assert at is not None
    result = f" result({unit.name})" if _is_own_result(unit) else ""
    return ProcedureCopy(
        unit.name,
        (opening[: at.start(1)], opening[at.end(1) :] + result),
        tuple(lines),
        _inside(unit),
        unit.kind.value,
    )
