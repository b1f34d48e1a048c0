"""What is said of kernels and devices: who runs there, after which steps, and why others not."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import Outcome, run_command

KERNEL = """module {name}_mod
  use argument_mod
  use kernel_mod
  use constants_mod, only: r_def, i_def
  {use}
  implicit none
  {own}
  type, extends(kernel_type) :: {name}_type
    type(arg_type) :: meta_args(2) = (/ arg_type(gh_field, gh_real, gh_write, w3), &
        {second} /)
    integer :: operates_on = cell_column
  contains
    procedure, nopass :: code => {name}_code
  end type
contains
  subroutine {name}_code(nlayers, field, size, ndf, undf, map)
    integer(i_def), intent(in) :: nlayers, ndf, undf, map(ndf)
    real(r_def), intent(inout) :: field(undf)
    real(r_def), intent({intent}) :: size
    {local}
    field(map(1)) = size
    {line}
  end subroutine
end module
"""
SCALAR = "arg_type(gh_scalar, gh_real, gh_read)"


def kernel(name: str, **parts: str) -> str:
    empty = dict.fromkeys(("use", "own", "local", "line"), "")
    return KERNEL.format(**{"name": name, "second": SCALAR, "intent": "in", **empty, **parts})


KERNELS = {
    "plain": kernel("plain"),
    "passed": kernel("passed", use="use model_mod, only: step", line="field(map(1)) = step"),
    "calls": kernel("calls", use="use model_mod, only: log_it", line="call log_it(size)"),
    "both": kernel(
        "both", use="use model_mod, only: step, log_it", line="call log_it(size * step)"
    ),
    "table": kernel("table", use="use model_mod, only: table", line="field(map(1)) = table(2)"),
    "changes": kernel("changes", use="use model_mod, only: step", line="step = size"),
    "unknown": kernel("unknown", use="use away_mod, only: away", line="field(map(1)) = away"),
    "mine": kernel("mine", own="real(r_def) :: height", line="field(map(1)) = height"),
    "hides": kernel("hides", own="real(r_def) :: size, map"),
    "keeps": kernel("keeps", local="real(r_def), save :: last", line="last = size"),
    "writes": kernel("writes", line="print *, size"),
    "sized": kernel("sized", local="real(r_def) :: work(nlayers), few(3)", line="work(1) = few(1)"),
    "broken": kernel("broken", second="arg_type(gh_scalar, gh_real)"),
}
MODEL = """module model_mod
  use constants_mod, only: r_def
  implicit none
  real(r_def) :: step, table(3)
contains
  subroutine log_it(x)
    real(r_def), intent(in) :: x
    print *, x
  end subroutine
end module
"""
THERE = {
    "hides": "'acc-routine'",
    "passed": "'imports-to-arguments; acc-routine'",
    "plain": "'acc-routine'",
    "sized": "'acc-routine'",
}
REASONS = {
    "calls": "'calls_code' calls 'log_it', which stays on the host.",
    "both": "'both_code' calls 'log_it', which stays on the host.",
    "table": "'table' of the module 'model_mod' may be changed by other modules, of which a device",
    "changes": "'changes_code' may change 'step', of which each iteration has its own.",
    "unknown": "It is not known what 'away' is, which 'unknown_code' takes from another module.",
    "mine": "'mine_code' uses 'height', a variable of its module, which is on the host.",
    "keeps": "'keeps_code' saves 'last' from call to call, which is not on the device.",
    "writes": "'writes_code' may leave the device because of its statement 'print *, size'.",
    "broken": "",
}


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Return what is said of a folder of kernels."""
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "science").mkdir()
    for name, text in KERNELS.items():
        (folder / "science" / f"{name}_mod.F90").write_text(text)
    (folder / "science" / "model_mod.f90").write_text(MODEL)
    return run_command(["psyclone-storage-kern", "-device", "science"], folder)


def line_of(name: str, said: Outcome) -> list[str]:
    """Return the line of a kernel, and those below that are about it."""
    lines = said.out.splitlines()
    first = next(at for at, line in enumerate(lines) if f": {name}_type " in line)
    last = next(at for at in range(first + 1, len(lines)) if not lines[at].startswith("    "))
    return lines[first:last]


