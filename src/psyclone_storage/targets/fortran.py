"""Fortran as a language of kernels, algorithms and generated code.

Kernel bodies are read only for steps, so their reader is imported on demand.
"""

from __future__ import annotations

from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.interface import Dummy
from psyclone_storage.ir.routine import Routine
from psyclone_storage.languages.fortran.parse.algorithm import read_algorithm
from psyclone_storage.languages.fortran.parse.kernel_syntax import check_syntax
from psyclone_storage.languages.fortran.parse.metadata import kernel_types, read_kernel
from psyclone_storage.languages.fortran.parse.routine import read_routine, subroutine_heads
from psyclone_storage.languages.fortran.parse.scope_lookup import link_algorithm
from psyclone_storage.languages.fortran.parse.state import read_state
from psyclone_storage.languages.fortran.print.algorithm import emit_algorithm
from psyclone_storage.languages.fortran.print.kernel import (
    emit_code,
    emit_interface,
    emit_kernel_module,
)
from psyclone_storage.languages.fortran.print.line_length import within_limit, without_indentation
from psyclone_storage.languages.fortran.print.printer import emit_unit
from psyclone_storage.languages.sources.kernel_search import SUFFIXES
from psyclone_storage.languages.sources.module_finder import ModuleFinder
from psyclone_storage.targets.spec import Language


def _read_code(
    source: SourceText, name: str, _dummies: tuple[Dummy, ...], _beside: object = None
) -> Routine:
    """Return the subroutine `name` of a module in `source`."""
    from psyclone_storage.languages.fortran.parse.body import read_code  # noqa: PLC0415

    return read_code(source, name)


def _resolve(code: Routine, finder: ModuleFinder, _dummies: tuple[Dummy, ...]) -> Routine:
    """Return `code` with a symbol for each name."""
    from psyclone_storage.languages.fortran.parse.resolve import resolve_code  # noqa: PLC0415

    return resolve_code(code, finder)


FORTRAN = Language(
    "fortran",
    read_algorithm,
    link_algorithm,
    read_kernel,
    kernel_types,
    read_routine,
    _read_code,
    _resolve,
    read_state,
    check_syntax,
    emit_unit,
    emit_algorithm,
    emit_kernel_module,
    emit_code,
    emit_interface,
    within_limit,
    without_indentation,
    subroutine_heads,
    SUFFIXES,
)
