"""Kept translations: the same as those that are made, and never those of something else."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import psyclone_storage.cli.results as module
from command import Outcome, run_command
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.cli import infrastructure
from psyclone_storage.cli.infrastructure import find_infrastructure
from psyclone_storage.config.locate import shipped_settings_file
from psyclone_storage.pipeline import compile as compilation
from unit.cli.conftest import Command

Compiled = list[Path]
WORDS = ("alg.x90", "-oalg", "a.f90", "-opsy", "p.f90")
TESTS = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of kept translations, which is empty."""
    monkeypatch.setenv("PSYCLONE_STORAGE_CACHE", str(tmp_path / "kept"))
    return tmp_path / "kept"


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> Compiled:
    """Return the list of the files that are compiled from now on."""
    files: Compiled = []
    usual = compilation.Compiler.compile_algorithm

    def noted(self: compilation.Compiler, path: Path, *others: object) -> compilation.Build:
        files.append(path)
        return usual(self, path, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(compilation.Compiler, "compile_algorithm", noted)
    return files


def fresh(project: Path) -> None:
    """Take away what a command has written."""
    for name in ("a.f90", "p.f90", "d", "s.json", "g.dot"):
        (project / name).unlink(missing_ok=True)


def same_size(path: Path, old: str, new: str) -> None:
    """Change the content of a file, neither its size nor its times."""
    assert len(old) == len(new)
    known = path.stat()
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    os.utime(path, ns=(known.st_atime_ns, known.st_mtime_ns))


# ------------------------------------------------------------------ the same


@pytest.mark.parametrize(
    "words",
    [
        "alg.x90",
        "alg.x90 -oalg a.f90 -opsy p.f90 --depfile d",
        "alg.x90 --schedule --explain",
        "alg.x90 --schedule --colour always",
        "alg.x90 -oalg a.f90 -opsy p.f90 --schedule-json s.json --dag g.dot",
        "alg.x90 -nodm -l output --apply auto",
        "alg.x90 --profile invokes --diagnostics json",
        "no_invoke.x90 -oalg a.f90 -opsy p.f90",
        "no_invoke.x90 --diagnostics json",
        "includes.x90 alg.x90 --schedule",
        "includes.x90 -I parts",
    ],
)
def test_a_second_call_does_the_same(
    words: str, command: Command, project: Path, compiled: Compiled
) -> None:
    plain = (project / "alg.x90").read_text()
    (project / "no_invoke.x90").write_text("module none_mod\nend module none_mod\n")
    line = "  implicit none\n\n  private\n"
    included = plain.replace(line, f"{line}  include 'part.inc'\n").replace("alg_mod", "two_mod")
    (project / "includes.x90").write_text(included)
    (project / "parts").mkdir()
    (project / "parts" / "part.inc").write_text("  call invoke(setval_c(a, 0.0))\n")
    first = command(*words.split())
    assert first.status == 0
    assert compiled
    fresh(project)
    compiled.clear()
    assert command(*words.split()) == first
    assert compiled == []
    fresh(project)
    assert command(*words.split(), "--no-cache") == first
    assert compiled


def test_warnings_keep_their_places(command: Command, project: Path) -> None:
    text = (project / "alg.x90").read_text().replace("  implicit none\n\n  private\n", "", 1)
    (project / "alg.x90").write_text(text.replace("real(kind=r_def), intent(in) :: dt\n", "\n"))
    first = command("alg.x90", "--diagnostics", "json")
    (warning,) = json.loads(first.err)
    assert warning["code"] == "S115"
    assert warning["line"] > 1
    assert command("alg.x90", "--diagnostics", "json").err == first.err
    assert "^^" in command("alg.x90").err


def test_several_files_several_at_a_time(
    command: Command, project: Path, compiled: Compiled
) -> None:
    text = (project / "alg.x90").read_text()
    names = [f"alg{number}.x90" for number in range(6)]
    for number, name in enumerate(names):
        own = text.replace("halo_increment_then_stencil_alg_mod", f"alg{number}_mod")
        (project / name).write_text(own)
    first = command(*names, "--output-dir", "out", "-j", "3")
    shutil.rmtree(project / "out")
    same_size(project / "alg3.x90", "1005.0_r_def", "1006.0_r_def")
    again = command(*names, "--output-dir", "out", "-j", "3")
    changed = {name for name, made in again.written.items() if made != first.written[name]}
    assert changed == {"out/alg3_psy.f90"}
    shutil.rmtree(project / "out")
    compiled.clear()
    assert command(*names, "--output-dir", "out", "-j", "3").written == again.written
    assert compiled == []


def test_one_of_many_is_known_by_itself(
    command: Command, project: Path, compiled: Compiled
) -> None:
    text = (project / "alg.x90").read_text()
    (project / "two.x90").write_text(text.replace("stencil_alg_mod", "two_mod"))
    many = command("alg.x90", "two.x90", "--output-dir", "out")
    compiled.clear()
    assert command("alg.x90").out.count("module halo_increment_then_stencil_alg_mod_psy") == 2
    assert compiled == []
    assert len(many.written) == 4
    reports = command("alg.x90", "two.x90", "--schedule").out
    assert "alg.x90:" in reports
    assert "alg.x90:" not in command("alg.x90", "--schedule").out


# ------------------------------------------------------------------ never of something else


def change_algorithm(project: Path) -> None:
    same_size(project / "alg.x90", "1005.0_r_def", "1006.0_r_def")


def change_kernel(project: Path) -> None:
    same_size(project / "kernels" / "wind_tendency_kernel_mod.f90", "GH_INC", "gh_inc")


def move_kernel(project: Path) -> None:
    (project / "kernels" / "inner").mkdir()
    name = "wind_tendency_kernel_mod.f90"
    (project / "kernels" / name).rename(project / "kernels" / "inner" / name)


def change_settings(project: Path) -> None:
    text = shipped_settings_file().read_text().replace("REPROD_PAD_SIZE = 8", "REPROD_PAD_SIZE = 9")
    (project / "own.cfg").write_text(text)


CHANGES: dict[str, tuple[Callable[[Path], None] | None, str]] = {
    "algorithm": (change_algorithm, ""),
    "kernel": (change_kernel, ""),
    "kernel elsewhere": (move_kernel, ""),
    "kernel in another folder": (lambda at: (at / "kernels").rename(at / "other"), "-d other"),
    "name of the algorithm": (lambda at: (at / "alg.x90").rename(at / "b.x90"), "b.x90"),
    "settings": (change_settings, "-c own.cfg"),
    "override": (None, "--config-opts COMPUTE_ANNEXED_DOFS=true"),
    "memory": (None, "-nodm"),
    "steps": (None, "--apply colour"),
    "profile": (None, "--profile kernels"),
    "line limit": (None, "-l output"),
    "report": (None, "--schedule"),
    "explanation": (None, "--explain"),
    "colour": (None, "--schedule --colour always"),
    "strict": (None, "--warnings error"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_compiled(name: str, project: Path, compiled: Compiled) -> None:
    change, words = CHANGES[name]
    options = ["-api", "lfric", "-oalg", "a.f90", "-opsy", "p.f90"]
    at = ["-d", "kernels"]

    def run(*more: str) -> Outcome:
        given = at if "-d" not in more else []
        file = [] if "b.x90" in more else ["alg.x90"]
        return run_command([*options, *given, *file, *more], project)

    assert run().status == 0
    compiled.clear()
    if change is not None:
        change(project)
    fresh(project)
    done = run(*words.split())
    assert len(compiled) == 1
    fresh(project)
    assert run(*words.split()) == done
    assert len(compiled) == 1
    fresh(project)
    assert run(*words.split(), "--no-cache") == done


def test_a_kernel_that_appears_in_an_earlier_folder_is_seen(
    project: Path, compiled: Compiled
) -> None:
    (project / "first").mkdir()
    words = ["-api", "lfric", "-d", "first", "-d", "kernels", *WORDS]
    assert run_command(words, project).status == 0
    name = "wind_tendency_kernel_mod.f90"
    text = (project / "kernels" / name).read_text()
    (project / "first" / name).write_text(text.replace("GH_INC", "gh_inc"))
    compiled.clear()
    assert "P032" in run_command(words, project).err
    assert len(compiled) == 1


def test_an_included_file_that_appears_is_seen(
    command: Command, project: Path, compiled: Compiled
) -> None:
    line = "  implicit none\n\n  private\n"
    text = (project / "alg.x90").read_text()
    (project / "alg.x90").write_text(text.replace(line, f"{line}  include 'part.inc'\n"))
    assert "P015" not in command("alg.x90").err
    (project / "part.inc").write_text("  call invoke(setval_c(a, 0.0))\n")
    assert "P015" in command("alg.x90").err
    (project / "part.inc").write_text("  call involve(setval_c(a, 0.0))\n")
    compiled.clear()
    assert "P015" not in command("alg.x90").err
    assert len(compiled) == 1


def test_another_tool_finds_nothing(
    command: Command, compiled: Compiled, monkeypatch: pytest.MonkeyPatch
) -> None:
    command("alg.x90")
    monkeypatch.setattr(module, "tool_digest", lambda _: "another")
    compiled.clear()
    command("alg.x90")
    assert len(compiled) == 1


def test_a_tool_that_is_not_known_finds_nothing(
    command: Command, compiled: Compiled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "tool_digest", lambda _: "")
    for _ in range(2):
        assert command("alg.x90").status == 0
    assert len(compiled) == 2


def test_a_tree_that_is_moved_finds_its_own(project: Path, compiled: Compiled) -> None:
    words = ["-api", "lfric", "-d", "kernels", *WORDS, "--depfile", "d"]
    first = run_command(words, project)
    moved = project.rename(project.with_name("moved"))
    for name in first.written:
        (moved / name).unlink()
    compiled.clear()
    assert run_command(words, moved) == first
    assert compiled == []


# ------------------------------------------------------------------ what is not kept


def test_a_failure_is_not_kept(command: Command, project: Path, folder: Path) -> None:
    same_size(project / "alg.x90", "kernel_type(speed", "kernel_typo(speed")
    assert command("alg.x90").status == 1
    before = sum(path.is_file() for path in folder.rglob("*"))
    assert command("alg.x90").status == 1
    assert sum(path.is_file() for path in folder.rglob("*")) == before <= 1


def test_what_scripts_do_is_not_kept(command: Command, project: Path, folder: Path) -> None:
    (project / "s.py").write_text("def trans(psy):\n    print('here')\n")
    assert [command("alg.x90", "-s", "s.py").out.startswith("here") for _ in range(2)] == [True] * 2
    assert not folder.exists()


def test_changed_kernels_get_their_numbers(command: Command) -> None:
    step = ("--apply", "kernel-constants{number_of_layers=20}", "-okern", "changed")
    made = [command(*WORDS, *step).written for _ in range(2)]
    assert [sorted(name for name in one if "changed" in name) for one in made] == [
        ["changed/wind_tendency_kernel_0_mod.f90", "changed/wind_to_cell_kernel_0_mod.f90"],
        [],
    ]


def test_nothing_is_kept_where_nothing_is_wanted(
    command: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command("alg.x90", "--no-cache")
    monkeypatch.setenv("PSYCLONE_STORAGE_CACHE", "")
    command("alg.x90")
    assert not folder.exists()


# ------------------------------------------------------------------ a folder that is no good


def entries(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_folder_that_cannot_be_made_is_no_mistake(command: Command, folder: Path) -> None:
    folder.write_text("no folder")
    first = command("alg.x90")
    assert first.status == 0
    assert command("alg.x90") == first


@pytest.mark.parametrize("damage", [b"", b"{}", b"\x00" * 100, None])
def test_what_is_not_whole_is_not_used(
    damage: bytes | None, command: Command, folder: Path, compiled: Compiled
) -> None:
    first = command("alg.x90")
    for path in entries(folder):
        data = path.read_bytes()
        path.write_bytes(data[: len(data) // 2] if damage is None else damage)
    compiled.clear()
    assert command("alg.x90") == first
    assert len(compiled) == 1
    assert command("alg.x90") == first
    assert len(compiled) == 1


def test_an_entry_under_the_name_of_another_is_not_used(
    command: Command, folder: Path, compiled: Compiled
) -> None:
    first = command("alg.x90")
    largest = max(entries(folder), key=lambda path: path.stat().st_size)
    command("alg.x90", "-nodm")
    for path in entries(folder):
        if path != largest:
            shutil.copy(largest, path)
    compiled.clear()
    other = command("alg.x90", "-nodm")
    assert len(compiled) == 1
    assert other.out != first.out


# ------------------------------------------------------------------ of other users


@pytest.mark.parametrize("shared", ["kept", "kept/*", "kept/*/*"])
@pytest.mark.parametrize("strict", [False, True])
def test_what_others_may_write_is_ignored(
    project: Path, command: Command, compiled: Compiled, shared: str, strict: bool
) -> None:
    """A folder, a part of it or an entry that others may write is reported, and not used."""
    assert command(*WORDS).err == ""
    fresh(project)
    for path in Path(os.environ["PSYCLONE_STORAGE_CACHE"]).parent.glob(shared):
        path.chmod(path.stat().st_mode | 0o022)
    done = command(*WORDS, *(["--warnings", "error"] if strict else []))
    kind = "error" if strict else "warning"
    assert f"{kind}[L018]: Cached files are ignored: other users may write to" in done.err
    assert "PSYCLONE_STORAGE_CACHE" in done.err
    assert "Traceback" not in done.err
    assert done.status == strict
    assert (project / "p.f90").exists() is not strict
    assert len(compiled) == (1 if strict else 2)


def test_interfaces_that_others_may_write_are_compiled_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    built: list[Path] = []

    def build(sources: list[Path], compiler: str, directory: Path) -> None:
        del sources, compiler
        built.append(directory)
        directory.mkdir(mode=0o700)

    monkeypatch.setattr(infrastructure, "_version", lambda compiler: compiler)
    monkeypatch.setattr(infrastructure, "_build", build)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    found = [find_infrastructure("profile", "f90", scratch) for _ in range(2)]
    assert found[0] == found[1]
    assert found[0].directory.parent == tmp_path / "caches" / "psyclone-storage"
    assert found[0].warnings == ()
    assert len(built) == 1
    found[0].directory.chmod(0o777)
    apart = find_infrastructure("profile", "f90", scratch)
    assert apart.directory.parent == scratch
    assert [one.code for one in apart.warnings] == ["L018"]
    with pytest.raises(CompileError) as caught:
        find_infrastructure("profile", "f90", tmp_path / "missing")
    assert [one.code for one in caught.value.problems] == ["L018", "L003"]
    assert "TMPDIR" in str(caught.value.problems[1].hint)
