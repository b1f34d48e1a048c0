"""`DispatchedKernel`, one operation with an implementation for each kind of context (HM-95).

`kernel[context](...)` runs the implementation for that context on its device. Array arguments are
results of `get` of an access; an implementation receives them in the form for device code. The
kernel does not determine the data that an operation reads or writes: the accesses declare them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from psyclone_storage.storage.core.context import Context, ContextKind
from psyclone_storage.storage.core.errors import StorageError

Work = Callable[..., Any]


class UnsupportedKernelError(StorageError, LookupError):
    """An error: a kernel has no implementation for a kind of context."""

    code = "R230"


class DispatchedKernel:
    """One operation, known by its name, that each kind of context may implement its own way."""

    def __init__(self, name: str, work: Work | None = None) -> None:
        """Make a kernel; `work` serves all kinds that have no implementation of their own."""
        self.name = name
        self._any = work
        self._works: dict[ContextKind | str, Work] = {}

    def register(self, kind: ContextKind | str, work: Work) -> None:
        """Use `work` at contexts of `kind` from now on."""
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
