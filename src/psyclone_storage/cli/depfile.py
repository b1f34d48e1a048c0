"""Dependencies of what was written, and the changed kernels, as Make and Ninja read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from psyclone_storage.base.digest import digest_of
from psyclone_storage.base.regex import regex
from psyclone_storage.cli.write import encoded

_SPECIAL = regex(r"(\\*)([ \t#])")
_NINJA_SPECIAL = regex(r"[$: ]")


def depfile_text(rules: Iterable[tuple[tuple[Path, ...], tuple[Path, ...]]]) -> str:
    """Return one rule `targets: sources` per pair, one source on a line.

    Each source also gets an empty rule, so that a source that is removed does not stop Make.
    """
    texts: list[str] = []
    seen: dict[str, None] = {}
    for targets, sources in rules:
        names = [_escaped(source) for source in dict.fromkeys(sources)]
        seen |= dict.fromkeys(names)
        left = " ".join(map(_escaped, targets))
        texts.append(f"{left}: \\\n  " + " \\\n  ".join(names) + "\n")
    return "\n".join((*texts, *(f"{name}:\n" for name in seen)))


def kernel_list_text(path: Path, kernels: Iterable[Path]) -> str:
    """Return the list of changed kernels for the file at `path`.

    A file that Make includes, which ends in `.mk`, adds them to the variable `CHANGED_KERNELS`; any
    other has one path on a line.
    """
    if path.suffix == ".mk":
        return "CHANGED_KERNELS +=" + "".join(f" \\\n  {_escaped(one)}" for one in kernels) + "\n"
    return "".join(f"{one}\n" for one in kernels)


def dyndep_text(target: str, kernels: Mapping[Path, str]) -> str:
    """Return what tells Ninja that the build statement of `target` reads `kernels`.

    A digest of each stands in a comment: Ninja has looked at their times before it runs the command
    that writes them, and sees by the text of this file that one has changed.
    """
    names = [_escaped_for_ninja(str(one)) for one in kernels]
    inputs = " ".join(("", "|", *names)) if names else ""
    digests = "".join(f"# {digest_of(encoded(text))}\n" for text in kernels.values())
    return (
        f"ninja_dyndep_version = 1\n{digests}build {_escaped_for_ninja(target)}: dyndep{inputs}\n"
    )


def _escaped_for_ninja(name: str) -> str:
    return _NINJA_SPECIAL.sub(r"$\g<0>", name)


def _escaped(path: Path) -> str:
    """Return `path` as Make reads it: a backslash is special only before a blank or `#`."""
    return _SPECIAL.sub(r"\1\1\\\2", str(path)).replace("$", "$$")
