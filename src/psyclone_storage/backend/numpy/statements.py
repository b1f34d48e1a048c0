"""Statements of typed code as NumPy: one after the other, or a loop for all its turns at once.

Arrays count from 0 here, and a whole loop is done at once where `levels` says so: the counter is
then an array of its values, or the range of them where nothing but elements asks for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from psyclone_storage.backend.c.exact_sums import ADD_EXACTLY
from psyclone_storage.backend.meshes import abi
from psyclone_storage.backend.native.column_parts import found_name
from psyclone_storage.backend.numpy.levels import (
    ColumnFacts,
    CountedLoop,
    Fold,
    asked_first,
    is_surely,
    terms_of,
)
from psyclone_storage.backend.numpy.printer import indented, laid_out
from psyclone_storage.backend.numpy.spelling import Spelling, UnsupportedError, literal, plain
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.infrastructures.lfric import SINGLE_KINDS, SOMETIMES_SINGLE
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.expr import (
    Binary,
    CallFunction,
    Element,
    Expr,
    Index,
    Keyword,
    Literal,
    Name,
    Range,
    Section,
    Sort,
    Unary,
    canonical,
    integer_value,
    walk,
)
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import expressions_of, names_in, place_of_line, walk_lines
from psyclone_storage.ir.typed import Typing
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import (
    Assign,
    Blank,
    Call,
    Comment,
    Continue,
    Cycle,
    Declare,
    DirectiveBlock,
    Do,
    Exit,
    If,
    Line,
    Return,
    While,
)

_HINT = "Leave it to target 'c', or write it as assignments, choices and counted loops."
_OF_LIBRARY = frozenset(
    """exp log log10 sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh atan2
    hypot""".split()
)
"""Functions of the mathematical library of C, by its names."""
_OF_REALS = {"huge": "max", "tiny": "tiny", "epsilon": "eps"}
_SUMMAND, _FACTOR = 7, 8
"""Ranks of operands, of sums and of products, as `spelling` counts them."""
_EXTREMES = {"min": abi.LESSER, "max": abi.GREATER}


@dataclass(slots=True)
class ProcedureWriter:
    """The writer of the statements of one procedure, which may be a kernel.

    `varying` are the locals that have a value for each turn of the loop that is done at once, and
    `counter` its counter, `ranged` where that is a range. Counters `counted` from 0 are one less.
    Calls are those of `kernels`, and of what is `found` the variable has a name of its own.
    """

    code: KernelCode
    facts: ColumnFacts = ColumnFacts()
    varying: frozenset[str] = frozenset()
    counter: str = ""
    ranged: str = ""
    counted: frozenset[str] = frozenset()
    kernels: Mapping[str, KernelCode] = field(default_factory=dict)
    returned: tuple[str, ...] = ()
    found: frozenset[str] = frozenset()
    problems: list[Diagnostic] = field(default_factory=list)
    spelling: Spelling = field(init=False)
    typing: Typing = field(init=False)

    def __post_init__(self) -> None:
        """Find how expressions are spelled."""
        self.typing = Typing(self.code.symbol, self.code.structure, any_kind=True)
        self.spelling = Spelling(
            self._varies, self._element, self._is_whole, self._own, self._may_raise
        )

    # ------------------------------------------------------------------ statements

    def block(self, lines: Iterable[Line], behind: tuple[Line, ...] = ()) -> list[str]:
        """Return the text of statements; `behind` are those that are done after them."""
        every, found = tuple(lines), []
        for at, line in enumerate(every):
            try:
                found += self._line(line, (*every[at + 1 :], *behind))
            except UnsupportedError as error:
                self.refuse(line, str(error))
        return found or ["pass"]

    def refuse(self, line: Line, why: str) -> None:
        """Note what of a statement has no form (G010)."""
        place = place_of_line(line) or self.code.module.routine
        message = f"'{self.code.name}' cannot be printed for NumPy: {why}."
        self.problems.append(Diagnostic("G010", message, place, hint=_HINT))

    def _line(self, line: Line, behind: tuple[Line, ...]) -> list[str]:
        match line:
            case Blank() | Continue():
                return []
            case Comment(text):
                return [f"# {part.strip()}".rstrip() for part in text.splitlines()]
            case Assign():
                return [self._assign(line)]
            case If():
                return self._if(line, behind)
            case Do():
                return self._do(line, behind)
            case DirectiveBlock(directive, _, body):
                return [f"# {directive.value}: one thread does it", *self.block(body, behind)]
            case Call():
                return self._call(line)
            case While(condition=condition, body=body, name=""):
                test = "True" if condition is None else self.spelling.of(condition)
                return [f"while {test}:", *indented(self.block(body, (*body, *behind)))]
            case Return(None):
                return [self.ending()]
            case Exit(""):
                return ["break"]
            case Cycle(""):
                return ["continue"]
        raise UnsupportedError("NumPy has no words for this statement")

    def _call(self, line: Call) -> list[str]:
        match line:
            case Call(Name(text=text), (total, value)) if text == ADD_EXACTLY:
                return [f"{self.spelling.of(total)}.{abi.ADD_TO_SUM}({self._of_turns(value)})"]
            case Call(Name(key="random_number"), (target,)):
                return [f"{self.spelling.of(target)} = np.random.random()"]
            case Call(Name(text=text, key=key), args) if key in self.kernels:
                changed = changed_scalars(self.kernels[key])
                found = [self.spelling.of(args[at]) for at in changed]
                before = f"{', '.join(found)} = " if found else ""
                passed = [*map(self.spelling.of, args)]
                return [*laid_out(f"{before}{plain(text)}(", passed, ")", "")]
        raise UnsupportedError("it calls a procedure that does not stand in its place")

    def ending(self) -> str:
        """Return the statement that ends a procedure, and gives back what it changed."""
        return f"return {', '.join(self.returned)}".rstrip()

    def _assign(self, line: Assign) -> str:
        value, target = self.converted(line), line.target
        match target:
            case Name():
                declared = self.code.declared(target.text)
                if declared is not None and declared.shape:
                    return f"{self.name(target)}[...] = {value}"
                return f"{self.name(target)} = {value}"
            case Index():
                text = self.spelling.element(target)
                if text is None:
                    raise UnsupportedError("this cannot be assigned to")
                added = self._added_to(target, line.value)
                return f"{text} = {value}" if added is None else f"{text} {added}"
        raise UnsupportedError("this cannot be assigned to")

    def _added_to(self, target: Expr, value: Expr) -> str | None:
        """Return what is done to an element that is changed by a sum, None if it is not."""
        match value:
            case Binary(Operator.PLUS | Operator.MINUS as op, left, right) if (
                isinstance(target, Element)
                and canonical(left) == canonical(target)
                and self._kind(target) is self._kind(right)
            ):
                return f"{op.spelling}= {self.spelling.of(right)}"
        return None

    def _kind(self, expr: Expr) -> Intrinsic | None:
        found = self.typing.type_of(expr)
        return found.intrinsic if isinstance(found, ScalarType) else None

    def converted(self, line: Assign) -> str:
        """Return the value of an assignment, in the type of what is assigned to."""
        text, wanted, found = (
            self.spelling.of(line.value),
            *map(self._kind, (line.target, line.value)),
        )
        if wanted is Intrinsic.INTEGER and found is None:
            raise UnsupportedError("the type of a value is not known")
        if wanted is Intrinsic.INTEGER and found is Intrinsic.REAL:
            return f"{abi.WHOLE}({text})"
        if wanted is Intrinsic.INTEGER and isinstance(line.value, Binary):
            return f"{abi.KEPT}({text})"
        if wanted is Intrinsic.REAL is not found and isinstance(line.target, Name):
            return f"np.float64({text})"
        return text

    def _if(self, line: If, behind: tuple[Line, ...]) -> list[str]:
        found: list[str] = []
        for word, branch in zip(
            ["if", *["elif"] * len(line.branches)], line.branches, strict=False
        ):
            found.append(f"{word} {self.spelling.of(branch.condition)}:")
            found += indented(self.block(branch.body, behind))
        if line.otherwise:
            found += ["else:", *indented(self.block(line.otherwise, behind))]
        return found

    # ------------------------------------------------------------------ loops

    def _do(self, line: Do, behind: tuple[Line, ...]) -> list[str]:
        if line.name:
            raise UnsupportedError("a loop with a name may be left from inside of another")
        step = 1 if line.step is None else integer_value(line.step)
        if not step:
            raise UnsupportedError("the step of this loop is not known")
        key = line.variable.key
        if not self.varying:
            loop = CountedLoop(line, self.code, behind, self.facts)
            if asked_first(behind, key):
                raise UnsupportedError(f"the counter '{line.variable.text}' is asked for behind it")
            if loop.is_done_at_once():
                return self._at_once(loop, step)
        shift = 1 if integer_value(line.start) == 1 and self._is_index_alone(line) else 0
        start, stop = self._ends(line, step, shift)
        bounds = [start, stop] if step == 1 else [start, stop, str(step)]
        if step == 1 and start == "0":
            bounds = [stop]
        inner = self._with(from_0=key) if shift else self
        body = inner.block(line.body, (*line.body, *behind))
        return [f"for {self.name(line.variable)} in range({', '.join(bounds)}):", *indented(body)]

    def _ends(self, line: Do, step: int, shift: int) -> tuple[str, str]:
        """Return the first value of a counter and the one behind the last, `shift` less."""
        behind = 1 if step > 0 else -1
        return self.shifted(line.start, -shift), self.shifted(line.stop, behind - shift)

    def _is_index_alone(self, line: Do) -> bool:
        """Return whether a counter is only asked for as a part of indices that count from 1."""
        asked = sum(
            isinstance(part, Name) and part.key == line.variable.key
            for one in walk_lines(line.body) for expr in expressions_of(one) for part in walk(expr)
        )  # fmt: skip
        items = [
            (lower, item)
            for one in walk_lines(line.body) for expr in expressions_of(one) for part in walk(expr)
            if isinstance(part, Element) and isinstance(part.base, Name)
            for lower, item in zip(self._lowers(part), part.items, strict=False)
        ]  # fmt: skip
        direct = sum(
            terms_of(item).get(line.variable.key) == 1 for lower, item in items if lower == 1
        )
        return direct == asked

    def _at_once(self, loop: CountedLoop, step: int) -> list[str]:
        line, key = loop.loop, loop.key
        name = self.name(line.variable)
        inner = self._with(varying=loop.varying() | {key})
        inner.counter, folds = key, loop.folds()
        is_range = step == 1 and integer_value(line.start) == 1 and inner.is_range(line, folds)
        start, stop = self._ends(line, step, 1 if is_range else 0)
        if is_range:
            inner.ranged = key
            head = f"{name} = slice({start}, {stop})"
        else:
            bounds = [start, stop] if step == 1 else [start, stop, str(step)]
            head = f"{name} = np.arange({stop if bounds[:-1] == ['0'] else ', '.join(bounds)})"
        body: list[str] = []
        for one in line.body:
            match one:
                case Assign(Name(key=local)) if local in folds:
                    body.append(inner.folded(folds[local]))
                case Blank():
                    pass
                case _:
                    body += inner.block((one,))
        return [head, *body]

    def is_range(self, line: Do, folds: Mapping[str, Fold]) -> bool:
        """Return whether a counter is only asked for as an index, all of it, that counts from 1.

        Elements of a range are no copy, so that no local may be them, and it has no length.
        """
        asked = indices = 0
        for one in walk_lines(line.body):
            match one:
                case Assign(Name(key=key), value):
                    fold = folds.get(key)
                    is_new = (
                        isinstance(value, Binary) if fold is None else self._is_long(fold.value)
                    )
                case Call(args=(_, value)):
                    is_new = self._is_long(value)
                case _:
                    is_new = True
            if not is_new:
                return False
            for expr in expressions_of(one):
                for part in walk(expr):
                    asked += isinstance(part, Name) and part.key == line.variable.key
                    if isinstance(part, Element) and len(part.items) == 1:
                        at = part.items[0]
                        is_it = isinstance(at, Name) and at.key == line.variable.key
                        indices += is_it and self._lowers(part) == [1]
        return asked == indices

    def folded(self, fold: Fold) -> str:
        """Return what adds the values of all turns to a local, in their order."""
        name = self.name(fold.name)
        return f"{name} = {fold.how}({name}, {self._of_turns(fold.value)})"

    def _of_turns(self, value: Expr) -> str:
        """Return the values of all turns; what the text lets differ may be one number."""
        text = self.spelling.of(value)
        if not self.counter or self._is_long(value):
            return text
        return f"np.broadcast_to({text}, {self.name(Name(self.counter))}.shape)"

    def _is_long(self, value: Expr) -> bool:
        """Return whether a value is surely an array, of one for each turn."""
        return is_surely(value, self._is_of_counter)

    def _is_of_counter(self, expr: Expr) -> bool:
        match expr:
            case Name(key=key):
                return key == self.counter
            case Element(Name(), items):
                return any(self._is_long(one) for one in items)
        return False

    def _with(self, *, varying: frozenset[str] | None = None, from_0: str = "") -> ProcedureWriter:
        """Return a writer for what stands in a loop, whose counter may count from 0."""
        counted = self.counted | ({from_0} - {""})
        return replace(self, varying=self.varying if varying is None else varying, counted=counted)

    # ------------------------------------------------------------------ expressions

    def name(self, name: Name) -> str:
        """Return a name as Python has it: that of its declaration, unless NumPy's words need it."""
        declared = self.code.declared(name.text)
        text = declared.name if declared is not None else name.text
        if name.key in self.found:
            return found_name(plain(text))
        return plain(text, abi.NUMPY_WORDS)

    def _varies(self, expr: Expr) -> bool:
        return bool(self.varying) and bool(names_in(expr) & self.varying)

    def _may_be_array(self, expr: Expr) -> bool:
        return self._varies(expr) or self.typing.rank_of(expr) != 0

    def _is_whole(self, expr: Expr) -> bool:
        """Return whether a value is an integer.

        Raises:
            UnsupportedError: nobody knows.
        """
        kind = self._kind(expr)
        if kind is None and not is_surely(expr, lambda one: self._kind(one) is Intrinsic.REAL):
            raise UnsupportedError("the type of a value is not known")
        return kind is Intrinsic.INTEGER

    def _may_raise(self, expr: Binary) -> bool:
        """Return whether both sides of a division may be numbers of Python."""
        return not is_surely(expr.left, self._is_stored) and not is_surely(
            expr.right, self._is_stored
        )

    def _is_stored(self, expr: Expr) -> bool:
        """Return whether a value is an element of an array of NumPy."""
        match expr:
            case Element(Name(text)):
                declared = self.code.declared(text)
                return declared is not None and bool(declared.shape)
        return False

    def _own(self, expr: Expr) -> str | None:
        match expr:
            case Name():
                return self._named(expr)
            case Literal(intrinsic=Intrinsic.REAL) if self._is_single(expr):
                raise UnsupportedError("it computes in single precision")
            case Binary(Operator.POWER):
                return self._power(expr)
            case CallFunction(Name(key=word), items):
                return self._function(word, items)
        return None

    def _named(self, name: Name) -> str | None:
        if name.key in self.counted:
            return f"({self.name(name)} + 1)"
        found = self.code.symbol(name.text)
        if found.sort is Sort.CONSTANT and found.module and found.value is not None:
            if isinstance(found.value, Literal):
                return literal(found.value)
            raise UnsupportedError(f"the value of the constant '{name.text}' is no number")
        declared = self.code.declared(name.text)
        is_passed = declared is not None and declared.shape and not self.code.module.procedures
        if declared is not None and not is_passed and self._has_singles(declared):
            raise UnsupportedError("it computes in single precision")
        return self.name(name)

    def _has_singles(self, declared: Declare) -> bool:
        """Return whether a variable of Fortran has four bytes; kernels in Python widen elements."""
        kind = declared.type.kind_key if isinstance(declared.type, ScalarType) else None
        in_fortran = bool(self.code.module.procedures) and kind in SOMETIMES_SINGLE
        return in_fortran or kind in SINGLE_KINDS

    def _is_single(self, expr: Literal) -> bool:
        """Return whether a number of Fortran has no kind, and is not the same in double."""
        in_fortran = bool(self.code.module.procedures)
        if not in_fortran or expr.kind is not None or expr.is_double:
            return False
        value = float(literal(expr))
        return abs(value) > _LARGEST_IN_BOTH or value * _FRACTIONS_IN_BOTH % 1.0 != 0.0

    def _power(self, expr: Binary) -> str | None:
        exponent = integer_value(expr.right)
        base = self.spelling.of(expr.left)
        if self._is_whole(expr):
            if exponent is None or exponent < 0:
                raise UnsupportedError("the power of a whole number is not known to be one")
            return None
        if exponent is not None and exponent < 0:
            return f"(np.float64(1.0) / {abi.POWER}({base}, {-exponent}))"
        if exponent is not None and exponent > 1:
            return f"{abi.POWER}({base}, {exponent})"
        if exponent is None and self._is_whole(expr.right):
            if self._varies(expr.right):
                raise UnsupportedError("the exponent differs from level to level")
            return f"{abi.WHOLE_POWER}({base}, {self.spelling.of(expr.right)})"
        if exponent is None:
            return f'{abi.OF_LIBRARY}("pow", {base}, {self.spelling.of(expr.right)})'
        return None

    def _function(self, word: str, items: tuple[Expr, ...]) -> str | None:
        if word in _EXTREMES and not self._is_whole(items[0]):
            text = self.spelling.of(items[0])
            for item in items[1:]:
                text = f"{_EXTREMES[word]}({text}, {self.spelling.of(item)})"
            return text
        if word in _OF_LIBRARY:
            return f'{abi.OF_LIBRARY}("{word}", {", ".join(map(self.spelling.of, items))})'
        if word in _OF_REALS and self._kind(items[0]) is Intrinsic.REAL:
            return f"np.finfo(float).{_OF_REALS[word]}"
        if word == "huge" and self._is_whole(items[0]):
            return "np.iinfo(np.int32).max"
        if word == "sum" and len(items) == 1 and not self._is_whole(items[0]):
            return f"{abi.ADDED}(0.0, {self.spelling.of(items[0])})"
        if word == "dot_product" and not self._is_whole(items[0]):
            factors = " * ".join(self.spelling.of(one, _FACTOR) for one in items)
            return f"{abi.ADDED}(0.0, {factors})"
        if word in _ROUNDS and items:
            return f"{abi.WHOLE}({_ROUNDS[word]}({self.spelling.of(items[0])}))"
        if word == "real" and len(items) == 2 and self._is_double(items[1]):
            return f"np.float64({self.spelling.of(items[0])})"
        if word == "real" and self.code.module.procedures:
            raise UnsupportedError("it computes in single precision")
        return None

    @staticmethod
    def _is_double(kind: Expr) -> bool:
        kind = kind.value if isinstance(kind, Keyword) else kind
        return not (isinstance(kind, Name) and kind.key in SINGLE_KINDS | SOMETIMES_SINGLE)

    # ------------------------------------------------------------------ elements

    def _lowers(self, expr: Index) -> list[int | None]:
        """Return where each index of an array begins, None where that is not known."""
        declared = self.code.declared(expr.base.text) if isinstance(expr.base, Name) else None
        if declared is None:
            return []
        return [
            1 if not isinstance(one, Range) or one.lower is None else integer_value(one.lower)
            for one in declared.shape
        ]

    def _element(self, expr: Index) -> str | None:
        """Return the text of elements of an array, None if `expr` is none of its."""
        if not isinstance(expr.base, Name) or not isinstance(expr, Element | Section):
            return None
        declared = self.code.declared(expr.base.text)
        if declared is None or not declared.shape:
            return None
        if self._has_singles(declared):
            raise UnsupportedError("it computes in single precision")
        lowers = self._lowers(expr)
        if len(lowers) != len(expr.items):
            raise UnsupportedError(f"'{expr.base.text}' has another number of indices")
        several = [one for one in expr.items if not isinstance(one, Range) and self._is_array(one)]
        if len(several) > 1 or (several and len(expr.items) > 1):
            raise UnsupportedError(f"'{expr.base.text}' is looked at by several arrays of indices")
        pairs = zip(lowers, expr.items, declared.shape, strict=True)
        items = ", ".join(self._index(lower, item, extent) for lower, item, extent in pairs)
        return f"{self.name(expr.base)}[{items}]"

    def _is_array(self, expr: Expr) -> bool:
        """Return whether an index is an array of them, but for the turns of a loop."""
        for part in walk(expr):
            if isinstance(part, Section):
                return True
            if isinstance(part, Name):
                declared = self.code.declared(part.text)
                inside = any(isinstance(one, Element) and one.base == part for one in walk(expr))
                if declared is not None and declared.shape and not inside:
                    return True
        return False

    def _index(self, lower: int | None, item: Expr, extent: Expr) -> str:
        if lower is None:
            first = extent.lower if isinstance(extent, Range) else None
            if isinstance(item, Range) or first is None:
                raise UnsupportedError("an array begins where the text does not tell")
            return self.shifted(Binary(Operator.MINUS, item, first), 0)
        if isinstance(item, Range):
            if item.step is not None:
                raise UnsupportedError("elements with a step between them are looked at")
            start = "" if item.lower is None else self.shifted(item.lower, -lower)
            stop = "" if item.upper is None else self.shifted(item.upper, 1 - lower)
            return f"{'' if start == '0' else start}:{stop}"
        if isinstance(item, Name) and item.key == self.ranged:
            return self.name(item)
        return self.shifted(item, -lower)

    def shifted(self, expr: Expr, by: int) -> str:
        """Return a whole number that is `by` more, with all constants of its sum in one."""
        parts = list(_summands(expr, 1))
        by += sum(sign for sign, one in parts if isinstance(one, Name) and one.key in self.counted)
        constant, rest = by, []
        for sign, one in parts:
            value = integer_value(one)
            if value is None:
                rest.append((sign, one))
            else:
                constant += sign * value
        rest.sort(key=lambda item: item[0] < 0)
        text = ""
        for sign, one in rest:
            spelled = self._plainly(one)
            if text:
                text += f" {'+' if sign > 0 else '-'} {spelled}"
            else:
                text = spelled if sign > 0 else f"-{self._plainly(one, _FACTOR)}"
        if not text:
            return str(constant)
        if constant:
            text += f" {'+' if constant > 0 else '-'} {abs(constant)}"
        return text

    def _plainly(self, expr: Expr, outer: int = _SUMMAND) -> str:
        """Return a summand; a counter that counts from 0 is itself, as its 1 is added already."""
        if isinstance(expr, Name) and expr.key in self.counted:
            return self.name(expr)
        return self.spelling.of(expr, outer)


_ROUNDS = {"int": "", "floor": "np.floor", "ceiling": "np.ceil"}
_LARGEST_IN_BOTH, _FRACTIONS_IN_BOTH = 2.0**20, 2.0**10


def _summands(expr: Expr, sign: int) -> Iterator[tuple[int, Expr]]:
    match expr:
        case Binary(Operator.PLUS, left, right):
            yield from (*_summands(left, sign), *_summands(right, sign))
        case Binary(Operator.MINUS, left, right):
            yield from (*_summands(left, sign), *_summands(right, -sign))
        case Unary(Operator.MINUS, operand):
            yield from _summands(operand, -sign)
        case _:
            yield sign, expr


def changed_scalars(code: KernelCode) -> list[int]:
    """Return the positions of the arguments that are no arrays and are changed."""
    every = [code.declared(name) for name in code.dummies]
    return [
        at for at, item in enumerate(every)
        if item is not None and not item.shape and "intent(in)" not in item.attributes
    ]  # fmt: skip
