"""Fields with other numbers of layers, or of values at a dof, than the rest of their kernel.

The order of dummies is that of PSyclone's documentation of September 2026, which does not generate
calls for such kernels.
"""

from __future__ import annotations

import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.domains.lfric.arguments import build_lfric_dummies
from psyclone_storage.ir.expr import spell
from psyclone_storage.ir.interface import Role
from unit.domains.lfric.test_metadata import current, kernel, of_2019, problems

W1_INC = "gh_field, gh_real, gh_inc, w1"
W2_READ = "gh_field, gh_real, gh_read, w2"
INTERGRID = (
    "gh_field, gh_real, gh_write, w3, mesh_arg=gh_coarse",
    "gh_field, gh_real, gh_read, any_space_1, mesh_arg=gh_fine, ndata='2'",
)


def names(*args: str, on: str = "cell_column") -> list[str]:
    return [dummy.name for dummy in build_lfric_dummies(kernel(current(*args, on=on)))]


def test_each_numbering_has_a_dofmap_and_each_name_is_passed_once() -> None:
    assert names(
        "gh_scalar, gh_real, gh_read",
        W1_INC,
        W2_READ,
        f"{W2_READ}, nlevels='shallow'",
        f"{W2_READ}, nlayers=' SHALLOW '",
        f"{W2_READ}, ndata='precip'",
        f"{W2_READ}, ndata='precip', nlevels='shallow'",
    ) == [
        "nlayers", "rscalar_1", "field_2_w1", "field_3_w2", "field_4_w2", "nlayers_field_4",
        "field_5_w2", "field_6_w2", "ndata_field_6", "field_7_w2",
        "ndf_w1", "undf_w1", "map_w1", "ndf_w2", "undf_w2", "map_w2",
        "ndf_w2_4", "undf_w2_4", "map_w2_4", "ndf_w2_6", "undf_w2_6", "map_w2_6",
        "ndf_w2_7", "undf_w2_7", "map_w2_7",
    ]  # fmt: skip


def test_numbers_that_are_known_are_not_passed() -> None:
    found = names(W1_INC, f"{W2_READ}, ndata='3'", f"{W2_READ}, nlayers='1', ndata='03'", W2_READ)
    assert found == [
        "nlayers", "field_1_w1", "field_2_w2", "field_3_w2", "field_4_w2",
        "ndf_w1", "undf_w1", "map_w1", "ndf_w2", "undf_w2", "map_w2",
        "ndf_w2_3", "undf_w2_3", "map_w2_3", "ndf_w2_4", "undf_w2_4", "map_w2_4",
    ]  # fmt: skip


def test_one_value_at_a_dof_is_what_a_field_has_anyway() -> None:
    assert names(W1_INC, f"{W2_READ}, ndata='1'", W2_READ) == names(W1_INC, W2_READ, W2_READ)


def test_arrays_are_as_long_as_their_numbering_says() -> None:
    dummies = build_lfric_dummies(kernel(current(W1_INC, W2_READ, f"{W2_READ}, ndata='4'")))
    lengths = {dummy.name: spell(dummy.shape[0]) for dummy in dummies if dummy.role is Role.FIELD}
    assert lengths == {"field_1_w1": "undf_w1", "field_2_w2": "undf_w2", "field_3_w2": "undf_w2_3"}


def test_an_operator_may_have_layers_of_its_own() -> None:
    found = names(W1_INC, "gh_operator, gh_real, gh_read, w1, w2, nlayers='soil'", W2_READ)
    assert found == [
        "cell", "nlayers", "field_1_w1", "op_2_ncell_3d", "op_2", "nlayers_op_2", "field_3_w2",
        "ndf_w1", "undf_w1", "map_w1", "ndf_w2", "undf_w2", "map_w2",
    ]  # fmt: skip


def test_numbers_follow_the_stencil_of_their_field_and_the_last_component() -> None:
    assert names(W1_INC, f"{W2_READ}, stencil(cross), ndata='n'")[2:6] == [
        "field_2_w2", "field_2_stencil_size", "field_2_stencil_map", "ndata_field_2",
    ]  # fmt: skip
    vector = "gh_field*2, gh_real, gh_read, w2, nlayers='n'"
    assert names(W1_INC, vector)[2:5] == ["field_2_w2_v1", "field_2_w2_v2", "nlayers_field_2"]


def test_a_kernel_over_the_domain_takes_whole_maps() -> None:
    given = ("gh_field, gh_real, gh_write, w3", "gh_field, gh_real, gh_read, w3, ndata='4'")
    assert names(*given, on="domain") == [
        "nlayers", "ncell_2d_no_halos", "field_1_w3", "field_2_w3",
        "ndf_w3", "undf_w3", "map_w3", "ndf_w3_2", "undf_w3_2", "map_w3_2",
    ]  # fmt: skip


@pytest.mark.parametrize("value", ["4", "'0'", "''", "'-1'", "'4.5'", "'2n'", "soil", ".true."])
@pytest.mark.parametrize("word", ["ndata", "nlayers", "nlevels"])
def test_a_number_is_positive_or_has_a_name(word: str, value: str) -> None:
    (found,) = problems(current(W1_INC, f"{W2_READ}, {word}={value}"))
    assert found.code == "M061"
    assert found.span is not None
    assert found.span.text == f"{word}={value}"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (current(f"{W1_INC}, nlayers='4'", W2_READ), "those that differ"),
        (current(*INTERGRID), "between two meshes"),
        (current("gh_field, gh_real, gh_write, w3, ndata='4'", on="dof"), "over dofs"),
        (of_2019("gh_field, gh_inc, w1, nlayers='4'"), "those that differ"),
        (
            current(
                "gh_operator, gh_real, gh_read, w3, w3",
                "gh_columnwise_operator, gh_real, gh_write, w3, w3",
                "gh_field, gh_real, gh_read, w3, ndata='4'",
            ),
            "columnwise operator",
        ),
    ],
)
def test_a_numbering_of_its_own_is_refused_where_it_has_no_meaning(text: str, hint: str) -> None:
    (found,) = problems(text)
    assert found.code == "M061"
    assert hint in found.hint


@pytest.mark.parametrize("more", ["nlayers='2', nlevels='2'", "ndata='2', ndata='3'"])
def test_a_number_is_said_once(more: str) -> None:
    assert [found.code for found in problems(current(W1_INC, f"{W2_READ}, {more}"))] == ["M061"]


def test_an_operator_has_one_value_for_a_pair_of_dofs() -> None:
    text = current(W1_INC, "gh_operator, gh_real, gh_read, w1, w2, ndata='2'")
    with pytest.raises(CompileError, match=r"'ndata='2'' cannot follow"):
        kernel(text)
