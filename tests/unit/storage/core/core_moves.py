"""Apply random operations to storages and print the results, to compare the two cores.

Usage: `python core_moves.py <first seed> <last seed>`.
"""

from __future__ import annotations

import gc
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from psyclone_storage import storage as gt
from psyclone_storage.storage.core.chunks import whole
from psyclone_storage.storage.core.hints import Hints
from psyclone_storage.storage.core.locks import AccessMode, Policy
from psyclone_storage.storage.core.spaces import memory_space
from psyclone_storage.storage.core.token import AccessRequest
from psyclone_storage.storage.gdp.binding import LaunchBlock
from psyclone_storage.storage.memory import queues
from psyclone_storage.storage.memory.pending_work import UNREPORTED

SHAPE = (4, 3)
KEYS: tuple[Any, ...] = (
    0, -1, 9, slice(None), slice(1, 3), (1, 2), (1, 7), (slice(1, None), 2), (1, slice(0, 2)), ...,
    None, (None, 1), (..., 1), (), (slice(None, None, -1), slice(0, 0)), (np.int64(1), 2), True,
    [0, 1], ([0, 1], 1), np.array([True, False, True, True]), "x", 1.5, (1, 2, 3), (slice(1.5), 0),
    (True, 1),
)  # fmt: skip


def added(arrays: list[Any], value: float) -> None:
    if value != 1.0:
        raise ValueError("failed later")
    for array in arrays:
        array[...] += value


