"""Dialects of Python programs: the names that each API provides."""

from __future__ import annotations

from psyclone_storage.infrastructures import gocean, gocean_words, lfric, lfric_words
from psyclone_storage.ir.interface import Role
from psyclone_storage.ir.kernel import ArgKind
from psyclone_storage.languages.python.parse.api_words import Annotated, Dialect

_POINTWISE = gocean.POINTWISE.upper()
_OF_FIELDS = tuple(word.upper() for word in (gocean.LAYERS, *gocean.VALUE_WORDS))
GOCEAN_WORDS = Dialect(
    "psyclone_storage.gocean",
    gocean.REAL,
    gocean.ENTRY,
    gocean.COMPONENTS[0],
    gocean.COMPONENTS[1:],
    {
        "field": Annotated(2, behind=(_POINTWISE,), more=_OF_FIELDS),
        "scalar": Annotated(2, behind=(_POINTWISE,)),
        "grid_property": Annotated(1, before=(gocean.READ.upper(),)),
    },
    gocean.STENCIL.upper(),
    ranges={word: Role(value) for word, value in gocean_words.RANGES.items()},
    builtins=frozenset(gocean_words.REDUCTIONS),
    of_points=True,
    single=gocean.SINGLE,
)

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
