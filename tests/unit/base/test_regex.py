"""Patterns that are compiled late: they answer as compiled ones, and all of the package compile."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from typing import Any

import pytest

import psyclone_storage
from psyclone_storage.base.regex import regex


def test_it_answers_as_the_compiled_pattern() -> None:
    late, compiled = regex(r"(?P<name>[a-z]+)\d?", re.IGNORECASE), re.compile("(?i)x")
    for name in (name for name in dir(compiled) if not name.startswith("_")):
        assert hasattr(late, name)
    found = late.fullmatch("Ab1")
    assert found is not None
    assert found["name"] == "Ab"
    assert late.sub("-", "a1 b") == "- -"
    assert late.flags & re.IGNORECASE
    assert re.match(late.pattern, "a")
    with pytest.raises(AttributeError):
        late.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_it_is_compiled_once_and_not_before(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    whole = re.compile

    def noted(pattern: str, flags: int = 0) -> re.Pattern[str]:
        asked.append(pattern)
        return whole(pattern, flags)

    monkeypatch.setattr(re, "compile", noted)
    late = regex("once")
    assert asked == []
    assert late.match("once")
    assert late.search("at once")
    assert asked == ["once"]


def patterns_of(thing: Any) -> Iterator[Any]:
    if isinstance(thing, type(regex("x"))):
        yield thing
    elif isinstance(thing, dict):
        yield from (found for value in thing.values() for found in patterns_of(value))
    elif isinstance(thing, (tuple, list)):
        yield from (found for value in thing for found in patterns_of(value))


def test_all_patterns_of_the_package_are_right() -> None:
    package = psyclone_storage.__path__
    count = 0
    for module in pkgutil.walk_packages(package, "psyclone_storage."):
        if module.name.endswith("__main__"):
            continue
        for one in patterns_of(vars(importlib.import_module(module.name))):
            assert re.compile(one.pattern, one.flags)
            count += 1
    assert count > 200
