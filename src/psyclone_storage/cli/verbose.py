"""Output of `--verbose`: sources of the settings, and files of the kernels.

It is written to standard error with one fact per line. Generated code and reports are not affected.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from psyclone_storage import __version__
from psyclone_storage.base.names import listed
from psyclone_storage.base.source import SourceText
from psyclone_storage.base.text import visible
from psyclone_storage.cli.options import CommandOptions
from psyclone_storage.config.locate import ENVIRONMENT_VARIABLE, shipped_settings_file
from psyclone_storage.config.scan import Entry, scan_file, scan_overrides
from psyclone_storage.config.settings import Settings

_SHOWN = 80
"""Of longer values the beginning is shown."""


def tell(lines: Iterable[str]) -> None:
    """Print `lines` on standard error, with control characters of names escaped."""
    for line in lines:
        print(visible(line), file=sys.stderr)


def setting_lines(
    options: CommandOptions, texts: Mapping[Path, str], settings: Settings
) -> Iterator[str]:
    """Yield the settings files, and the keys set by a user's file or the command line.

    `texts` contains the texts of the files, starting with the default file.
    """
    yield f"psyclone-storage {__version__}, Python {sys.version.split()[0]} of '{sys.prefix}'"
    for path in texts:
        yield f"settings: '{path}', {_chosen_by(path, options)}"
    for path, text in texts.items():
        if path != shipped_settings_file():
            yield from (_said(entry) for entry in scan_file(SourceText(str(path), text)).entries)
    overrides = scan_overrides(SourceText("--config-opts", options.config_opts))
    yield from (f"settings:   {_shown(entry)} (--config-opts)" for entry in overrides.entries)
    yield f"api: {options.api or settings.api.value} ({_by(options.api is not None, '-api')})"
    distributed = (
        settings.distributed_memory if options.distributed is None else options.distributed
    )
    by = _by(options.distributed is not None, "-dm" if distributed else "-nodm")
    yield f"distributed memory: {'yes' if distributed else 'no'} ({by})"
    if options.script:
        yield f"script: '{options.script}'"


def folder_lines(folders: Iterable[Path], includes: Iterable[Path], given: bool) -> Iterator[str]:
    """Yield the directories of kernels and included files; `given` if they come from '-d'."""
    why = "-d" if given else "the folders of the algorithms"
    yield f"kernels: looked for in and below {listed(map(str, folders), 'and')} ({why})"
    if where := listed(map(str, includes), "and"):
        yield f"include files and other modules: looked for in {where} (-I)"


def kernel_lines(file: Path, found: Mapping[str, str]) -> tuple[str, ...]:
    """Return the lines on the kernels of `file`; `found` contains the file of each kernel or ''."""
    lines = [f"{file}: kernel '{name}' in '{source}'" for name, source in found.items() if source]
    if builtins := [name for name, source in found.items() if not source]:
        lines.append(f"{file}: built-in {listed(builtins, 'and')}")
    return tuple(lines)


def _chosen_by(path: Path, options: CommandOptions) -> str:
    if path == shipped_settings_file():
        return "the default"
    if options.config and path == Path(options.config):
        return "named by '-c'"
    if os.environ.get(ENVIRONMENT_VARIABLE) == str(path):
        return f"named by '{ENVIRONMENT_VARIABLE}'"
    return "found there"


def _said(entry: Entry) -> str:
    span = entry.value.span
    return f"settings:   {_shown(entry)} ({span.source.name}:{span.line})"


def _shown(entry: Entry) -> str:
    value = " ".join(entry.value.text.split())
    shown = value if len(value) <= _SHOWN else f"{value[: _SHOWN - 3]}..."
    return f"{entry.key.upper()} = {shown}"


def _by(given: bool, option: str) -> str:
    return option if given else "settings"
