"""Closures of functions in a running program: source texts, and values of their names.

This module does not import the compiler. The cache key of a kernel can be computed without it.
"""

from __future__ import annotations

import builtins
import inspect
import linecache
import math
import sys
import unicodedata
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from itertools import islice
from operator import attrgetter, call, is_
from types import CellType, CodeType, FrameType, FunctionType, ModuleType
from typing import Any

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.base.regex import regex
from psyclone_storage.languages.python.parse.function_text import names_that_count, text_of_function

CodePosition = tuple[int | None, int | None, int | None, int | None]
"""First and last line, first column and the column after the last."""

_WORD = regex(r"[^\x00-/:-@[-^`{-\x7f]+")
"""Names, numbers and more: some characters of names, as in "l·l", are none of `\\w`."""
_WORDS = ("Word", "Annotation")


@dataclass(frozen=True, slots=True)
class FunctionText:
    """Source text of a function at the time of reading, with the values of its names.

    - `first`: the number of the first line.

    - `statements`: imports and constants with the names that need them, in order.

    - `odd`: names whose values raise an exception when they are inspected.

    - `around`: numbers captured from the enclosing function.

    - `called`: the names that the function may call.

    - `defaults`: default values of arguments, None if not a number.

    - `wraps`: the name of the function that it wraps.

    - `invalid`: names whose values a kernel cannot read, each with the reason.
    """

    file: str
    first: int
    text: str
    name: str
    module: str
    statements: tuple[tuple[str, str], ...]
    odd: tuple[str, ...]
    around: tuple[str, ...]
    called: tuple[str, ...] = ()
    defaults: tuple[tuple[str, float | None], ...] = ()
    wraps: str = ""
    invalid: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ResolvedFunction:
    """Function with the functions that it calls now, each with its name in the caller."""

    function: Callable[..., Any]
    text: FunctionText
    calls: tuple[tuple[str, Callable[..., Any]], ...]


Resolved = tuple[ResolvedFunction, ...]
"""A function, then all functions that it calls directly or indirectly."""


@dataclass(slots=True, eq=False)
class ClosureSnapshot:
    """Record of the lookups made while reading a function: getters, their owners, and results."""

    getters: list[Callable[[Any], Any]] = field(default_factory=list)
    owners: list[Any] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    _known: set[Hashable] = field(default_factory=set)

    def look_up(self, getter: Callable[[Any], Any], owner: Any) -> Any:
        """Return `getter(owner)` and record it."""
        value = getter(owner)
        self._record(getter, owner, value)
        return value

    def extend(self, other: ClosureSnapshot) -> None:
        """Record the lookups of another snapshot as well."""
        for one in zip(other.getters, other.owners, other.values, strict=True):
            self._record(*one)

    def is_current(self) -> bool:
        """Return whether each lookup finds the same object now."""
        return all(map(is_, map(call, self.getters, self.owners), self.values))

    def _record(self, getter: Callable[[Any], Any], owner: Any, value: Any) -> None:
        # pylint: disable-next=unidiomatic-typecheck  # a derived class may compare otherwise
        key = getter, owner if type(owner) is str else id(owner), id(value)
        if key not in self._known:
            self._known.add(key)
            self.getters.append(getter)
            self.owners.append(owner)
            self.values.append(value)


@dataclass(frozen=True, slots=True, eq=False)
class _SourceLines:
    """Source lines of a function with this code object, with file and first line number."""

    code: CodeType
    file: str
    text: str
    first: int


@dataclass(frozen=True, slots=True)
class CallLocation:
    """Call site: the calling code, the text of its file, and the position of the call."""

    code: CodeType
    text: str
    position: tuple[int | None, ...]
    parts: tuple[CallLocation, ...] = ()
    """The call sites of merged invokes."""


@dataclass(frozen=True, slots=True, eq=False)
class MergedSites:
    """The call sites of merged invokes, each with its code and instruction, instead of a frame.

    `about` lists them with the reason why no further ones were merged, if that is printed.
    """

    parts: tuple[tuple[CodeType, int], ...]
    about: str = ""

    @property
    def f_code(self) -> CodeType:
        """The code of the first call site."""
        return self.parts[0][0]

    @property
    def f_lasti(self) -> tuple[tuple[int, int], ...]:
        """The identities of all call sites."""
        return tuple([(id(code), instruction) for code, instruction in self.parts])


