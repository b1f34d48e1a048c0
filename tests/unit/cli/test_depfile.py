"""Dependencies as Make reads them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.cli.depfile import depfile_text, dyndep_text, kernel_list_text
from unit.cli.conftest import Command

needs_make = pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")
needs_ninja = pytest.mark.skipif(not shutil.which("ninja"), reason="ninja is not installed")


def test_layout() -> None:
    rule = ((Path("alg.f90"), Path("psy.f90")), (Path("alg.x90"), Path("k.f90"), Path("k.f90")))
    assert depfile_text(Path("x.d"), [rule]) == (
        "alg.f90 psy.f90: \\\n  alg.x90 \\\n  k.f90\n\nalg.x90:\n\nk.f90:\n"
    )


def test_settings_and_script_are_sources(command: Command, project: Path) -> None:
    (project / "optimise.py").write_text("def trans(psy):\n    pass\n")
    (project / "my.cfg").write_text("[DEFAULT]\nDISTRIBUTED_MEMORY = true\n")
    words = "-c my.cfg -s optimise.py -oalg a.f90 --depfile a.d alg.x90"
    text = command(*words.split()).written["a.d"]
    assert text.startswith("a.f90: \\\n  alg.x90 \\\n  kernels/")
    assert "  optimise.py \\\n  my.cfg\n" in text


def test_a_file_that_fails_has_no_rule(command: Command, project: Path) -> None:
    (project / "bad.x90").write_text("program bad\n  call invoke(nothing(x))\nend program bad\n")
    done = command("bad.x90", "alg.x90", "--output-dir", "out", "--depfile", "all.d")
    assert done.status == 1
    assert done.written["all.d"].startswith("out/alg.f90 out/alg_psy.f90: \\\n")
    assert "bad" not in done.written["all.d"]


TOOLS = """
import json
from pathlib import Path

def depth():
    with open("depth.json") as stream:
        return json.load(stream)
"""
SCRIPT = """
import site_tools

def trans(psy):
    import late_tools
    site_tools.depth()
    print(Path("notes.txt").read_text())
    open("log.txt", "w").close()

