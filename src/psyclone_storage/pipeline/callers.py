"""Calls of a procedure in other files, by routines that may run it on several threads.

A routine with directives may do so, and so may one that it calls. A name that is not resolved may
be the procedure. Imports under other names and type-bound procedures are followed. Not followed are
generic interfaces of other modules, procedure pointers, procedures passed as arguments, calls in
included files and in macros, and procedures outside of the indexed files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import expressions_of, place_of_line, walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.languages.fortran.parse.linked_files import link_file
from psyclone_storage.languages.fortran.parse.syntax_tree import read_file
from psyclone_storage.languages.sources.module_finder import ModuleFinder

_DIRECTIVE = regex(r"^[ \t]*[!c*]\$(?:omp|acc)\b", re.IGNORECASE | re.MULTILINE)
_BINDING = regex(r"\bprocedure\b[^:\n]*::[ \t]*(?P<names>[^!\n]*)", re.IGNORECASE)


@dataclass(slots=True)
class ThreadedCalls:
    """Search for calls of procedures of one file in all other files of an index.

    `found` are the procedures that are called, also through others, by module and name; `words` are
    the names of these, of their imports and of their bindings.
    """

    finder: ModuleFinder
    own: SourceText
    found: set[tuple[str, str]]
    words: set[str] = field(default_factory=set)
    _linked: dict[Path, tuple[tuple[Routine, str], ...]] = field(default_factory=dict)

    def first(self) -> Span | None:
        """Return the first call in a routine with directives, or None."""
        texts = dict(self._others())
        if not any(map(_DIRECTIVE.search, texts.values())):
            return None
        self._note_words(self.own.text, {name for _, name in self.found})
        while True:
            known = len(self.found), len(self.words)
            word = re.compile(rf"\b(?:{'|'.join(sorted(self.words))})\b", re.IGNORECASE)
            for path, text in texts.items():
                if word.search(text) and (place := self._in_file(path, text)):
                    return place
            if (len(self.found), len(self.words)) == known:
                return None

    def _others(self) -> Iterator[tuple[Path, str]]:
        """Yield the other files, with their texts."""
        for path in self.finder.index.paths:
            if str(path) != self.own.name:
                try:
                    yield path, self.finder.index.texts.read(path).text
                except CompileError:
                    continue

    def _note_words(self, text: str, names: set[str]) -> None:
        """Add names of procedures, and those of the bindings of types to them in a text."""
        self.words |= names
        for found in _BINDING.finditer(text):
            for item in key_of(found["names"]).split(","):
                binding, _, target = map(str.strip, item.partition("=>"))
                if (target or binding) in names and binding.isidentifier():
                    self.words.add(binding)

    def _in_file(self, path: Path, text: str) -> Span | None:
        units = self._units(path)
        renamed = (name for unit, _ in units for use in unit.uses for name in use.names)
        words = {key_of(one.local) for one in renamed if key_of(one.original) in self.words}
        self._note_words(text, self.words | words)
        for unit, home in units:
            key = (home, unit.key)
            place = None if key in self.found else self._call_in(unit, home)
            if place is None:
                continue
            if any(map(_is_directive, walk_lines(unit.body))):
                return place
            self.found.add(key)
            self._note_words(text, {unit.key})
        return None

    def _units(self, path: Path) -> tuple[tuple[Routine, str], ...]:
        """Return the units of a file with the names of their modules."""
        if path not in self._linked:
            source = self.finder.index.texts.read(path)
            file = link_file(read_file(source), self.finder.within(source))
            self._linked[path] = tuple(
                (inner, key_of(inner.module.name)) for inner in file.every_unit()
            )
        return self._linked[path]

    def _call_in(self, unit: Routine, home: str) -> Span | None:
        """Return the first statement of a unit that may call one of the procedures."""
        for line in walk_lines(unit.body):
            names = line.names if isinstance(line, un.Opaque) else ()
            parts = (part for expr in expressions_of(line) for part in ex.walk(expr))
            if self.words.intersection(names) or any(self._is_called(one, home) for one in parts):
                return place_of_line(line)
        return None

    def _is_called(self, part: ex.Expr, home: str) -> bool:
        if isinstance(part, ex.Member):
            return part.key in self.words
        if not isinstance(part, ex.Name):
            return False
        symbol = part.symbol
        if symbol is None or not symbol.is_resolved:
            return part.key in self.words
        return (symbol.module_key or home, key_of(symbol.name)) in self.found


def _is_directive(line: un.Line) -> bool:
    """Return whether a line is a directive that may start threads."""
    if isinstance(line, un.DirectiveLine):
        return key_of(line.text).startswith(("omp", "acc"))
    return isinstance(line, un.DirectiveBlock)
