"""The storage in Fortran and the buffer in Python are one theory: at random, they do the same."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, example, given, settings

from psyclone_storage.storage.core.locks import AccessMode
from runtime.storage_fortran.builds import OPENACC_DOUBLE
from runtime.storage_fortran.conftest import Load
from runtime.storage_fortran.pairs import Memory, Operation, World, check_agreement, uses, worlds

pytestmark = pytest.mark.fortran

READ, WRITE, READ_WRITE = AccessMode.READ, AccessMode.WRITE_ONLY, AccessMode.READ_WRITE


@pytest.mark.parametrize("kind", ["none", "emulated", OPENACC_DOUBLE])
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(world=worlds, sequence=uses())
@example(
    world=World(4, "f8", Memory.OWN),
    sequence=(
        ("acquire", "gpu", WRITE), ("write", "gpu"), ("release", "gpu"), ("leave_device",),
        ("begin_exchange", 2, "host"), ("acquire", "gpu", READ), ("end_exchange",),
        ("release", "gpu"), ("end_exchange",), ("acquire", "gpu", READ_WRITE), ("write", "gpu"),
        ("touch", "gpu"), ("touch", "host"), ("release", "gpu"), ("acquire", "host", READ),
    ),
)  # fmt: skip
def test_fortran_and_python_do_the_same(
    load: Load, kind: str, world: World, sequence: tuple[Operation, ...]
) -> None:
    check_agreement(load(kind), world, sequence)
