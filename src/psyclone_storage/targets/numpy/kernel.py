"""Printer of a point kernel as a NumPy function for all points of a box.

Each statement is executed for all points before the next one. This equals a loop over the points if
the kernel reads no neighbour of a value that it writes; other kernels are rejected. A condition
that differs between points becomes a mask: values are computed everywhere and stored where the mask
holds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.source import Span
from psyclone_storage.infrastructures.gocean import SINGLE
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.affine import with_offset
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import expressions_of, place_of_line, walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.typed import Typing
from psyclone_storage.ir.types import DataType, Intrinsic, ScalarType
from psyclone_storage.languages.c.bounds import start_of_message
from psyclone_storage.targets.gocean_python import abi
from psyclone_storage.targets.numpy.differing import (
    MaskedLoop,
    PointMask,
    diverging,
    masks_of,
    varies_at,
    varying_names,
)
from psyclone_storage.targets.numpy.expressions import (
    Spelling,
    UnsupportedError,
    python_identifier,
    python_names,
)

_STEP = "    "
_OWN = (0, 0)
_REAL = Intrinsic.REAL
_WORDS = {Intrinsic.REAL: "float", Intrinsic.INTEGER: "int", Intrinsic.LOGICAL: "bool"}
READING = "_variables_of_"
"""The start of the names of functions that return the module variables of kernels."""
_WORDS_HERE = frozenset(
    {*abi.FROM_MODULE, abi.NUMPY, "at", "dict", "range", "min", "max", "int", "zip"}
)
"""The names that functions for kernels compute with."""
_HINT = "Leave it to a target with a compiler, or write it as assignments under conditions."


def emit_box_function(code: Routine) -> list[str]:
    """Return the lines of a function that executes `code` for all points of a box.

    Raises:
        CompileError: G010, for each unsupported statement.
    """
    writer = _Writer.of(code)
    writer.check_points()
    body = writer.block(code.body, PointMask())
    if writer.problems:
        raise CompileError(*writer.problems)
    head = f"def {code.name}({', '.join(map(_plain, code.dummies))}):"
    first, second = (_plain(name) for name in code.dummies[:2])
    reading, numbers = reading_of(code, _WORDS_HERE)
    like = next(name for name in code.dummies if writer.is_array(name))
    opening = [f"at = points({first}, {second}, {_plain(like)}.shape)", *numbers]
    opening += list(writer.tables())
    if writer.leaves:
        opening.append(f"{writer.alive} = np.True_")
    return [*reading, head, *(f"{_STEP}{line}" if line else "" for line in (*opening, *body))]


def reading_of(code: Routine, words: Collection[str] = ()) -> tuple[list[str], list[str]]:
    """Return a function that returns the module variables a kernel reads, and its call.

    The function raises an exception if the type of a variable has changed. Both lists are empty
    without such variables. The local names of the values are not in `words`.
    """
    module = code.module.name
    read: list[tuple[str, str, DataType | None, str]] = [
        (module, item.name, item.type, item.name) for item in _constants(code)
    ]
    read += [
        (one.module, one.name, one.type, one.key)
        for one in code.module.symbols.symbols.values()
        if one.module and one.sort is ex.Sort.VARIABLE
    ]
    if not read:
        return [], []
    lines = [f"def {name_of_reading(code.name)}():"]
    names, values = [], []
    for owner, name, type_, wish in read:
        here = python_identifier(wish, words)
        array, _, index = name.rstrip("]").partition("[")
        assert isinstance(type_, ScalarType)
        shown = array if owner == module else f"{owner}.{array}"
        given = [f'"{shown}"', here, f'"{_WORDS[type_.intrinsic]}"', *filter(None, [index])]
        lines.append(f"{_STEP}from {owner} import {array}{'' if array == here else f' as {here}'}")
        names.append(here)
        values.append(f"{abi.MODULE_VALUE}({', '.join(given)})")
    lines += [f"{_STEP}return [", *(f"{_STEP * 2}{one}," for one in values), f"{_STEP}]", "", ""]
    return lines, [f"[{', '.join(names)}] = {name_of_reading(code.name)}()"]


def name_of_reading(kernel: str) -> str:
    """Return the name of the function that returns the module variables of a kernel."""
    return f"{READING}{kernel}"


def _constants(code: Routine) -> Iterator[un.Declare]:
    """Yield the variables of the kernel's module that it reads, in order."""
    used = {
        name for line in walk_lines(code.body) for one in expressions_of(line)
        for name in python_names(one)
    }  # fmt: skip
    for item in code.declarations:
        if isinstance(item, un.Declare):
            used |= set[str]().union(*map(python_names, item.shape))
    for item in code.module.declarations:
        if not isinstance(item, un.Declare) or key_of(item.name) not in used:
            continue
        if code.declared(item.name) is None:
            yield item