InvokeSite = FrameType | MergedSites


def call_location_of(frame: InvokeSite) -> CallLocation:
    """Return the call site that a frame is executing, or those of merged invokes."""
    if isinstance(frame, MergedSites):
        parts = tuple(_location(*one) for one in frame.parts)
        texts = dict.fromkeys(one.text for one in parts)
        positions = tuple(line for one in parts for line in one.position)
        return CallLocation(frame.f_code, "".join(texts), positions, parts)
    return _location(frame.f_code, frame.f_lasti)


def _location(code: CodeType, instruction: int) -> CallLocation:
    lines = linecache.getlines(code.co_filename)
    return CallLocation(code, "".join(lines), _position(code, instruction))


def place_of_call(frame: InvokeSite) -> str:
    """Return the file and the line of a call site; of merged invokes, those of the first one."""
    code, instruction = frame.parts[0] if isinstance(frame, MergedSites) else (
        frame.f_code, frame.f_lasti
    )  # fmt: skip
    return f"{code.co_filename}:{_position(code, instruction)[0]}"


def _position(code: CodeType, instruction: int) -> tuple[int | None, ...]:
    (position,) = islice(code.co_positions(), instruction // 2, instruction // 2 + 1)
    return position


@dataclass(slots=True, eq=False)
class FunctionReader:
    """Reader of functions in a running program, including the functions that they call.

    The value of a name or a function may change at any time, for example when a notebook cell runs
    again. Equal results are returned as one object. The lines of a function are those of its first
    reading, because a file may change later. The compiled code and its cache key thus use the same
    text.
    """

    _lines: dict[Callable[..., Any], _SourceLines] = field(default_factory=dict)
    _latest: dict[tuple[Callable[..., Any], str], tuple[Resolved, ClosureSnapshot]] = field(
        default_factory=dict
    )
    _unique: dict[Resolved, Resolved] = field(default_factory=dict)

    def resolve(self, function: Callable[..., Any], module: str) -> Resolved:
        """Return a function, followed by all functions that it calls now.

        `module` exports the names of an API.

        Raises:
            OSError: the source of the function itself is not available.
            TypeError: it is not a Python function.
        """
        return self._current(function, module)[0]

    def reads_anew(self, function: Callable[..., Any], module: str) -> bool:
        """Read a function again; return whether the result differs from the last one."""
        known = self.resolve(function, module)
        self.forget(function, module)
        return self.resolve(function, module) is not known

    def forget(self, function: Callable[..., Any], module: str) -> None:
        """Let a function be read again, with the values that its names have then."""
        self._latest.pop((function, module), None)

    def try_to_resolve(self, function: Callable[..., Any], module: str) -> Resolved | None:
        """Return a function with all functions that it calls, or None if it has no source."""
        try:
            return self.resolve(function, module)
        except (OSError, TypeError):
            return None

    def snapshot_of(self, function: Callable[..., Any], module: str) -> ClosureSnapshot:
        """Return the lookups made by `resolve`, with the same exceptions."""
        return self._current(function, module)[1]

    def _current(
        self, function: Callable[..., Any], module: str
    ) -> tuple[Resolved, ClosureSnapshot]:
        key = function, module
        known = self._latest.get(key)
        if known is None or not known[1].is_current():
            resolved, snapshot = self._resolve(function, module)
            known = self._latest[key] = self._unique.setdefault(resolved, resolved), snapshot
        return known

    def _resolve(
        self, function: Callable[..., Any], module: str
    ) -> tuple[Resolved, ClosureSnapshot]:
        found: dict[Callable[..., Any], ResolvedFunction] = {}
        snapshot = ClosureSnapshot()
        waiting = [function]
        while waiting and len(found) < _MOST_FUNCTIONS:
            one = waiting.pop(0)
            if one in found:
                continue
            own = ClosureSnapshot()
            # A kernel is passed all of its arguments: its defaults do not count.
            text = self._read(one, module, own, _PARTS[:1] if one is function else _PARTS)
            calls = []
            for name in text.called:
                value = _looked_up(one, name, here := ClosureSnapshot())
                if self._is_readable(value, module):
                    calls.append((name, value))
                    own.extend(here)
            found[one] = ResolvedFunction(one, text, tuple(calls))
            snapshot.extend(own)
            waiting += [value for _, value in calls]
        return tuple(found.values()), snapshot

    def _lines_of(self, function: Callable[..., Any]) -> _SourceLines:
        """Return the source lines of a function from the time when its code was first read.

        Raises:
            OSError: the lines are not available.
            TypeError: `function` is not a Python function.
        """
        code = getattr(function, "__code__", None)
        if not isinstance(code, CodeType):
            raise TypeError(f"{function!r} is no function of Python.")
        known = self._lines.get(function)
        if known is None or known.code is not code:
            file, text = text_of_function(code, getattr(function, "__globals__", {}))
            known = self._lines[function] = _SourceLines(code, file, text, code.co_firstlineno)
        return known

    def _read(
        self,
        function: Callable[..., Any],
        module: str,
        snapshot: ClosureSnapshot,
        parts: Iterable[Callable[[Any], Any]],
    ) -> FunctionText:
        """Return the current text of a function, and record each lookup in `snapshot`."""
        for part in parts:
            value = snapshot.look_up(part, function)
            if isinstance(value, dict):
                # Values may also be replaced in the dictionary itself.
                snapshot.look_up(len, value)
                for name in value:
                    snapshot.look_up(value.get, name)
        lines = self._lines_of(function)
        around = inspect.getclosurevars(function).nonlocals
        values = getattr(function, "__globals__", {})
        in_code = global_names_in(lines.code)
        fixed = _fixed_names(lines.text, values)
        statements, odd = [], []
        for name in sorted(set(_WORD.findall(unicodedata.normalize("NFKC", lines.text)))):
            value = around[name] if name in around else values.get(name)
            if _is_local(name, lines.code) and (_is_fixed(value) or isinstance(value, float)):
                continue  # a variable of the module with the name of a local one
            # pylint: disable-next=unidiomatic-typecheck  # a derived class may look names up
            if name in in_code and type(value) is ModuleType:
                _looked_up(function, name, snapshot)
            elif name in fixed and name not in around and _is_fixed(value):
                _record_table(snapshot, values.get, name)
            try:
                statements += [(name, one) for one in _statements_for(module, name, value)]
                if name in in_code and not callable(value) and name not in dict(statements):
                    # It is no number yet.
                    snapshot.look_up(values.get, name)
            except Exception:  # noqa: BLE001  # pylint: disable=broad-exception-caught
                # The value of a name may do anything when it is inspected.
                odd.append(name)
        called = sorted({"".join(one.split()) for one in _CALL.findall(lines.text)})
        for name in called:
            if name.partition(".")[0] in in_code:
                _looked_up(function, name, snapshot)
        return FunctionText(
            lines.file,
            lines.first,
            lines.text,
            lines.code.co_name,
            function.__module__ or "",
            tuple(statements),
            tuple(odd),
            _numbers(around),
            tuple(called),
            _defaults(function),
            str(getattr(getattr(function, "__wrapped__", None), "__name__", "")),
            tuple(_invalid_values(in_code.difference(around), values, snapshot)),
        )

    def _is_readable(self, value: Any, module: str) -> bool:
        """Return whether a called object is a Python function with user-written source."""
        if type(value) is not FunctionType:  # pylint: disable=unidiomatic-typecheck  # FunctionType is final
            return False
        package = str(value.__module__).partition(".")[0]
        if package in ("numpy", module.partition(".")[0]):
            return False
        try:
            self._lines_of(value)
        except (OSError, TypeError):
            return False
        return True


def _fixed_names(text: str, values: Mapping[str, Any]) -> set[str]:
    """Return the names of a function whose values the compiled code is made for.

    These are tables, and integers in indices, lengths of lists and the bounds of loops.
    """
    found = {name for name in _WORD.findall(text) if _is_table(values.get(name))}
    counted = names_that_count(text)
    return found | {one for one in counted if isinstance(_plain(values.get(one)), int)}


def _is_fixed(value: Any) -> bool:
    return isinstance(_plain(value), int) or _is_table(value)


def _plain(value: Any) -> Any:
    """Return a NumPy integer or Boolean with which Python computes as with its own as such a one.

    Other values are returned unchanged.
    """
    if type(value).__module__ != "numpy" or getattr(value, "shape", None) != ():
        return value
    if value.dtype.kind == "b":
        return bool(value)
    is_usual = value.dtype.kind == "i" and value.dtype.itemsize >= _SMALLEST_INTEGER
    return int(value) if is_usual else value


def _is_table(value: Any) -> bool:
    """Return whether a value is a tuple, a list or an array."""
    return isinstance(value, (tuple, list)) or type(value).__name__ == "ndarray"


def _record_table(snapshot: ClosureSnapshot, look_up: Callable[[Any], Any], name: str) -> None:
    """Record the value of a name, and its elements if they may be assigned."""
    value = snapshot.look_up(look_up, name)
    if _may_change(value):
        snapshot.look_up(text_of_table, value)


def _may_change(value: Any) -> bool:
    """Return whether a value is a table whose elements may be assigned."""
    if isinstance(value, tuple):
        return any(map(_may_change, value))
    return _is_table(value)


def text_of_table(value: Any) -> str:
    """Return the elements of a table as text: one object for equal tables; empty for others."""
    found = _items(value.tolist() if type(value).__name__ == "ndarray" else value)
    return "" if found is None else sys.intern(repr(found))


def _invalid_values(
    names: Iterable[str], values: Mapping[str, Any], snapshot: ClosureSnapshot
) -> Iterator[tuple[str, str]]:
    """Yield the values that a kernel cannot read, each with the reason; record the lookups."""
    for name in sorted(names & values.keys()):
        value = values.get(name)
        if fault := _fault_of_value(value):
            snapshot.look_up(values.get, name)
            snapshot.look_up(_fault_of_value, value)
            yield name, fault


def _fault_of_value(value: Any) -> str:
    """Return why a kernel cannot read a value, as one object for equal texts; empty if it can."""
    if type(value) is dict:  # pylint: disable=unidiomatic-typecheck  # a derived class may do more
        return "it is a dictionary"
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
        is_known = isinstance(_plain(value), (int, float))
        return "" if is_known else f"it is a number of type '{value.dtype.name}'"
    if isinstance(value, int):
        return sys.intern(next(_faults(value), ""))
    if not _is_table(value):
        is_known = callable(value) or isinstance(value, (ModuleType, float))
        is_known |= type(value).__name__ in _WORDS
        fault = "it is None" if value is None else f"its type is '{type(value).__name__}'"
        return "" if is_known else sys.intern(fault)
    if type(value).__name__ == "ndarray":
        dtype = value.dtype
        if dtype.kind == "u" or (dtype.kind == "i" and dtype.itemsize < _SMALLEST_INTEGER):
            return f"its elements are integers of type '{dtype.name}'"
        if dtype.kind == "f" and dtype.itemsize != _USUAL_REAL:
            return f"its elements are reals of type '{dtype.name}'"
        value = value.tolist()
    return sys.intern(next(_faults(value), ""))


def _faults(value: Any, place: str = "") -> Iterator[str]:
    """Yield the elements of nested sequences that are no numbers for kernels."""
    value = _plain(value)
    if isinstance(value, (tuple, list)):
        if len(value) > _MOST_ITEMS:
            yield f"it has more than {_MOST_ITEMS} elements"
        for number, one in enumerate(value):
            yield from _faults(one, f"{place}[{number}]")
    elif isinstance(value, float) and not math.isfinite(value):
        yield f"its element {place} is {float(value)!r}"
    elif isinstance(value, int) and not -(2**31) <= value < 2**31:
        yield f"{f'its element {place}' if place else 'it'} has more than 32 bits"
    elif not isinstance(value, (int, float)):
        yield f"its element {place} is of type '{type(value).__name__}'"


def _items(value: Any, depth: int = 4) -> Any:
    """Return nested tuples or lists with the numbers of a table, None if it has others."""
    if isinstance(value, (tuple, list)) and depth and len(value) <= _MOST_ITEMS:
        inner = [_items(one, depth - 1) for one in value]
        return None if None in inner else inner if isinstance(value, list) else tuple(inner)
    value = _plain(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value)
    return float(value) if isinstance(value, float) else None


_MOST_ITEMS = 1000
_SMALLEST_INTEGER = 4
"""The bytes of the smallest NumPy integers with which Python computes as with its own."""
_USUAL_REAL = 8
"""The bytes of the NumPy reals with which Python computes as with its own."""
_MOST_FUNCTIONS = 200
_PARTS = tuple(map(attrgetter, ("__code__", "__defaults__", "__kwdefaults__")))
"""The parts of a function that may be replaced, for example by tools that reload files."""
_CALL = regex(r"(?<![\w.])([^\W\d]\w*(?:\s*\.\s*[^\W\d]\w*)*)\s*\(")


def global_names_in(code: CodeType) -> set[str]:
    """Return the names other than locals in code, including nested functions."""
    inner = (global_names_in(one) for one in code.co_consts if isinstance(one, CodeType))
    return {*code.co_names, *code.co_freevars}.union(*inner)


def _is_local(name: str, code: CodeType) -> bool:
    """Return whether a name is only that of an argument or a local variable of code."""
    return name in (*code.co_varnames, *code.co_cellvars) and name not in global_names_in(code)


def _defaults(function: Callable[..., Any]) -> tuple[tuple[str, float | None], ...]:
    """Return the default values of arguments, with None for a default that is not a number."""
    code, own = function.__code__, getattr(function, "__defaults__", None) or ()
    names = code.co_varnames[: code.co_argcount]
    by_order = zip(names[len(names) - len(own) :], own, strict=False)
    found = dict(by_order) | (getattr(function, "__kwdefaults__", None) or {})
    return tuple((name, _number(value)) for name, value in found.items())


def _number(value: Any) -> float | None:
    if type(value) not in (bool, int, float) or not math.isfinite(value):
        return None
    number: float = value
    return number


def _looked_up(function: Callable[..., Any], name: str, snapshot: ClosureSnapshot) -> Any:
    """Return the value of a dotted name used in a function, and record the lookups.

    Attributes are followed only for modules; otherwise The function returns None.
    """
    first, *rest = name.split(".")
    code, cells = function.__code__, function.__closure__ or ()
    around = dict(zip(code.co_freevars, cells, strict=True))
    if first in around:
        value = snapshot.look_up(_in_cell, around[first])
    else:
        value = snapshot.look_up(function.__globals__.get, first)
    for part in rest:
        if not issubclass(type(value), ModuleType):
            return None
        value = snapshot.look_up(vars(value).get, part)
    return value


def _in_cell(cell: CellType) -> Any:
    """Return the value of a variable of the enclosing function, or None if it is unbound."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _numbers(around: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(sorted(name for name in around if isinstance(around[name], int | float)))


def _statements_for(module: str, name: str, value: Any) -> Iterator[str]:
    """Yield the import or constant definition that a name needs, if any."""
    own, value = str(getattr(value, "__name__", "")), _plain(value)
    if isinstance(value, ModuleType):
        yield f"import {value.__name__} as {name}"
    elif own and getattr(math, own, None) is value:
        yield f"from math import {own} as {name}"
    elif isinstance(value, int):
        yield f"{name} = {value if isinstance(value, bool) else int(value)!r}"
    elif isinstance(value, float):
        text = repr(float(value))
        text = text if math.isfinite(value) else f"float('{text}')"
        yield f"{name} = {text}"
    elif (word := getattr(value, "name", "")) and type(value).__name__ in _WORDS:
        if word != name:
            yield f"from {module} import {word} as {name}"
    elif _is_table(value) and (text := text_of_table(value)):
        if type(value).__name__ == "ndarray":
            yield f"from numpy import array as array_of_{name}"
            text = f"array_of_{name}({text})"
        yield f"{name} = {text}"
    elif own == "kernel" and name != own:
        yield f"from {module} import {own} as {name}"
    elif _hides_builtin(name, value):
        yield f"{name} = None"


def _hides_builtin(name: str, value: Any) -> bool:
    """Return whether a name hides a Python built-in by something other than a NumPy function."""
    known = getattr(builtins, name, None)
    is_other = None not in (known, value) and value is not known
    return is_other and type(value).__name__ != "ufunc"
