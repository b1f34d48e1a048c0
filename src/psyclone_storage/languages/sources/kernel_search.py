"""Index of source files in directory trees, built once, with lookup by module name.

The file of a module has the module's name, ignoring case. Two files with the same name are an error
only if that module is requested. Hidden directories and links to directories are not searched.

For files without an API, modules are also found in files with other names. All files are searched
for them when such a module is first needed. If several files with different contents define the
module, it is not found.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from psyclone_storage.base.diagnostic import CompileError, Diagnostic, Severity
from psyclone_storage.base.names import did_you_mean, listed
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.ir.intrinsic_modules import INTRINSIC_MODULES
from psyclone_storage.languages.fortran.parse.fixed_form import (
    FIXED_SUFFIXES,
    fixed_source,
    is_fixed_form,
)
from psyclone_storage.languages.sources.files import SourceFiles
from psyclone_storage.languages.sources.module_names import defined_modules

# Algorithms and fixed form come last: they are taken only where no other file has the name.
_LAST = (".x90", *FIXED_SUFFIXES)
SUFFIXES = (".f90", ".f03", ".f08", ".x90")
"""What the names of Fortran files end in."""
PACKAGE_FILE = "__init__"
"""The name, without suffix, of the file that is the module of a folder in Python."""


@dataclass(frozen=True, slots=True)
class SourceIndex:
    """Source files in directory trees, by lower-case name without suffix.

    - `folders`: folders for included files.

    - `beside`: Fortran files in these folders, for modules that are not in the directory trees.

    - `suffixes`: suffixes of source file names.

    - `unreadable`: folders that could not be read, with the reason.

    - `by_content`: find modules in files with other names.

    - `given`: files of modules that have priority over all others.

    - `used`: files that were read.

    - `several`: modules that were found in files with different contents, whatever their names.

    Paths are stored as text, because only a few of thousands are needed. Results are cached, so
    that all callers use the same state of the directories.
    """

    directories: tuple[Path, ...]
    files: Mapping[str, tuple[str, ...]]
    folders: tuple[Path, ...] = ()
    beside: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    suffixes: tuple[str, ...] = SUFFIXES
    unreadable: Mapping[str, str] = field(default_factory=dict)
    by_content: bool = False
    given: Mapping[str, Path] = field(default_factory=dict)
    used: dict[Path, None] = field(default_factory=dict, compare=False, repr=False)
    several: set[str] = field(default_factory=set, compare=False, repr=False)
    texts: SourceFiles = field(default_factory=SourceFiles, compare=False, repr=False)
    _fixed: dict[Path, SourceText] = field(default_factory=dict, compare=False, repr=False)
    _answers: dict[str, tuple[Path, ...]] = field(default_factory=dict, compare=False, repr=False)
    _defining: dict[str, list[Path]] = field(default_factory=dict, compare=False, repr=False)
    _modules: dict[str, tuple[Path, ...]] = field(default_factory=dict, compare=False, repr=False)

    def candidates(self, module: str) -> tuple[Path, ...]:
        """Return the files that may define `module`; `.x90` files only if there are no others.

        For a dotted name, the last part is the name of the file. Files with equal content count
        once.
        """
        name = module.lower().rpartition(".")[2]
        if name not in self.files:
            return ()
        if name not in self._answers:
            self._answers[name] = _different(self.files[name])
        return self._answers[name]

    def module_candidates(self, module: str) -> tuple[Path, ...]:
        """Return the files that may define a module, searching include folders last.

        Only the first include folder with such a file is used. If no file with the name of the
        module defines it, the only other file that does is returned, too.
        """
        name = module.lower()
        if name not in self._modules:
            self._modules[name] = self._module_files(name)
        return self._modules[name]

    def _module_files(self, name: str) -> tuple[Path, ...]:
        if name in self.given:
            return (self.given[name],)
        found = self.candidates(name) or tuple(map(Path, self.beside.get(name, ())[:1]))
        if not self.by_content or any(name in self._defined(path) for path in found):
            return found
        others = self._all_defining().get(name, ())
        texts = {self.texts.read(path).text for path in others}
        return (*found, *others[:1]) if len(texts) == 1 else found

    def files_defining(self, module: str) -> list[Path]:
        """Return the files with different contents that define a module."""
        texts: dict[str, Path] = {}
        for path in self.module_candidates(module):
            text = self.read(path).text
            if module in defined_modules(text):
                texts.setdefault(text, path)
        return list(texts.values())

    def is_defined_once(self, module: str) -> bool:
        """Return whether no two files with different contents define a module.

        The contents of all files are searched.
        """
        paths = () if module in self.given else self._all_defining().get(module, ())
        if len(paths) > 1 and len({self.texts.read(path).text for path in paths}) > 1:
            self.several.add(module)
        return module not in self.several

    def known(self, words: set[str], used: set[str]) -> set[str]:
        """Return those of `words` that may be modules in the files.

        The contents of all files are searched only if one of `used` has no file with its name.
        """
        names = self.names
        found = words.intersection(names)
        if self.by_content and not used.difference(INTRINSIC_MODULES) <= names:
            found |= words.intersection(self._all_defining())
        return found

    def _defined(self, path: Path) -> frozenset[str]:
        """Return the modules in the file at `path`, none if it cannot be read."""
        try:
            text = self.texts.read(path).text
        except CompileError:
            return frozenset()
        return frozenset(defined_modules(text))

    def _all_defining(self) -> Mapping[str, Sequence[Path]]:
        """Return the files that define each module, of all files."""
        if not self._defining:
            self._defining[""] = []
            for path in self.paths:
                with suppress(OSError):
                    for name in defined_modules(path.read_bytes().decode("latin-1")):
                        self._defining.setdefault(name, []).append(path)
        return self._defining

    @property
    def paths(self) -> tuple[Path, ...]:
        """All files."""
        every = (one for files in (self.files, self.beside) for one in files.values())
        return tuple(dict.fromkeys(path for one in every for path in map(Path, one)))

    @property
    def names(self) -> frozenset[str]:
        """Names of all files."""
        return frozenset(self.files).union(self.beside, self.given)

    def read(self, path: Path) -> SourceText:
        """Return the text of the file at `path`, and record the file as used.

        The text of a file in fixed form is that which readers of free form understand.

        Raises:
            CompileError: the file cannot be read.
        """
        self.used[path] = None
        if not is_fixed_form(path.name):
            return self.texts.read(path)
        if path not in self._fixed:
            self._fixed[path] = fixed_source(self.texts.read(path))
        return self._fixed[path]


def index_directories(
    directories: tuple[Path, ...],
    folders: tuple[Path, ...] = (),
    suffixes: tuple[str, ...] = SUFFIXES,
    *,
    by_content: bool = False,
) -> SourceIndex:
    """Return the index of all source files in trees of `directories` and in `folders`.

    File names must end in one of `suffixes`. With `by_content`, modules are also found in files
    with other names. A directory that cannot be read is treated as empty.
    The same index is used for all algorithms.

    Raises:
        CompileError: for each of `directories` that is not a directory.
    """
    missing = [directory for directory in directories if not directory.is_dir()]
    if missing:
        raise CompileError(*map(_missing_directory, missing))
    files: dict[str, list[str]] = {}
    unreadable: dict[str, str] = {}
    for directory in directories:
        for stem, path in _source_files(str(directory), suffixes, unreadable):
            files.setdefault(stem, []).append(path)
    below = {stem: tuple(paths) for stem, paths in files.items()}
    beside = _files_in(folders, suffixes, unreadable)
    return SourceIndex(directories, below, folders, beside, suffixes, unreadable, by_content)


def index_with(index: SourceIndex, directory: Path) -> SourceIndex:
    """Return `index` with the files in another directory tree whose names are new."""
    more = index_directories((directory,), suffixes=index.suffixes)
    return replace(
        index, files={**more.files, **index.files}, _answers={}, _defining={}, _modules={}
    )


def index_with_modules(index: SourceIndex, texts: Mapping[str, SourceText]) -> SourceIndex:
    """Return `index` with modules whose texts are given, which have priority over all files."""
    for source in texts.values():
        index.texts.give(source)
    given = {name: Path(source.name) for name, source in texts.items()}
    return replace(index, given=given, _answers={}, _defining={}, _modules={})


def _files_in(
    folders: Iterable[Path], suffixes: tuple[str, ...], unreadable: dict[str, str]
) -> Mapping[str, tuple[str, ...]]:
    """Return the source files in `folders`, without subfolders.

    A folder that does not exist is treated as empty, because it may be created by a build.
    """
    files: dict[str, list[str]] = {}
    for folder in folders:
        for entry in _entries(str(folder), unreadable) if folder.is_dir() else ():
            path = Path(entry.path)
            if path.suffix.lower() in suffixes and _is_file(path):
                files.setdefault(path.stem.lower(), []).append(str(path))
    return {stem: tuple(paths) for stem, paths in files.items()}


def find_kernel(index: SourceIndex, functor: str, module: str, wanted_by: Span) -> Path:
    """Return the file of `module`, which defines the kernel type `functor`.

    Raises:
        CompileError: at `wanted_by`, there is no such file or more than one.
    """
    found = index.candidates(module)
    if len(found) == 1:
        return found[0]
    if not found:
        raise CompileError(_not_found(index, functor, module, wanted_by))
    paths = listed(sorted(map(str, found)), "and")
    raise CompileError(
        Diagnostic(
            "P032",
            f"The module '{module}' of the kernel '{functor}' could be in {paths}.",
            wanted_by,
            hint="Narrow the directories given by '-d', so that only one of the files is found.",
        )
    )


def _different(files: tuple[str, ...]) -> tuple[Path, ...]:
    found = [Path(path) for path in files]
    usual = [path for path in found if path.suffix.lower() not in _LAST]
    if len(usual or found) == 1:
        return tuple(usual or found)
    unique: dict[Path, Path] = {}
    for path in usual or found:
        unique.setdefault(path.resolve(), path)
    return tuple(unique.values())


def _source_files(
    directory: str, suffixes: tuple[str, ...], unreadable: dict[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield the lower-case name and the path of each source file, in a fixed order."""
    stack = [directory]
    while stack:
        found = _entries(stack.pop(), unreadable)
        stack += [
            entry.path
            for entry in reversed(found)
            if not entry.name.startswith(".") and _is_folder(entry, follow_symlinks=False)
        ]
        for entry in found:
            stem, dot, suffix = entry.name.lower().rpartition(".")
            if dot + suffix in suffixes and not _is_folder(entry):
                yield (stem if stem != PACKAGE_FILE else _folder_of(entry)), entry.path


