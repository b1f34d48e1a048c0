"""Algorithms of LFRic's corpus in two languages, as programs that make the same data and compute.

Owns what data an algorithm is called with: a function space for each field, such that all kernels
take it, and numbers that follow from ids of dofs. Left out are algorithms that need data of other
kinds than fields, operators and numbers of the default precision.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from command import run_command
from lfric_in_python import CORPUS, KERNELS, NO_FORM, kernels_of, read
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.config.load import load_settings
from psyclone_storage.config.locate import search_context
from psyclone_storage.infrastructures.lfric import OBJECT_TYPES, SIZES, is_wildcard
from psyclone_storage.ir.expr import Name, spell
from psyclone_storage.ir.kernel import ArgKind, MeshRole
from psyclone_storage.ir.parsed import ParsedAlgorithm
from psyclone_storage.ir.schedule import Datum, DatumRole, Program
from psyclone_storage.ir.types import DerivedType, Intrinsic, ScalarType
from psyclone_storage.ir.walk import kernel_calls
from psyclone_storage.pipeline.compile import Compiler, make_compiler
from psyclone_storage.pipeline.kernels import find_kernels, with_codes
from psyclone_storage.pipeline.request import CompileRequest
from runtime.twin_data import MAKING
from translated import translate, translate_columns

SPELLINGS = {"wchi": "Wchi", "wtheta": "Wtheta", "w2broken": "W2broken", "w2trace": "W2trace"}
TYPES = {one.name: one for one in OBJECT_TYPES.values()
         if one.kind is not ArgKind.SCALAR}  # fmt: skip
_OF_FACES = ", .true., .true., fine%get_reference_element(), &\nquadrature_rule_gaussian_type()"
RULES = {
    f"quadrature_{of}_type": (f"quadrature_{of}_type({points}{more})", f"{name}({points})")
    for of, name, points, more in (
        ("xyoz", "QuadratureXYoZ", 3, ", quadrature_rule_gaussian_type()"),
        ("face", "QuadratureFace", 2, _OF_FACES),
        ("edge", "QuadratureEdge", 2, _OF_FACES),
    )
}
"""How rules of quadrature are made in Fortran, and in Python."""
EXTENT = 2
SIDE = 4
"""How far the dimensions of arrays of numbers extend."""
SRC = Path(__file__).parents[2] / "src"
POSITIVE = 9.5
"""What is added to the values of reals, which else are from -9 to 9."""
EXCHANGES = "exchanges"
"""Under what name, behind that of an algorithm, stands how many exchanges of fields it makes."""
UNKNOWN_LENGTHS = "readinc_stencil_kernel"
"""A kernel with an array of its own whose length is known when it is called."""
WITHOUT_COLOURS = {"halo_blend_after_increment", "halo_cell_column_increment"}
"""Those with loops over halo cells alone that share dofs: they have no colours of their own."""
LEFT_OUT = {
    # The adversary for storages takes their plans for wrong, in Fortran, too.
    "dof_kernel_continuous",
    "dof_kernel_then_increment",
}


@dataclass
class Twin:
    """An algorithm: its data by name, with function spaces where they have some.

    The others are on the fine mesh.
    """

    name: str
    algorithm: ParsedAlgorithm
    data: dict[str, Datum]
    spaces: dict[tuple[str, str], str] = field(default_factory=dict)
    on_coarse: frozenset[str] = frozenset()


@cache
def twins() -> tuple[Twin, ...]:
    """Return the algorithms that both languages can run."""
    compilers = [_compiler(".x90"), _compiler(".py")]
    out = LEFT_OUT | NO_FORM
    names = [file.stem for file in sorted(CORPUS.glob("*.x90")) if file.stem not in out]
    found = [_twin(name, compilers) for name in names]
    return tuple(one for one in found if one is not None)


def _compiler(suffix: str) -> Compiler:
    settings = load_settings("", "", search_context({}))
    request = CompileRequest(api="lfric", directories=(KERNELS,), suffix=suffix)
    return make_compiler(settings, request)


def _twin(name: str, compilers: list[Compiler]) -> Twin | None:
    in_fortran, in_python = compilers
    algorithm = read(CORPUS / f"{name}.x90")
    called = find_kernels(algorithm, in_fortran.kernels)
    if called.problems or not algorithm.invokes:
        return None
    program, _ = in_fortran.planned(algorithm, called)
    data: dict[str, Datum] = {}
    for invoke in program.invokes:
        for datum in invoke.schedule.data:
            if not _is_plain(datum) or data.setdefault(datum.name, datum).type != datum.type:
                return None
    kernels = [call for one in program.invokes for call in kernel_calls(one.schedule)]
    if any(call.kernel.formula and call.kernel.formula.is_random for call in kernels):
        return None
    levels = _mesh_levels(program)
    if max(levels.values(), default=0) > 1:
        return None
    on_coarse = frozenset(name for name, level in levels.items() if level)
    twin = Twin(name, algorithm, data, on_coarse=on_coarse)
    try:
        with_codes(program, in_python.kernels, SIZES)
        return twin if _choose_spaces(twin, program) else None
    except CompileError:
        return None


def _mesh_levels(program: Program) -> dict[str, int]:
    """Return the meshes of fields that are on several, counted from the finest of their own."""
    calls = [call for one in program.invokes for call in kernel_calls(one.schedule)]
    levels: dict[str, int] = {}
    for _ in calls:
        for call in calls:
            on = {str(actual.datum): described.mesh is MeshRole.COARSE
                  for described, actual in zip(call.kernel.args, call.args, strict=True)
                  if described.kind is ArgKind.FIELD}  # fmt: skip
            if call.kernel.is_intergrid or on.keys() & levels.keys():
                known = [levels[name] - on[name] for name in on if name in levels]
                levels |= {name: (known or [0])[0] + on[name] for name in on}
    finest = min(levels.values(), default=0)
    return {name: level - finest for name, level in levels.items()}


def _is_plain(datum: Datum) -> bool:
    if not isinstance(datum.actual, Name):
        return False
    return isinstance(datum.type, ScalarType) or datum.type.name in (*TYPES, *RULES)


Key = tuple[str, ...]


class Spaces:
    """Which function spaces have to be one, and which of them have a name."""

    def __init__(self) -> None:
        self.above: dict[Key, Key] = {}
        self.named: list[tuple[Key, str]] = []
        self.discontinuous: list[Key] = []

    def top(self, key: Key) -> Key:
        """Return the key that stands for all that are one with `key`."""
        while key in self.above:
            key = self.above[key]
        return key

    def note(self, own: Key, wildcard: Key, is_shared: bool) -> None:
        """Note what metadata say of a datum; a wildcard is another space in each call.

        Where it `is_shared` columns have dofs of their own.
        """
        space = wildcard[-1]
        if not is_wildcard(space) and space != "any_w2":
            self.named.append((own, space))
            return
        first, second = self.top(own), self.top(wildcard)
        if first != second:
            self.above[first] = second
        if is_shared or space.startswith("any_discontinuous"):
            self.discontinuous.append(wildcard)
        if space == "any_w2":
            self.named.append((wildcard, "w2"))


def _choose_spaces(twin: Twin, program: Program) -> bool:
    """Choose a space for each field and side of an operator; say whether there is one."""
    found = Spaces()
    for number, invoke in enumerate(program.invokes):
        for call in kernel_calls(invoke.schedule):
            for described, actual in zip(call.kernel.args, call.args, strict=True):
                for side, space in enumerate(described.spaces if actual.datum else ()):
                    own = (str(actual.datum), str(side))
                    of_columns = described.kind is ArgKind.COLUMNWISE_OPERATOR
                    found.note(own, (str(number), call.uid, space), of_columns)
    names: dict[Key, set[str]] = {}
    for key, space in found.named:
        names.setdefault(found.top(key), set()).add(space)
    shared = {found.top(key) for key in found.discontinuous}
    sides = {ArgKind.FIELD: "0", ArgKind.OPERATOR: "01", ArgKind.COLUMNWISE_OPERATOR: "01"}
    for datum in twin.data.values():
        for side in sides.get(datum.kind or ArgKind.SCALAR, ""):
            key = found.top((datum.name, side))
            known = names.get(key, set())
            if len(known) > 1:
                return False
            twin.spaces[datum.name, side] = next(iter(known), "w3" if key in shared else "w0")
    return True


# ---------------------------------------------------------------------------- both languages


def in_fortran(found: Sequence[Twin]) -> str:
    """Return the module of the algorithms in Fortran."""
    uses: dict[str, None] = {}
    for twin in found:
        for name, (module, original) in kernels_of(twin.algorithm).items():
            rename = "" if name == original else f"{name} => "
            uses[f"  use {module}, only: {rename}{original}"] = None
    lines = ["module twins_alg_mod", *uses, *_USES, "contains"]
    for number, twin in enumerate(found):
        lines += _steps(twin, number)
        lines += [f"subroutine run_{number}()", *_declared(twin), *_made(twin)]
        lines += [
            "call reset_halo_statistics()",
            f"call steps_{number}({', '.join(twin.data)})",
            "exchanged = get_halo_statistics()",
            f"call report_scalar('{twin.name}/{EXCHANGES}', real(exchanged%exchanges, r_def))",
        ]
        lines += [
            f"call report_scalar('{twin.name}/{datum.name}', real({datum.name}, r_def))"
            for datum in _reduced(twin)
        ]
        for datum in _matrices(twin):
            lines += _reported(twin, datum)
        lines += ["call report_fields()", f"end subroutine run_{number}"]
    lines += ["subroutine run_all()", *(f"call run_{at}()" for at in range(len(found)))]
    lines += ["end subroutine run_all", "end module twins_alg_mod", ""]
    return "\n".join(lines)


def _steps(twin: Twin, number: int) -> Iterator[str]:
    """Yield a procedure that has the invokes of an algorithm, and is passed its data."""
    yield f"subroutine steps_{number}({', '.join(twin.data)})"
    yield from _declared(twin, ", intent(inout)")
    for invoke in twin.algorithm.invokes:
        calls = [
            f"{one.name}({', '.join(spell(arg.expr) for arg in one.args)})" for one in invoke.calls
        ]
        yield from ("call invoke( &", *(f"{one}, &" for one in calls[:-1]), f"{calls[-1]})")
    yield f"end subroutine steps_{number}"


_USES = (
    "  use constants_mod",
    "  use, intrinsic :: iso_fortran_env, only: real32",
    "  use field_mod, only: field_type, field_proxy_type",
    "  use halo_statistics_mod, only: get_halo_statistics, halo_statistics_type",
    "  use halo_statistics_mod, only: reset_halo_statistics",
    "  use field_real32_mod, only: field_real32_proxy_type",
    "  use integer_field_mod, only: integer_field_type",
    "  use columnwise_operator_mod, only: columnwise_operator_type, columnwise_operator_proxy_type",
    "  use operator_mod, only: operator_type, operator_proxy_type",
    "  use operator_real32_mod, only: operator_real32_proxy_type",
    "  use r_bl_field_mod, only: r_bl_field_type",
    "  use r_solver_field_mod, only: r_solver_field_type",
    "  use r_solver_operator_mod, only: r_solver_operator_type",
    "  use r_tran_field_mod, only: r_tran_field_type",
    "  use r_tran_operator_mod, only: r_tran_operator_type",
    "  use fs_continuity_mod",
    "  use flux_direction_mod, only: x_direction, y_direction",
    *(f"  use {name.removesuffix('_type')}_mod, only: {name}" for name in RULES),
    "  use quadrature_rule_gaussian_mod, only: quadrature_rule_gaussian_type",
    "  use function_space_collection_mod, only: function_space_collection",
    "  use constants_mod, only: r_solver",
    "  use world_mod, only: coarse, fine, new_field, report_columns, report_fields",
    "  use world_mod, only: report_operator, report_scalar",
    "  implicit none",
)
MAIN = """program main
  use constants_mod, only: i_def
  use lfric_mpi_mod, only: create_comm, destroy_comm, global_mpi, lfric_comm_type
  use twins_alg_mod, only: run_all
  use world_mod, only: close_answers, make_planes, open_answers
  implicit none
  type(lfric_comm_type) :: comm
  call create_comm(comm)
  call global_mpi%initialise(comm)
  call open_answers(int(global_mpi%get_comm_rank(), i_def), .false.)
  call make_planes('plane', .true., 3_i_def, 4_i_def)
  call run_all()
  call close_answers()
  call destroy_comm()
