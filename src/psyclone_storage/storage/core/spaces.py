"""Memory spaces, their tags and their aliases; this module allocates no memory.

A memory space is identified by its tag (ACC-8): `node:N` is the host memory of node N,
`node:N:pinned` its page-locked part, `node:N:uvm` the memory shared with the devices, and
`node:N:device:M` the memory of device M. The names in the other APIs (None, `"cpu"`, `"gpu"`,
`HostSpace`, `CudaSpace` ...) are aliases. There is one object per tag, so that spaces compare by
identity. Each space has one bit in the validity masks of buffers.
"""

from __future__ import annotations

import threading
from enum import Enum
from functools import cache
from typing import TypeAlias

from psyclone_storage.base.records import dataclass
from psyclone_storage.base.regex import regex
from psyclone_storage.storage.core.device import (
    DEFAULT_DEVICE_VARIABLE,
    device_in,
    own_node,
)
from psyclone_storage.storage.core.errors import UnknownSpaceError
from psyclone_storage.storage.core.forking import FORKS, Rank
from psyclone_storage.storage.core.native import setting


class SpaceKind(Enum):
    """The kinds of memory; the value is the DLPack device type, 0 for a kind without one."""

    HOST = 1
    DEVICE = 2
    PINNED = 3
    MANAGED = 13
    ANONYMOUS = 0

    host_accessible: bool
    device_accessible: bool


for _kind in SpaceKind:
    _kind.host_accessible = _kind is not SpaceKind.DEVICE
    _kind.device_accessible = _kind is not SpaceKind.HOST


@dataclass(frozen=True, slots=True, eq=False)
class MemorySpace:
    """A memory space in which data can be stored.

    `node` and `device_id` come from the tag; only spaces of the kind `DEVICE` have a `device_id`.
    `bit` is the bit of the space in validity masks. Create spaces with `memory_space`, not with the
    constructor.
    """

    tag: str
    kind: SpaceKind
    node: int
    device_id: int | None
    bit: int

    @property
    def host_accessible(self) -> bool:
        """Return whether host code may dereference addresses of this space."""
        return self.kind.host_accessible

    @property
    def device_accessible(self) -> bool:
        """Return whether device code may dereference addresses of this space."""
        return self.kind.device_accessible

    @property
    def dlpack_device(self) -> tuple[int, int]:
        """Return the pair (device type, device id) of the DLPack protocol."""
        return self.kind.value, self.device_id or 0

    def assignable_from(self, source: MemorySpace) -> bool:
        """Return whether a view in this space may refer to memory in `source` (VIEW-85).

        Host memory accepts page-locked memory, a device accepts unified memory, and the anonymous
        space accepts every space and is accepted by every space.
        """
        if source is self or SpaceKind.ANONYMOUS in (self.kind, source.kind):
            return True
        return (self.kind, source.kind) in _ASSIGNABLE and self.node == source.node

    def __call__(self) -> MemorySpace:
        """Return the space itself, so that the C++ notation `HostSpace()` works."""
        return self

    def __repr__(self) -> str:
        return f"<MemorySpace {self.tag}>"

    def __reduce__(self) -> tuple[object, tuple[str]]:
        """Pickle the tag, so that there is still one object per tag."""
        return memory_space, (self.tag,)


SpaceLike: TypeAlias = "MemorySpace | str | None"

