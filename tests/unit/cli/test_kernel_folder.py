"""The folder of changed kernels, with many commands at work on it at once."""

from __future__ import annotations

import errno
import multiprocessing
import os
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from builds.dying_command import die_after
from pairwise import some_of
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.records import replace
from psyclone_storage.base.source import SourceText
from psyclone_storage.base.temporaries import temporary_name
from psyclone_storage.cli.kernel_folder import KernelFolder, Scheme, remove_old
from psyclone_storage.cli.kernel_locks import owner_name, owner_of, release_claims
from psyclone_storage.cli.kernel_users import confirm
from psyclone_storage.cli.main import main
from psyclone_storage.cli.write import write_together
from psyclone_storage.pipeline.kernel_naming import KernelText

CORPUS = Path(__file__).parents[2] / "corpus" / "lfric"
PROCESSES = some_of(160)
AUTHOR = SourceText("kernels/work_mod.f90", "module work_mod\nend module\n")


def kernel(number: int) -> KernelText:
    module = f"work_{number}_mod"
    text = f"module {module}\n" + "! much text\n" * 2000 + "end module\n"
    return KernelText(module, text, AUTHOR)


def other(number: int) -> KernelText:
    return KernelText(kernel(number).module, "module other\nend module\n", AUTHOR)


def is_whole(path: Path) -> bool:
    _, _, text = path.read_text().partition("\n")
    return text == kernel(int(path.stem.split("_")[1])).text


def in_folder(folder: Path, layer: str = "one_psy.f90", *, single: bool = False) -> KernelFolder:
    return KernelFolder(folder, folder / layer, Scheme.SINGLE if single else Scheme.MULTIPLE)


def finish(kernels: KernelFolder, folder: Path) -> None:
    """Do what a command does at its end."""
    written = (*kernels.outputs, *kernels.records())
    write_together(written)
    confirm(kernels.outputs)
    remove_old(folder, frozenset({kernels.owner}), (one.path for one in written))
    release_claims(folder, frozenset({kernels.owner}))


def build(folder: Path, layer: str, calls: int) -> list[int]:
    """Compile a layer with some changed kernels; return their numbers."""
    kernels = in_folder(folder, layer)
    numbers = [kernels.allocate("work", kernel) for _ in range(calls)]
    finish(kernels, folder)
    return numbers


def work(folder: Path, place: int, single: bool, start: object, results: object) -> None:
    """Claim and write a kernel when all are ready to, and look at every kernel that is there."""
    start.wait()  # type: ignore[attr-defined]
    kernels = in_folder(folder, f"layer_{place}_psy.f90", single=single)
    number = kernels.allocate("work", kernel)
    finish(kernels, folder)
    whole = all(map(is_whole, folder.glob("*.f90")))
    results.put((number, whole))  # type: ignore[attr-defined]


def numbers_of_all(folder: Path, *, single: bool, sees_parts: bool = False) -> list[int]:
    context = multiprocessing.get_context("fork")
    start, results = context.Barrier(PROCESSES), context.Queue()
    processes = [
        context.Process(target=work, args=(folder, place, single, start, results))
        for place in range(PROCESSES)
    ]
    for process in processes:
        process.start()
    found = [results.get(timeout=60) for _ in processes]
    for process in processes:
        process.join()
    assert sees_parts or all(whole for _, whole in found)
    assert all(map(is_whole, folder.glob("*.f90")))
    return sorted(number for number, _ in found)


def names_in(folder: Path) -> list[str]:
    """Return all names in `folder` but those of records, which only shared kernels have."""
    names = sorted(path.name for path in folder.iterdir())
    return [name for name in names if ".user-" not in name]


def test_many_commands_have_as_many_kernels(tmp_path: Path) -> None:
    assert numbers_of_all(tmp_path, single=False) == list(range(PROCESSES))
    assert names_in(tmp_path) == sorted(f"work_{number}_mod.f90" for number in range(PROCESSES))


def test_many_commands_share_one_kernel(tmp_path: Path) -> None:
    assert numbers_of_all(tmp_path, single=True) == [0] * PROCESSES
    assert names_in(tmp_path) == ["work_0_mod.f90"]


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "work_0_mod.f90").write_text("")
    (tmp_path / "work_1_mod.F90").write_text("! by hand\n")
    assert build(tmp_path, "one_psy.f90", 2) == [2, 3]
    assert build(tmp_path, "one_psy.f90", 0) == []
    assert names_in(tmp_path) == ["work_0_mod.f90", "work_1_mod.F90"]


