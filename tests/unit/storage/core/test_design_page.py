"""Tests of the design page: its example runs, and the tests that it names exist."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[4] / "docs" / "design" / "storage-core.md"


def test_the_example_of_the_design_page_does_not_raise() -> None:
    (program,) = re.findall(r"```python show\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    exec(compile(program, str(PAGE), "exec"), {"__name__": "page"})


def test_the_table_of_modelled_behaviour_names_tests_that_exist() -> None:
    text = PAGE.read_text(encoding="utf-8")
    table = text.split("## Modelled behaviour of CUDA")[1].split("###")[0]
    named = re.findall(r"^\|[^|]+\| `(test_\w+)` \|$", table, re.M)
    assert len(named) == len(re.findall(r"^\| ", table, re.M)) - 1
    unit = PAGE.parents[2] / "tests" / "unit"
    sources = (unit / "test_cupy_stand_in.py", *(unit / "storage" / "core").glob("test_*.py"))
    found = {
        name
        for source in sources
        for name in re.findall(r"^def (test_\w+)\(", source.read_text(encoding="utf-8"), re.M)
    }
    assert set(named) <= found
