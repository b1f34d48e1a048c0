"""The sections of the developers' guide on LFRic, GOcean and threads: one test a section."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from command import run_command
from psyclone_storage.ir.schedule import KernelCall as CallRecord
from psyclone_storage.scripting import (
    EndOfExchange,
    HaloExchange,
    Psy,
    Schedule,
    SplitExchange,
    StartOfExchange,
)
from psyclone_storage.scripting.errors import TransformationError
from psyclone_storage.scripting.transformations.table import TRANSFORMATIONS
from psyclone_storage.transform.halos import with_halos
from psyclone_storage.transform.redundant import ComputeRedundantly
from unit.analysis.small import RULES, built_in, cells, dofs, operator, schedule
from unit.scripting.guide_layers import (
    CORPUS,
    KERNELS,
    fields,
    layer,
    names_of,
    one,
    small,
)
from unit.scripting.test_changes import program

# ---------------------------------------------------------------------------- LFRic: meshes


def test_mesh_and_cells() -> None:
    """Cells are counted from the first owned one to the last of a depth, in one range."""
    text = layer("halo_increment_then_stencil").gen
    assert re.search(r"do cell = 1, mesh%get_last_halo_cell\(1\)|loop\d_stop = mesh%get_last_halo",
                     text)  # fmt: skip
    serial = layer("halo_increment_then_stencil", distributed=False).gen
    assert "get_ncell()" in serial
    assert "get_last_halo_cell" not in serial


def test_dofs() -> None:
    """Dofs are one range, too: owned, then annexed, then levels of the halo."""
    assert "get_last_dof_owned()" in layer("builtins_set").gen
    assert "get_last_dof_annexed()" in layer("builtins_set", annexed=True).gen
    psy = layer("builtins_set")
    loop = psy.schedules[0].loops()[0]
    psy.schedules[0].apply(ComputeRedundantly(loop.uid, 1))
    assert "get_last_dof_halo(1)" in psy.gen
    assert "get_undf()" in layer("builtins_set", distributed=False).gen


def test_discontinuous_dofs() -> None:
    """Dofs of a cell are its own: nothing is exchanged for a reader of owned cells."""
    tree = small(dofs("u write w3"), cells("v write w3", "u read w3"))
    assert fields(tree) == []


def test_continuous_dofs() -> None:
    """Dofs that cells share are annexed on one side of a border: a reader there needs them."""
    tree = small(dofs("u write w2"), cells("v write w3", "u read w2"))
    assert fields(tree) == ["u"]
    assert tree.walk(HaloExchange)[0].depth == "1"


def test_multi_grid() -> None:
    """The coarse mesh is iterated over; the halo of the fine field goes twice as deep."""
    tree = one("intergrid_restrict_continuous")
    (loop,) = [item for item in tree.loops() if item.kernels()[0].args[0].described.mesh]
    depths = {exchange.args[0].name: exchange.depth for exchange in tree.walk(HaloExchange)}
    roles = {
        arg.name: arg.described.mesh.value
        for arg in loop.kernels()[0].args
        if arg.described and arg.described.mesh
    }
    fine = [name for name, role in roles.items() if role == "fine" and name in depths]
    assert fine
    for name in fine:
        assert depths[name] == str(2 * int(loop.depth))


# ---------------------------------------------------------------------------- LFRic: loops


def test_loop_iterators() -> None:
    """Kernels are called for cells, or for dofs as built-ins are; metadata decide."""
    tree = small(cells("u write w3"), dofs("v write w3"))
    assert [loop.iteration_space for loop in tree.loops()] == ["cell_column", "dof"]
    assert [loop.loop_type for loop in tree.loops()] == ["", "dof"]


def test_cell_iterators_continuous() -> None:
    """What cells share is computed in level 1, whose outermost dofs stay dirty."""
    tree = small(cells("u inc w2", "v read w3"), cells("x write w3", "u read w2 stencil 1"))
    first = tree.loops()[0]
    assert (first.reach, first.depth) == ("halo", "1")
    assert fields(tree) == ["v", "u"]
    # A space that may be either counts as continuous.
    unknown = small(cells("u inc any_space_1")).loops()[0]
    assert (unknown.reach, unknown.depth) == ("halo", "1")


def test_cell_iterators_discontinuous() -> None:
    """Owned cells are enough; the halo is computed on request."""
    tree = small(cells("u write w3", "v read w3"))
    loop = tree.loops()[0]
    assert (loop.reach, fields(tree)) == ("owned", [])
    tree.apply(ComputeRedundantly(loop.uid, 2))
    assert (loop.reach, loop.depth, fields(tree)) == ("halo", "2", ["v"])


@pytest.mark.parametrize(
    ("reader", "without", "with_them"),
    [
        (dofs("u read w2", "v write w2"), 0, 0),
        (cells("u read w2", "v inc w2"), 1, 1),
        (cells("u inc w2", "v read w3"), 0, 0),
        (cells("u read w2", "v write w3"), 1, 0),
    ],
)
def test_dof_iterators(reader: CallRecord, without: int, with_them: int) -> None:
    """The four cases of the seed for annexed dofs, left dirty by a loop over dofs or computed.

    In case 3 the values that are added to are computed where they are made.
    """
    writer = built_in("u write w2")
    for annexed, wanted in ((False, without), (True, with_them)):
        tree = small_with_annexed(writer, reader, annexed=annexed)
        assert fields(tree).count("u") == wanted


def small_with_annexed(*calls: CallRecord, annexed: bool) -> Schedule:
    made = program(*calls)
    tree = schedule(*calls, annexed=annexed)
    invoke = replace(made.invokes[0], schedule=with_halos(tree, RULES))
    return Psy(replace(made, invokes=(invoke,)), RULES).invokes.invoke_list[0].schedule


# ---------------------------------------------------------------------------- LFRic: exchanges


def test_operators_and_halo_exchanges() -> None:
    """Operators are computed in level 1 and never exchanged; nobody reads them further out."""
    tree = small(cells(operator("op", "write")), cells("u inc w2", operator("op", "read")))
    writer, reader = tree.loops()
    assert (writer.reach, writer.depth, fields(tree)) == ("halo", "1", [])
    reasons = tree.check(ComputeRedundantly(reader.uid, 2))
    assert [reason.code for reason in reasons] == ["S001"]


def test_first_creation() -> None:
    """An exchange stands before the first loop that needs it, and serves those behind."""
    tree = small(
        cells("w write w3", "u read w3 stencil 1"),
        cells("x write w3", "u read w3 stencil 2"),
    )
    (exchange,) = tree.walk(HaloExchange)
    first, second = tree.loops()
    assert exchange.immediately_precedes(first)
    assert exchange.depth == "2"
    assert first.create_halo_exchanges() == [exchange] == second.create_halo_exchanges()
    assert names_of(first.unique_fields_with_halo_reads()) == ["call1"]
    assert [arg.name for arg in second.unique_fields_with_halo_reads()] == ["u"]
    assert exchange.required() == (True, False)
    assert exchange.guarded


def test_asynchronous_halo_exchanges() -> None:
    """The start reads and the end reads and writes, so that loops that do not touch it may pass."""
    tree = small(dofs("u write w3"), dofs("v write w3"), cells("x write w3", "u read w3 stencil 1"))
    (whole,) = tree.walk(HaloExchange)
    tree.apply(SplitExchange(whole.uid))
    (start,), (end,) = tree.walk(StartOfExchange), tree.walk(EndOfExchange)
    assert [start.args[0].access, end.args[0].access] == ["read", "readwrite"]
    assert (start.depth, start.required()) == (end.depth, end.required())
    writer, other, _ = tree.loops()
    assert start.is_valid_location(other)
    assert not start.is_valid_location(writer)
    assert not end.is_valid_location(tree.loops()[2], "after")


def test_exchanges_of_vectors() -> None:
    """Exchanges of components pass one another, which the seed's own analysis did not allow."""
    tree = one("vector_stencil_bundle")
    for whole in tree.walk(HaloExchange):
        tree.apply(SplitExchange(whole.uid))
    first, _, third = tree.walk(StartOfExchange)
    ends = tree.walk(EndOfExchange)
    assert third.is_valid_location(first)
    assert ends[0].is_valid_location(ends[2], "after")
    assert not ends[2].is_valid_location(third)


