"""Sphinx configuration of the documentation site; `build.py` generates the pages."""

from __future__ import annotations

from typing import Any

from psyclone_storage import __version__

project = "psyclone-storage"
author = "psyclone-storage contributors"
project_copyright = author
version = release = __version__
html_title = f"psyclone-storage {__version__}"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"})]
# Each page links to its source text, and the pages of the Python reference to the code.
html_copy_source = True
html_theme_options = {"top_of_page_buttons": ["view"]}
html_show_sphinx = False
root_doc = "index"

# Headings have the same anchors as on GitHub, so links work in both; a broken one is a warning.
myst_heading_anchors = 4
nitpicky = False

# Names in backquotes are code, in docstrings and in pages.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_preserve_defaults = True
autodoc_default_options = {"members": True, "show-inheritance": False}
autodoc_mock_imports = ["cupy", "mpi4py"]
napoleon_numpy_docstring = False


def setup(app: Any) -> None:
    """Register the preprocessing of docstrings."""
    app.connect("autodoc-process-docstring", _as_restructured_text, priority=400)
    app.connect("autodoc-skip-member", _is_shown_elsewhere)


def _is_shown_elsewhere(
    _app: Any, what: str, _name: str, member: Any, skip: bool, _options: Any
) -> bool | None:
    """Skip a class that is only an alias of another class."""
    alias = what == "class" and isinstance(member, type) and "." not in member.__qualname__
    return True if alias else skip or None


def _as_restructured_text(
    _app: Any, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]
) -> None:
    """Convert indented blocks, and `before:` and `after:` lines, to literal blocks."""
    out: list[str] = []
    inside = False
    for line in lines:
        indented = line.startswith("    ")
        sections = out and out[-1].strip() in _SECTIONS
        if indented and not inside and out and not out[-1].strip() and not sections:
            out += ["::", ""]
            inside = True
        elif line.strip() and not indented:
            inside = False
        is_shown = line.startswith(("before:", "after:"))
        out.append(f"| ``{line}``" if is_shown else line)
    lines[:] = out


_SECTIONS = {"Args:", "Raises:", "Returns:", "Yields:", "Attributes:"}
