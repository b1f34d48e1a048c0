"""What settings ask an infrastructure for, and whether the one at hand has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from psyclone_storage.languages.sources.kernel_search import index_directories
from psyclone_storage.targets.extensions import check_extensions
from psyclone_storage.targets.spec import AskedExtension

MARKED = AskedExtension("A setting", "joint_mod", "exchange", mark=("parent_mod", "is_ours"))
UNMARKED = AskedExtension("A setting", "joint_mod", "exchange")


def said(folder: Path, asked: AskedExtension) -> list[str]:
    return [one.message for one in check_extensions([asked], index_directories((folder,)))]


def written(folder: Path, **modules: str) -> Path:
    for name, text in modules.items():
        (folder / f"{name}.f90").write_text(f"module {name}\n{text}\nend module {name}\n")
    return folder


def test_another_infrastructure_lacks_a_module_of_ours(tmp_path: Path) -> None:
    folder = written(tmp_path, parent_mod="! is_ours is a comment here")
    (message,) = said(folder, MARKED)
    assert message == (
        "A setting asks for the module 'joint_mod', which the infrastructure of 'parent_mod' in"
        f" '{folder / 'parent_mod.f90'}' does not have."
    )


@pytest.mark.parametrize(
    ("modules", "asked"),
    [
        ({}, MARKED),
        ({"parent_mod": "public :: is_ours"}, MARKED),
        ({"parent_mod": "", "joint_mod": "public :: exchange"}, MARKED),
        ({"parent_mod": ""}, UNMARKED),
    ],
    ids=["nothing is there", "a part of ours", "others have the module", "no mark"],
)
def test_what_may_be_there_is_not_missed(
    tmp_path: Path, modules: dict[str, str], asked: AskedExtension
) -> None:
    assert said(written(tmp_path, **modules), asked) == []


def test_a_module_without_the_name_is_said_once(tmp_path: Path) -> None:
    folder = written(tmp_path, parent_mod="", joint_mod="public :: other")
    (message,) = said(folder, MARKED)
    assert "'exchange', which the module 'joint_mod'" in message
