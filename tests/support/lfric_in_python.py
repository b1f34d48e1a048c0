"""LFRic's corpus: its algorithms in Fortran, and in Python as the command translates them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from psyclone_storage.base.package_files import shared_file
from psyclone_storage.config.load import load_settings
from psyclone_storage.config.locate import search_context
from psyclone_storage.config.settings import Api
from psyclone_storage.infrastructures.lfric_words import BUILTINS
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.parsed import ParsedAlgorithm
from psyclone_storage.languages.sources.files import read_source
from psyclone_storage.targets.fortran import FORTRAN
from psyclone_storage.tools.c_code import KernelRequest
from psyclone_storage.tools.translate import generate_python

CORPUS = Path(__file__).parents[1] / "corpus" / "lfric"
KERNELS = CORPUS / "kernels"
NO_FORM = {
    # Statements that Python's algorithms have no words for.
    "pointers_and_allocatables",
    "style_directives_and_comments",
    "use_in_procedure",
    # It calls a procedure of its own.
    "unit_contained_procedures",
    # Fields that nobody makes.
    "unit_program",
    "unit_submodule_procedure",
}
"""Algorithms that have no form in Python."""
_BUILTINS = frozenset(map(key_of, BUILTINS))


def read(file: Path) -> ParsedAlgorithm:
    """Return an algorithm in Fortran."""
    return FORTRAN.link_algorithm(FORTRAN.read_algorithm(read_source(file)), {})


@cache
def in_python(file: Path) -> str:
    """Return an algorithm in Python."""
    settings = load_settings("", "", search_context({}))
    shipped = shared_file("external/lfric_infrastructure")
    return generate_python(file, Api.LFRIC, settings, KernelRequest(None, (KERNELS,), shipped))


def kernels_of(algorithm: ParsedAlgorithm) -> dict[str, tuple[str, str]]:
    """Return the module of each kernel that is called, and its name there, by its name here."""
    found: dict[str, tuple[str, str]] = {}
    for invoke in algorithm.invokes:
        called = {one.key for one in invoke.calls}
        for use in (use for scope in invoke.scopes for use in scope.uses):
            for name in use.only or ():
                if name.key in called and name.key not in _BUILTINS:
                    found[name.local.lower()] = (use.module.lower(), name.original.lower())
    return found
