"""Printer of LFRic units as NumPy modules: invokes, and a function for each kernel.

Loops over cells call kernels, which process one column as in Fortran; built-ins are inlined.
`vectorize` determines which loops are vectorised. Threads, colours and tiles remain loops, executed
by one thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.source import SourceText
from psyclone_storage.infrastructures.lfric import SPACES_OF_LAYERS
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.expr import Expr, Member, Name, Range, Section
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import (
    everywhere,
    names_in,
    walk_lines,
    with_parts,
)
from psyclone_storage.ir.routine import KernelModule, Routine, specification_of
from psyclone_storage.ir.transfer import Held
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.languages.fortran.print.printer import InlinedProcedures
from psyclone_storage.targets.lfric_python import abi
from psyclone_storage.targets.lfric_python.runtime_values import EXTENTS_OF
from psyclone_storage.targets.native.parts import (
    PlannedRoutine,
    assigned_scalars,
    dtype_of,
    found_name,
    made_ready,
    names_in_order,
    reduced_names,
)
from psyclone_storage.targets.native.setup import vector_checks
from psyclone_storage.targets.native.statements import (
    is_computed,
    set_between,
    statement_groups,
)
from psyclone_storage.targets.numpy.expressions import UnsupportedError, python_identifier
from psyclone_storage.targets.numpy.kernel import name_of_reading, reading_of
from psyclone_storage.targets.numpy.local_arrays import array_definitions
from psyclone_storage.targets.numpy.statements import (
    ProcedureWriter,
    changed_scalars,
)
from psyclone_storage.targets.numpy.vectorize import ColumnFacts
from psyclone_storage.targets.python_host import (
    bracketed_list,
    called_words,
    emit_function,
    emit_module,
    head_of_held,
    indented_lines,
    lines_of,
    require_no_modules,
    with_own_names,
)

_NOWHERE = SourceText("generated", "")
_KINDS = {Intrinsic.REAL: "float", Intrinsic.INTEGER: "int", Intrinsic.LOGICAL: "bool"}


def emit_column_module(unit: un.Unit, inlined: InlinedProcedures) -> str:
    """Return the text of a module, ending in a newline.

    Raises:
        CompileError: G010, for each unsupported statement, or for bounds checks.
    """
    require_no_modules(unit)
    if inlined.bounds_checks and inlined.codes:
        message = "The target 'numpy' has no bounds checks, as BOUNDS_CHECKS asks for."
        raise CompileError(Diagnostic("G010", message, hint="Choose the target 'c' or 'cuda'."))
    codes = {code.key: code for code in inlined.codes}
    problems: list[Diagnostic] = []
    calls = [found for routine in unit.routines for found in _calls(routine, codes)]
    words = abi.RESERVED.union(routine.name for routine in unit.routines)
    words = words.union(code.name for code in inlined.codes)
    functions = [
        _function(_RoutineText(with_own_names(routine, words), codes, problems))
        for routine in unit.routines
    ]
    functions += [
        emit_kernel(code, [one for one in calls if one.key == code.key], problems)
        for code in inlined.codes
    ]
    if problems:
        raise CompileError(*problems)
    return emit_module(unit, functions, abi.MODULE, partial(called_words, sorted(abi.FOR_NUMPY)))


# ---------------------------------------------------------------------------- facts from calls


@dataclass(frozen=True, slots=True)
class KernelCalled:
    """A call of a kernel, with known facts about its arguments."""

    key: str
    facts: ColumnFacts
    ranks: tuple[int, ...]


def _calls(routine: un.GeneratedRoutine, codes: Mapping[str, Routine]) -> Iterator[KernelCalled]:
    held = next((line for line in routine.body if isinstance(line, un.HoldData)), None)
    before = {line.target.key: line.value for line in routine.body
              if isinstance(line, un.Assign) and isinstance(line.target, Name)}  # fmt: skip
    ranks = {item.key: len(item.shape) for item in (*routine.dummies, *routine.variables)}
    for line in walk_lines(held.body if held else ()):
        if held is None or not isinstance(line, un.Call) or not isinstance(line.procedure, Name):
            continue
        if (code := codes.get(line.procedure.key)) is not None:
            yield KernelCalled(
                code.key,
                _facts(code, line, held.items, before),
                tuple(_rank(one, ranks) for one in line.args),
            )


def _rank(actual: Expr, ranks: Mapping[str, int]) -> int:
    match actual:
        case Name(key=key):
            return ranks.get(key, 0)
        case Section(_, items):
            return sum(isinstance(one, Range) for one in items)
    return 0


def _facts(
    code: Routine, call: un.Call, items: tuple[Held, ...], before: Mapping[str, Expr]
) -> ColumnFacts:
    """Return the facts about a kernel's arguments at a call."""
    owners = {key_of(item.array): item for item in items}
    fields: list[tuple[str, str]] = []
    maps: list[tuple[str, str]] = []
    layers: set[str] = set()
    for dummy, actual in zip(code.dummy_keys, call.args, strict=True):
        match actual:
            case Name(key=key) if key in owners and owners[key].meant.startswith("field "):
                fields.append((dummy, _space(owners[key])))
            case Name(key=key) if isinstance(value := before.get(key), Member):
                if value.name == abi.LAYERS:
                    layers.add(dummy)
            case Section(Name(key=key), (Range(None, None, None), _)):
                match before.get(key):
                    case Member(Member(owner, "space"), abi.DOFMAP):
                        one = next((item for item in items if item.owner == owner), None)
                        if one is not None:
                            maps.append((dummy, _space(one)))
    pairs = {(field, map_) for field, first in fields for map_, second in maps
             if first and first == second}  # fmt: skip
    return ColumnFacts(frozenset(pairs), frozenset(layers))


