"""Kernels printed as C, compared with the original Fortran code compiled by gfortran.

A kernel with a form in C is called in both languages with the same bytes: random numbers, small
integers, maps with entries in range. Afterwards every byte of every argument must be equal, except
that different NaNs are equivalent. Every other kernel is rejected with locations and reasons. The
memory around each array is compared too, to detect writes outside the array. Input for which the
original code is undefined is skipped: where bounds are exceeded, or results depend on uninitialised
memory.
"""

from __future__ import annotations

import ctypes
import hashlib
import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from forked_calls import in_child
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.expr import (
    Binary,
    CallFunction,
    Expr,
    Index,
    Name,
    Parenthesised,
    Range,
    Symbol,
    Unary,
)
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.typing import CScope, PrintError
from psyclone_storage.languages.c.printer import CUnit, emit_c
from psyclone_storage.languages.c.variables import Parameter, is_assumed
from psyclone_storage.languages.fortran.parse.metadata import kernel_types, read_kernel
from psyclone_storage.languages.sources.files import read_source
from psyclone_storage.languages.sources.kernel_search import index_directories
from psyclone_storage.languages.sources.module_finder import ModuleFinder
from psyclone_storage.targets.c_printer import CPrinter
from reduced_modules import ReducedModules

FLAGS = ("-O2", "-ffp-contract=off", "-shared", "-fPIC", "-w")
C_FLAGS = ("-std=c99", "-fno-math-errno")
_GAP = 4096
GOOD = {"equal", "changes nothing", "no valid input"}
_LAYERS, _DOFS, _UNIQUE, _EXTENT = 4, 2, 60, 3
_SPACES = {"w0": 8, "w1": 12, "w2": 6, "w3": 1, "wtheta": 2, "wt": 2, "w2h": 4, "w2v": 2, "w2b": 6}
_PERTURB = -6
_COMPONENTS, _PANELS, _MORE = 3, 6, 4


@dataclass(frozen=True)
class Printed:
    """A kernel that has a form in C."""

    code: Routine
    unit: CUnit
    tag: str
    scope: CScope
    source: SourceText

    @property
    def name(self) -> str:
        return self.code.name


@dataclass(frozen=True)
class Refused:
    """A kernel that has none, and why."""

    name: str
    error: CompileError


@dataclass(frozen=True)
class Datum:
    """An argument: how it is passed, and the bytes of the memory around and in it."""

    parameter: Parameter
    extents: tuple[int, ...]
    start: int
    dtype: np.dtype

    @property
    def count(self) -> int:
        return int(np.prod(self.extents, dtype=int)) if self.parameter.is_array else 1

    @property
    def stop(self) -> int:
        return self.start + self.count * self.dtype.itemsize


# ---------------------------------------------------------------------------- printing


class Bodies:
    """The kernels below some folders, printed one by one."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self.folders = tuple(folders)
        self._finder = ModuleFinder(index_directories(self.folders))
        self._printer = CPrinter(self._finder)

    def kernels(self, pattern: str = "*mod*.[fF]90") -> Iterator[tuple[SourceText, str]]:
        """Yield the file and the name of each subroutine that is a kernel's."""
        seen: set[tuple[str, str]] = set()
        for folder in self.folders:
            for path in sorted(folder.rglob(pattern)):
                source = read_source(path)
                for name in _implementations(source):
                    if (path.name, name.lower()) not in seen:
                        seen.add((path.name, name.lower()))
                        yield source, name

    def read(self, source: SourceText, name: str) -> CScope:
        """Return the names in one kernel, which need have no form in C."""
        return CScope(self._printer.read(source, name), self._printer.around)

    def printed(self, source: SourceText, name: str, tag: str) -> Printed | Refused:
        """Return one kernel."""
        try:
            code, unit = self._printer.printed(source, name)
        except CompileError as error:
            return Refused(name, error)
        return Printed(code, unit, tag, CScope(code, self._printer.around), source)


def _implementations(source: SourceText) -> tuple[str, ...]:
    found: list[str] = []
    try:
        for kernel in kernel_types(source):
            found += read_kernel(source, kernel).implementations
    except CompileError:
        pass
    return tuple(found)


# ---------------------------------------------------------------------------- input


