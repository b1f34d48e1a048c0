"""What a script prints of a PSy layer is what is written, for whatever is generated."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.records import replace
from psyclone_storage.config.load import default_settings
from psyclone_storage.config.settings import Api, DataMovement, Settings
from psyclone_storage.pipeline.compile import Build
from psyclone_storage.pipeline.request import CompileRequest, for_file
from psyclone_storage.tools.factories import PSyFactory, make_scripted_compiler, parse

CORPUS = Path(__file__).parents[2] / "corpus"
GRIDS, CELLS = CORPUS / "gocean", CORPUS / "lfric"
IN_PYTHON = CORPUS.parents[1] / "examples" / "python" / "shallow_water" / "shallow_water.py"
PLAIN = default_settings()
MOVED = replace(PLAIN, data_movement=DataMovement.STORAGE)
AGAIN = """
import pathlib
from psyclone.parse.algorithm import parse
from psyclone.psyGen import PSyFactory
def trans(psy):
    psy.invokes.invoke_list[0].schedule.apply({steps!r})
    info = parse({file!r}, {api!r}, kernel_paths=[{kernels!r}])[1]
    pathlib.Path({gen!r}).write_text(psy.gen)
    pathlib.Path({other!r}).write_text(PSyFactory({api!r}).create(info).gen)
"""


def scripted(
    file: Path, request: CompileRequest, settings: Settings = PLAIN, steps: str = ""
) -> tuple[Build, str, str]:
    """Return what is written, what the script sees of it, and what it makes of the file itself."""
    folder = Path(tempfile.mkdtemp())
    script, gen, other = folder / "script.py", folder / "gen", folder / "other"
    words = {"file": file, "kernels": file.parent / "kernels", "gen": gen, "other": other}
    text = AGAIN.format(api=request.api, steps=steps, **{k: str(v) for k, v in words.items()})
    script.write_text(text, encoding="utf-8")
    asked = replace(request, script=script, directories=(file.parent / "kernels",))
    build = make_scripted_compiler(settings, for_file(asked, file)).compile_algorithm(file)
    return build, gen.read_text(encoding="utf-8"), other.read_text(encoding="utf-8")


LFRIC, GOCEAN = CompileRequest("lfric"), CompileRequest("gocean")
FOR_CELLS, FOR_GRIDS = CELLS / "halo_increment_then_stencil.x90", GRIDS / "areas.x90"


@pytest.mark.parametrize("settings", [PLAIN, MOVED])
@pytest.mark.parametrize(("file", "asked"), [(FOR_CELLS, LFRIC), (FOR_GRIDS, GOCEAN)])
def test_the_text_in_storages(file: Path, asked: CompileRequest, settings: Settings) -> None:
    """Windows and what storages are asked for are in it, also where the script reads the file."""
    target = "" if settings is MOVED else "storage"
    build, gen, other = scripted(file, replace(asked, target=target), settings)
    assert "acquire" in build.psy_text
    assert gen == build.psy_text
    assert other == build.psy_text


@pytest.mark.parametrize("settings", [PLAIN, replace(PLAIN, backend_indentation_disabled=True)])
def test_the_text_with_what_settings_add(settings: Settings) -> None:
    """Built-ins that share loops share them in it."""
    file, bare = CELLS / "precision_builtins_mixed.x90", replace(PLAIN.lfric, fuse_built_ins=False)
    build, gen, other = scripted(file, LFRIC, settings)
    assert build.psy_text != scripted(file, LFRIC, replace(PLAIN, lfric=bare))[0].psy_text
    assert gen == other == build.psy_text


@pytest.mark.parametrize("target", ["numpy", "c", "cuda"])
def test_the_text_with_the_code_of_kernels(target: str) -> None:
    """Where a language prints kernels with the layer, they are in it."""
    build, gen, other = scripted(IN_PYTHON, replace(GOCEAN, target=target))
    assert gen == other == build.psy_text


@pytest.mark.parametrize("distributed", [True, False])
def test_the_command_decides_on_distributed_memory(distributed: bool) -> None:
    build, _, other = scripted(FOR_CELLS, replace(LFRIC, distributed=distributed))
    assert other == build.psy_text


def test_the_text_is_that_of_the_steps_so_far() -> None:
    asked = replace(LFRIC, target="storage")
    build, gen, other = scripted(FOR_CELLS, asked, steps="colour; openmp-parallel-do")
    assert "!$omp parallel do" in gen
    assert gen == build.psy_text
    assert "!$omp" not in other


def test_a_program_without_a_command_chooses_the_target() -> None:
    """It chooses by a word or by settings; targets are those of its API."""
    words = {"api": "gocean", "kernel_paths": [GRIDS / "kernels"]}
    plain, named = parse(FOR_GRIDS, **words)[1], parse(FOR_GRIDS, **words, target="storage")[1]
    moved = parse(FOR_GRIDS, **words, settings=MOVED)[1]
    assert plain.api is named.api is moved.api is Api.GOCEAN
    assert "acquire" not in PSyFactory().create(plain).gen
    assert "acquire" in PSyFactory("gocean").create(named).gen
    assert PSyFactory().create(named).gen == PSyFactory().create(moved).gen
    with pytest.raises(CompileError, match="L002"):
        parse(FOR_GRIDS, **words, target="lfric")


def test_a_program_in_python_is_read_as_such() -> None:
    """The suffix chooses the language, as it does for the command."""
    info = parse(IN_PYTHON, kernel_paths=[IN_PYTHON.parent / "kernels"])[1]
    assert info.calls
    assert info.compiler.target.language.name == "python"
