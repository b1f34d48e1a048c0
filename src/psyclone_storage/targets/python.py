"""Python as a host language: programs are parsed by `ast`, kernels may be in Fortran."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from psyclone_storage.base.diagnostic import Diagnostic, InternalError
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.expr import Symbol
from psyclone_storage.ir.interface import Dummy
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.linking import linked
from psyclone_storage.ir.parsed import ParsedAlgorithm
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.unit import Unit
from psyclone_storage.languages.fortran.parse.state import StateInText
from psyclone_storage.languages.fortran.print.kernel import KernelNames
from psyclone_storage.languages.fortran.print.printer import InlinedProcedures
from psyclone_storage.languages.python.parse.algorithm import read_python_algorithm
from psyclone_storage.languages.python.parse.api_words import Dialect
from psyclone_storage.languages.python.parse.body import read_python_body
from psyclone_storage.languages.python.parse.heads import routine_heads
from psyclone_storage.languages.python.parse.metadata import python_kernel_names, read_python_kernel
from psyclone_storage.languages.python.parse.reexports import follow_imports
from psyclone_storage.languages.sources.kernel_search import SUFFIXES
from psyclone_storage.languages.sources.module_finder import ModuleFinder
from psyclone_storage.targets.fortran import FORTRAN
from psyclone_storage.targets.numpy.algorithm import emit_python_algorithm
from psyclone_storage.targets.numpy.kernel import READING
from psyclone_storage.targets.spec import Language


def _emit_no_unit(_unit: Unit, _inlined: InlinedProcedures) -> str:
    raise InternalError("A module of Python with C is printed together with it.")


def python(
    dialect: Dialect,
    emit_unit: Callable[[Unit, InlinedProcedures], str] = _emit_no_unit,
    **parts: Any,
) -> Language:
    """Return Python with the dialect of an API; `parts` are other fields of `Language`.

    By default Fortran kernels are translated to Python.
    """
    own: dict[str, Any] = {
        "resolve": partial(_resolve, dialect),
        "emit_code": _emit_nothing,
        "heads": _heads_of_routines,
    }
    kernel_types = _by_file(partial(python_kernel_names, dialect), FORTRAN.kernel_types)
    return Language(
        "python",
        partial(read_python_algorithm, dialect),
        _link,
        _by_file(partial(read_python_kernel, dialect), FORTRAN.read_kernel),
        kernel_types,
        _by_file(_no_interface, FORTRAN.read_routine),
        _by_file(partial(read_python_body, dialect), FORTRAN.read_code),
        state=_by_file(_state, FORTRAN.state),
        check_syntax=_by_file(_check_syntax, FORTRAN.check_syntax),
        emit_unit=emit_unit,
        emit_algorithm=emit_python_algorithm,
        emit_kernel=_emit_kernel,
        emit_interface=_emit_interface,
        within_limit=str,
        without_indentation=str,
        suffixes=(".py", *SUFFIXES),
        words=dialect.module,
        prints_kernels=True,
        import_form="from <module> import {}",
        follow_imports=partial(follow_imports, kernel_types),
        **(own | parts),
    )


def _by_file(of_python: Any, of_fortran: Any) -> Any:
    """Return a reader that selects the language by file name."""

    def read(source: SourceText, *given: Any, **named: Any) -> Any:
        reader = of_fortran if _is_fortran(source) else of_python
        return reader(source, *given, **named)

    return read


def _is_fortran(source: SourceText) -> bool:
    return key_of(source.name).endswith(SUFFIXES)


def _link(
    algorithm: ParsedAlgorithm, _structures: Mapping[str, Symbol], *_imported: object
) -> ParsedAlgorithm:
    """Return `algorithm` unchanged: Python has no declarations."""
    return algorithm


def _resolve(
    dialect: Dialect, code: Routine, finder: ModuleFinder, dummies: tuple[Dummy, ...]
) -> Routine:
    """Return `code` with a symbol for each name; Fortran code is first translated to Python."""
    if _is_fortran(code.module.source):
        from psyclone_storage.targets.transpile import transpile  # noqa: PLC0415

        code = transpile(dialect, code, finder, dummies)
    return linked(code)


def resolve_without_translation(
    code: Routine, finder: ModuleFinder, dummies: tuple[Dummy, ...]
) -> Routine:
    """Return `code` with a symbol for each name; Fortran is not translated."""
    if _is_fortran(code.module.source):
        return FORTRAN.resolve(code, finder, dummies)
    return linked(code)


def _state(_source: SourceText, _module: str, _name: str) -> StateInText:
    """Return no state: a Python kernel assigns only to locals and arguments."""
    return StateInText(found=True)


def _no_interface(_source: SourceText, _name: str) -> None:
    """Return None: a Python kernel declares its arguments only in its metadata."""


def _check_syntax(_source: SourceText, _routines: tuple[str, ...]) -> tuple[Diagnostic, ...]:
    """Return no diagnostics: a file that is not Python is rejected when it is read."""
    return ()


def _emit_nothing(_code: Routine) -> list[str]:
    """Return no lines: kernels are printed where they are called."""
    return []


def _heads_of_routines(source: SourceText) -> dict[str, tuple[str, ...]]:
    """Return the functions for invokes and kernels in a generated module with their arguments."""
    found = routine_heads(source)
    return {name: dummies for name, dummies in found.items() if not name.startswith(READING)}


def heads_of_invokes(source: SourceText) -> dict[str, tuple[str, ...]]:
    """Return the public functions of a generated module with their arguments."""
    found = routine_heads(source)
    return {name: dummies for name, dummies in found.items() if not name.startswith("_")}


def _emit_kernel(_codes: tuple[Routine, ...], _old: KernelNames, _new: KernelNames) -> str:
    raise InternalError("A kernel of a program in Python has no file of its own.")


def _emit_interface(name: str, _specifics: Iterable[str]) -> list[str]:
    raise InternalError(f"The kernel '{name}' in Python has several implementations.")