def _plain(name: str) -> str:
    """Return a name of the kernel, renamed if it conflicts with names in the generated code."""
    return python_identifier(name, _WORDS_HERE)


def _named(expr: ex.Expr) -> str | None:
    return _plain(expr.text) if isinstance(expr, ex.Name) else None


@dataclass(slots=True)
class _Writer:
    """Writes the statements of one kernel."""

    code: Routine
    spelling: Spelling
    varying: set[str]
    written: set[str]
    fresh: NameTable
    alive: str
    arrays: _Arrays
    leaves: bool = False
    left: bool = False
    loops: list[MaskedLoop] = field(default_factory=list)
    assigned: set[str] = field(default_factory=set)
    problems: list[Diagnostic] = field(default_factory=list)

    @classmethod
    def of(cls, code: Routine) -> _Writer:
        """Return the writer for `code`."""
        local = {getattr(item, "name", "") for item in code.declarations}
        taken = NameTable({*code.dummies, *local, "at", "np", "points", "slice", "range"})
        varying = varying_names(code)
        arrays = _Arrays(code)
        typing = Typing(code.symbol, code.structure, any_kind=True)

        def is_whole(expr: ex.Expr) -> bool:
            kind = typing.type_of(expr)
            return isinstance(kind, ScalarType) and kind.intrinsic is Intrinsic.INTEGER

        spelling = Spelling(
            lambda expr: varies_at(expr, varying, code),
            arrays.element,
            is_whole,
            _named,
            conditional=lambda expr, at: arrays.element(expr, at, guarded=True),
        )
        written = {
            key_of(name)
            for line in walk_lines(code.body)
            if isinstance(line, un.Assign) and isinstance(line.target, ex.Index)
            for name in python_names(line.target.base) & {*map(key_of, code.dummies)}
        }
        leaves = any(isinstance(line, un.Return) for line in walk_lines(code.body))
        return cls(code, spelling, varying, written, taken, taken.fresh("alive"), arrays, leaves)

    def is_array(self, name: str) -> bool:
        """Return whether an argument is an array."""
        declared = self.code.declared(name)
        return declared is not None and bool(declared.shape)

    def tables(self) -> Iterator[str]:
        """Yield the definitions of constants, tables and local arrays: a value for each index."""
        for item in self.code.declarations:
            if not isinstance(item, un.Declare):
                continue
            if item.value is not None and not item.shape:
                yield f"{_plain(item.name)} = {self.spelling.of(item.value)}"
            if not self._is_local_array(item.name):
                continue
            keys, value = self._keys(item.name), "0"
            if item.value is not None:
                values = item.value.items if isinstance(item.value, ex.ArrayLiteral) else ()
                match item.value:
                    case ex.Index(ex.Name("reshape"), (ex.ArrayLiteral(items), _)):
                        values = items
                        # The first index is the fastest one in typed code.
                        extents = ", ".join(map(self.spelling.of, item.shape[::-1]))
                        keys = f"(one[::-1] for one in np.ndindex({extents}))"
                value = f"({''.join(f'{self.spelling.of(one)}, ' for one in values)})"
                yield f"{_plain(item.name)} = dict(zip({keys}, {value}))"
            else:
                yield f"{_plain(item.name)} = dict.fromkeys({keys}, {value})"

    # ------------------------------------------------------------------ statements

    def block(self, lines: Iterable[un.Line], mask: PointMask) -> list[str]:
        """Return the text of statements for the points of `mask`."""
        found: list[str] = []
        before = self.spelling
        for line in lines:
            here = self._with_alive(mask)
            self.spelling = before.under_condition(here.text) if here.terms else before
            self.spelling = self._placed(self.spelling, place_of_line(line))
            try:
                found += self._line(line, mask)
            except UnsupportedError as error:
                self._refuse(line, str(error))
        self.spelling = before
        return found or ["pass"]

    def _placed(self, spelling: Spelling, place: Span | None) -> Spelling:
        """Return a spelling whose errors name a place."""
        return replace(spelling, place=start_of_message(self.code.name, place))

    def _line(self, line: un.Line, mask: PointMask) -> list[str]:
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
            case un.Exit() | un.Cycle():
                return self._jump(line, mask)
        raise UnsupportedError("NumPy has no words for this statement")

    def _with_alive(self, mask: PointMask, loops: Sequence[MaskedLoop] | None = None) -> PointMask:
        inside = self.loops if loops is None else loops
        return mask.with_all([self.alive if self.left else "", *masks_of(inside)])

    def _jump(self, line: un.Exit | un.Cycle, mask: PointMask) -> list[str]:
        """Return a jump: points that leave a loop before others do are masked from then on."""
        named = [one for one in self.loops if one.name == key_of(line.name)]
        if not named:
            raise UnsupportedError("this jump leaves a construct that is not known")
        loop = named[-1] if line.name else self.loops[-1]
        term = loop.stays if isinstance(line, un.Exit) else loop.goes_on
        if not term:
            return ["break" if isinstance(line, un.Exit) else "continue"]
        # A point that already left an iteration or an inner loop does not jump.
        inside = self.loops[self.loops.index(loop) + 1 :]
        passed = [loop.goes_on] if isinstance(line, un.Exit) else []
        where = mask.with_all([*passed, *masks_of(inside)])
        return [f"{term} = {term} & np.logical_not({where.test})"]

    def _assign(self, line: un.Assign, mask: PointMask) -> list[str]:
        value = self.spelling.of(line.value)
        match line.target:
            case ex.Name(text) if self._is_local_array(text):
                value = self._of_element(text, value)
                return [self._filled(text, self._kept(line.value, value), mask)]
            case ex.Name(text):
                return [self._local(text, line.value, value, mask)]
            case ex.Index(ex.Name(text)) if self._is_local_array(text):
                value = self._of_element(text, value)
                return self._element(line.target, self._kept(line.value, value), mask)
            case ex.Index():
                target = self.spelling.element(line.target)
                if target is None or self._looks_around(line.target):
                    raise UnsupportedError("only the own point of a field is written")
                layer = line.target.items[: -len(_OWN)]
                if any(map(self.spelling.varies, layer)):
                    place = target.removeprefix(f"{abi.PICK}(").removesuffix(")")
                    return [f"{abi.PUT}({place}, {value}, {mask.test})"]
                if mask.terms:
                    return [f"np.copyto({target}, {value}, where={mask.text})"]
                return [f"{target} = {value}"]
        raise UnsupportedError("this cannot be assigned to")

    def _kept(self, expr: ex.Expr, value: str) -> str:
        """Return a value that later writes to a field do not change."""
        is_view = isinstance(expr, ex.Index) and self.spelling.element(expr) is not None
        if is_view and python_names(expr.base) & self.written:  # type: ignore[union-attr]
            return f"{value}.copy()"
        return value

    def _is_local_array(self, text: str) -> bool:
        declared = self.code.declared(text)
        own = declared is not None and bool(declared.shape)
        return own and key_of(text) not in map(key_of, self.code.dummies)

    def _of_element(self, text: str, value: str) -> str:
        """Return a value as an element of a local array; one of Python takes the array's kind."""
        types = [one.type for one in self.code.declarations if isinstance(one, un.Declare)]
        declared = self.code.declared(text)
        is_real = declared is not None and getattr(declared.type, "intrinsic", None) is _REAL
        if not is_real or SINGLE not in types:
            return value
        assert declared is not None
        return f"np.float{32 if declared.type == SINGLE else 64}({value})"

    def _keys(self, text: str) -> str:
        """Return the indices of a local array, which is a dictionary with a value for each."""
        declared = self.code.declared(text)
        assert declared is not None
        return f"np.ndindex({', '.join(map(self.spelling.of, declared.shape))})"

    def _filled(self, text: str, value: str, mask: PointMask) -> str:
        """Return the assignment of one value to all elements of a local array."""
        name, keys = _plain(text), self._keys(text)
        if mask.terms:
            one = self.fresh.fresh("one")
            value = f"np.where({mask.text}, {value}, {name}[{one}])"
            return f"{name} = {{{one}: {value} for {one} in {keys}}}"
        return f"{name} = dict.fromkeys({keys}, {value})"

    def _element(self, target: ex.Index, value: str, mask: PointMask) -> list[str]:
        """Return the assignment of an element of a local array."""
        assert isinstance(target.base, ex.Name)
        name, index = _plain(target.base.text), self.arrays.index(target, self.spelling)
        if any(map(self.spelling.varies, target.items)):
            return [f"{abi.PUT}({name}, ({index}), {value}, {mask.test})"]
        place = f"{name}[{index}]"
        if mask.terms:
            return [f"{place} = np.where({mask.text}, {value}, {place})"]
        return [f"{place} = {value}"]

    def _local(self, text: str, expr: ex.Expr, value: str, mask: PointMask) -> str:
        key, name = key_of(text), _plain(text)
        value = self._kept(expr, value)
        if mask.terms and key in self.assigned:
            return f"{name} = np.where({mask.text}, {value}, {name})"
        self.assigned.add(key)
        return f"{name} = {value}"

    def _if(self, line: un.If, mask: PointMask) -> list[str]:
        if not any(self.spelling.varies(branch.condition) for branch in line.branches):
            return self._choice(line, mask)
        found: list[str] = []
        rest = mask
        last = len(line.branches) - 1
        for number, branch in enumerate(line.branches):
            others = self._with_alive(rest).text
            spelling = self.spelling.under_condition(others) if number else self.spelling
            test = self._placed(spelling, branch.place).of(branch.condition)
            here = self.fresh.fresh("where")
            found.append(f"{here} = {test}")
            found += self._lines(branch.body, rest.narrowed(here))
            if number < last or line.otherwise:
                other = self.fresh.fresh("elsewhere")
                found.append(f"{other} = np.logical_not({here})")
                rest = rest.narrowed(other)
        return [*found, *self._lines(line.otherwise, rest)]

    def _lines(self, lines: tuple[un.Line, ...], mask: PointMask) -> list[str]:
        return self.block(lines, mask) if lines else []

    def _choice(self, line: un.If, mask: PointMask) -> list[str]:
        """Return an `if` whose condition is the same for all points."""
        found: list[str] = []
        before = set(self.assigned)
        ways: list[set[str]] = []
        tests = [self._placed(self.spelling, one.place).of(one.condition) for one in line.branches]
        heads = [f"if {tests[0]}:", *(f"elif {one}:" for one in tests[1:])]
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

    def _do(self, line: un.Do, mask: PointMask) -> list[str]:
        opening, loop = self._entered(line, mask)
        self.loops.append(loop)
        made = self._once(line, mask) if loop.once else self._counted(line, mask, loop)
        self.loops.pop()
        return [*opening, *made]

    def _entered(self, line: un.Do, mask: PointMask) -> tuple[list[str], MaskedLoop]:
        """Return the state of a loop, with the masks of points that jumps may end."""
        once = bool(line.name) and ex.integer_value(line.start) == ex.integer_value(line.stop)
        varies = (
            once
            or bool(self._with_alive(mask).terms)
            or self.spelling.varies(line.stop)
            or diverging(line.body, self.spelling.varies)
        )
        jumps = {type(one) for one in walk_lines(line.body) if isinstance(one, un.Exit | un.Cycle)}
        stays = self.fresh.fresh("stays") if varies and un.Exit in jumps else ""
        # A construct that runs once has no next iteration.
        is_cycled = varies and not once and un.Cycle in jumps
        goes_on = self.fresh.fresh("goes_on") if is_cycled else ""
        return [f"{stays} = np.True_"] if stays else [], MaskedLoop(
            key_of(line.name), stays, goes_on, once
        )

    def _once(self, line: un.Do, mask: PointMask) -> list[str]:
        """Return the statements of a construct that runs once, which jumps leave."""
        self.assigned.add(line.variable.key)
        return self.block(line.body, mask)

    def _counted(self, line: un.Do, mask: PointMask, loop: MaskedLoop) -> list[str]:
        ends = [line.start, *([line.step] if line.step is not None else [])]
        if any(map(self.spelling.varies, ends)):
            raise UnsupportedError("the first value of the counter differs from point to point")
        step = 1 if line.step is None else ex.integer_value(line.step)
        if not step:
            raise UnsupportedError("the step of this loop is not known")
        start, stop = self.spelling.of(line.start), self.spelling.of(_behind(line.stop, step))
        opening, first = [], []
        if self.spelling.varies(line.stop):
            last, here = self.fresh.fresh("last"), self.fresh.fresh("where")
            opening = [f"{last} = {self.spelling.of(line.stop)}"]
            first = [f"{here} = {_plain(line.variable.text)} {'<=' if step > 0 else '>='} {last}"]
            stop = self._last_of_all(last, start, step, mask)
            mask = mask.narrowed(here)
        bounds = [start, stop] if step == 1 else [start, stop, str(step)]
        if step == 1 and start == "0":
            bounds = [stop]
        if any(isinstance(one, un.Return) for one in walk_lines(line.body)):
            self.left = True
        before = set(self.assigned)
        self.assigned.add(line.variable.key)
        head = f"for {_plain(line.variable.text)} in range({', '.join(bounds)}):"
        first += [f"if not np.any({loop.stays}):", f"{_STEP}break"] if loop.stays else []
        if loop.goes_on:
            first.append(f"{loop.goes_on} = np.True_")
        found = [*opening, head, *_indented([*first, *self.block(line.body, mask)])]
        if not _certainly_done(line, step):
            self.assigned = before
        return found

    def _last_of_all(self, last: str, start: str, step: int, mask: PointMask) -> str:
        """Return the exclusive end of a loop of which each point has its own `last` iteration."""
        where = self._with_alive(mask, self.loops[:-1]).test
        outer, on, back = ("max", "+", "-") if step > 0 else ("min", "-", "+")
        return f"int(np.{outer}(np.where({where}, {last}, {start} {back} 1))) {on} 1"

    def _return(self, mask: PointMask) -> list[str]:
        if not self._with_alive(mask).terms:
            return ["return"]
        before = f"{self.alive} & " if self.left else ""
        self.left = True
        where = mask.with_all(masks_of(self.loops))
        return [f"{self.alive} = {before}np.logical_not({where.test})"]

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
                    for item in expr.items:
                        self._check(line, item)
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

    def index(self, expr: ex.Index, spelling: Spelling) -> str:
        """Return the index of an element of a local array, counted from 0, as a tuple."""
        assert isinstance(expr.base, ex.Name)
        at = replace(spelling, array=expr.base.text)
        return "".join(f"{at.of(with_offset(one, -1))}, " for one in expr.items).strip()

    def element(self, expr: ex.Index, spelling: Spelling, *, guarded: bool = False) -> str | None:
        """Return the text of an element of an array, None if `expr` is not such an element.

        A `guarded` element is used only for some points; the field may lack its layer.
        """
        match expr.base:
            case ex.Name(text):
                declared = self.code.declared(text)
            case _:
                return None
        if declared is None or not declared.shape:
            return None
        if key_of(text) not in map(key_of, self.code.dummies):
            index = self.index(expr, spelling)
            if any(map(spelling.varies, expr.items)):
                return f"{abi.PICK}({_plain(text)}, ({index}))"
            return f"{_plain(text)}[{index}]"
        offset = offset_of(expr, self.code)
        if offset is None:
            raise UnsupportedError(f"'{text}' is looked at where the point does not tell")
        box = f"at({offset[0]}, {offset[1]})"
        layers = expr.items[: -len(_OWN)]
        layer = self.index(replace(expr, items=layers), spelling)
        if any(map(spelling.varies, layers)):
            return f"{abi.PICK}({_plain(text)}[{box}], ({layer}))"
        if guarded and layers and ex.integer_value(layers[0]) != 1:
            return f"{abi.LAYER}({_plain(text)}[{box}], {layer[:-1]})"
        return f"{_plain(text)}[{f'*{box}, {layer[:-1]}' if layer else box}]"


def offset_of(expr: ex.Index, code: Routine) -> tuple[int, int] | None:
    """Return the offset of an array element from the kernel's point, or None if unknown."""
    found = [
        _distance(item, index)
        for item, index in zip(expr.items[-len(_OWN) :], code.dummies[:2], strict=False)
    ]
    if len(found) != len(_OWN):
        return None
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
