"""Legality of vectorising loops in NumPy with bit-identical results.

A vectorised loop executes each statement for all iterations before the next one. This is equivalent
if no iteration reads a value that another changes. In all statements, a subscript of each changed
array must be the counter plus the same offset. Locals must be assigned before they are read in each
iteration, and must not be read after the loop. Conditions that differ between iterations are not
vectorised, because a subscript may be out of bounds where the condition does not hold. Two dofs of
a column may coincide in different layers, except on spaces that exclude it (`ColumnFacts`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from psyclone_storage.base.records import dataclass
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import expressions_of, names_in, names_of_line, walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.typed import Typing
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.languages.c.exact_sums import ADD_EXACTLY

Terms = Mapping[str, int]
"""An integer as a sum: how often each term is in it, by its canonical text; '' is one."""
_FOLDS = {"min": "least", "max": "greatest"}


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """Facts about the arguments of a kernel, by key.

    `layered` are pairs of a field and its dofmap whose dofs are in separate layers. `layers` are
    numbers of layers.
    """

    layered: frozenset[tuple[str, str]] = frozenset()
    layers: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Fold:
    """A reduction statement: adds to a local variable, or updates a minimum or maximum."""

    name: ex.Name
    how: str
    value: ex.Expr


def terms_of(expr: ex.Expr) -> dict[str, int]:
    """Return the terms of an integer expression with their factors; '' is the constant term."""
    value = ex.integer_value(expr)
    if value is not None:
        return {"": value} if value else {}
    match expr:
        case ex.Binary(Operator.PLUS, left, right):
            return _sum(terms_of(left), terms_of(right), 1)
        case ex.Binary(Operator.MINUS, left, right):
            return _sum(terms_of(left), terms_of(right), -1)
        case ex.Unary(Operator.MINUS, operand):
            return _sum({}, terms_of(operand), -1)
        case ex.Unary(Operator.PLUS, operand):
            return terms_of(operand)
    return {ex.canonical(expr): 1}


def _sum(first: Terms, second: Terms, sign: int) -> dict[str, int]:
    found = dict(first)
    for term, count in second.items():
        found[term] = found.get(term, 0) + sign * count
    return {term: count for term, count in found.items() if count}


def fold_of(line: un.Line) -> Fold | None:
    """Return the reduction of a statement, or None if it is not one."""
    match line:
        case un.Assign(ex.Name() as name, ex.Binary(Operator.PLUS, ex.Name() as again, value)) if (
            again.key == name.key and name.key not in names_in(value)
        ):
            return Fold(name, "added", value)
        case un.Assign(
            ex.Name() as name, ex.CallFunction(ex.Name(key="min" | "max" as word), (first, value))
        ):
            if first == name and name.key not in names_in(value):
                return Fold(name, _FOLDS[word], value)
    return None


def adds_exactly(line: un.Line) -> bool:
    """Return whether a statement adds to an exact sum."""
    return isinstance(line, un.Call) and line.procedure == ex.Name(ADD_EXACTLY)


@dataclass(frozen=True, slots=True)
class CountedLoop:
    """A loop with its enclosing routine and the statements after it."""

    loop: un.Do
    code: Routine
    behind: tuple[un.Line, ...]
    facts: ColumnFacts

    @property
    def key(self) -> str:
        """The key of the counter."""
        return self.loop.variable.key

    def varying(self) -> frozenset[str]:
        """Return the counter and the locals whose values differ between iterations."""
        found = {self.key}
        before = 0
        while len(found) != before:
            before = len(found)
            for line in walk_lines(self.loop.body):
                match line:
                    case un.Assign(ex.Name(key=key), value) if names_in(value) & found:
                        found.add(key)
        return frozenset(found)

    def is_done_at_once(self) -> bool:
        """Return whether the loop can be vectorised."""
        lines = [
            one for one in walk_lines(self.loop.body) if not isinstance(one, un.Blank | un.Comment)
        ]
        if not lines or not all(
            isinstance(one, un.Assign | un.Do | un.If | un.Continue) or adds_exactly(one)
            for one in lines
        ):
            return False
        varying = self.varying()
        folds = self._folds(varying)
        if any(self._is_apart(one, varying) for one in lines):
            return False
        locals_ = {one.target.key for one in lines
                   if isinstance(one, un.Assign) and isinstance(one.target, ex.Name)}  # fmt: skip
        counters = {one.variable.key for one in lines if isinstance(one, un.Do)}
        if self.key in locals_ | counters:
            return False
        own = (locals_ | counters | {self.key}) - set(folds)
        if any(_flow(self.loop.body, key)[0] for key in own - {self.key}):
            return False
        if self._outlive(own):
            return False
        changed = _changed(lines)
        return all(self._is_in_place(name, own | changed) for name in changed)

    def folds(self) -> dict[str, Fold]:
        """Return the reductions of the loop, by key of the local variable."""
        return self._folds(self.varying())

    def _folds(self, varying: frozenset[str]) -> dict[str, Fold]:
        found = {}
        every = [
            one.key
            for line in walk_lines(self.loop.body)
            for expr in expressions_of(line)
            for one in ex.walk(expr)
            if isinstance(one, ex.Name)
        ]
        for line in self.loop.body:
            fold = fold_of(line)
            if fold is None or every.count(fold.name.key) != len(("target", "value")):
                continue
            if self._is_cut(fold):
                continue
            if any(self._varies(part, varying) for part in ex.walk(fold.value)):
                found[fold.name.key] = fold
        return found

    def _is_cut(self, fold: Fold) -> bool:
        """Return whether each iteration may truncate its value because the target is an integer."""
        typing = Typing(self.code.symbol, self.code.structure, any_kind=True)
        kinds = [one.intrinsic if isinstance(one, ScalarType) else None
                 for one in map(typing.type_of, (fold.name, fold.value))]  # fmt: skip
        return kinds[0] is Intrinsic.INTEGER is not kinds[1]

    @staticmethod
    def _varies(part: ex.Expr, varying: frozenset[str]) -> bool:
        return isinstance(part, ex.Name) and part.key in varying

    def _is_apart(self, line: un.Line, varying: frozenset[str]) -> bool:
        """Return whether a statement prevents vectorisation."""
        match line:
            case un.If(branches):
                heads = [one.condition for one in branches]
            case un.Do(name=name):
                heads = [line.start, line.stop, *([line.step] if line.step is not None else [])]
                if name:
                    return True
            case _:
                heads = []
        if any(names_in(one) & varying for one in heads):
            return True
        if isinstance(line, un.Call):
            return self._has_no_form(line.args[-1], varying)
        return any(self._has_no_form(one, varying) for one in expressions_of(line))

    def _has_no_form(self, expr: ex.Expr, varying: frozenset[str]) -> bool:
        """Return whether a subexpression has a different meaning when vectorised."""
        match expr:
            case ex.Name():
                declared = self.code.declared(expr.text)
                return declared is not None and bool(declared.shape)
            case ex.Element(ex.Name(), items):
                return any(self._has_no_form(one, varying) for one in items)
            case ex.CallFunction(ex.Name(key="merge"), items) if names_in(items[-1]) & varying:
                if any(isinstance(part, ex.Element) and names_in(part) & varying
                       for one in items for part in ex.walk(one)):  # fmt: skip
                    return True
                return any(self._has_no_form(one, varying) for one in items)
            case ex.CallFunction(ex.Name(key="sum" | "dot_product"), _):
                return True
            case ex.CallFunction(ex.Name(), items):
                return any(self._has_no_form(one, varying) for one in items)
            case ex.Index() | ex.ArrayLiteral():
                return True
            case ex.Binary(Operator.AND | Operator.OR, left, right):
                return bool(names_in(left) & varying or names_in(right) & varying)
            case ex.Binary(_, left, right):
                return self._has_no_form(left, varying) or self._has_no_form(right, varying)
            case ex.Unary(_, operand) | ex.Parenthesised(operand):
                return self._has_no_form(operand, varying)
        return False

    def _outlive(self, own: set[str]) -> bool:
        """Return whether code after the loop may read the last value of a local."""
        jumps = any(isinstance(one, un.Exit | un.Cycle) for one in walk_lines(self.code.body))
        for key in own:
            asked, is_set = _flow(self.behind, key)
            if asked or (not is_set and key in self.code.dummy_keys):
                return True
            if jumps and any(key in names_of_line(one) for one in walk_lines(self.behind)):
                return True
        return False

    def _is_in_place(self, array: str, own: set[str]) -> bool:
        """Return whether each iteration accesses only its own elements of an array."""
        items = [one.items for one in _elements(self.loop.body, array)]
        if len({len(one) for one in items}) != 1:
            return False
        forms = [tuple(map(terms_of, one)) for one in items]
        for at in range(len(items[0])):
            if self._is_one_distance([form[at] for form in forms], own):
                return True
        return len(items[0]) == 1 and self._is_layered(array, [form[0] for form in forms])

    def _is_one_distance(self, forms: list[dict[str, int]], own: set[str]) -> bool:
        first = forms[0]
        if first.get(self.key) not in (1, -1) or any(one != first for one in forms):
            return False
        rest = {term for term in first if term not in ("", self.key)}
        return not any(_mentions(term, key) for term in rest for key in own)

    def _is_layered(self, array: str, forms: list[dict[str, int]]) -> bool:
        """Return whether array elements are dofs of a space whose dofs are in separate layers."""
        if not self._counts_layers():
            return False
        maps = {name for field, name in self.facts.layered if field == array}
        distances = set()
        for form in forms:
            rest = {term: count for term, count in form.items() if term not in ("", self.key)}
            (term, count), *more = rest.items() or [("", 0)]
            if more or count != 1 or form.get(self.key) != 1:
                return False
            if term.partition("(")[0] not in maps or not term.endswith(")"):
                return False
            if _mentions(term, self.key):
                return False
            distances.add(form.get("", 0))
        return len(distances) == 1

    def _counts_layers(self) -> bool:
        """Return whether the loop has at most as many iterations as there are layers."""
        ends = [terms_of(self.loop.start), terms_of(self.loop.stop)]
        if self.loop.step is not None and (ex.integer_value(self.loop.step) or 0) < 0:
            ends.reverse()
        first, last = ends
        if set(first) - {""}:
            return False
        names = [term for term in last if term]
        if len(names) != 1 or names[0] not in self.facts.layers or last[names[0]] != 1:
            return False
        return last.get("", 0) - first.get("", 0) < 0


def is_surely(expr: ex.Expr, what: Callable[[ex.Expr], bool]) -> bool:
    """Return whether an operand of a sum or product certainly satisfies `what`."""
    match expr:
        case ex.Parenthesised(operand) | ex.Unary(_, operand):
            return is_surely(operand, what)
        case ex.Binary(op, left, right) if op is not Operator.POWER:
            return is_surely(left, what) or is_surely(right, what)
    return what(expr)


def asked_first(lines: Iterable[un.Line], key: str) -> bool:
    """Return whether statements may read a local before assigning it."""
    return _flow(lines, key)[0]


def _mentions(term: str, key: str) -> bool:
    word = "".join(one if one.isalnum() or one == "_" else " " for one in term)
    return key in word.split()


def _changed(lines: Iterable[un.Line]) -> set[str]:
    """Return the arrays of which statements change elements."""
    return {
        line.target.base.key
        for line in lines
        if isinstance(line, un.Assign)
        and isinstance(line.target, ex.Element)
        and isinstance(line.target.base, ex.Name)
    }


def _elements(lines: Iterable[un.Line], array: str) -> Iterator[ex.Element]:
    for line in walk_lines(tuple(lines)):
        for expr in expressions_of(line):
            for part in ex.walk(expr):
                match part:
                    case ex.Element(ex.Name(key=key)) if key == array:
                        yield part


def _flow(lines: Iterable[un.Line], key: str) -> tuple[bool, bool]:
    """Return whether a local may be read before it is assigned, and whether it is assigned."""
    for line in lines:
        asked, is_set = _flow_of(line, key)
        if asked or is_set:
            return asked, is_set
    return False, False


def _flow_of(line: un.Line, key: str) -> tuple[bool, bool]:
    match line:
        case un.Blank() | un.Comment() | un.Continue():
            return False, False
        case un.Assign(ex.Name() as target, value) if target.key == key:
            return key in names_in(value), True
        case un.Do():
            if any(key in names_in(one) for one in expressions_of(line)[1:]):
                return True, False
            return _flow(line.body, key)[0] and line.variable.key != key, line.variable.key == key
        case un.If(branches, otherwise):
            if any(key in names_in(one.condition) for one in branches):
                return True, False
            ways = [_flow(part, key) for part in (*(one.body for one in branches), otherwise)]
            return any(asked for asked, _ in ways), all(is_set for _, is_set in ways)
    return any(key in names_of_line(one) for one in walk_lines((line,))), False
