"""The command `psyclone-storage`: options in, files and reports out, an exit status back."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.cli.guard import Style, guarded
from psyclone_storage.cli.options import Options, read_options


def main(words: Sequence[str] | None = None) -> int:
    """Run `psyclone-storage` on `words` (default: those of the process); return its exit status."""
    given = sys.argv[1:] if words is None else list(words)
    style = Style()
    return guarded(lambda: _run(read_options(given), style), style)


def _run(options: Options, style: Style) -> tuple[Diagnostic, ...]:
    """Do what `options` ask for. The compiler is imported here and not at the top, because
    `--version` and `--help` must not wait for it (docs/adr/0010-commands-import-late.md)."""
    from psyclone_storage.cli.batch import run_batch

    style.as_json, style.colour = options.diagnostics == "json", options.colour
    return run_batch(options)