def test_a_rebuild_has_the_same_names_whatever_else_was_built(tmp_path: Path) -> None:
    assert build(tmp_path, "one_psy.f90", 2) == [0, 1]
    assert build(tmp_path, "two_psy.f90", 1) == [2]
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    for _ in range(3):
        assert build(tmp_path, "one_psy.f90", 2) == [0, 1]
        assert build(tmp_path, "two_psy.f90", 1) == [2]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before
    assert build(tmp_path, "one_psy.f90", 1) == [0]
    assert build(tmp_path, "two_psy.f90", 1) == [2]
    assert names_in(tmp_path) == ["work_0_mod.f90", "work_2_mod.f90"]
    assert build(tmp_path, "two_psy.f90", 2) == [2, 1]


def test_a_file_says_who_it_is_for(tmp_path: Path) -> None:
    build(tmp_path / "kernels", "../out/a psy:layer.f90", 1)
    (path,) = (tmp_path / "kernels").iterdir()
    owner = "../out/a%20psy%3Alayer.f90"
    assert owner_of(path) == owner
    assert path.read_text().startswith(f"! psyclone-storage: changed for {owner}\nmodule work_0")


def test_a_tree_that_was_moved_keeps_its_names(tmp_path: Path) -> None:
    build(tmp_path / "here", "one_psy.f90", 2)
    (tmp_path / "here").rename(tmp_path / "there")
    assert build(tmp_path / "there", "one_psy.f90", 2) == [0, 1]


def test_numbers_by_the_layer_depend_on_nothing_else(tmp_path: Path) -> None:
    def numbers(folder: Path, *layers: str) -> dict[str, list[int]]:
        made = {}
        for layer in layers:
            kernels = KernelFolder(folder, folder / layer, Scheme.LAYER)
            made[layer] = [kernels.allocate("work", kernel) for _ in range(2)]
            finish(kernels, folder)
        return made

    one = numbers(tmp_path / "one", "a_psy.f90", "b_psy.f90")
    assert numbers(tmp_path / "two", "b_psy.f90", "a_psy.f90") == one
    assert numbers(tmp_path / "one", "b_psy.f90", "a_psy.f90") == one
    assert one["a_psy.f90"] != one["b_psy.f90"]
    assert len(names_in(tmp_path / "one")) == 4


def test_long_paths_differ(tmp_path: Path) -> None:
    names = {owner_name(tmp_path / letter / ("x" * 200), tmp_path) for letter in "abc"}
    assert len(names) == 3
    assert max(map(len, names)) <= 90


def test_what_fails_takes_its_claims_away_and_no_others(tmp_path: Path) -> None:
    build(tmp_path, "one_psy.f90", 1)
    failing, running = in_folder(tmp_path, "two_psy.f90"), in_folder(tmp_path, "three_psy.f90")
    assert failing.allocate("work", kernel) == 1
    assert running.allocate("work", kernel) == 2
    failing.discard()
    assert names_in(tmp_path) == [".work_2_mod.claim", "work_0_mod.f90"]
    assert build(tmp_path, "four_psy.f90", 2) == [1, 3]


def test_a_command_that_was_killed_hinders_nobody(tmp_path: Path) -> None:
    """It leaves claims, made whole or not; the same command takes them up or away."""
    killed = in_folder(tmp_path)
    assert [killed.allocate("work", kernel) for _ in range(2)] == [0, 1]
    gone = multiprocessing.get_context("fork").Process(target=int)
    gone.start()
    gone.join()
    mine = temporary_name(tmp_path / ".work_7_mod.claim")
    unfinished = mine.with_name(mine.name.replace(f"-{os.getpid()}-", f"-{gone.pid}-"))
    unfinished.mkdir()
    assert build(tmp_path, "two_psy.f90", 1) == [2]
    assert build(tmp_path, "one_psy.f90", 1) == [0]
    assert names_in(tmp_path) == ["work_0_mod.f90", "work_2_mod.f90"]


