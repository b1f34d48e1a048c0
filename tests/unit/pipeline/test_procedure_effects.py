"""Verdicts on loops that call procedures of other modules: no unsafe answer, and equal bits."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from psyclone_storage.base.records import replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.directive import RegionOptions
from psyclone_storage.ir.facts import Fact, FactKind
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import rewritten
from psyclone_storage.transform.file_bench import FileBench
from psyclone_storage.transform.file_blocks import AddDirective
from support.called_nests import ACCEPTED, MODULES, REFUSED, CallingNest, program_text
from support.command import run_command
from support.file_benches import file_bench, printed


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the modules."""
    made = tmp_path_factory.mktemp("modules")
    for name, text in MODULES.items():
        (made / f"{name}.f90").write_text(text)
    return made


def bench(nest: CallingNest, folder: Path) -> FileBench:
    return file_bench(nest.text, folders=(folder,))


@pytest.mark.parametrize("nest", ACCEPTED, ids=lambda one: one.name)
def test_a_loop_with_known_calls_is_independent(nest: CallingNest, folder: Path) -> None:
    """The verdict needs no promise."""
    found = bench(nest, folder).verdict(nest.name, "loop1")
    assert found.is_independent, [reason.message for reason in found.reasons]
    assert not found.assumptions


@pytest.mark.parametrize("nest", REFUSED, ids=lambda one: one.name)
def test_no_trap_is_called_independent(nest: CallingNest, folder: Path) -> None:
    """A call with unknown effects, or one that reads or writes what another iteration writes."""
    assert not bench(nest, folder).verdict(nest.name, "loop1").is_independent


def _backwards(own: FileBench, name: str) -> None:
    def change(line: un.Line) -> tuple[un.Line, ...]:
        if not isinstance(line, un.Do) or line.uid != "loop1":
            return (line,)
        back = ex.Unary(Operator.MINUS, ex.whole(1))
        return (replace(line, start=line.stop, stop=line.start, step=back),)

    before = own.code(name).body
    own.edit(name, before, rewritten(before, change))


@pytest.mark.fortran
def test_accepted_loops_give_equal_bits(folder: Path, tmp_path: Path) -> None:
    """Serial, backwards, and on 1, 2 and 4 threads."""
    texts: dict[str, list[str]] = {"serial": [], "reversed": [], "shared": []}
    for nest in ACCEPTED:
        texts["serial"].append(nest.text)
        own = bench(nest, folder)
        own.apply(AddDirective(nest.name, "loop1", options=RegionOptions(sums=True)))
        texts["shared"].append(printed(own))
        own = bench(nest, folder)
        _backwards(own, nest.name)
        texts["reversed"].append(printed(own))
    outputs = {}
    for name, parts in texts.items():
        (tmp_path / f"{name}.f90").write_text(program_text(ACCEPTED, tuple(parts)))
        command = ["gfortran", "-O1", "-fopenmp", f"{name}.f90", "-J", name, "-o", f"run_{name}"]
        (tmp_path / name).mkdir()
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
        for threads in ("1", "2", "4") if name == "shared" else ("1",):
            made = subprocess.run(
                [f"./run_{name}"], cwd=tmp_path, check=True, capture_output=True, text=True,
                env={**os.environ, "OMP_NUM_THREADS": threads},
            )  # fmt: skip
            outputs[name, threads] = made.stdout
    expected = outputs["serial", "1"]
    assert expected.count("\n") == len(ACCEPTED)
    for key, text in outputs.items():
        assert text == expected, key


def test_a_module_in_two_folders_has_unknown_effects(tmp_path: Path) -> None:
    """The build may link either file."""
    nest = CallingNest("work", "use here_mod", "a(i) = here(b(i))")
    text = """module here_mod
contains
  pure real(8) function here(x)
    real(8), intent(in) :: x
    here = x
  end function here
end module here_mod
"""
    folders = tmp_path / "one", tmp_path / "two"
    for one in folders:
        one.mkdir()
        (one / "here_mod.f90").write_text(text)
    assert file_bench(nest.text, folders=folders).verdict("work", "loop1").is_independent
    (folders[1] / "here_mod.f90").write_text(text.replace("here = x", "here = x + 1"))
    assert not file_bench(nest.text, folders=folders).verdict("work", "loop1").is_independent


