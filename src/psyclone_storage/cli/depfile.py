"""Files for Make and Ninja: dependencies of generated files, and lists of changed kernels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from re import Pattern

from psyclone_storage.base.diagnostic import Diagnostic, raise_if_any
from psyclone_storage.base.digest import digest_of
from psyclone_storage.base.regex import regex
from psyclone_storage.cli.write import encoded

_SPECIAL = regex(r"(\\*)([ #:])")
_NINJA_SPECIAL = regex(r"[$: ]")
# Names for which Make and Ninja share no notation: one of them reads another name.
_UNREADABLE = regex(r"""[;|<>*?\[=&^'"`\x00-\x1f\x7f]|^[ ~]|\\[#:%]|[ :\\)]$""")
_UNREADABLE_IN_LIST = regex(r"[\n\r]")
_UNREADABLE_FOR_NINJA = regex(r"[|\n\r]")

DependencyRule = tuple[tuple[Path, ...], tuple[Path, ...]]


def depfile_text(path: Path, rules: Iterable[DependencyRule]) -> str:
    """Return the dependency file for `path`: a rule `targets: sources` for each pair.

    Each source is on its own line. It also gets an empty rule, so that Make accepts a removed
    source. Make would interpret a rule for a name with `%` as a pattern, so such a name gets none.

    Raises:
        CompileError: `L003`, for each name that Make or Ninja cannot read.
    """
    given = tuple(rules)
    every = (name for rule in given for names in rule for name in names)
    _check_readable(path, map(str, every), _UNREADABLE, "--depfile")
    texts: list[str] = []
    seen: dict[str, None] = {}
    for targets, sources in given:
        names = [_escaped(source) for source in dict.fromkeys(sources)]
        seen |= dict.fromkeys(names)
        left = " ".join(_escaped(target).replace("%", r"\%") for target in targets)
        texts.append(f"{left}: \\\n  " + " \\\n  ".join(names) + "\n")
    return "\n".join((*texts, *(f"{name}:\n" for name in seen if "%" not in name)))


def kernel_list_text(path: Path, kernels: Iterable[Path]) -> str:
    """Return the list of changed kernels for the file at `path`.

    In a file with the suffix `.mk`, for inclusion by Make, they are added to the variable
    `CHANGED_KERNELS`. Any other file has one path per line.

    Raises:
        CompileError: `L003`, for each path that contains a line break.
    """
    kernels = tuple(kernels)
    _check_readable(path, map(str, kernels), _UNREADABLE_IN_LIST, "--kernel-list")
    if path.suffix == ".mk":
        return "CHANGED_KERNELS +=" + "".join(f" \\\n  {_escaped(one)}" for one in kernels) + "\n"
    return "".join(f"{one}\n" for one in kernels)


def dyndep_text(path: Path, target: str, kernels: Mapping[Path, str]) -> str:
    """Return the Ninja dyndep file for `path`, which adds `kernels` as inputs of `target`.

    A comment contains the digest of each kernel. Ninja reads the times of kernels before it runs
    the command that writes them, and detects changes by the text of this file.

    Raises:
        CompileError: `L003`, for each name that Ninja cannot read.
    """
    every = (target, *map(str, kernels))
    _check_readable(path, every, _UNREADABLE_FOR_NINJA, "--dyndep")
    names = [_escaped_for_ninja(str(one)) for one in kernels]
    inputs = " ".join(("", "|", *names)) if names else ""
    digests = "".join(f"# {digest_of(encoded(text))}\n" for text in kernels.values())
    return (
        f"ninja_dyndep_version = 1\n{digests}build {_escaped_for_ninja(target)}: dyndep{inputs}\n"
    )


def _check_readable(
    path: Path, names: Iterable[str], unreadable: Pattern[str], option: str
) -> None:
    """Raise `CompileError` `L003` for each of the `names` that match `unreadable`."""
    problems = [
        Diagnostic(
            "L003",
            f"'{path}' cannot be written: Make or Ninja cannot read the name {name!r} in it.",
            file=str(path),
            hint=f"Rename the file or folder, or omit '{option}'.",
        )
        for name in dict.fromkeys(names)
        if unreadable.search(name)
    ]
    raise_if_any(problems)


def _escaped_for_ninja(name: str) -> str:
    return _NINJA_SPECIAL.sub(r"$\g<0>", name)


def _escaped(path: Path) -> str:
    """Return `path` escaped for Make and Ninja.

    A backslash is special only before a blank, `#` and `:`.
    """
    return _SPECIAL.sub(r"\1\1\\\2", str(path)).replace("$", "$$")