def _folder_of(entry: os.DirEntry[str]) -> str:
    """Return the name of the folder with an entry, which is the module of a Python package."""
    return Path(entry.path).resolve().parent.name.lower()


def _entries(folder: str, unreadable: dict[str, str]) -> list[os.DirEntry[str]]:
    """Return the entries of a folder sorted by name; record an error if it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        unreadable[folder] = error.strerror or str(error)
        return []


def _is_folder(entry: os.DirEntry[str], *, follow_symlinks: bool = True) -> bool:
    """Return whether an entry is a folder, or a valid link to a folder."""
    try:
        return entry.is_dir(follow_symlinks=follow_symlinks)
    except OSError:
        return False


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def check_folders(index: SourceIndex) -> tuple[Diagnostic, ...]:
    """Return a warning for each folder of `index` that could not be read."""
    return tuple(
        Diagnostic(
            "P033",
            f"The folder '{folder}' {_option_of(index, folder)} cannot be read: {reason}.",
            file=folder,
            severity=Severity.WARNING,
        )
        for folder, reason in index.unreadable.items()
    )


def _option_of(index: SourceIndex, folder: str) -> str:
    if Path(folder) in index.directories:
        return "of '-d'"
    above = [str(one) for one in index.directories if Path(folder).is_relative_to(one)]
    return f"below '-d {above[0]}'" if above else "of '-I'"


def _missing_directory(directory: Path) -> Diagnostic:
    siblings: Iterable[str] = ()
    if directory.parent.is_dir():
        siblings = (path.name for path in directory.parent.iterdir() if path.is_dir())
    return Diagnostic(
        "P030",
        f"'{directory}' is not a directory."
        if directory.exists()
        else f"The directory '{directory}' does not exist.",
        file=str(directory),
        hint=did_you_mean(directory.name, siblings),
    )


def _not_found(index: SourceIndex, functor: str, module: str, span: Span) -> Diagnostic:
    places = listed(map(str, index.directories), "and")
    searched = f" below {places}" if places else "; no directory was given by '-d'"
    if index.unreadable:
        searched += f"; {listed(index.unreadable, 'and')} cannot be read"
    return Diagnostic(
        "P031",
        f"The kernel '{functor}' is in module '{module}', but there is no file"
        f" {_files_of(index, module)}{searched}.",
        span,
        hint=did_you_mean(module, index.files),
    )


def _files_of(index: SourceIndex, module: str) -> str:
    if index.suffixes[0] == SUFFIXES[0]:
        return f"'{module}.f90' or '{module}.F90'"
    return f"'{module.rpartition('.')[2]}{index.suffixes[0]}'"