def test_evaluators() -> None:
    """Basis functions are evaluated once for each space and target that a kernel names."""
    text = layer("evaluator_named_targets").gen
    asked = re.findall(r"(\w+)%vspace%call_function\((\w+), df_\w+, nodes_(\w+)\(", text)
    assert len(asked) == len(set(asked))
    assert {target for _, _, target in asked} == {"w2", "w3"}
    assert text.count("get_nodes()") == 2
    call = one("evaluator_named_targets").coded_kernels()[0]
    assert call.name


def test_modifying_the_schedule() -> None:
    """A deeper loop takes exchanges behind it away and asks for others before it."""
    tree = small(
        cells("u write w3", "v read w3"),
        cells("x write w3", "u read w3 stencil 1"),
    )
    writer, reader = tree.loops()
    assert fields(tree) == ["u"]
    (exchange,) = reader.create_halo_exchanges()
    assert isinstance(exchange, HaloExchange)
    assert exchange.required() == (True, True)
    tree.apply(ComputeRedundantly(writer.uid, 1))
    assert fields(tree) == ["v"]
    assert [item.args[0].name for item in writer.update_halo_exchanges()] == ["v"]  # type: ignore[attr-defined]
    assert reader.create_halo_exchanges() == []


def test_exchanges_that_a_script_has_moved() -> None:
    """They stay where they were put until `update_halo_exchanges` finds that nobody needs them."""
    tree = small(dofs("u write w3"), dofs("z write w3"), cells("x write w3", "u read w3 stencil 1"))
    (exchange,) = tree.walk(HaloExchange)
    tree.apply(SplitExchange(exchange.uid))
    (start,) = tree.walk(StartOfExchange)
    writer, reader = tree.loops()[0], tree.loops()[2]
    assert start.required() == (True, True)
    assert [item.args[0].access for item in writer.update_halo_exchanges()] == []  # type: ignore[attr-defined]
    tree.apply(ComputeRedundantly(writer.uid, 1))
    assert fields(tree) == ["u", "u"]
    assert start.required() == (False, True)
    writer.update_halo_exchanges()
    assert fields(tree) == []
    tree.undo()
    tree.undo()
    assert reader.update_halo_exchanges() == tree.walk(EndOfExchange)


