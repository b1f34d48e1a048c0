"""Algorithms of LFRic in Python give the schedules that the same algorithms in Fortran give."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from lfric_in_python import CORPUS, KERNELS, NO_FORM, in_python, read
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.source import SourceText
from psyclone_storage.config.load import load_settings
from psyclone_storage.config.locate import search_context
from psyclone_storage.ir.parsed import ParsedAlgorithm
from psyclone_storage.ir.view import schedule_json
from psyclone_storage.pipeline.compile import Compiler, make_compiler
from psyclone_storage.pipeline.kernels import find_kernels
from psyclone_storage.pipeline.request import CompileRequest

PLACES = {"line", "column", "file", "span", "place", "source"}
OTHER_NUMBERS = {"kinds_without_suffix"}
"""Algorithms that are passed a constant of single precision, which in Python has all its digits."""
NUMBER = re.compile(r"-?\d+(\.\d*)?([ed]-?\d+)?(_\w+)?")
REALS = re.compile(r"[-+*/() ]*(\d+\.\d*[-+*/() ]*)+")


@cache
def compiler(suffix: str) -> Compiler:
    settings = load_settings("", "", search_context({}))
    return make_compiler(
        settings, CompileRequest(api="lfric", directories=(KERNELS,), suffix=suffix)
    )


def schedules(algorithm: ParsedAlgorithm, suffix: str) -> Any:
    made = compiler(suffix)
    called = find_kernels(algorithm, made.kernels)
    assert not called.problems
    program, _ = made.planned(algorithm, called)
    return [without_places(schedule_json(one.schedule)) for one in program.invokes]


def without_places(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {key: one for key, one in value.items() if key not in PLACES}
        return {key: without_places(one) for key, one in kept.items()}
    if isinstance(value, list):
        return [without_places(one) for one in value]
    return in_one_spelling(value) if isinstance(value, str) else value


def in_one_spelling(text: str) -> str:
    """Return names in lower case, and numbers, and arithmetic on real ones, by their values."""
    text = text.lower().removesuffix("_l_def")
    if NUMBER.fullmatch(text):
        return repr(float(text.split("_")[0].replace("d", "e")))
    if REALS.fullmatch(plain := text.replace("_r_def", "")) and "." in plain:
        return repr(float(eval(plain)))
    return text


def test_the_corpus_has_equal_schedules() -> None:
    language, different, compared = compiler(".py").target.language, [], 0
    for file in sorted(CORPUS.glob("*.x90")):
        if file.stem in {*NO_FORM, *OTHER_NUMBERS}:
            continue
        algorithm = read(file)
        text = SourceText(f"{algorithm.unit.name.lower()}.py", in_python(file))
        found = schedules(language.read_algorithm(text), ".py")
        if found != schedules(algorithm, ".x90"):
            different.append(file.stem)
        compared += 1
    assert different == []
    assert compared > 200


def test_exact_sums_are_asked_for() -> None:
    settings = load_settings("", "EXACT_SUMS=true", search_context({}))
    made = make_compiler(settings, CompileRequest(api="lfric", suffix=".py"))
    text = "from psyclone_storage.lfric import *\n\ninvoke(sum_X(total, x))\n"
    build = made.compile_text(SourceText("sums.py", text))
    assert "total_exact = ExactSum()" in build.psy_text
    assert "total.value = total_exact.total(x.mesh.ranks)" in build.psy_text


FILLED = """from psyclone_storage.lfric import *


def fill(u, v):
    invoke(setval_c(u, 0.0), setval_X(v, u))
"""


def test_the_recipe_for_threads_becomes_c(tmp_path: Path) -> None:
    (tmp_path / "fill.py").write_text(FILLED, encoding="utf-8")
    asked = CompileRequest(api="lfric", suffix=".py", steps="auto")
    made = make_compiler(load_settings("", "", search_context({})), asked)
    ((_, text),) = made.compile_algorithm(tmp_path / "fill.py").beside
    assert "#pragma omp for schedule(static)" in text


@pytest.mark.parametrize("level", ["warn", "error"])
def test_checks_of_fields_are_refused_at_the_first_call(level: str) -> None:
    text = "from psyclone_storage.lfric import *\n\ninvoke(setval_c(x, 1.0), setval_c(y, 1.0))\n"
    for chosen in ("none", level):
        settings = load_settings("", f"RUN_TIME_CHECKS={chosen}", search_context({}))
        made = make_compiler(settings, CompileRequest(api="lfric", suffix=".py"))
        if chosen == "none":
            made.compile_text(SourceText("checks.py", text))
    with pytest.raises(CompileError) as caught:
        made.compile_text(SourceText("checks.py", text))
    (problem,) = caught.value.problems
    assert (problem.code, problem.span.line if problem.span else 0) == ("G010", 3)
    assert "RUN_TIME_CHECKS" in problem.message
    assert problem.hint.startswith("Set RUN_TIME_CHECKS = none")


def test_whole_numbers_of_more_than_32_bits_are_refused_where_they_are_written() -> None:
    text = "from psyclone_storage.lfric import *\n\ninvoke(inc_X_powint_n(x, -3000000000))\n"
    with pytest.raises(CompileError) as caught:
        compiler(".py").compile_text(SourceText("large.py", text))
    (problem,) = caught.value.problems
    assert (problem.code, "too large for one of 32 bits" in problem.message) == ("S105", True)


def test_a_module_sees_that_a_vector_has_as_many_fields_as_its_kernels_take() -> None:
    text = "from psyclone_storage.lfric import *\nfrom mix_tracers_kernel_mod import *\n\n\n"
    text += "def step(tracers, mean):\n    invoke(mix_tracers_kernel_type(tracers, mean))\n"
    text = text.replace("import *\n\n\n", "import mix_tracers_kernel_type\n\n\n")
    made = compiler(".py").compile_text(SourceText("step.py", text)).psy_text
    assert '    check_vector(tracers, 7, "tracers")\n    with ' in made
