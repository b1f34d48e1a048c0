"""Compare what was emitted with a folder of expected files."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

Compare = Callable[[dict[str, str]], None]


def compare_folder(emitted: dict[str, str], folder: Path, *, update: bool) -> None:
    """Assert that `folder` holds exactly the files `emitted`; with `update`, make it so."""
    if update:
        shutil.rmtree(folder, ignore_errors=True)
        for name, text in emitted.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
    expected = {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    assert emitted == expected
