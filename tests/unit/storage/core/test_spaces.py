"""Tests of memory spaces: tags, aliases, identity, and sharing of replicas."""

from __future__ import annotations

import pickle

import pytest

from psyclone_storage.storage.core.errors import UnknownSpaceError
from psyclone_storage.storage.core.spaces import (
    SpaceKind,
    device_space,
    host_space,
    memory_space,
)


@pytest.mark.spec("ACC-8", "ACC-10", "ACC-26", "GDP-8", "GDP-9", "VIEW-28")
@pytest.mark.parametrize(
    ("alias", "tag"),
    [
        (None, "node:0"),
        ("cpu", "node:0"),
        ("host", "node:0"),
        ("HostSpace", "node:0"),
        ("gpu", "node:0:device:0"),
        ("gpu:1", "node:0:device:1"),
        ("CudaSpace", "node:0:device:0"),
        ("CudaUVMSpace", "node:0:uvm"),
        ("CudaHostPinnedSpace", "node:0:pinned"),
        ("node:3:device:2", "node:3:device:2"),
    ],
)
def test_tags_and_aliases_name_one_object(alias: str | None, tag: str) -> None:
    assert memory_space(alias) is memory_space(tag)
    assert memory_space(alias).tag == tag


@pytest.mark.spec("ACC-8")
@pytest.mark.parametrize("name", ["node", "node:x", "node:0:device", "gpu:one", "disk", ""])
def test_other_strings_are_refused_by_name(name: str) -> None:
    with pytest.raises(UnknownSpaceError, match=f'"{name}" is not a memory space'):
        memory_space(name)


def test_the_parts_of_a_tag() -> None:
    space = memory_space("node:3:device:2")
    assert (space.kind, space.node, space.device_id) == (SpaceKind.DEVICE, 3, 2)
    assert space.dlpack_device == (2, 2)
    assert not space.host_accessible
    assert memory_space("node:0:uvm").host_accessible
    assert memory_space("node:0:uvm").device_accessible


def test_bits_tell_spaces_apart() -> None:
    host, device = host_space(), device_space(0)
    assert host.bit & device.bit == 0
    assert all(bin(space.bit).count("1") == 1 for space in (host, device))


def test_a_pickled_space_is_the_same_object() -> None:
    assert pickle.loads(pickle.dumps(device_space(1))) is device_space(1)


@pytest.mark.spec("VIEW-85", "VIEW-101", "VIEW-102")
@pytest.mark.parametrize(
    ("target", "source", "allowed"),
    [
        ("HostSpace", "HostSpace", True),
        ("HostSpace", "CudaHostPinnedSpace", True),
        ("HostSpace", "CudaSpace", False),
        ("HostSpace", "CudaUVMSpace", False),
        ("CudaSpace", "CudaUVMSpace", True),
        ("CudaSpace", "gpu:1", False),
        ("CudaHostPinnedSpace", "HostSpace", False),
        ("AnonymousSpace", "CudaSpace", True),
        ("HostSpace", "AnonymousSpace", True),
    ],
)
def test_which_windows_may_take_over_which(target: str, source: str, allowed: bool) -> None:
    assert memory_space(target).assignable_from(memory_space(source)) is allowed
    if target == "CudaSpace" and source == "CudaUVMSpace":
        assert not memory_space(target).assignable_from(memory_space("node:1:uvm"))


@pytest.mark.spec("HM-21", "HM-22")
def test_the_default_device_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCAI_DEVICE", "1:0")
    assert memory_space("gpu").device_id == 1
    monkeypatch.setenv("SCAI_DEVICE", "one")
    with pytest.raises(ValueError, match='SCAI_DEVICE is "one"'):
        memory_space("gpu")


@pytest.mark.parametrize("name", ["HostSpace", "CudaSpace", "CudaUVMSpace", "AnonymousSpace"])
def test_a_space_is_called_as_in_kokkos(name: str) -> None:
    assert memory_space(name)() is memory_space(name)