@pytest.mark.parametrize("name", sorted(THERE))
def test_a_kernel_that_runs_there_has_the_steps_that_put_it_there(name: str, said: Outcome) -> None:
    head = f"{Path('science') / name}_mod.F90: {name}_type runs on a device, by {THERE[name]}"
    assert line_of(name, said)[0] == head
    work = [line for line in line_of(name, said)[1:] if "for 'work', of" in line]
    assert len(work) == (name == "sized")


@pytest.mark.parametrize("name", sorted(REASONS))
def test_a_kernel_that_stays_has_its_reasons(name: str, said: Outcome) -> None:
    head, *reasons = line_of(name, said)
    assert head == f"{Path('science') / name}_mod.F90: {name}_type stays on the host"
    assert any(REASONS[name] in reason for reason in reasons)


def test_kernels_are_counted(said: Outcome) -> None:
    assert said.status == 0
    assert f"{len(THERE)} of {len(KERNELS)} kernels can run on a device\n" in said.out
    assert said.out.endswith("     1 of these need memory for local arrays in each call\n")


def test_a_report_goes_to_a_file_and_a_missing_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "plain_mod.f90").write_text(KERNELS["plain"])
    words = ["psyclone-storage-kern", "-device", "plain_mod.f90", "none.f90", "-o", "report.txt"]
    done = run_command(words, tmp_path)
    assert done.status == 1
    assert "error[P001]: 'none.f90' cannot be read" in done.err
    assert done.written["report.txt"].startswith("plain_mod.f90: plain_type runs on a device")


def test_where_nothing_could_be_read_nothing_is_counted(tmp_path: Path) -> None:
    done = run_command(["psyclone-storage-kern", "-device", "none.f90"], tmp_path)
    assert (done.status, done.out) == (1, "")


def test_kernels_for_grids_are_judged_too(tmp_path: Path) -> None:
    corpus = Path(__file__).parents[2] / "corpus" / "gocean" / "kernels"
    done = run_command(
        ["psyclone-storage-kern", "-api", "gocean", "-device", str(corpus / "flux_u_mod.f90")],
        tmp_path,
    )
    assert "flux_u runs on a device, by 'acc-routine'\n1 of 1 kernels" in done.out


def test_modules_are_written_to_a_folder_and_never_over_their_own(tmp_path: Path) -> None:
    pure = MODEL.replace("    print *, x\n", "")
    (tmp_path / "model_mod.f90").write_text(pure)
    (tmp_path / "calls_mod.f90").write_text(KERNELS["calls"])
    words = ["psyclone-storage-kern", "calls_mod.f90", "-device-modules"]
    done = run_command([*words, "new/folder"], tmp_path)
    assert "runs on a device, by 'acc-routine', with 'model_mod' for devices" in done.out
    assert done.status == 0
    written = (tmp_path / "new" / "folder" / "model_mod.f90").read_text()
    line = "    real(r_def), intent(in) :: x\n"
    assert written == pure.replace(line, f"{line}    !$acc routine seq\n")
    again = run_command(
        ["psyclone-storage-kern", "-device", "calls_mod.f90", "-d", "new"], tmp_path
    )
    assert "runs on a device, by 'acc-routine'\n" in again.out
    over = run_command([*words, "."], tmp_path)
    assert (over.status, over.err[:12]) == (1, "error[L003]:")
    assert (tmp_path / "model_mod.f90").read_text() == pure
    wrong = run_command([*words, "new", "-gen", "c"], tmp_path)
    assert "-device-modules is for -device alone" in wrong.err


def test_a_kernel_in_python_is_read_as_python(tmp_path: Path) -> None:
    folder = Path(__file__).parents[2] / "errors" / "M207_python_stencil" / "kernels"
    file = folder / "smooth_mod.py"
    words = ["psyclone-storage-kern", "-api", "gocean", "-device", str(file)]
    done = run_command(words, tmp_path)
    assert "P014" not in done.err
    assert "smooth_mod.py:11: 'old' is looked at outside" in done.out
    assert "0 of 1 kernels can run on a device" in done.out