def test_one_name_in_two_kinds_of_files_is_one(tmp_path: Path) -> None:
    build(tmp_path, "one_psy.f90", 1)
    kernels = in_folder(tmp_path, "two_psy.f90")
    needs_it = partial(replace_text, "#define X\n")
    assert kernels.allocate("work", needs_it) == 1
    again = in_folder(tmp_path, "one_psy.f90")
    assert again.allocate("work", needs_it) == 0
    finish(again, tmp_path)
    assert names_in(tmp_path) == [".work_1_mod.claim", "work_0_mod.F90"]


def replace_text(text: str, number: int) -> KernelText:
    return replace(kernel(number), text=text)


@pytest.mark.parametrize("single", [True, False])
def test_no_hard_links_are_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, single: bool
) -> None:
    def no_link(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", no_link)
    expected = [0] * PROCESSES if single else list(range(PROCESSES))
    assert numbers_of_all(tmp_path, single=single, sees_parts=single) == expected


@pytest.mark.parametrize("there", ["", "! psyclone-storage: changed", "module other\n"])
def test_a_part_that_another_command_is_writing_is_not_another_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: str
) -> None:
    def begin(path: Path, _: Path) -> None:
        path.write_text(there)
        raise OSError(errno.EPERM, "Operation not permitted")

    kernels = in_single(tmp_path, kernel)
    monkeypatch.setattr(Path, "hardlink_to", begin)
    if "other" in there:
        with pytest.raises(CompileError, match="L015"):
            finish(kernels, tmp_path)
    else:
        finish(kernels, tmp_path)
        assert is_whole(tmp_path / "work_0_mod.f90")


def test_a_shared_kernel_is_not_written_before_the_end(tmp_path: Path) -> None:
    kernels = in_folder(tmp_path / "new", single=True)
    kernels.allocate("work", kernel)
    assert not (tmp_path / "new").exists()
    assert [output.path for output in kernels.outputs] == [tmp_path / "new" / "work_0_mod.f90"]


def test_a_shared_kernel_must_be_the_same_for_all(tmp_path: Path) -> None:
    kernels = in_folder(tmp_path, single=True)
    kernels.allocate("work", kernel)
    with pytest.raises(CompileError, match="L015"):
        kernels.allocate("work", other)
    write_together(kernels.outputs)
    with pytest.raises(CompileError, match="L015"):
        in_folder(tmp_path, single=True).allocate("work", other)


def test_a_shared_kernel_follows_its_author(tmp_path: Path) -> None:
    """Whoever shares it is made anew as well, when the author's file has changed."""
    finish(in_single(tmp_path, kernel), tmp_path)
    later = SourceText(AUTHOR.name, "module work_mod\n  ! better\nend module\n")
    changed = in_single(tmp_path, lambda number: replace(other(number), original=later))
    finish(changed, tmp_path)
    assert (tmp_path / "work_0_mod.f90").read_text().endswith("\n" + other(0).text)
    elsewhere = SourceText("others/work_mod.f90", "module work_mod\nend module\n")
    (tmp_path / "one_psy.f90").touch()
    other_layer = in_folder(tmp_path, "two_psy.f90", single=True)
    with pytest.raises(CompileError, match="L015"):
        other_layer.allocate("work", lambda number: replace(kernel(number), original=elsewhere))


def in_single(folder: Path, of: Callable[[int], KernelText]) -> KernelFolder:
    kernels = in_folder(folder, single=True)
    kernels.allocate("work", of)
    return kernels


def test_who_shares_from_now_on_replaces_its_own(tmp_path: Path) -> None:
    build(tmp_path, "one_psy.f90", 1)
    with pytest.raises(CompileError, match="L015"):
        in_folder(tmp_path, "two_psy.f90", single=True).allocate("work", kernel)
    finish(in_single(tmp_path, kernel), tmp_path)
    finish(in_single(tmp_path, kernel), tmp_path)
    assert "changed from " in (tmp_path / "work_0_mod.f90").read_text()
    assert build(tmp_path, "one_psy.f90", 1) == [1]


def test_a_kernel_that_needs_the_preprocessor_says_so_by_its_name(tmp_path: Path) -> None:
    kernels = in_folder(tmp_path)
    kernels.allocate("work", partial(replace_text, "#define X\n"))
    write_together(kernels.outputs)
    assert (tmp_path / "work_0_mod.F90").exists()


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CompileError, match="L003"):
        in_folder(tmp_path / "file").allocate("work", kernel)


