"""The order in which files must be compiled."""

from __future__ import annotations

from pathlib import Path

from psyclone_storage.languages.sources.kernel_search import index_directories
from psyclone_storage.tools.compile_order import (
    CompileOrder,
    compiled_modules,
    missing_modules,
    modules_defined_in,
    order_of_use,
)


def order(folder: Path, uses: dict[str, str], *roots: str, provided: str = "") -> CompileOrder:
    """Return the order for the modules `uses`, which are mapped to those that each uses."""
    for module, used in uses.items():
        lines = "".join(f"  use {name}\n" for name in used.split())
        (folder / f"{module}.f90").write_text(f"module {module}\n{lines}end module {module}\n")
    index = index_directories((folder,))
    return order_of_use([folder / f"{root}.f90" for root in roots], index, provided.split())


def names(found: CompileOrder) -> list[str]:
    return [path.stem for path in found.files]


def test_what_is_used_comes_first(tmp_path: Path) -> None:
    assert names(order(tmp_path, {"a": "b c", "b": "c", "c": ""}, "a")) == ["c", "b", "a"]


def test_each_file_comes_once(tmp_path: Path) -> None:
    uses = {"a": "c", "b": "c a", "c": ""}
    assert names(order(tmp_path, uses, "a", "b", "a")) == ["c", "a", "b"]


def test_what_is_provided_is_not_compiled(tmp_path: Path) -> None:
    assert names(order(tmp_path, {"a": "b", "b": ""}, "a", provided="b")) == ["a"]


def test_what_is_missing_names_its_first_user(tmp_path: Path) -> None:
    found = order(tmp_path, {"a": "b gone", "b": "gone"}, "a")
    assert found.missing == {"gone": tmp_path / "b.f90"}


def test_a_circle_ends(tmp_path: Path) -> None:
    assert sorted(names(order(tmp_path, {"a": "b", "b": "a"}, "a"))) == ["a", "b"]


def test_modules_of_a_text_its_own_left_out() -> None:
    text = "module a\n  use b\n  use c\nend module a\nmodule d\n  use a\nend module d\n"
    assert missing_modules(text, ["b"]) == ("c",)


def test_modules_of_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / "two.f90").write_text("module a\nend module a\nmodule b\nend module b\n")
    (tmp_path / "c.mod").touch()
    (tmp_path / "D.mod").touch()
    assert modules_defined_in([tmp_path / "two.f90"]) == ("a", "b")
    assert sorted(compiled_modules([tmp_path])) == ["c", "d"]
