"""Disk cache of compiled invokes, with the texts of all dependencies as key.

A key contains the sources of the compiler, the settings, the file and position of the invoke, the
text of each kernel with the values of its names, and the kinds of arguments: their types, the types
of their values, and which of them are identical. It is computed before compilation. Key and code
use the same texts, so a file may be edited in between.

Invokes with other dependencies are not cached. These are recipes, which are programs, Fortran
kernels, which use other files, and notebook cells, whose names depend on the process. Failures are
not cached either. A cached invoke can be executed, but has no schedule, so that programs that
explain their invokes do not use the cache.
"""

from __future__ import annotations

import marshal
import os
import warnings
from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path
from types import CodeType
from typing import Any

from psyclone_storage.base.cache import Cache
from psyclone_storage.base.cache_folders import RESULTS_VARIABLE, results_folder
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.digest import digest_of
from psyclone_storage.base.fingerprint import tool_digest
from psyclone_storage.base.records import dataclass
from psyclone_storage.jit.session import JitSession
from psyclone_storage.jit.types import (
    ArgumentKind,
    CompiledInvoke,
    JitOptions,
    LiveCall,
    LiveKernel,
    argument_kind,
    load_routine,
    read_settings_files,
)
from psyclone_storage.languages.python.parse.closure import CallLocation

JitInvoke = tuple[Sequence[LiveCall], str, CallLocation, JitOptions]
"""Calls, the label of their invoke, its call site, and options."""

UNUSED = ("cli", "driver", "embedded", "storage", "tools")
"""Subpackages that neither the compiler imports nor compiled invokes call."""
MODULES = {"gocean": "psyclone_storage.gocean", "lfric": "psyclone_storage.lfric"}


@dataclass(frozen=True, slots=True)
class DiskEntry:
    """Location of an invoke in the disk cache."""

    cache: Cache
    key: str

    def load(self, code: CodeType) -> CompiledInvoke | None:
        """Return the invoke in `code` compiled by an earlier program, or None if not cached."""
        data = self.cache.find(self.key)
        self._warn_of_ignored()
        if data is None:
            return None
        try:
            module, name, text, other_texts, order, constants, equal = marshal.loads(data)
            routine = load_routine(module, name, text, other_texts)
        except (ValueError, EOFError, TypeError):
            return None
        return CompiledInvoke(routine, order, None, code, constants, equal)

    def store(self, made: CompiledInvoke) -> None:
        """Store a compiled invoke for later programs."""
        build = made.build
        if build is None:
            return
        entry = (build.program.name, build.program.invokes[0].name, build.psy_text, build.beside,
                 made.order, made.constants, made.equal)  # fmt: skip
        try:
            self.cache.keep(self.key, marshal.dumps(entry))
        except ValueError:
            return
        self._warn_of_ignored()

    def _warn_of_ignored(self) -> None:
        """Warn about files that the cache ignores; Python shows each warning once."""
        for reason in self.cache.ignored:
            warnings.warn(
                f"Cached invokes are ignored, as they may be those of other users: {reason}. "
                f"Set {RESULTS_VARIABLE} to a folder that only you can write to.",
                RuntimeWarning,
                stacklevel=2,
            )


def find_entry(session: JitSession, invoke: JitInvoke, *, apart: bool) -> DiskEntry | None:
    """Return the cache entry of an invoke, or None if it has dependencies outside the key."""
    calls, label, site, options = invoke
    folder, file = results_folder(os.environ), site.code.co_filename
    if folder is None or options.script or options.explain or not Path(file).is_file():
        return None
    cache = session.once(Cache, folder)
    common = session.once(_digest_of_options, session, cache, options)
    try:
        kernels = list(_kernels(session, calls, MODULES[options.api]))
        arguments = list(_arguments(calls))
    except Exception:  # noqa: BLE001  # pylint: disable=broad-exception-caught
        # A function may have no text; an argument may do anything when it is inspected.
        return None
    if not common or None in kernels:
        return None
    text = digest_of(site.text)
    about = (common, apart, label, file, text, site.position, kernels, arguments)
    return DiskEntry(cache, digest_of(ascii(about)))


def _digest_of_options(session: JitSession, cache: Cache, options: JitOptions) -> str:
    """Return the digest of package version, settings and options, or '' if one is unknown."""
    try:
        settings = session.once(read_settings_files, options)
    except CompileError:
        return ""
    texts = [(str(file), text) for file, text in settings.items()]
    tool = tool_digest(cache, excluded=UNUSED)
    said = (options.api, options.target, options.distributed, options.config_opts,
            options.directories, options.profile)  # fmt: skip
    return digest_of(ascii((tool, texts, said))) if tool else ""


def _kernels(session: JitSession, calls: Sequence[LiveCall], module: str) -> Iterator[Hashable]:
    """Yield the dependencies of each kernel; a repeated kernel is represented by a number.

    A kernel with unknown dependencies is represented by None. Any exception from reading a function
    is raised.
    """
    numbers: dict[object, int] = {}
    for number, call in enumerate(calls):
        first = numbers.setdefault(call.kernel, number)
        yield first if first != number else _kernel(session, call.kernel, module)


def _kernel(session: JitSession, kernel: LiveKernel, module: str) -> Hashable:
    function = getattr(kernel, "function", None)
    if function is None:
        return None if getattr(kernel, "file", None) is not None else kernel.name
    resolved = session.functions.resolve(function, module)
    numbers = {one.function: number for number, one in enumerate(resolved)}
    texts = []
    for one in resolved:
        read = one.text
        if read.odd:
            return None
        calls = [(name, numbers.get(called)) for name, called in one.calls]
        texts.append((read.file, read.first, read.text, read.name, read.module, read.around,
                      read.statements, read.defaults, read.wraps, tuple(calls)))  # fmt: skip
    return tuple(texts)


def _arguments(calls: Sequence[LiveCall]) -> Iterator[Hashable]:
    """Yield for each call the types and labels of its arguments, and which are identical.

    Any exception from inspecting an argument is raised.
    """
    first: dict[int, int] = {}

    def one(value: Any) -> Hashable:
        kind = type(value)
        is_number = argument_kind(value.__class__) is ArgumentKind.NUMBER
        number = -1 if is_number else first.setdefault(id(value), len(first))
        words = str(getattr(value, "label", "")), str(getattr(value, "dtype", ""))
        return number, kind.__module__, kind.__qualname__, *words

    for call in calls:
        yield tuple([
            (one(value), *map(one, value))
            if argument_kind(value.__class__) is ArgumentKind.SEQUENCE
            else one(value)
            for value in call.args
        ])  # fmt: skip
