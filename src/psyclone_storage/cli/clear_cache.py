"""The option `--clear-cache`: remove the cached files that this tool has written for this user."""

from __future__ import annotations

import argparse
import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from psyclone_storage.base.cache import Cache
from psyclone_storage.base.cache_folders import cache_folder, libraries_folder, results_folder
from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.digest import SEAL_LENGTH, seal_of
from psyclone_storage.base.regex import regex
from psyclone_storage.base.trusted import UntrustedError, check_folder, check_owned, read_owned
from psyclone_storage.cli.write import ignored_cache

_LIBRARY = regex(r"[0-9a-f]{64}\.so")
_INTERFACES = regex(r"[a-z]\w*-[0-9a-f]{16}")
_COMPILED = (".mod", ".smod", ".o")
_MEGABYTE = 1e6


class ClearCache(argparse.Action):
    """Removes the cached files, reports their number, and ends the command."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """Remove the cached files, and exit."""
        lines, problems = clear_caches()
        sys.stdout.writelines(lines)
        if problems:
            raise CompileError(*problems)
        parser.exit()


def clear_caches() -> tuple[list[str], list[Diagnostic]]:
    """Remove all cached files; return a line about each folder, and the problems.

    A file is removed if it has a name that this tool gives and this user owns it. In a folder that
    the user has chosen, it must also have content that this tool writes.
    """
    try:
        default: Path | None = cache_folder()
    except RuntimeError:
        default = None
    lines: list[str] = []
    problems: list[Diagnostic] = []
    for what, folder, find in (
        ("translations and invokes", results_folder(), _results),
        ("libraries", libraries_folder(), _libraries),
        ("compiled interface files", default, _interfaces),
    ):
        if folder is None:
            continue
        is_default = default is not None and folder.absolute().is_relative_to(default)
        sizes = _remove(find(folder.absolute(), is_default), folder, problems)
        size = sum(sizes) / _MEGABYTE
        lines.append(f"{folder}: removed {len(sizes)} {what} ({size:.1f} MB)\n")
        if is_default:
            with suppress(OSError):
                folder.rmdir()
    return lines, problems


def _remove(files: Iterator[Path], folder: Path, problems: list[Diagnostic]) -> list[int]:
    """Remove files below `folder`, and folders in it that become empty; return the sizes."""
    sizes = []
    parents = set()
    try:
        for file in files:
            try:
                size = file.lstat().st_size
                file.unlink()
            except FileNotFoundError:
                continue
            except OSError as error:
                reason = f"'{file}' cannot be removed: {error.strerror or error}."
                problems.append(Diagnostic("L003", reason, file=str(file)))
                continue
            sizes.append(size)
            parents.add(file.parent)
    except FileNotFoundError:
        return []
    except (OSError, UntrustedError) as error:
        hint = "Remove the folder yourself, or run 'chmod go-w' on it if only you have written it."
        problems.append(ignored_cache(str(error), hint))
    for parent in parents - {folder.absolute()}:
        with suppress(OSError):
            parent.rmdir()
    return sizes


def _results(folder: Path, is_default: bool) -> Iterator[Path]:
    """Yield cached translations and compiled invokes."""
    cache = Cache(folder)
    for entry in cache.entries():
        if _is_own(entry) and (is_default or cache.is_complete(entry)):
            yield entry


def _libraries(folder: Path, is_default: bool) -> Iterator[Path]:
    """Yield cached libraries of generated code and of the Fortran infrastructure."""
    check_folder(folder)
    for path in sorted(folder.iterdir()):
        if _LIBRARY.fullmatch(path.name) and _is_own(path):
            data = b"" if is_default else read_owned(path)
            if is_default or data[-SEAL_LENGTH:] == seal_of(path.name, data[:-SEAL_LENGTH]):
                yield path


def _interfaces(folder: Path, _is_default: bool) -> Iterator[Path]:
    """Yield the compiled interfaces of `--compile`."""
    check_folder(folder)
    for directory in sorted(folder.iterdir()):
        if _INTERFACES.fullmatch(directory.name) and _is_own(directory, stat.S_ISDIR):
            yield from (path for path in directory.iterdir() if path.suffix in _COMPILED)


def _is_own(path: Path, is_kind: Callable[[int], bool] = stat.S_ISREG) -> bool:
    """Return whether only this user can have written a file that is no symbolic link."""
    state = path.lstat()
    with suppress(UntrustedError):
        check_owned(str(path), state, os.geteuid())
        return is_kind(state.st_mode)
    return False
