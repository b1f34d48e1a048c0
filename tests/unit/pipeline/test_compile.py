"""The stages together, as a caller in Python uses them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from psyclone_storage.base.diagnostic import CompileError, InternalError
from psyclone_storage.config.load import default_settings
from psyclone_storage.ir.walk import outer_loops
from psyclone_storage.languages.sources.kernel_search import index_directories
from psyclone_storage.languages.sources.module_finder import ModuleFinder
from psyclone_storage.pipeline.compile import Build, Compiler, make_compiler
from psyclone_storage.pipeline.request import CompileRequest, LineLimit

CORPUS = Path(__file__).parents[2] / "corpus" / "lfric"
GRIDS = CORPUS.parent / "gocean"
REQUEST = CompileRequest("lfric", True, (CORPUS / "kernels",))


def compiler(**changes: object) -> Compiler:
    return make_compiler(default_settings(), replace(REQUEST, **changes))  # type: ignore[arg-type]


def build(name: str, **changes: object) -> Build:
    return compiler(**changes).compile_algorithm(CORPUS / f"{name}.x90")


def test_a_build_names_the_kernel_files_that_it_read() -> None:
    files = build("halo_increment_then_stencil").kernel_files
    assert [file.name for file in files] == [
        "wind_tendency_kernel_mod.f90",
        "wind_to_cell_kernel_mod.f90",
    ]


def test_kernels_are_read_once_for_all_algorithms(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = compiler()
    algorithm = CORPUS / "halo_increment_then_stencil.x90"
    first = shared.compile_algorithm(algorithm)

    def read_again(*_: object, **__: object) -> object:
        raise AssertionError("a kernel is read a second time")

    language = replace(shared.kernels.language, read_kernel=read_again)
    monkeypatch.setattr(shared.kernels, "language", language)
    assert shared.compile_algorithm(algorithm).psy_text == first.psy_text


def test_the_settings_decide_what_is_not_asked_for() -> None:
    for distributed in (True, False):
        settings = replace(default_settings(), distributed_memory=distributed)
        made = make_compiler(settings, replace(REQUEST, api=None, distributed=None))
        assert made.distributed is distributed


def test_missing_folders_are_all_reported() -> None:
    with pytest.raises(CompileError) as caught:
        compiler(directories=(Path("none"), Path("neither")))
    assert [problem.code for problem in caught.value.problems] == ["P030", "P030"]


def test_every_unknown_name_and_every_wrong_call_are_reported_together(tmp_path: Path) -> None:
    path = tmp_path / "alg.x90"
    path.write_text(
        "program alg\n  use gone_mod, only: gone_type\n"
        "  call invoke(gone_type(a), nothing(b), setval_c(c))\nend program alg\n"
    )
    with pytest.raises(CompileError) as caught:
        compiler().compile_algorithm(path)
    assert [problem.code for problem in caught.value.problems] == ["S110", "P031", "S101"]


def test_long_lines_of_kernels_are_refused_if_asked(tmp_path: Path) -> None:
    folder = tmp_path / "kernels"
    folder.mkdir()
    name = "laplacian_kernel_mod.f90"
    text = (CORPUS / "kernels" / name).read_text()
    (folder / name).write_text(text + "! " + "x" * 140 + "\n")
    algorithm = CORPUS / "reductions_between_kernels.x90"
    made = compiler(directories=(folder,), line_limit=LineLimit.ALL)
    with pytest.raises(CompileError) as caught:
        made.compile_algorithm(algorithm)
    (problem,) = caught.value.problems
    assert problem.code == "P012"
    assert problem.span is not None
    assert problem.span.source.name.endswith(name)
    assert compiler(directories=(folder,), line_limit=LineLimit.OUTPUT).compile_algorithm(algorithm)


@pytest.mark.parametrize(
    "text",
    ["program alg\n  call invoke(setval_c(f, 0.0))\nend program alg\n", "program alg\n"],
)
def test_an_algorithm_that_is_not_what_was_promised_is_a_defect(text: str) -> None:
    with pytest.raises(InternalError, match="Generated code"):
        with_algorithm_text(text).compile_algorithm(CORPUS / "halo_increment_then_stencil.x90")


def with_algorithm_text(text: str) -> Compiler:
    """Return a compiler that writes `text` for every algorithm."""
    made = compiler()
    language = replace(made.target.language, emit_algorithm=lambda _: text)
    return replace(made, target=replace(made.target, language=language))


def test_settings_of_one_api_are_not_read_for_another() -> None:
    settings = default_settings()
    words = replace(settings.lfric, compute_annexed_dofs=True, fuse_built_ins=True)
    made = make_compiler(
        replace(settings, lfric=words), CompileRequest("gocean", True, (GRIDS / "kernels",))
    )
    (invoke,) = made.compile_algorithm(GRIDS / "continuity.x90").program.invokes
    assert not invoke.schedule.annexed_clean


def test_an_invoke_for_halo_cells_alone_says_why_it_does_nothing_in_one_memory() -> None:
    serial = build("halo_cell_column", distributed=False).psy_text
    assert "! Nothing to do: all calls are for halo cells, and data are not distributed" in serial
    assert "Nothing to do" not in build("halo_cell_column").psy_text


def test_indentation_of_the_psy_layer_is_a_setting() -> None:
    flat = replace(default_settings(), backend_indentation_disabled=True)
    algorithm = CORPUS / "halo_increment_then_stencil.x90"
    text = make_compiler(flat, REQUEST).compile_algorithm(algorithm).psy_text
    plain = build("halo_increment_then_stencil").psy_text
    assert [line.lstrip() for line in plain.splitlines()] == text.splitlines()
    assert text != plain


def test_the_check_of_the_output_is_a_setting() -> None:
    made = with_algorithm_text("no Fortran at all\n")
    algorithm = CORPUS / "halo_increment_then_stencil.x90"
    with pytest.raises((CompileError, InternalError)):
        made.compile_algorithm(algorithm)
    trusting = replace(made, settings=replace(default_settings(), backend_checks_enabled=False))
    assert trusting.compile_algorithm(algorithm).algorithm_text == "no Fortran at all\n"


def test_ignored_modules_are_not_looked_for(tmp_path: Path) -> None:
    (tmp_path / "known_mod.f90").write_text(
        "module known_mod\nreal :: known\nend module known_mod\n", encoding="utf-8"
    )
    index = index_directories((tmp_path,))
    known = ModuleFinder(index).offered("known_mod", "known")
    ignored = ModuleFinder(index, frozenset({"known_mod"})).offered("known_mod", "known")
    assert [found and found.is_resolved for found in (known, ignored)] == [True, False]
    ignoring = replace(default_settings(), ignore_modules=("known_mod",))
    assert make_compiler(ignoring, REQUEST).kernels._modules.ignored == {"known_mod"}


SCRIPT = "def trans(psyir):\n    pass\n"


@pytest.mark.parametrize(
    ("changes", "loops"),
    [
        ({"steps": ""}, 3),
        ({"steps": "openmp-parallel-do"}, 3),
        ({"steps": "outline"}, 3),
        ({"steps": "openmp-parallel-do{loop=loop2}"}, 4),
        ({"steps": "openmp-parallel-do", "script": True}, 4),
        ({"profile": ("kernels",)}, 4),
    ],
)
def test_steps_find_built_ins_in_shared_loops_where_nothing_counts_them(
    changes: dict[str, object], loops: int, tmp_path: Path
) -> None:
    if changes.get("script"):
        script = tmp_path / "script.py"
        script.write_text(SCRIPT)
        changes = changes | {"script": script}
    (invoke,) = build("reductions_between_kernels", distributed=False, **changes).program.invokes
    assert len(outer_loops(invoke.schedule)) == loops


def test_a_setting_keeps_the_loops_of_built_ins_from_steps() -> None:
    settings = default_settings()
    apart = replace(settings, lfric=replace(settings.lfric, fuse_built_ins=False))
    made = make_compiler(apart, replace(REQUEST, distributed=False, steps="openmp-parallel-do"))
    (invoke,) = made.compile_algorithm(CORPUS / "reductions_between_kernels.x90").program.invokes
    assert len(outer_loops(invoke.schedule)) == 4
