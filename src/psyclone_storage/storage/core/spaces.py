"""Names of the memory spaces; this module allocates nothing.

A memory space is identified by its tag (ACC-8): `node:N` is the host memory of node N,
`node:N:pinned` its page-locked part, `node:N:uvm` the memory shared with the devices,
`node:N:device:M` the memory of device M. The names in the other APIs (`None`, `"cpu"`, `"gpu"`,
`HostSpace`, `CudaSpace` ...) are aliases. There is one object per tag, so that spaces compare by
identity, and each has a small number whose bit marks it in the masks of a buffer.
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
    default_device_id,
    device_in,
    own_node,
)
from psyclone_storage.storage.core.errors import UnknownSpaceError
from psyclone_storage.storage.core.forking import FORKS, Rank
from psyclone_storage.storage.core.native import setting


class SpaceKind(Enum):
    """The kinds of memory; the value is the device type in DLPack, 0 where it has none."""

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
    """One place where data may live.

    `node` and `device_id` come from the tag (`device_id` is `None` unless the kind is `DEVICE`).
    `bit` is the mark of the space in the validity masks of a buffer. Obtain spaces from
    `memory_space`, never from the constructor.
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
        """Return whether a window of this space may take over one of `source` (VIEW-85).

        The same space may; host takes pinned, a device takes unified memory, and the anonymous
        space takes and gives everything.
        """
        if source is self or SpaceKind.ANONYMOUS in (self.kind, source.kind):
            return True
        return (self.kind, source.kind) in _ASSIGNABLE and self.node == source.node

    def __call__(self) -> MemorySpace:
        """Return the space itself, so that `HostSpace()` is written as in C++."""
        return self

    def __repr__(self) -> str:
        return f"<MemorySpace {self.tag}>"

    def __reduce__(self) -> tuple[object, tuple[str]]:
        """Pickle by tag, so that there stays one object per tag."""
        return memory_space, (self.tag,)


SpaceLike: TypeAlias = "MemorySpace | str | None"

_ASSIGNABLE = {(SpaceKind.HOST, SpaceKind.PINNED), (SpaceKind.DEVICE, SpaceKind.MANAGED)}
_TAG = regex(r"node:(?P<node>\d+)(?::(?:device:(?P<device>\d+)|(?P<kind>uvm|pinned)))?")
_DEVICE_ALIAS = regex(r"(?:gpu|cuda|device|CudaSpace)(?::(?P<device>\d+))?")
_KINDS = {None: SpaceKind.HOST, "uvm": SpaceKind.MANAGED, "pinned": SpaceKind.PINNED}
_SUFFIX_OF_ALIAS = {
    "cpu": "", "host": "", "HostSpace": "",
    "pinned": ":pinned", "CudaHostPinnedSpace": ":pinned", "SharedHostPinnedSpace": ":pinned",
    "uvm": ":uvm", "managed": ":uvm", "CudaUVMSpace": ":uvm", "SharedSpace": ":uvm",
}  # fmt: skip
_ANONYMOUS_NAMES = ("anonymous", "AnonymousSpace")
_LOCK = FORKS.guard(threading.Lock(), Rank.LEAF)
_SPACES: dict[str | None, MemorySpace] = {}
"""The spaces by tag, and by those aliases that always mean the same."""


def memory_space(name: SpaceLike = None) -> MemorySpace:
    """Return the memory space with this tag or alias; return a space unchanged.

    None, `cpu` and `host` are the host memory of the own node, `gpu` is the default device
    (`SCAI_DEVICE`), `gpu:1` the device 1 of the own node. Raises `UnknownSpaceError`.
    """
    if isinstance(name, MemorySpace):
        return name
    found = _SPACES.get(name)
    if found is not None:
        return found
    space = _intern(_tag_of(name))
    if name is None or name in _SUFFIX_OF_ALIAS or name in _ANONYMOUS_NAMES:
        _SPACES[name] = space
    return space


@cache
def host_space() -> MemorySpace:
    """Return the host memory of the own node."""
    return memory_space(None)


@cache
def pinned_space() -> MemorySpace:
    """Return the page-locked host memory of the own node."""
    return memory_space("pinned")


@cache
def managed_space() -> MemorySpace:
    """Return the memory that host and devices of the own node share."""
    return memory_space("uvm")


def device_space(device_id: int | None = None) -> MemorySpace:
    """Return the memory of a device of the own node, of the default device if none is named."""
    if device_id is None:
        return _named(setting(DEFAULT_DEVICE_VARIABLE, "0"))
    return _numbered(device_id)


@cache
def _named(text: str) -> MemorySpace:
    """Return the memory of the device that a value of `SCAI_DEVICE` names."""
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
    return f"node:{own_node()}:device:{found['device'] or default_device_id()}"


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
