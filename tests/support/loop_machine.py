"""An interpreter of loops that validates a verdict: it runs the iterations in other orders.

Numbers are integers, so sums are exact. Each iteration has its own copies of private variables,
which are undefined: reading an element that has not been set is an error. Reduction variables start
from the neutral value in each iteration and are combined at the end. After the loop, private
variables are undefined again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from psyclone_storage.analysis.bodies.independence import Independence
from psyclone_storage.ir.expr import Binary, Expr, Index, Literal, Member, Name, Range, Unary
from psyclone_storage.ir.operators import AnyOperator, Operator
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.types import DerivedType
from psyclone_storage.ir.unit import (
    Assign,
    Blank,
    Comment,
    Cycle,
    Declare,
    Do,
    Exit,
    If,
    Line,
    While,
)

NOTHING = -(10**15)
"""What an element holds that has not been set."""

Memory = dict[str, np.ndarray]
Touched = tuple[str, int]
Order = Callable[[list[int]], list[int]]


class UndefinedError(AssertionError):
    """Something is read that nobody has set."""


class OutOfBoundsError(Exception):
    """A subscript leaves its array, or a loop does not end."""


class _JumpError(Exception):
    def __init__(self, word: str, name: str) -> None:
        super().__init__(word)
        self.word, self.name = word, name


_OPERATORS: dict[AnyOperator, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    Operator.PLUS: np.add,
    Operator.MINUS: np.subtract,
    Operator.TIMES: np.multiply,
    Operator.DIVIDE: lambda left, right: np.array(int(left / right)),
    Operator.LESS: np.less,
    Operator.LESS_EQUAL: np.less_equal,
    Operator.GREATER: np.greater,
    Operator.GREATER_EQUAL: np.greater_equal,
    Operator.EQUAL: np.equal,
    Operator.NOT_EQUAL: np.not_equal,
    Operator.AND: np.logical_and,
    Operator.OR: np.logical_or,
}
_NEUTRAL = {"+": 0, "*": 1, "max": -(10**9), "min": 10**9, ".and.": 1, ".or.": 0}
_JOINED: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "+": np.add,
    "*": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    ".and.": np.logical_and,
    ".or.": np.logical_or,
}


@dataclass
class Machine:
    """The variables of a routine, and what iterations touch while `trace` is a list."""

    memory: Memory
    functions: dict[str, Callable[..., object]] = field(default_factory=dict)
    trace: list[tuple[Touched, bool]] | None = None
    instead: dict[str, Callable[[Do], None]] = field(default_factory=dict)
    """What is done in the place of a loop, by its counter."""

    # ------------------------------------------------------------------------ expressions

    def value(self, expr: Expr) -> np.ndarray:
        match expr:
            case Literal(text):
                if text.startswith("."):
                    return np.array(int(text.startswith(".true")))
                return np.array(int(text))
            case Index(Name(text), items) if text in self.functions:
                given = (self.value(item) for item in items)
                return np.array(self.functions[text](*given))
            case Name() | Index() | Member():
                return self._read(expr)
            case Unary(Operator.MINUS, operand):
                return -self.value(operand)
            case Unary(Operator.NOT, operand):
                return np.logical_not(self.value(operand))
            case Binary(op, left, right):
                return np.array(_OPERATORS[op](self.value(left), self.value(right)))
        raise AssertionError(expr)

    def _read(self, expr: Expr) -> np.ndarray:
        name, place = self._place(expr)
        self._note(name, place, False)
        found = self.memory[name][place]
        if np.any(found == NOTHING):
            raise UndefinedError(f"'{name}' is read and not set")
        return found.copy()

    def _place(self, expr: Expr) -> tuple[str, tuple[int | slice, ...]]:
        match expr:
            case Name(text):
                return text, (...,)  # type: ignore[return-value]
            case Member(Name(text), name):
                return f"{text}%{name}", (...,)  # type: ignore[return-value]
            case Index(Name() | Member() as base, items):
                name = self._place(base)[0]
                shape = self.memory[name].shape
                return name, tuple(map(self._subscript, items, shape))
        raise AssertionError(expr)

    def _subscript(self, item: Expr, size: int) -> int | slice:
        if not isinstance(item, Range):
            index = int(self.value(item)) - 1
            if not 0 <= index < size:
                raise OutOfBoundsError
            return index
        start = 1 if item.lower is None else int(self.value(item.lower))
        stop = size if item.upper is None else int(self.value(item.upper))
        step = 1 if item.step is None else int(self.value(item.step))
        if start < 1 or stop > size or step < 1:
            raise OutOfBoundsError
        return slice(start - 1, max(stop, start - 1), step)

    def _note(self, name: str, place: tuple[int | slice, ...], writes: bool) -> None:
        if self.trace is not None:
            numbers = np.arange(self.memory[name].size).reshape(self.memory[name].shape)
            for number in np.atleast_1d(numbers[place]).ravel():
                self.trace.append(((name, int(number)), writes))

    # ------------------------------------------------------------------------ statements

    def run(self, lines: Iterable[Line]) -> None:
        for line in lines:
            match line:
                case Assign(target, value):
                    self._assign(target, self.value(value))
                case Do():
                    self._loop(line)
                case While():
                    self._while(line)
                case If(branches, otherwise):
                    found = (one.body for one in branches if self.value(one.condition))
                    self.run(next(found, otherwise))
                case Cycle(name) | Exit(name):
                    raise _JumpError("cycle" if isinstance(line, Cycle) else "exit", name)
                case Comment() | Blank():
                    pass
                case _:
                    raise AssertionError(line)

    def _assign(self, target: Expr, value: np.ndarray) -> None:
        name, place = self._place(target)
        self._note(name, place, True)
        self.memory[name][place] = value

    def counts(self, loop: Do) -> list[int]:
        step = 1 if loop.step is None else int(self.value(loop.step))
        start, stop = int(self.value(loop.start)), int(self.value(loop.stop))
        return list(range(start, stop + (1 if step > 0 else -1), step))

    def _loop(self, loop: Do) -> None:
        if loop.variable.text in self.instead:
            self.instead[loop.variable.text](loop)
            return
        numbers = self.counts(loop)
        step = 1 if loop.step is None else int(self.value(loop.step))
        start = int(self.value(loop.start))
        for number in numbers:
            self._set(loop.variable.text, number)
            if not self.iteration(loop.body, loop.name):
                return
        self._set(loop.variable.text, numbers[-1] + step if numbers else start)

    def _set(self, name: str, number: int) -> None:
        self._note(name, (...,), True)  # type: ignore[arg-type]
        self.memory[name][...] = number

    def _while(self, loop: While) -> None:
        for _ in range(50):
            if loop.condition is not None and not self.value(loop.condition):
                return
            if not self.iteration(loop.body, loop.name):
                return
        raise OutOfBoundsError

    def iteration(self, lines: Iterable[Line], name: str) -> bool:
        """Run the body of a loop once; return whether the loop goes on."""
        try:
            self.run(lines)
        except _JumpError as jump:
            if jump.name not in ("", name):
                raise
            return jump.word == "cycle"
        return True


def memory_of(code: Routine, size: int, seed: int) -> Memory:
    """Return random values for all variables of a routine; components have names with a `%`."""
    random = np.random.default_rng(seed)
    memory: Memory = {}

    def add(name: str, item: Declare) -> None:
        extents = (size,) * len(item.shape)
        memory[name] = np.array(random.integers(1, 4, extents), dtype=np.int64)

    structures = {one.name: one.components for one in code.module.structures}
    for item in (*code.declarations, *code.module.declarations):
        if isinstance(item, Declare) and isinstance(item.type, DerivedType):
            for part in structures[item.type.name]:
                add(f"{item.name}%{part.name}", part)
        elif isinstance(item, Declare):
            add(item.name, item)
    return memory


# ---------------------------------------------------------------------------- one loop, proven


def check_any_order(machine: Machine, loop: Do, verdict: Independence, order: Order) -> None:
    """Run `loop` in another order, as `verdict` allows it, and leave the memory as it then is."""
    memory = machine.memory
    shared = {one.name: memory[one.name].copy() for one in verdict.reductions}
    own = {*verdict.private, loop.variable.text}
    for number in order(machine.counts(loop)):
        for name in _parts(own, memory):
            memory[name] = np.full_like(memory[name], NOTHING)
        for one in verdict.reductions:
            memory[one.name] = np.full_like(memory[one.name], _NEUTRAL[one.operator.spelling])
        memory[loop.variable.text][...] = number
        assert machine.iteration(loop.body, loop.name), "an iteration ends the loop"
        for one in verdict.reductions:
            shared[one.name] = _JOINED[one.operator.spelling](shared[one.name], memory[one.name])
    for name in _parts(own, memory):
        memory[name] = np.full_like(memory[name], NOTHING)
    memory.update({name: value.astype(np.int64) for name, value in shared.items()})


def _parts(names: Iterable[str], memory: Memory) -> list[str]:
    return [one for one in memory if one.split("%")[0] in names]


def is_parallel(machine: Machine, loop: Do, kept: Collection[str]) -> bool:
    """Run `loop` and return whether, with these values, its iterations have no order.

    No iteration may need what another one has set, nor may two set the same element of what is
    `kept` for the caller.
    """
    touched: list[tuple[set[Touched], set[Touched]]] = []
    for number in machine.counts(loop):
        machine.memory[loop.variable.text][...] = number
        machine.trace = []
        goes_on = machine.iteration(loop.body, loop.name)
        exposed: set[Touched] = set()
        written: set[Touched] = set()
        for place, writes in machine.trace:
            if writes:
                written.add(place)
            elif place not in written:
                exposed.add(place)
        machine.trace = None
        if not goes_on:
            return False
        touched.append((exposed, written))
    return not any(
        exposed & others or any(name in kept for name, _ in written & others)
        for at, (exposed, written) in enumerate(touched)
        for other, (_, others) in enumerate(touched)
        if at != other
    )


def orders(random: np.random.Generator) -> Sequence[Order]:
    """Return forwards, backwards and two orders by chance."""
    return (
        lambda numbers: numbers,
        lambda numbers: numbers[::-1],
        lambda numbers: [numbers[at] for at in random.permutation(len(numbers))],
        lambda numbers: [numbers[at] for at in random.permutation(len(numbers))],
    )
