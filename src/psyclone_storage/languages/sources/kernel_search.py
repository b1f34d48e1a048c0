"""Kernel source search: an index of directory trees, built once, with lookup by module name.

A module is in the file of its name; names are compared without case. Two files of one name are
an error only if that module is requested. Hidden directories and links to directories are not
searched.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from psyclone_storage.base.diagnostic import CompileError, Diagnostic, Severity
from psyclone_storage.base.names import did_you_mean, listed
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.languages.sources.files import SourceFiles

# Algorithm files come last: they are taken only where no other file has the name.
_LAST = ".x90"
SUFFIXES = (".f90", ".f03", ".f08", _LAST)
"""What the names of Fortran files end in."""


@dataclass(frozen=True, slots=True)
class SourceIndex:
    """The source files below some directories, by their names in lower case without suffix.

    In `folders` included files are looked for; `beside` are the Fortran files in them, for modules
    that are not below the directories. Paths are plain text, since only a few of thousands are ever
    needed. Results of lookups and reads are cached, so that all callers see the same state of the
    directories. `used` are the files that were read for translations. `suffixes` are what the names
    of the files end in. `unreadable` are folders that could not be read, with the reason.
    """

    directories: tuple[Path, ...]
    files: Mapping[str, tuple[str, ...]]
    folders: tuple[Path, ...] = ()
    beside: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    suffixes: tuple[str, ...] = SUFFIXES
    unreadable: Mapping[str, str] = field(default_factory=dict)
    used: dict[Path, None] = field(default_factory=dict, compare=False, repr=False)
    texts: SourceFiles = field(default_factory=SourceFiles, compare=False, repr=False)
    _answers: dict[str, tuple[Path, ...]] = field(default_factory=dict, compare=False, repr=False)

    def candidates(self, module: str) -> tuple[Path, ...]:
        """Return the files that can hold `module`: different files, `.x90` only if no other.

        Of a path of packages the last name is that of the file.
        """
        name = module.lower().rpartition(".")[2]
        if name not in self.files:
            return ()
        if name not in self._answers:
            self._answers[name] = _different(self.files[name])
        return self._answers[name]

    def module_candidates(self, module: str) -> tuple[Path, ...]:
        """Return the files that can hold a module, those of include folders if there are no others.

        The first of these folders that has one is taken.
        """
        found = self.candidates(module)
        return found or tuple(map(Path, self.beside.get(module.lower(), ())[:1]))

    @property
    def names(self) -> frozenset[str]:
        """The names of all files."""
        return frozenset(self.files).union(self.beside)

    def read(self, path: Path) -> SourceText:
        """Return the text of the file at `path`, which counts as used.

        Raises:
            CompileError: it cannot be read.
        """
        self.used[path] = None
        return self.texts.read(path)


def index_directories(
    directories: tuple[Path, ...],
    folders: tuple[Path, ...] = (),
    suffixes: tuple[str, ...] = SUFFIXES,
) -> SourceIndex:
    """Return the index of all files in and below `directories`, and of those in `folders`.

    Their names end in one of `suffixes`.

    Every directory is read once; one that cannot be read has no files. The caller uses the index
    for all algorithms. Raises `CompileError` for each of `directories` that is not a directory.
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
    return SourceIndex(directories, below, folders, beside, suffixes, unreadable)


def index_with(index: SourceIndex, directory: Path) -> SourceIndex:
    """Return `index` with the files below one more directory, of names that it has not."""
    more = index_directories((directory,), suffixes=index.suffixes)
    return replace(index, files={**more.files, **index.files}, _answers={})


def _files_in(
    folders: Iterable[Path], suffixes: tuple[str, ...], unreadable: dict[str, str]
) -> Mapping[str, tuple[str, ...]]:
    """Return the files in `folders`, but not below them, as compilers look.

    A folder that does not exist has none: it may hold what a build makes later.
    """
    files: dict[str, list[str]] = {}
    for folder in folders:
        for entry in _entries(str(folder), unreadable) if folder.is_dir() else ():
            path = Path(entry.path)
            if path.suffix.lower() in suffixes and _is_file(path):
                files.setdefault(path.stem.lower(), []).append(str(path))
    return {stem: tuple(paths) for stem, paths in files.items()}


def find_kernel(index: SourceIndex, functor: str, module: str, wanted_by: Span) -> Path:
    """Return the file of `module`, which holds the kernel type `functor`.

    Raises `CompileError` at `wanted_by` if there is no such file or more than one.
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
    usual = [path for path in found if path.suffix.lower() != _LAST]
    if len(usual or found) == 1:
        return tuple(usual or found)
    unique: dict[Path, Path] = {}
    for path in usual or found:
        unique.setdefault(path.resolve(), path)
    return tuple(unique.values())


def _source_files(
    directory: str, suffixes: tuple[str, ...], unreadable: dict[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield the name in lower case and the path of each source file, in a fixed order."""
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
                yield stem, entry.path


def _entries(folder: str, unreadable: dict[str, str]) -> list[os.DirEntry[str]]:
    """Return what is in a folder, by name; note why it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        unreadable[folder] = error.strerror or str(error)
        return []


def _is_folder(entry: os.DirEntry[str], *, follow_symlinks: bool = True) -> bool:
    """Return whether an entry is a folder, or a link to one that can be followed."""
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
        f"The directory '{directory}' does not exist.",
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
    if index.suffixes == SUFFIXES:
        return f"'{module}.f90' or '{module}.F90'"
    return f"'{module.rpartition('.')[2]}{index.suffixes[0]}'"
