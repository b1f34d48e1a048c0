"""The scripts of the examples: rejected arguments, preserved files, and any working directory."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from libraries import EXTERNAL
from runtime.examples import EXAMPLES, path_to, run_example

GOCEAN = "gocean/shallow_water/run"
PYTHON = "python/shallow_water/run"
LFRIC = "lfric/advection/run"
DEMO = "lfric/demo/run"
SCRIPTS = sorted(path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.glob("*/*/run"))
NEEDED = ("psyclone-storage", "make", "gfortran", "mpif90", "mpirun", "python3")
SHELL = ("bash", "cat", "dirname", "env", "id", "mkdir", "readlink", "rm", "wc")
NOTHING_BUILT = shutil.ignore_patterns("build")


@pytest.fixture
def idle(tmp_path: Path) -> Path:
    """Return a folder of tools that do nothing, and no others but those of a shell."""
    folder = tmp_path / "idle"
    folder.mkdir()
    for name in NEEDED:
        tool = folder / name
        tool.write_text("#!/bin/sh\n", encoding="utf-8")
        tool.chmod(0o755)
    for name in SHELL:
        program = shutil.which(name)
        assert program is not None
        (folder / name).symlink_to(program)
    return folder


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a copy of the examples, beside the libraries."""
    (tmp_path / "clone").mkdir()
    (tmp_path / "clone" / "external").symlink_to(EXTERNAL)
    return shutil.copytree(EXAMPLES, tmp_path / "clone" / "examples", ignore=NOTHING_BUILT)


