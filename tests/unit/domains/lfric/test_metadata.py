"""Kernel metadata: what each form means, and that every rule can fail, at the right place.

Metadata is written here as one line per component, `name: item, item`, and turned into what a front
end hands over, so that no front end is needed to test its meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from psyclone_storage.base.codes import CODES
from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.source import SourceText
from psyclone_storage.domains.lfric.metadata import interpret_lfric_metadata
from psyclone_storage.domains.lfric.metadata_access import allowed_accesses
from psyclone_storage.domains.lfric.metadata_words import ITERATIONS
from psyclone_storage.infrastructures.lfric import DEFAULT_LIMITS, Limits
from psyclone_storage.ir.expr import Binary, Expr, Literal, Name, StructureConstructor
from psyclone_storage.ir.kernel import (
    Access,
    ArgKind,
    BasisOperation,
    BasisShape,
    CmaKind,
    Generation,
    Iteration,
    Kernel,
    KernelArg,
    MeshRole,
    StencilShape,
)
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.parsed import MetadataComponent, MetadataItem, ParsedKernel
from psyclone_storage.ir.types import Intrinsic

ENTRY_TYPES = {
    "meta_args": "arg_type",
    "meta_arg": "arg_type",
    "meta_funcs": "func_type",
    "meta_reference_element": "reference_element_data_type",
    "meta_mesh": "mesh_data_type",
}
ARRAYS = {*ENTRY_TYPES, "gh_evaluator_targets"}

# ---------------------------------------------------------------------------- a small front end


def pieces(source: SourceText, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield the places of the parts between commas that are outside brackets."""
    depth, begin = 0, start
    for position in range(start, stop + 1):
        character = source.text[position] if position < stop else ","
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            text = source.text[begin:position]
            left = begin + len(text) - len(text.lstrip())
            if text.strip():
                yield left, left + len(text.strip())
            begin = position + 1


def item(source: SourceText, start: int, stop: int) -> MetadataItem:
    """Read one item: a word, a number, `a*n`, `f(...)` or `key=value`."""
    span = source.span(start, stop)
    text = span.text
    if keyed := re.match(r"(\w+) *= *", text):
        value = item(source, start + keyed.end(), stop)
        return MetadataItem(value.expr, keyed[1].lower(), value.items, span)
    if called := re.match(r"(\w+)\(", text):
        places = pieces(source, start + called.end(), stop - 1)
        items = tuple(item(source, *place) for place in places)
        call = StructureConstructor(Name(called[1]), tuple(part.expr for part in items))
        return MetadataItem(call, None, items, span)
    if product := re.fullmatch(r"(\w+) *([*/]) *(\w+)", text):
        expr: Expr = Binary(Operator(product[2]), word(product[1]), word(product[3]))
        return MetadataItem(expr, None, (), span)
    return MetadataItem(word(text), None, (), span)


def word(text: str) -> Expr:
    """Read a text, a number or a name."""
    if text.startswith("'"):
        return Literal(text, Intrinsic.CHARACTER)
    return Literal(text, Intrinsic.INTEGER) if text.isdigit() else Name(text)


def parsed(text: str) -> ParsedKernel:
    """Turn lines `component: item, item` into a parsed kernel called `k_type`."""
    source = SourceText("k_mod.f90", text)
    components = []
    for match in re.finditer(r"^ *(\w+): *(.*)$", text, re.MULTILINE):
        name = match[1]
        items = tuple(item(source, *place) for place in pieces(source, *match.span(2)))
        is_array = name in ARRAYS or len(items) > 1
        shape = (Literal(str(len(items)), Intrinsic.INTEGER),) if is_array else ()
        place = source.span(*match.span(1))
        component = MetadataComponent(
            name, ENTRY_TYPES.get(name, "integer"), shape, items, is_array, place
        )
        components.append(component)
    parts = tuple(components)
    return ParsedKernel(
        "k_type", "k_mod", parts, "k_code", ("k_code_r4", "k_code_r8"), source, source.whole()
    )


def kernel(text: str, limits: Limits = DEFAULT_LIMITS) -> Kernel:
    """Interpret a kernel that must be right."""
    return interpret_lfric_metadata(parsed(text), limits)


