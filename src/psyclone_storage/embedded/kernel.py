"""`@kernel`: a function that is parsed, and is called only by tests, for one point at a time.

The compiler reads the text of a kernel. `at` calls the function itself, so its result is that of
Python.
"""

from __future__ import annotations

import dis
import inspect
import linecache
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import chain
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.embedded.column import run_column
from psyclone_storage.embedded.point import Point, PointColumn, anywhere
from psyclone_storage.embedded.words import AROUND, Annotation, MetadataWord


class RequestedCall(NamedTuple):
    """A kernel with the arguments of a call, as an invoke takes it."""

    kernel: PythonKernel | FortranKernel | BuiltIn
    args: tuple[Any, ...]


_made = tuple.__new__
"""Makes a call without Python code: each execution of an invoke makes one for each kernel."""


_MOST_PLACES = 10_000


_COMPREHENSIONS = ("<listcomp>", "<setcomp>")
"""The names of comprehensions that are functions: all in Python 3.11, some in later versions."""
_POPS_ITERATOR = ("POP_TOP", "POP_ITER")
"""The instructions after END_FOR that remove the iterator, since Python 3.13."""


_caller = sys._getframe  # noqa: SLF001  # pylint: disable=protected-access


class CallSites(dict[tuple[int, int], CodeType]):
    """The call sites of one kernel that were checked: the identity of their code, the instruction.

    The reference to the code keeps its identity unique.
    """

    def check(self, frame: FrameType, called: object, name: str) -> None:
        """Warn if the statement at which a frame is calls `called` and discards the value."""
        if len(self) >= _MOST_PLACES:
            self.clear()
        self[id(frame.f_code), frame.f_lasti] = frame.f_code
        if _is_discarded(frame, called, name):
            warnings.warn(
                f"The call of the kernel '{name}' has no effect, as it is not passed to an invoke: "
                f"write invoke({name}(...)).",
                RuntimeWarning,
                stacklevel=3,
            )


def _is_discarded(frame: FrameType, called: object, name: str) -> bool:
    """Return whether a frame calls the kernel `called` and certainly discards the result.

    Args:
        frame: the frame of the caller, during the call.
        called: the kernel that is executing.
        name: the name of the kernel.
    """
    if not _pops_value(frame):
        return False
    # `calls.extend(map(smooth, fields))` discards a value as well, but not that of the kernel.
    word = _called_name(frame)
    if word in frame.f_locals or word in frame.f_globals:
        return frame.f_locals.get(word, frame.f_globals.get(word)) is called
    return word.rpartition(".")[2] == name


def _pops_value(frame: FrameType) -> bool:
    """Return whether a frame discards the value of its current call.

    The analysis follows the value on the stack, alone or in a collection, until an instruction
    pops it. The result is false if an instruction may use the value, or is unknown.
    """
    following = _instructions(frame.f_code, frame.f_lasti + 1)
    depth: int | None = 0
    while depth is not None:
        one = next(following)
        if depth == 0 and one.opname == "POP_TOP":
            return True
        if depth == 0 and one.opname == "RETURN_VALUE" and frame.f_back is not None:
            return frame.f_code.co_name in _COMPREHENSIONS and _pops_value(frame.f_back)
        depth = _depth_after(one, depth)
        if one.opname == "JUMP_BACKWARD":
            loop = next(_instructions(frame.f_code, one.argval))
            if loop.opname != "FOR_ITER":
                return False
            following = _loop_exit(frame.f_code, loop)
    return False


def _depth_after(one: dis.Instruction, depth: int) -> int | None:
    """Return the number of values above a value on the stack, or above its new collection.

    Args:
        one: the instruction that is executed. A JUMP_BACKWARD ends the last iteration of a
            `for` loop, which removes the iterator.
        depth: the number of values above the value before the instruction.

    Returns:
        The number after the instruction; `None` if the instruction is unknown or uses the value.
    """
    match one.opname, one.arg or 0:
        case "LIST_APPEND" | "SET_ADD", position if depth == 0:
            return position - 1
        case "BUILD_LIST" | "BUILD_SET" | "BUILD_TUPLE", count if count > depth:
            return 0
        case "SWAP", position:
            return {0: position - 1, position - 1: 0}.get(depth, depth)
        case "JUMP_BACKWARD" | "POP_TOP" | "STORE_FAST", _ if depth >= 1:
            return depth - 1
        case "STORE_FAST_STORE_FAST", _ if depth >= 2:
            return depth - 2
    return None


