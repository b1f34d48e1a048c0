"""Conversion of the text of a settings file to `Settings`, or to all of its errors.

This module selects the entry that is used for each key, and contains the checks across keys. It
does not open files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from psyclone_storage.base.diagnostic import (
    CompileError,
    Diagnostic,
    Related,
    Severity,
    raise_if_any,
)
from psyclone_storage.base.names import did_you_mean, listed
from psyclone_storage.base.records import replace
from psyclone_storage.base.source import SourceText
from psyclone_storage.config.keys import KEYS, SECTIONS, SettingsKey, heading, known_headings
from psyclone_storage.config.scan import Entry, Scanned, SettingsSection, scan_file, scan_overrides
from psyclone_storage.config.settings import GoceanSettings, LfricSettings, Settings

Entries = dict[tuple[str, str], Entry]

OVERRIDES = "--config-opts"
"""What diagnostics call the text of the overrides."""


def read_settings(
    text: str, name: str, *, base: Settings | None = None, overrides: str = ""
) -> Settings:
    """Parse the text of a settings file.

    - `name`: the name of the file in diagnostics.

    - `base`: the settings for missing keys. Without it, every key must be present, except lists
      that may be empty.

    - `overrides`: text `key=value key=value …`, whose entries override those of the file.

    A key in `[DEFAULT]` applies to each section without this key, as in `configparser`. Names
    missing from `access_mapping` keep their meaning from `base`.

    Raises:
        CompileError: all errors of the file and the overrides: `C002` to `C005`, `C008`, `C009`.
            Keys and sections without effect are recorded in `Settings.warnings` (`C006`, `C007`,
            `C010`); they are included if there are errors.
    """
    scanned = scan_file(SourceText(name, text))
    changes = scan_overrides(SourceText(OVERRIDES, overrides))
    problems = [*scanned.problems, *changes.problems]
    entries = _canonical(scanned, problems)
    entries |= _placed(changes.entries, problems)
    values = _decoded(entries, base, problems)
    problems += _check_kinds(entries, values)
    if base and not any(problem.severity is Severity.ERROR for problem in problems):
        problems += _without_effect(entries, values, base)
    problems.sort(key=_position)
    raise_if_any(problems)
    return _built(values, base, tuple(problems))


def _canonical(scanned: Scanned, problems: list[Diagnostic]) -> Entries:
    """Return the entries by current section name and key; report those without effect."""
    problems += [_unknown_section(it) for it in scanned.sections if it.name not in SECTIONS]
    entries: Entries = {}
    for entry in scanned.entries:
        if entry.section not in SECTIONS:
            continue
        section = SECTIONS[entry.section]
        if first := entries.get((section, entry.key)):
            problems.append(_repeated(entry, first))
        elif problem := _check_place(section, entry):
            problems.append(problem)
        else:
            entries[section, entry.key] = entry
    return entries


def _placed(changes: Iterable[Entry], problems: list[Diagnostic]) -> Entries:
    """Return the overrides by section and key; report keys that are unknown or ambiguous."""
    entries: Entries = {}
    for entry in changes:
        sections = _sections_with(entry.key)
        decoders = {key.decode for key in KEYS if key.name == entry.key}
        if len(decoders) == 1:
            # A key with one meaning in several sections is set in each of them.
            entries.update(((section, entry.key), entry) for section in sections)
        else:
            problems.append(_unplaced(entry, sections))
    return entries


def _decoded(
    entries: Entries, base: Settings | None, problems: list[Diagnostic]
) -> dict[str, dict[str, Any]]:
    """Return the values of fields by section, without those that are invalid."""
    values: dict[str, dict[str, Any]] = {section: {} for section in SECTIONS.values()}
    for key in KEYS:
        entry = entries.get((key.section, key.name)) or entries.get(("default", key.name))
        try:
            values[key.section][key.field] = key.decode(entry) if entry else _inherited(key, base)
        except CompileError as error:
            problems += [one for one in error.problems if one not in problems]
    return values


def _inherited(key: SettingsKey, base: Settings | None) -> object:
    if base is None:
        raise CompileError(
            Diagnostic("C005", f"'{key.name}' is missing from {heading(key.section)}.")
        )
    part = {"default": base, "lfric": base.lfric, "gocean": base.gocean}[key.section]
    return getattr(part, key.field)


def _check_kinds(entries: Entries, values: dict[str, dict[str, Any]]) -> list[Diagnostic]:
    """Report LFRic data types without a default kind, and default kinds without a size."""
    lfric = values["lfric"]
    kinds = lfric.get("default_kind")
    types = lfric.get("supported_fortran_datatypes")
    sizes = lfric.get("precision_map")
    named = ("default_kind", "supported_fortran_datatypes")
    entry = next((entries[at] for name in named if (at := ("lfric", name)) in entries), None)
    place = entry.value.span if entry else None
    problems = []
    if kinds is not None and types is not None and set(kinds) != set(types):
        message = f"The default kinds are for {listed(kinds, 'and')}, but the supported data types"
        hint = "Give one kind for each word of 'supported_fortran_datatypes'."
        problems.append(
            Diagnostic("C005", f"{message} are {listed(types, 'and')}.", place, hint=hint)
        )
    if kinds is not None and sizes is not None:
        hint = "Add it to 'precision_map', with its size in bytes."
        problems += [
            Diagnostic("C005", f"The default kind '{kind}' has no size.", place, hint=hint)
            for kind in dict.fromkeys(kinds.values())
            if kind.lower() not in sizes
        ]
    return problems


def _without_effect(
    entries: Entries, values: dict[str, dict[str, Any]], base: Settings
) -> Iterator[Diagnostic]:
    """Yield a warning for each key without effect whose value differs from that of `base`.

    A table may omit entries, and a list may have another order.
    """
    for key in KEYS:
        entry = entries.get((key.section, key.name)) or entries.get(("default", key.name))
        known, value = _inherited(key, base), values[key.section][key.field]
        if isinstance(known, Mapping) and isinstance(value, Mapping):
            value = {**known, **value}
        elif isinstance(known, tuple) and isinstance(value, tuple):
            known, value = set(known), set(value)
        if key.unused and entry and value != known:
            yield Diagnostic(
                "C010",
                f"'{entry.key_span.text}' is known and changes nothing.",
                entry.key_span,
                hint=key.unused,
                severity=Severity.WARNING,
            )


def _built(
    values: dict[str, dict[str, Any]], base: Settings | None, warnings: tuple[Diagnostic, ...]
) -> Settings:
    lfric = LfricSettings(**values["lfric"])
    gocean = GoceanSettings(**values["gocean"])
    if base:
        lfric = replace(lfric, access_mapping={**base.lfric.access_mapping, **lfric.access_mapping})
        known = base.gocean.access_mapping
        gocean = replace(gocean, access_mapping={**known, **gocean.access_mapping})
    return Settings(**values["default"], lfric=lfric, gocean=gocean, warnings=warnings)


def _position(problem: Diagnostic) -> tuple[int, int]:
    """Return a sort key: entries of the file, then overrides, then missing entries."""
    if problem.span is None:
        return 2, 0
    return int(problem.span.source.name == OVERRIDES), problem.span.start


def _sections_with(key: str) -> list[str]:
    return [known.section for known in KEYS if known.name == key]


def _check_place(section: str, entry: Entry) -> Diagnostic | None:
    """Report a key that is unknown, or that belongs to another section."""
    homes = _sections_with(entry.key)
    if section in homes or (section == "default" and homes):
        return None
    if homes:
        return Diagnostic(
            "C007",
            f"'{entry.key_span.text}' has no effect in {heading(section)}.",
            entry.key_span,
            hint=f"Move it to {listed(map(heading, homes))}.",
            severity=Severity.WARNING,
        )
    return Diagnostic(
        "C006",
        f"'{entry.key_span.text}' is not a known key.",
        entry.key_span,
        hint=did_you_mean(entry.key, [key.name for key in KEYS]),
        severity=Severity.WARNING,
    )


def _unknown_section(section: SettingsSection) -> Diagnostic:
    return Diagnostic(
        "C006",
        f"'[{section.name}]' is not a known section; what it holds has no effect.",
        section.span,
        hint=did_you_mean(section.name, SECTIONS) or f"Known sections are {known_headings()}.",
        severity=Severity.WARNING,
    )


def _repeated(entry: Entry, first: Entry) -> Diagnostic:
    return Diagnostic(
        "C003",
        f"'{entry.key_span.text}' is set twice in {heading(SECTIONS[entry.section])}.",
        entry.key_span,
        label="set again here",
        hint="Keep one of the two.",
        related=(Related(first.key_span, "first set here"),),
    )


def _unplaced(entry: Entry, sections: list[str]) -> Diagnostic:
    if sections:
        message = f"'{entry.key_span.text}' is a key of {listed(map(heading, sections), 'and')}."
        hint = "Set it in a settings file, in the section that is meant."
    else:
        message = f"'{entry.key_span.text}' is not a known key."
        hint = did_you_mean(entry.key, [key.name for key in KEYS])
    return Diagnostic("C008", message, entry.key_span, hint=hint)
