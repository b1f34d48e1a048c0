"""Calls of user-written procedures: the resolution of the procedure and the passing of arguments.

Non-contiguous arguments and expressions are passed as copies. A copy is written back after the call
where the procedure may change the argument.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence

from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.expr import Element, Expr, Keyword, Name, Origin, Range, Section
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import substituted
from psyclone_storage.ir.routine import Callee, ModuleContext
from psyclone_storage.ir.typing import CScope, CType, PrintError
from psyclone_storage.languages.c.arrays import Arrays
from psyclone_storage.languages.c.code_buffer import CWriter
from psyclone_storage.languages.c.expressions import Expressions, mapped
from psyclone_storage.languages.c.types import ArrayValue, CValue
from psyclone_storage.languages.c.variables import Parameter, is_assumed

_GLUE = "\0"


@dataclass(frozen=True, slots=True)
class CFunction:
    """Function in C.

    - `key`: the module and the name of the Fortran procedure.

    - `result`: the type of a function's scalar value. An array result is passed as one more
      argument after the procedure's arguments.

    - `automatic`: local arrays whose lengths are not known at compile time.
    """

    key: tuple[str, str]
    name: str
    parameters: tuple[Parameter, ...]
    result: CType | None
    lines: tuple[str, ...]
    automatic: tuple[str, ...] = ()

    @property
    def head(self) -> str:
        """Declaration of the function, without its body."""
        return self._declared(self.name, (), self.parameters)

    def _declared(
        self, name: str, first: tuple[str, ...], parameters: tuple[Parameter, ...]
    ) -> str:
        texts = [*first, *(text for item in parameters for text in item.texts())]
        type_ = "void" if self.result is None else self.result.name
        return f"{type_} {name}({', '.join(texts) or 'void'})"

    def head_lines(
        self, before: str = "", loop: tuple[str, tuple[str, ...]] | None = None
    ) -> tuple[str, ...]:
        """Return the declaration as lines that are broken only between arguments.

        With `loop`, return the declaration of a loop over grid points. `loop` contains the suffix
        of the function name and the parameters for the bounds, which replace the first two
        parameters.
        """
        head = self.head
        if loop is not None:
            head = self._declared(f"{self.name}_{loop[0]}", loop[1], self.parameters[2:])
        glued = re.sub(r"(?<!,) ", _GLUE, head)
        wrapped = textwrap.wrap(before + glued, 100, subsequent_indent="    ",
                                break_long_words=False, break_on_hyphens=False)  # fmt: skip
        return tuple(line.replace(_GLUE, " ") for line in wrapped)


@dataclass(slots=True)
class Calls:
    """Printer of calls in one procedure; `printed` returns the C function of a procedure."""

    writer: CWriter
    expressions: Expressions
    arrays: Arrays
    around: ModuleContext
    printed: Callable[[Callee], CFunction]

    def subroutine(self, key: str, args: tuple[Expr, ...], scope: CScope) -> None:
        """Print a call of a subroutine."""
        callee, given = self._chosen(key, args, scope)
        function = self.printed(callee)
        behind: list[Callable[[], None]] = []
        texts = self._arguments(function, given, scope, behind)
        self.writer.put(f"{function.name}({', '.join(texts)});")
        for copy in behind:
            copy()

    def function(self, key: str, args: tuple[Expr, ...], scope: CScope) -> CValue | ArrayValue:
        """Return a function reference; print the call immediately if it returns an array."""
        callee, given = self._chosen(key, args, scope)
        function = self.printed(callee)
        if "elemental" in key_of(callee.code.prefix).split():
            return self._elemental(function, _all_given(given, key), scope)
        behind: list[Callable[[], None]] = []
        texts = self._arguments(function, given, scope, behind)
        if behind:
            raise PrintError(f"the function '{key}' changes a copy of an argument", key)
        if function.result is not None:
            return CValue(f"{function.name}({', '.join(texts)})", function.result)
        last = function.parameters[len(given)]
        extents = self._extents_of_result(callee, _all_given(given, key), scope)
        made = self.arrays.made_room(last.type, extents, "result")
        texts.insert(len(texts) - (len(function.parameters) - len(given) - 1), made.name)
        self.writer.put(f"{function.name}({', '.join(texts)});")
        return made.whole()

    def _elemental(
        self, function: CFunction, args: tuple[Expr, ...], scope: CScope
    ) -> CValue | ArrayValue:
        if any(not item.by_value for item in function.parameters) or function.result is None:
            raise PrintError(f"the elemental function '{function.name}' has no values alone")
        result = function.result
        values = [self.expressions.evaluate(arg, scope) for arg in args]
        return mapped(
            lambda *items: CValue(
                f"{function.name}({', '.join(item.text for item in items)})", result
            ),
            *values,
        )

    # ------------------------------------------------------------------------ which one

    def _chosen(
        self, key: str, args: tuple[Expr, ...], scope: CScope
    ) -> tuple[Callee, tuple[Expr | None, ...]]:
        """Return the called procedure and its arguments in the order of its dummies.

        A generic name is resolved by the arguments. An argument that is not given equals None.
        """
        symbol = scope.symbol(key)
        if symbol.origin in (Origin.LOCAL, Origin.DUMMY):
            raise PrintError(f"'{key}' is an internal procedure or an argument", key)
        module = symbol.module_key or scope.module or scope.code.module.key
        found = self.around.procedures(module, symbol.key)
        if not found:
            raise PrintError(f"the procedure '{key}' was not found", key)
        if len(found) > 1:
            found = tuple(item for item in found if self._fits(item, args, scope))
        if len(found) != 1:
            raise PrintError(f"which procedure '{key}' stands for is not known", key)
        return found[0], _in_order(found[0], args, key)

    def _fits(self, callee: Callee, args: tuple[Expr, ...], scope: CScope) -> bool:
        """Return whether actual arguments match the types and ranks of a procedure's dummies."""
        within = CScope(callee.code, self.around)
        try:
            given = _in_order(callee, args, "")
        except PrintError:
            return False
        for arg, dummy in zip(given, callee.code.dummies, strict=True):
            symbol = within.symbol(key_of(dummy))
            if arg is None:
                if "optional" not in symbol.attributes:
                    return False
                continue
            type_, is_array = self._type_of(arg, scope)
            if within.type_of(symbol) != type_ or (is_array and not symbol.shape):
                return False
        return True

    def _type_of(self, arg: Expr, scope: CScope) -> tuple[CType, bool]:
        if isinstance(arg, Name) and scope.symbol(arg.key).shape:
            return scope.type_of(scope.symbol(arg.key)), True
        mark = self.writer.mark()
        value = self.expressions.evaluate(arg, scope)
        self.writer.undo_to(mark)
        return value.type, isinstance(value, ArrayValue)

    # ------------------------------------------------------------------------ arguments

    def _arguments(
        self,
        function: CFunction,
        args: Sequence[Expr | None],
        scope: CScope,
        behind: list[Callable[[], None]],
    ) -> list[str]:
        texts: list[str] = []
        for parameter, arg in zip(function.parameters, args, strict=False):
            if arg is None:
                if not parameter.optional:
                    reason = f"'{function.name}' is called without '{parameter.key}'"
                    raise PrintError(reason, function.name)
                texts += ["0"] * (1 + len(parameter.assumed))
            elif parameter.is_array:
                texts += self._array(parameter, arg, scope, behind)
            else:
                texts.append(self._scalar(parameter, arg, scope))
        for parameter in function.parameters[len(args) :]:
            if parameter.module:
                inner = scope.within(parameter.module)
                texts.append(self.expressions.variables.passed_on(parameter.key, inner))
        return texts

    def _scalar(self, parameter: Parameter, arg: Expr, scope: CScope) -> str:
        value = self.expressions.scalar(arg, scope)
        if value.type != parameter.type:
            raise PrintError(f"the type of '{parameter.key}' is another one where it is called")
        if parameter.by_value:
            return value.text
        if isinstance(arg, Name | Element) and not self._is_kept(arg):
            return value.text[1:] if value.text.startswith("*") else f"&{value.text}"
        return f"&{self.writer.temporary(value.type, value.text, 'passed', changes=True)}"

    def _is_kept(self, arg: Expr) -> bool:
        """Return whether an expression is an argument passed by value, which is read-only."""
        parameters = self.expressions.variables.parameters
        if not isinstance(arg, Name):
            return False
        return arg.key not in self.expressions.variables.locals and (
            arg.key not in parameters or parameters[arg.key].by_value
        )

    def _array(
        self, parameter: Parameter, arg: Expr, scope: CScope, behind: list[Callable[[], None]]
    ) -> list[str]:
        if isinstance(arg, Name):
            array = self.expressions.variables.array(arg.key, scope)
            self._check(parameter, array.type)
            return [array.name, *(array.extents() if parameter.assumed else ())]
        value = self.expressions.evaluate(arg, scope)
        self._check(parameter, value.type)
        if isinstance(value, CValue):
            if not isinstance(arg, Element) or parameter.assumed:
                raise PrintError(f"a scalar is passed for the array '{parameter.key}'")
            return [f"&{value.text}"]
        extents = list(value.extents) if parameter.assumed else []
        if isinstance(arg, Section) and _is_contiguous(arg, value.rank):
            return [f"&{value.at(('0',) * value.rank).text}", *extents]
        made = self.arrays.stored_array(value, "passed")
        if parameter.intent != "in" and isinstance(arg, Section):

            def copy_back() -> None:
                with self.arrays.loops(made.extents()) as indices:
                    text = made.element(indices).text
                    self.writer.put(f"{value.at(indices).text} = {text};")

            behind.append(copy_back)
        return [made.name, *(made.extents() if parameter.assumed else ())]

    def _check(self, parameter: Parameter, type_: CType) -> None:
        if parameter.type != type_:
            raise PrintError(f"the type of '{parameter.key}' is another one where it is called")

    def _extents_of_result(
        self, callee: Callee, args: tuple[Expr, ...], scope: CScope
    ) -> tuple[str, ...]:
        """Return the extents of a function's array result, as expressions of the caller."""
        within = CScope(callee.code, self.around)
        given = {key_of(name): arg for name, arg in zip(callee.code.dummies, args, strict=True)}
        found = []
        for item in within.symbol(callee.result).shape:
            if is_assumed(item) or (isinstance(item, Range) and item.lower is not None):
                raise PrintError(f"the shape of the result of '{callee.code.name}' is not known")
            upper = item.upper if isinstance(item, Range) else item
            assert upper is not None
            number = within.integer(upper)
            if number is not None:
                found.append(str(max(0, number)))
            else:
                found.append(self.expressions.scalar(substituted(upper, given), scope).text)
        return tuple(found)


