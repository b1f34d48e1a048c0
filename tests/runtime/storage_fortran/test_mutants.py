"""Libraries with one broken rule each: the comparison with Python must detect each of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings

from libraries import Library
from psyclone_storage.storage.core.errors import StorageError
from psyclone_storage.storage.interop.fortran import FortranLibrary
from runtime.storage_fortran.builds import EMULATED, LIBRARY, build_changed
from runtime.storage_fortran.pairs import Operation, World, check_agreement, uses, worlds

pytestmark = pytest.mark.fortran

COHERENCE, STORAGE = "storage_coherence_mod.f90", "coherent_storage_mod.f90"
REPLICAS, STATE = "storage_replicas_mod.f90", "storage_state_mod.f90"
HALO, FIELD = "halo_storage_mod.f90", "field_storage_mod.f90"
# The rule that is broken, the file, what stands there, and what takes its place.
MUTANTS = {
    "a write leaves the other copy valid": (
        COHERENCE,
        "self%valid == 0) self%valid = ibset(0, space)\n",
        "self%valid == 0) self%valid = ibset(self%valid, space)\n",
    ),
    "a write leaves the halo clean": (
        COHERENCE,
        "    self%clean_depth = 0\n  end subroutine note_write",
        "  end subroutine note_write",
    ),
    "a touch is not noted": (STATE, "    call self%coherence%note_touch(home)\n", ""),
    "a touch is no version": (
        COHERENCE,
        "    call note_write(self, space)\n    self%version = self%version + 1\n",
        "    call note_write(self, space)\n",
    ),
    "an exchange leaves the other copy valid": (
        COHERENCE,
        "self%valid = ibset(0, self%exchange)\n",
        "self%valid = ibset(self%valid, self%exchange)\n",
    ),
    "an exchange cleans one depth less": (
        COHERENCE,
        "set_clean(self, self%exchanged_depth)",
        "set_clean(self, self%exchanged_depth - 1)",
    ),
    "an exchange goes with a write": (
        COHERENCE,
        "may_acquire = may_acquire .and. self%exchange == nowhere .and. ",
        "may_acquire = may_acquire .and. ",
    ),
    "an exchange ends under readers": (HALO, "self%state%coherence%may_end_exchange()", ".true."),
    "two writes at once": (
        COHERENCE,
        "may_acquire = self%writer == nowhere\n",
        "may_acquire = self%writer == nowhere .or. self%writer == space\n",
    ),
    "a write goes with a read elsewhere": (
        COHERENCE,
        "self%reading == self%readers(space)\n    else",
        ".true.\n    else",
    ),
    "a touch goes with a read elsewhere": (
        COHERENCE,
        ".not. self%of_parts .and. self%reading == self%readers(space)",
        ".not. self%of_parts",
    ),
    "a read access cannot end": (
        COHERENCE,
        "may_release = self%writer == space .or. self%readers(space) > 0",
        "may_release = self%writer == space",
    ),
    "what is read-only is written": (
        STORAGE,
        "if (access == access_read .or. .not. self%read_only) then",
        "if (.true.) then",
    ),
    "a write-only access is copied to": (
        STATE,
        "if (access == access_write .or. .not. self%coherence%is_stale(home)) then",
        "if (.not. self%coherence%is_stale(home)) then",
    ),
    "a read-write access is not copied to": (
        STATE,
        "if (access == access_write .or. .not. self%coherence%is_stale(home)) then",
        "if (access /= access_read .or. .not. self%coherence%is_stale(home)) then",
    ),
    "a copy is made anew each time": (
        STATE,
        "    call self%coherence%note_copy(to)\n  end subroutine copy_all",
        "  end subroutine copy_all",
    ),
    "a copy is not made": (STATE, "      call self%replicas%move(from, to, queue)\n", ""),
    "a copy goes the wrong way": (
        REPLICAS,
        "call copy_to_host(number_of(from), ",
        "call copy_to_device(number_of(from), ",
    ),
    "the only values are given up": (
        STORAGE,
        "self%state%coherence%is_sole_truth(home)",
        ".false.",
    ),
    "memory of somebody else is given up": (
        STORAGE,
        "self%state%replicas%is_attached(home)",
        ".false.",
    ),
    "what enters at once meets a writer": (
        COHERENCE,
        "is_simple = btest(self%valid, space) .and. self%writer == nowhere .and.",
        "is_simple = btest(self%valid, space) .and.",
    ),
    "what enters at once leaves the halo clean": (
        COHERENCE,
        "      self%writer = space\n      self%clean_depth = 0\n    end if",
        "      self%writer = space\n    end if",
    ),
    "what enters at once to write leaves the other copy valid": (
        COHERENCE,
        "self%exchange == nowhere .and. self%valid == ibset(0, space) .and. &",
        "self%exchange == nowhere .and. &",
    ),
    "a get to write changes nothing": (
        COHERENCE,
        "    if (passes .and. access /= access_read) call note_touch(self, space)\n",
        "",
    ),
    "a get to read counts as a write": (
        COHERENCE,
        "    if (passes .and. access /= access_read) call note_touch(self, space)\n",
        "    if (passes) call note_touch(self, space)\n",
    ),
    "a get writes what is read-only": (
        FIELD,
        "access <= access_read_write .and. .not. self%read_only\n",
        "access <= access_read_write\n",
    ),
    "a get holds its access": (
        FIELD,
        "      call self%release(space, status)\n    else if (device_has_memory) then\n",
        "    else if (device_has_memory) then\n",
    ),
    "what is stale is not spoilt": (
        STATE,
        "        call spoil_stale(self, home)\n      end if",
        "      end if",
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_broken_rule_is_noticed(
    f90: tuple[str, ...], built: Callable[[Library], Path], tmp_path: Path, name: str
) -> None:
    file, old, new = MUTANTS[name]
    text = (LIBRARY / file).read_text(encoding="utf-8")
    assert text.count(old) == 1
    source = tmp_path / file
    source.write_text(text.replace(old, new), encoding="utf-8")
    library = FortranLibrary(build_changed(built(EMULATED), source, f90, tmp_path))

    @settings(max_examples=600, database=None, phases=[Phase.generate])
    @given(world=worlds, sequence=uses())
    def compare(world: World, sequence: tuple[Operation, ...]) -> None:
        check_agreement(library, world, sequence)

    with pytest.raises((AssertionError, StorageError, ExceptionGroup)):
        compare()