class Play:
    """A random sequence of operations on several storages, with their open accesses and blocks."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        gt.use_device("emulated", gt.Emulation(strict=bool(seed % 2)))
        self.fields = {
            "a": gt.zeros(SHAPE),
            "b": gt.zeros(SHAPE, device="gpu", label="b"),
            "c": gt.full(SHAPE, 2.0, device="gpu", delayed=True),
            "d": gt.zeros(SHAPE, device="gpu", chunks=2),
            "e": gt.zeros(SHAPE, device="gpu", managed="cuda"),
            "f": gt.zeros(SHAPE, device="gpu", managed=None),
        }
        self.tokens: list[Any] = []
        self.blocks: list[Any] = []
        self.launches: list[LaunchBlock] = []

    def moves(self, count: int) -> Iterator[str]:
        kinds: list[Callable[[], Any]] = [
            self.acquire, self.acquire, self.release, self.release, self.bind, self.bind,
            self.bind_again, self.leave, self.leave, self.read, self.read, self.cut, self.touch,
            self.move, self.write, self.drop, self.freeze, self.wish, self.describe,
            self.launch, self.launch, self.launch,
        ]  # fmt: skip
        for _ in range(count):
            move = self.random.choice(kinds)
            try:
                found = move()
            except Exception as error:  # noqa: BLE001
                found = f"{type(error).__name__}: {error}"
            yield f"{move.__name__}: {found} | {self.state()}"

    def field(self) -> Any:
        return self.fields[self.random.choice("aabbbcdef")]

    def acquire(self) -> Any:
        buffer = self.field().buffer
        given: list[Any] = [
            self.random.choice([None, "host", "gpu", "gpu", memory_space("gpu"), "nowhere"]),
            self.random.choice([*AccessMode, AccessMode.READ, AccessMode.READ]),
            self.random.choice([Policy.AUTO, Policy.AUTO, Policy.RAISE]),
        ]
        if self.random.random() < 0.1:
            given.append(AccessRequest(region=(0, 2)))
        names = ("space", "mode", "policy", "request")[: self.random.randrange(len(given) + 1)]
        count = len(given) - len(names)
        named = dict(
            zip(("space", "mode", "policy", "request")[count:], given[count:], strict=False)
        )
        token = buffer.acquire(*given[:count], **named)
        self.tokens.append(token)
        if token.mode is AccessMode.WRITE_ONLY:
            token.kernel_array[...] = 7.0  # otherwise undefined, and different in each run
        return token.describe()

    def release(self) -> Any:
        if not self.tokens:
            return None
        token = self.random.choice(self.tokens)
        if self.random.random() < 0.9:
            self.tokens.remove(token)
        error = self.random.choice([None, None, None, ValueError("failed"), gt.StorageError("no")])
        if self.random.random() < 0.5:
            return token.release(error)
        return token.buffer.release(token, error=error)

    def bind(self) -> Any:
        names = self.random.sample("abcdef", self.random.randrange(4))
        arguments: dict[str, Any] = {name: self.fields[name] for name in names}
        if self.random.random() < 0.2:
            arguments["n"] = np.ones(2)
        writes = tuple(name for name in names if self.random.random() < 0.4)
        if self.random.random() < 0.05:
            writes = (*writes, "z")
        device = self.random.choice([None, "gpu", "cpu", "tpu"])
        self.blocks.append([gt.bound(arguments, device=device, writes=writes), False])
        return self.bind_again(self.blocks[-1])

    def bind_again(self, chosen: Any = None) -> Any:
        if not self.blocks:
            return None
        pair = chosen or self.random.choice(self.blocks)
        arrays = pair[0].__enter__()
        pair[1] = True
        return {name: (type(array).__name__, array.shape) for name, array in arrays.items()}

    def leave(self) -> Any:
        entered = [pair for pair in self.blocks if pair[1]]
        if not entered:
            return None
        pair = self.random.choice(entered)
        pair[1] = False
        error = self.random.choice([None, None, None, ValueError("inside")])
        return pair[0].__exit__(type(error) if error else None, error, None)

    def launch(self) -> Any:
        if not self.launches or self.random.random() < 0.2:
            names = self.random.sample("bbcdef", self.random.randrange(1, 4))
            writes = tuple(name for name in dict.fromkeys(names) if self.random.random() < 0.5)
            self.launches.append(
                LaunchBlock({name: self.fields[name] for name in names}, "gpu", writes)
            )
        block = self.random.choice(self.launches)
        fails = self.random.random() < 0.1
        with block as arrays:
            work = partial(added, [arrays[name] for name in block._writes], 0.5 if fails else 1.0)
            block.start(work, tuple(chain(*block.uses())))
        if fails:  # otherwise the time of the error would vary
            queues.finish_all()
        return {name: array.shape for name, array in arrays.items()}

    def read(self) -> Any:
        found = self.field()[self.random.choice(KEYS)]
        if isinstance(found, gt.Storage):
            return found.shape, found.strides, found.halo, type(found).__name__
        return type(found).__name__, np.asarray(found).tolist()

    def cut(self) -> Any:
        name = self.random.choice("abcdef")
        view = self.fields[name][1:3, :][:, ::2]
        return view[self.random.choice(KEYS)].describe()

    def touch(self) -> Any:
        buffer, place = self.field().buffer, self.random.choice([None, "gpu"])
        with buffer.acquire(place, AccessMode.WRITE_ONLY) as token:
            token.kernel_array[...] = 5.0
        return buffer.touch(place)

    def move(self) -> Any:
        field = self.field()
        match self.random.randrange(4):
            case 0:
                return field.data_ro.tolist()
            case 1:
                return field.synchronize()
            case 2:
                return field.buffer.prefetch("gpu").result()
            case _:
                return field.make_valid(self.random.choice([None, "gpu"]))

    def write(self) -> Any:
        field = self.field()
        field[self.random.choice([..., (1, 1), slice(0, 2)])] = self.random.choice([1.0, 2, "x"])
        return field.buffer.version

    def drop(self) -> Any:
        if self.random.random() < 0.5:
            self.blocks = [pair for pair in self.blocks if pair[1]]
        if self.random.random() < 0.1:
            gc.collect()
        return len(self.blocks)

    def freeze(self) -> Any:
        return self.field().buffer.freeze() if self.random.random() < 0.1 else None

    def wish(self) -> Any:
        if self.random.random() > 0.1:
            return None
        self.field().buffer.set_hints(Hints(read_mostly=self.random.random() < 0.5))
        return "wished"

    def describe(self) -> Any:
        buffer = self.field().buffer
        wide = 1 << 70 | buffer.table.everywhere
        ledger = type(buffer.table)()
        ledger.everywhere = wide
        return repr(buffer), buffer.chunks == whole(buffer.size), ledger.everywhere == wide

    def state(self) -> list[Any]:
        found: list[Any] = []
        for name, field in sorted(self.fields.items()):
            buffer = field._backing.buffer if field._backing else None
            if buffer is None:
                continue
            buffer.wait()
            table = buffer.table
            held = [(token.mode.value, token.space.tag, token.active) for token in table.holders]
            found.append(
                (name, held, table.writers, table.everywhere, table.anywhere,
                 buffer.version, buffer.stats.count, buffer.stats.nbytes, buffer.poisoned is None)
            )  # fmt: skip
        return found


def main() -> None:
    first, last = map(int, sys.argv[1:])
    for seed in range(first, last):
        play = Play(seed)
        for line in play.moves(60):
            sys.stdout.write(f"{seed} {line}\n")
        for pair in play.blocks:
            with suppress(Exception):
                pair[0].__exit__(None, None, None)
        queues.finish_all()
        failed = [str(error) for error in UNREPORTED.take()]
        sys.stdout.write(f"{seed} untold: {failed}\n")


if __name__ == "__main__":
    main()
