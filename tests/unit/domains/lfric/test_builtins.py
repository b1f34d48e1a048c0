"""Built-ins: the notation, the table, and its agreement with PSyclone's own metadata."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.domains.lfric.builtins import builtin, builtin_names
from psyclone_storage.domains.lfric.formulas import read_definition
from psyclone_storage.ir.expr import Name, spell, walk
from psyclone_storage.ir.kernel import Access, ArgKind, Iteration, Kernel, ReductionOp
from psyclone_storage.ir.types import Intrinsic

BUILTIN_NAMES = builtin_names()
OF_2019 = """
    X_plus_Y inc_X_plus_Y aX_plus_Y inc_aX_plus_Y inc_X_plus_bY aX_plus_bY inc_aX_plus_bY X_minus_Y
    inc_X_minus_Y aX_minus_Y X_minus_bY inc_X_minus_bY X_times_Y inc_X_times_Y inc_aX_times_Y
    a_times_X inc_a_times_X X_divideby_Y inc_X_divideby_Y inc_X_powreal_a inc_X_powint_n setval_c
    setval_X X_innerproduct_Y X_innerproduct_X sum_X
""".split()


def found(name: str) -> Kernel:
    """Return a built-in that must exist."""
    kernel = builtin(name)
    assert kernel is not None
    return kernel


def written(kernel: Kernel) -> list[str]:
    """Return the letters of the arguments that a built-in writes."""
    assert kernel.formula
    letters = zip(kernel.formula.letters, kernel.args, strict=True)
    return [letter for letter, arg in letters if arg.access.writes]


def test_both_generations_are_complete() -> None:
    assert len(BUILTIN_NAMES) == len(set(BUILTIN_NAMES)) == 70
    assert len(OF_2019) == 26
    assert set(OF_2019) <= set(BUILTIN_NAMES)


def test_names_are_found_in_any_case_and_unknown_ones_are_not() -> None:
    assert builtin("INC_x_PLUS_y") == builtin("inc_X_plus_Y")
    assert found("setval_C").name == "setval_c"
    assert builtin("x_plus_z") is None


@pytest.mark.parametrize(
    ("name", "value", "accesses"),
    [
        ("X_plus_Y", "X + Y", "write read read"),
        ("inc_aX_plus_bY", "a * X + b * Y", "read readwrite read read"),
        ("aX_plus_aY", "a * (X + Y)", "write read read read"),
        ("a_divideby_X", "a / X", "write read read"),
        ("inc_X_divideby_a", "X / a", "readwrite read"),
        ("inc_X_powint_n", "X ** n", "readwrite read"),
        ("setval_random", "random_number()", "write"),
        ("int_sign_X", "sign(a, X)", "write read read"),
        ("real_to_int_X", "int(X, kind=kind(Y))", "write read"),
        ("X_innerproduct_X", "X * X", "reduction read"),
    ],
)
def test_value_and_accesses(name: str, value: str, accesses: str) -> None:
    kernel = found(name)
    assert kernel.formula
    assert spell(kernel.formula.value) == value
    assert [arg.access.value for arg in kernel.args] == accesses.split()


@pytest.mark.parametrize("name", BUILTIN_NAMES)
def test_every_builtin_is_well_formed(name: str) -> None:
    kernel = found(name)
    formula = kernel.formula
    assert formula
    assert kernel.is_builtin
    assert len(written(kernel)) == 1
    assert any(arg.kind is ArgKind.FIELD for arg in kernel.args)
    assert {arg.space for arg in kernel.args if arg.kind is ArgKind.FIELD} == {"any_space_1"}
    used = {part.text for part in walk(formula.value) if isinstance(part, Name)}
    unused = set(formula.letters) - used
    assert unused <= set(written(kernel))


def test_an_incremented_field_is_the_one_that_the_name_increments() -> None:
    for name in BUILTIN_NAMES:
        kernel = found(name)
        reads_what_it_writes = any(arg.access is Access.READWRITE for arg in kernel.args)
        assert reads_what_it_writes == ("inc_" in name)


def test_reductions_carry_their_operation() -> None:
    operations = {
        name: formula.reduction
        for name in BUILTIN_NAMES
        if (formula := found(name).formula) and formula.reduction
    }
    assert operations == {
        "X_innerproduct_Y": ReductionOp.SUM,
        "X_innerproduct_X": ReductionOp.SUM,
        "sum_X": ReductionOp.SUM,
        "minval_X": ReductionOp.MIN,
        "maxval_X": ReductionOp.MAX,
    }


def test_only_conversions_mix_the_types_of_fields() -> None:
    mixed = {
        name
        for name in BUILTIN_NAMES
        if len({arg.intrinsic for arg in found(name).args if arg.kind is ArgKind.FIELD}) > 1
    }
    assert mixed == {"real_to_int_X", "int_to_real_X"}


def test_one_built_in_takes_random_numbers() -> None:
    formulas = {name: builtin(name).formula for name in builtin_names()}  # type: ignore[union-attr]
    assert [name for name, item in formulas.items() if item and item.is_random] == ["setval_random"]


def test_a_random_number_is_drawn_for_owned_dofs_only() -> None:
    owned = {name for name in BUILTIN_NAMES if found(name).iteration is Iteration.OWNED_DOF}
    assert owned == {"setval_random"}


@pytest.mark.parametrize(
    "line", ["no brackets: X = Y", "nothing(X) X = Y", "strange(X): X = Y if a else X"]
)
def test_a_broken_line_of_the_table_is_our_own_defect(line: str) -> None:
    with pytest.raises(InternalError):
        read_definition(line, Intrinsic.REAL)


PSYCLONE_TYPE = re.compile(
    r"extends\(kernel_type\) :: (?P<name>\w+)(?P<body>.*?)end type", re.DOTALL | re.IGNORECASE
)
PSYCLONE_ARG = re.compile(r"arg_type\(\s*(.*?)\s*\)", re.DOTALL)


def psyclone_metadata() -> dict[str, tuple[str, list[list[str]]]]:
    """Read name, iteration and argument entries of every built-in that PSyclone defines."""
    psyclone = pytest.importorskip("psyclone")
    path = Path(psyclone.__file__).parent / "parse" / "lfric_builtins_mod.f90"
    text = re.sub(r"!.*", "", path.read_text(encoding="utf-8")).replace("&", "")
    found_types = {}
    for match in PSYCLONE_TYPE.finditer(text):
        iteration = re.search(r"operates_on = (\w+)", match["body"])
        assert iteration
        entries = [
            [word.strip().lower() for word in entry.split(",")]
            for entry in PSYCLONE_ARG.findall(match["body"].partition("(/")[2])
        ]
        found_types[match["name"]] = (iteration[1].lower(), entries)
    return found_types


@pytest.mark.differential
def test_metadata_agrees_with_psyclone() -> None:
    theirs = psyclone_metadata()
    ours = {}
    for name in BUILTIN_NAMES:
        kernel = found(name)
        entries = [
            [*(f"gh_{word.value}" for word in (arg.kind, arg.intrinsic, arg.access)), *arg.spaces]
            for arg in kernel.args
        ]
        ours[name] = (kernel.iteration.value, entries)
    assert ours == theirs
