"""Command `psyclone-storage`: reads options, writes files and reports, returns a status.

Other modules are imported after `command` has begun, which ends without a stack trace if it is
interrupted.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from psyclone_storage.cli.process import last_command, rare_collections

if TYPE_CHECKING:
    from psyclone_storage.base.diagnostic import Diagnostic
    from psyclone_storage.cli.options import CommandOptions


def command() -> int:
    """Run `psyclone-storage` with the arguments of the process, at the end of the process."""
    with last_command():
        return main()


def main(words: Sequence[str] | None = None) -> int:
    """Run `psyclone-storage` with `words` (default: those of the process); return its status."""
    from psyclone_storage.cli.main_guard import run_guarded  # noqa: PLC0415
    from psyclone_storage.cli.options import read_options  # noqa: PLC0415
    from psyclone_storage.cli.style import read_style  # noqa: PLC0415

    given = sys.argv[1:] if words is None else list(words)
    with rare_collections():
        return run_guarded(lambda: _run(read_options(given)), read_style(given))


def _run(options: CommandOptions) -> tuple[Diagnostic, ...]:
    """Execute the command requested by `options`.

    The compiler is imported only here, so that `--version` and `--help` are fast.
    """
    if options.file_options.link_check:
        from psyclone_storage.cli.contracts import run_link_check  # noqa: PLC0415

        run_link_check(options.files)
        return options.remarks
    if options.without_api:
        from psyclone_storage.cli.plain_files import run_files  # noqa: PLC0415

        return run_files(options)
    from psyclone_storage.cli.batch import run_batch  # noqa: PLC0415

    return run_batch(options)
