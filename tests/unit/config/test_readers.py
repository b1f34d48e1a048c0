"""Every key does something, or warns that it does not."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import psyclone_storage
from psyclone_storage.config.keys import KEYS, SettingsKey
from psyclone_storage.config.load import default_settings
from psyclone_storage.config.read import read_settings
from psyclone_storage.config.settings import Settings

PACKAGE = Path(psyclone_storage.__file__).parent
# It tells scripts what the settings say, and does nothing with it.
REPEATS = PACKAGE / "scripting" / "settings.py"
OTHER_VALUES = {
    "psyir_root_name": "other",
    "valid_psy_data_prefixes": "profile",
    "ocl_devices_per_node": "2",
    "fortran_standard": "f2003",
    "supported_fortran_datatypes": "real\ndefault_kind = real: r_def",
    "default_kind": "real: r_solver, integer: i_def, logical: l_def",
    "precision_map": "i_def: 4, l_def: 1, r_def: 4",
    "debug_mode": "true",
}
READ = [key for key in KEYS if not key.unused]
UNUSED = [key for key in KEYS if key.unused]


@cache
def readers() -> dict[tuple[str, str], list[str]]:
    """Return the files outside `config/` that read a field of a section of the settings."""
    found: dict[tuple[str, str], list[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        if path.parent.name != "config" and path != REPEATS:
            for section, field in read_in(path):
                found.setdefault((section, field), []).append(path.name)
    return found


def read_in(path: Path) -> Iterator[tuple[str, str]]:
    """Yield section and field of each `settings.field`, `lfric.field` and `gocean.field`."""
    sections = {"settings": "default", "lfric": "lfric", "gocean": "gocean"}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Attribute):
            continue
        owner = node.value
        name = owner.id if isinstance(owner, ast.Name) else getattr(owner, "attr", "")
        if name in sections:
            yield sections[name], node.attr


def given(key: SettingsKey, value: str) -> Settings:
    section = "DEFAULT" if key.section == "default" else key.section
    text = f"[{section}]\n{key.name} = {value}\n"
    return read_settings(text, "x.cfg", base=default_settings())


@pytest.mark.parametrize("key", READ, ids=lambda key: f"{key.section}-{key.name}")
def test_a_key_has_a_reader(key: SettingsKey) -> None:
    assert (key.section, key.field) in readers()


@pytest.mark.parametrize("key", UNUSED, ids=lambda key: key.name)
def test_a_key_without_a_reader_warns(key: SettingsKey) -> None:
    assert (key.section, key.field) not in readers()
    warnings = given(key, OTHER_VALUES[key.name]).warnings
    assert [one.code for one in warnings] == ["C010"]
    place = next(one.span for one in warnings if one.code == "C010")
    assert place is not None
    assert place.text == key.name


def test_what_is_not_changed_does_not_warn() -> None:
    assert default_settings().warnings == ()
    unchanged = {
        "ocl_devices_per_node": "1",
        "fortran_standard": "f2008",
        "debug_mode": "no",
        "supported_fortran_datatypes": "logical, real, integer",
    }
    for key in UNUSED:
        if key.name in unchanged:
            assert given(key, unchanged[key.name]).warnings == ()