def changed(folder: Path, psy: Path, *words: str, apply: str = "acc-routine") -> int:
    """Compile an algorithm of the corpus with changed kernels in `folder`; return the status."""
    algorithm, kernels = CORPUS / "reductions_between_kernels.x90", CORPUS / "kernels"
    command = ["-api", "lfric", "-d", str(kernels), str(algorithm), "--apply", apply]
    return main([*command, "-okern", str(folder), "-opsy", str(psy), *words])


def test_the_command_writes_changed_kernels_where_it_is_told_to(tmp_path: Path) -> None:
    folder, rule = tmp_path / "changed", tmp_path / "psy.d"
    words = ("-oalg", str(tmp_path / "alg.f90"), "--depfile", str(rule))
    assert changed(folder, tmp_path / "psy.f90", *words) == 0
    assert names_in(folder) == ["laplacian_kernel_0_mod.f90", "laplacian_kernel_1_mod.f90"]
    assert "laplacian_kernel" not in rule.read_text().partition(":")[0]
    assert changed(folder, tmp_path / "psy.f90", *words) == 0
    assert len(names_in(folder)) == 2
    assert changed(folder, tmp_path / "other_psy.f90", *words) == 0
    assert len(names_in(folder)) == 4
    assert changed(folder, tmp_path / "psy.f90", *words, apply="") == 0
    assert names_in(folder) == ["laplacian_kernel_2_mod.f90", "laplacian_kernel_3_mod.f90"]


def test_a_command_without_its_layer_leaves_no_kernels(tmp_path: Path) -> None:
    folder, blocked = tmp_path / "changed", tmp_path / "file"
    blocked.write_text("")
    words = ("-oalg", str(tmp_path / "alg.f90"))
    assert changed(folder, blocked / "psy.f90", *words) == 1
    assert names_in(tmp_path) in (["changed", "file"], ["file"])
    assert not folder.exists() or names_in(folder) == []


DIFFERENT = """\
from psyclone.transformations import ACCRoutineTrans, OMPDeclareTargetTrans

def trans(psy):
    step = ACCRoutineTrans if psy.name.startswith("one") else OMPDeclareTargetTrans
    for call in psy.invokes.invoke_list[0].schedule.coded_kernels():
        step().apply(call)
"""


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_first_of_two_files_decides_on_a_shared_kernel(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], jobs: str
) -> None:
    text = (CORPUS / "reductions_between_kernels.x90").read_text()
    for name in ("one", "two"):
        own = text.replace("reductions_between_kernels_alg_mod", f"{name}_alg_mod")
        (tmp_path / f"{name}.x90").write_text(own)
    (tmp_path / "script.py").write_text(DIFFERENT)
    folder = tmp_path / "out"
    words = [
        "-api",
        "lfric",
        "-d",
        str(CORPUS / "kernels"),
        "--output-dir",
        str(folder),
        "-j",
        jobs,
    ]
    words += ["--kernel-renaming", "single", "-s", str(tmp_path / "script.py")]
    assert main([*words, str(tmp_path / "one.x90"), str(tmp_path / "two.x90")]) == 1
    assert capsys.readouterr().err.count("error[L015]") == 1
    assert names_in(folder) == ["laplacian_kernel_0_mod.f90", "one.f90", "one_psy.f90"]
    assert "!$acc routine" in (folder / "laplacian_kernel_0_mod.f90").read_text()


def test_two_calls_share_a_kernel_if_they_are_told_to(tmp_path: Path) -> None:
    words = ("--kernel-renaming", "single", "-oalg", str(tmp_path / "alg.f90"))
    assert changed(tmp_path / "changed", tmp_path / "psy.f90", *words) == 0
    assert names_in(tmp_path / "changed") == ["laplacian_kernel_0_mod.f90"]
    assert (tmp_path / "psy.f90").read_text().count("call laplacian_0_code(") == 2


def test_a_report_alone_writes_no_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    algorithm, kernels = CORPUS / "reductions_between_kernels.x90", CORPUS / "kernels"
    words = ["-api", "lfric", "-d", str(kernels), "--apply", "acc-routine", "--schedule"]
    assert main([*words, str(algorithm)]) == 0
    assert names_in(tmp_path) == []


