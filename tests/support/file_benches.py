"""Benches for files of plain Fortran in tests, from texts."""

from __future__ import annotations

from pathlib import Path

from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.directive import Directive, RegionOptions
from psyclone_storage.ir.facts import Facts
from psyclone_storage.languages.fortran.parse.linked_files import link_file
from psyclone_storage.languages.fortran.parse.syntax_tree import read_file
from psyclone_storage.languages.fortran.print.edit_script import emit_changed
from psyclone_storage.languages.sources.kernel_search import index_directories
from psyclone_storage.languages.sources.module_finder import ModuleFinder
from psyclone_storage.pipeline.module_context import ModuleContexts
from psyclone_storage.transform.file_bench import FileBench
from psyclone_storage.transform.file_blocks import AddDirective


def file_bench(text: str, facts: Facts = (), folders: tuple[Path, ...] = ()) -> FileBench:
    """Return a bench for a file with `text`, whose modules are in `folders`."""
    source = SourceText("program.f90", text)
    finder = ModuleFinder(index_directories(folders)).within(source)
    context = ModuleContexts(finder).of(source)
    return FileBench(link_file(read_file(source), finder, context), facts, context)


def subroutine_bench(body: str, declared: str, facts: Facts = ()) -> FileBench:
    """Return a bench for a module with one subroutine `work(n)`."""
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    text = f"""module work_mod
  implicit none
contains
  subroutine work(n)
    integer, intent(in) :: n
    {declared}
{lines}
  end subroutine work
end module work_mod
"""
    return file_bench(text, facts)


def printed(bench: FileBench) -> str:
    """Return the text of the file with the steps so far."""
    return emit_changed(*bench.changed_file())


def share(
    bench: FileBench,
    uid: str = "loop1",
    directive: Directive = Directive.OMP_PARALLEL_DO,
    options: RegionOptions | None = None,
) -> None:
    """Put a directive around a loop of the first routine."""
    given = options or RegionOptions(sums=True)
    bench.apply(AddDirective(bench.routines[0], uid, directive=directive, options=given))
