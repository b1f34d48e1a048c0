"""HTML report pages, created with Jinja2: on invokes (`tools.page`), or on the loops of files.

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


def loops_page_text(tables: Sequence[tuple[str, Sequence[dict[str, Any]]]]) -> str:
    """Return the page for the loops of files; each is an object of `--loops-json`."""
    files = [{"file": name, "loops": loops} for name, loops in tables]
    return _rendered(tables=files, title=", ".join(name for name, _ in tables))


def page_text(files: Sequence[dict[str, Any]]) -> str:
    """Return the page for `files`, the objects of `tools.page`."""
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
    return _rendered(files=files, title=names, data=data, symbols=SYMBOLS, tables=())


def _rendered(**values: Any) -> str:
    """Return the template with `values` in it."""
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415

    environment = Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    template = environment.from_string(_TEMPLATE.read_text(encoding="utf-8"))
    return template.render(version=__version__, **values)
