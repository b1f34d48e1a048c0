"""The command on files without an API: outputs, reports, and that nothing is half written."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from psyclone_storage.cli.file_options import PROMISES
from psyclone_storage.ir.facts import ASSUMPTIONS
from psyclone_storage.pipeline.files import FileTransformer, OpenFile
from support.command import run_command

GOOD = """subroutine copy(a, b, n)
  integer, intent(in) :: n
  real, intent(in) :: b(n, n)
  real, intent(out) :: a(n, n)
  integer :: i, j
  do j = 1, n  ! columns
    do i = 1, n
      a(i, j) = b(i, j)
    end do
  end do  ! of columns
  do j = 1, n
    a(1, j) = 0.0
    a(2, j) = 1.0
    a(3, j) = 2.0
  end do
end subroutine copy
"""
CARRIED = """subroutine sweep(a, n)
  integer, intent(in) :: n
  real, intent(inout) :: a(n)
  integer :: i
  !$omp parallel do
  do i = 2, n
    a(i) = a(i) + a(i - 1)
  end do
end subroutine sweep
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with two files."""
    (tmp_path / "good.f90").write_text(GOOD)
    (tmp_path / "carried.f90").write_text(CARRIED)
    return tmp_path


def test_auto_keeps_every_line(folder: Path) -> None:
    """Adjacent loops share a region; all other lines are the author's."""
    done = run_command(["--apply", "auto", "good.f90", "-o", "out.f90"], folder)
    assert done.status == 0, done.err
    lines = done.written["out.f90"].splitlines()
    assert [line for line in lines if "!$omp" not in line] == GOOD.splitlines()
    assert [line.strip() for line in lines if "!$omp" in line] == [
        "!$omp parallel default(shared)",
        "!$omp do private(i)",
        "!$omp end do",
        "!$omp do",
        "!$omp end do",
        "!$omp end parallel",
    ]


def test_without_o_the_text_goes_to_standard_output(folder: Path) -> None:
    """A step by name; the file is as before except for the directive."""
    done = run_command(["--apply", "acc-kernels{loop=loop1}", "good.f90"], folder)
    assert done.status == 0, done.err
    assert "!$acc kernels" in done.out
    assert done.written == {}


def test_a_wrong_file_keeps_all_outputs_from_being_written(folder: Path) -> None:
    """One step is refused in one file: status 1, both lines, no output."""
    words = ["--apply", "openmp-parallel-do{loop=loop1}", "good.f90", "carried.f90"]
    done = run_command([*words, "--output-dir", "out", "--depfile", "out/deps.d"], folder)
    assert done.status == 1
    assert "carried.f90:7:5" in done.err
    assert done.written == {}


def test_a_recipe_edits_the_tree(folder: Path) -> None:
    """What it changes is printed, with the clauses of its regions; all else stays."""
    (folder / "recipe.py").write_text(
        "from psyclone.psyir.nodes import Loop, Routine\n"
        "def trans(psyir, last=0):\n"
        "    assert psyir.name == 'good.f90'\n"
        "    loops = [one for one in psyir.walk(Loop) if not one.ancestor(Loop)]\n"
        "    loops[last].detach()\n"
    )
    words = ["-s", "recipe.py", "--script-kwargs", "last=1", "good.f90", "-o", "out.f90"]
    done = run_command([*words, "--depfile", "out.d"], folder)
    assert done.status == 0, done.err
    lines = GOOD.splitlines()
    assert done.written["out.f90"].splitlines() == [*lines[:10], lines[-1]]
    assert "recipe.py" in done.written["out.d"]


def test_directives_of_the_author_are_stripped(folder: Path) -> None:
    """Of the family that is named; the others stay."""
    done = run_command(["--strip-directives", "omp", "carried.f90", "-o", "out.f90"], folder)
    assert done.status == 0, done.err
    assert "!$omp" not in done.written["out.f90"]
    done = run_command(["--strip-directives", "acc", "carried.f90", "-o", "out2.f90"], folder)
    assert done.written["out2.f90"] == CARRIED


def test_the_explanation_names_both_lines_and_promises(folder: Path) -> None:
    """The pair of accesses that blocks a loop, and what the author could promise."""
    done = run_command(["--explain", "carried.f90"], folder)
    assert done.status == 0, done.err
    assert "carried.f90:6: sweep.loop1 over i: carried" in done.out
    assert "line 7: 'a(i)' is written" in done.out
    assert "line 7: 'a(i - 1)' is read" in done.out


