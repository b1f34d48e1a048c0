"""`DispatchedKernel`, one operation with an implementation for each kind of context (HM-95).

`kernel[context](...)` runs the implementation for that context on its device. Array arguments are
results of `get`; an implementation receives them in the form that device code takes. A kernel does
not declare which data it reads or writes; the accesses do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from psyclone_storage.storage.core.context import Context, ContextKind
from psyclone_storage.storage.core.errors import StorageError

Work = Callable[..., Any]


class UnsupportedKernelError(StorageError, LookupError):
    """Error: a kernel has no implementation for a kind of context."""

    code = "R230"


class DispatchedKernel:
    """A named operation with an implementation for each kind of context."""

    def __init__(self, name: str, work: Work | None = None) -> None:
        """Create a kernel; `work` is the default implementation for all kinds of contexts."""
        self.name = name
        self._any = work
        self._works: dict[ContextKind | str, Work] = {}

    def register(self, kind: ContextKind | str, work: Work) -> None:
        """Use `work` as the implementation for contexts of `kind`."""
        self._works[kind] = work

    def __getitem__(self, context: Context) -> Work:
        """Return the function that runs the kernel at `context` and returns its result.

        Raises `UnsupportedKernelError` if there is no implementation for it.
        """
        work = self._works.get(context.kind, self._any)
        if work is None:
            known = ", ".join(sorted(_name(kind) for kind in self._works)) or "none"
            raise UnsupportedKernelError(
                f'The kernel "{self.name}" is not implemented for {context!r}, but for: {known}.'
            )
        memory = context.local_memory()

        def launch(*args: Any) -> Any:
            return memory.run(work, *(memory.kernel_view(arg) for arg in args))

        return launch

    def __repr__(self) -> str:
        return f'<DispatchedKernel "{self.name}">'


def _name(kind: ContextKind | str) -> str:
    return kind.value if isinstance(kind, ContextKind) else kind
