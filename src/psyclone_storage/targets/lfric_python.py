"""LFRic in Python: its dialect, and the targets C, CUDA and NumPy."""

from __future__ import annotations

from psyclone_storage.backend.infrastructure import Infrastructure
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.config.settings import RunTimeChecks, Settings
from psyclone_storage.frontend.python.dialect import Annotated, Dialect
from psyclone_storage.infrastructures import lfric, lfric_words
from psyclone_storage.ir.kernel import ArgKind
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Program
from psyclone_storage.targets.python import (
    python_with_columns,
    python_with_columns_on_device,
    python_with_numpy_columns,
)
from psyclone_storage.targets.spec import Target

_DATA_TYPES = tuple(word.upper() for word in lfric_words.DATA_TYPES)
_KINDS = {kind: word.upper() for word, kind in lfric_words.ARG_KINDS.items()}
LFRIC_WORDS = Dialect(
    "psyclone_storage.lfric",
    lfric.REAL,
    lfric_words.ENTRIES[lfric_words.COMPONENTS[0]],
    lfric_words.COMPONENTS[0],
    lfric_words.COMPONENTS[1:],
    {
        word: Annotated(head=_KINDS[kind], counted=kind is ArgKind.FIELD, types=_DATA_TYPES)
        for word, kind in {
            "field": ArgKind.FIELD,
            "operator": ArgKind.OPERATOR,
            "columnwise_operator": ArgKind.COLUMNWISE_OPERATOR,
            "scalar": ArgKind.SCALAR,
            "scalar_array": ArgKind.SCALAR_ARRAY,
        }.items()
    },
    keywords={word.upper(): "mesh_arg" for word in lfric_words.MESHES},
    lists=lfric_words.ENTRIES,
    ranges=lfric_words.RANGES,
    tables=lfric_words.TABLES,
    from_one=lfric_words.FROM_ONE,
    numbers=lfric_words.NUMBERS,
    builtins=frozenset(lfric_words.BUILTINS),
    types=lfric_words.DECLARED_TYPES,
)


def _meshes(settings: Settings) -> Infrastructure:
    from psyclone_storage.backend.meshes.table import meshes_in_c  # noqa: PLC0415

    checks = settings.lfric.run_time_checks is not RunTimeChecks.NONE
    exact = settings.lfric.exact_sums or settings.reproducible_reductions
    return meshes_in_c(exact_sums=exact, run_time_checks=checks)


def _meshes_on_device(settings: Settings) -> Infrastructure:
    from psyclone_storage.backend.meshes.on_device import on_device  # noqa: PLC0415

    return on_device(_meshes(settings))


def _not_for_threads(program: Program, rules: Rules) -> tuple[Diagnostic, ...]:
    """Return what is said of loops whose iterations must not run in any order (G005)."""
    from psyclone_storage.targets.on_columns import not_for_threads  # noqa: PLC0415

    return not_for_threads(program, rules)


LFRIC_IN_C = Target(python_with_columns(LFRIC_WORDS), _meshes)
LFRIC_IN_NUMPY = Target(python_with_numpy_columns(LFRIC_WORDS), _meshes)
LFRIC_IN_CUDA = Target(
    python_with_columns_on_device(LFRIC_WORDS), _meshes_on_device, refuses=_not_for_threads
)