def test_the_table_of_loops_is_json(folder: Path) -> None:
    """One entry for each loop of all files, in order, from several processes."""
    words = ["--apply", "auto", "good.f90", "carried.f90", "-j", "2", "--loops-json"]
    done = run_command([*words, "loops.json", "--output-dir", "out"], folder)
    assert done.status == 0, done.err
    table = json.loads(done.written["loops.json"])
    assert [(one["file"], one["line"], one["verdict"], one["directive"]) for one in table] == [
        ("good.f90", 6, "independent", "omp do"),
        ("good.f90", 7, "independent", ""),
        ("good.f90", 11, "independent", "omp do"),
        ("carried.f90", 6, "carried", ""),
    ]


def test_dependencies_name_the_modules_that_were_read(folder: Path) -> None:
    """A module of '-I' that the file uses is in the rule of the output."""
    (folder / "modules").mkdir()
    (folder / "modules" / "sizes_mod.f90").write_text(
        "module sizes_mod\n  integer, parameter :: size = 3\nend module sizes_mod\n"
    )
    (folder / "user.f90").write_text(
        "subroutine use_it(a)\n  use sizes_mod, only: size\n  real, intent(out) :: a(size)\n"
        "  a(1) = 1.0\nend subroutine use_it\n"
    )
    words = ["user.f90", "-I", "modules", "-o", "out.f90", "--depfile", "out.d"]
    done = run_command(words, folder)
    assert done.status == 0, done.err
    assert done.written["out.f90"] == (folder / "user.f90").read_text()
    assert "modules/sizes_mod.f90" in done.written["out.d"]


@pytest.mark.parametrize(
    "words",
    [
        ["-o", "out.f90", "-api", "lfric", "good.f90"],
        ["-o", "out.f90", "good.f90", "carried.f90"],
        ["-o", "good.f90", "good.f90"],
        ["-o", "out.f90", "--output-dir", "out", "good.f90"],
    ],
)
def test_contradictions(folder: Path, words: list[str]) -> None:
    """An API, two files for one output, the input as output, and two kinds of outputs."""
    done = run_command(words, folder)
    assert done.status == 1
    assert "error[L002]" in done.err
    assert done.written == {}


@pytest.mark.parametrize(
    "words",
    [
        ["-p kernels"],
        ["--compile"],
        ["--check"],
        ["--schedule"],
        ["--dag", "d.dot"],
        ["--schedule-json", "s.json"],
        ["--gather-kernels", "k.f90"],
        ["--kernel-list", "k.txt"],
        ["--dyndep", "d.dd", "out.f90"],
        ["--target", "storage"],
        ["-okern", "kernels"],
    ],
)
def test_options_of_algorithms_are_rejected(folder: Path, words: list[str]) -> None:
    """An option without effect would let a build believe that it was honoured."""
    options = [*words[0].split(), *words[1:]]
    done = run_command([*options, "good.f90", "-o", "out.f90"], folder)
    assert done.status == 1
    assert f"error[L002]: '{words[0]}' is for algorithms" in done.err
    assert done.written == {}


@pytest.mark.parametrize(
    "words",
    [
        ["--strip-directives", "omp"],
        ["--assume", "component-pointers-distinct"],
        ["--loops-json", "l.json"],
        ["--require-applied"],
        ["--device-data", "s"],
    ],
)
def test_options_of_files_are_rejected_with_an_api(folder: Path, words: list[str]) -> None:
    """The algorithm would otherwise count as plain Fortran and remain as it is."""
    done = run_command(["-api", "gocean", *words, "good.f90"], folder)
    assert done.status == 1
    assert f"error[L002]: '{words[0]}' is for files without an API." in done.err
    assert done.written == {}


def test_without_options_the_text_is_printed(folder: Path) -> None:
    """A file that invokes nothing is no algorithm: no title, no warning."""
    done = run_command(["good.f90"], folder)
    assert (done.status, done.out, done.err) == (0, GOOD, "")


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"subroutine s(a, n)\ndo i = 1, n\n", "P005"),
        (b"end do\nsubroutine s(a\n if (\n", "P005"),
        (b"\x7fELF\x00\x01\n", "P001"),
    ],
)
def test_what_is_no_complete_program_unit_is_an_error(folder: Path, data: bytes, code: str) -> None:
    """Unclosed units and bytes that are no text are not copied silently."""
    (folder / "bad.f90").write_bytes(data)
    done = run_command(["bad.f90", "-o", "out.f90"], folder)
    assert done.status == 1
    assert f"error[{code}]" in done.err
    assert done.written == {}


