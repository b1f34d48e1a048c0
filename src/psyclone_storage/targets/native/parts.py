"""Splitting of a routine into subroutines: the statements between two exchanges.

The arguments of a subroutine are the names used in its statements. On a device each loop is a
subroutine, executed by each thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.source import SourceText
from psyclone_storage.infrastructures.lfric import SINGLE
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import expressions_of, rewritten, walk_lines
from psyclone_storage.ir.routine import KernelModule, Routine, specification_of
from psyclone_storage.ir.symbols import SymbolTable
from psyclone_storage.ir.transfer import Held
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.languages.c.helpers import RANDOM
from psyclone_storage.targets.lfric_python import abi
from psyclone_storage.targets.lfric_python.exact_sums import is_exact_sum
from psyclone_storage.targets.native.statements import statement_groups
from psyclone_storage.targets.native.thread_mapping import SharedLoop, SharedPoints
from psyclone_storage.targets.numpy.expressions import python_identifier

_NOWHERE = SourceText("generated", "")
_OF_BASIS = 3
"""The least rank of an array of basis functions."""


Shared = SharedLoop | SharedPoints


@dataclass(frozen=True, slots=True)
class ComputedPart:
    """Statements executed by one C function, as a subroutine; `reduced` are its reductions.

    `exact` are exact sums. On a device, `shared` describes the distribution over threads.
    """

    code: Routine
    reduced: tuple[str, ...]
    exact: tuple[str, ...] = ()
    shared: Shared | None = None


@dataclass(frozen=True, slots=True)
class PlannedRoutine:
    """A routine before printing: its set-up, its acquired data and its parts for C."""

    routine: un.GeneratedRoutine
    before: tuple[un.Line, ...]
    held: un.HoldData | None
    parts: tuple[ComputedPart, ...]


ShareAmongThreads = Callable[
    [tuple[un.Line, ...], un.GeneratedRoutine, Mapping[str, Routine]],
    tuple[tuple[un.Line, ...], Shared | None],
]
"""Returns what one thread does of statements, and how threads share them; None for one alone."""


def planned(
    routine: un.GeneratedRoutine,
    codes: Mapping[str, Routine],
    intent_of: Callable[[Held], str],
    share: ShareAmongThreads | None = None,
) -> PlannedRoutine:
    """Return the parts of a routine; on a device `share` distributes them over threads."""
    before = tuple(line for line in routine.body if not isinstance(line, un.HoldData))
    held = next((line for line in routine.body if isinstance(line, un.HoldData)), None)
    if held is None:
        return PlannedRoutine(routine, before, None, ())
    intents = {key_of(item.array): intent_of(item) for item in held.items}
    known = {item.key: item for item in (*routine.dummies, *routine.variables)}
    parts: list[ComputedPart] = []
    for in_c, group in statement_groups(held.body, apart=share is not None):
        if not in_c:
            continue
        lines, shared = share(group, routine, codes) if share else (group, None)
        name = f"{routine.name}_{len(parts) + 1}_loops"
        parts.append(_part(name, lines, routine, (codes, intents, known), shared))
    return PlannedRoutine(routine, before, held, tuple(parts))


def _part(
    name: str,
    lines: tuple[un.Line, ...],
    routine: un.GeneratedRoutine,
    about: tuple[Mapping[str, Routine], Mapping[str, str], Mapping[str, un.Declare]],
    shared: Shared | None,
) -> ComputedPart:
    """Return statements as a subroutine whose arguments are the names used in them.

    `about` are the kernels, the intents of data arrays, and the routine's declarations by key.
    """
    lines = rewritten(lines, _with_function)
    known = about[2]
    used = names_in_order(lines)
    used |= dict.fromkeys(one for key in used if key in known for one in _extent_keys(known[key]))
    assigned = tuple(dict.fromkeys(assigned_scalars(lines)))
    reduced = tuple(reduced_names(assigned, routine))
    exact = tuple(known[key].name for key in used if key in known and is_exact_sum(known[key]))
    declared = [replace(known[key_of(one)], attributes=("intent(inout)",)) for one in exact]
    for key in used:
        if key in known and key not in assigned and known[key].name not in exact:
            passed = 0 if key in about[1] else extents_of_table(known[key])
            declared += [_argument(known[key], passed, about[1].get(key, "in"))]
            declared += _extents(known[key], passed)
    if shared is not None:
        declared += [_number(name.text) for name in shared.arguments]
    declared += [_plain(known[key]) for key in assigned]
    declared += [_result(known[key_of(one)]) for one in reduced]
    lines += tuple(un.Assign(ex.Name(found_name(one)), ex.Name(one)) for one in reduced)
    module = _module(routine.name, [about[0][key] for key in used if key in about[0]])
    dummies = tuple(item.name for item in declared if item.attributes)
    code = Routine(name, dummies, specification_of((), declared), lines, module)
    return ComputedPart(code, reduced, exact, shared)


def reduced_names(assigned: Iterable[str], routine: un.GeneratedRoutine) -> Iterator[str]:
    """Yield the arguments among the assigned variables: the reduction results."""
    keys = tuple(assigned)
    own = {item.key: item.name for item in routine.dummies} if keys else {}
    for key in keys:
        if key in own:
            yield own[key]


def _number(name: str) -> un.Declare:
    return un.Declare(name, ScalarType(Intrinsic.INTEGER), ("intent(in)",))


def _with_function(line: un.Line) -> tuple[un.Line, ...]:
    """Return an assignment instead of a call that requests a pseudo-random number."""
    match line:
        case un.Call(ex.Name(key="random_number"), (target,)):
            return (un.Assign(target, ex.CallFunction(ex.Name(RANDOM), ())),)
    return (line,)


def _module(name: str, called: list[Routine]) -> KernelModule:
    """Return a module that imports kernels."""
    symbols = {
        code.key: ex.Symbol(
            code.key, code.key, ex.Origin.IMPORTED, ex.Sort.PROCEDURE, module=code.module.name
        )
        for code in called
    }
    place = _NOWHERE.whole()
    return KernelModule(name, place, place, symbols=SymbolTable(symbols), is_python=True)


def names_in_order(lines: tuple[un.Line, ...]) -> dict[str, None]:
    """Return the keys of the names in statements, in order of appearance."""
    found: dict[str, None] = {}
    for line in walk_lines(lines):
        for expr in expressions_of(line):
            for part in ex.walk(expr):
                if isinstance(part, ex.Name):
                    found[part.key] = None
    return found


def assigned_scalars(lines: Iterable[un.Line]) -> Iterator[str]:
    """Yield the scalars that statements assign or count."""
    for line in walk_lines(tuple(lines)):
        match line:
            case un.Do(variable=variable):
                yield variable.key
            case un.Assign(target=ex.Name(key=key)):
                yield key


def _plain(item: un.Declare) -> un.Declare:
    return un.Declare(item.name, item.type)


def _argument(item: un.Declare, passed: int, intent: str) -> un.Declare:
    """Return the declaration of an argument; its last extent is assumed if not passed."""
    if not item.shape:
        return un.Declare(item.name, item.type, ("intent(in)",))
    shape = item.shape
    if not has_extents(item):
        passed = max(passed, len(shape) - 1)
        shape = tuple(ex.Name(extent_of(item, at)) for at in range(1, passed + 1))
        shape += (ex.Star(),) * (len(item.shape) - passed)
    return un.Declare(item.name, item.type, (f"intent({intent})",), shape)


def has_extents(item: un.Declare) -> bool:
    """Return whether an array is declared with explicit extents."""
    return not any(isinstance(one, ex.Range) for one in item.shape)


def _extent_keys(item: un.Declare) -> Iterator[str]:
    """Yield the keys of the variables that are extents of an array."""
    yield from (one.key for one in item.shape if isinstance(one, ex.Name))


def _extents(item: un.Declare, passed: int) -> Iterator[un.Declare]:
    """Yield the arguments for extents that are not variables of the routine."""
    if has_extents(item):
        return
    for at in range(1, max(passed + 1, len(item.shape))):
        yield _number(extent_of(item, at))


def extents_of_table(item: un.Declare) -> int:
    """Return the number of extents passed with an array of the mesh.

    The last one is not passed, except for basis functions: kernels need all their extents on
    wildcard spaces.
    """
    is_real = isinstance(item.type, ScalarType) and item.type.intrinsic is Intrinsic.REAL
    rank = len(item.shape)
    return rank if is_real and rank >= _OF_BASIS else max(rank - 1, 0)


def extent_of(item: un.Declare, at: int) -> str:
    """Return the name of an extent of an array."""
    return f"{item.name}_n{at}"


def _result(item: un.Declare) -> un.Declare:
    return un.Declare(found_name(item.name), item.type, ("intent(inout)",))


def made_ready(routine: un.GeneratedRoutine) -> Iterator[str]:
    """Yield statements that prepare scalar arrays for passing to C."""
    for item in routine.dummies:
        if item.shape and isinstance(item.type, ScalarType):
            type_ = "bool" if item.type.intrinsic is Intrinsic.LOGICAL else dtype_of(item)
            name, rank = python_identifier(item.name), len(item.shape)
            yield f'{name} = {abi.SCALAR_ARRAY}({name}, "{type_}", {rank}, "{name}")'


def dtype_of(item: un.Declare) -> str:
    """Return the NumPy type code of a declared variable."""
    assert isinstance(item.type, ScalarType)
    if item.type.intrinsic is not Intrinsic.REAL:
        return "i4"
    return "f4" if item.type == SINGLE else "f8"


def found_name(name: str) -> str:
    """Return the name of the variable with a reduction result."""
    return f"{name}_found"