def _loop_exit(code: CodeType, loop: dis.Instruction) -> Iterator[dis.Instruction]:
    """Return the instructions after a loop and after the removal of its iterator."""
    following = _instructions(code, loop.argval)
    first = next(following)
    if first.opname != "END_FOR":  # Python 3.11
        return chain([first], following)
    if dis.stack_effect(first.opcode) == -1:  # since Python 3.13
        return following if next(following).opname in _POPS_ITERATOR else iter([first])
    return following


def _instructions(code: CodeType, start: int) -> Iterator[dis.Instruction]:
    """Yield the instructions from an offset on, except those without an effect on the stack."""
    for one in dis.get_instructions(code):
        if one.offset >= start and one.opname not in ("NOP", "EXTENDED_ARG"):
            yield one


def _called_name(frame: FrameType) -> str:
    """Return the name, perhaps with a module, that the current call of a frame has in its text."""
    places = inspect.getframeinfo(frame).positions
    if places is None or None in (places.lineno, places.end_lineno, places.col_offset):
        return ""
    first = linecache.getline(frame.f_code.co_filename, places.lineno or 0, frame.f_globals)
    text = first.encode()[places.col_offset or 0 :].decode(errors="replace")
    return text.partition("(")[0].strip()


@dataclass(frozen=True, eq=False)
class PythonKernel:
    """A function for one point of a grid, with its metadata on the whole grid."""

    function: Callable[..., Any]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    sites: CallSites = field(default_factory=CallSites, init=False, repr=False, compare=False)

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.function.__name__

    def __call__(self, *args: Any, **named: Any) -> RequestedCall:
        """Return a call, which an invoke executes.

        Raises:
            TypeError: another number of arguments is given than the function takes, but for
                properties of the grid, which are not passed; or some are given by name.
        """
        if named:
            raise TypeError(
                f"The kernel '{self.name}' takes its arguments in their order, not by name: "
                f"{', '.join(named)}."
            )
        if len(args) != self._count and self._count >= 0:
            wanted = self.passed
            raise TypeError(
                f"The kernel '{self.name}' takes {len(wanted)} arguments"
                f" ({', '.join(wanted)}) but is given {len(args)}."
            )
        frame = _caller(1)
        if (id(frame.f_code), frame.f_lasti) not in self.sites:
            self.sites.check(frame, self, self.name)
        return _made(RequestedCall, (self, args))

    def at(self, *args: Any, given: Mapping[str, Any] | None = None, **named: Any) -> Any:
        """Run the function for one point, or one column, and return the values that it writes.

        In a column a field is an array with a row for each dof of the cell and a value for each
        layer, an operator one by dofs, dofs and layers; a vector is a list. What else the body asks
        for is `given` by its words, as in `given={"points_xy": 4, "basis(W0)": array}`.

        A field or a property of the grid is a number, the same wherever it is looked at, a mapping
        from offsets such as `(1, 0)` to numbers, or a function of the two offsets. For a field with
        layers, an array over the layers replaces each number. The value of the field that is
        written is returned, or of several a mapping by name.

        Raises:
            TypeError: the arguments are not those of the function, or one that is only read is
                written.
            KeyError: the function looks at a point of a field that is not given.
            IndexError: it writes off its own point.
        """
        if _OF_COLUMNS in self.metadata:
            return run_column(self.function, self._annotations(), (args, named), given)
        bound = inspect.signature(self.function).bind(*args, **named).arguments
        points: dict[str, Point | PointColumn] = {}
        passed = dict(bound)
        for name, said in self._annotations().items():
            if said.name == "field":
                view = PointColumn if _has_layers(said) else Point
                passed[name] = points[name] = view(name, bound[name], _is_written(said))
            elif said.name == "grid_property":
                passed[name] = anywhere(name, bound[name])
        columns = [one for one in points.values() if isinstance(one, PointColumn)]
        token = AROUND.set(lambda _word, said: len(*(said or columns[:1])))
        try:
            self.function(**passed)
        finally:
            AROUND.reset(token)
        written = {name: point.value for name, point in points.items() if point.may_change}
        return next(iter(written.values())) if len(written) == 1 else written

    def stencils(self, args: tuple[Any, ...]) -> Iterator[tuple[str, MetadataWord, Any]]:
        """Yield the name and the stencil of each argument that has one, and what it is passed."""
        said = self._annotations()
        for name, value in zip(self.passed, args, strict=False):
            for item in said[name].items if name in said else ():
                if isinstance(item, MetadataWord) and item.items:
                    yield name, item, value

    @cached_property
    def _count(self) -> int:
        """The number of arguments of a call, or -1 if only the compiler can count them.

        In a kernel of columns, extents of stencils and quadrature rules are arguments. An
        annotation in quotes can be any text, and the compiler shows the place of an invalid one.
        """
        if _OF_COLUMNS in self.metadata:
            return -1
        try:
            return len(self.passed)
        except Exception:  # noqa: BLE001  # pylint: disable=broad-exception-caught
            return -1

    @property
    def passed(self) -> tuple[str, ...]:
        """The names of the arguments of a call; kernels of columns may have further arguments."""
        said = self._annotations()
        names = inspect.signature(self.function).parameters
        return tuple(name for name in names if name not in said or _is_passed(said[name]))

    def _annotations(self) -> dict[str, Annotation]:
        said = inspect.get_annotations(self.function, eval_str=True)
        return {name: one for name, one in said.items() if isinstance(one, Annotation)}


