"""Digest of the files on which the translation of an algorithm depends.

These files are the algorithm, its include files, and all files that may define a module which it
may use. Steps read the code of kernels, so the modules of kernels are also included. The digest
contains the names in a text and the names of existing files. It therefore also changes when a file
is added that was missing before.

The digest may include more files than the compiler reads, but never fewer. This module does not
import the compiler.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.digest import digest_of
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText
from psyclone_storage.config.settings import Settings
from psyclone_storage.languages.fortran.parse.fixed_form import FIXED_SUFFIXES
from psyclone_storage.languages.sources.include_lines import included_file, inclusions
from psyclone_storage.languages.sources.kernel_search import (
    SourceIndex,
    check_folders,
    index_directories,
)
from psyclone_storage.pipeline.request import CompileRequest, suffixes_of

_OTHERS = "".join(chr(code) for code in range(128) if not (chr(code).isalnum() or chr(code) == "_"))
_BLANKS = str.maketrans(_OTHERS, " " * len(_OTHERS))

# A word that is split between two lines, and the name after 'use', across blanks and comments.
# Texts are in lower case, and a pattern starts with plain letters, which is twenty times faster.
_SPLIT = regex(r"&[ \t]*(?:!.*)?\r?\n(?:[ \t]*(?:!.*)?\r?\n)*[ \t]*&")
_NAME = r"\b(?=(?:[\s,:;&(]|[!#].*|\b(?:non_)?intrinsic\b)*([a-z]\w*))"
_USED = (regex(f"use{_NAME}"), regex(f"submodule{_NAME}"))
_NATURES = {"intrinsic", "non_intrinsic"}
_PYTHON = ".py"


@dataclass(frozen=True, slots=True)
class Inputs:
    """Files in directory trees on which translations may depend.

    - `deep`: include the modules of kernels.

    - `beside`: prefer files in the folder of the algorithm.

    - `single`: only one file is translated, which therefore depends on all files that were read.
    """

    index: SourceIndex
    includes: tuple[Path, ...] = ()
    beside: bool = False
    deep: bool = False
    single: bool = False
    _digests: dict[Path, str] = field(default_factory=dict)
    _used: dict[Path, frozenset[str]] = field(default_factory=dict)

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """Warnings for folders that cannot be read."""
        return check_folders(self.index)

    def digest(self, file: Path) -> str | None:
        """Return the digest of all inputs of the translation of `file`.

        The function returns None if a file cannot be read, which the compiler reports, or if the
        translation has searched all files and found a module in several.
        """
        if self.index.several:
            return None
        try:
            facts = tuple(self._facts(file))
        except (CompileError, OSError):
            return None
        return digest_of(ascii(facts))

    def used(self, file: Path) -> tuple[Path, ...]:
        """Return the files read so far on which the translation of `file` depends.

        Files on which only other translated files depend are omitted.
        """
        if self.single:
            return tuple(dict.fromkeys((file, *self.index.used)))
        paths = {path for name in self.modules(file) for path in self._files(name)}
        for path in (file, *paths):
            self._add_included(path, paths)
        return (file, *(path for path in self.index.used if path in paths and path != file))

    def modules(self, file: Path) -> tuple[str, ...]:
        """Return the module names that the translation of `file` may look up."""
        source = self.index.texts.read(file)
        texts = [one.text for one in (source, *self._texts_included(source, set()))]
        words = set[str]().union(*map(_words, texts))
        used = set[str]().union(*map(_names_behind_use, texts))
        waiting = self.index.known(words, used - _NATURES)
        known: set[str] = set()
        while waiting:
            known |= waiting
            paths = [path for name in waiting for path in self._files(name)]
            if not self.deep:
                # Kernels in Python call functions of what they import.
                paths = [path for path in paths if path.suffix == _PYTHON]
            waiting = {name for path in paths for name in self._used_by(path)} - known
        return tuple(sorted(known))

    def _facts(self, file: Path) -> Iterator[object]:
        """Yield the data of the digest, which differ if any input file differs."""
        yield str(file), self._digest(file)
        yield from self._included(self.index.texts.read(file), set())
        folder = file.resolve().parent if self.beside else None
        for name in self.modules(file):
            for path in self._files(name):
                is_near = folder is not None and path.resolve().parent == folder
                yield name, str(path), self._digest(path), is_near
                yield from self._included(self.index.texts.read(path), set()) if self.deep else ()

    def _included(self, source: SourceText, seen: set[Path]) -> Iterator[object]:
        for found in inclusions(source):
            path = included_file(found, self.includes)
            yield found.name, str(path)
            if path is not None and path not in seen:
                seen.add(path)
                yield self._digest(path), str(path.resolve())
                yield from self._included(self.index.texts.read(path), seen)

    def _texts_included(self, source: SourceText, seen: set[Path]) -> Iterator[SourceText]:
        for found in inclusions(source):
            path = included_file(found, self.includes)
            if path is not None and path not in seen:
                seen.add(path)
                yield self.index.texts.read(path)
                yield from self._texts_included(self.index.texts.read(path), seen)

    def _add_included(self, path: Path, paths: set[Path]) -> None:
        """Add the files included by the file at `path`, if that was read."""
        if path not in self.index.used:
            return
        for found in inclusions(self.index.texts.read(path)):
            inner = included_file(found, self.includes)
            if inner is not None and inner not in paths:
                paths.add(inner)
                self._add_included(inner, paths)

    def _files(self, name: str) -> tuple[Path, ...]:
        """Return the files in directory trees and include folders that may define a module."""
        named = (*self.index.candidates(name), *map(Path, self.index.beside.get(name, ())))
        return tuple(dict.fromkeys((*named, *self.index.module_candidates(name))))

    def _digest(self, path: Path) -> str:
        if path not in self._digests:
            self._digests[path] = digest_of(self.index.texts.read(path).text)
        return self._digests[path]

    def _used_by(self, path: Path) -> frozenset[str]:
        if path not in self._used:
            source = self.index.texts.read(path)
            is_python = path.suffix == _PYTHON
            names = (_words if is_python else _names_behind_use)(source.text)
            for inner in self._texts_included(source, set()):
                names |= _names_behind_use(inner.text)
            self._used[path] = frozenset(self.index.known(names, names - _NATURES))
        return self._used[path]


def find_inputs(settings: Settings, request: CompileRequest, *, by_content: bool = False) -> Inputs:
    """Return the files on which compilations of `request` may depend.

    With `by_content`, modules are also found in files with other names and in fixed form.

    Raises:
        CompileError: a directory is missing.
    """
    suffixes = suffixes_of(request) + (FIXED_SUFFIXES if by_content else ())
    asked = (request.script, request.steps, request.profile, settings.thread_safe_procedures)
    return Inputs(
        index_directories(request.directories, request.includes, suffixes, by_content=by_content),
        request.includes,
        request.beside,
        any(asked),
    )


def _words(text: str) -> set[str]:
    """Return all words of a text in lower case, including words split between two lines."""
    return {word for one in _readings(text) for word in one.translate(_BLANKS).split()}


def _names_behind_use(text: str) -> set[str]:
    """Return all names that may denote a module which a text uses or extends."""
    readings = _readings(text)
    found = (one for text in readings for pattern in _USED for one in pattern.finditer(text))
    return _NATURES.union(one[1] for one in found)


def _readings(text: str) -> set[str]:
    """Return variants of a text in lower case: with split words joined, and ASCII only."""
    texts = {text.lower()}
    if not text.isascii():
        texts.add(text.lower().encode("ascii", "replace").decode())
    return texts | {_SPLIT.sub("", one) for one in texts}
