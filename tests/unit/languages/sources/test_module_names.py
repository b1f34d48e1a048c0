"""Modules of a file, by its lines alone."""

from __future__ import annotations

import pytest

from psyclone_storage.languages.sources.module_names import defined_modules, used_modules


@pytest.mark.parametrize(
    "line",
    [
        "use field_mod",
        "  USE Field_Mod, ONLY : field_type",
        "\tuse :: field_mod",
        "use, non_intrinsic :: field_mod",
        "use field_mod, f => g",
        "use field_mod ! why",
        "use field_mod\r",
    ],
)
def test_a_use_statement(line: str) -> None:
    assert used_modules(f"module a\n{line}\nend module a\n") == ("field_mod",)


@pytest.mark.parametrize(
    "line",
    [
        "! use field_mod",
        "use = 3",
        "use(1) = 2",
        "user field_mod",
        "x = 'a' ; call use_it",
        "use, intrinsic :: iso_c_binding",
        "use iso_fortran_env, only: real64",
        "!$ use field_mod",
    ],
)
def test_what_uses_no_module_of_the_user(line: str) -> None:
    assert used_modules(f"module a\n{line}\nend module a\n") == ()


def test_a_submodule_extends_its_ancestor() -> None:
    assert used_modules("submodule (parent_mod:child_smod) grandchild_smod\n") == ("parent_mod",)
    assert defined_modules("submodule (parent_mod) child_smod\nend submodule child_smod\n") == ()


def test_each_is_named_once_in_order() -> None:
    assert used_modules("use b\nuse a\nUSE B\n") == ("b", "a")


def test_definitions() -> None:
    text = (
        "Module One ! first\nend module One\r\n  module two\r\n"
        "interface\n  module procedure three\n  module subroutine four()\n"
        "  module function five()\nend interface\nend module two\n"
    )
    assert defined_modules(text) == ("one", "two")