def problems(text: str) -> list[Diagnostic]:
    """Interpret a kernel that must be wrong."""
    with pytest.raises(CompileError) as caught:
        interpret_lfric_metadata(parsed(text))
    return list(caught.value.problems)


def current(*args: str, on: str = "cell_column", more: str = "") -> str:
    """Write metadata of today from the insides of its `arg_type`s."""
    entries = ", ".join(f"arg_type({arg})" for arg in args)
    return f"operates_on: {on}\nmeta_args: {entries}\n{more}"


def of_2019(*args: str, more: str = "") -> str:
    """Write metadata of 2019 from the insides of its `arg_type`s."""
    entries = ", ".join(f"arg_type({arg})" for arg in args)
    return f"iterates_over: cells\nmeta_args: {entries}\n{more}"


# ---------------------------------------------------------------------------- what is right

W3_WRITTEN = "gh_field, gh_real, gh_write, w3"


def test_names_and_places_are_carried_over() -> None:
    result = kernel(current(W3_WRITTEN))
    assert (result.name, result.module, result.procedure) == ("k_type", "k_mod", "k_code")
    assert result.implementations == ("k_code_r4", "k_code_r8")
    assert result.span is not None
    assert result.args[0].span is not None
    assert result.args[0].span.text == f"arg_type({W3_WRITTEN})"


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (
            "GH_FIELD*3, GH_REAL, GH_INC, W1",
            KernelArg(ArgKind.FIELD, Intrinsic.REAL, Access.INC, "w1", vector=3),
        ),
        (
            "gh_field, gh_integer, gh_readinc, any_space_2",
            KernelArg(ArgKind.FIELD, Intrinsic.INTEGER, Access.READINC, "any_space_2"),
        ),
        (
            "gh_field, gh_real, gh_read, wchi, stencil(cross2d)",
            KernelArg(
                ArgKind.FIELD, Intrinsic.REAL, Access.READ, "wchi", stencil=StencilShape.CROSS2D
            ),
        ),
        (
            "gh_operator, gh_real, gh_readwrite, w2, w3",
            KernelArg(ArgKind.OPERATOR, Intrinsic.REAL, Access.READWRITE, "w2", "w3"),
        ),
        (
            "gh_scalar, gh_logical, gh_read",
            KernelArg(ArgKind.SCALAR, Intrinsic.LOGICAL, Access.READ),
        ),
        (
            "gh_scalar_array, gh_integer, gh_read, 2",
            KernelArg(ArgKind.SCALAR_ARRAY, Intrinsic.INTEGER, Access.READ, rank=2),
        ),
    ],
)
def test_entries_of_today(entry: str, expected: KernelArg) -> None:
    result = kernel(current(W3_WRITTEN, entry))
    assert result.args[1] == expected
    assert result.generation is Generation.CURRENT


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (
            "gh_field*2, gh_inc, w1",
            KernelArg(ArgKind.FIELD, Intrinsic.REAL, Access.INC, "w1", "", 2),
        ),
        ("gh_integer, gh_read", KernelArg(ArgKind.SCALAR, Intrinsic.INTEGER, Access.READ)),
        (
            "gh_operator, gh_read, w0, w3",
            KernelArg(ArgKind.OPERATOR, Intrinsic.REAL, Access.READ, "w0", "w3"),
        ),
        (
            "gh_field, gh_read, w3, stencil(x1d)",
            KernelArg(ArgKind.FIELD, Intrinsic.REAL, Access.READ, "w3", stencil=StencilShape.X1D),
        ),
    ],
)
def test_entries_of_2019(entry: str, expected: KernelArg) -> None:
    result = kernel(of_2019("gh_field, gh_write, w3", entry))
    assert result.args[1] == expected
    assert result.generation is Generation.Y2019
    assert result.iteration is Iteration.CELL_COLUMN


def test_orientation_of_2019_needs_no_shape() -> None:
    functions = "meta_funcs: func_type(w2, gh_orientation)"
    result = kernel(of_2019("gh_field, gh_inc, w2", more=functions))
    assert result.functions[0].operations == (BasisOperation.ORIENTATION,)


