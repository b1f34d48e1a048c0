"""Printer of a point kernel as a NumPy function for all points of a box.

Each statement is executed for all points before the next one. This equals a loop over the points if
the kernel reads no neighbour of a value that it writes; other kernels are rejected. A condition
that differs between points becomes a mask: values are computed everywhere and stored where the mask
holds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import expressions_of, place_of_line, walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.typed import Typing
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.targets.gocean_python import abi
from psyclone_storage.targets.numpy.expressions import (
    Spelling,
    UnsupportedError,
    python_identifier,
    python_names,
)

_STEP = "    "
_OWN = (0, 0)
_WORDS = {Intrinsic.REAL: "float", Intrinsic.INTEGER: "int", Intrinsic.LOGICAL: "bool"}
_WORDS_HERE = frozenset({*abi.FROM_MODULE, abi.NUMPY, "at", "range", "min", "max", "int"})
"""The names that functions for kernels compute with."""
_HINT = "Leave it to a target with a compiler, or write it as assignments under conditions."


def emit_box_function(code: Routine) -> list[str]:
    """Return the lines of a function that executes `code` for all points of a box.

    Raises:
        CompileError: G010, for each unsupported statement.
    """
    writer = _Writer.of(code)
    writer.check_points()
    body = writer.block(code.body, _Mask())
    if writer.problems:
        raise CompileError(*writer.problems)
    head = f"def {code.name}({', '.join(map(_plain, code.dummies))}):"
    first, second = (_plain(name) for name in code.dummies[:2])
    imports = reading_of(code, _WORDS_HERE)
    like = next(name for name in code.dummies if writer.is_array(name))
    opening = [f"at = points({first}, {second}, {_plain(like)}.shape)", *imports]
    if writer.leaves:
        opening.append(f"{writer.alive} = np.True_")
    return [head, *(f"{_STEP}{line}" if line else "" for line in (*opening, *body))]


def reading_of(code: Routine, words: Collection[str] = ()) -> list[str]:
    """Return the statements that read module variables used by a kernel.

    Local names of the values are not in `words`.
    """
    lines = [
        f"from {code.module.name} import {_called(name, python_identifier(name, words))}"
        for name in _constants(code)
    ]
    for one in code.module.symbols.symbols.values():
        if one.module and one.sort is ex.Sort.VARIABLE:
            lines += _read(one, python_identifier(one.key, words))
    return lines


def _called(name: str, here: str) -> str:
    return name if name == here else f"{name} as {here}"


def _constants(code: Routine) -> Iterator[str]:
    """Yield the variables of the kernel's module that it reads, in order."""
    used = {
        name for line in walk_lines(code.body) for one in expressions_of(line)
        for name in python_names(one)
    }  # fmt: skip
    for item in code.declarations:
        if isinstance(item, un.Declare):
            used |= set[str]().union(*map(python_names, item.shape))
    for item in code.module.declarations:
        name = getattr(item, "name", "")
        if key_of(name) in used and code.declared(name) is None:
            yield name


def _read(symbol: ex.Symbol, here: str) -> tuple[str, str]:
    """Return the import of a variable of another module, and the conversion of its value."""
    array, _, index = symbol.name.rstrip("]").partition("[")
    assert isinstance(symbol.type, ScalarType)
    said = ", ".join(
        (
            f'"{symbol.module}.{array}"',
            here,
            f'"{_WORDS[symbol.type.intrinsic]}"',
            *filter(None, [index]),
        )
    )
    return (
        f"from {symbol.module} import {array} as {here}",
        f"{here} = {abi.MODULE_VALUE}({said})",
    )


def _plain(name: str) -> str:
    """Return a name of the kernel, renamed if it conflicts with names in the generated code."""
    return python_identifier(name, _WORDS_HERE)


def _named(expr: ex.Expr) -> str | None:
    return _plain(expr.text) if isinstance(expr, ex.Name) else None


@dataclass(frozen=True, slots=True)
class _Mask:
    """The points for which statements are executed: those where all `terms` hold."""

    terms: tuple[str, ...] = ()

    def narrowed(self, term: str) -> _Mask:
        """Return the mask combined with the condition `term`."""
        return _Mask((*self.terms, term))

    @property
    def text(self) -> str:
        """The text of the combined condition."""
        return " & ".join(self.terms)


