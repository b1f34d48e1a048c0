"""Translation of a Fortran kernel's statements to Python.

Local variables for positions, such as `jiu = ji + 1` and `ij = map(df) + k`, have no Python
equivalent. They are replaced by their values. These values are tracked through all control-flow
paths, so that each element is identified correctly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from psyclone_storage.analysis.bodies.reached import leaves
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.base.source import Span
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.affine import AffineForm, affine_form
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator, Precedence
from psyclone_storage.ir.rewrite import names_in, place_of_line, substituted, walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.typing import INTEGER, CScope, PrintError
from psyclone_storage.languages.c.types import CValue
from psyclone_storage.languages.operators import PYTHON
from psyclone_storage.languages.python.translate.expressions import ExpressionWriter, checked
from psyclone_storage.languages.python.translate.local_arrays import LocalArray, arrays_of_kernel
from psyclone_storage.languages.python.translate.module import NOTHING, ModuleNames, reserved
from psyclone_storage.languages.python.translate.protocols import ArgumentForm, PlacedLine
from psyclone_storage.languages.python.translate.values import NoPythonError

_HINT = "Keep the kernel in Fortran, or write this by what kernels in Python have words for."


@dataclass(frozen=True, slots=True)
class HiddenValue:
    """Value of an integer without a Python variable; None if it differs between paths."""

    of: AffineForm | None


_ONE_MORE = " + 1"
_DIFFERS = HiddenValue(None)
HiddenValues = dict[str, HiddenValue]


@dataclass(slots=True)
class KernelWriter:
    """Translator of one kernel.

    - `problems`: errors found so far.

    - `reasons`: by location, reasons for which array statements could not be converted to loops.

    - `hidden`: local variables that have no Python variable.

    - `one_less`: loop variables whose value in Python is one less.

    - `homes`: variables of other modules, each with the key of its local variable.

    - `begun`: Python names of local variables that must be initialised at the start.
    """

    code: Routine
    scope: CScope
    module: ModuleNames
    form: ArgumentForm
    hidden: HiddenValues = field(default_factory=dict)
    read: dict[str, str] = field(default_factory=dict)
    homes: dict[str, str] = field(default_factory=dict)
    problems: list[Diagnostic] = field(default_factory=list)
    loops: list[str] = field(default_factory=list)
    ever_hidden: set[str] = field(default_factory=set)
    one_less: set[str] = field(default_factory=set)
    arrays: dict[str, LocalArray] = field(default_factory=dict)
    reasons: Mapping[Span | None, str] = field(default_factory=dict)
    begun: frozenset[str] = frozenset()

    def lines(self) -> list[PlacedLine]:
        """Return the body of the function."""
        if self.code.internal is not None:
            self._refuse("it has procedures of its own", self.code.internal.place)
        for item in self.code.declarations:
            if isinstance(item, un.Opaque) and "save" in item.names:
                self._refuse("its variables keep their values between calls", item.place)
        self.form.begin(self)
        made = [*self._local_arrays(), *self._begun()]
        body = [*made, *self._block(without_end(self.code.body))] or [PlacedLine("pass")]
        return [*(PlacedLine(line) for line in self.read.values()), *body]

    def _local_arrays(self) -> list[PlacedLine]:
        """Return the creation of local arrays, which are zero where Fortran has no value."""
        made: list[PlacedLine] = []
        if not self.form.has_arrays:
            return made
        for array in arrays_of_kernel(self.code):
            try:
                self.arrays[array.declared.key] = array
                made.append(PlacedLine(array.made(self), array.place))
            except NoPythonError as error:
                self._refuse(error.reason, array.place)
            except PrintError as error:
                self._refuse(error.reason, array.place)
        return made

    def _begun(self) -> Iterator[PlacedLine]:
        """Yield initial values for local variables that only Python requires.

        The values are arbitrary, because a valid Fortran program never reads them.
        """
        own = [one for one in self.code.declarations if isinstance(one, un.Declare)]
        for item in own if self.begun else ():
            if self.local(item.key) in self.begun and not item.shape:
                type_ = self.scope.type_of(self.scope.symbol(item.key))
                value = NOTHING[type_.intrinsic]
                place = self.code.place_of(item.name)
                yield PlacedLine(f"{self.local(item.key)} = {value}", place)

    # ------------------------------------------------------------------------ names

    def local(self, key: str) -> str:
        """Return the Python name of an argument or local variable."""
        return self.module.local(key)

    def inlined(self, expr: ex.Expr) -> ex.Expr:
        """Return an expression with local variables that have no Python variable replaced."""
        used = names_in(expr) & self.hidden.keys()
        if unclear := sorted(key for key in used if self.hidden[key].of is None):
            raise NoPythonError(
                f"'{unclear[0]}' tells where an element lies, and differs between ways to here"
            )
        values = {key: known.of.expr for key, known in self.hidden.items()
                  if key in used and known.of is not None}  # fmt: skip
        return substituted(expr, values) if values else expr

    def element(self, name: ex.Name, items: tuple[ex.Expr, ...]) -> CValue | None:
        """Return an element of an argument or local array; None if `name` is not an array."""
        if (array := self.arrays.get(name.key)) is not None:
            return array.element(self, items)
        return self.form.element(self, name, items)

    def summed(self, section: ex.Section) -> CValue | None:
        """Return the sum of an array section with known bounds."""
        return self.form.summed(self, section)

    def typed(self, key: str) -> CValue:
        """Return a variable; raise `NoPythonError` if Python kernels do not support its type."""
        symbol = self.scope.symbol(key)
        type_ = self.scope.type_of(symbol)
        checked(type_, symbol.name)
        return CValue(self.local(key), type_)

    def scalar(self, symbol: ex.Symbol, scope: CScope) -> CValue:
        """Return a scalar of the kernel or of a module."""
        key, type_ = symbol.key, scope.type_of(symbol)
        if symbol.sort is ex.Sort.CONSTANT:
            return CValue(self.module.constant(symbol, scope), type_)
        if key in self.hidden:
            raise NoPythonError(f"'{symbol.name}' tells where an element lies, which Python hides")
        if symbol.origin in (ex.Origin.LOCAL, ex.Origin.DUMMY):
            if "save" in symbol.attributes or symbol.value is not None:
                raise NoPythonError(f"'{symbol.name}' keeps its value between calls")
            if (number := self.form.number(self, key)) is not None:
                return number
            if key in self.one_less:
                return CValue(f"{self.local(key)} + 1", type_, Precedence.SUM)
            return CValue(self.local(key), type_)
        home = symbol.module_key
        if not home or home == self.code.module.key:
            return CValue(self.module.variable(symbol, scope), type_)
        return CValue(self._of_other_module(symbol, scope), type_)

    def _of_other_module(self, symbol: ex.Symbol, scope: CScope) -> str:
        """Return a local variable that holds another module's variable during the call."""
        type_ = scope.type_of(symbol)
        checked(type_, symbol.name)
        original = key_in_python(symbol.name)
        if original != key_of(symbol.name) and scope.around.symbol(symbol.module_key, original):
            raise NoPythonError(f"'{symbol.name}' and '{original}' would be one name in Python")
        word = {"real": "float", "integer": "int", "logical": "bool"}[type_.intrinsic.value]
        home = f"{symbol.module_key}.{original}"
        if home not in self.homes:
            own = self.code.declared(symbol.key) or symbol.key in self.homes.values()
            key = self.module.fresh.fresh(f"{symbol.key}_there") if own else symbol.key
            self.homes[home] = key
            name = self.local(key)
            self.module.imported.setdefault(symbol.module_key)
            self.read.setdefault(name, f"{name}: {word} = {home}")
        return self.local(self.homes[home])

    def sum_text(self, of: AffineForm) -> CValue:
        """Return a sum of integers with its constants combined."""
        constant, text = of.constant, ""
        for factor, term in of.terms:
            found = self._expressions.whole(term)
            if isinstance(term, ex.Name) and term.key in self.one_less:
                constant += factor
                found = CValue(self.local(term.key), INTEGER)
            elif found.rank == Precedence.SUM and found.text.endswith(_ONE_MORE):
                constant += factor
                found = CValue(found.text.removesuffix(_ONE_MORE), INTEGER, Precedence.SUM)
            if abs(factor) != 1:
                product = f"{abs(factor)} * {found.within(Precedence.POWER)}"
                found = CValue(product, INTEGER, Precedence.PRODUCT)
            if text:
                text += (
                    f" {'+' if factor > 0 else '-'} {found.within(Precedence.SUM + (factor < 0))}"
                )
            else:
                text = (
                    found.within(Precedence.SUM)
                    if factor > 0
                    else f"-{found.within(Precedence.PRIMARY)}"
                )
        if not text:
            return CValue(str(constant), INTEGER)
        if constant:
            text = f"{text} {'+' if constant > 0 else '-'} {abs(constant)}"
        return CValue(text, INTEGER, Precedence.PRIMARY if text.isidentifier() else Precedence.SUM)

    # ------------------------------------------------------------------------ statements

    @property
    def _expressions(self) -> ExpressionWriter:
        return ExpressionWriter(self.scope, self)

    def _block(self, lines: Iterable[un.Line]) -> list[PlacedLine]:
        found: list[PlacedLine] = []
        for line in lines:
            try:
                found += self._line(line)
            except (NoPythonError, PrintError) as error:
                place = place_of_line(line)
                own = error.place if isinstance(error, NoPythonError) else None
                self._refuse(self.reasons.get(place, error.reason), own or place)
        return found

    def _line(self, line: un.Line) -> list[PlacedLine]:
        place = place_of_line(line)
        match line:
            case un.Blank():
                return [PlacedLine("")]
            case un.Comment(text):
                words = text.strip().lstrip("!<>").strip()
                return [PlacedLine(f"# {words}")] if words.strip("-=*") else []
            case un.Continue() | un.DirectiveLine():
                return []
            case un.Assign():
                return [PlacedLine(text, place) for text in self._assign(line)]
            case un.If():
                return self._if(line)
            case un.Select(word="case", alias=None):
                return self._select(line)
            case un.Do():
                return self._do(line)
            case un.Return(None):
                return [PlacedLine("return", place)]
            case un.Exit(name) | un.Cycle(name) if self.loops and name in ("", self.loops[-1]):
                return [PlacedLine("break" if isinstance(line, un.Exit) else "continue", place)]
        raise NoPythonError("kernels in Python have no words for this statement")

    def _assign(self, line: un.Assign) -> Iterator[str]:
        target = line.target
        match target:
            case ex.Name() if (to := self._target(target, ())) is not None:
                yield f"{to.text} = {self._expressions.assigned(line.value, to.type)}"
            case ex.Name():
                yield from self._local(target, line.value)
            case ex.Index(ex.Name() as name, items) if (
                to := self._target(name, items)
            ) is not None:
                yield f"{to.text} = {self._expressions.assigned(line.value, to.type)}"
                self._forget({name.key})
            case _:
                raise NoPythonError(f"'{ex.spell(target)}' cannot be assigned to")

    def _target(self, name: ex.Name, items: tuple[ex.Expr, ...]) -> CValue | None:
        """Return an assigned element, or None if `name` is not an array."""
        if (array := self.arrays.get(name.key)) is not None:
            return array.element(self, items)
        return self.form.written(self, name, items)

    def _local(self, name: ex.Name, value: ex.Expr) -> Iterator[str]:
        """Yield an assignment to a local variable.

        Omit it if the variable has no Python equivalent.
        """
        symbol = self.scope.symbol(name.key)
        if symbol.origin is not ex.Origin.LOCAL:
            raise NoPythonError(f"'{name.text}' is no local variable, and is assigned to")
        type_ = self.scope.type_of(symbol)
        checked(type_, name.text)
        if type_ == INTEGER and _counts_from(value, self.form.hidden | self.hidden.keys()):
            found = affine_form(self.inlined(value))
            self._forget({name.key})
            known = _DIFFERS if name.key in names_in(found.expr) else HiddenValue(found)
            self.hidden = {**self.hidden, name.key: known}
            self.ever_hidden.add(name.key)
            return
        text = self._expressions.assigned(value, type_)
        self._forget({name.key})
        self.hidden = {key: one for key, one in self.hidden.items() if key != name.key}
        yield f"{self.scalar(symbol, self.scope).text} = {text}"

    def _forget(self, changed: set[str]) -> None:
        """Mark hidden variables as unknown if they depend on changed names."""
        self.hidden = {
            key: _DIFFERS if known.of and names_in(known.of.expr) & changed else known
            for key, known in self.hidden.items()
        }

    def _if(self, line: un.If) -> list[PlacedLine]:
        ways = [(branch.condition, branch.body, branch.place) for branch in line.branches]
        texts = [(self._expressions.condition(test), body, place) for test, body, place in ways]
        return self._choice(texts, line.otherwise)

    def _select(self, line: un.Select) -> list[PlacedLine]:
        selector = self._expressions.whole(line.selector)
        texts: list[tuple[str, tuple[un.Line, ...], Span | None]] = []
        otherwise: tuple[un.Line, ...] = ()
        for case in line.cases:
            if not case.guards:
                otherwise = case.body
                continue
            tests = [self._guard(selector, guard) for guard in case.guards]
            texts.append((" or ".join(tests), case.body, case.place))
        if not texts:
            return self._block(otherwise)
        return self._choice(texts, otherwise)

    def _guard(self, selector: CValue, guard: ex.Expr) -> str:
        if not isinstance(guard, ex.Range):
            return PYTHON.binary(Operator.EQUAL, selector, self._expressions.whole(guard)).text
        bounds = ((Operator.GREATER_EQUAL, guard.lower), (Operator.LESS_EQUAL, guard.upper))
        return " and ".join(
            PYTHON.binary(op, selector, self._expressions.whole(bound)).text
            for op, bound in bounds
            if bound is not None
        )

    def _choice(
        self,
        ways: list[tuple[str, tuple[un.Line, ...], Span | None]],
        otherwise: tuple[un.Line, ...],
    ) -> list[PlacedLine]:
        """Return an `if` statement.

        Afterwards hidden variables have the values common to all paths.
        """
        before, ends = self.hidden, list[HiddenValues]()
        found: list[PlacedLine] = []
        for number, (test, body, place) in enumerate(ways):
            found.append(PlacedLine(f"{'elif' if number else 'if'} {test}:", place))
            found += self._inner(body)
            if not leaves(body):
                ends.append(self.hidden)
            self.hidden = before
        if any(not isinstance(one, un.Blank | un.Comment) for one in otherwise):
            found += [PlacedLine("else:"), *self._inner(otherwise)]
        if not leaves(otherwise):
            ends.append(self.hidden)
        self.hidden = _joined(ends, before)
        return found

    def _inner(self, body: tuple[un.Line, ...]) -> list[PlacedLine]:
        lines = self._block(without_end(body))
        if all(not line.text or line.text.startswith("#") for line in lines):
            lines.append(PlacedLine("pass"))
        return [line.indented() for line in lines]

    def _counted(self, line: un.Do) -> tuple[str, bool]:
        """Return the range of a loop, and whether the loop variable is one less in Python."""
        if (found := self.form.counted(self, line)) is not None:
            return found
        writer = self._expressions
        step = 1 if line.step is None else ex.integer_value(line.step)
        if not step:
            raise NoPythonError("the step of this loop is not known")
        by = 1 if step > 0 else -1
        if self.form.has_arrays:
            first, last_ = (affine_form(self.inlined(one)) for one in (line.start, line.stop))
            start, behind = self.sum_text(first), self.sum_text(last_.shifted(by)).text
        else:
            start, stop = writer.whole(line.start), writer.whole(line.stop)
            last = ex.integer_value(line.stop)
            sign = "+" if step > 0 else "-"
            behind = f"{stop.within(Precedence.SUM)} {sign} 1" if last is None else str(last + by)
        bounds = [start.text, behind, *([str(step)] if step != 1 else [])]
        return f"range({', '.join(bounds)})", False

    def _do(self, line: un.Do) -> list[PlacedLine]:
        spelled, one_less = self._counted(line)
        changed = _assigned_in(line.body) | {line.variable.key}
        self._forget(changed)
        # A local is at the loop's head what the last turn left, an address among it.
        counting = _counting_in(line.body, self.form.hidden | self.hidden.keys())
        before = {**self.hidden, **dict.fromkeys(changed & counting, _DIFFERS)}
        self.hidden = {key: one for key, one in before.items() if key != line.variable.key}
        head = f"for {self.local(line.variable.key)} in {spelled}:"
        self.loops.append(line.name)
        self.one_less |= {line.variable.key} if one_less else set()
        found = [PlacedLine(head, line.place), *self._inner(line.body)]
        self.one_less.discard(line.variable.key)
        self.loops.pop()
        # After the loop, the iteration and the position of a local's last update are unknown.
        self.hidden = {**before, **dict.fromkeys(changed & self.ever_hidden, _DIFFERS)}
        return found

    def _refuse(self, why: str, place: Span | None) -> None:
        message = f"The kernel '{self.code.name}' has no form in Python: {why}."
        where = place or self.code.module.routine
        self.problems.append(Diagnostic("G006", message, where, hint=_HINT))