@pytest.mark.parametrize("iteration", ITERATIONS.values())
def test_every_iteration_is_read(iteration: Iteration) -> None:
    assert kernel(current(W3_WRITTEN, on=iteration.value.upper())).iteration is iteration


def test_between_meshes() -> None:
    result = kernel(
        current(
            "gh_field, gh_real, gh_write, any_discontinuous_space_1, mesh_arg=gh_coarse",
            "gh_field, gh_real, gh_read, any_discontinuous_space_2, mesh_arg=GH_FINE",
        )
    )
    assert [arg.mesh for arg in result.args] == [MeshRole.COARSE, MeshRole.FINE]
    assert result.is_intergrid


BASIS = "meta_funcs: func_type(w1, gh_basis, gh_diff_basis)"


def test_shapes_keep_their_order() -> None:
    needs = f"{BASIS}\ngh_shape: gh_quadrature_face, gh_quadrature_xyoz"
    result = kernel(current("gh_field, gh_real, gh_inc, w1", more=needs))
    assert result.shapes == (BasisShape.FACE, BasisShape.XYOZ)
    assert result.targets == ()


def test_targets_default_to_the_spaces_of_written_arguments() -> None:
    args = (
        "gh_operator, gh_real, gh_write, w2, w1",
        "gh_field, gh_real, gh_inc, w0",
        "gh_field, gh_real, gh_inc, w2",
        W3_WRITTEN.replace("write", "read"),
    )
    needs = f"{BASIS}\ngh_shape: gh_evaluator"
    assert kernel(current(*args, more=needs)).targets == ("w2", "w0")
    explicit = f"{needs}\ngh_evaluator_targets: W3, w1, w3"
    assert kernel(current(*args, more=explicit)).targets == ("w3", "w1")


def test_properties() -> None:
    needs = (
        "meta_reference_element: reference_element_data_type(normals_to_faces)\n"
        "meta_mesh: mesh_data_type(ADJACENT_FACE)"
    )
    result = kernel(current(W3_WRITTEN, more=needs))
    assert result.reference_element == ("normals_to_faces",)
    assert result.mesh_properties == ("adjacent_face",)


CMA = "gh_columnwise_operator, gh_real"


@pytest.mark.parametrize(
    ("args", "kind"),
    [
        (["gh_operator, gh_real, gh_read, w2, w3", f"{CMA}, gh_write, w2, w3"], CmaKind.ASSEMBLY),
        (
            [
                "gh_field, gh_real, gh_inc, w0",
                "gh_field, gh_real, gh_read, w1",
                f"{CMA}, gh_read, w0, w1",
            ],
            CmaKind.APPLY,
        ),
        (
            [
                f"{CMA}, gh_read, w2, w3",
                "gh_scalar, gh_real, gh_read",
                f"{CMA}, gh_readwrite, w2, w3",
            ],
            CmaKind.MATRIX_MATRIX,
        ),
        ([W3_WRITTEN], None),
    ],
)
def test_kinds_of_columnwise_kernels(args: list[str], kind: CmaKind | None) -> None:
    assert kernel(current(*args)).cma is kind


def test_a_local_operator_may_stand_beside_an_integer_field() -> None:
    operator = "gh_operator, gh_real, gh_read, w3, w3"
    result = kernel(current(W3_WRITTEN, operator, "gh_field, gh_integer, gh_read, w3"))
    assert len(result.args) == 3


def test_a_kernel_on_the_domain_may_have_a_stencil() -> None:
    stencil = "gh_field, gh_real, gh_read, w3, stencil(region)"
    assert kernel(current(W3_WRITTEN, stencil, on="domain")).args[1].stencil is StencilShape.REGION


def test_a_coarse_field_may_have_a_stencil() -> None:
    coarse = COARSE.replace("write", "read") + ", stencil(cross)"
    result = kernel(current(coarse, FINE.replace("read", "write")))
    assert (result.args[0].mesh, result.args[0].stencil) == (MeshRole.COARSE, StencilShape.CROSS)


