"""`FortranReader`: creates nodes from Fortran text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.source import SourceText
from psyclone_storage.languages.fortran.parse.linked_files import link_file
from psyclone_storage.languages.fortran.parse.syntax_tree import read_file
from psyclone_storage.languages.sources.kernel_search import index_directories
from psyclone_storage.languages.sources.module_finder import ModuleFinder
from psyclone_storage.scripting.errors import TransformationError, refusal
from psyclone_storage.scripting.psyir.containers import FileContainer
from psyclone_storage.scripting.psyir.statements import CodeBlock
from psyclone_storage.transform.file_bench import FileBench


class FortranReader:
    """A reader of files, statements and expressions.

    Names in statements and expressions are resolved when a script inserts the nodes into a routine.
    """

    def __init__(self, *_: object, **__: object) -> None:
        """Ignore PSyclone's options: comments and directives are always preserved."""

    def psyir_from_source(self, source_code: str, name: str = "source.f90") -> FileContainer:
        """Return the tree of a file, given as text.

        Raises:
            TransformationError: the text cannot be parsed.
        """
        try:
            file = read_file(SourceText(name, source_code))
            linked = link_file(file, ModuleFinder(index_directories(())))
        except CompileError as error:
            raise TransformationError(*error.problems) from error
        return FileContainer(Path(name).name, linked, FileBench(linked))

    def psyir_from_file(self, file_path: str) -> FileContainer:
        """Return the tree of the file at `file_path`."""
        return self.psyir_from_source(Path(file_path).read_text(encoding="utf-8"), file_path)

    def psyir_from_statement(self, source_code: str, symbol_table: object = None) -> Any:
        """Return the node of one statement, given as text.

        Raises:
            TransformationError: `T015`, the text is not exactly one supported statement.
        """
        tree = self.psyir_from_source(f"subroutine part()\n{source_code}\nend subroutine part\n")
        routines = tree.routines
        nodes = list(routines[0].children) if len(routines) == 1 else []
        if len(nodes) != 1 or isinstance(nodes[0], CodeBlock):
            raise refusal(f"'{source_code}' is not one statement that has a node.")
        return nodes[0].copy()

    def psyir_from_expression(self, source_code: str, symbol_table: object = None) -> Any:
        """Return the node of an expression, given as text.

        Raises:
            TransformationError: `T015`, the text is not an expression.
        """
        return self.psyir_from_statement(f"part = {source_code}", symbol_table).rhs.copy()
