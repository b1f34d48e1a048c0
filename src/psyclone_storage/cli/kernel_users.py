"""Records of the PSy layers that use the shared kernels in a folder.

There is one file per kernel and layer. A shared kernel may be replaced or removed if no layer needs
the present text. A record is written with the other outputs of its layer, so commands do not wait
for each other.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from psyclone_storage import __version__
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.digest import digest_of
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.regex import regex
from psyclone_storage.base.temporaries import temporary_name
from psyclone_storage.cli.kernel_locks import is_outdated, is_shared
from psyclone_storage.cli.write import (
    Output,
    decoded,
    differs,
    encoded,
    given_name,
    is_same,
)

_DIGITS = 16
_RECORD = regex(r"\.(?P<kernel>.+_\d+_mod\.[fF]90)\.user-(?P<owner>[0-9a-f]{16})")


@dataclass(frozen=True, slots=True)
class Layer:
    """PSy layer: its file, its name in the kernel folder, and dependencies of its kernels.

    - `inputs`: files that determine how kernels are changed: script and settings.
    """

    path: Path
    owner: str
    inputs: tuple[Path, ...] = ()


def record_of(kernel: Output, layer: Layer) -> Output:
    """Return the record file for the use of a shared `kernel` by `layer`."""
    import json  # noqa: PLC0415

    folder = kernel.path.parent
    facts = {
        "layer": _relative(layer.path, folder),
        "kernel": digest_of(kernel.text),
        "version": __version__,
        "inputs": {_relative(one, folder): _digest_of_file(one) for one in layer.inputs},
    }
    text = json.dumps(facts, indent=1, sort_keys=True) + "\n"
    return Output(folder / f".{kernel.path.name}.user-{_digits(layer.owner)}", text)


def is_unused(kernel: Path, found: str, owners: frozenset[str]) -> bool:
    """Return whether only `owners` need the text `found` of a shared `kernel`.

    Without records the result is False, because the users are unknown.
    """
    records = _records(kernel)
    mine = set(map(_digits, owners))
    others = [record for owner, record in records if owner not in mine]
    return bool(records) and not any(_is_current(one, found) for one in others)


def remove_unused(folder: Path, owners: frozenset[str], written: frozenset[str]) -> None:
    """Remove the records of `owners` not in `written`, and kernels without a record.

    Another command may write a record for a removed kernel at the same time. The kernel is then
    restored, either by that command (`confirm`) or by this one.
    """
    records = list(filter(None, map(_RECORD.fullmatch, _names_in(folder))))
    mine = set(map(_digits, owners)) if records else set()
    for found in records:
        if found[0] in written or found["owner"] not in mine:
            continue
        with suppress(OSError):
            (folder / found[0]).unlink()
            if not _is_needed(folder / found["kernel"]):
                _remove(folder / found["kernel"])


def confirm(kernels: Iterable[Output]) -> None:
    """Check shared `kernels` after writing, because other commands may have changed them.

    A kernel that another command has removed as unused is written again.

    Raises:
        CompileError: `L015`, another command needs another text of a kernel.
    """
    for kernel in kernels:
        if not kernel.shared:
            continue
        while not is_same(kernel.path, kernel.text):
            temporary = temporary_name(kernel.path)
            temporary.write_bytes(encoded(kernel.text))
            given_name(temporary, kernel.path.resolve())
            temporary.unlink()
        found = kernel.outdated
        if found is None or is_outdated(found, kernel.text, ""):
            continue
        if is_shared(found) and not is_unused(kernel.path, found, frozenset()):
            raise CompileError(differs(kernel.path))


def _remove(kernel: Path) -> None:
    if not is_shared(decoded(kernel.read_bytes())):
        return
    aside = temporary_name(kernel)
    kernel.replace(aside)
    if _is_needed(kernel):
        given_name(aside, kernel)
    aside.unlink()


def _is_current(record: Path, found: str) -> bool:
    """Return whether the layer of `record` needs the text `found` and is up to date."""
    facts = _facts(record)
    return (
        _layer_exists(record)
        and facts.get("kernel") == digest_of(found)
        and facts.get("version") == __version__
        and all(
            _digest_of_file(record.parent / name) == digest
            for name, digest in facts.get("inputs", {}).items()
        )
    )


def _layer_exists(record: Path) -> bool:
    return (record.parent / str(_facts(record).get("layer"))).exists()


def _facts(record: Path) -> dict[str, Any]:
    """Return the contents of `record`, or {} if it cannot be read."""
    import json  # noqa: PLC0415

    try:
        facts = json.loads(record.read_bytes())
    except (OSError, ValueError):
        return {}
    return facts if isinstance(facts, dict) else {}


def _is_needed(kernel: Path) -> bool:
    return any(_layer_exists(record) for _, record in _records(kernel))


def _records(kernel: Path) -> list[tuple[str, Path]]:
    """Return the records of a shared `kernel`, each with the digest of its owner."""
    found = filter(None, map(_RECORD.fullmatch, _names_in(kernel.parent)))
    return [(one["owner"], kernel.parent / one[0]) for one in found if one["kernel"] == kernel.name]


def _digits(owner: str) -> str:
    return digest_of(owner)[:_DIGITS]


def _digest_of_file(path: Path) -> str:
    try:
        return digest_of(path.read_bytes())
    except OSError:
        return ""


def _relative(path: Path, folder: Path) -> str:
    return os.path.relpath(path.resolve(), folder.resolve())


def _names_in(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208  (names are enough, paths take longer)
    except OSError:
        return []