class Input:
    """Values for the arguments of one kernel, and the memory that they lie in."""

    def __init__(self, printed: Printed, seed: int) -> None:
        self._printed = printed
        self._random = np.random.default_rng(seed)
        self._positive = seed % 2 == 0
        self._range = (2, 4) if seed < _MORE else (0, 6)
        self._whole: dict[str, int] = {}
        self._extents: dict[str, tuple[int, ...]] = {}
        self.data: list[Datum] = []
        self._values: list[np.ndarray] = []
        parameters = printed.unit.main.parameters
        for item in parameters:
            if not item.is_array and item.type.is_integer:
                self._whole[item.key] = self._small(item.key)
        place = _GAP
        for item in parameters:
            datum = self._datum(item, place)
            place = (datum.stop + _GAP + 63) // 64 * 64
            self.data.append(datum)
        self.memory = np.zeros(place, np.uint8)
        for datum in self.data:
            values = self._made(datum)
            self.memory[datum.start : datum.stop] = np.frombuffer(values.tobytes(), np.uint8)

    def _datum(self, item: Parameter, place: int) -> Datum:
        extents: tuple[int, ...] = ()
        if item.is_array:
            scope = self._printed.scope.within(item.module) if item.module else self._printed.scope
            symbol = scope.symbol(item.key)
            extents = tuple(self._extent(part, symbol, scope) for part in symbol.shape)
            if "basis" in item.key and len(extents) > 1 and is_assumed(symbol.shape[0]):
                extents = (_COMPONENTS, *extents[1:])
            self._extents[item.key] = extents
        letter = {"real": "f", "integer": "i", "logical": "i"}[item.type.intrinsic.value]
        return Datum(item, extents, place, np.dtype(f"{letter}{item.type.size}"))

    def _small(self, key: str) -> int:
        if key.startswith("undf"):
            return _UNIQUE
        if key.startswith("ndf"):
            return _SPACES.get(key.removeprefix("ndf_"), _DOFS)
        if key.startswith("nlayers"):
            return _LAYERS
        if key.startswith("ncell") and key[-2:] not in {"_x", "_y"}:
            return 30
        if "size" in key or "longest" in key or "length" in key:
            return 5
        return int(self._random.integers(*self._range))

    def _extent(self, part: Expr, symbol: Symbol, scope: CScope) -> int:
        if is_assumed(part):
            return 12 if len(symbol.shape) > 1 else _UNIQUE
        lower = part.lower if isinstance(part, Range) else None
        upper = part.upper if isinstance(part, Range) else part
        if getattr(upper, "text", "") == "*":
            return _UNIQUE
        first = 1 if lower is None else self._value(lower, scope)
        assert upper is not None
        return max(0, self._value(upper, scope) - first + 1)

    def _value(self, expr: Expr, scope: CScope) -> int:
        known = scope.integer(expr)
        if known is not None:
            return known
        match expr:
            case Name() if expr.key in self._whole:
                return self._whole[expr.key]
            case Parenthesised(inner):
                return self._value(inner, scope)
            case Unary(op, inner):
                sign = -1 if str(getattr(op, "spelling", op)) == "-" else 1
                return sign * self._value(inner, scope)
            case Binary(op, left, right):
                word = str(getattr(op, "spelling", op))
                first, second = self._value(left, scope), self._value(right, scope)
                return {
                    "+": first + second,
                    "-": first - second,
                    "*": first * second,
                    "/": int(first / (second or 1)),
                    "**": first ** max(second, 0),
                }[word]
            case CallFunction(Name() as name, (Name() as array, *rest)) if name.key == "size":
                extents = self._extents[array.key]
                place = self._value(rest[0], scope) if rest else 0
                return extents[place - 1] if place else int(np.prod(extents))
            case Index(Name() as name, _) if name.key.startswith("dims"):
                return _EXTENT
            case CallFunction(Name() as name, items) if name.key in {"max", "min"}:
                word_of = max if name.key == "max" else min
                return word_of(self._value(item, scope) for item in items)
        raise PrintError(f"the bound '{expr}' has no value")

    def _made(self, datum: Datum) -> np.ndarray:
        key, type_ = datum.parameter.key, datum.parameter.type
        if type_.is_logical:
            return self._random.integers(0, 2, datum.count).astype(datum.dtype)
        if type_.is_real and "panel_id" in key:
            return self._random.integers(1, 1 + _PANELS, datum.count).astype(datum.dtype)
        if type_.is_real:
            low = 0.5 if self._positive else -1.0
            return self._random.uniform(low, 1.0, datum.count).astype(datum.dtype)
        if "mask" in key and datum.parameter.is_array:
            return self._random.integers(-1, 2, datum.count).astype(datum.dtype)
        if not datum.parameter.is_array:
            return np.array([self._whole[key]], datum.dtype)
        most = _UNIQUE - 2 * _LAYERS if "map" in key else 2
        if key.startswith("dims"):
            return np.full(datum.count, _EXTENT, datum.dtype)
        if "map" in key and "cell" not in key and (first := datum.extents[0]) <= most:
            # No two dofs of a cell are the same: a vector subscript may be assigned to.
            columns = [self._random.permutation(most)[:first] for _ in range(datum.count // first)]
            return (1 + np.concatenate(columns)).astype(datum.dtype)
        return self._random.integers(1, 1 + min(most, 30), datum.count).astype(datum.dtype)


# ---------------------------------------------------------------------------- texts


def wrapper(printed: Printed, data: list[Datum], reduced: ReducedModules) -> str:
    """Return a subroutine that C can call, around the author's."""
    code, names = printed.code, [f"a{place}" for place, _ in enumerate(data)]
    own = reduced.name(code.module.name.lower())
    lines = [f"subroutine f_{printed.tag}({', '.join(names)}) bind(c)"]
    lines.append(f"use {own}, only: kernel => {code.name}")
    before, behind, types = [], [], []
    for name, datum in zip(names, data, strict=True):
        item = datum.parameter
        type_ = f"{item.type.intrinsic.value}({item.type.size})"
        extents = f"({', '.join(map(str, datum.extents))})" if item.is_array else ""
        types.append(f"{type_} :: {name}{extents}")
        if item.module:
            array, _, index = item.key.rstrip("]").partition("[")
            at = ", ".join(str(int(one) + 1) for one in index.split(",") if one)
            lines.append(f"use {reduced.name(item.module)}, only: v_{name} => {array}")
            before.append(f"v_{name}{f'({at})' if at else ''} = {name}")
            behind.append(f"{name} = v_{name}{f'({at})' if at else ''}")
    lines += ["implicit none", *types, *before]
    passed = [name for name, datum in zip(names, data, strict=True) if not datum.parameter.module]
    lines += [f"call kernel({', '.join(passed)})", *behind, f"end subroutine f_{printed.tag}", ""]
    return "\n".join(re.sub(r"(.{1,100})(?:, |$)", r"\1, &\n", line).removesuffix(", &\n")
                     for line in lines)  # fmt: skip


def build(batch: list[tuple[Printed, Input]], folder: Path, *flags: str) -> Path:
    """Compile kernels in both languages into one library; raise `CalledProcessError` if it fails.

    `flags` are further ones for Fortran.
    """
    fortran, stem = [], batch[0][0].tag
    for printed, given in batch:
        reduced = ReducedModules(printed.code, printed.scope.around, printed.tag)
        fortran += [reduced.text(), wrapper(printed, given.data, reduced)]
    sources = _written_c([printed for printed, _ in batch], folder)
    text = folder / f"{stem}.f90"
    text.write_text("\n".join(fortran), encoding="utf-8", errors="surrogateescape")
    library, objects = folder / f"{stem}.so", []
    usual = [flag for flag in FLAGS if flag != "-shared"]
    gfortran = ("gfortran", *usual, *flags, "-ffree-line-length-none", f"-J{folder}")
    for command, names in ((gfortran, [str(text)]), (("gcc", *usual, *C_FLAGS), sources)):
        for name in names:
            objects.append(f"{name}.o")
            words = [*command, "-c", name, "-o"]
            subprocess.run([*words, objects[-1]], check=True, capture_output=True, text=True)
    words = ["gfortran", *FLAGS, *objects, "-o", str(library), "-lm"]
    subprocess.run(words, check=True, capture_output=True, text=True)
    return library


def _written_c(kernels: list[Printed], folder: Path) -> list[str]:
    """Write kernels as C, into one file if no two functions have the same name."""
    keys = {function.key for kernel in kernels for function in kernel.unit.functions}
    together = len({name for _, name in keys}) == len(keys)
    groups = [kernels] if together else [[kernel] for kernel in kernels]
    sources = []
    for group in groups:
        source = folder / f"{group[0].tag}.c"
        renamed = [f"#define {kernel.unit.main.name} c_{kernel.tag}\n" for kernel in group]
        text = "".join(renamed) + emit_c(tuple(kernel.unit for kernel in group))
        source.write_text(text, encoding="utf-8")
        sources.append(str(source))
    return sources


# ---------------------------------------------------------------------------- running


def differences(printed: Printed, given: Input, library: Path) -> str:
    """Call the kernel in both languages; return what differs, or how one of them failed."""
    return in_child(_compared, printed.tag, given.data, given.memory, str(library))


_BEGUN = (
    ("-O0",),
    ("-finit-real=nan", "-finit-integer=1"),
    ("-finit-real=zero", "-finit-integer=0"),
)
"""How the author's code is compiled, and with what locals begin, of which it says nothing."""


def is_valid(printed: Printed, given: Input, folder: Path) -> bool:
    """Return whether the author's code is defined for the input.

    It is not where bounds are exceeded, or where its results depend on what was in memory before,
    on locals that have no value, or on how much is optimised, as `max` beside NaN does.
    """
    answers = set()
    for number, flags in enumerate(_BEGUN):
        checked_in = folder / f"checked{number}"
        checked_in.mkdir(exist_ok=True)
        library = build([(printed, given)], checked_in, "-fcheck=bounds", *flags)
        answers |= {
            in_child(_alone, printed.tag, given.data, given.memory, str(library), filling)
            for filling in (0, 85, 170)
        }
    return len(answers) == 1 and not answers.pop().startswith("failed")


def _alone(tag: str, data: list[Datum], memory: np.ndarray, library: str, filling: int) -> str:
    """Call the author's code where new memory is filled with a byte; return what it leaves."""
    ctypes.CDLL(None).mallopt(_PERTURB, filling)
    _call_fortran(tag, data, memory, ctypes.CDLL(library))
    return hashlib.sha256(memory.tobytes()).hexdigest()


def _compared(tag: str, data: list[Datum], memory: np.ndarray, name: str) -> str:
    """Return what differs between the two languages after a call of each."""
    library = ctypes.CDLL(name)
    first, second = memory.copy(), memory.copy()
    _call_fortran(tag, data, first, library)
    getattr(library, f"c_{tag}")(*c_arguments(data, second))
    for datum in data:
        ours = second[datum.start : datum.stop].view(datum.dtype)
        theirs = first[datum.start : datum.stop].view(datum.dtype)
        equal = ours.view(f"i{datum.dtype.itemsize}") == theirs.view(f"i{datum.dtype.itemsize}")
        if datum.parameter.type.is_real:
            equal |= np.isnan(ours) & np.isnan(theirs)
        if not equal.all():
            where = int(np.flatnonzero(~equal)[0])
            return (f"differs: {datum.parameter.key}[{where}] is {ours[where]!r},"
                    f" not {theirs[where]!r} ({(~equal).sum()} of {datum.count})")  # fmt: skip
        first[datum.start : datum.stop] = second[datum.start : datum.stop]
    if not (first == second).all():
        return "differs: beside the arrays"
    return "" if (second != memory).any() else "changes nothing"


def _call_fortran(tag: str, data: list[Datum], memory: np.ndarray, library: ctypes.CDLL) -> None:
    address = memory.ctypes.data
    getattr(library, f"f_{tag}")(*(ctypes.c_void_p(address + datum.start) for datum in data))


def c_arguments(data: list[Datum], memory: np.ndarray) -> Iterator[object]:
    """Yield the arguments of a function in C."""
    types = {"f4": ctypes.c_float, "f8": ctypes.c_double, "i1": ctypes.c_int8,
             "i2": ctypes.c_int16, "i4": ctypes.c_int32, "i8": ctypes.c_int64}  # fmt: skip
    for datum in data:
        if datum.parameter.by_value:
            value = memory[datum.start : datum.stop].view(datum.dtype)[0]
            yield types[datum.dtype.str[1:]](value.item())
            continue
        yield ctypes.c_void_p(memory.ctypes.data + datum.start)
        if datum.parameter.assumed:
            yield from (ctypes.c_int64(extent) for extent in datum.extents)


# ---------------------------------------------------------------------------- all of them


def checked(kernels: list[Printed], folder: Path, seeds: int = 3) -> Iterator[tuple[Printed, str]]:
    """Yield kernels that are compiled together, each with what differs in it, if anything does."""
    ready: list[tuple[Printed, Input]] = []
    for kernel in kernels:
        try:
            ready.append((kernel, Input(kernel, 0)))
        except (PrintError, KeyError) as refusal:
            yield kernel, f"no input: {refusal}"
    if not ready:
        return
    try:
        library = build(ready, folder)
    except (subprocess.CalledProcessError, PrintError) as error:
        if len(ready) == 1:
            said = getattr(error, "stderr", str(error))
            yield ready[0][0], f"not compiled: {said[-1500:]}"
            return
        for kernel, _ in ready:
            yield from checked([kernel], folder, seeds)
        return
    for kernel, _ in ready:
        yield kernel, _answer(kernel, library, folder, seeds)


def _answer(kernel: Printed, library: Path, folder: Path, seeds: int) -> str:
    """Return what differs for input for which the author's code is defined."""
    answers: list[str] = []
    for seed in range(_MORE * seeds):
        if seed >= seeds and "" in answers:
            break
        given = Input(kernel, seed)
        answer = differences(kernel, given, library)
        if answer in {"", "changes nothing"}:
            answers.append(answer)
        elif is_valid(kernel, given, folder):
            return answer
    return min(answers, default="no valid input")
