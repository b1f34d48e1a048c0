"""Each refusal of a step has a place: a file, a line and a column."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import MISSING, fields
from itertools import product
from pathlib import Path

import pytest

import psyclone_storage
from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.config.load import default_settings
from psyclone_storage.ir.walk import statements
from psyclone_storage.pipeline.compile import make_compiler
from psyclone_storage.pipeline.request import CompileRequest
from psyclone_storage.transform.catalogue import STEPS, read_steps
from psyclone_storage.transform.workbench import Workbench

PACKAGE = Path(psyclone_storage.__file__).parent
CASES = Path(__file__).parents[2] / "cases"
OPTIONS = {
    "size": -1, "rows": 0, "columns": 0, "factor": 0, "depth": -1, "schedule": "fast",
    "level": "none", "parallelism": "none", "only": "none", "to": "nowhere", "collapse": 9,
    "grainsize": -1, "number_of_layers": 0, "loop": 7, "sequential": True, "gang": True,
}  # fmt: skip


def written() -> Iterator[tuple[str, ast.Call]]:
    """Yield each `Diagnostic(...)` in `transform/` and `analysis/`, with its file."""
    for room in ("transform", "analysis"):
        for path in sorted((PACKAGE / room).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Diagnostic":
                    yield path.relative_to(PACKAGE).as_posix(), node


def test_each_diagnostic_is_written_with_a_place() -> None:
    found = list(written())
    assert len(found) > 100
    bare = [
        f"{file}:{node.lineno}"
        for file, node in found
        if len(node.args) < 3 and not {"span", "file"} & {word.arg for word in node.keywords}
    ]
    assert bare == []


@pytest.mark.parametrize("name", ["lfric/increment_then_stencil", "gocean/fluxes_and_divergence"])
def test_each_refusal_of_a_step_has_a_line(name: str) -> None:
    reasons = [reason for bench in benches(CASES / name) for reason in refusals(bench)]
    assert len({reason.code for reason in reasons}) > 20
    assert [reason.message for reason in reasons if reason.span is None] == []


def benches(folder: Path) -> Iterator[Workbench]:
    """Yield a workbench for each invoke of a case."""
    api = folder.parent.name
    kernels = CASES.parent / "corpus" / api / "kernels"
    made = make_compiler(default_settings(), CompileRequest(api, True, (kernels,)))
    build = made.compile_algorithm(folder / "alg.x90")
    for invoke in build.program.invokes:
        yield Workbench(invoke.schedule, build.rules, made.kernels)


def refusals(bench: Workbench) -> Iterator[Diagnostic]:
    """Yield the reasons against each step, at each place and with options that it cannot have."""
    uids = [*[item.uid for item in statements(bench.schedule)][:8], "nowhere"]
    for kind in STEPS.values():
        known = fields(kind)  # type: ignore[arg-type]
        places = [one.name for one in known if one.default is MISSING]
        names = [one.name for one in known if one.default is not MISSING and one.name in OPTIONS]
        options = [{}, {"sequential": True, "gang": True}] if "gang" in names else [{}]
        options += [{name: OPTIONS[name]} for name in names]
        for values, chosen in product(product(uids, repeat=len(places)), options):
            if len(places) < 2 or not chosen:
                yield from bench.check(kind(**dict(zip(places, values, strict=True)), **chosen))


def test_what_a_bench_is_asked_for_has_a_place() -> None:
    (bench, *_) = benches(CASES / "lfric" / "increment_then_stencil")
    for wrong in (bench.undo, lambda: bench["nowhere"], lambda: bench.codes_of("loop1")):
        with pytest.raises(CompileError) as caught:
            wrong()
        assert all(problem.span is not None for problem in caught.value.problems)


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("colour; fuze", "fuze"),
        ("colour; fuse{loop=", "fuse{loop="),
        ("move{here=1}", "here=1"),
        ("colour ;openmp-do{force=maybe}", "force=maybe"),
    ],
)
def test_a_step_as_text_is_marked_where_it_is_wrong(text: str, marked: str) -> None:
    with pytest.raises(CompileError) as caught:
        read_steps(text)
    (problem,) = caught.value.problems
    assert problem.span is not None
    assert (problem.span.source.name, problem.span.text) == ("--apply", marked)
    assert problem.span.column == text.index(marked) + 1
