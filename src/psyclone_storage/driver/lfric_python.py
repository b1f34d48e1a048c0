"""LFRic in Python, as the driver knows it: the words, and the row of what is generated."""

from __future__ import annotations

from psyclone_storage.backend.infrastructure import Infrastructure
from psyclone_storage.config.settings import RunTimeChecks, Settings
from psyclone_storage.driver.python import python_with_columns
from psyclone_storage.driver.rows import Target
from psyclone_storage.frontend.python.dialect import Annotated, Dialect
from psyclone_storage.infrastructures import lfric, lfric_words
from psyclone_storage.ir.kernel import ArgKind

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
    builtins=frozenset(lfric_words.BUILTINS),
)


def _meshes(settings: Settings) -> Infrastructure:
    from psyclone_storage.backend.meshes.table import meshes_in_c  # noqa: PLC0415

    checks = settings.lfric.run_time_checks is not RunTimeChecks.NONE
    exact = settings.lfric.exact_sums or settings.reproducible_reductions
    return meshes_in_c(exact_sums=exact, run_time_checks=checks)


LFRIC_IN_C = Target(python_with_columns(LFRIC_WORDS), _meshes)
