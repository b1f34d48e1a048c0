"""What invokes of earlier programs became, kept by the texts of all that it depends on.

A key holds the tool, the settings, the file in which an invoke stands and the place there, the text
of each kernel with what the names in it stand for, and what arguments are: their types, those of
their values, and which are one. It is made before anything is compiled, of texts that are read once
for both: so what is found is what would be made, whoever edits a file meanwhile. Not kept is what
depends on more: recipes, which are programs, and kernels in Fortran, which use other files; nor
cells of notebooks, whose names are those of the process, and failures. Found is what can be run,
without a schedule.
"""

from __future__ import annotations

import marshal
import os
import warnings
from collections.abc import Hashable, Iterator, Sequence
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

from psyclone_storage.base.cache import Cache
from psyclone_storage.base.cache_folders import RESULTS_VARIABLE, results_folder
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.digest import digest_of
from psyclone_storage.base.fingerprint import tool_digest
from psyclone_storage.base.records import dataclass
from psyclone_storage.frontend.python.surroundings import (
    CallPlace,
    linked_functions,
)
from psyclone_storage.jit.types import (
    Compiled,
    PassedAs,
    TracedCall,
    TracedKernel,
    TracingRequest,
    loaded_routine,
    passed_as,
    settings_texts,
)

Asked = tuple[Sequence[TracedCall], str, CallPlace, TracingRequest]
"""Calls, the label of their invoke, where it stands, and what is asked for."""

MODULES = {"gocean": "psyclone_storage.gocean", "lfric": "psyclone_storage.lfric"}


@dataclass(frozen=True, slots=True)
class KeptInvoke:
    """What is, or will be, kept of an invoke: its key is made once, before it is compiled."""

    cache: Cache
    key: str

    def find(self, code: CodeType) -> Compiled | None:
        """Return what an invoke in `code` became in an earlier program; None if not known."""
        data = self.cache.find(self.key)
        self._warn_of_ignored()
        if data is None:
            return None
        try:
            module, name, text, beside, order, written, equal = marshal.loads(data)
            routine = loaded_routine(module, name, text, beside)
        except (ValueError, EOFError, TypeError):
            return None
        return Compiled(routine, order, None, code, written, equal)

    def keep(self, made: Compiled) -> None:
        """Keep what an invoke became for later programs."""
        build = made.build
        if build is None:
            return
        entry = (build.program.name, build.program.invokes[0].name, build.psy_text, build.beside,
                 made.order, made.written, made.equal)  # fmt: skip
        try:
            self.cache.keep(self.key, marshal.dumps(entry))
        except ValueError:
            return
        self._warn_of_ignored()

    def _warn_of_ignored(self) -> None:
        """Warn of what the cache ignores; Python shows the same warning once."""
        for reason in self.cache.ignored:
            warnings.warn(
                f"Cached invokes are ignored, as they may be those of other users: {reason}. "
                f"Set {RESULTS_VARIABLE} to a folder that only you can write to.",
                RuntimeWarning,
                stacklevel=2,
            )


def kept_invoke(asked: Asked, *, apart: bool) -> KeptInvoke | None:
    """Return what may be kept of an invoke; None where it depends on more than is known."""
    calls, label, where, request = asked
    place, file = results_folder(os.environ), where.code.co_filename
    if place is None or request.script or not Path(file).is_file():
        return None
    common = _common(str(place), request)
    try:
        kernels = list(_kernels(calls, MODULES[request.api]))
        arguments = list(_arguments(calls))
    except Exception:  # noqa: BLE001  # pylint: disable=broad-exception-caught
        # Functions may have no text; arguments are objects that may do anything when looked at.
        return None
    if not common or None in kernels:
        return None
    text = digest_of(where.text)
    about = (common, apart, label, file, text, where.position, kernels, arguments)
    return KeptInvoke(_cache_in(str(place)), digest_of(ascii(about)))


@cache
def _cache_in(folder: str) -> Cache:
    return Cache(Path(folder))


@cache
def _common(folder: str, asked: TracingRequest) -> str:
    """Return the digest of tool, settings and what is asked for; nothing if one is not known."""
    try:
        texts = [(str(file), text) for file, text in settings_texts(asked).items()]
    except CompileError:
        return ""
    tool = tool_digest(_cache_in(folder))
    said = (asked.api, asked.target, asked.distributed, asked.config_opts, asked.directories)
    return digest_of(ascii((tool, texts, said))) if tool else ""


def _kernels(calls: Sequence[TracedCall], module: str) -> Iterator[Hashable]:
    """Yield what each kernel depends on, of one that was called before its number; None: of more.

    Raises what looking for the text of a function raises.
    """
    numbers: dict[object, int] = {}
    for number, call in enumerate(calls):
        first = numbers.setdefault(call.kernel, number)
        yield first if first != number else _kernel(call.kernel, module)


def _kernel(kernel: TracedKernel, module: str) -> Hashable:
    function = getattr(kernel, "function", None)
    if function is None:
        return None if getattr(kernel, "file", None) is not None else kernel.name
    linked = linked_functions(function, module)
    numbers = {one.function: number for number, one in enumerate(linked)}
    texts = []
    for one in linked:
        read = one.text
        if read.odd:
            return None
        calls = [(name, numbers.get(called)) for name, called in one.calls]
        texts.append((read.file, read.first, read.text, read.name, read.module, read.around,
                      read.statements, read.defaults, read.wraps, tuple(calls)))  # fmt: skip
    return tuple(texts)


def _arguments(calls: Sequence[TracedCall]) -> Iterator[Hashable]:
    """Yield for each call of what types its arguments are, which are one, and their labels.

    Raises what looking at an argument raises.
    """
    first: dict[int, int] = {}

    def one(value: Any) -> Hashable:
        kind = type(value)
        is_number = passed_as(value.__class__) is PassedAs.NUMBER
        number = -1 if is_number else first.setdefault(id(value), len(first))
        words = str(getattr(value, "label", "")), str(getattr(value, "dtype", ""))
        return number, kind.__module__, kind.__qualname__, *words

    for call in calls:
        yield tuple([
            (one(value), *map(one, value)) if passed_as(value.__class__) is PassedAs.SEVERAL
            else one(value)
            for value in call.args
        ])  # fmt: skip
