"""The features of LFRic metadata and algorithms that the corpus must use, and where it uses them.

Contains the list of features, each with a pattern that recognises its use, and reads the corpus.
Patterns match text in lower case without blanks, comments and continuations; those named `raw`
match the original algorithm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from differential.statements import logical_lines

SPACES = (
    *("w0", "w1", "w2", "w2h", "w2v", "w2broken", "w2trace", "w2htrace", "w2vtrace"),
    *("w3", "wtheta", "wchi", "any_w2"),
    *(f"any_space_{number}" for number in range(1, 11)),
    *(f"any_discontinuous_space_{number}" for number in range(1, 11)),
)
STENCILS = ("x1d", "y1d", "xory1d", "cross", "cross2d", "region")
PROPERTIES = (
    *("normals_to_faces", "normals_to_horizontal_faces", "normals_to_vertical_faces"),
    *("outward_normals_to_faces", "outward_normals_to_horizontal_faces"),
    "outward_normals_to_vertical_faces",
)
OPERATES_ON = (
    *("cell_column", "owned_cell_column", "halo_cell_column", "owned_and_halo_cell_column"),
    *("domain", "dof", "owned_dof"),
)
FIELD_TYPES = (
    *("field_type", "integer_field_type", "r_solver_field_type", "r_tran_field_type"),
    *("r_bl_field_type", "operator_type", "r_solver_operator_type", "r_tran_operator_type"),
    "columnwise_operator_type",
)
BUILTINS = """
    x_plus_y inc_x_plus_y a_plus_x inc_a_plus_x ax_plus_y inc_ax_plus_y inc_x_plus_by ax_plus_by
    inc_ax_plus_by ax_plus_ay x_minus_y inc_x_minus_y a_minus_x inc_a_minus_x x_minus_a
    inc_x_minus_a ax_minus_y x_minus_by inc_x_minus_by ax_minus_by x_times_y inc_x_times_y
    inc_ax_times_y a_times_x inc_a_times_x x_divideby_y inc_x_divideby_y x_divideby_a
    inc_x_divideby_a a_divideby_x inc_a_divideby_x inc_x_powreal_a inc_x_powint_n setval_c setval_x
    setval_random x_innerproduct_y x_innerproduct_x sum_x minval_x maxval_x sign_x max_ax inc_max_ax
    min_ax inc_min_ax real_to_int_x real_to_real_x int_x_plus_y int_inc_x_plus_y int_a_plus_x
    int_inc_a_plus_x int_x_minus_y int_inc_x_minus_y int_a_minus_x int_inc_a_minus_x int_x_minus_a
    int_inc_x_minus_a int_x_times_y int_inc_x_times_y int_a_times_x int_inc_a_times_x int_setval_c
    int_setval_x int_sign_x int_max_ax int_inc_max_ax int_min_ax int_inc_min_ax int_to_real_x