# ------------------------------------------------------------------ shared kernels, built again


SCRIPT = """\
from psyclone.transformations import ACCRoutineTrans, OMPDeclareTargetTrans

def trans(psy):
    for call in psy.invokes.invoke_list[0].schedule.coded_kernels():
        ACCRoutineTrans().apply(call)
"""
SINGLE = ("--kernel-renaming", "single")
KERNEL = "laplacian_kernel_0_mod.f90"


def shared(work: Path, layer: str, *words: str, apply: str = "") -> int:
    outputs = (work / "out", work / f"{layer}_psy.f90")
    return changed(*outputs, *SINGLE, "-oalg", str(work / f"{layer}.f90"), *words, apply=apply)


def text_of(work: Path) -> str:
    return (work / "out" / KERNEL).read_text()


def everything(work: Path) -> list[str]:
    return sorted(path.name for path in (work / "out").rglob("*"))


def test_the_only_user_of_a_shared_kernel_replaces_it(tmp_path: Path) -> None:
    for step, directive in (
        ("acc-routine", "!$acc routine"),
        ("omp-declare-target", "!$omp declare target"),
        ("acc-routine", "!$acc routine"),
    ):
        for _ in range(2):
            assert shared(tmp_path, "one", apply=step) == 0
            assert directive in text_of(tmp_path)
            assert "laplacian_0_code(" in (tmp_path / "one_psy.f90").read_text()
    assert shared(tmp_path, "one") == 0
    assert everything(tmp_path) == []


def test_a_file_that_took_the_name_of_a_shared_kernel_stays(tmp_path: Path) -> None:
    assert shared(tmp_path, "one", apply="acc-routine") == 0
    (tmp_path / "out" / KERNEL).write_text("! by hand\n")
    assert shared(tmp_path, "one") == 0
    assert text_of(tmp_path) == "! by hand\n"


