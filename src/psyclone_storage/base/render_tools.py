"""Machine-readable diagnostics: JSON, SARIF for code scanners, and GitHub annotations."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from psyclone_storage.base.codes import CODES
from psyclone_storage.base.diagnostic import Diagnostic, Severity
from psyclone_storage.base.hints import cure_of
from psyclone_storage.base.source import Span
from psyclone_storage.base.text import visible

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render_json(problems: Iterable[Diagnostic]) -> str:
    """Return diagnostics as a JSON array of objects.

    Keys: `code`, `severity`, `message`, `hint`, and if a position is known, `file`, `line`,
    `column`, `end_line`, `end_column` (1-based, end exclusive), `label`, `related`; optionally
    `trace`. The schema is `config/schemas/diagnostics.schema.json`.
    """
    return json.dumps([_as_json(problem) for problem in problems], indent=2)


def render_sarif(problems: Iterable[Diagnostic], version: str) -> str:
    """Return diagnostics as a SARIF 2.1.0 log of one run of this tool."""
    found = tuple(problems)
    codes = sorted({problem.code for problem in found})
    rules = [{"id": code, "shortDescription": {"text": CODES.get(code, code)}} for code in codes]
    succeeded = all(problem.severity is not Severity.ERROR for problem in found)
    run = {
        "tool": {"driver": {"name": "psyclone-storage", "version": version, "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": succeeded}],
        "results": [_result(problem, codes.index(problem.code)) for problem in found],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def render_github(problems: Iterable[Diagnostic]) -> str:
    """Return diagnostics as GitHub workflow commands, which annotate the lines of a change."""
    return "\n".join(map(_annotation, problems))


def _result(problem: Diagnostic, rule: int) -> dict[str, Any]:
    text = "\n".join(filter(None, (problem.message, cure_of(problem))))
    result: dict[str, Any] = {
        "ruleId": problem.code,
        "ruleIndex": rule,
        "level": problem.severity.value,
        "message": {"text": text},
    }
    if problem.span:
        result["locations"] = [_location(problem.span, problem.label)]
    elif problem.file:
        at = {"artifactLocation": {"uri": _uri(problem.file)}}
        result["locations"] = [{"physicalLocation": at}]
    if problem.related:
        result["relatedLocations"] = [
            {"id": number} | _location(related.span, related.label)
            for number, related in enumerate(problem.related)
        ]
    return result


def _location(span: Span, label: str) -> dict[str, Any]:
    end = Span(span.source, span.stop, span.stop)
    location: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(span.source.name)},
            "region": {
                "startLine": span.line,
                "startColumn": span.column,
                "endLine": end.line,
                "endColumn": end.column,
            },
        }
    }
    return location | ({"message": {"text": label}} if label else {})


def _uri(name: str) -> str:
    path = PurePath(name)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())


def _annotation(problem: Diagnostic) -> str:
    keys: dict[str, object] = {}
    if problem.span:
        end = Span(problem.span.source, problem.span.stop, problem.span.stop)
        keys = {
            "file": problem.span.source.name,
            "line": problem.span.line,
            "col": problem.span.column,
            "endLine": end.line,
            "endColumn": end.column,
        }
    elif problem.file:
        keys = {"file": problem.file}
    keys["title"] = problem.code
    text = "\n".join(filter(None, (problem.message, cure_of(problem))))
    named = ",".join(f"{key}={_of_property(str(value))}" for key, value in keys.items())
    return f"::{problem.severity.value} {named}::{_of_message(text)}"


def _of_message(text: str) -> str:
    shown = "\n".join(map(visible, text.split("\n")))
    return shown.replace("%", "%25").replace("\n", "%0A")


def _of_property(text: str) -> str:
    return _of_message(text).replace(":", "%3A").replace(",", "%2C")


def _as_json(problem: Diagnostic) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "code": problem.code,
        "severity": problem.severity.value,
        "message": problem.message,
        "hint": cure_of(problem),
    }
    if problem.span:
        entry |= _span_as_json(problem.span) | {"label": problem.label}
    elif problem.file:
        entry["file"] = problem.file
    entry["related"] = [
        _span_as_json(related.span) | {"label": related.label} for related in problem.related
    ]
    if problem.trace:
        entry["trace"] = problem.trace
    return entry


def _span_as_json(span: Span) -> dict[str, Any]:
    end = Span(span.source, span.stop, span.stop)
    return {
        "file": span.source.name,
        "line": span.line,
        "column": span.column,
        "end_line": end.line,
        "end_column": end.column,
    }