def test_only_independent_loops_list_clauses(folder: Path) -> None:
    """A clause in JSON has its kind and its names."""
    done = run_command(["good.f90", "carried.f90", "--loops-json"], folder)
    table = json.loads(done.out)
    assert [one["clauses"] for one in table if one["verdict"] == "carried"] == [[]]
    assert table[0]["clauses"] == [{"kind": "private", "names": ["i"]}]


def test_the_reasons_against_a_region_are_printed(folder: Path) -> None:
    """The loops of the region get threads of their own; '--strict' makes it an error."""
    (folder / "two.f90").write_text(
        "subroutine two(a, b, n)\n  integer :: n, i\n  real :: a(n), b(n)\n"
        "  do i = 1, n\n    a(i) = i\n  end do\n"
        "  do i = 1, n\n    b(i) = a(n - i + 1)\n  end do\nend subroutine\n"
    )
    (folder / "recipe.py").write_text(
        "from psyclone.psyir.nodes import Loop, Routine\n"
        "from psyclone.transformations import OMPLoopTrans, OMPParallelTrans\n"
        "def trans(psyir):\n"
        "    for loop in psyir.walk(Loop):\n"
        "        OMPLoopTrans(omp_schedule='static').apply(loop, nowait=True)\n"
        "    OMPParallelTrans().apply(psyir.walk(Routine)[0].children[:])\n"
    )
    words = ["-s", "recipe.py", "two.f90", "-o", "out.f90"]
    done = run_command(words, folder)
    assert done.status == 0
    assert "warning[T027]" in done.err
    assert "two.f90:4:3" in done.err
    assert done.written["out.f90"].count("!$omp parallel do") == 2
    assert "nowait" not in done.written["out.f90"]
    assert run_command([*words, "--strict"], folder).status == 1


def test_directives_have_the_indentation_of_their_loop(folder: Path) -> None:
    """Tabs of the author are before the end directive as well."""
    lines = ["if (n > 0) then", "\tdo i = 1, n", "\t\ta(i) = i", "\tend do", "end if"]
    body = "".join(f"\t{line}\n" for line in lines)
    head = "subroutine fill(a, n)\n\tinteger :: n, i\n\treal :: a(n)\n"
    (folder / "tabs.f90").write_text(f"{head}{body}end subroutine\n")
    done = run_command(["tabs.f90", "--apply", "auto{work=1}", "-o", "out.f90"], folder)
    made = done.written["out.f90"].splitlines()
    assert [line for line in made if "omp" in line] == [
        "\t\t!$omp parallel do default(shared)",
        "\t\t!$omp end parallel do",
    ]
    assert [line for line in made if "omp" not in line] == [
        *head.splitlines(),
        *body.splitlines(),
        "end subroutine",
    ]


def test_components_of_unknown_types_are_data_only_by_promise(folder: Path) -> None:
    """A component with brackets may be a call of a type-bound function, unless one says more."""
    text = """subroutine scale(a, state, n)
  use state_mod, only: state_type
  integer, intent(in) :: n
  type(state_type), intent(in) :: state
  real, intent(inout) :: a(n)
  integer :: i
  do i = 1, n
    a(i) = a(i) * state%factor(i)
  end do
end subroutine scale
"""
    (folder / "scale.f90").write_text(text)
    words = ["--apply", "openmp-parallel-do{loop=loop1}", "scale.f90", "-o", "out.f90"]
    refused = run_command(words, folder)
    assert refused.status == 1
    assert "'state%factor(...)' may be a call" in refused.err
    done = run_command([*words, "--assume", "unknown-components-are-data"], folder)
    assert done.status == 0, done.err
    assert "!$omp parallel do" in done.written["out.f90"]


def test_each_promise_about_all_names_can_be_made() -> None:
    """The command line names the facts that proofs use."""
    assert set(PROMISES) == {kind.value for kind in ASSUMPTIONS}


def test_the_second_reader_reports_what_it_reads_otherwise(folder: Path) -> None:
    """A warning for a statement that is text here; the output is that without the option."""
    text = GOOD.replace("a(1, j) = 0.0", "a(1, j) = a(1, j) .x. a(2, j)")
    (folder / "text.f90").write_text(text)
    plain = run_command(["text.f90", "-o", "out.f90"], folder)
    done = run_command(["text.f90", "-o", "out.f90", "--frontend", "fparser2"], folder)
    assert done.status == plain.status == 0
    assert plain.err == ""
    assert done.err.startswith("warning[P060]: This tool preserves as text")
    assert "text.f90:12:5" in done.err
    assert (folder / "out.f90").read_text() == text


