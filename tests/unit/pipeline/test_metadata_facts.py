"""Facts from the metadata of LFRic kernels: dofmaps whose columns share no dof."""

from __future__ import annotations

import os

import pytest

from psyclone_storage.config.load import settings_of
from psyclone_storage.config.locate import read_settings_texts, search_context
from psyclone_storage.ir.facts import FactKind, Facts, FactSource
from psyclone_storage.pipeline.metadata_facts import facts_of_metadata
from psyclone_storage.transform.file_bench import FileBench
from support.file_benches import file_bench

KERNEL = """module column_kernel_mod
  use argument_mod, only: arg_type, GH_FIELD, GH_REAL, GH_READ, GH_READWRITE, DOMAIN
  use fs_continuity_mod, only: Wtheta, W3, W0
  use constants_mod, only: r_def, i_def
  use kernel_mod, only: kernel_type
  use elsewhere_mod, only: offsets, cell
  implicit none
  type, public, extends(kernel_type) :: column_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_READWRITE, Wtheta), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3), &
      arg_type(GH_FIELD, GH_REAL, GH_READWRITE, {third}) /)
    integer :: operates_on = DOMAIN
  contains
    procedure, nopass :: column_code
  end type
contains
  subroutine column_code(nlayers, cols, x, y, z, ndf_wth, undf_wth, map_wth, &
                         ndf_w3, undf_w3, map_w3, ndf_z, undf_z, map_z{more})
    integer(i_def), intent(in) :: nlayers, cols
    integer(i_def), intent(in) :: ndf_wth, undf_wth, ndf_w3, undf_w3, ndf_z, undf_z
    integer(i_def), intent(in) :: map_wth(ndf_wth, cols), map_w3(ndf_w3, cols), map_z(ndf_z, cols)
    real(r_def), intent(inout) :: x(undf_wth), z(undf_z)
    real(r_def), intent(in) :: y(undf_w3)
    integer(i_def) :: i, k, m, j(cols)
    {loops}
  end subroutine column_code
end module column_kernel_mod
"""


def facts_of(third: str = "ANY_DISCONTINUOUS_SPACE_1", loops: str = "", more: str = "") -> Facts:
    bench = file_bench(KERNEL.format(third=third, loops=loops, more=more))
    settings = settings_of(read_settings_texts(None, search_context(os.environ)), "")
    return facts_of_metadata(bench.file, settings)


def bench_of(loops: str) -> FileBench:
    text = KERNEL.format(third="W3", loops=loops, more="")
    facts = tuple(one for one in facts_of(loops=loops) if one.name != "map_z")
    return file_bench(text, facts)


def test_dofmaps_of_discontinuous_spaces_are_facts() -> None:
    """Each has the line of the first entry on its space."""
    found = facts_of()
    assert {(one.name, one.place) for one in found} == {
        ("map_wth", "program.f90:11"),
        ("map_w3", "program.f90:12"),
        ("map_z", "program.f90:13"),
    }
    assert all(one.source is FactSource.METADATA for one in found)
    assert all(one.kind is FactKind.COLUMNS and one.routine == "column_code" for one in found)


def test_wrong_metadata_promise_nothing() -> None:
    """The arguments must be those that the metadata require, and the metadata must be valid."""
    assert not facts_of(more=", extra")
    assert not facts_of("NO_SPACE")
    assert not facts_of("W0")
    assert not facts_of("ANY_SPACE_1")


def test_a_dofmap_that_the_kernel_may_change_promises_nothing() -> None:
    """Only a dummy with `intent(in)` keeps what the metadata say."""
    text = KERNEL.format(third="ANY_DISCONTINUOUS_SPACE_1", loops="", more="")
    for intent in (", intent(inout)", ""):
        head = "integer(i_def), intent(in) :: map_wth"
        changed = text.replace(head, head.replace(", intent(in)", intent))
        assert changed != text
        settings = settings_of(read_settings_texts(None, search_context(os.environ)), "")
        found = facts_of_metadata(file_bench(changed).file, settings)
        assert not {one.name for one in found}


COLUMNS = [
    "do i = 1, cols\n do k = 0, m\n x(map_wth(1, i) + k) = k\n end do; end do",
    "do k = 1, nlayers\n do i = 1, cols\n x(map_wth(1, i) + k - 1) = k\n end do\nend do",
    "do i = 1, cols\n do k = 1, m\n x(map_wth(1, i) + k) = x(map_wth(1, i))\n end do; end do",
    "do i = 1, cols\n x(map_wth(1, i):map_wth(1, i) + nlayers) = y(map_w3(1, i))\n end do",
    "do i = 1, cols\n x(map_wth(1, i) + offsets) = i\n end do",
    "do i = 2, cols, 2\n m = map_wth(1, i)\n x(m) = 1\n x(m + nlayers) = 3\n end do",
]
"""Loops over columns, or over layers."""


@pytest.mark.parametrize("loops", COLUMNS)
def test_loops_over_columns_are_independent(loops: str) -> None:
    """The verdict lists the dofmap; without the metadata the loop is carried."""
    verdict = bench_of(loops).verdict("column_code", "loop1")
    assert verdict.is_independent, verdict.reasons
    assert [one.name for one in verdict.assumptions] == ["map_wth"]
    plain = file_bench(KERNEL.format(third="W3", loops=loops, more=""))
    assert not plain.verdict("column_code", "loop1").is_independent


@pytest.mark.parametrize(
    "loops",
    [
        # another space, whose columns share dofs
        "do i = 1, cols\n z(map_z(1, i)) = i\n end do",
        # cells that an array chooses
        "do i = 1, cols\n x(map_wth(1, j(i))) = i\n end do",
        "do i = 1, cols\n x(map_wth(1, j)) = i\n end do",
        "do i = 1, cols\n x(map_wth(1, cell)) = i\n end do",
        # one cell for all iterations
        "do i = 1, cols\n x(map_wth(1, 1)) = i\n end do",
        # the neighbour of the cell
        "do i = 2, cols\n x(map_wth(1, i)) = x(map_wth(1, i - 1))\n end do",
        # two entries, and an entry with a factor
        "do i = 1, cols\n x(map_wth(1, i) - map_wth(1, 1)) = i\n end do",
        "do i = 1, cols\n x(2 * map_wth(1, i)) = i\n end do",
        "do i = 1, cols\n x(nlayers - map_wth(1, i)) = i\n end do",
        # two dofmaps for one array, and an element without a dofmap
        "do i = 1, cols\n x(map_wth(1, i)) = x(map_w3(1, i))\n end do",
        "do i = 1, cols\n x(map_wth(1, i)) = x(i)\n end do",
        # ranges over two cells
        "do i = 2, cols\n x(map_wth(1, i - 1):map_wth(1, i)) = i\n end do",
        "do i = 1, cols\n x(map_wth(1, i):) = i\n end do",
        # layers that are not different
        "do k = 1, nlayers\n do i = 1, cols\n x(map_wth(1, i) + k / 2) = k\n end do\n end do",
        "do k = 1, nlayers\n do i = 1, cols\n x(map_wth(1, i)) = k\n end do\n end do",
        "do k = 1, nlayers\n do m = 1, 2\n x(map_wth(m, 1) + k) = k\n end do\n end do",
    ],
)
def test_other_loops_are_carried(loops: str) -> None:
    """Nothing is promised about other subscripts."""
    assert not bench_of(loops).verdict("column_code", "loop1").is_independent