end program main
"""


def _reduced(twin: Twin) -> list[Datum]:
    return [one for one in twin.data.values() if one.kind is ArgKind.SCALAR and one.access.writes]


def _declared(twin: Twin, intent: str = "") -> Iterator[str]:
    for datum in twin.data.values():
        if isinstance(datum.type, ScalarType):
            extents = ", ".join([":" if intent else str(SIDE)] * datum.rank)
            shape = f"({extents})" if extents else ""
            yield f"{datum.type.intrinsic.value}({_kind(datum)}){intent} :: {datum.name}{shape}"
        else:
            shape = f"({datum.vector})" if datum.vector > 1 else ""
            yield f"type({datum.type.name}){intent} :: {datum.name}{shape}"
    if intent:
        return
    yield "type(operator_proxy_type) :: proxy_of_r_def_matrix"
    yield "type(field_proxy_type) :: proxy_of_r_def"
    yield "type(operator_real32_proxy_type) :: proxy_of_real32_matrix"
    yield "type(field_real32_proxy_type) :: proxy_of_real32"
    yield "type(columnwise_operator_proxy_type) :: proxy_of_columns"
    yield "integer(i_def) :: at_first, at_second, at_entry"
    yield "type(halo_statistics_type) :: exchanged"


def _made(twin: Twin) -> Iterator[str]:
    for number, datum in enumerate(twin.data.values()):
        if datum.kind is ArgKind.FIELD:
            for part in range(datum.vector):
                which = f"({part + 1})" if datum.vector > 1 else ""
                name = f"{twin.name}/{datum.name}{part}"
                space = _fortran(twin.spaces[datum.name, "0"])
                mesh = ", coarse" if datum.name in twin.on_coarse else ""
                given = f"{space}, '{name}', {number + part + 1}{mesh}"
                yield f"call new_field({datum.name}{which}, {given})"
                if _is_real(datum):
                    proxy = f"proxy_of_{_precision(datum)}"
                    yield f"{proxy} = {datum.name}{which}%get_proxy()"
                    yield f"{proxy}%data = {proxy}%data + {POSITIVE}_r_def"
        elif datum.kind is not None and datum.kind.is_operator:
            to, source = (_fortran(twin.spaces[datum.name, side]) for side in "01")
            spaces = ", ".join(
                f"function_space_collection%get_fs(fine, 0, 0, {one})" for one in (to, source)
            )
            yield f"call {datum.name}%initialise({spaces})"
            if datum.kind is ArgKind.OPERATOR:
                proxy = f"proxy_of_{_precision(datum)}_matrix"
                yield f"{proxy} = {datum.name}%get_proxy()"
                yield from (line.format(proxy=proxy, kind=_precision(datum)) for line in _MATRIX)
            else:
                yield f"proxy_of_columns = {datum.name}%get_proxy()"
                yield from _COLUMNS
        else:
            yield f"{datum.name} = {_value(datum, number, 'fortran')}"


_MATRIX = (
    "do at_second = 1, size({proxy}%local_stencil, 3)",
    "do at_first = 1, size({proxy}%local_stencil, 2)",
    "do at_entry = 1, size({proxy}%local_stencil, 1)",
    "{proxy}%local_stencil(at_entry, at_first, at_second) = &",
    "  0.1_{kind} * real(at_first + 2 * at_second, {kind})",
    "end do",
    "end do",
    "end do",
)


_COLUMNS = (
    "do at_second = 1, size(proxy_of_columns%columnwise_matrix, 2)",
    "do at_first = 1, size(proxy_of_columns%columnwise_matrix, 1)",
    "proxy_of_columns%columnwise_matrix(at_first, at_second, :) = &",
    "  0.125_r_solver * real(at_first + 2 * at_second, r_solver)",
    "end do",
    "end do",
)


def _matrices(twin: Twin) -> list[Datum]:
    """Return the operators that are changed."""
    every = twin.data.values()
    return [one for one in every if one.kind and one.kind.is_operator and one.access.writes]


def _reported(twin: Twin, datum: Datum) -> Iterator[str]:
    name = f"'{twin.name}/{datum.name}'"
    if datum.kind is ArgKind.OPERATOR:
        proxy = f"proxy_of_{_precision(datum)}_matrix"
        yield f"{proxy} = {datum.name}%get_proxy()"
        yield f"call report_operator({name}, real({proxy}%local_stencil, r_def))"
    else:
        yield f"proxy_of_columns = {datum.name}%get_proxy()"
        yield f"call report_columns({name}, proxy_of_columns%columnwise_matrix)"


def _is_real(datum: Datum) -> bool:
    """Return whether a field has reals: these are made positive, so that they have powers."""
    return "integer" not in str(datum.type)


def _kind(datum: Datum) -> str:
    """Return the kind of the values of a datum."""
    return str(_type(datum).kind)


def _type(datum: Datum) -> ScalarType:
    """Return the type of the values of a datum, with a kind."""
    defaults = {Intrinsic.REAL: "r_single", Intrinsic.INTEGER: "i_def", Intrinsic.LOGICAL: "l_def"}
    type_ = datum.type if isinstance(datum.type, ScalarType) else TYPES[datum.type.name].data
    return ScalarType(type_.intrinsic, type_.kind or defaults[type_.intrinsic])


def _precision(datum: Datum) -> str:
    """Return the kind that stands for the precision of real values."""
    return "real32" if SIZES[_kind(datum)] == 4 else "r_def"


def _fortran(space: str) -> str:
    return SPELLINGS.get(space, space.upper())


def _value(datum: Datum, number: int, language: str) -> str:
    if datum.role in (DatumRole.EXTENT, DatumRole.HALO_DEPTH):
        return str(EXTENT)
    if datum.role is DatumRole.QUADRATURE:
        assert isinstance(datum.type, DerivedType)
        return RULES[datum.type.name][language == "python"]
    assert isinstance(datum.type, ScalarType)
    if datum.rank:
        return _array(datum, language)
    match datum.type.intrinsic:
        case Intrinsic.INTEGER:
            return "2"
        case Intrinsic.LOGICAL:
            return ".true." if language == "fortran" else "True"
    kind = f"_{_kind(datum)}" if language == "fortran" else ""
    return f"0.{number + 3}{kind}"


def _array(datum: Datum, language: str) -> str:
    """Return an array whose elements differ, as an expression."""
    assert isinstance(datum.type, ScalarType)
    count, in_fortran_ = SIDE**datum.rank, language == "fortran"
    number, end = ("real(at_entry, r_def)", "_r_def") if in_fortran_ else ("float(n)", "")
    remainder = f"modulo(at_entry, {SIDE})" if in_fortran_ else f"n % {SIDE}"
    text = {
        Intrinsic.REAL: f"0.1{end} * {number}",
        Intrinsic.INTEGER: f"1 + {remainder}",
        Intrinsic.LOGICAL: f"{remainder} == 1",
    }[datum.type.intrinsic]
    if in_fortran_:
        return f"reshape([({text}, at_entry = 1, {count})], shape({datum.name}))"
    shape = (SIDE,) * datum.rank
    return f'np.reshape([{text} for n in range(1, {count + 1})], {shape}, order="F")'


def kernel_modules(found: Sequence[Twin]) -> list[str]:
    """Return the modules that have the kernels of the algorithms."""
    return sorted({module for twin in found for module, _ in kernels_of(twin.algorithm).values()})


def python_algorithm(found: Sequence[Twin], folder: Path) -> str:
    """Return the algorithms in Python, translated in a folder."""
    (folder / "twins_alg_mod.x90").write_text(in_fortran(found))
    made = folder / "translated.py"
    translate(folder / "twins_alg_mod.x90", made, "-d", str(KERNELS), api="lfric")
    return made.read_text()


def in_python(found: Sequence[Twin]) -> str:
    """Return the program that makes the data of the algorithms, runs these, and reports."""
    lines = [
        "import numpy as np",
        "from psyclone_storage.lfric import Result",
        "import twins",
        "from making import COARSE, EXCHANGED, MESH, VALUES",
        "from making import new_columns, new_datum, new_matrix, report_datum",
        "from psyclone_storage.runtime.lfric import QuadratureEdge, QuadratureFace, QuadratureXYoZ",
        "",
    ]
    for number, twin in enumerate(found):
        for at, datum in enumerate(twin.data.values()):
            lines.append(f"{datum.name} = {_in_python(twin, datum, at)}")
        lines += [
            "EXCHANGED[0] = 0",
            f"twins.steps_{number}({', '.join(twin.data)})",
            f'report_datum("{twin.name}/{EXCHANGES}", EXCHANGED[0])',
        ]
        lines += [
            f'report_datum("{twin.name}/{datum.name}", {datum.name})'
            for datum in (*_fields(twin), *_reduced(twin), *_matrices(twin))
        ]
    return "\n".join([*lines, "VALUES.close()", ""])


def with_fortran_kernels(text: str, translated: frozenset[str]) -> str:
    """Return an algorithm that calls the kernels of other modules where they are, in Fortran."""
    lines, kernels = [], ["from psyclone_storage.lfric import fortran_kernel"]
    for line in text.splitlines():
        match line.split():
            case ["from", module, "import", original, *renamed] if (
                module.endswith("_kernel_mod") and module not in translated
            ):
                name = renamed[-1] if renamed else original
                kernels.append(f'{name} = fortran_kernel("{KERNELS / module}.f90", "{original}")')
            case ["def", *_] if kernels:
                lines += [*kernels, "", "", line]
                kernels = []
            case _:
                lines.append(line)
    return "\n".join([*lines, ""])


def _fields(twin: Twin) -> list[Datum]:
    return [one for one in twin.data.values() if one.kind is ArgKind.FIELD]


def _in_python(twin: Twin, datum: Datum, number: int) -> str:
    if datum.kind is ArgKind.FIELD:
        kind = _kind(datum)
        space = twin.spaces[datum.name, "0"]
        mesh = "COARSE" if datum.name in twin.on_coarse else "MESH"
        return f'new_datum({mesh}.space("{space}"), {number + 1}, {datum.vector}, "{kind}")'
    if datum.kind is not None and datum.kind.is_operator:
        to, source = (twin.spaces[datum.name, side] for side in "01")
        if datum.kind is ArgKind.OPERATOR:
            return f'new_matrix("{to}", "{source}", "{_kind(datum)}")'
        return f'new_columns("{to}", "{source}")'
    return "Result()" if datum.access.writes else _value(datum, number, "python")


def program_in_python(
    found: Sequence[Twin], folder: Path, target: str, steps: str = "colour"
) -> list[str]:
    """Compile the corpus in Python for a target; return the words that run it."""
    write_in_python(found, folder)
    return compiled_in_python(folder, target, steps)


def write_in_python(found: Sequence[Twin], folder: Path) -> None:
    """Write the corpus in Python into a folder: the algorithms, the kernels, what runs them."""
    folder.mkdir(exist_ok=True)
    translated = translate_columns(folder, kernel_modules(found))
    text = with_fortran_kernels(python_algorithm(found, folder), translated)
    (folder / "corpus.py").write_text(text)
    (folder / "making.py").write_text(f"POSITIVE = {POSITIVE}\n{MAKING}")
    (folder / "run.py").write_text(in_python(found))


def compiled_in_python(
    folder: Path, target: str, steps: str = "colour", settings: str = ""
) -> list[str]:
    """Compile what a folder has for a target; return the words that run it."""
    words = ["corpus.py", "-api", "lfric", "-d", str(folder), "--target"]
    words += [target, "--apply", steps, "--config-opts"]
    words += [f"COMPUTE_ANNEXED_DOFS=false {settings}"]
    made = folder / target
    made.mkdir()
    for file in ("making.py", "run.py"):
        shutil.copy(folder / file, made)
    words += ["-oalg", f"{target}/twins.py", "-opsy", f"{target}/corpus_psy.py"]
    done = run_command(words, folder)
    assert done.status == 0, done.err
    path = f"PYTHONPATH={made}:{folder}:{SRC}"
    return ["env", path, sys.executable, str(made / "run.py")]


def with_known_lengths() -> list[Twin]:
    """Return those that have a form for a device as they are; those that NumPy has come first."""
    found = [
        one for one in twins()
        if UNKNOWN_LENGTHS not in str(one.algorithm.invokes) and one.name not in WITHOUT_COLOURS
    ]  # fmt: skip
    return sorted(found, key=_calls_fortran)


def for_numpy() -> list[Twin]:
    """Return those that NumPy can compute, those with reals of 4 bytes included."""
    return [one for one in with_known_lengths() if not _calls_fortran(one)]


def _calls_fortran(twin: Twin) -> bool:
    """Return whether kernels in Fortran compute with reals of 4 bytes."""
    invokes = str(twin.algorithm.invokes)
    return any(name in invokes for name in ("solver_residual", "transport_step"))
