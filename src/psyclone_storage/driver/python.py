"""Python, as the driver knows it: programs for grids, read by `ast` and printed as NumPy.

The reader is one for all APIs: an API says which words lead to its metadata. What reads and prints
is imported when a program in Python is met.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from psyclone_storage.backend.fortran.kernel import KernelNames
from psyclone_storage.base.diagnostic import Diagnostic, InternalError
from psyclone_storage.base.records import replace
from psyclone_storage.base.source import SourceText
from psyclone_storage.driver.fortran import FORTRAN
from psyclone_storage.driver.rows import Language
from psyclone_storage.frontend.finder import ModuleFinder
from psyclone_storage.frontend.fortran.state import StateInText
from psyclone_storage.frontend.python.dialect import Annotated, Dialect
from psyclone_storage.frontend.search import SUFFIXES
from psyclone_storage.infrastructures import gocean as words
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.expr import Symbol
from psyclone_storage.ir.interface import Dummy
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.parsed import ParsedAlgorithm

_POINTWISE = words.POINTWISE.upper()
GOCEAN_WORDS = Dialect(
    "psyclone_storage.gocean",
    words.REAL,
    words.ENTRY,
    words.COMPONENTS[0],
    words.COMPONENTS[1:],
    {
        "field": Annotated(2, behind=(_POINTWISE,)),
        "scalar": Annotated(2, behind=(_POINTWISE,)),
        "grid_property": Annotated(1, before=(words.READ.upper(),)),
    },
    words.STENCIL.upper(),
)


def python_with_c(dialect: Dialect) -> Language:
    """Return Python with the words of an API, and C that computes."""
    return replace(
        python(dialect),
        emit_native=partial(_part, "emit_grids_c"),
        emit_code=_emit_nothing,
        heads=_heads_of_invokes,
    )


def python_with_cuda(dialect: Dialect) -> Language:
    """Return Python with the words of an API, and CUDA that computes."""
    return replace(python_with_c(dialect), emit_native=partial(_part, "emit_grids_cuda"))


def python_with_columns(dialect: Dialect) -> Language:
    """Return Python with the words of an API whose kernels are called for columns of cells.

    Kernels in Fortran are printed in C without a translation to Python.
    """
    return replace(
        python_with_c(dialect),
        emit_native=partial(_of_columns, "emit_meshes_c"),
        resolve=_resolve_as_it_is,
    )


def python_with_columns_on_device(dialect: Dialect) -> Language:
    """Return Python with the words of an API whose kernels have a thread for each column."""
    return replace(
        python_with_columns(dialect), emit_native=partial(_of_columns, "emit_meshes_cuda")
    )


def python_with_numpy_columns(dialect: Dialect) -> Language:
    """Return Python with the words of an API whose kernels for columns compute by NumPy."""
    return replace(
        python(dialect),
        emit_unit=partial(_of_numpy_columns, "emit_unit"),
        emit_code=_emit_nothing,
        resolve=_resolve_as_it_is,
    )


def python(dialect: Dialect) -> Language:
    """Return Python with the words of an API, computing by NumPy.

    Kernels may be in Fortran, too: their code becomes that of kernels in Python.
    """
    return Language(
        "python",
        partial(_part, "read_algorithm", dialect),
        _link,
        _by_file(partial(_part, "read_kernel", dialect), FORTRAN.read_kernel),
        _by_file(partial(_part, "kernel_types", dialect), FORTRAN.kernel_types),
        _by_file(_no_interface, FORTRAN.read_routine),
        _by_file(partial(_part, "read_code", dialect), FORTRAN.read_code),
        partial(_resolve, dialect),
        _by_file(_state, FORTRAN.state),
        _by_file(_check_syntax, FORTRAN.check_syntax),
        partial(_part, "emit_unit"),
        partial(_part, "emit_algorithm"),
        _emit_kernel,
        partial(_part, "emit_code"),
        _emit_interface,
        str,
        str,
        partial(_part, "routine_heads"),
        suffixes=(".py", *SUFFIXES),
        words=dialect.module,
        prints_kernels=True,
        import_form="from <module> import {}",
    )


def _by_file(of_python: Any, of_fortran: Any) -> Any:
    """Return what reads a file as its name says: in Fortran, or else in Python."""

    def read(source: SourceText, *given: Any, **named: Any) -> Any:
        reader = of_fortran if _is_fortran(source) else of_python
        return reader(source, *given, **named)

    return read


def _is_fortran(source: SourceText) -> bool:
    return key_of(source.name).endswith(SUFFIXES)


def _part(name: str, *given: Any, **named: Any) -> Any:
    """Call what reads or prints Python, by its name in `driver.python_parts`."""
    from psyclone_storage.driver import python_parts  # noqa: PLC0415

    return getattr(python_parts, name)(*given, **named)


def _of_columns(name: str, *given: Any, **named: Any) -> Any:
    """Call what prints invokes over columns of cells, by its name in `backend.native.printer`."""
    from psyclone_storage.backend.native import printer  # noqa: PLC0415

    return getattr(printer, name)(*given, **named)


def _of_numpy_columns(name: str, *given: Any, **named: Any) -> Any:
    """Call what prints invokes over columns of cells as NumPy, by its name."""
    from psyclone_storage.backend.numpy import columns  # noqa: PLC0415

    return getattr(columns, name)(*given, **named)


def _link(
    algorithm: ParsedAlgorithm, _structures: Mapping[str, Symbol], _imported: object = None
) -> ParsedAlgorithm:
    """Return `algorithm` as it is: nothing in it is declared."""
    return algorithm


def _resolve(
    dialect: Dialect, code: KernelCode, finder: ModuleFinder, dummies: tuple[Dummy, ...]
) -> KernelCode:
    """Return `code` with a symbol for each name, all of which a reader of Python knows."""
    if _is_fortran(code.module.source):
        from psyclone_storage.driver.in_python import in_python  # noqa: PLC0415

        code = in_python(dialect, code, finder, dummies)
    found: KernelCode = _part("linked", code)
    return found


def _resolve_as_it_is(
    code: KernelCode, finder: ModuleFinder, dummies: tuple[Dummy, ...]
) -> KernelCode:
    """Return `code` with a symbol for each name; code in Fortran stays what it is."""
    if _is_fortran(code.module.source):
        return FORTRAN.resolve(code, finder, dummies)
    found: KernelCode = _part("linked", code)
    return found


def _state(_source: SourceText, _module: str, _name: str) -> StateInText:
    """Return that nothing outlives a call: what a kernel assigns to is local, or an argument."""
    return StateInText(found=True)


def _no_interface(_source: SourceText, _name: str) -> None:
    """Return None: a kernel in Python declares its arguments in its metadata alone."""


def _check_syntax(_source: SourceText, _routines: tuple[str, ...]) -> tuple[Diagnostic, ...]:
    """Return nothing: what is no Python is not read at all."""
    return ()


def _emit_nothing(_code: KernelCode) -> list[str]:
    """Return nothing: kernels are printed where they are called."""
    return []


def _heads_of_invokes(source: SourceText) -> dict[str, tuple[str, ...]]:
    """Return the functions of a generated module, without those that are its own affair."""
    found: dict[str, tuple[str, ...]] = _part("routine_heads", source)
    return {name: dummies for name, dummies in found.items() if not name.startswith("_")}


def _emit_kernel(_codes: tuple[KernelCode, ...], _old: KernelNames, _new: KernelNames) -> str:
    raise InternalError("A kernel of a program in Python has no file of its own.")


def _emit_interface(name: str, _specifics: Iterable[str]) -> list[str]:
    raise InternalError(f"The kernel '{name}' in Python has several implementations.")