def _in_order(callee: Callee, args: tuple[Expr, ...], key: str) -> tuple[Expr | None, ...]:
    """Return the actual arguments in the order of the dummies, with None for those not given."""
    dummies = [key_of(name) for name in callee.code.dummies]
    given = {item.key: item.value for item in args if isinstance(item, Keyword)}
    plain = tuple(item for item in args if not isinstance(item, Keyword))
    if len(plain) > len(dummies) or not given.keys() <= set(dummies[len(plain) :]):
        raise PrintError(f"'{key}' is called with other arguments than it has", key)
    return (*plain, *(given.get(name) for name in dummies[len(plain) :]))


def _all_given(args: Sequence[Expr | None], key: str) -> tuple[Expr, ...]:
    found = tuple(arg for arg in args if arg is not None)
    if len(found) != len(args):
        raise PrintError(f"the function '{key}' is called with fewer arguments than it has", key)
    return found


def _is_contiguous(section: Section, rank: int) -> bool:
    """Return whether the elements of an array section are always contiguous in memory."""
    if rank != sum(isinstance(item, Range) for item in section.items):
        return False
    items = list(section.items)
    while items and items[0] == Range():
        items.pop(0)
    if items and isinstance(items[0], Range) and items[0].step is None:
        items.pop(0)
    return not any(isinstance(item, Range) for item in items)
