"""Write Fortran files that differ in a type, a kind or a rank, each family from one template.

    python3 variants.py

Fortran 2008 has no generic types. `setup.py`, the makefiles and the package in a checkout run this
script. It writes the files that are missing or differ, and lists all of them in `.gitignore`. A
wheel contains these files, but neither the templates nor this script.

A template, `*.t90`, is Fortran with directives in the first column:

    #file field_{{kind}}_mod.f90    write the lines that follow to this file
    #for kind | type                repeat the lines up to the matching '#end' for each row
    #| real32 | real(real32)
    #| real64 | real(real64)
    #end

`{{kind}}` stands for the value in the current row. A line that contains nothing but names of empty
values is omitted.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from itertools import takewhile
from pathlib import Path

_NAME = re.compile(r"\{\{(\w+)\}\}")


def refresh_variants(root: Path) -> None:
    """Write the variants below `root` if one is missing, or older than a template."""
    listed = root / ".gitignore"
    try:
        names = listed.read_text(encoding="utf-8").split()
        written = listed.stat().st_mtime
    except FileNotFoundError:
        names, written = [], 0.0
    sources = (Path(__file__), *root.rglob("*.t90"))
    if not all((root / name[1:]).is_file() for name in names) or any(
        source.stat().st_mtime > written for source in sources
    ):
        write_variants(root)


def write_variants(root: Path) -> None:
    """Write the variants that differ from what the templates below `root` produce; list all."""
    names = ["/.gitignore"]
    for template in sorted(root.rglob("*.t90")):
        lines = template.read_text(encoding="utf-8").splitlines(keepends=True)
        for part in "".join(_expanded(iter(lines), {})).split("#file ")[1:]:
            name, _, content = part.partition("\n")
            _write(template.parent / name, content)
            names.append(f"/{(template.parent / name).relative_to(root).as_posix()}")
    listed = root / ".gitignore"
    _write(listed, "".join(f"{name}\n" for name in names))
    os.utime(listed)  # makefiles compare its time with those of the templates


def _expanded(lines: Iterator[str], values: Mapping[str, str]) -> Iterator[str]:
    """Yield lines with values instead of names, and the lines of a loop once for each row."""
    for line in lines:
        if line.startswith("#for "):
            names = _cells(line.removeprefix("#for "))
            body = list(_body(lines))
            rows = list(takewhile(lambda one: one.startswith("#|"), body))
            for row in rows:
                cells = _cells(row.removeprefix("#|"))
                inner = {**values, **dict(zip(names, cells, strict=True))}
                yield from _expanded(iter(body[len(rows) :]), inner)
        else:
            text = _NAME.sub(lambda found: values[found[1]], line)
            if text.strip() or not line.strip():
                yield text


def _body(lines: Iterator[str]) -> Iterator[str]:
    """Yield the lines up to the matching `#end`, with the loops inside."""
    depth = 1
    for line in lines:
        depth += line.startswith("#for ") - line.startswith("#end")
        if depth == 0:
            return
        yield line


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("|")]


def _write(path: Path, content: str) -> None:
    """Write a file if it differs, by one rename: other processes may read or write it."""
    if path.is_file() and path.read_text(encoding="utf-8") == content:
        return
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    scratch.write_text(content, encoding="utf-8")
    scratch.replace(path)


if __name__ == "__main__":
    write_variants(Path(__file__).parent)
