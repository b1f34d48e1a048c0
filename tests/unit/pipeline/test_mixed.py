"""Fortran kernels in Python programs, together with Python kernels."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from command import run_command
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.gocean import configure, fortran_kernel, invoke
from psyclone_storage.runtime.gocean import Field, Grid
from unit.pipeline.test_python_schedules import schedule_of

ROOT = Path(__file__).parents[2]
KERNELS = ROOT / "corpus" / "gocean" / "kernels"
TRANSLATED = ROOT / "compile" / "translated"
ALGORITHM = """\
from psyclone_storage.gocean import *
from copy_any_mod import copy_any

smooth = fortran_kernel({file!r}, "smooth")


def run(new, old):
    invoke(copy_any(new, old), smooth(old, new), copy_any(new, old))
"""
COPY = """\
from psyclone_storage.gocean import *


@kernel(iterates_over=GO_ALL_PTS, index_offset=GO_OFFSET_ANY)
def copy_any(new: field[GO_WRITE, GO_EVERY], old: field[GO_READ, GO_EVERY]):
    new[0, 0] = old[0, 0]
"""


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    yield
    configure()


def fields() -> tuple[Field, Field]:
    grid = Grid((6, 5), periodic=(True, True))
    return Field(grid, label="new"), Field(grid, label="old", values=values())


def values() -> np.ndarray:
    return np.sin(np.arange(30.0)).reshape(6, 5)


def smoothed() -> np.ndarray:
    old = values()
    west, east = np.roll(old, 1, 0), np.roll(old, -1, 0)
    south, north = np.roll(old, 1, 1), np.roll(old, -1, 1)
    return 0.5 * old + 0.125 * (west + east + south + north)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a kernel of each language, and an algorithm."""
    (tmp_path / "copy_any_mod.py").write_text(COPY)
    (tmp_path / "smooth_mod.f90").write_text((KERNELS / "smooth_mod.f90").read_text())
    (tmp_path / "alg.py").write_text(ALGORITHM.format(file="smooth_mod.f90"))
    return tmp_path


def loaded(file: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(file.parent)
    for name in ("copy_any_mod", "alg_psy"):
        sys.modules.pop(name, None)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("target", ["c", "numpy"])
def test_both_languages_in_one_invoke(
    folder: Path, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(target=target)
    new, old = fields()
    loaded(folder / "alg.py", monkeypatch).run(new, old)
    assert np.array_equal(old.values, smoothed())
    assert np.array_equal(new.values, smoothed())


@pytest.mark.parametrize("words", ["file={file!r}, name='smooth'", "name='smooth', file={file!r}",
                                   "{file!r}, name='smooth'"])  # fmt: skip
def test_compiled_ahead_with_keywords(folder: Path, words: str) -> None:
    text = ALGORITHM.replace('{file!r}, "smooth"', words).format(file="smooth_mod.f90")
    assert "name=" in text
    (folder / "alg.py").write_text(text)
    done = run_command(["alg.py", "-d", ".", "-oalg", "made.py", "-opsy", "alg_psy.py"], folder)
    assert done.status == 0, done.err


@pytest.mark.parametrize("target", ["c", "numpy"])
def test_compiled_ahead(folder: Path, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["alg.py", "-d", ".", "-oalg", "made.py", "-opsy", "alg_psy.py", "--target", target]
    done = run_command(words, folder)
    assert done.status == 0, done.err
    new, old = fields()
    loaded(folder / "made.py", monkeypatch).run(new, old)
    assert np.array_equal(new.values, smoothed())


def test_schedules_do_not_tell_in_which_language_a_kernel_is(folder: Path) -> None:
    mixed = schedule_of(folder / "alg.py", folder, folder)
    (folder / "other").mkdir()
    text = COPY.replace("copy_any", "smooth")
    words = "new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT, GO_STENCIL('010,111,010')]"
    head, _, tail = text.partition("(new:")
    text = f"{head}({words}{tail[tail.index('):') :]}".replace("GO_ALL_PTS", "GO_INTERNAL_PTS")
    (folder / "other" / "smooth_mod.py").write_text(text.replace("OFFSET_ANY", "OFFSET_NE"))
    (folder / "other" / "copy_any_mod.py").write_text(COPY)
    assert mixed == schedule_of(folder / "alg.py", folder / "other", folder)


def test_variables_of_modules_are_those_of_python(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = ModuleType("settings_mod")
    settings.time_step, settings.level, settings.is_cold = 0.5, 2, False
    monkeypatch.setitem(sys.modules, "settings_mod", settings)
    text = (TRANSLATED / "constructs_mod.f90").read_text().replace("+ slope\n", "\n")
    text = text.replace("- slope * dt", "- third * dt")
    own = TRANSLATED / "constructs_mod.f90"
    assert text != own.read_text()
    new, old = fields()
    with pytest.raises(CompileError) as caught:
        invoke(fortran_kernel(own, "variables")(new, old))
    assert [one.code for one in caught.value.problems] == ["G006", "G006"]
    assert all("'slope'" in one.message for one in caught.value.problems)


def test_constants_and_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = ModuleType("settings_mod")
    settings.time_step, settings.level, settings.is_cold = 0.5, 2, True
    monkeypatch.setitem(sys.modules, "settings_mod", settings)
    text = (TRANSLATED / "constructs_mod.f90").read_text().replace("+ slope\n", "\n")
    (tmp_path / "made_mod.f90").write_text(text.replace("- slope * dt", "- third * dt"))
    (tmp_path / "settings_mod.f90").write_text((TRANSLATED / "settings_mod.f90").read_text())
    variables = fortran_kernel(tmp_path / "made_mod.f90", "variables")
    new, old = fields()
    third = 1.0 / 3
    for step in (0.5, 0.25):
        settings.time_step = step
        invoke(variables(new, old))
        was = old.values
        wanted = was + step * 2 * np.sin(3.141592653589793 / 180.0 * was) - third * step
        assert np.allclose(new.values, wanted, rtol=1e-15, atol=1e-15)


def test_what_has_no_form_is_told_in_fortran() -> None:
    new, _ = fields()
    with pytest.raises(CompileError) as caught:
        invoke(fortran_kernel(KERNELS / "wall_u_mod.f90", "wall_u")(new))
    (problem,) = caught.value.problems
    assert problem.code == "G006"
    assert problem.span is not None
    assert problem.span.source.name.endswith("wall_u_mod.f90")
    assert problem.span.text.startswith("if (mask(i, j)")


def test_a_call_has_the_arguments_of_the_metadata() -> None:
    new, old = fields()
    smooth = fortran_kernel(KERNELS / "smooth_mod.f90", "smooth")
    with pytest.raises(TypeError, match="takes 2 arguments, but is given 3"):
        invoke(smooth(new, old, old))


def test_a_file_or_a_kernel_that_is_not_there() -> None:
    new, old = fields()
    with pytest.raises(CompileError, match="P040"):
        invoke(fortran_kernel(KERNELS / "smooth_mod.f90", "smoother")(new, old))
    with pytest.raises(CompileError):
        invoke(fortran_kernel(KERNELS / "absent_mod.f90", "absent")(new, old))