@dataclass(slots=True)
class _Writer:
    """Writes the statements of one kernel."""

    code: Routine
    spelling: Spelling
    varying: set[str]
    written: set[str]
    fresh: NameTable
    alive: str
    leaves: bool = False
    left: bool = False
    assigned: set[str] = field(default_factory=set)
    problems: list[Diagnostic] = field(default_factory=list)

    @classmethod
    def of(cls, code: Routine) -> _Writer:
        """Return the writer for `code`."""
        local = {getattr(item, "name", "") for item in code.declarations}
        taken = NameTable({*code.dummies, *local, "at", "np", "points", "slice", "range"})
        varying = _varying(code)
        arrays = _Arrays(code)
        typing = Typing(code.symbol, code.structure, any_kind=True)

        def is_whole(expr: ex.Expr) -> bool:
            kind = typing.type_of(expr)
            return isinstance(kind, ScalarType) and kind.intrinsic is Intrinsic.INTEGER

        spelling = Spelling(
            lambda expr: _differs(expr, varying, code), arrays.element, is_whole, _named
        )
        written = {
            key_of(name)
            for line in walk_lines(code.body)
            if isinstance(line, un.Assign) and isinstance(line.target, ex.Index)
            for name in python_names(line.target.base)
        }
        leaves = any(isinstance(line, un.Return) for line in walk_lines(code.body))
        return cls(code, spelling, varying, written, taken, taken.fresh("alive"), leaves)

    def is_array(self, name: str) -> bool:
        """Return whether an argument is an array."""
        declared = self.code.declared(name)
        return declared is not None and bool(declared.shape)

    # ------------------------------------------------------------------ statements

    def block(self, lines: Iterable[un.Line], mask: _Mask) -> list[str]:
        """Return the text of statements for the points of `mask`."""
        found: list[str] = []
        for line in lines:
            try:
                found += self._line(line, mask)
            except UnsupportedError as error:
                self._refuse(line, str(error))
        return found or ["pass"]

    def _line(self, line: un.Line, mask: _Mask) -> list[str]:
        match line:
            case un.Blank() | un.Continue():
                return []
            case un.Comment(text):
                return [f"# {part.strip()}".rstrip() for part in text.splitlines()]
            case un.Assign():
                return self._assign(line, self._with_alive(mask))
            case un.If():
                return self._if(line, mask)
            case un.Do():
                return self._do(line, mask)
            case un.Return(None):
                return self._return(mask)
            case un.Exit("") | un.Cycle(""):
                if self._with_alive(mask).terms:
                    raise UnsupportedError("some points leave this loop before others do")
                return ["break" if isinstance(line, un.Exit) else "continue"]
        raise UnsupportedError("NumPy has no words for this statement")

    def _with_alive(self, mask: _Mask) -> _Mask:
        return mask.narrowed(self.alive) if self.left else mask

    def _assign(self, line: un.Assign, mask: _Mask) -> list[str]:
        value = self.spelling.of(line.value)
        match line.target:
            case ex.Name(text):
                return [self._local(text, line.value, value, mask)]
            case ex.Index():
                target = self.spelling.element(line.target)
                if target is None or self._looks_around(line.target):
                    raise UnsupportedError("only the own point of a field is written")
                if mask.terms:
                    return [f"np.copyto({target}, {value}, where={mask.text})"]
                return [f"{target} = {value}"]
        raise UnsupportedError("this cannot be assigned to")

    def _local(self, text: str, expr: ex.Expr, value: str, mask: _Mask) -> str:
        key, name = key_of(text), _plain(text)
        is_view = isinstance(expr, ex.Index) and self.spelling.element(expr) is not None
        if is_view and python_names(expr.base) & self.written:  # type: ignore[union-attr]
            value = f"{value}.copy()"
        if mask.terms and key in self.assigned:
            return f"{name} = np.where({mask.text}, {value}, {name})"
        self.assigned.add(key)
        return f"{name} = {value}"

    def _if(self, line: un.If, mask: _Mask) -> list[str]:
        if not any(self.spelling.varies(branch.condition) for branch in line.branches):
            return self._choice(line, mask)
        found: list[str] = []
        rest = mask
        last = len(line.branches) - 1
        for number, branch in enumerate(line.branches):
            test = self.spelling.of(branch.condition)
            here = self.fresh.fresh("where")
            found.append(f"{here} = {test}")
            found += self._lines(branch.body, rest.narrowed(here))
            if number < last or line.otherwise:
                other = self.fresh.fresh("elsewhere")
                found.append(f"{other} = np.logical_not({here})")
                rest = rest.narrowed(other)
        return [*found, *self._lines(line.otherwise, rest)]

    def _lines(self, lines: tuple[un.Line, ...], mask: _Mask) -> list[str]:
        return self.block(lines, mask) if lines else []

    def _choice(self, line: un.If, mask: _Mask) -> list[str]:
        """Return an `if` whose condition is the same for all points."""
        found: list[str] = []
        before = set(self.assigned)
        ways: list[set[str]] = []
        heads = [f"if {self.spelling.of(line.branches[0].condition)}:"]
        heads += [f"elif {self.spelling.of(one.condition)}:" for one in line.branches[1:]]
        parts = [*(one.body for one in line.branches), line.otherwise]
        for head, part in zip([*heads, "else:"], parts, strict=True):
            self.assigned = set(before)
            if part or head != "else:":
                found += [head, *_indented(self.block(part, mask))]
            if found[-1:] != [f"{_STEP}return"]:
                ways.append(self.assigned)
        # A name that only some paths assign may be undefined after them.
        self.assigned = set.intersection(*ways) if ways else before
        return found

    def _do(self, line: un.Do, mask: _Mask) -> list[str]:
        if line.name:
            raise UnsupportedError("a loop with a name may be left from inside of another")
        ends = [line.start, line.stop, *([line.step] if line.step is not None else [])]
        if any(map(self.spelling.varies, ends)):
            raise UnsupportedError("the number of turns differs from point to point")
        step = 1 if line.step is None else ex.integer_value(line.step)
        if not step:
            raise UnsupportedError("the step of this loop is not known")
        start, stop = self.spelling.of(line.start), self.spelling.of(_behind(line.stop, step))
        bounds = [start, stop] if step == 1 else [start, stop, str(step)]
        if step == 1 and start == "0":
            bounds = [stop]
        if any(isinstance(one, un.Return) for one in walk_lines(line.body)):
            self.left = True
        before = set(self.assigned)
        self.assigned.add(line.variable.key)
        head = f"for {_plain(line.variable.text)} in range({', '.join(bounds)}):"
        found = [head, *_indented(self.block(line.body, mask))]
        if not _certainly_done(line, step):
            self.assigned = before
        return found

    def _return(self, mask: _Mask) -> list[str]:
        whole = self._with_alive(mask)
        if not whole.terms:
            return ["return"]
        self.left = True
        before = f"{self.alive} & " if whole.terms[-1] == self.alive else ""
        test = " & ".join(mask.terms) if mask.terms else "np.True_"
        return [f"{self.alive} = {before}np.logical_not({test})"]

    # ------------------------------------------------------------------ what is refused

    def check_points(self) -> None:
        """Reject a kernel that depends on the order of points, or computes with indices."""
        for line in walk_lines(self.code.body):
            read = list(expressions_of(line))
            if isinstance(line, un.Assign) and isinstance(line.target, ex.Index):
                read = [line.value]
            for expr in read:
                self._check(line, expr)

    def _check(self, line: un.Line, expr: ex.Expr) -> None:
        if isinstance(expr, ex.Index) and isinstance(expr.base, ex.Name):
            declared = self.code.declared(expr.base.text)
            if declared is not None and declared.shape:
                own = key_of(expr.base.text) in map(key_of, self.code.dummies)
                if not own:
                    self._refuse(line, f"the local array '{expr.base.text}' is one for each point")
                elif key_of(expr.base.text) in self.written and self._looks_around(expr):
                    why = f"it looks at neighbours of '{expr.base.text}', which it writes"
                    self._refuse(line, f"{why}, so that the order of points shows")
                return
        if isinstance(expr, ex.Name) and key_of(expr.text) in map(key_of, self.code.dummies[:2]):
            self._refuse(line, "it computes with the indices of its point")
        for part in ex.children(expr):
            self._check(line, part)

    def _looks_around(self, element: ex.Index) -> bool:
        return offset_of(element, self.code) != _OWN

    def _refuse(self, line: un.Line, why: str) -> None:
        place = place_of_line(line) or self.code.module.routine
        message = f"The kernel '{self.code.name}' cannot be printed for NumPy: {why}."
        self.problems.append(Diagnostic("G010", message, place, hint=_HINT))