_OF_LAYERS = "GO_LAYERS"
_OF_COLUMNS = "operates_on"
"""The word of metadata that kernels for columns of cells have."""


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """A kernel that is part of the API, by its name."""

    name: str
    sites: CallSites = field(default_factory=CallSites, init=False, repr=False, compare=False)

    def __call__(self, *args: Any) -> RequestedCall:
        """Return a call, which an invoke executes."""
        frame = _caller(1)
        if (id(frame.f_code), frame.f_lasti) not in self.sites:
            self.sites.check(frame, self, self.name)
        return _made(RequestedCall, (self, args))


@dataclass(frozen=True, eq=False)
class FortranKernel:
    """A kernel in Fortran: the file that defines it, and its name."""

    file: Path
    name: str
    sites: CallSites = field(default_factory=CallSites, init=False, repr=False, compare=False)

    def __call__(self, *args: Any) -> RequestedCall:
        """Return a call, which an invoke executes."""
        frame = _caller(1)
        if (id(frame.f_code), frame.f_lasti) not in self.sites:
            self.sites.check(frame, self, self.name)
        return _made(RequestedCall, (self, args))


def fortran_kernel(file: str | Path, name: str) -> FortranKernel:
    """Return the kernel type `name` that a file of Fortran defines.

    A `file` without a folder of its own, or in a relative one, is looked for from the folder of
    the program that asks. It is read when the kernel is called for the first time.
    """
    caller = sys._getframe(1).f_globals.get("__file__")  # noqa: SLF001  # pylint: disable=protected-access
    return FortranKernel(Path(caller or "").parent / file, name)


def kernel(*given: Any, **metadata: Any) -> Callable[[Callable[..., Any]], PythonKernel]:
    """Declare a function as a kernel: `metadata` define its iteration space.

    Raises:
        TypeError: there is a positional argument, for example the function itself.
    """
    if given:
        raise TypeError(
            "A kernel says in brackets, by keywords, what it is called for: "
            "'@kernel(operates_on=...)' for LFRic, '@kernel(iterates_over=...)' for GOcean."
        )

    def keep(function: Callable[..., Any]) -> PythonKernel:
        return PythonKernel(function, metadata)

    return keep


def _is_passed(said: Annotation) -> bool:
    return said.name != "grid_property"


def _has_layers(said: Annotation) -> bool:
    words = [one.name for one in said.items if isinstance(one, MetadataWord)]
    return _OF_LAYERS in words


def _is_written(said: Annotation) -> bool:
    return bool(said.items) and "WRITE" in said.items[0].name.upper()