def _space(item: Held) -> str:
    """Return the space of a field if each dof belongs to one layer, otherwise an empty text."""
    word = next((one for one in item.meant.split() if one.startswith("space=")), "")
    _, _, names = word.partition(":")
    return word if names and set(names.split(",")) <= SPACES_OF_LAYERS else ""


# ---------------------------------------------------------------------------- kernels


def emit_kernel(code: Routine, calls: list[KernelCalled], problems: list[Diagnostic]) -> list[str]:
    """Return a kernel as a NumPy function for its calls; unsupported statements are recorded."""
    facts = ColumnFacts(
        frozenset.intersection(*(one.facts.layered for one in calls)),
        frozenset.intersection(*(one.facts.layers for one in calls)),
    )
    dummies = [python_identifier(name, abi.NUMPY_WORDS) for name in code.dummies]
    changed = [dummies[at] for at in changed_scalars(code)]
    writer = ProcedureWriter(code, facts=facts, returned=tuple(changed), problems=problems)
    for name, ranks in zip(
        code.dummies, zip(*(one.ranks for one in calls), strict=True), strict=True
    ):
        declared = code.declared(name)
        if declared is not None and set(ranks) != {len(declared.shape)}:
            where = un.Comment("", place=code.place_of(name))
            writer.refuse(where, f"'{name}' is passed an array of another rank")
    opening: list[str] = []
    try:
        opening += array_definitions(writer)
    except UnsupportedError as error:
        writer.refuse(un.Blank(), str(error))
    lines, opening[:0] = reading_of(code, abi.NUMPY_WORDS)
    lines += bracketed_list(f"def {code.name}(", dummies, "):", "")
    ending = [writer.ending()] if changed else []
    return [*lines, *indented_lines([*opening, *writer.block(code.body), *ending])]


# ---------------------------------------------------------------------------- routines


@dataclass(slots=True)
class _RoutineText:
    """A routine being printed."""

    routine: un.GeneratedRoutine
    codes: Mapping[str, Routine]
    problems: list[Diagnostic]