def test_layers_follow_a_script_one_after_the_other(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    for text, directive in (
        (SCRIPT, "!$acc routine"),
        (SCRIPT.replace("ACCRoutineTrans()", "OMPDeclareTargetTrans()"), "!$omp declare target"),
    ):
        script.write_text(text)
        for layer in ("one", "two", "three", "one"):
            assert shared(tmp_path, layer, "-s", str(script)) == 0
            assert directive in text_of(tmp_path)


def test_layers_follow_what_a_script_imports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tools").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path / "tools"))
    (tmp_path / "script.py").write_text(
        "def trans(psy):\n    import steps_mod\n    steps_mod.trans(psy)\n"
    )
    for text in (SCRIPT, SCRIPT.replace("ACCRoutineTrans()", "OMPDeclareTargetTrans()")):
        sys.modules.pop("steps_mod", None)
        (tmp_path / "tools" / "steps_mod.py").write_text(text + "#" * len(text))
        shutil.rmtree(tmp_path / "tools" / "__pycache__", ignore_errors=True)
        for layer in ("one", "two"):
            assert shared(tmp_path, layer, "-s", str(tmp_path / "script.py")) == 0
    assert "!$omp declare target" in text_of(tmp_path)


def test_a_kernel_that_another_layer_needs_is_not_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its options are unknown here; so is its script, if it is another one."""
    (tmp_path / "script.py").write_text(SCRIPT)
    assert shared(tmp_path, "one", "-s", str(tmp_path / "script.py")) == 0
    assert shared(tmp_path, "two", apply="acc-routine") == 0
    before = text_of(tmp_path)
    assert shared(tmp_path, "one", apply="omp-declare-target") == 1
    assert shared(tmp_path, "three", apply="omp-declare-target") == 1
    assert capsys.readouterr().err.count("error[L015]") == 2
    assert text_of(tmp_path) == before
    (tmp_path / "two_psy.f90").unlink()
    assert shared(tmp_path, "one", apply="omp-declare-target") == 0
    assert "!$omp declare target" in text_of(tmp_path)


def test_a_shared_kernel_is_removed_with_its_last_user(tmp_path: Path) -> None:
    for layer in ("one", "two"):
        assert shared(tmp_path, layer, apply="acc-routine") == 0
    assert shared(tmp_path, "one") == 0
    assert len(everything(tmp_path)) == 2
    assert shared(tmp_path, "three") == 0
    assert "!$acc routine" in text_of(tmp_path)
    (tmp_path / "by_hand_0_mod.f90").write_text("")
    assert shared(tmp_path, "two") == 0
    assert everything(tmp_path) == []


def test_a_layer_whose_user_is_gone_keeps_no_kernel(tmp_path: Path) -> None:
    for layer in ("one", "two"):
        assert shared(tmp_path, layer, apply="acc-routine") == 0
    (tmp_path / "two_psy.f90").unlink()
    assert shared(tmp_path, "one") == 0
    assert not (tmp_path / "out" / KERNEL).exists()


def test_a_layer_that_shares_no_longer_has_kernels_of_its_own(tmp_path: Path) -> None:
    assert shared(tmp_path, "one", apply="acc-routine") == 0
    words = ("-oalg", str(tmp_path / "one.f90"))
    for _ in range(2):
        assert changed(tmp_path / "out", tmp_path / "one_psy.f90", *words) == 0
        assert len(names_in(tmp_path / "out")) == 2
    assert shared(tmp_path, "one", apply="acc-routine") == 0
    assert names_in(tmp_path / "out") == [KERNEL]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_layers_of_one_command_follow_its_steps(tmp_path: Path, jobs: str) -> None:
    text = (CORPUS / "reductions_between_kernels.x90").read_text()
    for name in ("one", "two"):
        own = text.replace("reductions_between_kernels_alg_mod", f"{name}_alg_mod")
        (tmp_path / f"{name}.x90").write_text(own)
    words = ["-api", "lfric", "-d", str(CORPUS / "kernels"), "-j", jobs, *SINGLE]
    words += ["--output-dir", str(tmp_path / "out")]
    files = [str(tmp_path / "one.x90"), str(tmp_path / "two.x90")]
    for step, directive in (("acc-routine", "!$acc"), ("omp-declare-target", "!$omp")):
        assert main([*words, "--apply", step, *files]) == 0
        assert directive in text_of(tmp_path)
    assert main([*words, *files]) == 0
    assert not (tmp_path / "out" / KERNEL).exists()


def test_a_killed_command_is_repeated_with_a_shared_kernel(tmp_path: Path) -> None:
    assert shared(tmp_path, "one", apply="acc-routine") == 0
    killed = 0
    for before in range(4):
        process = os.fork()
        if process == 0:
            die_after(before)
            os._exit(shared(tmp_path, "one", apply="omp-declare-target"))
        killed += os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) != 0
        assert shared(tmp_path, "one", apply="omp-declare-target") == 0
        assert "!$omp declare target" in text_of(tmp_path)
        assert shared(tmp_path, "one", apply="acc-routine") == 0
        assert "!$acc routine" in text_of(tmp_path)
        assert len(everything(tmp_path)) == 2
    assert killed >= 2


def test_commands_that_differ_at_the_same_time_are_reported(tmp_path: Path) -> None:
    """Each has found the other's text unused before the other one has recorded its use."""
    (tmp_path / "one_psy.f90").touch()
    (tmp_path / "two_psy.f90").touch()
    finish(in_single(tmp_path, kernel), tmp_path)
    replacing = in_single(tmp_path, other)
    using = in_folder(tmp_path, "two_psy.f90", single=True)
    using.allocate("work", kernel)
    write_together((*using.outputs, *using.records()))
    write_together((*replacing.outputs, *replacing.records()))
    for one in (using, replacing):
        with pytest.raises(CompileError, match="L015"):
            confirm(one.outputs)


def use_or_drop(folder: Path, place: int, start: object) -> None:
    layer = folder / f"layer_{place}_psy.f90"
    start.wait()  # type: ignore[attr-defined]
    for turn in range(5):
        kernels = KernelFolder(folder, layer, Scheme.SINGLE)
        if turn == 4 or (turn + place) % 2:
            kernels.allocate("work", kernel)
        finish(kernels, folder)


def test_a_kernel_is_there_for_who_uses_it_while_others_stop(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    start = context.Barrier(20)
    processes = []
    for place in range(20):
        (tmp_path / f"layer_{place}_psy.f90").touch()
        processes.append(context.Process(target=use_or_drop, args=(tmp_path, place, start)))
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert is_whole(tmp_path / "work_0_mod.f90")
    assert len(list(tmp_path.glob(".*"))) == 20
