"""Two commands of one folder of changed kernels, one of which runs at each moment of the other."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from unit.cli.test_kernel_folder import finish, in_folder, in_single, is_whole, kernel

SYSTEM_CALLS = ("stat", "open", "link", "rename", "replace", "unlink", "listdir")


def at_call(patch: pytest.MonkeyPatch, moment: int, run: Callable[[], None]) -> list[str]:
    """Let `run` happen before system call number `moment`; return the list of all such calls."""
    calls: list[str] = []

    def noted(name: str) -> Callable[..., object]:
        real = getattr(os, name)

        def call(*words: object, **more: object) -> object:
            calls.append(name)
            if len(calls) == moment:
                patch.undo()
                run()
            return real(*words, **more)

        return call

    for name in SYSTEM_CALLS:
        patch.setattr(os, name, noted(name))
    return calls


@pytest.mark.parametrize("interrupted", ["use", "drop"])
def test_another_command_may_run_at_any_moment(tmp_path: Path, interrupted: str) -> None:
    """One command begins to use a kernel while the only other user stops."""
    for moment in count(1):
        folder = tmp_path / str(moment)
        folder.mkdir()
        for layer in ("one_psy.f90", "two_psy.f90"):
            (folder / layer).touch()
        finish(in_single(folder, kernel), folder)
        use = partial(use_kernel, folder, "two_psy.f90")
        drop = partial(finish, in_folder(folder, single=True), folder)
        first, second = (use, drop) if interrupted == "use" else (drop, use)
        with pytest.MonkeyPatch.context() as patch:
            calls = at_call(patch, moment, second)
            first()
        if len(calls) < moment:
            break
        assert is_whole(folder / "work_0_mod.f90"), calls
        assert len(list(folder.glob(".*"))) == 1
    assert {"listdir", "unlink"} < {*calls}


def use_kernel(folder: Path, layer: str) -> None:
    kernels = in_folder(folder, layer, single=True)
    kernels.allocate("work", kernel)
    finish(kernels, folder)
