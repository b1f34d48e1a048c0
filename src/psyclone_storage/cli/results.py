"""Translations and transformed files of earlier calls, cached under a digest of all their inputs.

A key is the digest of the tool and its Python, settings, options, and all files that were read or
could have been (`pipeline.inputs`). Therefore a cached result equals a new translation, and no
entry becomes stale. Some calls are not cached: a script for an algorithm may read anything, the
numbers of changed kernels depend on other files, and `--compile` runs a compiler. Failures are not
cached either.

The inputs of a recipe for files without an API are known after it has run. An entry under the key
of the file contains their names, and the result is under a digest of this key and their contents.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

from psyclone_storage.base.cache import Cache
from psyclone_storage.base.cache_folders import RESULTS_VARIABLE, results_folder
from psyclone_storage.base.diagnostic import CompileError, Diagnostic, Related, Severity
from psyclone_storage.base.digest import digest_of
from psyclone_storage.base.fingerprint import tool_digest
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.source import Span
from psyclone_storage.cli.options import CommandOptions
from psyclone_storage.cli.report import Reports
from psyclone_storage.cli.style import in_colour
from psyclone_storage.cli.write import ignored_cache
from psyclone_storage.pipeline.inputs import Inputs
from psyclone_storage.pipeline.request import CompileRequest
from psyclone_storage.pipeline.script_inputs import ScriptRecord


@dataclass(frozen=True, slots=True)
class Translation:
    """Texts generated from one algorithm file, and their `sources`, without destinations.

    `beside` contains further texts that accompany the PSy layer, each with the suffix of its name.
    """

    algorithm_text: str
    psy_text: str
    sources: tuple[Path, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    reports: Reports = Reports()
    beside: tuple[tuple[str, str], ...] = ()
    script: ScriptRecord | None = None


@dataclass(frozen=True, slots=True)
class Results:
    """Cached translations of one call's files; `common` contains their common dependencies.

    The call began at the time `started`. `with_script` is whether it runs a recipe.
    """

    cache: Cache
    inputs: Inputs
    common: str
    started: float = 0.0
    with_script: bool = False

    def find(self, file: Path) -> Translation | None:
        """Return the cached translation of `file`, or None."""
        key = self._key(file)
        if key and self.with_script:
            names = self._script_names(key)
            key = None if names is None else digest_of(f"{key} {names.state()}")
        data = self.cache.find(key) if key else None
        if data is None:
            return None
        import json  # noqa: PLC0415

        try:
            return self._decoded(json.loads(data))
        except (ValueError, KeyError, TypeError, CompileError):
            return None

    def keep(self, file: Path, made: Translation) -> None:
        """Store the translation of `file`, if it can be restored from its stored form."""
        key, entry = self._key(file), self._encoded(made)
        if not key or entry is None:
            return
        import json  # noqa: PLC0415

        if self.with_script:
            record = made.script
            if record is None or record.changed_since(self.started):
                return
            former = self._script_names(key)
            names = record if former is None else record.joined(former)
            self.cache.keep(key, json.dumps(_encoded_script(names)).encode())
            key = digest_of(f"{key} {names.state()}")
        self.cache.keep(key, json.dumps(entry).encode())

    def _script_names(self, key: str) -> ScriptRecord | None:
        """Return the inputs of the recipe in earlier calls, without what it has printed."""
        data = self.cache.find(key)
        if data is None:
            return None
        import json  # noqa: PLC0415

        try:
            return _decoded_script(json.loads(data))
        except (ValueError, KeyError, TypeError):
            return None

    def ignored(self) -> tuple[Diagnostic, ...]:
        """Return diagnostics for ignored cache files."""
        hint = f"Remove it, or set {RESULTS_VARIABLE} to a folder that only you can write to."
        return tuple(ignored_cache(reason, hint) for reason in self.cache.ignored)

    def _key(self, file: Path) -> str | None:
        digest = self.inputs.digest(file)
        return digest_of(f"{self.common} {digest}") if digest else None

    def _encoded(self, made: Translation) -> dict[str, Any] | None:
        """Return `made` as JSON values, or None if a location is in a text that is not a file."""
        try:
            warnings = [self._encoded_warning(item) for item in made.warnings]
        except CompileError:
            return None
        return {
            "algorithm": made.algorithm_text,
            "psy": made.psy_text,
            "sources": list(map(str, made.sources)),
            "warnings": warnings,
            "text": made.reports.text,
            "schedules": list(made.reports.schedules),
            "dag": made.reports.dag,
            "beside": dict(made.beside),
            "found": list(made.reports.found),
            "script": None if made.script is None else _encoded_script(made.script),
        }

    def _decoded(self, entry: dict[str, Any]) -> Translation:
        return Translation(
            entry["algorithm"],
            entry["psy"],
            tuple(map(Path, entry["sources"])),
            tuple(self._decoded_warning(item) for item in entry["warnings"]),
            Reports(entry["text"], tuple(entry["schedules"]), entry["dag"], tuple(entry["found"])),
            tuple(entry["beside"].items()),
            None if entry["script"] is None else _decoded_script(entry["script"]),
        )

    def _encoded_warning(self, item: Diagnostic) -> dict[str, Any]:
        return {
            "code": item.code,
            "message": item.message,
            "span": self._encoded_span(item.span) if item.span else None,
            "label": item.label,
            "hint": item.hint,
            "related": [[self._encoded_span(one.span), one.label] for one in item.related],
            "severity": item.severity.value,
            "file": item.file,
            "remedies": list(item.remedies),
        }

    def _decoded_warning(self, entry: dict[str, Any]) -> Diagnostic:
        related = tuple(Related(self._decoded_span(at), label) for at, label in entry["related"])
        return Diagnostic(
            entry["code"],
            entry["message"],
            self._decoded_span(entry["span"]) if entry["span"] else None,
            entry["label"],
            entry["hint"],
            related,
            Severity(entry["severity"]),
            entry["file"],
            tuple(entry["remedies"]),
        )

    def _encoded_span(self, span: Span) -> list[Any]:
        """Return a location as JSON values: its file, the digest of the text, and its ends.

        Raises:
            CompileError: the file has another text, or does not exist.
        """
        name = span.source.name
        if self.inputs.index.texts.read(Path(name)).text != span.source.text:
            raise CompileError
        return [name, digest_of(span.source.text), span.start, span.stop]

    def _decoded_span(self, entry: list[Any]) -> Span:
        name, digest, start, stop = entry
        source = self.inputs.index.texts.read(Path(name))
        if digest_of(source.text) != digest:
            raise CompileError
        return source.span(start, stop)


def _encoded_script(record: ScriptRecord) -> dict[str, Any]:
    return {
        "folder": record.folder,
        "files": list(record.files),
        "modules": list(record.modules),
        "variables": list(record.variables),
        "printed": list(map(list, record.printed)),
    }


def _decoded_script(entry: dict[str, Any]) -> ScriptRecord:
    return ScriptRecord(
        entry["folder"],
        tuple(entry["files"]),
        tuple(entry["modules"]),
        tuple(entry["variables"]),
        tuple((stream, text) for stream, text in entry["printed"]),
    )


def open_results(
    options: CommandOptions,
    settings: tuple[str, ...],
    request: CompileRequest,
    inputs: Inputs,
    *,
    with_script: bool = False,
) -> Results | None:
    """Return the cache for `options`, or None if it must not be used.

    `settings` contains the texts of the settings files. `with_script` is whether the inputs of
    scripts are recorded.
    """
    folder = results_folder(os.environ) if options.cached else None
    script = options.script
    uncached = (script and not with_script, options.compile, options.page, options.second_reader)
    if folder is None or any(uncached):
        return None
    cache = Cache(folder)
    tool = tool_digest(cache)
    if not tool:
        return None
    asked = replace(request, directories=(), includes=(), kernel_output=None)
    reports = (
        options.schedule and ("colour", in_colour(options.colour, sys.stdout)),
        options.explain,
        options.schedule_json is not None,
        options.dag is not None,
        options.verbose,
        (options.schedule or options.explain) and len(options.files) > 1,
        options.file_options,
        options.fixed_form,
        options.without_api,
        options.profile,
    )
    recipe = script and (str(script.absolute()), options.keywords)
    common = (tool, settings, options.config_opts, asked, reports, options.strict, recipe)
    digest = digest_of(ascii(common))
    return Results(cache, inputs, digest, time.time(), with_script=script is not None)
