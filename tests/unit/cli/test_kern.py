"""The command for kernels: stubs and checks."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from command import Outcome, run_command

KERNELS = Path(__file__).parents[2] / "corpus" / "lfric" / "kernels"
GOCEAN = Path(__file__).parents[2] / "corpus" / "gocean" / "kernels"


def run(words: str, folder: Path) -> Outcome:
    return run_command(["psyclone-storage-kern", *words.split()], folder)


@pytest.fixture
def drag(tmp_path: Path) -> Path:
    """Return a folder with one kernel of the corpus."""
    name = "wind_tendency_kernel_mod.f90"
    (tmp_path / name).write_text((KERNELS / name).read_text())
    return tmp_path


def test_a_stub_goes_to_standard_output_or_a_file(drag: Path) -> None:
    printed = run("-gen stub wind_tendency_kernel_mod.f90", drag)
    assert printed.status == 0
    assert printed.out.startswith("module wind_tendency_kernel_mod\n")
    assert "  subroutine wind_tendency_code(nlayers, " in printed.out
    written = run("wind_tendency_kernel_mod.f90 -o stub.f90", drag)
    assert written.written == {"stub.f90": printed.out}


def test_a_file_is_named_where_it_is_missing(drag: Path) -> None:
    done = run("-check none.f90 wind_tendency_kernel_mod.f90", drag)
    assert done.status == 1
    assert done.err.startswith("error[P001]: 'none.f90' cannot be read")
    assert done.err.count("error[") == 1


def test_a_type_that_is_not_there_is_reported(drag: Path) -> None:
    for task in ("-check", "-gen stub"):
        done = run(f"{task} --type drag_type wind_tendency_kernel_mod.f90", drag)
        assert done.status == 1
        assert done.err.startswith("error[P040]")


def test_every_kernel_of_the_corpus_fits_its_metadata(tmp_path: Path) -> None:
    files = " ".join(str(path) for path in sorted(KERNELS.glob("*.f90")))
    done = run(f"-check {files}", tmp_path)
    assert (done.status, done.err) == (0, "")


def test_a_kernel_in_python_is_checked_as_python(tmp_path: Path) -> None:
    folder = Path(__file__).parents[2] / "errors" / "M207_python_stencil" / "kernels"
    (file,) = folder.glob("*.py")
    (tmp_path / "kernel.py").write_text(file.read_text())
    done = run("-api gocean -check kernel.py", tmp_path)
    assert (done.status, "error[M207]" in done.err, "P014" in done.err) == (1, True, False)
    (tmp_path / "broken.py").write_text("def f(:\n")
    done = run("-api gocean -check broken.py", tmp_path)
    assert (done.status, done.err.startswith("error[P050]")) == (1, True)


@pytest.mark.fortran
def test_stubs_of_all_kinds_of_kernels_compile(tmp_path: Path, f90: tuple[str, ...]) -> None:
    """The kinds come from a module that stands for the model's."""
    (tmp_path / "constants_mod.f90").write_text(
        "module constants_mod\n"
        "  use iso_fortran_env, only: real32, real64, int32\n"
        "  implicit none\n"
        "  integer, parameter :: r_def = real64, r_solver = real32, i_def = int32, l_def = 4\n"
        "end module constants_mod\n"
    )
    sources = ["constants_mod.f90"]
    for path in sorted(KERNELS.glob("*.f90")):
        done = run(f"-gen stub {path} -o {path.stem}_stub.f90", tmp_path)
        if done.err.startswith("error[L006]"):
            continue
        assert done.err == "", path
        sources.append(f"{path.stem}_stub.f90")
    assert len(sources) > 80
    flags = ("-std=f2008", "-Wall", "-Wno-unused-dummy-argument", "-Werror", "-fsyntax-only")
    built = subprocess.run(
        [*f90, *flags, *sources], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr


def test_every_kernel_for_gocean_fits_its_metadata(tmp_path: Path) -> None:
    files = " ".join(str(path) for path in sorted(GOCEAN.glob("*.f90")))
    done = run(f"-api gocean -check {files}", tmp_path)
    assert (done.status, done.err) == (0, "")


def test_a_stub_of_a_kernel_for_gocean_counts_points(tmp_path: Path) -> None:
    done = run(f"-api gocean1.0 {GOCEAN / 'smooth_mod.f90'}", tmp_path)
    assert done.status == 0
    assert "  subroutine smooth_code(i, j, field_1, field_2" in done.out