OWN = """module own_mod
  use procs_mod
  implicit none
contains
  pure real(8) function around(i)
    integer, intent(in) :: i
    around = through_call(i)
  end function around
  pure real(8) function raised(x)
    real(8), intent(in) :: x
    raised = x + 1
  end function raised
  subroutine work(a, n)
    integer, intent(in) :: n
    real(8), intent(inout) :: a(n)
    integer :: i
    do i = 1, n
      {body}
    end do
  contains
    real(8) function either_real(x)
      real(8), intent(in) :: x
      scale = scale + x
      either_real = scale
    end function either_real
  end subroutine work
end module own_mod
"""


@pytest.mark.parametrize(
    ("body", "independent"),
    [
        ("a(i) = around(i)", True),
        ("a(i) = raised(a(i))", True),
        ("v(i) = around(i + 1)", False),
        ("v(i) = around(i + 1) + raised(a(i))", False),
        ("a(i) = either_real(a(i))", False),
    ],
)
def test_procedures_of_the_module_may_call_imported_ones(
    body: str, independent: bool, folder: Path
) -> None:
    """A module procedure reads what those read that it calls."""
    own = file_bench(OWN.format(body=body), folders=(folder,))
    assert own.verdict("work", "loop1").is_independent is independent


def test_modules_of_called_procedures_are_inputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The depfile lists them, and a change of one changes a cached result."""
    nest = CallingNest("work", "use outer_mod, only: outer", "a(i) = outer(b(i))")
    (tmp_path / "work.f90").write_text(nest.text)
    names = ("inner_one", "outer")
    for name, value in zip(names, ("x + 1", "inner_one(x)"), strict=True):
        uses = "  use inner_one_mod\n" if name == "outer" else ""
        (tmp_path / f"{name}_mod.f90").write_text(
            f"module {name}_mod\n{uses}  implicit none\n  real(8) :: kept = 0\ncontains\n"
            f"  pure real(8) function {name}(x)\n    real(8), intent(in) :: x\n"
            f"    {name} = {value}\n  end function {name}\nend module {name}_mod\n"
        )
    (tmp_path / "cache").mkdir(mode=0o700)
    monkeypatch.setenv("PSYCLONE_STORAGE_CACHE", str(tmp_path / "cache"))
    options = ["-d", ".", "--apply", "auto", "-o", "out.f90", "--depfile", "out.d"]
    for _ in range(2):
        assert run_command(["work.f90", *options], tmp_path).status == 0
        assert "!$omp parallel do" in (tmp_path / "out.f90").read_text()
    listed = (tmp_path / "out.d").read_text()
    assert "outer_mod.f90" in listed
    assert "inner_one_mod.f90" in listed
    changed = (tmp_path / "inner_one_mod.f90").read_text().replace(
        "    inner_one = x + 1\n", "    inner_one = x + kept\n"
    )  # fmt: skip
    (tmp_path / "inner_one_mod.f90").write_text(changed)
    assert run_command(["work.f90", *options], tmp_path).status == 0
    assert "!$omp" not in (tmp_path / "out.f90").read_text()


PROMISED = """module promised_mod
  implicit none
  integer :: count = 0
  type :: pair
    real :: p
  end type pair
contains
  subroutine step(n, x, y, total, z)
    integer, intent(in) :: n
    real, intent(in) :: x(n)
    real, intent(inout) :: y, total
    type(pair), intent(in) :: z
    count = count + 1
    y = y + x(n)
  end subroutine step
end module promised_mod
"""
PROMISED_LOOP = """subroutine work(n, x, y, total, z)
  use promised_mod, only: step, pair
  implicit none
  integer, intent(in) :: n
  real, intent(inout) :: x(n), y(n), total(n)
  type(pair), intent(inout) :: z(n)
  integer :: i, m
  m = n
  do i = 1, n
    call step({})
  end do
  y(1) = y(1) + m
end subroutine work
"""


@pytest.mark.parametrize(
    ("arguments", "independent"),
    [
        ("m, x, y(i), total(i), z(i)", True),
        ("m, x, y(i), total=total(i), z=z(i)", True),
        ("n, x, y(i), total(1), z(i)", False),
        ("m, y, y(i), total(i), z(i)", False),
        ("n, x, y(i), total(i), z(1)", False),
    ],
)
def test_a_procedure_that_is_promised_to_be_pure_has_its_intents(
    tmp_path: Path, arguments: str, independent: bool
) -> None:
    """An argument of a derived type may be changed, because of pointers in it."""
    (tmp_path / "promised_mod.f90").write_text(PROMISED)
    own = file_bench(PROMISED_LOOP.format(arguments), folders=(tmp_path,))
    assert not own.verdict("work", "loop1").is_independent
    own.assume(Fact(FactKind.PURE, "step"))
    assert own.verdict("work", "loop1").is_independent is independent
