"""The folder of changed kernels, with many commands at work on it at once."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.cli.kernel_folder import KernelFolder
from psyclone_storage.cli.main import main
from psyclone_storage.cli.write import write_together
from psyclone_storage.driver.numbering import KernelText

CORPUS = Path(__file__).parents[2] / "corpus" / "lfric"
PROCESSES = 100


def kernel(number: int) -> KernelText:
    module = f"work_{number}_mod"
    return KernelText(module, f"module {module}\n" + "! much text\n" * 2000 + "end module\n")


def other(number: int) -> KernelText:
    return KernelText(kernel(number).module, "module other\nend module\n")


def is_whole(path: Path) -> bool:
    return path.read_text() == kernel(int(path.stem.split("_")[1])).text


def work(folder: Path, single: bool, start: object, results: object) -> None:
    """Claim and write a kernel when all are ready to, and look at every kernel that is there."""
    start.wait()  # type: ignore[attr-defined]
    kernels = KernelFolder(folder, single=single)
    number = kernels.allocate("work", kernel)
    write_together(kernels.outputs)
    whole = all(map(is_whole, folder.glob("*.f90")))
    results.put((number, whole))  # type: ignore[attr-defined]


def numbers_of_all(folder: Path, *, single: bool) -> list[int]:
    context = multiprocessing.get_context("fork")
    start, results = context.Barrier(PROCESSES), context.Queue()
    processes = [
        context.Process(target=work, args=(folder, single, start, results))
        for _ in range(PROCESSES)
    ]
    for process in processes:
        process.start()
    found = [results.get(timeout=60) for _ in processes]
    for process in processes:
        process.join()
    assert all(whole for _, whole in found)
    return sorted(number for number, _ in found)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_hundred_commands_have_a_hundred_kernels(tmp_path: Path) -> None:
    assert numbers_of_all(tmp_path, single=False) == list(range(PROCESSES))
    assert names_in(tmp_path) == sorted(f"work_{number}_mod.f90" for number in range(PROCESSES))
    assert (tmp_path / "work_7_mod.f90").read_text() == kernel(7).text


def test_a_hundred_commands_share_one_kernel(tmp_path: Path) -> None:
    assert numbers_of_all(tmp_path, single=True) == [0] * PROCESSES
    assert names_in(tmp_path) == ["work_0_mod.f90"]


def test_numbers_go_on_where_an_earlier_build_ended(tmp_path: Path) -> None:
    (tmp_path / "work_0_mod.f90").write_text("")
    kernels = KernelFolder(tmp_path, single=False)
    assert [kernels.allocate("work", kernel) for _ in range(2)] == [1, 2]


def test_what_fails_takes_its_files_away_and_no_others(tmp_path: Path) -> None:
    KernelFolder(tmp_path, single=False).allocate("work", kernel)
    failing = KernelFolder(tmp_path, single=False)
    failing.allocate("work", kernel)
    failing.discard()
    assert names_in(tmp_path) == ["work_0_mod.f90"]


def test_a_shared_kernel_is_not_written_before_the_end(tmp_path: Path) -> None:
    kernels = KernelFolder(tmp_path / "new", single=True)
    kernels.allocate("work", kernel)
    assert not (tmp_path / "new").exists()
    assert kernels.written == ()
    assert [output.path for output in kernels.outputs] == [tmp_path / "new" / "work_0_mod.f90"]


def test_a_shared_kernel_must_be_the_same_for_all(tmp_path: Path) -> None:
    kernels = KernelFolder(tmp_path, single=True)
    kernels.allocate("work", kernel)
    with pytest.raises(CompileError, match="L015"):
        kernels.allocate("work", other)
    write_together(kernels.outputs)
    with pytest.raises(CompileError, match="L015"):
        KernelFolder(tmp_path, single=True).allocate("work", other)


def test_a_kernel_that_needs_the_preprocessor_says_so_by_its_name(tmp_path: Path) -> None:
    kernels = KernelFolder(tmp_path, single=False)
    kernels.allocate("work", lambda number: KernelText(f"work_{number}_mod", "#define X\n"))
    assert names_in(tmp_path) == ["work_0_mod.F90"]


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CompileError, match="L003"):
        KernelFolder(tmp_path / "file", single=False).allocate("work", kernel)


def changed(folder: Path, psy: Path, *words: str) -> int:
    """Compile an algorithm of the corpus with changed kernels in `folder`; return the status."""
    algorithm, kernels = CORPUS / "reductions_between_kernels.x90", CORPUS / "kernels"
    command = ["-api", "lfric", "-d", str(kernels), str(algorithm), "--apply", "acc-routine"]
    return main([*command, "-okern", str(folder), "-opsy", str(psy), *words])


def test_the_command_writes_changed_kernels_where_it_is_told_to(tmp_path: Path) -> None:
    folder, rule = tmp_path / "changed", tmp_path / "psy.d"
    words = ("-oalg", str(tmp_path / "alg.f90"), "--depfile", str(rule))
    assert changed(folder, tmp_path / "psy.f90", *words) == 0
    assert names_in(folder) == ["laplacian_kernel_0_mod.f90", "laplacian_kernel_1_mod.f90"]
    assert "laplacian_kernel_1_mod.f90" in rule.read_text().partition(":")[0]


def test_a_command_without_its_layer_leaves_no_kernels(tmp_path: Path) -> None:
    folder, blocked = tmp_path / "changed", tmp_path / "file"
    blocked.write_text("")
    words = ("-oalg", str(tmp_path / "alg.f90"))
    assert changed(folder, blocked / "psy.f90", *words) == 1
    assert names_in(folder) == []
    assert names_in(tmp_path) == ["changed", "file"]


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