@dataclass(frozen=True, slots=True)
class _Arrays:
    """Arrays of a kernel, whose elements become slices for a box of points."""

    code: Routine

    def element(self, expr: ex.Index) -> str | None:
        """Return the text of an array element, or None if `expr` is not one."""
        match expr.base:
            case ex.Name(text):
                declared = self.code.declared(text)
            case _:
                return None
        if declared is None or not declared.shape:
            return None
        offset = offset_of(expr, self.code)
        if offset is None:
            raise UnsupportedError(f"'{text}' is looked at where the point does not tell")
        return f"{_plain(text)}[at({offset[0]}, {offset[1]})]"


def offset_of(expr: ex.Index, code: Routine) -> tuple[int, int] | None:
    """Return the offset of an array element from the kernel's point, or None if unknown."""
    if len(expr.items) != len(_OWN):
        return None
    found = [
        _distance(item, index) for item, index in zip(expr.items, code.dummies[:2], strict=True)
    ]
    return None if found[0] is None or found[1] is None else (found[0], found[1])


def _distance(item: ex.Expr, index: str) -> int | None:
    match item:
        case ex.Name(text) if key_of(text) == key_of(index):
            return 0
        case ex.Binary(Operator.PLUS | Operator.MINUS as op, ex.Name(text), by) if key_of(
            text
        ) == key_of(index):
            value = ex.integer_value(by)
            return value if value is None or op is Operator.PLUS else -value
        case ex.Binary(Operator.PLUS, by, ex.Name(text)) if key_of(text) == key_of(index):
            return ex.integer_value(by)
    return None


