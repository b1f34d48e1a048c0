"""The folder of changed kernels, which many commands of one build may write to at once (spec 7.9).

Under the scheme `multiple` a changed kernel belongs to the PSy layer that calls it. It gets the
number that this layer had for it before, or the first one that no other layer has: so the same
inputs write the same files, over and over. Under `layer` the numbers begin where the name of the
layer says, so that they are the same in whatever order commands run. Under `single` the number is 0
for all, and each later command must make the same text, unless no other layer needs the one
that is there: each layer records which of them it uses. Files are written with the other
outputs of a command, or not at all; those that a layer had before and does not need any more are
taken away then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from enum import Enum
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

from psyclone_storage.base.diagnostic import CompileError, InternalError
from psyclone_storage.base.reading import read_input
from psyclone_storage.base.records import replace
from psyclone_storage.cli.kernel_locks import (
    Claims,
    belonging_to,
    is_outdated,
    is_shared,
    made_from,
    owned_files,
    owner_name,
    release_claims,
)
from psyclone_storage.cli.kernel_users import Layer, is_unused, record_of, remove_unused
from psyclone_storage.cli.write import Output, cannot_write, decoded, differs

if TYPE_CHECKING:
    from psyclone_storage.pipeline.kernel_naming import KernelText


_NUMBERS = 10**9


class Scheme(Enum):
    """Schemes that number changed kernels."""

    MULTIPLE = "multiple"
    SINGLE = "single"
    LAYER = "layer"


class KernelFolder:
    """The changed kernels of one compilation: a numbering whose numbers are files of a folder.

    `layer` is the file that calls them. `turn` waits until numbers may be given. `together` returns
    the names of the layers that the same command makes; it reads links of paths, so it is called
    only if needed.
    """

    def __init__(
        self,
        folder: Path,
        layer: Path,
        scheme: Scheme,
        turn: Callable[[], None] = lambda: None,
        together: Callable[[], frozenset[str]] = frozenset,
    ) -> None:
        self._folder = folder
        self._scheme = scheme
        self._turn = turn
        self._layer = layer
        self._claims = Claims(folder, owner_name(layer, folder))
        self._together = together
        self._outputs: dict[str, Output] = {}

    def allocate(self, base: str, kernel: Callable[[int], KernelText]) -> int:
        """Return the number of a kernel: 0, or one that no other layer has.

        Raises:
            CompileError: `L003`, it cannot be claimed; `L015`, kernel 0 has another text.
        """
        self._turn()
        if self._scheme is Scheme.SINGLE:
            self._share(kernel(0))
            return 0
        for number in self._numbers(base):
            text = kernel(number)
            module = text.module_key
            if module not in self._outputs and self._taken(text.module):
                path = self._folder / f"{text.module}{text.suffix}"
                owned = belonging_to(self.owner, text.text)
                self._outputs[module] = Output(path, owned)
                return number
        raise InternalError("The numbers are at an end.")

    @property
    def owner(self) -> str:
        """The name of the PSy layer in the folder."""
        return self._claims.owner

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The files that are to be written."""
        return tuple(self._outputs.values())

    def records(self, inputs: tuple[Path, ...] = ()) -> tuple[Output, ...]:
        """Return the files that record which shared kernels the layer uses.

        `inputs` are the files that determine how kernels are changed.
        """
        layer = Layer(self._layer, self.owner, inputs)
        return tuple(record_of(one, layer) for one in self.outputs if one.shared)

    def discard(self) -> None:
        """Release the claims after a failed compilation."""
        release_claims(self._folder, frozenset({self.owner}))
        self._outputs.clear()

    def _numbers(self, base: str) -> Iterator[int]:
        yield from self._claims.numbers(base)
        is_own = self._scheme is Scheme.LAYER
        yield from count(crc32(self.owner.encode()) % _NUMBERS if is_own else 0)

    def _taken(self, module: str) -> bool:
        try:
            return self._claims.take(module)
        except OSError as error:
            raise CompileError(cannot_write(self._folder / module, error)) from error

    def _share(self, kernel: KernelText) -> None:
        path = self._folder / f"{kernel.module}{kernel.suffix}"
        name = owner_name(Path(kernel.original.name), self._folder)
        text = made_from(name, kernel.original.text, kernel.text)
        earlier = self._outputs.setdefault(kernel.module_key, Output(path, text, shared=True))
        if earlier.text != text:
            raise CompileError(differs(path))
        self._outputs[kernel.module_key] = self._checked(earlier)

    def _checked(self, output: Output) -> Output:
        """Return `output`, for which a file of another text is there only if it is an old one."""
        if not output.path.exists():
            return output
        try:
            found = decoded(read_input(output.path))
        except OSError as error:
            raise CompileError(cannot_write(output.path, error)) from error
        if output.text.startswith(found):
            return output
        if not is_outdated(found, output.text, self.owner) and not (
            is_shared(found)
            and is_unused(output.path, found, self._together() | {self._claims.owner})
        ):
            raise CompileError(differs(output.path))
        return replace(output, outdated=found)


def remove_old(folder: Path, owners: frozenset[str], written: Iterable[Path]) -> None:
    """Remove every file of `owners` that is not among `written`, and shared ones that are unused.

    Files that cannot be removed stay; they are unused.
    """
    kept = frozenset(path.name for path in written)
    remove_unused(folder, owners, kept)
    for path in owned_files(folder, owners):
        if path.name not in kept:
            with suppress(OSError):
                path.unlink()
