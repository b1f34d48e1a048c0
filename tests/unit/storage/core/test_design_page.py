"""Tests that the example of the design page runs."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[4] / "docs" / "design" / "storage-core.md"


def test_the_example_of_the_design_page_does_not_raise() -> None:
    (program,) = re.findall(r"```python show\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    exec(compile(program, str(PAGE), "exec"), {"__name__": "page"})
