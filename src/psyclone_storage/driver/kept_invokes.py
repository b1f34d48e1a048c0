"""What invokes of earlier programs became, kept by the texts of all that it depends on.

A key holds the tool, the settings, the file in which an invoke stands and the place there, the text
of each kernel with what the names in it stand for, and what arguments are: their types and which
are one. So what is found is what would be made. Not kept is what depends on more: recipes, which
are programs, and kernels in Fortran, which use other files; nor cells of notebooks, whose names are
those of the process, and failures. Found is what can be run, without a schedule.
"""

from __future__ import annotations

import marshal
import os
import unicodedata
from collections.abc import Hashable, Iterator, Sequence
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

from psyclone_storage.base.cache import Cache
from psyclone_storage.base.cache_folders import results_folder
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.digest import digest_of
from psyclone_storage.base.fingerprint import tool_digest
from psyclone_storage.base.regex import regex
from psyclone_storage.driver.tracing import (
    Compiled,
    PassedAs,
    TracedCall,
    TracedKernel,
    TracingRequest,
    loaded_routine,
    passed_as,
    settings_texts,
)
from psyclone_storage.frontend.python.surroundings import (
    place_of,
    statements_for,
    text_around,
    values_around,
)

Asked = tuple[Sequence[TracedCall], str, FrameType, TracingRequest]
"""Calls, the label of their invoke, where it stands, and what is asked for."""

_MODULES = {"gocean": "psyclone_storage.gocean", "lfric": "psyclone_storage.lfric"}
_WORD = regex(r"[^\W\d]\w*")


def find_kept(asked: Asked, *, apart: bool) -> Compiled | None:
    """Return what an invoke became in an earlier program; None if that is not known."""
    cache_, key = _kept(asked, apart)
    data = cache_.find(key) if cache_ is not None and key else None
    if data is None:
        return None
    try:
        module, name, text, beside, order, written, equal = marshal.loads(data)
        routine = loaded_routine(module, name, text, beside)
    except (ValueError, EOFError, TypeError):
        return None
    return Compiled(routine, order, None, asked[2].f_code, written, equal)


def keep_compiled(made: Compiled, asked: Asked, *, apart: bool) -> None:
    """Keep what an invoke became for later programs, where it depends on nothing else."""
    cache_, key = _kept(asked, apart)
    if cache_ is None or not key or made.build is None:
        return
    build = made.build
    entry = (build.program.name, build.program.invokes[0].name, build.psy_text, build.beside,
             made.order, made.written, made.equal)  # fmt: skip
    try:
        cache_.keep(key, marshal.dumps(entry))
    except ValueError:
        return


def _kept(asked: Asked, apart: bool) -> tuple[Cache | None, str]:
    """Return where results are kept and the key of one; nothing where it is not kept."""
    calls, label, frame, request = asked
    place = results_folder(os.environ)
    if place is None or request.script or not Path(frame.f_code.co_filename).is_file():
        return None, ""
    common = _common(str(place), request)
    try:
        kernels = list(_kernels(calls, _MODULES[request.api]))
    except Exception:  # noqa: BLE001  # pylint: disable=broad-exception-caught
        # Names in a kernel may stand for objects that do anything when they are looked at.
        return None, ""
    if not common or None in kernels:
        return None, ""
    file, text, position = place_of(frame)
    about = (common, apart, label, file, digest_of(text), position, kernels, _arguments(calls))
    return _cache_in(str(place)), digest_of(ascii(about))


@cache
def _cache_in(folder: str) -> Cache:
    return Cache(Path(folder))


@cache
def _common(folder: str, asked: TracingRequest) -> str:
    """Return the digest of tool, settings and what is asked for; nothing if one is wrong."""
    try:
        texts = [(str(file), text) for file, text in settings_texts(asked).items()]
    except CompileError:
        return ""
    said = (asked.api, asked.target, asked.distributed, asked.config_opts)
    return digest_of(ascii((tool_digest(_cache_in(folder)), texts, said)))


def _kernels(calls: Sequence[TracedCall], module: str) -> Iterator[Hashable]:
    """Yield what each kernel depends on, of one that was called before its number; None: of more.

    Raises what looking at a function and the values around it raises.
    """
    numbers: dict[object, int] = {}
    for number, call in enumerate(calls):
        first = numbers.setdefault(call.kernel, number)
        yield first if first != number else _kernel(call.kernel, module)


def _kernel(kernel: TracedKernel, module: str) -> Hashable:
    function = getattr(kernel, "function", None)
    if function is None:
        return None if getattr(kernel, "file", None) is not None else kernel.name
    file, first, text = text_around(function)
    words = set(_WORD.findall(unicodedata.normalize("NFKC", text)))
    return (
        file,
        first,
        text,
        function.__name__,
        function.__module__,
        function.__code__.co_freevars,
        tuple(statements_for(module, words, values_around(function))),
    )


def _arguments(calls: Sequence[TracedCall]) -> list[Hashable]:
    """Return of what type each argument is, which are one object, and what they are called."""
    first: dict[int, int] = {}

    def one(value: Any) -> Hashable:
        kind = type(value)
        is_number = passed_as(value.__class__) is PassedAs.NUMBER
        number = -1 if is_number else first.setdefault(id(value), len(first))
        return number, kind.__module__, kind.__qualname__, str(getattr(value, "label", ""))

    return [
        (one(value), *map(one, value)) if passed_as(value.__class__) is PassedAs.SEVERAL
        else one(value)
        for call in calls
        for value in call.args
    ]  # fmt: skip
