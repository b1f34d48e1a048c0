"""Ownership of changed kernels: named in the first line of a file, or reserved by a claim.

A claim is a hidden folder next to the file that contains the name of the owner. It is created by
renaming a folder. This is atomic, even on file systems without hard links, because a non-empty
folder is never replaced. An owner also finds the claims of its earlier runs, including killed ones.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from psyclone_storage.base.digest import digest_of
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.regex import regex
from psyclone_storage.base.stopping import deferred
from psyclone_storage.base.temporaries import remove_leftovers, temporary_name

SUFFIXES = (".f90", ".F90")
"""What the names of changed kernels may end in: who has the one has the other as well."""

_BELONGS = "! psyclone-storage: changed for "
_MADE_FROM = "! psyclone-storage: changed from "
_FILE = regex(r"(?P<module>.+_\d+_mod)\.[fF]90")
_CLAIM = regex(r"\.(?P<module>.+_\d+_mod)\.claim")
_ODD = regex(r"[^\w./+~-]", re.ASCII)
_LONGEST = 90
_DIGITS = 16
_OWNER = "owner"


def owner_name(path: Path, folder: Path) -> str:
    """Return the name of the PSy layer at `path` in `folder`: its relative path as one word.

    The names remain valid if the whole tree is moved.
    """
    word = _ODD.sub(
        lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace")),
        os.path.relpath(path.resolve(), folder.resolve()),
    )
    return (
        word
        if len(word) <= _LONGEST
        else f"...{word[-_LONGEST + 20 :]}~{digest_of(word)[:_DIGITS]}"
    )


def belonging_to(owner: str, text: str) -> str:
    """Return `text` with a first line that reserves the file for `owner`."""
    return f"{_BELONGS}{owner}\n{text}"


def made_from(name: str, original: str, text: str) -> str:
    """Return `text` with a first line that identifies its source file and its source text."""
    return f"{_MADE_FROM}{name} as of {digest_of(original)[:_DIGITS]}\n{text}"


def is_outdated(found: str, text: str, owner: str) -> bool:
    """Return whether the text `found` of a shared kernel may be replaced by `text`.

    This is allowed if both were generated from one file that has changed since. Every user of the
    kernel is then regenerated. It is also allowed if `owner` has written the file under a scheme
    without sharing.
    """
    before, now = (one.partition("\n")[0].rpartition(" as of ") for one in (found, text))
    same_file = before[0] == now[0] and before[0].startswith(_MADE_FROM)
    return (same_file and before[2] != now[2]) or found.startswith(f"{_BELONGS}{owner}\n")


def is_shared(found: str) -> bool:
    """Return whether `found` is the text of a shared kernel."""
    return found.startswith(_MADE_FROM)


def owner_of(path: Path) -> str | None:
    """Return the owner of the file at `path`, or None if it does not exist."""
    if not path.is_file():
        return None
    with suppress(OSError), path.open("rb") as stream:
        line = stream.readline(len(_BELONGS) + _LONGEST + _DIGITS + 8).decode("utf-8", "replace")
        if line.startswith(_BELONGS):
            return line.removeprefix(_BELONGS).rstrip("\n")
    return None


def owned_files(folder: Path, owners: frozenset[str]) -> Iterator[Path]:
    """Yield the changed kernels in `folder` that belong to `owners`."""
    for name in sorted(_names_in(folder)):
        if _FILE.fullmatch(name) and owner_of(folder / name) in owners:
            yield folder / name


def release_claims(folder: Path, owners: frozenset[str]) -> None:
    """Release all claims of `owners` in `folder`, and remove remains of killed commands."""
    remove_leftovers(folder)
    for name in filter(_CLAIM.fullmatch, _names_in(folder)):
        if _holder(folder / name) in owners:
            _remove(folder / name)


@dataclass(frozen=True, slots=True)
class Claims:
    """Claims of one owner on module names in a folder."""

    folder: Path
    owner: str

    def numbers(self, base: str) -> list[int]:
        """Return the numbers of `base` that the owner already has, by files or by claims."""
        of_base = re.compile(f"{re.escape(base)}_(\\d+)_mod", re.IGNORECASE)
        found: set[int] = set()
        # A folder has those of a whole model: only the files and claims of `base` are looked into.
        for names, owner in ((_FILE, owner_of), (_CLAIM, _holder)):
            for name in filter(None, map(names.fullmatch, _names_in(self.folder))):
                number = of_base.fullmatch(name["module"])
                if number and owner(self.folder / name[0]) == self.owner:
                    found.add(int(number[1]))
        return sorted(found)

    def take(self, module: str) -> bool:
        """Claim `module`; return whether it belongs to the owner now.

        Raises:
            OSError: the folder cannot be written.
        """
        if self._is_taken(module):
            return False
        self.folder.mkdir(parents=True, exist_ok=True)
        claim = self.folder / f".{module}.claim"
        if _holder(claim) != self.owner:
            with deferred():
                if not self._made(claim):
                    return False
        if self._is_taken(module):
            # Its owner has finished between the two looks.
            _remove(claim)
            return False
        return True

    def _is_taken(self, module: str) -> bool:
        """Return whether there is a file of `module` with another owner."""
        paths = [self.folder / f"{module}{suffix}" for suffix in SUFFIXES]
        return any(os.path.lexists(path) and owner_of(path) != self.owner for path in paths)

    def _made(self, claim: Path) -> bool:
        """Create a claim at `claim`; return False if another owner has it."""
        mine = temporary_name(claim)
        mine.mkdir(exist_ok=True)
        try:
            (mine / _OWNER).write_text(self.owner, encoding="utf-8")
            mine.rename(claim)
        except OSError as error:
            _remove(mine)
            if error.errno in {errno.ENOTEMPTY, errno.EEXIST}:
                return False
            raise
        return True


def _holder(claim: Path) -> str | None:
    with suppress(OSError):
        return (claim / _OWNER).read_text(encoding="utf-8")
    return None


def _remove(claim: Path) -> None:
    """Remove a claim, unless another process creates it at the same time."""
    with suppress(OSError):
        (claim / _OWNER).unlink()
        claim.rmdir()


def _names_in(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208  (names are enough, paths take longer)
    except OSError:
        return []
