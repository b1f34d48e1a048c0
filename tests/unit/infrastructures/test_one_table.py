"""Facts about infrastructures stand in one table: no other file spells their names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import psyclone_storage
from psyclone_storage.infrastructures import gocean, lfric

SOURCE = Path(psyclone_storage.__file__).parent
TABLES = SOURCE / "infrastructures"
OF_RUNTIME = SOURCE / "runtime" / "lfric" / "names.py"
"""What the runtime asks a library for: it imports nothing of the compiler."""

LFRIC = {
    *lfric.SPACES,
    lfric.ANY_SPACE,
    lfric.ANY_DISCONTINUOUS_SPACE,
    *lfric.KINDS,
    *lfric.OBJECT_TYPES,
    *(known.proxy for known in lfric.OBJECT_TYPES.values()),
    *lfric.VECTOR_TYPES,
    *(known.name for known in lfric.QUADRATURE_TYPES.values()),
    *(known.reduced_by.name for known in lfric.KINDS.values() if known.reduced_by),
    *lfric.REFERENCE_ELEMENT_PROPERTIES,
}
GOCEAN = {
    *gocean.FIELD_TYPES,
    *gocean.OFFSETS,
    gocean.INTERNAL,
    gocean.EXTERNAL,
    gocean.ALL,
    gocean.WORKING_PRECISION,
    *gocean.RequiredProperty,
}


OF_OTHERS = {"int32", "int64", "real32", "real64"}
"""Kinds of LFRic whose names are also those of types of NumPy, or kinds of `iso_fortran_env`."""


def second_spellings(source: Path, tables: Path) -> Iterator[str]:
    """Yield each place outside of `tables` at which a whole text is a name of the tables."""
    known = {name.lower() for name in LFRIC | GOCEAN} - OF_OTHERS
    for file in sorted(source.rglob("*.py")):
        if tables not in file.parents and file != OF_RUNTIME:
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                match node:
                    case ast.Constant(value=str(text)) if text.lower() in known:
                        yield f"{file.relative_to(source)}:{node.lineno}: {text}"


def test_there_is_no_second_table() -> None:
    assert list(second_spellings(SOURCE, TABLES)) == []


def test_a_second_table_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "copy.py").write_text('A = ("W2broken", "any_space_")\nB = {"go_ct": "r_def"}\n')
    assert len(list(second_spellings(tmp_path, TABLES))) == 4


def test_words_of_two_infrastructures_differ() -> None:
    assert not LFRIC & GOCEAN
