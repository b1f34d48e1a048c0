"""Kernels for a subset of cells: the field that says which, and what goes with it."""

from __future__ import annotations

import pytest

from psyclone_storage.domains.lfric.arguments import build_lfric_dummies
from unit.domains.lfric.test_metadata import current, kernel, problems

ADDED = "gh_field, gh_real, gh_readwrite, w3"
MASK = "gh_field, gh_integer, gh_read, any_discontinuous_space_1, cell_mask"
COARSE = "gh_field, gh_real, gh_readwrite, any_discontinuous_space_1, mesh_arg=gh_coarse"
FINE = "gh_field, gh_real, gh_read, any_discontinuous_space_2, mesh_arg=gh_fine"
OPERATOR = "gh_operator, gh_real, gh_read, w3, w3"
BANDS = "gh_columnwise_operator, gh_real, gh_write, w3, w3"


def test_a_mask_is_a_field_like_any_other_to_the_kernel() -> None:
    found = kernel(current(ADDED, MASK))
    assert found.mask == 1
    names = [dummy.name for dummy in build_lfric_dummies(found)]
    plain = [dummy.name for dummy in build_lfric_dummies(kernel(current(ADDED, MASK[:-11])))]
    assert names == plain


def test_a_mask_may_be_read_around_a_cell_and_have_another_number_of_layers() -> None:
    found = kernel(current(ADDED, f"{MASK}, stencil(cross), nlayers='1'"))
    assert found.args[1].is_mask
    assert found.args[1].stencil
    assert found.args[1].layers == "1"


@pytest.mark.parametrize("on", ["owned_cell_column", "halo_cell_column"])
def test_loops_over_owned_or_halo_cells_may_leave_out_some(on: str) -> None:
    assert kernel(current(ADDED, MASK, on=on)).mask == 1


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        (current(ADDED, MASK, on="domain"), MASK, "operates on the domain"),
        (current(f"{ADDED}, cell_mask", on="dof"), f"{ADDED}, cell_mask", "operates on dofs"),
        (current(COARSE, f"{FINE}, cell_mask"), f"{FINE}, cell_mask", "two meshes"),
        (current(ADDED, MASK, MASK.replace("_1,", "_2,")), MASK.replace("_1,", "_2,"), "one mask"),
        (current(f"{ADDED}, cell_mask"), f"{ADDED}, cell_mask", "is read"),
        (current(ADDED, "gh_field*2, gh_real, gh_read, w3, cell_mask"), "gh_field*2", "single"),
        (current(ADDED, MASK.replace("any_discontinuous_space_1", "w0")), "w0", "share dofs"),
        (current(OPERATOR, BANDS, "gh_field, gh_real, gh_read, w3, cell_mask"), "cell_mask", "all"),
        (current("gh_field, gh_real, gh_write, w3", MASK), "gh_write, w3", "'gh_readwrite'"),
        (current("gh_field, gh_real, gh_write, w0", MASK), "gh_write, w0", "'gh_inc'"),
        (
            current(ADDED, "gh_operator, gh_real, gh_write, w0, w3", MASK),
            "gh_operator",
            "'gh_readwrite'",
        ),
    ],
)
def test_what_goes_with_no_mask_is_refused_at_its_entry(text: str, place: str, hint: str) -> None:
    found = next(problem for problem in problems(text) if problem.code == "M064")
    assert found.span is not None
    assert place in found.span.text
    assert hint in found.hint


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        (f"{MASK}, cell_mask", "M008"),
        ("gh_field, gh_real, gh_read, w3, mask=cell_mask", "M008"),
        (f"{OPERATOR}, cell_mask", "M013"),
        ("gh_scalar, gh_integer, gh_read, cell_mask", "M014"),
    ],
)
def test_the_word_stands_once_behind_the_space_of_a_field(entry: str, code: str) -> None:
    (found,) = problems(current(ADDED, entry))
    assert found.code == code