def test_kernel_transformations(tmp_path: Path) -> None:
    """A changed kernel gets a name of its own, the same one when the same layer is made again."""
    words = ["-api", "lfric", "-d", str(KERNELS), "--apply", "acc-routine", "-okern", "out"]

    def made(name: str, *more: str) -> tuple[int, set[str]]:
        outputs = ["-oalg", f"{name}.f90", "-opsy", f"{name}_psy.f90"]
        done = run_command([*words, *more, *outputs, str(CORPUS / "operator_apply.x90")], tmp_path)
        return done.status, {file.name for file in (tmp_path / "out").glob("*.f90")}

    first, second = (f"apply_mass_matrix_kernel_{number}_mod.f90" for number in (0, 1))
    (tmp_path / "out").mkdir()
    assert made("a") == (0, {first})
    assert made("a") == (0, {first})
    assert made("b") == (0, {first, second})
    # With one name for all, files that differ are refused: the first one says whose it is.
    status, files = made("c", "--kernel-renaming", "single")
    assert (status, files) == (1, {first, second})


def test_colouring() -> None:
    """Colours are counted one after the other; cells of one share nothing that is written."""
    tree = small(cells("u inc w2", "v read w3"))
    (loop,) = tree.loops()
    alone = TRANSFORMATIONS["LFRicOMPParallelLoopTrans"]()
    with pytest.raises(TransformationError, match="Cells of 'loop1' race"):
        alone.apply(loop)
    TRANSFORMATIONS["LFRicColourTrans"]().apply(loop)
    outer, inner = tree.loops()
    assert (outer.loop_type, inner.loop_type) == ("colours", "cells_in_colour")
    with pytest.raises(TransformationError):
        alone.apply(outer)
    alone.apply(inner)


# ---------------------------------------------------------------------------- GOcean, OpenMP


def test_gocean() -> None:
    """Kernels are called for points: rows outside, columns inside."""
    tree = one("stencil_after_write", grid=True)
    assert {loop.loop_type for loop in tree.loops()} == {"outer", "inner"}
    call = tree.kernels()[0]
    spaces = [arg.function_space.orig_name for arg in call.args if arg.function_space]
    assert all(name.startswith("go_") for name in spaces)
    assert spaces


def test_openmp_support() -> None:
    """What is private is found: counters of loops, and nothing that is shared."""
    psy = layer("halo_increment_then_stencil")
    psy.schedules[0].apply("colour; openmp-parallel-do")
    private = re.findall(r"private\(([^)]*)\)", psy.gen)
    assert private
    assert all("cell" in names for names in private)
