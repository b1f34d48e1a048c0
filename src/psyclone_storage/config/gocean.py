"""Decoding of the two tables in the section `[gocean]`: grid properties, iteration spaces.

This module defines their syntax and the entries that generated code requires. It does not check
whether a path or a bound is valid for the infrastructure. The Fortran compiler does that.
"""

from __future__ import annotations

import re

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.names import listed
from psyclone_storage.base.regex import regex
from psyclone_storage.config.decode import (
    choose_value,
    collect,
    name_word,
    refused,
    unescape,
    unique,
)
from psyclone_storage.config.scan import Entry, SettingsWord
from psyclone_storage.config.settings import IterationSpace
from psyclone_storage.infrastructures.gocean import (
    FIELD_TYPES,
    OFFSETS,
    GridProperty,
    RequiredProperty,
)
from psyclone_storage.ir.types import Intrinsic

_RANKS = {"scalar": 0, "array": 2}
_INTRINSICS = {known.value: known for known in (Intrinsic.REAL, Intrinsic.INTEGER)}
_BOUND = regex(r"[\w\s()%,+*/-]+")
_PLACEHOLDERS = {"start": "2", "stop": "n"}


def grid_properties(entry: Entry) -> dict[str, GridProperty]:
    """Return the comma-separated table of `name: path: scalar/array: real/integer`.

    Raises:
        CompileError: `C004`, an entry has another form; `C005`, a property required by generated
            code is missing.
    """
    table = unique(collect(_grid_property, entry.items()))
    missing = [name for name in RequiredProperty if name not in table]
    if missing:
        raise CompileError(
            Diagnostic(
                "C005",
                f"The table of grid properties lacks {listed(missing, 'and')}.",
                entry.key_span,
                hint="Copy the missing lines from the default configuration.",
            )
        )
    return table


def iteration_spaces(entry: Entry) -> tuple[IterationSpace, ...]:
    """Return the iteration spaces, one on each line.

    A line is `offset:field type:name:outer start:outer stop:inner start:inner stop`.
    """
    return collect(_iteration_space, entry.lines)


def _grid_property(item: SettingsWord) -> tuple[SettingsWord, str, GridProperty]:
    parts = item.split(":")
    if len(parts) != 4:
        raise refused(
            item,
            f"'{item.text}' does not describe a grid property.",
            "Write 'name: {0}%%path%%to%%it: scalar or array: real or integer'.",
        )
    key, path, rank, intrinsic = parts
    if "{0}" not in path.text:
        raise refused(path, f"'{path.text}' does not say where the field goes.", "Write '{0}'.")
    reached = GridProperty(
        unescape(path), choose_value(rank, _RANKS), choose_value(intrinsic, _INTRINSICS)
    )
    return item, name_word(key).lower(), reached


def _iteration_space(line: SettingsWord) -> IterationSpace:
    parts = line.split(":")
    if len(parts) != 7:
        raise refused(
            line,
            f"'{line.text}' has {len(parts)} parts between colons instead of 7.",
            "Write 'offset:field type:name:outer start:outer stop:inner start:inner stop'.",
        )
    offset, field_type, name, *bounds = parts
    outer_start, outer_stop, inner_start, inner_stop = collect(_bound, bounds)
    return IterationSpace(
        offset=choose_value(offset, {known: known for known in OFFSETS}),
        field_type=choose_value(field_type, {known: known for known in FIELD_TYPES}),
        name=name_word(name).lower(),
        outer_start=outer_start,
        outer_stop=outer_stop,
        inner_start=inner_start,
        inner_stop=inner_stop,
    )


def _bound(word: SettingsWord) -> str:
    """Check the placeholders, characters and parentheses of a loop bound and return it."""
    text = unescape(word)
    fortran = re.sub(r"\{(\w+)\}", lambda hole: _PLACEHOLDERS.get(hole[1], hole[0]), text)
    if _BOUND.fullmatch(fortran) and _balanced(fortran):
        return text
    raise refused(
        word,
        f"'{word.text}' is not a loop bound.",
        "Write a Fortran expression; '{start}' and '{stop}' stand for the internal region.",
    )


def _balanced(text: str) -> bool:
    depth = 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth < 0:
            return False
    return depth == 0
