"""State of run-time compilation: everything that one program has compiled and read so far."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.jit._pure import CallTable
from psyclone_storage.jit.types import CompiledInvoke, JitOptions
from psyclone_storage.languages.python.parse.closure import FunctionReader

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class JitSession:
    """Invokes of one program; sessions share only the files of the disk cache.

    Threads may share a session without locks. Each table gets an entry in one step, after the entry
    is complete, so an interrupt leaves no incomplete entry. If two threads reach the same invoke at
    the same time, both may compile it. The results are equal, and one of them is cached.
    """

    functions: FunctionReader = field(default_factory=FunctionReader)
    """The functions of kernels."""
    compiled: dict[Hashable, CompiledInvoke] = field(default_factory=dict)
    """Compiled invokes by call site, kernels, kinds of arguments and options."""
    calls: CallTable = field(default_factory=dict)
    """The latest calls of each call site."""
    _results: dict[tuple[Hashable, ...], Any] = field(default_factory=dict)

    def options(self, **keywords: Any) -> JitOptions:
        """Return the options given by `keywords`, as the same object for equal options."""
        key = (JitOptions, *sorted(keywords.items()))
        return self._results.setdefault(key, JitOptions(**keywords))  # type: ignore[no-any-return]

    def once(self, compute: Callable[..., T], *args: Hashable) -> T:
        """Return `compute(*args)`, which is computed once per session.

        Exceptions are not cached.
        """
        key = (compute, *args)
        result: T | None = self._results.get(key)
        if result is None:
            result = self._results.setdefault(key, compute(*args))
        return result