def _counts_from(value: ex.Expr, hidden: frozenset[str]) -> bool:
    """Return whether a value depends on hidden names outside of array indices."""
    match value:
        case ex.Name():
            return value.key in hidden
        case ex.Element(ex.Name() as array) | ex.Section(ex.Name() as array):
            return array.key in hidden
    return any(_counts_from(part, hidden) for part in ex.children(value))


def _counting_in(body: tuple[un.Line, ...], hidden: frozenset[str]) -> frozenset[str]:
    """Return hidden names and all names that statements compute from them."""
    given = [(line.target.key, line.value) for line in walk_lines(body)
             if isinstance(line, un.Assign) and isinstance(line.target, ex.Name)]  # fmt: skip
    found = hidden
    while more := {key for key, value in given if key not in found and _counts_from(value, found)}:
        found |= more
    return found


def key_in_python(name: str) -> str:
    """Return the Python name for a module variable."""
    key = key_of(name)
    return f"{key}_" if reserved(key) else key


def _joined(ends: list[HiddenValues], before: HiddenValues) -> HiddenValues:
    """Return the values of hidden variables after paths join; differing values are unknown."""
    if not ends:
        return before
    keys = {key for end in ends for key in end}
    found = {}
    for key in keys:
        values = {end.get(key) for end in ends}
        only = next(iter(values))
        found[key] = only if len(values) == 1 and only is not None else _DIFFERS
    return found


def _assigned_in(body: tuple[un.Line, ...]) -> set[str]:
    """Return the keys of assigned names, including loop variables."""
    found: set[str] = set()
    for line in walk_lines(body):
        match line:
            case (
                un.Assign(ex.Name() as name)
                | un.Assign(ex.Index(ex.Name() as name))
                | un.Do(variable=name)
            ):
                found.add(name.key)
    return found


def without_end(body: tuple[un.Line, ...]) -> tuple[un.Line, ...]:
    """Return statements without blank lines at the start and end."""
    start, stop = 0, len(body)
    while start < stop and isinstance(body[start], un.Blank):
        start += 1
    while stop > start and isinstance(body[stop - 1], un.Blank):
        stop -= 1
    return body[start:stop]
