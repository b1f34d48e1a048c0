"""Kernels compute the same with procedures in the place of their calls, to the last bit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from kernel_bodies import KINDS, compare, samples, text_of
from psyclone_storage.base.source import SourceText
from psyclone_storage.driver.merged import CalledProcedures
from psyclone_storage.frontend.finder import ModuleFinder
from psyclone_storage.frontend.fortran.body import read_code
from psyclone_storage.frontend.fortran.resolve import resolve_code
from psyclone_storage.frontend.search import index_directories
from psyclone_storage.ir.code import KernelCode, MergedCode
from random_calls import DECLARATIONS, DUMMIES, LOCALS, OWN, body, helpers

pytestmark = pytest.mark.fortran
SIZE = 3


class Model:
    """A kernel with the modules that it uses, below a folder."""

    def __init__(self, folder: Path, called: str, statements: str) -> None:
        (folder / "constants_mod.f90").write_text(KINDS)
        (folder / "helpers_mod.f90").write_text(called)
        self.called = called
        finder = ModuleFinder(index_directories((folder,)))
        inside, own = OWN.split("contains\n")
        text = (
            "module small_mod\nuse constants_mod, only: r_def, i_def\nuse helpers_mod, only: &\n"
            "weigh, turn, column, matrix, counted, nested, picked\nimplicit none\n"
            f"{inside}contains\n{own}\nsubroutine small_code({DUMMIES})\n{DECLARATIONS}\n{LOCALS}\n"
            f"{statements}\nend subroutine small_code\nend module small_mod\n"
        )
        source = SourceText(str(folder / "small_mod.f90"), text)
        self.code = resolve_code(read_code(source, "small_code"), finder)
        self.procedures = CalledProcedures(finder)

    def merged(self) -> MergedCode:
        """Return the kernel with procedures in the place of its calls."""
        return self.procedures.merged(self.code)


def given() -> Iterator[dict[str, object]]:
    """Return values for the arguments of a kernel."""
    return samples({"a": (SIZE, SIZE), "b": (SIZE, SIZE), "s": (SIZE,)}, n=SIZE)


@pytest.mark.parametrize("seed", range(40))
def test_random_pairs(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    model = Model(tmp_path, helpers(random), body(random))
    made = model.merged()
    if text_of(made.code) == text_of(model.code):
        assert made.left
        return
    compare(tmp_path, model.code, lambda _: made.code, given(), model.called)


def test_most_calls_go_and_some_stay(tmp_path: Path) -> None:
    gone = stay = 0
    for seed in range(60):
        folder = tmp_path / str(seed)
        folder.mkdir()
        random = Random(seed)
        model = Model(folder, helpers(random), body(random))
        made = model.merged()
        stay += len(made.left)
        gone += _number_of_calls(model.code) - _number_of_calls(made.code)
    assert gone > 3 * stay > 30


def _number_of_calls(code: KernelCode) -> int:
    text = text_of(code)
    words = ("weigh(", "turn(", "column(", "matrix(", "counted(", "nested(", "picked(", "own(i")
    return sum(text.count(word) for word in words)
