"""The search for a settings file, in PSyclone's order, and the files that come with the package."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from psyclone_storage.base.diagnostic import CompileError, InternalError
from psyclone_storage.base.package_files import shared_file
from psyclone_storage.config.load import default_settings, load_settings
from psyclone_storage.config.locate import (
    SearchContext,
    find_settings_file,
    search_context,
    shipped_settings_file,
)

LOCAL, HOME, PREFIX = "here/.psyclone", "home/.local/share/psyclone", "prefix/share/psyclone"


@pytest.fixture
def around(tmp_path: Path) -> SearchContext:
    return SearchContext(
        environment={},
        directory=tmp_path / "here",
        home=tmp_path / "home",
        prefix=tmp_path / "prefix",
        in_venv=True,
    )


def plant(root: Path, *folders: str) -> None:
    for folder in folders:
        (root / folder).mkdir(parents=True, exist_ok=True)
        (root / folder / "psyclone.cfg").write_text("[lfric]\nNUM_ANY_SPACE = 3\n")


def test_the_explicit_file_comes_first(around: SearchContext, tmp_path: Path) -> None:
    plant(tmp_path, "mine", "other", LOCAL)
    chosen = replace(around, environment={"PSYCLONE_CONFIG": str(tmp_path / "other/psyclone.cfg")})
    mine = tmp_path / "mine/psyclone.cfg"
    assert find_settings_file(str(mine), chosen) == mine
    assert find_settings_file("", chosen) == tmp_path / "other/psyclone.cfg"


@pytest.mark.parametrize(
    ("planted", "in_venv", "found"),
    [
        ((LOCAL, HOME, PREFIX), True, LOCAL),
        ((HOME, PREFIX), True, PREFIX),
        ((HOME, PREFIX), False, HOME),
        ((HOME,), True, HOME),
        ((PREFIX,), False, PREFIX),
    ],
)
def test_the_order_of_the_search(
    around: SearchContext, tmp_path: Path, planted: tuple[str, ...], in_venv: bool, found: str
) -> None:
    plant(tmp_path, *planted)
    expected = tmp_path / found / "psyclone.cfg"
    assert find_settings_file("", replace(around, in_venv=in_venv)) == expected


def test_the_default_comes_last(around: SearchContext) -> None:
    assert find_settings_file("", around) == shipped_settings_file()
    assert load_settings("", "", around) == default_settings()


@pytest.mark.parametrize("explicit", ["", "nowhere.cfg"])
def test_a_file_that_was_named_must_exist(around: SearchContext, explicit: str) -> None:
    named = replace(around, environment={"PSYCLONE_CONFIG": "nowhere-else.cfg"})
    with pytest.raises(CompileError) as caught:
        find_settings_file(explicit, named)
    assert [problem.code for problem in caught.value.problems] == ["C001"]
    assert (explicit or "nowhere-else.cfg") in caught.value.problems[0].message


def test_a_file_is_read_over_the_default(around: SearchContext, tmp_path: Path) -> None:
    plant(tmp_path, LOCAL)
    settings = load_settings("", "COMPUTE_ANNEXED_DOFS=true", around)
    assert settings.lfric.num_any_space == 3
    assert settings.lfric.compute_annexed_dofs
    assert settings.lfric.precision_map == default_settings().lfric.precision_map


def test_overrides_change_the_default_too(around: SearchContext) -> None:
    assert load_settings("", "NUM_ANY_SPACE=4", around).lfric.num_any_space == 4


def test_a_file_that_is_not_text_is_refused(around: SearchContext, tmp_path: Path) -> None:
    (tmp_path / "x.cfg").write_bytes(b"\xff\xfe")
    with pytest.raises(CompileError, match=r"C001: .*not UTF-8 text"):
        load_settings(str(tmp_path / "x.cfg"), "", around)


def test_what_the_installation_lacks_is_our_fault() -> None:
    with pytest.raises(InternalError, match="lacks 'config/none'"):
        shared_file("config/none")


def test_the_surroundings_of_this_process() -> None:
    found = search_context(os.environ | {"HOME": "/somewhere"})
    assert found.home == Path("/somewhere")
    assert found.prefix.is_dir()
