"""The functions that Python calls for the parts of a routine, on the host and on a device.

    void invoke_0_1(void *const *data, const double *reals, const int64_t *counts, ...)
    PSY_KERNEL void invoke_0_1_points(double *restrict p, ..., const int64_t nlayers, ...)

Both pass what is in tables to the subroutine that a part is. On a device the second is a kernel; on
a machine without a GPU the first launches it, thread after thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from psyclone_storage.backend.c import exact_sums
from psyclone_storage.backend.c.calls import CFunction
from psyclone_storage.backend.c.printer import function_text
from psyclone_storage.backend.c.variables import Parameter
from psyclone_storage.backend.meshes import abi
from psyclone_storage.backend.meshes.parts import EXTENTS_OF
from psyclone_storage.backend.native.column_lines import set_between
from psyclone_storage.backend.native.column_parts import (
    ComputedPart,
    PlannedRoutine,
    extent_of,
    found_name,
)
from psyclone_storage.backend.native.column_setup import ColumnTables, places_of, threads_name
from psyclone_storage.backend.native.loops import (
    ENTRY,
    LoopsFunction,
    ScalarArgument,
    letter_of,
    wrapped,
)
from psyclone_storage.backend.numpy.spelling import plain
from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.ir.expr import Name
from psyclone_storage.ir.keys import key_of

_THREAD = "blockIdx.x * blockDim.x + threadIdx.x"
_NONE = -1


@dataclass(frozen=True, slots=True)
class ColumnsLaunch:
    """What a kernel of a device is passed: positions in the tables, in order, before the scalars.

    `threads` and `colours` are positions of numbers: of how many threads there are, one if that is
    below 0, and of how many colours, for each of which it is launched. `results` are the types, by
    letter, of what it reduces to, `x` for the digits of an exact sum.
    """

    arrays: tuple[int, ...]
    counts: tuple[int, ...]
    threads: int
    colours: int
    results: str

    @property
    def text(self) -> str:
        """What Python is told."""
        return f'{self.arrays}, {self.counts}, {self.threads}, {self.colours}, "{self.results}"'


@dataclass(frozen=True, slots=True)
class ColumnsFunction:
    """One function that Python calls, and on a device how it is launched."""

    function: LoopsFunction
    launch: ColumnsLaunch | None = None


@dataclass(slots=True)
class _SortedArguments:
    """The arguments of a subroutine by where they come from, and what each is passed."""

    arrays: list[tuple[Parameter, int]] = field(default_factory=list)
    counts: list[tuple[Parameter, int]] = field(default_factory=list)
    results: list[Parameter] = field(default_factory=list)
    scalars: list[ScalarArgument] = field(default_factory=list)
    declared: list[str] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)
    pointers: dict[str, str] = field(default_factory=dict)
    threads: str = ""
    colour: str = ""


def host_function(
    name: str, part: ComputedPart, function: CFunction, plan: PlannedRoutine, tables: ColumnTables
) -> ColumnsFunction:
    """Return the function that Python calls, which passes what is in tables."""
    found = _sorted(part, function, plan, tables)
    places = places_of(plan, tables)
    passed = [
        f"({item.type.name} *)(intptr_t){item.name}"
        if item in found.results
        else _place(places[item.key])
        if not item.module and item.key in places
        else _pointer(text, found)
        for item, text in zip(function.parameters, found.passed, strict=True)
    ]
    declared = [*found.declared, *(f"int64_t {item.name}" for item in found.results)]
    lines = [
        function_text(function, "static "),
        *wrapped(f"void {name}(", [*ENTRY, *declared], ")"),
        "{",
        *wrapped(f"    {function.name}(", passed, ");"),
        "}",
        "",
    ]
    return ColumnsFunction(LoopsFunction(name, "\n".join(lines), tuple(found.scalars)))


def device_function(
    name: str, part: ComputedPart, function: CFunction, plan: PlannedRoutine, tables: ColumnTables
) -> ColumnsFunction:
    """Return the kernel of a device, and what launches it on a machine without a GPU."""
    found, how = _sorted(part, function, plan, tables), part.shared
    threads = tables.count(threads_name(plan.parts.index(part) + 1)) if how else _NONE
    colours = tables.count(_counted(part)) if how and how.colours else _NONE
    own, given = _device_arguments(found, threads)
    test = f"{_THREAD} < {found.threads}" if how else f"{_THREAD} == 0"
    remark = () if how else ("    /* The order of loops shows: one thread does all of it. */",)
    lines = [
        function_text(function, "static __device__ "),
        *wrapped(f"PSY_KERNEL void {name}_points(", own, ")"),
        "{",
        *remark,
        f"    if ({test}) {{",
        *_done_by_thread(part, function, found),
        "    }",
        "}",
        "",
        "#ifdef PSY_ON_HOST",
        *_launching(name, found, (threads, colours), given),
        "#endif",
        "",
    ]
    launch = ColumnsLaunch(
        tuple(at for _, at in found.arrays),
        tuple(at for _, at in found.counts),
        threads,
        colours,
        "".join(_letter(item, part) for item in found.results),
    )
    made = LoopsFunction(name, "\n".join(lines), tuple(found.scalars))
    return ColumnsFunction(made, launch)


def _done_by_thread(
    part: ComputedPart, function: CFunction, found: _SortedArguments
) -> Iterator[str]:
    """Yield what one thread does: where others sum exactly, too, into digits of its own."""
    exact = {*map(key_of, part.exact)} if part.shared else set()
    names = NameTable(found.passed)
    digits = {item.name: names.fresh("digits") for item in found.results if item.key in exact}
    passed = [digits.get(text, text) for text in found.passed]
    for own in digits.values():
        yield f"        int64_t {own}[{exact_sums.LENGTH}] = {{0}};"
    yield from wrapped(f"        {function.name}(", passed, ");")
    for name, own in digits.items():
        yield f"        {exact_sums.GIVING}({name}, {own});"


def _letter(item: Parameter, part: ComputedPart) -> str:
    """Return the letter of what a kernel reduces to: that of the digits of an exact sum, too."""
    if item.key in map(key_of, part.exact):
        return "x"
    return letter_of(item.type)


def _device_arguments(found: _SortedArguments, threads: int) -> tuple[list[str], list[str]]:
    """Return what a kernel declares, and what it is passed by what launches it."""
    own = [f"{_constant(item)}{item.type.name} *restrict {item.name}" for item, _ in found.arrays]
    own += [f"const int64_t {item.name}" for item, _ in found.counts]
    given = [_place(("data", at)) for _, at in found.arrays]
    given += [_place(("counts", at)) for _, at in found.counts]
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
    """Return a scalar, or where an array begins that is passed as a number."""
    type_ = found.pointers.get(name)
    return f"(const {type_} *)(intptr_t){name}" if type_ else name


def _launching(
    name: str, found: _SortedArguments, at: tuple[int, int], given: Iterable[str]
) -> list[str]:
    """Return the function that launches a kernel; one that reduces returns when it has."""
    threads, colours = at
    results = [f"int64_t {item.name}" for item in found.results]
    count = _place(("counts", threads)) if threads != _NONE else "1"
    indent = "    "
    lines = list(
        wrapped(
            f"{'int32_t' if results else 'void'} {name}(", [*ENTRY, *found.declared, *results], ")"
        )
    )
    lines.append("{")
    if colours != _NONE:
        colour = found.colour
        end = _place(("counts", colours))
        lines.append(f"{indent}for (int32_t {colour} = 1; {colour} <= {end}; ++{colour})")
        indent *= 2
    lines.append(f"{indent}PSY_LAUNCH_LINE({count},")
    lines += wrapped(f"{indent}    {name}_points(", given, "));")
    return [*lines, *(["    return 0;"] if results else []), "}"]


def _sorted(
    part: ComputedPart, function: CFunction, plan: PlannedRoutine, tables: ColumnTables
) -> _SortedArguments:
    """Return the arguments of a subroutine by where they come from."""
    places, how = places_of(plan, tables), part.shared
    results = {key_of(one) for one in part.exact}
    results |= {key_of(found_name(one)) for one in part.reduced}
    found, arrays = _SortedArguments(), _passed_arrays(plan)
    for item in function.parameters:
        text = item.name
        if item.module:
            found.scalars.append(_scalar_argument(item, item.key))
            text = f"&{item.name}"
        elif item.key in results:
            found.results.append(item)
        elif item.key in places:
            table, at = places[item.key]
            (found.arrays if table == "data" else found.counts).append((item, at))
        elif how and item.key == how.thread.key:
            text = f"(int32_t) ({_THREAD})"
        elif how and item.key == how.count.key:
            found.threads = item.name
        elif how and how.colour and item.key == how.colour.key:
            found.colour = item.name
        elif item.key in arrays:
            letter = "a" if item.is_array else letter_of(item.type)
            found.scalars.append(ScalarArgument(arrays[item.key], item.name, letter))
            if item.is_array:
                found.pointers[item.name] = item.type.name
        else:
            found.scalars.append(_scalar_argument(item, _scalar(item.key, plan)))
        found.passed.append(text)
    kinds = {item.name: item.type.name for item in function.parameters}
    kinds |= dict.fromkeys(found.pointers, "int64_t")
    found.declared = [f"{kinds[one.name]} {one.name}" for one in found.scalars]
    return found


def _passed_arrays(plan: PlannedRoutine) -> dict[str, str]:
    """Return what Python passes of arrays of numbers, by the keys of what C takes of them."""
    found: dict[str, str] = {}
    for item in plan.routine.dummies:
        name = plain(item.name)
        if item.shape:
            found[item.key] = name
            for at in range(1, len(item.shape)):
                found[key_of(extent_of(item, at))] = f"{name}.{abi.SHAPE}[{at - 1}]"
    for item in plan.routine.variables:
        for word in item.attributes:
            if word.startswith(EXTENTS_OF):
                found[item.key] = f"{plain(word.removeprefix(EXTENTS_OF))}.{abi.EXTENTS}"
    return found


def _scalar_argument(item: Parameter, text: str) -> ScalarArgument:
    return ScalarArgument(text, item.name, letter_of(item.type), item.module)


def _place(found: tuple[str, int]) -> str:
    return f"{found[0]}[{found[1]}]"


def _constant(item: Parameter) -> str:
    return "const " if item.intent == "in" else ""


def _counted(part: ComputedPart) -> str:
    """Return the number of colours that a part is done for, by its name."""
    colours = part.shared.colours if part.shared else None
    if not isinstance(colours, Name):
        raise InternalError("A loop over colours ends where no number of a mesh says.")
    return colours.text


def _scalar(key: str, plan: PlannedRoutine) -> str:
    """Return a scalar that is passed: the number in a result that the routine itself sets."""
    name = spelled(key, plan)
    is_set = key in set_between(plan.held) or any(
        key_of(one) == key for part in plan.parts for one in part.reduced
    )
    return f"{name}.{abi.VALUE}" if is_set else name


def spelled(key: str, plan: PlannedRoutine) -> str:
    """Return an argument of a routine as the routine has it."""
    return plain(next(item.name for item in plan.routine.dummies if item.key == key))


def types_of(part: ComputedPart, one: ColumnsFunction) -> str:
    """Return the types of what Python passes a function, by letter, and how it is launched."""
    scalars = "".join(item.letter for item in one.function.scalars)
    types = f'"{scalars}{"l" * (len(part.exact) + len(part.reduced))}"'
    if one.launch is None:
        return types
    return f'{types}, "{"i" if part.reduced or part.exact else ""}", {one.launch.text}'
