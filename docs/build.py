"""Write what the documentation takes from the compiler: tables, lists of options, pictures.

    python docs/build.py            rewrite all of it
    python docs/build.py --check    change nothing; fail and name what is out of date

In a page, a line `<!-- begin: NAME -->` begins a part that this script owns, up to the next line
`<!-- end -->`. `tables.py` says what belongs there, by name; everything else in a page is written
by hand. Pictures are whole files, made by `pictures.py`; so are the completions of shells and the
manual pages in `config/shell`, made by `shell.py`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pictures
import shell
import tables

DOCS = Path(__file__).resolve().parent
PART = re.compile(r"^<!-- begin: (?P<name>[\w-]+) -->$.*?^<!-- end -->$", re.MULTILINE | re.DOTALL)


def main(words: list[str]) -> int:
    """Rewrite or check; return the exit status."""
    stale = [path for path, text in outputs() if not path.is_file() or path.read_text() != text]
    if words == ["--check"]:
        names = [str(path.relative_to(DOCS.parent)) for path in stale]
        sys.stdout.writelines(
            f"{name} is out of date: run python docs/build.py\n" for name in names
        )
        return 1 if stale else 0
    for path, text in outputs():
        if path in stale:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return 0


def outputs() -> Iterator[tuple[Path, str]]:
    """Yield each page with its parts as they are to be, and each picture."""
    parts = tables.parts()
    unused = set(parts)
    for page in sorted(DOCS.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        if names := [match["name"] for match in PART.finditer(text)]:
            unused -= set(names)
            yield page, PART.sub(lambda match: _part(match["name"], parts), text)
    if unused:
        raise SystemExit(f"No page shows {', '.join(sorted(unused))}.")
    for name, picture in pictures.pictures().items():
        yield DOCS / "pictures" / name, picture
    for name, text in shell.files().items():
        yield DOCS.parent / "config" / "shell" / name, text


def _part(name: str, parts: dict[str, str]) -> str:
    return f"<!-- begin: {name} -->\n\n{parts[name].strip()}\n\n<!-- end -->"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