""".split()

_FIELD = r"gh_field(?:\*\d+)?,gh_\w+"
_CONTINUOUS = r"(?:w[012]|w2h|w2trace|w2htrace|any_w2|any_space_\d+)\b"
_DISCONTINUOUS = r"(?:w3|wtheta|w2v|w2vtrace|w2broken|any_discontinuous_space_\d+)\b"

# Feature -> pattern in the metadata of the kernels that an algorithm calls.
METADATA: Mapping[str, str] = {
    **{f"field on {space}": rf"{_FIELD},gh_\w+,{space}\b" for space in SPACES},
    **{
        f"continuous field, {access}": rf"{_FIELD},gh_{access},{_CONTINUOUS}"
        for access in ("read", "write", "inc", "readinc")
    },
    **{
        f"discontinuous field, {access}": rf"{_FIELD},gh_{access},{_DISCONTINUOUS}"
        for access in ("read", "write", "readwrite")
    },
    **{
        f"field vector, {access}": rf"gh_field\*\d+,gh_real,gh_{access}"
        for access in ("read", "write", "readwrite", "inc")
    },
    "integer field": r"gh_field,gh_integer",
    "integer field vector": r"gh_field\*\d+,gh_integer",
    "integer field, inc": r"gh_field,gh_integer,gh_inc",
    **{f"{kind} scalar": rf"gh_scalar,gh_{kind}" for kind in ("real", "integer", "logical")},
    **{
        f"{kind} scalar array": rf"gh_scalar_array,gh_{kind}"
        for kind in ("real", "integer", "logical")
    },
    **{
        f"scalar array of rank {rank}": rf"gh_scalar_array,gh_\w+,gh_read,{rank}\)"
        for rank in (1, 2, 3)
    },
    **{
        f"operator, {access}": rf"gh_operator,gh_real,gh_{access}"
        for access in ("read", "write", "readwrite")
    },
    "operator between wildcards": r"gh_operator,gh_real,gh_\w+,any_space_\d+,any_space_\d+",
    "operator between discontinuous wildcards": r"gh_operator,gh_real,gh_\w+,any_discon",
    "several operators": r"gh_operator.*gh_operator.*gh_operator",
    "column-wise operator, assembly": r"(?=.*gh_operator,gh_real,gh_read)"
    r".*gh_columnwise_operator,gh_real,gh_(?:write|readwrite)",
    "column-wise operator, apply": r"gh_field,gh_real,gh_(?:write|inc).*"
    r"gh_columnwise_operator,gh_real,gh_read",
    "column-wise operator, matrix-matrix": r"gh_columnwise_operator,gh_real,gh_read.*"
    r"gh_columnwise_operator,gh_real,gh_readwrite",
    "column-wise operator, square": r"gh_columnwise_operator,gh_real,gh_\w+,(\w+),\1\)",
    "column-wise operator, rectangular": r"gh_columnwise_operator,gh_real,gh_\w+,(\w+),(?!\1\))",
    **{f"stencil {shape}": rf"stencil\({shape}\)" for shape in STENCILS},
    "stencil on a field vector": r"gh_field\*\d+,gh_real,gh_read,\w+,stencil",
    "stencil on an integer field": r"gh_field,gh_integer,gh_read,\w+,stencil",
    "stencil on a continuous field": rf"gh_read,{_CONTINUOUS},stencil",
    "stencil on wchi": r"gh_read,wchi,stencil",
    "several stencils in one kernel": r"stencil\(.*stencil\(.*stencil\(.*stencil\(",
    "stencil with a continuous result": rf"gh_inc,{_CONTINUOUS}\).*stencil",
    **{
        f"inter-grid to {mesh}, {kind}": rf"gh_(?:write|readwrite|inc),{spaces},mesh_arg=gh_{mesh}"
        for mesh in ("fine", "coarse")
        for kind, spaces in (("continuous", _CONTINUOUS), ("discontinuous", _DISCONTINUOUS))
    },
    "inter-grid field vector": r"gh_field\*\d+.*mesh_arg",
    "inter-grid integer field": r"gh_field,gh_integer,gh_read,\w+,mesh_arg",
    **{f"operates_on {where}": rf"operates_on={where}\b" for where in OPERATES_ON},
    "gh_basis": r"func_type\(\w+,gh_basis",
    "gh_diff_basis": r"func_type\(\w+,gh_diff_basis",
    "gh_basis and gh_diff_basis": r"func_type\(\w+,gh_basis,gh_diff_basis",
    "basis on any_space": r"func_type\(any_space_\d+,",
    "basis on any_discontinuous_space": r"func_type\(any_discontinuous_space_\d+,",
    "basis on any_w2": r"func_type\(any_w2,",
    "basis on trace spaces": r"func_type\(w2trace,.*func_type\(w2htrace,.*func_type\(w2vtrace,",
    **{
        f"gh_shape {shape}": rf"gh_shape=gh_{shape}\b"
        for shape in ("quadrature_xyoz", "quadrature_face", "quadrature_edge", "evaluator")
    },
    "two quadrature shapes": r"gh_shape\(2\)=\(/gh_quadrature_\w+,gh_quadrature",
    "evaluator and quadrature": r"gh_shape\(2\)=\(/gh_evaluator,gh_quadrature",
    "evaluator with targets": r"gh_evaluator_targets\(",
    "evaluator without targets": r"gh_shape=gh_evaluator\n(?!.*gh_evaluator_targets)",
    "evaluator for an operator": r"gh_operator,gh_real,gh_write.*gh_shape=gh_evaluator",
    **{
        f"reference element {name}": rf"reference_element_data_type\({name}\)"
        for name in PROPERTIES
    },
    "mesh adjacent_face": r"mesh_data_type\(adjacent_face\)",
    "reference element and mesh": r"reference_element_data_type\(.*mesh_data_type\(",
    "boundary conditions on a field": r"procedure,nopass::enforce_bc_code",
    "boundary conditions on an operator": r"procedure,nopass::enforce_operator_bc_code",
    "dof kernel with a vector": r"gh_field\*\d+.*operates_on=dof",
    "domain kernel with a vector": r"gh_field\*\d+.*operates_on=domain",
    "domain kernel with an integer field": r"gh_field,gh_integer.*operates_on=domain",
    "halo kernel with a stencil": r"stencil\(.*operates_on=owned_and_halo_cell_column",
    "halo kernel with a quadrature": r"operates_on=owned_and_halo_cell_column\n.*gh_shape",
    "halo kernel with an increment": r"gh_inc.*operates_on=halo_cell_column",
    "procedure renamed as code": r"procedure,nopass::code=>",
    "procedure not renamed": r"procedure,nopass::(?!code=>)",
    "generic interface": r"interface\w+\nmoduleprocedure",
    "square brackets": r"meta_args\(\d+\)=\[",
    "dimension attribute": r"dimension\(\d+\)::meta_args=",
    "two kernel types in a module": r"extends\(kernel_type\).*extends\(kernel_type\)",
}

# Feature -> pattern in the algorithm.
ALGORITHM: Mapping[str, str] = {
    **{f"built-in {name}": rf"(?<!\w){name}\(" for name in BUILTINS},
    **{f"type {name}": rf"type\({name}\)" for name in FIELD_TYPES},
    **{
        f"quadrature object, {shape}": rf"type\(quadrature_{shape}_type\)"
        for shape in ("xyoz", "face", "edge")
    },
    **{f"{kind} scalar actual": rf"\(kind={kind}\)" for kind in ("r_solver", "r_tran", "r_bl")},
    "generic kernel in three precisions": r"(scale_tracer_kernel_type\(\w+,\w+\),?){3}",
    "named invoke": r"invoke\([^\n]*name=",
    "name with the prefix": r"name=['\"]invoke_",
    "several invokes": r"callinvoke\([^\n]*\n(?:.*\n)?callinvoke\(",
    "ten calls or more": r"callinvoke\((?:[^\n]*?(?<!\w)\w+\((?:[^()]|\([^()]*\))*\)){10}",
    "literal with a kind": r"\d_r_def",
    "real literal without a kind": r"\d\.\d*[,)]",
    "negated literal": r",-\d",
    "expression of literals": r"\d_r_def[*+/]\d",
    "logical literal": r",\.true\.,",
    "integer literal with a kind": r",\d_i_def[,)]",
    "array element as field": r"setval_c\(\w+\(\d\)",
    "array element by variable": r"\(species\)",
    "array element by expression": r"\(n\+1\)",
    "structure member as field": r"\(\w+%\w+,",
    "nested structure member": r"\w+\(1\)%\w+%\w+",
    "field vector as a whole": r"field_type\),[^\n]*\(3\)(?:.*\n)+?.*_kernel_type\(",
    "extent, literal": r"laplacian_kernel_type\(\w+,\w+,\d+,",
    "extent, variable": r"upwind_tracer_kernel_type\(\w+,\w+,extent\)",
    "extent, array element": r"laplacian_kernel_type\(\w+,\w+,extents\(2\)",
    "extent, structure member": r",\w+%reach,",
    "direction, variable": r"sweep_line_kernel_type\(\w+,\w+,\w+,direction\)",
    "direction, x_direction": r",x_direction\)",
    "direction, y_direction": r",y_direction\)",
    "halo depth, literal": r"fill_halo_kernel_type\(\w+,[^,]+,\d\)",
    "halo depth, variable": r"fill_halo_kernel_type\(\w+,[^,]+,halo_depth\)",
    "program": r"^program\w+\n",
    "module subroutine": r"^module\w+\n(?:.*\n)*subroutine",
    "submodule": r"^submodule\(",
    "module subroutine in a submodule": r"\nmodulesubroutine",
    "module procedure body": r"\nmoduleproceduredamp",
    "function": r"\nfunction\w+\(",
    "type-bound procedure": r"class\(\w+\),intent\(inout\)::self(?:.*\n)+?.*callinvoke",
    "contained procedure": r"contains\n(?:.*\n)+contains\n(?:.*\n)+.*callinvoke",
    "subroutine outside a module": r"^subroutine\w+",
    "invoke in a logical if": r"\nif\(\w+\)callinvoke",
    "invoke in a loop": r"\ndo\w+=[^\n]*\n(?:.*\n)?.*callinvoke",
    "invoke in a select": r"\ncasedefault\n.*callinvoke",
    "invoke in an else": r"\nelse\w*\n.*callinvoke",
    "use without only": r"\nusefield_mod\n",
    "use of a kernel module without only": r"\nuselaplacian_kernel_mod\n",
    "renamed kernel type": r"only:\w+=>\w+_kernel_type",
    "use in a procedure": r"subroutine[^\n]*\nuse",
    "two statements on a line": r"callinvoke\([^\n]*\ncallinvoke\([^\n]*\ncallinvoke",
    "pointer to a field": r"type\(field_type\),pointer",
    "allocatable fields": r"type\(field_type\),allocatable",
    "dimension attribute of fields": r"type\(field_type\),dimension\(3\)",
}

# Feature -> pattern in the algorithm as it is written.
RAW: Mapping[str, str] = {
    "ampersands at both ends": r"&\s*\n\s*&",
    "comment after an ampersand": r"&\s*!",
    "comment between the calls": r",\s*&\s*\n\s*!.*\n",
    "blank line in a statement": r"&[^\n]*\n\s*\n\s+\w+\(",
    "upper case": r"CALL INVOKE\(",
    "mixed case": r"Laplacian_Kernel_type",
    "one name in several cases": r"\bWork\b(?:.|\n)*\bWORK\b",
    "directive": r"!DIR\$",
    "sentinel": r"\n\s*!\$ ",
    "invoke in a comment": r"!.*call invoke\(",
    "invoke in a string": r"'call invoke\(",
    "break within a call": r"_type\(\s*&\s*\n|_type\(\w+, *&\s*\n",
    "break before the list": r"call &\s*\n\s*invoke &",
}


@dataclass(frozen=True, slots=True)
class Corpus:
    """The texts of a folder of algorithms and their kernels.

    Attributes:
        algorithms: name -> text as written.
        kernels: module name -> text as written.
    """

    algorithms: Mapping[str, str]
    kernels: Mapping[str, str]


def read_corpus(folder: Path) -> Corpus:
    """Read the algorithms in `folder` and the kernels in its folder `kernels`."""
    algorithms = {path.stem: path.read_text() for path in sorted(folder.glob("*.x90"))}
    kernels = {path.stem: path.read_text() for path in sorted((folder / "kernels").glob("*.f90"))}
    return Corpus(algorithms, kernels)


def used_kernels(algorithm: str, corpus: Corpus) -> tuple[str, ...]:
    """Return the modules of the kernels that the text of an algorithm uses."""
    modules = re.findall(r"^\s*use\s+(\w+)", algorithm.lower(), re.MULTILINE)
    return tuple(module for module in modules if module in corpus.kernels)


def users_of_features(corpus: Corpus) -> dict[str, tuple[str, ...]]:
    """Return the algorithms that use each feature, by name."""
    kernels = {module: _specification(text) for module, text in corpus.kernels.items()}
    users: dict[str, list[str]] = {name: [] for name in (*METADATA, *ALGORITHM, *RAW)}
    for name, text in corpus.algorithms.items():
        called = [kernels[module] for module in used_kernels(text, corpus)]
        for feature in _features(text, called):
            users[feature].append(name)
    return {feature: tuple(names) for feature, names in users.items()}


@cache
def compact(text: str) -> str:
    """Return `text` as one statement per line: lower case, no blanks, no comments."""
    return "\n".join(line.replace(" ", "") for line in logical_lines(text))


def manifest(users: Mapping[str, tuple[str, ...]]) -> str:
    """Return the features and their users as tables for a reader."""
    parts = []
    for title, features in (("Metadata", METADATA), ("Algorithms", ALGORITHM), ("Style", RAW)):
        rows = [f"| {feature} | {_some(users[feature])} |" for feature in features]
        parts.append("\n".join((f"## {title}", "", "| feature | algorithms |", "|---|---|", *rows)))
    return "\n\n".join(parts) + "\n"


def _specification(kernel: str) -> str:
    """Return a kernel module from its first kernel type to its first procedure."""
    text = compact(kernel)
    return re.split(r"\ncontains\nsubroutine", text[text.index("extends(kernel_type)") :])[0]


def _features(algorithm: str, kernels: list[str]) -> Iterator[str]:
    flags = re.DOTALL
    for feature, pattern in METADATA.items():
        if any(re.search(pattern, kernel, flags) for kernel in kernels):
            yield feature
    text = compact(algorithm)
    for feature, pattern in ALGORITHM.items():
        if re.search(pattern, text):
            yield feature
    for feature, pattern in RAW.items():
        if re.search(pattern, algorithm):
            yield feature


def _some(names: tuple[str, ...]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"
