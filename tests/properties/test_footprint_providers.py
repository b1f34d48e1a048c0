"""Metadata and statements describe one footprint: both providers permit the same changes.

Each kernel is given twice: as metadata with stencils, around which a schedule has loops, and as
statements that read at the same offsets in `do` loops.
"""

from __future__ import annotations

from itertools import product

import pytest

from gocean_programs import schedule
from kernel_bodies import code_of
from properties.random_grids import KERNELS, STENCILS
from psyclone_storage.analysis.bodies.nests import CodeFootprint, footprints_of
from psyclone_storage.analysis.footprints import (
    UserAssertions,
    check_fuse,
    check_parallel,
    check_swap,
    check_tile,
)
from psyclone_storage.analysis.schedules.nests import LoopFootprint
from psyclone_storage.domains.gocean.rules import GoceanRules
from psyclone_storage.ir.kernel import GridStencil
from psyclone_storage.ir.schedule import Loop
from psyclone_storage.ir.walk import statements

RULES = GoceanRules()
IN_ORDER = UserAssertions(in_order=True)
DECLARED = "real :: a(0:9, 0:9), b(0:9, 0:9), c(0:9, 0:9)\ninteger :: i, j"


def metadata_footprints(calls: str) -> list[LoopFootprint]:
    """Return the footprints of the loops of an invoke, outer loops first."""
    made = schedule(KERNELS, calls, distributed=False)
    loops = [item for item in statements(made) if isinstance(item, Loop)]
    return [LoopFootprint(made, RULES, loop, IN_ORDER) for loop in loops]


def code_footprints(*assignments: str) -> tuple[CodeFootprint, ...]:
    """Return the footprints of two loops around each assignment, in the order of the text."""
    nests = (f"do j = 2, 8\ndo i = 2, 8\n{one}\nend do\nend do" for one in assignments)
    return footprints_of(code_of("\n".join(nests), DECLARED, "a, b, c"))


def assigned(target: str, source: str, name: str) -> str:
    """Return the statement of a kernel with the stencil called `name`."""
    (*_, arg) = KERNELS[f"set_{name}"].args
    offsets = arg.stencil.offsets if isinstance(arg.stencil, GridStencil) else ()
    read = [f"{source}(i{x:+d}, j{y:+d})" for x, y in dict.fromkeys(((0, 0), *offsets))]
    return f"{target}(i, j) = {' + '.join(read)}"


@pytest.mark.parametrize("name", STENCILS)
def test_one_kernel_that_changes_what_it_reads(name: str) -> None:
    known = metadata_footprints(f"change_{name}(a)")
    read = code_footprints(assigned("a", "a", name))
    assert bool(check_swap(known[0])) is bool(check_swap(read[0])) is (name == "northwest")
    assert bool(check_tile(known[0])) is bool(check_tile(read[0])) is (name == "northwest")
    for one, other in zip(known, read, strict=True):
        assert bool(check_parallel(one)) is bool(check_parallel(other))


@pytest.mark.parametrize(("first", "second"), list(product(STENCILS, repeat=2)))
def test_two_kernels_in_one_loop(first: str, second: str) -> None:
    """The second reads what the first writes, and writes what the first reads."""
    outer, _, after, _ = metadata_footprints(f"set_{first}(a, b), set_{second}(b, a)")
    read, _, behind, _ = code_footprints(assigned("a", "b", first), assigned("b", "a", second))
    assert behind == read.following
    assert bool(check_fuse(outer, after)) is bool(check_fuse(read, behind))