def test_limits_of_wildcards_come_from_the_settings() -> None:
    text = current("gh_field, gh_real, gh_inc, any_space_12")
    assert kernel(text, Limits(20, 20)).args[0].space == "any_space_12"
    assert [problem.code for problem in problems(text)] == ["M008"]


def test_words_for_accesses_come_from_the_settings() -> None:
    words = {"gh_add": Access.INC, "gh_sum": Access.REDUCTION}
    text = current("gh_field, gh_real, gh_add, w1")
    assert interpret_lfric_metadata(parsed(text), accesses=words).args[0].access is Access.INC


FREE = {Access.READ, Access.WRITE, Access.READWRITE}
SHARED = {Access.READ, Access.WRITE, Access.INC, Access.READINC}


@pytest.mark.parametrize("iteration", ITERATIONS.values())
@pytest.mark.parametrize("space", ["w3", "w1", "any_w2", "any_space_1", "wchi"])
def test_accesses_to_fields(iteration: Iteration, space: str) -> None:
    allowed = set(allowed_accesses(iteration, ArgKind.FIELD, space))
    if iteration is Iteration.DOMAIN and space != "w3":
        assert not allowed
    elif space == "wchi":
        assert allowed == {Access.READ}
    elif iteration.over_dofs or space == "w3":
        assert allowed == FREE
    else:
        assert allowed == SHARED


# ---------------------------------------------------------------------------- what is wrong

COARSE = "gh_field, gh_real, gh_write, any_space_1, mesh_arg=gh_coarse"
FINE = "gh_field, gh_real, gh_read, any_space_2, mesh_arg=gh_fine"
EVALUATOR = f"{BASIS}\ngh_shape: gh_evaluator\n"
LMA_READ = "gh_operator, gh_real, gh_read, w2, w3"
W1_INC = "gh_field, gh_real, gh_inc, w1"

