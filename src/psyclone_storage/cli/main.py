"""The command `psyclone-storage`: options in, files and reports out, an exit status back."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.cli.guard import run_guarded
from psyclone_storage.cli.options import Options, read_options
from psyclone_storage.cli.style import read_style

_OBJECTS_BETWEEN_COLLECTIONS = 100_000  # Python's 700 cost a short run a twentieth of its time


def main(words: Sequence[str] | None = None) -> int:
    """Run `psyclone-storage` on `words` (default: those of the process); return its exit status."""
    given = sys.argv[1:] if words is None else list(words)
    return run_guarded(lambda: _run(read_options(given)), read_style(given))


def _run(options: Options) -> tuple[Diagnostic, ...]:
    """Do what `options` ask for.

    The compiler is imported here and not at the top, because `--version` and `--help` must not
    wait for it (docs/adr/0010-commands-import-late.md). Nearly all that a run makes lives until
    it ends, so that the search for unreachable cycles is made seldom.
    """
    thresholds = gc.get_threshold()
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS, *thresholds[1:])
    try:
        from psyclone_storage.cli.batch import run_batch  # noqa: PLC0415

        return run_batch(options)
    finally:
        gc.set_threshold(*thresholds)