def test_the_second_reader_may_be_missing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without fparser, the option is refused by name."""
    monkeypatch.setitem(sys.modules, "psyclone_storage.tools.second_opinion", None)
    done = run_command(["good.f90", "--frontend", "fparser2"], folder)
    assert done.status == 1
    assert done.err.startswith("error[L017]: '--frontend fparser2' needs fparser")


def test_options_tell_the_form_of_files(folder: Path) -> None:
    """A suffix of free form with fixed form in it, and the opposite."""
    text = """C     fixed
      SUBROUTINE S(A)
      REAL A(9)
      INTEGER I
      DO I = 1, 9
        A(I) = 0
      END DO
      END
"""
    (folder / "old.f90").write_text(text)
    (folder / "new.f").write_text(GOOD)
    words = ["--apply", "openmp-parallel-do{loop=loop1}"]
    done = run_command([*words, "--fixed-form", "old.f90", "-o", "out.f90"], folder)
    assert done.status == 0, done.err
    lines = done.written["out.f90"].splitlines()
    assert [line for line in lines if not line.startswith("!$omp")] == text.splitlines()
    assert any(line.startswith("!$omp parallel do") for line in lines)
    done = run_command([*words, "--free-form", "new.f", "-o", "out.f"], folder)
    assert done.status == 0, done.err
    done = run_command(["--free-form", "--fixed-form", "new.f"], folder)
    assert done.err.startswith("error[L002]: '--fixed-form' contradicts '--free-form'.")


INCLUDING = """subroutine scale(a, n)
  use limits_mod, only: lower
  include 'sizes.inc'   ! of the model
  real, intent(inout) :: a(n)
  integer :: i
#include "more.h"
  do i = lower, n
    a(i) = a(i) * factor
  end do
end subroutine scale
subroutine clear(a)
  real, intent(inout) :: a(9)
  integer :: i
  do i = 1, 9
    a(i) = 0
  end do
end subroutine clear
"""


def including(folder: Path) -> list[str]:
    """Return a command for a file with included files and a module, in three folders."""
    for name, text in {
        "src/scale.f90": INCLUDING,
        "inc/sizes.inc": "  integer, intent(in) :: n\n  real, parameter :: factor = 2.0\n",
        "inc/more.h": "  ! nothing\n",
        "mods/limits_mod.f90": "module limits_mod\n  use base_mod, only: lower => one\nend\n",
        "mods/base_mod.f90": "module base_mod\n  integer, parameter :: one = 1\nend module\n",
    }.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    words = ["src/scale.f90", "-d", "mods", "-I", "inc", "--explain", "--depfile", "deps.d"]
    return [*words, "--apply", "openmp-parallel-do{routine=clear loop=loop1}", "-o", "out.f90"]


def test_included_files_are_read_and_preserved(folder: Path) -> None:
    """The lines of included files are preserved, and the rule names all files."""
    done = run_command(including(folder), folder)
    assert done.status == 0, done.err
    lines = done.written["out.f90"].splitlines(keepends=True)
    assert "".join(line for line in lines if "!$omp" not in line) == INCLUDING
    rule = done.written["deps.d"].partition("\n\n")[0]
    for name in ("src/scale.f90", "inc/sizes.inc", "inc/more.h", "mods/limits_mod.f90"):
        assert name in rule
    assert "mods/base_mod.f90" in rule


@pytest.fixture
def cached(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a cache and a file that includes others."""
    (folder / "cache").mkdir(mode=0o700)
    monkeypatch.setenv("PSYCLONE_STORAGE_CACHE", str(folder / "cache"))
    return folder


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that grows by each file that is transformed."""
    found: list[str] = []
    opened = FileTransformer.opened

    def note(self: FileTransformer, path: Path) -> OpenFile:
        found.append(path.name)
        return opened(self, path)

    monkeypatch.setattr(FileTransformer, "opened", note)
    return found


def test_results_are_cached_until_an_input_changes(
    cached: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second call transforms nothing; a change of any file that was read does."""
    words = including(cached)
    ran = counted(monkeypatch)
    first = run_command(words, cached)
    assert first.status == 0, first.err
    for path in (cached / "out.f90", cached / "deps.d"):
        path.unlink()
    again = run_command(words, cached)
    assert ran == ["scale.f90"]
    assert (again.out, again.err) == (first.out, first.err)
    assert again.written["out.f90"] == first.written["out.f90"]
    assert again.written["deps.d"] == first.written["deps.d"]
    changes = {
        "inc/sizes.inc": "  integer :: n\n  real, parameter :: factor = 3.0\n",
        "mods/base_mod.f90": "module base_mod\n  integer, parameter :: one = 2\nend module\n",
        "mods/limits_mod.f90": "module limits_mod\n  integer, parameter :: lower = 2\nend\n",
        "src/scale.f90": INCLUDING.replace("of the model", "of all"),
    }
    for number, (name, text) in enumerate(changes.items(), 2):
        (cached / name).write_text(text)
        assert run_command(words, cached).status == 0
        assert len(ran) == number, name
    run_command([*words, "--assume", "component-pointers-distinct"], cached)
    run_command([*words, "--no-cache"], cached)
    assert len(ran) == 7