WRONG = [
    (
        "M001",
        "operates_on: cell_column\nmeta_args: func_type(w1, gh_basis)",
        "func_type(w1, gh_basis)",
    ),
    ("M001", current(W1_INC, more="meta_funcs: arg_type(w1, gh_basis)"), "arg_type(w1, gh_basis)"),
    (
        "M001",
        current(W1_INC, more="meta_mesh: reference_element_data_type(adjacent_face)"),
        "reference_element_data_type(adjacent_face)",
    ),
    ("M002", current("gh_feild, gh_real, gh_write, w3"), "gh_feild"),
    ("M002", current("gh_feild*2, gh_real, gh_write, w3"), "gh_feild*2"),
    ("M003", current("gh_field, gh_real"), "arg_type(gh_field, gh_real)"),
    ("M003", of_2019("gh_field"), "arg_type(gh_field)"),
    ("M004", current("gh_field, gh_complex, gh_write, w3"), "gh_complex"),
    ("M004", current("gh_field, gh_logical, gh_write, w3"), "gh_logical"),
    ("M004", current("gh_operator, gh_integer, gh_write, w3, w3"), "gh_integer"),
    ("M004", current(f"{CMA[:-4]}integer, gh_write, w3, w3"), "gh_integer"),
    ("M005", current("gh_field, gh_real, gh_wirte, w3"), "gh_wirte"),
    ("M006", current("gh_field*1, gh_real, gh_write, w3"), "gh_field*1"),
    ("M006", current("gh_field/3, gh_real, gh_write, w3"), "gh_field/3"),
    ("M006", current("gh_field*n, gh_real, gh_write, w3"), "gh_field*n"),
    ("M006", current("3*gh_field, gh_real, gh_write, w3"), "3*gh_field"),
    ("M006", current("gh_operator*3, gh_real, gh_write, w3, w3"), "gh_operator*3"),
    ("M007", current(W3_WRITTEN, "gh_scalar_array, gh_real, gh_read"), None),
    ("M007", current(W3_WRITTEN, "gh_scalar_array, gh_real, gh_read, n"), "n"),
    ("M007", current(W3_WRITTEN, "gh_scalar_array, gh_real, gh_read, 0"), "0"),
    ("M008", current("gh_field, gh_real, gh_write"), "arg_type(gh_field, gh_real, gh_write)"),
    ("M008", current("gh_field, gh_real, gh_write, w5"), "w5"),
    ("M008", current("gh_field, gh_real, gh_write, w3, cross"), "cross"),
    ("M008", current("gh_field, gh_real, gh_write, w3, mesh_arg=gh_course"), "gh_course"),
    (
        "M008",
        current("gh_field, gh_real, gh_read, w3, stencil(cross), stencil(x1d)"),
        "stencil(x1d)",
    ),
    ("M009", current("gh_field, gh_real, gh_inc, w1", on="dof"), "gh_inc"),
    ("M010", current("gh_field, gh_real, gh_inc, w3"), "gh_inc"),
    ("M010", current("gh_field, gh_real, gh_readinc, wtheta"), "gh_readinc"),
    ("M010", current("gh_field, gh_real, gh_readwrite, any_space_1"), "gh_readwrite"),
    ("M010", current("gh_operator, gh_real, gh_inc, w1, w1"), "gh_inc"),
    ("M011", current("gh_field, gh_real, gh_write, w3, stencil(cross)"), "gh_write"),
    ("M012", current("gh_field, gh_real, gh_read, w3, stencil(corss)"), "corss"),
    ("M012", current("gh_field, gh_real, gh_read, w3, stencil(cross, n)"), "n"),
    ("M012", current("gh_field, gh_real, gh_read, w3, stencil(cross, 1)"), "1"),
    (
        "M012",
        current(W3_WRITTEN, "gh_field, gh_real, gh_read, w3, stencil(cross)", on="dof"),
        "stencil(cross)",
    ),
    ("M012", current(COARSE, f"{FINE}, stencil(cross)"), "stencil(cross)"),
    ("M013", current("gh_operator, gh_real, gh_write, w3"), None),
    ("M013", current("gh_operator, gh_real, gh_write, w3, w3, w2"), "w2"),
    ("M013", current("gh_operator, gh_real, gh_write, w3, w7"), "w7"),
    ("M014", current(W3_WRITTEN, "gh_scalar, gh_real, gh_read, w3"), "w3"),
    ("M015", current(W3_WRITTEN, "gh_scalar, gh_real, gh_reduction"), "gh_reduction"),
    ("M015", of_2019("gh_field, gh_write, w3", "gh_real, gh_sum"), "gh_sum"),
    ("M016", current("gh_field, gh_real, gh_inc, wchi"), "gh_inc"),
    ("M017", current("gh_field, gh_real, gh_read, w3"), None),
    ("M018", current(W3_WRITTEN, "gh_scalar, gh_real, gh_write"), "gh_write"),
    ("M018", current(W3_WRITTEN, "gh_scalar_array, gh_real, gh_readwrite, 1"), "gh_readwrite"),
    ("M019", current(W1_INC, more="meta_funcs: func_type(w1)"), "func_type(w1)"),
    ("M019", current(W1_INC, more="meta_funcs: func_type(wl, gh_basis)"), "wl"),
    ("M019", current(W1_INC, more="meta_funcs: func_type(w1, gh_bases)"), "gh_bases"),
    ("M019", current(W1_INC, more="meta_funcs: func_type(w1, gh_basis, gh_basis)"), "gh_basis"),
    (
        "M020",
        current(W1_INC, more="meta_funcs: func_type(w2, gh_basis)\ngh_shape: gh_evaluator"),
        "w2",
    ),
    (
        "M021",
        current(W1_INC, more=f"{BASIS}, func_type(w1, gh_basis)\ngh_shape: gh_evaluator"),
        "w1",
    ),
    ("M022", current(W1_INC, more=BASIS), "meta_funcs"),
    ("M023", current(W1_INC, more="gh_shape: gh_quadrature_xyoz"), "gh_shape"),
    ("M024", current(W1_INC, more=f"{BASIS}\ngh_shape: gh_quadrature_xyz"), "gh_quadrature_xyz"),
    (
        "M024",
        current(W1_INC, more=f"{BASIS}\ngh_shape: gh_evaluator, gh_evaluator"),
        "gh_evaluator",
    ),
    ("M025", current(W1_INC, more="gh_evaluator_targets: w1"), "gh_evaluator_targets"),
    (
        "M025",
        current(W1_INC, more=f"{BASIS}\ngh_shape: gh_quadrature_face\ngh_evaluator_targets: w1"),
        "gh_evaluator_targets",
    ),
    ("M026", current(W1_INC, more=f"{EVALUATOR}gh_evaluator_targets: w2h"), "w2h"),
    (
        "M027",
        current(LMA_READ, f"{CMA}, gh_write, w2, w3", "gh_field, gh_integer, gh_read, w3"),
        "arg_type(gh_field, gh_integer, gh_read, w3)",
    ),
    (
        "M028",
        current(LMA_READ, f"{CMA}, gh_write, w2, w3", "gh_field*2, gh_real, gh_read, w3"),
        "arg_type(gh_field*2, gh_real, gh_read, w3)",
    ),
    (
        "M028",
        current(
            LMA_READ, f"{CMA}, gh_write, w2, w3", "gh_field, gh_real, gh_read, w3, stencil(x1d)"
        ),
        "arg_type(gh_field, gh_real, gh_read, w3, stencil(x1d))",
    ),
    (
        "M029",
        current(W3_WRITTEN, f"{CMA}, gh_read, w3, w3", f"{CMA}, gh_read, w2, w3"),
        f"arg_type({CMA}, gh_read, w3, w3)",
    ),
    ("M030", current(W3_WRITTEN, f"{CMA}, gh_read, w3, w3"), f"arg_type({CMA}, gh_read, w3, w3)"),
    (
        "M030",
        current(W3_WRITTEN, "gh_field, gh_real, gh_read, w0", f"{CMA}, gh_read, w3, w1"),
        "arg_type(gh_field, gh_real, gh_read, w0)",
    ),
    (
        "M030",
        current(W3_WRITTEN, "gh_field, gh_real, gh_read, w1", f"{CMA}, gh_read, w2, w1"),
        f"arg_type({W3_WRITTEN})",
    ),
    (
        "M031",
        current(LMA_READ, f"{CMA}, gh_write, w3, w3", f"{CMA}, gh_write, w2, w3"),
        f"arg_type({CMA}, gh_write, w2, w3)",
    ),
    ("M031", current(LMA_READ, W3_WRITTEN, f"{CMA}, gh_write, w2, w3"), f"arg_type({W3_WRITTEN})"),
    ("M032", current(f"{CMA}, gh_write, w2, w3"), f"arg_type({CMA}, gh_write, w2, w3)"),
    (
        "M033",
        current(LMA_READ, f"{CMA}, gh_read, w2, w3", f"{CMA}, gh_write, w2, w3"),
        f"arg_type({LMA_READ})",
    ),
    ("M034", current(COARSE), f"arg_type({COARSE})"),
    ("M035", current(COARSE, FINE, LMA_READ), f"arg_type({LMA_READ})"),
    ("M036", current(COARSE, FINE, W1_INC), f"arg_type({W1_INC})"),
    ("M037", current(COARSE, FINE.replace("_2", "_1")), f"arg_type({FINE.replace('_2', '_1')})"),
    (
        "M039",
        current(W1_INC, more="meta_mesh: mesh_data_type(adjacent_edge)"),
        "adjacent_edge",
    ),
    (
        "M040",
        current(
            W1_INC, more="meta_mesh: mesh_data_type(adjacent_face), mesh_data_type(ADJACENT_FACE)"
        ),
        "ADJACENT_FACE",
    ),
    (
        "M041",
        current(W1_INC, more="meta_mesh: mesh_data_type(normals_to_faces)"),
        "normals_to_faces",
    ),
    ("M042", current(W3_WRITTEN, on="cell_colum"), "cell_colum"),
    ("M042", current(W3_WRITTEN, on="dof, domain"), "operates_on"),
    ("M042", of_2019("gh_field, gh_write, w3").replace("cells", "dofs"), "dofs"),
    ("M043", current(W3_WRITTEN, LMA_READ, on="domain"), f"arg_type({LMA_READ})"),
    ("M043", current(W3_WRITTEN, LMA_READ, on="owned_dof"), f"arg_type({LMA_READ})"),
    ("M044", current(W3_WRITTEN, on="domain", more="gh_shape: gh_evaluator"), "gh_shape"),
    (
        "M045",
        current(
            W3_WRITTEN,
            on="dof",
            more="meta_reference_element: reference_element_data_type(normals_to_faces)",
        ),
        "meta_reference_element",
    ),
    (
        "M046",
        current(W3_WRITTEN, on="domain", more="meta_mesh: mesh_data_type(adjacent_face)"),
        "meta_mesh",
    ),
    (
        "M064",
        current("gh_field, gh_real, gh_write, w0", "gh_field, gh_real, gh_read, w3, cell_mask"),
        "arg_type(gh_field, gh_real, gh_write, w0)",
    ),
    ("M047", current(f"{W3_WRITTEN}, mesh_arg=gh_fine", on="domain"), None),
    ("M048", current("gh_field, gh_real, gh_write, w0", on="domain"), "w0"),
    (
        "M049",
        current(W3_WRITTEN, "gh_field, gh_real, gh_read, wtheta", on="dof"),
        "arg_type(gh_field, gh_real, gh_read, wtheta)",
    ),
    ("M060", current("gh_field, gh_write, w3"), "arg_type(gh_field, gh_write, w3)"),
    ("M060", current(W3_WRITTEN, "gh_real, gh_read"), "arg_type(gh_real, gh_read)"),
    ("M060", of_2019(W3_WRITTEN), f"arg_type({W3_WRITTEN})"),
    ("M060", of_2019("gh_field, gh_write, w3") + "operates_on: dof", None),
    ("M060", current(W1_INC, more="meta_funcs: func_type(w1, gh_orientation)"), "gh_orientation"),
    ("M061", current(f"{W3_WRITTEN}, nlevels=4"), "nlevels=4"),
    ("M062", "operates_on: dof", None),
    ("M062", f"meta_args: arg_type({W3_WRITTEN})", None),
    ("M063", current(W3_WRITTEN, more=f"meta_arg: arg_type({W3_WRITTEN})"), "meta_arg"),
]


