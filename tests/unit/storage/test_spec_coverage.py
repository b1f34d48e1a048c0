"""Tests that each requirement of the storage library has a test, and of its generated page."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parents[2]


def load() -> Any:
    """Return the module that writes the page."""
    path = TESTS.parent / "docs" / "storage_coverage.py"
    spec = importlib.util.spec_from_file_location("storage_coverage", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


script = load()
FAMILIES = script.read_families(script.REQUIREMENTS.read_text(encoding="utf-8"))
COVERAGE = script.read_coverage(TESTS)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_complete_families_lack_nothing(family: Any) -> None:
    if family.complete:
        assert family.missing(COVERAGE) == []


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_sections_and_gaps_make_sense(family: Any) -> None:
    firsts = [first for first, _ in family.sections]
    assert firsts[0] == 1
    assert firsts == sorted(set(firsts))
    assert firsts[-1] <= family.last
    assert set(family.gaps) <= set(family.ids()) - set(COVERAGE)


def test_no_test_names_what_does_not_exist() -> None:
    known = {id_ for family in FAMILIES for id_ in family.ids()}
    families = tuple(f"{family.name}-" for family in FAMILIES)
    strange = {id_ for id_ in COVERAGE if id_.startswith(families)} - known
    assert strange == set()


def test_the_page_is_up_to_date(pytestconfig: pytest.Config) -> None:
    if pytestconfig.getoption("--update-golden"):
        script.main()
    assert script.PAGE.read_text(encoding="utf-8") == script.page(FAMILIES, COVERAGE), (
        "run python docs/storage_coverage.py"
    )


def test_a_gap_is_found() -> None:
    text = "[X]\ntitle = 'X'\nlast = 3\ncomplete = true\nsections = [[1, 'All']]\n"
    (family,) = script.read_families(text + "gaps = { X-3 = 'a reason' }\n")
    coverage = {"X-1": ["unit/storage/test_a.py::test_b"]}
    assert family.missing(coverage) == ["X-2"]
    page = script.page([family], coverage)
    assert "| X-1 | `test_a.py::test_b` |\n| X-2 | - |\n| X-3 | a reason |" in page


def test_markers_are_read_from_functions_and_classes() -> None:
    text = (
        "@pytest.mark.spec('A-1', 'A-2')\ndef test_a(): ...\n"
        "@pytest.mark.spec('A-3')\nclass TestB: ...\n@pytest.mark.gpu\ndef test_c(): ...\n"
    )
    assert list(script.marked(text)) == [("test_a", ["A-1", "A-2"]), ("TestB", ["A-3"])]


def test_marks_of_parameters_count() -> None:
    text = """
TABLE = [pytest.param(1, marks=pytest.mark.spec("X-1")), 2]

@pytest.mark.parametrize("case", TABLE)
def test_table(case): ...

@pytest.mark.spec("X-2")
@pytest.mark.parametrize("case", [pytest.param(1, marks=pytest.mark.spec("X-3", "X-2"))])
def test_own(case): ...

@pytest.mark.parametrize("case", [1])
def test_none(case): ...
"""
    assert dict(script.marked(text)) == {"test_table": ["X-1"], "test_own": ["X-2", "X-3"]}
