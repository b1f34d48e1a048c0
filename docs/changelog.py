"""Join sections of CHANGELOG.md: at a release, and for the site.

Towncrier writes the fragments as a section of its own above the section "(unreleased)". Both
describe one release, so `docs/build.py` joins them. The site shows the fragments in the unreleased
section before a release.
"""

from __future__ import annotations

import re
from pathlib import Path

KINDS = ("Added", "Changed", "Removed", "Fixed")
SECTION = re.compile(r"^(?=## )", re.MULTILINE)
GROUP = re.compile(r"^### (\w+)\n", re.MULTILINE)
MARK = "<!-- notes -->\n"


def joined(text: str) -> str:
    """Return a change log with the unreleased section joined into the release above it."""
    head, *sections = SECTION.split(text)
    if len(sections) > 1 and _is_unreleased(sections[1]):
        sections[:2] = [_join(sections[0].partition("\n")[0], *sections[:2])]
    return head + "".join(sections)


def with_fragments(text: str, folder: Path) -> str:
    """Return a change log that contains the fragments of `folder` in its unreleased section."""
    lines = []
    for kind in KINDS:
        files = sorted(folder.glob(f"*.{kind.lower()}.md"))
        texts = (" ".join(file.read_text(encoding="utf-8").split()) for file in files)
        lines += [f"### {kind}\n\n", *(f"- {each}\n" for each in texts)] if files else []
    if not lines:
        return text
    head, *sections = SECTION.split(text)
    if not (sections and _is_unreleased(sections[0])):
        sections.insert(0, "## Unreleased\n")
    sections[0] = _join(sections[0].partition("\n")[0], "".join(lines), sections[0])
    return head + "".join(sections)


def _is_unreleased(section: str) -> bool:
    return section.partition("\n")[0].endswith("(unreleased)")


def _join(title: str, first: str, second: str) -> str:
    """Return one section with the groups of two; entries of `first` come before those of `second`.

    Entries of `second` may be below subheadings, which entries of `first` must not fall under.
    """
    groups = dict.fromkeys(KINDS, "")
    for section in (first, second):
        _, *parts = GROUP.split(section)
        for kind, entries in zip(parts[::2], parts[1::2], strict=True):
            apart = "\n\n" if entries.strip().startswith("#") and groups[kind] else "\n"
            groups[kind] = f"{groups[kind]}{apart}{entries.strip()}".strip()
    written = (f"### {kind}\n\n{entries}\n\n" for kind, entries in groups.items() if entries)
    return f"{title}\n\n{''.join(written)}"