@pytest.mark.parametrize(("code", "text", "place"), WRONG)
def test_every_rule_can_fail_at_its_place(code: str, text: str, place: str | None) -> None:
    found = problems(text)
    matching = [problem for problem in found if problem.code == code]
    assert matching, [str(problem) for problem in found]
    assert matching[0].span is not None
    if place is not None:
        assert place in [problem.span.text for problem in matching if problem.span]


@pytest.mark.parametrize(("code", "text"), [(code, text) for code, text, _ in WRONG])
def test_one_mistake_makes_one_rule_complain(code: str, text: str) -> None:
    assert {problem.code for problem in problems(text)} == {code}


def test_every_code_for_metadata_alone_is_used() -> None:
    assert {code for code in CODES if code.startswith("M0")} == {code for code, _, _ in WRONG}


def test_all_problems_are_raised_together() -> None:
    text = current("gh_feild, gh_real, gh_write, w3", "gh_field, gh_reel, gh_wirte, w9")
    assert [problem.code for problem in problems(text)] == ["M002", "M004", "M005", "M008"]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (current("gh_feild, gh_real, gh_write, w3"), "gh_field"),
        (current("gh_field, gh_real, gh_wirte, w3"), "gh_write"),
        (current("gh_field, gh_real, gh_write, wteta"), "wtheta"),
        (current("gh_field, gh_real, gh_read, w3, stencil(corss)"), "cross"),
        (current(W3_WRITTEN, on="cell_colum"), "cell_column"),
        (current(W1_INC, more=f"{BASIS}\ngh_shape: gh_quadrature_xyz"), "gh_quadrature_xyoz"),
    ],
)
def test_a_misspelt_word_is_recognised(text: str, hint: str) -> None:
    assert f"Did you mean '{hint}'?" in [problem.hint for problem in problems(text)]


def test_a_kernel_of_gocean_is_told_its_option() -> None:
    text = "meta_args: go_arg(go_read, go_ct, go_pointwise)\noperates_on: cell_column"
    hints = [problem.hint for problem in problems(text) if problem.code == "M001"]
    assert hints == ["Kernels of GOcean need '-api gocean'."]
