"""Algorithms that call one kernel: each can be compiled."""

from __future__ import annotations

from pathlib import Path

import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.source import SourceText
from psyclone_storage.config.load import default_settings
from psyclone_storage.config.settings import Api
from psyclone_storage.languages.fortran.parse.metadata import kernel_types
from psyclone_storage.languages.sources.files import read_source
from psyclone_storage.pipeline.compile import make_compiler
from psyclone_storage.pipeline.request import CompileRequest
from psyclone_storage.tools.stubs import generate_caller

KERNELS = Path(__file__).parents[2] / "corpus" / "lfric" / "kernels"
FILES = sorted(path for path in KERNELS.rglob("*_mod.*90") if kernel_types(read_source(path)))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_kernel_of_the_corpus_can_be_called(path: Path) -> None:
    settings = default_settings()
    compiler = make_compiler(settings, CompileRequest(api="lfric", directories=(KERNELS,)))
    for name in kernel_types(read_source(path)):
        text = generate_caller(path, name, Api.LFRIC, settings)
        build = compiler.compile_text(SourceText("alg.x90", text))
        assert len(build.program.invokes) == 1
        # Metadata name no kinds, so the caller declares fields of the kind r_def (S119).
        assert {one.code for one in build.warnings} <= {"S119"}


def test_what_is_passed_is_declared() -> None:
    path = KERNELS / "wind_to_cell_kernel_mod.f90"
    text = generate_caller(path, None, Api.LFRIC, default_settings())
    assert "call invoke(wind_to_cell_kernel_type(field_1, field_2, extent_2))" in text
    assert "integer(kind=i_def), intent(in) :: extent_2" in text


def test_kernels_for_grids_are_refused() -> None:
    path = KERNELS.parents[1] / "gocean" / "kernels"
    with pytest.raises(CompileError, match="L001"):
        generate_caller(next(path.glob("*.f90")), None, Api.GOCEAN, default_settings())