_ASSIGNABLE = {(SpaceKind.HOST, SpaceKind.PINNED), (SpaceKind.DEVICE, SpaceKind.MANAGED)}
_TAG = regex(r"node:(?P<node>\d+)(?::(?:device:(?P<device>\d+)|(?P<kind>uvm|pinned)))?")
_DEVICE_ALIAS = regex(r"(?:gpu|cuda|device|CudaSpace):(?P<device>\d+)")
_DEFAULT_DEVICE = frozenset(("gpu", "cuda", "device", "CudaSpace"))
_KINDS = {None: SpaceKind.HOST, "uvm": SpaceKind.MANAGED, "pinned": SpaceKind.PINNED}
_SUFFIX_OF_ALIAS = {
    "cpu": "", "host": "", "HostSpace": "",
    "pinned": ":pinned", "CudaHostPinnedSpace": ":pinned", "SharedHostPinnedSpace": ":pinned",
    "uvm": ":uvm", "managed": ":uvm", "CudaUVMSpace": ":uvm", "SharedSpace": ":uvm",
}  # fmt: skip
_ANONYMOUS_NAMES = ("anonymous", "AnonymousSpace")
_LOCK = FORKS.guard(threading.Lock(), Rank.LEAF)
_SPACES: dict[str | None, MemorySpace] = {}
"""The spaces by tag, and by those aliases whose meaning cannot change."""


def memory_space(name: SpaceLike = None) -> MemorySpace:
    """Return the memory space with this tag or alias; return a space unchanged.

    None, `cpu` and `host` are the host memory of this node, `gpu` is the default device
    (`SCAI_DEVICE`), `gpu:1` is device 1 of this node. Raises `UnknownSpaceError`.
    """
    if isinstance(name, MemorySpace):
        return name
    found = _SPACES.get(name)
    if found is not None:
        return found
    if name in _DEFAULT_DEVICE:
        return device_space()
    space = _intern(_tag_of(name))
    if name is None or name in _SUFFIX_OF_ALIAS or name in _ANONYMOUS_NAMES:
        _SPACES[name] = space
    return space


@cache
def host_space() -> MemorySpace:
    """Return the host memory space of this node."""
    return memory_space(None)


@cache
def pinned_space() -> MemorySpace:
    """Return the space of page-locked host memory of this node."""
    return memory_space("pinned")


@cache
def managed_space() -> MemorySpace:
    """Return the space of the memory that host and devices of this node share."""
    return memory_space("uvm")


def device_space(device_id: int | None = None) -> MemorySpace:
    """Return the memory space of a device of this node, by default the default device."""
    if device_id is None:
        return _named(setting(DEFAULT_DEVICE_VARIABLE, "0"))
    return _numbered(device_id)


@cache
def _named(text: str) -> MemorySpace:
    """Return the memory space of the device that a value of `SCAI_DEVICE` selects."""
    return _numbered(device_in(text))


@cache
def _numbered(device_id: int) -> MemorySpace:
    return memory_space(f"node:{own_node()}:device:{device_id}")


def _tag_of(name: str | None) -> str:
    if name is None:
        return f"node:{own_node()}"
    if _TAG.fullmatch(name):
        return name
    if name in _SUFFIX_OF_ALIAS:
        return f"node:{own_node()}{_SUFFIX_OF_ALIAS[name]}"
    if name in _ANONYMOUS_NAMES:
        return _ANONYMOUS_NAMES[0]
    found = _DEVICE_ALIAS.fullmatch(name)
    if found is None:
        raise UnknownSpaceError(
            f'"{name}" is not a memory space: write "node:N", "node:N:device:M", "node:N:pinned", '
            f'"node:N:uvm", or an alias such as "cpu", "gpu", "gpu:1", "HostSpace", "CudaSpace".'
        )
    return f"node:{own_node()}:device:{found['device']}"


def _intern(tag: str) -> MemorySpace:
    with _LOCK:
        found = _SPACES.get(tag)
        if found is None:
            found = _SPACES[tag] = _make(tag, 1 << len(set(_SPACES.values())))
        return found


def _make(tag: str, bit: int) -> MemorySpace:
    parts = _TAG.fullmatch(tag)
    if parts is None:
        return MemorySpace(tag, SpaceKind.ANONYMOUS, own_node(), None, bit)
    if parts["device"] is not None:
        return MemorySpace(tag, SpaceKind.DEVICE, int(parts["node"]), int(parts["device"]), bit)
    return MemorySpace(tag, _KINDS[parts["kind"]], int(parts["node"]), None, bit)
