"""Command `psyclone-storage-kern`: a stub of a kernel, or a check of an existing kernel."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from psyclone_storage.cli.process import last_command, rare_collections

if TYPE_CHECKING:
    from psyclone_storage.base.diagnostic import Diagnostic
    from psyclone_storage.cli.kern_options import KernelOptions


def command() -> int:
    """Run `psyclone-storage-kern` with the arguments of the process, at the end of the process."""
    with last_command():
        return main()


def main(words: Sequence[str] | None = None) -> int:
    """Run `psyclone-storage-kern` with `words` (default: the arguments of the process)."""
    from psyclone_storage.cli.kern_options import read_kernel_options  # noqa: PLC0415
    from psyclone_storage.cli.main_guard import run_guarded  # noqa: PLC0415
    from psyclone_storage.cli.style import read_style  # noqa: PLC0415

    given = sys.argv[1:] if words is None else list(words)
    with rare_collections():
        return run_guarded(lambda: _run(read_kernel_options(given)), read_style(given))


def _run(options: KernelOptions) -> tuple[Diagnostic, ...]:
    """Execute the command requested by `options`; the tools are imported only here."""
    from psyclone_storage.cli.kernel_tools import run_tool  # noqa: PLC0415

    return run_tool(options)
