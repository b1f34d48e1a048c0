"""C functions that Python calls for the parts of a routine, on host and device.

    void invoke_0_1(void *const *data, const double *reals, const int64_t *counts, ...)
    PSY_KERNEL void invoke_0_1_points(double *restrict p, ..., const int64_t nlayers, ...)

Both pass table entries to the subroutine of the part. On a device the second function is a kernel;
without a GPU, the first one calls it for one thread after another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.memo import kept_lately
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.ir.expr import Name
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.typing import CType
from psyclone_storage.languages.c import exact_sums
from psyclone_storage.languages.c.calls import CFunction
from psyclone_storage.languages.c.printer import function_text
from psyclone_storage.languages.c.variables import Parameter
from psyclone_storage.targets.gocean_python.scalar_types import VALUE_OF
from psyclone_storage.targets.lfric_python import abi
from psyclone_storage.targets.lfric_python.runtime_values import EXTENTS_OF
from psyclone_storage.targets.native.parts import (
    ComputedPart,
    PlannedRoutine,
    extent_of,
    found_name,
)
from psyclone_storage.targets.native.setup import ArgumentTables, threads_name
from psyclone_storage.targets.native.statements import set_between
from psyclone_storage.targets.native.thread_mapping import THREAD, SharedLoop, SharedPoints
from psyclone_storage.targets.numpy.expressions import python_identifier

_TABLES = ("void *const *data", "const double *reals", "const int64_t *counts")
"""What Python passes to each function: arrays, numbers and counts, by their positions."""
_STEP = "    "
_WIDTH = 100
_NONE = -1
_LETTERS = {"double": "d", "float": "f", "int32_t": "i"}


@dataclass(frozen=True, slots=True)
class ScalarArgument:
    """A scalar that Python passes with each call, and its name in C.

    It is an expression of the routine's arguments, or a variable of `module` by its key. `letter`
    is its type.
    """

    python: str
    name: str
    letter: str
    module: str = ""


@dataclass(frozen=True, slots=True)
class KernelArguments:
    """The arguments of a device kernel before the scalars.

    - `arrays`, `counts`, `reals`: positions in the tables.
    - `threads`, `colours`: positions of the number of threads (negative: one thread) and of
      colours, for each of which the kernel is launched.
    - `results`: types of reduction results, by letter; `x` denotes an exact sum.
    - `alone`: the kernel runs in a single thread.
    """

    arrays: tuple[int, ...]
    counts: tuple[int, ...]
    reals: tuple[int, ...]
    threads: int
    colours: int
    results: str
    alone: bool


@dataclass(frozen=True, slots=True)
class ExportedFunction:
    """A C function that Python calls: its name, its text and its scalar arguments.

    `results` are the types of reduction results, by letter. `launch` is set for a device.
    """

    name: str
    text: str
    scalars: tuple[ScalarArgument, ...]
    results: str = ""
    launch: KernelArguments | None = None

    @property
    def types(self) -> str:
        """The types of the arguments that Python passes, by letter."""
        return "".join(item.letter for item in self.scalars) + self.results


@dataclass(slots=True)
class _SortedArguments:
    """The arguments of a subroutine, grouped by source, and the passed expressions.

    `tables` maps a table name to arguments and their positions in the table.
    """

    parameters: tuple[Parameter, ...]
    tables: dict[str, list[tuple[Parameter, int]]] = field(default_factory=dict)
    results: list[Parameter] = field(default_factory=list)
    scalars: list[ScalarArgument] = field(default_factory=list)
    declared: list[str] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)
    pointers: dict[str, str] = field(default_factory=dict)
    threads: str = ""
    colour: str = ""

    def of_table(self, name: str) -> list[tuple[Parameter, int]]:
        """Return the arguments taken from a table."""
        return self.tables.get(name, [])

    def positions(self, name: str) -> tuple[int, ...]:
        """Return the positions of these arguments in the table."""
        return tuple(at for _, at in self.of_table(name))


def host_function(
    name: str, part: ComputedPart, function: CFunction, plan: PlannedRoutine, tables: ArgumentTables
) -> ExportedFunction:
    """Return the C function that Python calls, which passes table entries to a subroutine."""
    found = _sorted(part, function, plan, tables)
    passed = [
        f"({item.type.name} *)(intptr_t){item.name}"
        if item in found.results
        else _place(tables.places[item.key])
        if not item.module and item.key in tables.places
        else _pointer(text, found)
        for item, text in zip(found.parameters, found.passed, strict=True)
    ]
    declared = [*found.declared, *(f"int64_t {item.name}" for item in found.results)]
    lines = [
        function_text(function, "static "),
        *_wrapped(f"void {name}(", [*_TABLES, *declared], ")"),
        "{",
        *_wrapped(f"{_STEP}{function.name}(", passed, ");"),
        "}",
        "",
    ]
    return ExportedFunction(name, "\n".join(lines), tuple(found.scalars), "l" * len(found.results))


def device_function(
    name: str, part: ComputedPart, function: CFunction, plan: PlannedRoutine, tables: ArgumentTables
) -> ExportedFunction:
    """Return the device kernel of a part, and the function that launches it without a GPU."""
    found, how = _sorted(part, function, plan, tables), part.shared
    threads = colours = _NONE
    if isinstance(how, SharedLoop):
        threads = tables.count(threads_name(plan.parts.index(part) + 1))
        colours = tables.count(_counted(how)) if how.colours else _NONE
    own, given = _device_arguments(found, threads)
    remark = () if how else (f"{_STEP}/* The order of loops shows: one thread does all of it. */",)
    lines = [
        function_text(function, "static __device__ "),
        *_wrapped(f"PSY_KERNEL void {name}_points(", own, ")"),
        "{",
        *remark,
        *_done_by_thread(part, function, found),
        "}",
        "",
        "#ifdef PSY_ON_HOST",
        *_launching(name, found, (threads, colours), given, how),
        "#endif",
        "",
    ]
    launch = KernelArguments(
        found.positions("data"),
        found.positions("counts"),
        found.positions("reals"),
        threads,
        colours,
        "".join(_letter(item, part) for item in found.results),
        how is None,
    )
    results = "l" * len(found.results)
    return ExportedFunction(name, "\n".join(lines), tuple(found.scalars), results, launch)


def _done_by_thread(
    part: ComputedPart, function: CFunction, found: _SortedArguments
) -> Iterator[str]:
    """Yield the statements of one thread, guarded by its number."""
    if isinstance(part.shared, SharedPoints):
        yield from _wrapped(f"{_STEP}{function.name}(", found.passed, ");")
        return
    test = f"{THREAD} < {found.threads}" if part.shared else f"{THREAD} == 0"
    yield f"{_STEP}if ({test}) {{"
    # Where others sum exactly, too, a thread does into digits of its own.
    exact = {*map(key_of, part.exact)} if part.shared else set()
    names = NameTable(found.passed)
    digits = {item.name: names.fresh("digits") for item in found.results if item.key in exact}
    passed = [digits.get(text, text) for text in found.passed]
    for own in digits.values():
        yield f"{_STEP * 2}int64_t {own}[{exact_sums.LENGTH}] = {{0}};"
    yield from _wrapped(f"{_STEP * 2}{function.name}(", passed, ");")
    for name, own in digits.items():
        yield f"{_STEP * 2}{exact_sums.GIVING}({name}, {own});"
    yield f"{_STEP}}}"


def _letter(item: Parameter, part: ComputedPart) -> str:
    """Return the type letter of a reduction result."""
    if item.key in map(key_of, part.exact):
        return "x"
    return _letter_of(item.type)


def _letter_of(type_: CType) -> str:
    """Return the type letter of a scalar; logical values are integers."""
    return _LETTERS.get(type_.name, "i")


def _device_arguments(found: _SortedArguments, threads: int) -> tuple[list[str], list[str]]:
    """Return the parameters of a kernel, and the arguments that its launch passes."""
    own = [
        *(f"{_constant(item)}{item.type.name} *restrict {item.name}"
          for item, _ in found.of_table("data")),
        *(f"const int64_t {item.name}" for item, _ in found.of_table("counts")),
        *(f"const double {item.name}" for item, _ in found.of_table("reals")),
    ]  # fmt: skip
    given = [_place((table, at)) for table in ("data", "counts", "reals")
             for at in found.positions(table)]  # fmt: skip
    if threads != _NONE:
        own.append(f"const int64_t {found.threads}")
        given.append(_place(("counts", threads)))
    if found.colour:
        own.append(f"const int32_t {found.colour}")
        given.append(found.colour)
    own += [
        f"const {found.pointers[one.name]} *restrict {one.name}" if one.letter == "a" else text
        for one, text in zip(found.scalars, found.declared, strict=True)
    ]
    own += [f"{item.type.name} *{item.name}" for item in found.results]
    given += [_pointer(one.name, found) for one in found.scalars]
    given += [f"({item.type.name} *)(intptr_t){item.name}" for item in found.results]
    return own, given


def _pointer(name: str, found: _SortedArguments) -> str:
    """Return a scalar, or a pointer to an array whose address is passed as an integer."""
    type_ = found.pointers.get(name)
    return f"(const {type_} *)(intptr_t){name}" if type_ else name


def _launching(
    name: str,
    found: _SortedArguments,
    at: tuple[int, int],
    given: Iterable[str],
    how: SharedLoop | SharedPoints | None,
) -> list[str]:
    """Return the function that launches a kernel; for reductions it waits for the result."""
    threads, colours = at
    results = [f"int64_t {item.name}" for item in found.results]
    count = _place(("counts", threads)) if threads != _NONE else "1"
    launch = f"PSY_LAUNCH_LINE({count},"
    if isinstance(how, SharedPoints):
        launch = f"PSY_LAUNCH({_place(('counts', 0))}, {_place(('counts', 1))},"
    indent = _STEP
    lines = list(
        _wrapped(
            f"{'int32_t' if results else 'void'} {name}(",
            [*_TABLES, *found.declared, *results],
            ")",
        )
    )
    lines.append("{")
    if colours != _NONE:
        colour = found.colour
        end = _place(("counts", colours))
        lines.append(f"{indent}for (int32_t {colour} = 1; {colour} <= {end}; ++{colour})")
        indent *= 2
    lines.append(f"{indent}{launch}")
    lines += _wrapped(f"{indent}{_STEP}{name}_points(", given, "));")
    return [*lines, *([f"{_STEP}return 0;"] if results else []), "}"]


def _sorted(
    part: ComputedPart, function: CFunction, plan: PlannedRoutine, tables: ArgumentTables
) -> _SortedArguments:
    """Return the arguments of a subroutine grouped by source."""
    how = part.shared
    indices = how.indices if how else {}
    results = {key_of(one) for one in part.exact}
    results |= {key_of(found_name(one)) for one in part.reduced}
    found, arrays = _SortedArguments(_renamed(function)), _passed_arrays(plan)
    for item in found.parameters:
        text = item.name
        if item.module:
            found.scalars.append(_scalar_argument(item, item.key))
            text = f"&{item.name}"
        elif item.key in results:
            found.results.append(item)
        elif item.key in tables.places:
            table, at = tables.places[item.key]
            found.tables.setdefault(table, []).append((item, at))
        elif item.key in indices:
            text = indices[item.key]
        elif isinstance(how, SharedLoop) and item.key == how.count.key:
            found.threads = item.name
        elif isinstance(how, SharedLoop) and how.colour and item.key == how.colour.key:
            found.colour = item.name
        elif item.key in arrays:
            letter = "a" if item.is_array else _letter_of(item.type)
            found.scalars.append(ScalarArgument(arrays[item.key], item.name, letter))
            if item.is_array:
                found.pointers[item.name] = item.type.name
        else:
            found.scalars.append(_scalar_argument(item, _scalar(item.key, plan)))
        found.passed.append(text)
    kinds = {item.name: item.type.name for item in found.parameters}
    kinds |= dict.fromkeys(found.pointers, "int64_t")
    found.declared = [f"{kinds[one.name]} {one.name}" for one in found.scalars]
    return found


def _renamed(function: CFunction) -> tuple[Parameter, ...]:
    """Return the parameters of a function, renamed if they conflict with tables or functions."""
    taken = {function.name, *(declared.rpartition("*")[2] for declared in _TABLES)}
    names = NameTable((*taken, *(item.name for item in function.parameters)))
    return tuple(replace(item, name=names.fresh(item.name)) if item.name in taken else item
                 for item in function.parameters)  # fmt: skip


@kept_lately
def _passed_arrays(plan: PlannedRoutine) -> dict[str, str]:
    """Return the expressions that Python passes for C arguments that are not scalars, by key."""
    found: dict[str, str] = {}
    for item in plan.routine.dummies:
        name = python_identifier(item.name)
        if item.shape:
            found[item.key] = name
            for at in range(1, len(item.shape)):
                found[key_of(extent_of(item, at))] = f"{name}.{abi.SHAPE}[{at - 1}]"
    for item in plan.routine.variables:
        for word in item.attributes:
            if word.startswith(EXTENTS_OF):
                found[item.key] = (
                    f"{python_identifier(word.removeprefix(EXTENTS_OF))}.{abi.EXTENTS}"
                )
            elif word.startswith(VALUE_OF):
                found[item.key] = python_identifier(word.removeprefix(VALUE_OF))
    return found


def _scalar_argument(item: Parameter, text: str) -> ScalarArgument:
    return ScalarArgument(text, item.name, _letter_of(item.type), item.module)


def _place(found: tuple[str, int]) -> str:
    return f"{found[0]}[{found[1]}]"


def _constant(item: Parameter) -> str:
    return "const " if item.intent == "in" else ""


def _counted(how: SharedLoop) -> str:
    """Return the name of the number of colours for which a part is executed."""
    if not isinstance(how.colours, Name):
        raise InternalError("A loop over colours ends where no number of a mesh says.")
    return how.colours.text


def _scalar(key: str, plan: PlannedRoutine) -> str:
    """Return a passed scalar; for a scalar that the routine sets, the value in its result."""
    name = _spelled(key, plan)
    is_set = key in set_between(plan.held) or any(
        key_of(one) == key for part in plan.parts for one in part.reduced
    )
    return f"{name}.{abi.VALUE}" if is_set else name


def _spelled(key: str, plan: PlannedRoutine) -> str:
    """Return a routine argument in the routine's spelling."""
    return python_identifier(next(item.name for item in plan.routine.dummies if item.key == key))


def _wrapped(head: str, items: Iterable[str], end: str) -> Iterator[str]:
    """Yield a parenthesized list, broken into lines of limited length."""
    indent = head[: len(head) - len(head.lstrip())] + _STEP
    line = head
    texts = list(items)
    for number, item in enumerate(texts, 1):
        piece = f"{item}{end if number == len(texts) else ', '}"
        if len(line) + len(piece.rstrip()) > _WIDTH and line.strip():
            yield line.rstrip()
            line = indent
        line += piece
    yield line if texts else f"{head}{end}"
