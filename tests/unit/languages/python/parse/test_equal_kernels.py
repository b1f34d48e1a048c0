"""A kernel in Python gives the records that the same kernel in Fortran gives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from psyclone_storage.config.load import load_settings
from psyclone_storage.config.locate import search_context
from psyclone_storage.ir.expr import Expr, Literal, canonical
from psyclone_storage.ir.parsed import MetadataComponent, ParsedKernel
from psyclone_storage.ir.rewrite import everywhere, with_parts
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.ir.unit import Blank, Comment, Line
from psyclone_storage.languages.fortran.parse import body as fortran_body
from psyclone_storage.languages.fortran.parse import metadata as fortran
from psyclone_storage.languages.python.parse import body, metadata
from psyclone_storage.languages.sources.files import read_source
from psyclone_storage.targets.dialects import GOCEAN_WORDS
from psyclone_storage.targets.gocean import GOCEAN, interpret_gocean

ROOT = Path(__file__).parents[5]
PYTHON = sorted(
    [
        *(ROOT / "tests/corpus/gocean/python/kernels").glob("*.py"),
        *(ROOT / "examples/python/shallow_water/kernels").glob("*.py"),
    ]
)
SETTINGS = load_settings("", "", search_context({}))
WRITTEN_OTHERWISE = {"smooth_corners", "wall_u"}
"""Kernels whose Fortran sums a section, or asks for the size of an array."""


def fortran_of(file: Path) -> Path:
    if "examples" in file.parts:
        return ROOT / "examples/gocean/shallow_water/kernels" / f"{file.stem}.f90"
    return file.parents[2] / "kernels" / f"{file.stem}.f90"


def bare(component: MetadataComponent) -> object:
    """Return all of a component but its places."""
    items = tuple((canonical(item.expr), item.keyword) for item in component.items)
    shape = tuple(map(canonical, component.shape))
    return component.name, component.type_name, shape, items, component.is_array


def spelled_today(components: tuple[MetadataComponent, ...]) -> list[str]:
    """Return components as text, words of the time before 2018 in today's spelling."""
    return [str(bare(one)).replace("'go_", "'").replace("go_", "") for one in components]


@pytest.mark.parametrize("file", PYTHON, ids=lambda file: file.stem)
def test_equals_fortran(file: Path) -> None:
    source, other = read_source(file), read_source(fortran_of(file))
    names = metadata.python_kernel_names(GOCEAN_WORDS, source)
    assert names == tuple(name.lower() for name in fortran.kernel_types(other))
    for name in names:
        parsed = metadata.read_python_kernel(GOCEAN_WORDS, source, name)
        wanted = fortran.read_kernel(other, name)
        assert spelled_today(parsed.components) == spelled_today(wanted.components)
        assert without_places(parsed) == without_places(wanted)
        kernel = interpret_gocean(parsed, SETTINGS)
        assert kernel == interpret_gocean(wanted, SETTINGS)
        code = body.read_python_body(GOCEAN_WORDS, source, parsed.procedure, GOCEAN.dummies(kernel))
        if name not in WRITTEN_OTHERWISE:
            assert_same_code(code, fortran_body.read_code(other, wanted.procedure))


def without_places(parsed: ParsedKernel) -> tuple[str, str, str, tuple[str, ...]]:
    return (
        parsed.name,
        parsed.module.lower(),
        parsed.procedure.lower(),
        tuple(one.lower() for one in parsed.implementations),
    )


def assert_same_code(first: Routine, second: Routine) -> None:
    assert plain(first.body)
    assert plain(first.body) == plain(second.body)
    assert [name.lower() for name in first.dummies] == [name.lower() for name in second.dummies]


def plain(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """Return statements without blanks and remarks, reals by their values."""
    kept = [line for line in lines if not isinstance(line, Blank | Comment)]
    return everywhere(tuple(kept), _by_value)


def _by_value(expr: Expr) -> Expr:
    if isinstance(expr, Literal) and expr.intrinsic is Intrinsic.REAL:
        return replace(expr, text=repr(float(expr.text.partition("_")[0])))
    return with_parts(expr, _by_value)


def test_the_corpus_is_found() -> None:
    assert len(PYTHON) > 20