from pathlib import Path
"""


def sources_of(rule: str) -> list[str]:
    return [line.strip(" \\") for line in rule.partition("\n\n")[0].splitlines()[1:]]


def test_all_that_a_script_reads_is_a_source(
    command: Command, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Modules from elsewhere, late imports, what is opened; but nothing that is installed."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "site_tools.py").write_text(TOOLS)
    (project / "scripts").mkdir()
    (project / "scripts" / "late_tools.py").write_text("")
    (project / "scripts" / "optimise.py").write_text(SCRIPT)
    (project / "depth.json").write_text("2")
    (project / "notes.txt").write_text("a note")
    monkeypatch.syspath_prepend(str(elsewhere))
    words = "-s scripts/optimise.py -oalg a.f90 --depfile a.d alg.x90"
    for _ in range(2):
        (project / "a.d").unlink(missing_ok=True)
        found = sources_of(command(*words.split()).written["a.d"])
        assert found[0] == "alg.x90"
        assert sorted(found[3:]) == sorted(
            [
                "scripts/optimise.py",
                "scripts/late_tools.py",
                "depth.json",
                "notes.txt",
                str(elsewhere / "site_tools.py"),
            ]
        )
        sys.modules.pop("site_tools", None)


def test_modules_and_included_files_are_sources(command: Command, project: Path) -> None:
    """Steps look into kernels, and at what these import and include, also from folders of '-I'."""
    kernel = project / "kernels" / "wind_to_cell_kernel_mod.f90"
    text = kernel.read_text().replace(
        "  implicit none", "  use sizes_mod, only: big\n  implicit none"
    )
    kernel.write_text(text)
    (project / "inc").mkdir()
    sizes = "module sizes_mod\n  implicit none\n  include 'big.inc'\nend module sizes_mod\n"
    (project / "inc" / "sizes_mod.f90").write_text(sizes)
    (project / "inc" / "big.inc").write_text("integer, parameter :: big = 3\n")
    (project / "inc" / "other_mod.f90").write_text("module other_mod\nend module other_mod\n")
    step = ("--apply", "inline-kernel-module")
    words = "-I inc -oalg a.f90 --depfile a.d alg.x90"
    found = sources_of(command(*step, *words.split()).written["a.d"])
    assert {"inc/sizes_mod.f90", "inc/big.inc"} <= set(found)
    assert "inc/other_mod.f90" not in found


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_each_file_has_sources_of_its_own(command: Command, project: Path, jobs: str) -> None:
    text = (project / "alg.x90").read_text()
    (project / "two.x90").write_text(
        "module two_mod\ncontains\n  subroutine two(a)\n    use field_mod, only: field_type\n"
        "    type(field_type), intent(inout) :: a\n    call invoke(setval_c(a, 0.0_r_def))\n"
        "  end subroutine two\nend module two_mod\n"
    )
    assert "setval_c" not in text
    words = f"--output-dir out --depfile all.d -j {jobs} alg.x90 two.x90 --no-cache"
    rules = command(*words.split()).written["all.d"].split("\n\n")
    assert rules[1] == "out/two.f90 out/two_psy.f90: \\\n  two.x90"


def test_lists_of_kernels() -> None:
    kernels = {Path("out/a b.f90"): "text", Path("out/c$d.f90"): "other"}
    assert kernel_list_text(Path("x.txt"), kernels) == "out/a b.f90\nout/c$d.f90\n"
    assert kernel_list_text(Path("x.mk"), kernels) == (
        "CHANGED_KERNELS += \\\n  out/a\\ b.f90 \\\n  out/c$$d.f90\n"
    )
    assert kernel_list_text(Path("x.mk"), ()) == "CHANGED_KERNELS +=\n"
    lines = dyndep_text(Path("x.dd"), "lib a", kernels).splitlines()
    assert lines[0] == "ninja_dyndep_version = 1"
    assert lines[-1] == "build lib$ a: dyndep | out/a$ b.f90 out/c$$d.f90"
    changed = dyndep_text(Path("x.dd"), "lib a", kernels | {Path("out/a b.f90"): "text 2"})
    assert changed.splitlines()[1:2] != lines[1:2]
    assert dyndep_text(Path("x.dd"), "lib", {}) == "ninja_dyndep_version = 1\nbuild lib: dyndep\n"


def test_kernels_in_lists_and_in_one_file(command: Command) -> None:
    step = ("--apply", "kernel-constants{number_of_layers=20}", "-okern", "out")
    words = (
        "-oalg a.f90 -opsy p.f90 --kernel-list k.txt --gather-kernels k.F90 --stamp a.stamp "
        "--dyndep k.dd lib --depfile a.d alg.x90"
    )
    made = command(*step, *words.split()).written
    names = made["k.txt"].split()
    assert names == ["out/wind_tendency_kernel_0_mod.f90", "out/wind_to_cell_kernel_0_mod.f90"]
    assert made["k.F90"] == "\n".join(made[name] for name in names)
    assert all(name in made["k.dd"] for name in names)
    assert made["a.d"].startswith("a.stamp: \\\n  alg.x90 \\\n")
    assert made["a.stamp"] == ""
    unchanged = command(*words.split()).written
    assert unchanged["k.F90"].startswith("! ")
    assert unchanged["k.txt"] == ""


def test_a_stamp_says_that_all_is_well(command: Command, project: Path) -> None:
    (project / "bad.x90").write_text("program bad\n  call invoke(nothing(x))\nend program bad\n")
    assert command("bad.x90", "alg.x90", "--output-dir", "out", "--stamp", "s").status == 1
    assert not (project / "s").exists()
    assert command("alg.x90", "--output-dir", "out", "--stamp", "new/s").status == 0
    assert (project / "new" / "s").exists()


@needs_make
def test_make_builds_again_when_any_source_changes(command: Command, project: Path) -> None:
    """The names hold what Make takes as special: blanks, `#`, `$` and backslashes."""
    odd = project / "a b#1$x\\y.x90"
    (project / "alg.x90").rename(odd)
    kernels = project / "kernels of mine"
    (project / "kernels").rename(kernels)
    (project / "kernels").symlink_to(kernels)
    words = ["-d", kernels.name, "-oalg", "my alg.f90", "-opsy", "psy.f90", "--depfile", "all.d"]
    assert command(*words, odd.name).err == ""
    (project / "Makefile").write_text("include all.d\nmy\\ alg.f90:\n\techo built\n")

    def made() -> bool:
        target = "my alg.f90"
        done = subprocess.run(
            ["make", target], cwd=project, capture_output=True, text=True, check=True
        )
        return "echo built" in done.stdout

    assert not made()
    (project / "my alg.f90").touch()
    for source in (odd, next(kernels.glob("wind_to*.f90"))):
        later = (project / "my alg.f90").stat().st_mtime + 10
        os.utime(source, (later, later))
        assert made(), source
        os.utime(source, (1, 1))
    next(kernels.glob("wind_to*.f90")).unlink()
    assert made()


READ_BY_BOTH = " #$:%\\~]{}(),@!+é"
NOT_READ_BY_BOTH = ";|<>*?[=&^'\"`\n\t\r\x7f"
PLACES = ("a{}b", "{}b", "a{}")
READABLE = [
    place.format(one)
    for one in READ_BY_BOTH
    for place in PLACES
    if place.format(one) not in {" b", "a ", "a:", "a\\", "a)", "~b"}
]


@needs_make
@pytest.mark.parametrize("name", READABLE)
def test_make_reads_names_with_special_characters(tmp_path: Path, name: str) -> None:
    """As the target, as the first source and as another one; and if the source is removed."""
    target, sources = f"{name}_out", (name, f"{name}2", "plain")
    rule = ((Path(target),), tuple(map(Path, sources)))
    text = depfile_text(Path("all.d"), [rule])
    left = text.partition(": \\\n")[0]
    (tmp_path / "Makefile").write_text(f"include all.d\n{left}:\n\t@echo built\n")
    (tmp_path / "all.d").write_text(text)
    for source in sources:
        (tmp_path / source).touch()
        os.utime(tmp_path / source, (1, 1))
    (tmp_path / target).touch()

    def is_outdated() -> bool:
        done = subprocess.run(
            ["make", "-q", target], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode in {0, 1}, done.stderr
        return done.returncode == 1

    assert not is_outdated()
    for source in sources:
        os.utime(tmp_path / source, (2e9, 2e9))
        assert is_outdated(), source
        os.utime(tmp_path / source, (1, 1))
        if "%" not in source:
            (tmp_path / source).rename(tmp_path / "moved")
            assert is_outdated(), source
            (tmp_path / "moved").rename(tmp_path / source)


@needs_ninja
def test_ninja_reads_names_with_special_characters(tmp_path: Path) -> None:
    sources = [name + last for name in READABLE for last in ("", "2")]
    assert len(sources) == 90
    rule = ((Path("out#$:%"),), tuple(map(Path, sources)))
    (tmp_path / "given.d").write_text(depfile_text(Path("all.d"), [rule]))
    for source in sources:
        (tmp_path / source).touch()
    (tmp_path / "build.ninja").write_text(
        "rule make\n  command = cp given.d all.d && touch 'out#$$:%'\n"
        "  depfile = all.d\n  deps = gcc\nbuild out#$$$:%: make\n"
    )
    subprocess.run(["ninja"], cwd=tmp_path, check=True, capture_output=True)
    found = subprocess.run(
        ["ninja", "-t", "deps"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert [line[4:] for line in found.stdout.splitlines()[1:] if line] == sources


@pytest.mark.parametrize(
    "name",
    [
        *(place.format(one) for one in NOT_READ_BY_BOTH for place in PLACES),
        *(" b", "a ", "a:", "a\\", "a)", "~b", "a\\#b", "a\\:b", "a\\%b"),
    ],
)
def test_names_that_make_or_ninja_cannot_read_are_refused(name: str) -> None:
    for rule in (((Path(name),), (Path("b"),)), ((Path("a"),), (Path("b"), Path(name)))):
        with pytest.raises(CompileError) as found:
            depfile_text(Path("all.d"), [rule])
        (problem,) = found.value.problems
        assert problem.code == "L003"
        assert f"cannot read the name {name!r}" in problem.message
        assert "'--depfile'" in problem.hint


def test_names_of_other_lists_that_are_refused() -> None:
    for name in ("a\nb", "a\rb"):
        for path in ("x.mk", "x.txt"):
            with pytest.raises(CompileError, match="L003"):
                kernel_list_text(Path(path), (Path(name),))
    for name in ("a\nb", "a|b"):
        with pytest.raises(CompileError, match="L003"):
            dyndep_text(Path("x.dd"), name, {})
        with pytest.raises(CompileError, match="L003"):
            dyndep_text(Path("x.dd"), "lib", {Path(name): "text"})


def test_a_refused_name_leaves_no_output(command: Command, project: Path) -> None:
    (project / "alg.x90").rename(project / "a;b\n.x90")
    done = command("a;b\n.x90", "--output-dir", "out", "--depfile", "all.d")
    assert done.status == 1
    assert "error[L003]" in done.err
    assert "'a;b\\n.x90'" in done.err
    assert done.written == {}
    assert not (project / "out").exists()
    assert command("a;b\n.x90", "--output-dir", "out").status == 0