def _behind(stop: ex.Expr, step: int) -> ex.Expr:
    """Return the exclusive end of a loop, as for `range`."""
    value = ex.integer_value(stop)
    if value is not None:
        return ex.Literal(str(value + 1 if step > 0 else value - 1), Intrinsic.INTEGER)
    one = ex.Literal("1", Intrinsic.INTEGER)
    op, back = Operator.PLUS, Operator.MINUS
    if step < 0:
        op, back = back, op
    match stop:
        case ex.Binary(found, inner, ex.Literal("1")) if found is back:
            return inner
    return ex.Binary(op, stop, one)


def _certainly_done(line: un.Do, step: int) -> bool:
    """Return whether a loop has at least one complete iteration."""
    ends = ex.integer_value(line.start), ex.integer_value(line.stop)
    if ends[0] is None or ends[1] is None or (ends[1] - ends[0]) * step < 0:
        return False
    return not any(isinstance(one, un.Exit | un.Cycle) for one in walk_lines(line.body))


def _indented(lines: list[str]) -> list[str]:
    return [f"{_STEP}{line}" if line else "" for line in lines]


# ---------------------------------------------------------------------------- what differs


def _varying(code: Routine) -> set[str]:
    """Return the keys of locals whose values differ between points."""
    found: set[str] = set()
    while True:
        before = len(found)
        _spread(code.body, code, found, masked=False)
        if len(found) == before:
            return found


def _spread(lines: Iterable[un.Line], code: Routine, found: set[str], *, masked: bool) -> bool:
    """Add to `found` the varying locals in `lines`; return whether points may leave early."""
    for line in lines:
        match line:
            case un.Assign(ex.Name(text), value):
                if masked or _differs(value, found, code):
                    found.add(key_of(text))
            case un.If(branches, otherwise):
                inner = masked or any(_differs(one.condition, found, code) for one in branches)
                parts = [*(one.body for one in branches), otherwise]
                left = [_spread(part, code, found, masked=inner) for part in parts]
                masked = masked or any(left)
            case un.Do(body=body):
                left_inside = any(isinstance(one, un.Return) for one in walk_lines(body))
                _spread(body, code, found, masked=masked or left_inside)
                masked = masked or left_inside
            case un.Return():
                return masked
    return masked


def _differs(expr: ex.Expr, varying: set[str], code: Routine) -> bool:
    """Return whether a value may differ between points."""
    for part in ex.walk(expr):
        if isinstance(part, ex.Name):
            declared = code.declared(part.text)
            if key_of(part.text) in varying or (declared is not None and declared.shape):
                return True
    return False