def test_auto_explains_independent_loops_without_directive(folder: Path) -> None:
    """The author's region around one loop, and too little work in another one."""
    (folder / "regions.f90").write_text(
        "subroutine s(a, n)\n  integer, intent(in) :: n\n  real, intent(inout) :: a(n)\n"
        "  integer :: i\n  !$omp parallel private(i)\n  !$omp do\n  do i = 1, n\n"
        "    a(i) = a(i) + 1.0\n    a(i) = a(i) * 3.0\n    a(i) = a(i) - 1.0\n  end do\n"
        "  !$omp end do\n  !$omp end parallel\n  do i = 1, 10\n    a(i) = 2.0 * a(i)\n  end do\n"
        "end subroutine s\n"
    )
    words = ["regions.f90", "--apply", "auto", "--explain", "-o", "out.f90"]
    done = run_command(words, folder)
    assert done.status == 0, done.err
    first, second = done.out.split("not shared: ")[1:]
    assert first.startswith("The block is inside a construct of the author")
    assert second.startswith("it executes about 10 statements, fewer than 'work=2000'")
    assert "2 loops, 2 independent, 0 shared" in done.out


FIXED = """      subroutine scale(a, b, n)
      use factors, only: twice
      integer n, i, j
      real a(n), b(n, n)
C     every element
      do 10 i = 1, n
        a(i) = twice(a(i))
   10 continue
      do 20 j = 1, n
      do 20 i = 1, n
        if (b(i, j) .gt. 3.) goto 20
        b(i, j) = 0.
   20 continue
      end
"""
FACTORS = """      module factors
      contains
      pure real function twice(x)
      real, intent(in) ::
     &  x
c     a comment
      twice = 2 * x
      end function
      end module
"""


def test_loops_that_end_with_labels_and_modules_in_fixed_form(folder: Path) -> None:
    (folder / "factors.f").write_text(FACTORS)
    (folder / "scale.f").write_text(FIXED)
    words = ["scale.f", "-d", ".", "--apply", "auto{work=1}", "-o", "out.f", "--depfile", "out.d"]
    done = run_command(words, folder)
    assert done.status == 0, done.err
    made = done.written["out.f"].splitlines()
    assert [line for line in made if "$omp" not in line] == FIXED.splitlines()
    assert sum("!$omp do" in line for line in made) == 2
    assert "factors.f" in done.written["out.d"]


def test_a_module_in_free_form_comes_before_one_in_fixed_form(folder: Path) -> None:
    """The module in free form has no pure function, so that its loop is not independent."""
    (folder / "factors.f").write_text(FACTORS)
    free = FACTORS.replace("     &  x", "").replace("real, intent(in) ::", "real, intent(in) :: x")
    free = free.replace("c     a comment", "print *, x").replace("pure ", "")
    (folder / "factors.f90").write_text(free)
    (folder / "scale.f").write_text(FIXED)
    done = run_command(
        ["scale.f", "-d", ".", "--apply", "auto{work=1}", "-o", "out.f", "--explain"], folder
    )
    assert done.status == 0, done.err
    assert "scale.loop1 over i: independent" not in done.out
    assert "scale.loop2 over j: independent" in done.out


def test_scripts_must_accept_the_file(folder: Path) -> None:
    script = folder / "script.py"
    script.write_text("import functools\n\n\ndef trans(psyir, depth):\n    pass\n")
    words = ["-s", "script.py", "good.f90", "-o", "out.f90"]
    done = run_command(words, folder)
    assert done.err.splitlines()[:2] == [
        "error[T002]: 'trans' cannot be called with 'psyir': missing a required argument: 'depth'.",
        "  --> script.py:4:1",
    ]
    assert "hint: Write 'def trans(psyir):'." in done.err
    assert run_command([*words, "--script-kwargs", "depth=3"], folder).err == ""
    script.write_text("trans = dict\n")  # Its signature is not known.
    assert "TypeError" in run_command(words, folder).err
