"""HTML report page on a compilation, created with Jinja2 from `tools.page`.

The page needs no other files and no network.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from psyclone_storage import __version__
from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.tools.page import SYMBOLS

_TEMPLATE = Path(__file__).with_name("page.html.jinja")


def check_template_engine() -> None:
    """Check that pages can be created.

    Raises:
        CompileError: `L017`, Jinja2 is not installed.
    """
    from importlib.util import find_spec  # noqa: PLC0415

    if find_spec("jinja2") is None:
        message = "'--report' needs Jinja2, which is not installed."
        hint = "Install it: pip install jinja2."
        raise CompileError(Diagnostic("L017", message, hint=hint))


def page_text(files: Sequence[dict[str, Any]]) -> str:
    """Return the page for `files`, the objects of `tools.page`."""
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415

    environment = Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    template = environment.from_string(_TEMPLATE.read_text(encoding="utf-8"))
    names = ", ".join(file["file"] for file in files)
    data = [
        {
            "name": invoke["name"],
            "exchanges": invoke["exchanges"],
            "statements": [
                f"{'  ' * row['depth']}{row['uid']}: {row['text']}" for row in invoke["rows"]
            ],
        }
        for file in files
        for invoke in file["invokes"]
    ]
    return template.render(
        files=files, title=names, version=__version__, data=data, symbols=SYMBOLS
    )