def run(
    script: Path, idle: Path, *words: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a script of an example with tools that do nothing."""
    environment = {**os.environ, "PATH": str(idle), **variables}
    return subprocess.run(
        [str(script), *words], env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize(
    "words",
    [
        ("--ranks",),
        ("--ranks", "0"),
        ("--ranks", "-1"),
        ("--ranks", "two"),
        ("--help",),
        ("one", "two"),
        ("2",),
    ],
    ids=" ".join,
)
def test_every_script_refuses_the_same_arguments(
    script: str, words: tuple[str, ...], idle: Path
) -> None:
    done = run(EXAMPLES / script, idle, *words)
    assert (done.returncode, done.stdout) == (2, "")
    number = words[1] if len(words) > 1 else ""
    expected = (
        f"The number of ranks must be 1 or more, not '{number}'.\n"
        if words[0] == "--ranks"
        else "Usage: run [--ranks N] [build folder]\n"
    )
    assert done.stderr == expected


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_script_builds_in_the_folder_that_is_given(
    script: str, clone: Path, idle: Path, tmp_path: Path
) -> None:
    """The tools note the number of ranks and the folder in which the program runs."""
    note = f'#!/bin/bash\necho "$PWD $*" >>"{tmp_path}/notes"\n'
    (idle / "mpirun").write_text(note, encoding="utf-8")
    before = set((clone / "examples").rglob("*"))
    folder = tmp_path / "chosen"
    layer = "gravity_wave_alg_mod_psy.f90"
    if script == DEMO:
        folder.mkdir()
        (folder / layer).touch()
    done = run(clone / script, idle, "--ranks", "3", str(folder))
    assert (done.returncode, done.stderr) == (0, "")
    ((place, words),) = (
        line.split(" ", 1) for line in (tmp_path / "notes").read_text("utf-8").splitlines()
    )
    assert words.startswith("--oversubscribe -n 3 ")
    assert folder.is_dir()
    if script != DEMO:  # its waves are those of another example
        assert Path(place) == folder
        assert set((clone / "examples").rglob("*")) == before


@pytest.mark.parametrize(
    ("script", "words", "lacking"),
    [
        *((LFRIC, (), tool) for tool in ("psyclone-storage", "make", "mpif90", "mpirun")),
        *((GOCEAN, (), tool) for tool in ("psyclone-storage", "make", "gfortran")),
        *((GOCEAN, ("--ranks", "2"), tool) for tool in ("mpif90", "mpirun")),
        *((PYTHON, (), tool) for tool in ("psyclone-storage", "python3")),
        (DEMO, (), "psyclone-storage"),
    ],
)
def test_a_tool_that_is_missing_is_named(
    script: str, words: tuple[str, ...], lacking: str, idle: Path
) -> None:
    (idle / lacking).unlink()
    done = run(EXAMPLES / script, idle, *words)
    sentence = f"This example needs the command '{lacking}', which is not found.\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", sentence)


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_may_be_called_through_a_link(script: str, clone: Path, idle: Path) -> None:
    build = (clone / script).parent / "build"
    build.mkdir()
    (build / "generated.f90").touch()
    (idle / "link").symlink_to(clone / script)
    done = run(idle / "link", idle, *(("--ranks", "2") if script == GOCEAN else ()))
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in idle.iterdir()) == sorted((*NEEDED, *SHELL, "link"))


def test_the_demo_does_what_can_be_done(clone: Path, idle: Path) -> None:
    """Without a compiler the generated code is shown; without MPI nothing is run."""
    layer = clone / "lfric" / "demo" / "build" / "gravity_wave_alg_mod_psy.f90"
    layer.parent.mkdir()
    layer.write_text("module generated\n", encoding="utf-8")
    for name in ("gfortran", "mpif90"):
        (idle / name).unlink()
    done = run(clone / DEMO, idle)
    assert (done.returncode, done.stderr) == (0, "")
    assert "(there is no gfortran to compile it with)\nmodule generated\n" in done.stdout
    assert done.stdout.endswith(
        "There is no MPI that compiles and runs (mpif90, mpirun): nothing is run\n"
    )


def test_the_demo_runs_nothing_with_a_wrapper_of_no_compiler(clone: Path, idle: Path) -> None:
    layer = clone / "lfric" / "demo" / "build" / "gravity_wave_alg_mod_psy.f90"
    layer.parent.mkdir()
    layer.write_text("module generated\n", encoding="utf-8")
    (idle / "mpif90").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    done = run(clone / DEMO, idle, F90="f95")
    assert (done.returncode, done.stderr) == (0, "")
    assert "(there is no f95 to compile it with)\nmodule generated\n" in done.stdout
    assert done.stdout.endswith("nothing is run\n")


@pytest.mark.parametrize("script", [LFRIC, GOCEAN])
def test_building_beside_the_sources_keeps_them(script: str, clone: Path, idle: Path) -> None:
    """Kernels that steps have made are removed before the next build, the example's own are not."""
    kernels = (clone / script).parent / "kernels"
    before = sorted(kernels.iterdir())
    run(clone / script, idle, ".")
    assert sorted(kernels.iterdir()) == before


@pytest.mark.parametrize("script", [LFRIC, GOCEAN])
def test_a_folder_that_make_cannot_name_is_refused(script: str, idle: Path) -> None:
    folder = str(idle.parent / "my models")
    done = run(EXAMPLES / script, idle, folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(f"must be without spaces, for make: '{folder}'.\n")


@pytest.mark.fortran
@pytest.mark.mpi
@pytest.mark.parametrize(
    ("script", "said"),
    [(LFRIC, ["\nstep  64 ", "\n65 halo exchanges"]), (GOCEAN, ["halo(height)@loop3", "\nend "])],
)
def test_a_fresh_clone_runs_wherever_it_is(
    script: str, said: list[str], tools: Path, compilers: Path, tmp_path: Path
) -> None:
    """All is built, in a folder with a space, by compilers that cache what they compile."""
    fresh = tmp_path / "my models"
    for folder in (EXAMPLES, EXTERNAL):
        shutil.copytree(folder, fresh / folder.name, ignore=NOTHING_BUILT)
    before = set(fresh.rglob("*"))
    path = path_to(tools, compilers)
    printed = run_example(fresh / "examples" / script, tools, PATH=path)
    assert all(words in printed for words in said)
    build = (fresh / "examples" / script).parent / "build"
    new = set(fresh.rglob("*")) - before
    assert build in new
    assert all(path.is_relative_to(build) for path in new)