def _function(text: _RoutineText) -> list[str]:
    routine = text.routine
    held = next((line for line in routine.body if isinstance(line, un.HoldData)), None)
    before = tuple(line for line in routine.body if not isinstance(line, un.HoldData))
    lines = [one for one in lines_of(before, {}) if one]
    if held is not None:
        lines = [
            *vector_checks(PlannedRoutine(routine, before, held, ())),
            *_scalars(text, held),
            *_readings(text),
            *lines,
            *head_of_held(held, {item.name: dtype_of(item) for item in routine.variables}),
            *indented_lines(_held_lines(text, held)),
        ]
    return emit_function(routine, lines)


def _readings(text: _RoutineText) -> Iterator[str]:
    """Yield the statements that read the module variables of kernels, and raise their errors."""
    for key in dict.fromkeys(one.key for one in _calls(text.routine, text.codes)):
        code = text.codes[key]
        if reading_of(code)[0]:
            yield f"{name_of_reading(code.name)}()"


def _scalars(text: _RoutineText, held: un.HoldData) -> Iterator[str]:
    """Yield statements that convert scalar arguments of loops to numbers."""
    routine = text.routine
    own = {key for item in held.items for key in names_in(item.owner)}
    lines = [line for line in held.body if is_computed(line)]
    used = names_in_order(tuple(lines)).keys()
    is_set = set_between(held) | set(map(key_of, _reduced(lines, routine)))
    yield from (f"{line}.{abi.VALUES}" for line in made_ready(routine))
    for item in routine.variables:
        for word in item.attributes:
            if word.startswith(EXTENTS_OF):
                array = python_identifier(word.removeprefix(EXTENTS_OF))
                yield f"{python_identifier(item.name)} = {array}.{abi.SHAPE}"
    for item in routine.dummies:
        if item.shape:
            continue
        if item.key in used - own - is_set and isinstance(item.type, ScalarType):
            name = python_identifier(item.name)
            kind = "single" if dtype_of(item) == "f4" else _KINDS[item.type.intrinsic]
            yield f'{name} = {abi.SCALAR}({name}, "{kind}")'


def _held_lines(text: _RoutineText, held: un.HoldData) -> Iterator[str]:
    """Yield the statements executed while data are acquired."""
    is_set = set_between(held)
    for in_numpy, part in statement_groups(held.body):
        if not in_numpy:
            yield from (one for one in lines_of(part, {}) if one)
            continue
        found = _reduced(part, text.routine)
        keys = set(map(key_of, found))
        is_set |= keys
        spelled = {item.key: item.name for item in text.routine.dummies}
        values = {key: Member(Name(spelled[key]), abi.VALUE) for key in is_set - keys}
        yield from _computed(text, everywhere(part, partial(_with_values, values)), keys)
        for name in map(python_identifier, found):
            yield f"{name}.{abi.VALUE} = {found_name(name)}"


def _reduced(lines: Iterable[un.Line], routine: un.GeneratedRoutine) -> tuple[str, ...]:
    """Return the arguments to which statements reduce."""
    return tuple(dict.fromkeys(reduced_names(assigned_scalars(lines), routine)))


def _with_values(values: Mapping[str, Expr], expr: Expr) -> Expr:
    if isinstance(expr, Name) and expr.key in values:
        return values[expr.key]
    return with_parts(expr, partial(_with_values, values))


def _computed(text: _RoutineText, part: tuple[un.Line, ...], found: set[str]) -> list[str]:
    """Return the lines of a computed part, with kernel calls."""
    routine = text.routine
    place = _NOWHERE.whole()
    code = Routine(
        routine.name,
        tuple(item.name for item in routine.dummies),
        specification_of((), (*routine.dummies, *routine.variables)),
        part,
        KernelModule(routine.name, place, place, is_python=True),
    )
    writer = ProcedureWriter(
        code, found=frozenset(found), kernels=text.codes, problems=text.problems
    )
    return writer.block(part)
