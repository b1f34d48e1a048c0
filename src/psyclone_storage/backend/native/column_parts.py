"""What a routine for columns does between two exchanges, as subroutines of typed code.

The arguments of each are what its statements name. On a device each loop is one, and what a thread
does of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from psyclone_storage.backend.c.helpers import RANDOM
from psyclone_storage.backend.meshes import abi
from psyclone_storage.backend.meshes.exact_sums import is_exact_sum
from psyclone_storage.backend.native.column_lines import is_computed
from psyclone_storage.backend.native.loops import LoopsFunction
from psyclone_storage.backend.native.ordering import in_order, never
from psyclone_storage.backend.native.threads import (
    MOST_SUMMING,
    MOST_THREADS,
    SharedLoop,
    begins_new,
    in_threads,
    without_directives,
)
from psyclone_storage.backend.numpy.spelling import plain
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.source import SourceText
from psyclone_storage.infrastructures.lfric import SINGLE
from psyclone_storage.ir.code import KernelCode, KernelModule
from psyclone_storage.ir.expr import (
    CallFunction,
    Expr,
    Name,
    Origin,
    Sort,
    Star,
    Symbol,
    walk,
)
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import expressions_of, rewritten, walk_lines
from psyclone_storage.ir.symbols import SymbolTable
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import (
    Assign,
    Call,
    Declare,
    Do,
    HoldData,
    Line,
    Routine,
)

_NOWHERE = SourceText("generated", "")
_OF_BASIS = 3
"""The least rank of an array of basis functions."""


@dataclass(frozen=True, slots=True)
class ComputedPart:
    """Statements that one function of C does, as a subroutine, and what they reduce to.

    What is `exact` is summed into without rounding. On a device, `shared` says how threads share
    them.
    """

    code: KernelCode
    reduced: tuple[str, ...]
    exact: tuple[str, ...] = ()
    shared: SharedLoop | None = None


@dataclass(frozen=True, slots=True)
class PlannedRoutine:
    """A routine before it is printed: its set-up, what it holds, and its parts for C."""

    routine: Routine
    before: tuple[Line, ...]
    held: HoldData | None
    parts: tuple[ComputedPart, ...]


def planned(
    routine: Routine, codes: Mapping[str, KernelCode], *, on_device: bool = False
) -> PlannedRoutine:
    """Return the parts of a routine; on a device threads share them."""
    before = tuple(line for line in routine.body if not isinstance(line, HoldData))
    held = next((line for line in routine.body if isinstance(line, HoldData)), None)
    parts: list[ComputedPart] = []
    data = frozenset(key_of(item.array) for item in held.items) if held else frozenset[str]()

    def collect(number: int, lines: tuple[Line, ...]) -> LoopsFunction:
        shared = None
        if on_device:
            names = NameTable(one.name for one in (*routine.dummies, *routine.variables))
            if any(_reduced(_assigned(lines), routine)):
                lines = without_directives(lines)
            most = MOST_SUMMING if _sums_exactly(lines, routine) else MOST_THREADS
            lines, shared = in_threads(lines, names, most)
        name = f"{routine.name}_{number}_loops"
        parts.append(_part(name, lines, routine, (codes, data), shared))
        return LoopsFunction("", "", ())

    if held is not None:
        in_order(held.body, collect, is_computed, apart=begins_new if on_device else never)
    return PlannedRoutine(routine, before, held, tuple(parts))


def _part(
    name: str,
    lines: tuple[Line, ...],
    routine: Routine,
    about: tuple[Mapping[str, KernelCode], frozenset[str]],
    shared: SharedLoop | None,
) -> ComputedPart:
    """Return statements as a subroutine, whose arguments are what they name.

    It is told `about` kernels, and which arrays have the values of data.
    """
    lines = rewritten(lines, _with_function)
    used = names_in(lines)
    known = {item.key: item for item in (*routine.dummies, *routine.variables)}
    assigned = tuple(dict.fromkeys(_assigned(lines)))
    reduced = tuple(_reduced(assigned, routine))
    exact = tuple(known[key].name for key in used if key in known and is_exact_sum(known[key]))
    declared = [replace(known[key_of(one)], attributes=("intent(inout)",)) for one in exact]
    for key in used:
        if key in known and key not in assigned and known[key].name not in exact:
            passed = 0 if key in about[1] else extents_of_table(known[key])
            declared += [_argument(known[key], passed, written=key in about[1])]
            declared += _extents(known[key], passed)
    if shared is not None:
        declared += [_number(shared.thread.text), _number(shared.count.text)]
    declared += [_plain(known[key]) for key in assigned]
    declared += [_result(known[key_of(one)]) for one in reduced]
    lines += tuple(Assign(Name(found_name(one)), Name(one)) for one in reduced)
    module = _module(routine.name, [about[0][key] for key in used if key in about[0]])
    dummies = tuple(item.name for item in declared if item.attributes)
    code = KernelCode(name, dummies, tuple(declared), lines, module)
    return ComputedPart(code, reduced, exact, shared)


def _reduced(assigned: Iterable[str], routine: Routine) -> Iterator[str]:
    """Yield the arguments among what is assigned: numbers are added in the order of loops."""
    own = {item.key: item.name for item in routine.dummies}
    for key in assigned:
        if key in own:
            yield own[key]


def _sums_exactly(lines: tuple[Line, ...], routine: Routine) -> bool:
    """Return whether statements add to digits, of which threads of a device have their own."""
    used = names_in(lines)
    return any(is_exact_sum(item) for item in routine.variables if item.key in used)


def _number(name: str) -> Declare:
    return Declare(name, ScalarType(Intrinsic.INTEGER), ("intent(in)",))


def _with_function(line: Line) -> tuple[Line, ...]:
    """Return an assignment for the call that asks for a pseudo-random number."""
    match line:
        case Call(Name(key="random_number"), (target,)):
            return (Assign(target, CallFunction(Name(RANDOM), ())),)
    return (line,)


def _module(name: str, called: list[KernelCode]) -> KernelModule:
    """Return a module that imports kernels."""
    symbols = {
        code.key: Symbol(
            code.key, code.key, Origin.IMPORTED, Sort.PROCEDURE, module=code.module.name
        )
        for code in called
    }
    place = _NOWHERE.whole()
    return KernelModule(name, place, place, symbols=SymbolTable(symbols))


def names_in(lines: tuple[Line, ...]) -> dict[str, None]:
    """Return the names in statements, in lower case, in the order of their appearance."""
    found: dict[str, None] = {}
    for line in walk_lines(lines):
        for expr in expressions_of(line):
            for part in walk(expr):
                if isinstance(part, Name):
                    found[part.key] = None
    return found


def _assigned(lines: Iterable[Line]) -> Iterator[str]:
    """Yield the scalars that statements assign or count."""
    for line in walk_lines(tuple(lines)):
        match line:
            case Do(variable=variable):
                yield variable.key
            case Assign(target=Name(key=key)):
                yield key


def _plain(item: Declare) -> Declare:
    return Declare(item.name, item.type)


def _argument(item: Declare, passed: int, *, written: bool) -> Declare:
    """Return the declaration of what a function is passed, the last extent open if it is not."""
    if not item.shape:
        return Declare(item.name, item.type, ("intent(in)",))
    intent = "intent(inout)" if written else "intent(in)"
    passed = max(passed, len(item.shape) - 1)
    extents: list[Expr] = [Name(extent_of(item, at)) for at in range(1, passed + 1)]
    extents += [Star()] * (len(item.shape) - passed)
    return Declare(item.name, item.type, (intent,), tuple(extents))


def _extents(item: Declare, passed: int) -> Iterator[Declare]:
    for at in range(1, max(passed + 1, len(item.shape))):
        yield _number(extent_of(item, at))


def extents_of_table(item: Declare) -> int:
    """Return how many extents of an array of the mesh are passed with it.

    The last one is open, but of basis functions: a kernel asks for the extents of those on a space
    that may be any.
    """
    is_real = isinstance(item.type, ScalarType) and item.type.intrinsic is Intrinsic.REAL
    rank = len(item.shape)
    return rank if is_real and rank >= _OF_BASIS else max(rank - 1, 0)


def extent_of(item: Declare, at: int) -> str:
    """Return what an extent of an array is called."""
    return f"{item.name}_n{at}"


def _result(item: Declare) -> Declare:
    return Declare(found_name(item.name), item.type, ("intent(inout)",))


def made_ready(routine: Routine) -> Iterator[str]:
    """Yield what makes arrays of numbers ready to be passed."""
    for item in routine.dummies:
        if item.shape and isinstance(item.type, ScalarType):
            type_ = "bool" if item.type.intrinsic is Intrinsic.LOGICAL else dtype_of(item)
            name, rank = plain(item.name), len(item.shape)
            yield f'{name} = {abi.SCALAR_ARRAY}({name}, "{type_}", {rank}, "{name}")'


def dtype_of(item: Declare) -> str:
    """Return the type of NumPy that values have which are declared so."""
    assert isinstance(item.type, ScalarType)
    if item.type.intrinsic is not Intrinsic.REAL:
        return "i4"
    return "f4" if item.type == SINGLE else "f8"


def found_name(name: str) -> str:
    """Return what a number is called that is being reduced to."""
    return f"{name}_found"
