"""Inlining of a kernel into its calling loop, as a `block` construct.

The kernel's variables and imports are local to the block, so each thread and iteration has its own.
A local name that also occurs in an actual argument is renamed. Actual arrays have lower bound 1, as
in all supported infrastructures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.ir.directive import AccLoopDirective
from psyclone_storage.ir.expr import Expr, Literal, Name, walk
from psyclone_storage.ir.keys import key_of, keys_of
from psyclone_storage.ir.rewrite import everywhere, expressions_of, names_in, rewritten, walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import Declare, DirectiveLine, Imported, Line, ScopedBlock, Use
from psyclone_storage.passes.inline.array_arguments import PassedArray, shifted_array
from psyclone_storage.passes.inline.substitution import Substitution

KindName = Callable[[str, tuple[Use, ...]], str]
"""The name of a kind in the module around the block, given its name where `uses` import it."""


def inlined_block(
    code: Routine, actuals: tuple[Expr, ...], kind_name: KindName
) -> tuple[Line, ...]:
    """Return the statements of `code` with dummies replaced by `actuals`.

    Kind parameters are imported by the module, all other names by the block.
    """
    names = _BlockNames.of(code, actuals, kind_name)
    body = rewritten(everywhere(code.body, names.changed), lambda line: (names.directive(line),))
    own = tuple(map(names.declaration, _locals(code)))
    uses = tuple(used for use in code.uses if (used := names.imports(use)).names)
    return (ScopedBlock(uses, own, body),) if own or uses else body


def kinds_in_block(code: Routine) -> frozenset[str]:
    """Return the kind parameters of literals and local variables, without those of dummies."""
    exprs = [expr for line in walk_lines(code.body) for expr in expressions_of(line)]
    found: set[str] = set()
    for item in _locals(code):
        exprs += [*item.shape, *([] if item.value is None else [item.value])]
        if isinstance(item.type, ScalarType) and item.type.kind:
            found.add(item.type.kind)
    for expr in exprs:
        found |= {part.kind for part in walk(expr) if isinstance(part, Literal) and part.kind}
    return keys_of(name for name in found if name.isidentifier())


def _locals(code: Routine) -> Iterator[Declare]:
    dummies = {*code.dummy_keys}
    for item in code.declarations:
        if isinstance(item, Declare) and item.key not in dummies:
            yield item


def _renamed(code: Routine, actuals: tuple[Expr, ...]) -> dict[str, str]:
    """Return new names for local names of the block that occur in actual arguments."""
    outside = frozenset[str]().union(*map(names_in, actuals))
    own = [item.name for item in _locals(code)]
    own += [name.local for use in code.uses for name in use.names]
    exprs = [expr for line in walk_lines(code.body) for expr in expressions_of(line)]
    table = NameTable({*outside, *own, *frozenset().union(*map(names_in, exprs))})
    return {key_of(name): table.fresh(name) for name in own if key_of(name) in outside}


@dataclass(slots=True)
class _BlockNames(Substitution):
    """Names of a kernel in a block: `renamed` local names, and the module's names of `kinds`.

    Keys are in lower case.
    """

    scalars: dict[str, Expr]
    renamed: Mapping[str, str]
    kinds: Mapping[str, str]
    arrays: dict[str, PassedArray] = field(default_factory=dict)

    @classmethod
    def of(cls, code: Routine, actuals: tuple[Expr, ...], kind_name: KindName) -> _BlockNames:
        """Return the name mapping for `code` called with `actuals`."""
        declared = keys_of(item.name for item in _locals(code))
        kinds = {
            kind: kind_name(kind, code.uses) for kind in sorted(kinds_in_block(code) - declared)
        }
        pairs = dict(zip(code.dummy_keys, actuals, strict=True))
        arrays = {key: item.shape for key in pairs if (item := code.declared(key)) and item.shape}
        scalars = {key: arg for key, arg in pairs.items() if key not in arrays}
        names = cls(scalars, _renamed(code, actuals), kinds)
        for key, shape in arrays.items():
            names.arrays[key] = shifted_array(pairs[key], shape, names.changed)
        return names

    def literal(self, literal: Literal) -> Expr:
        """Return a literal with the module's name of its kind parameter."""
        kind = literal.kind
        if kind is None or literal.intrinsic is Intrinsic.CHARACTER:
            return literal
        other = self._kind(kind)
        return literal if other == kind else literal.with_kind(other)

    def other_name(self, name: Name) -> Expr:
        """Return a local name, possibly renamed, or a kind parameter."""
        if name.key in self.kinds:
            return Name(self._kind(name.text))
        return Name(self.renamed.get(name.key, name.text))

    def check_expression(self, expr: Expr) -> None:
        """Accept all expressions: `inline-call` has already checked the kernel."""

    def _kind(self, name: str) -> str:
        """Return the module's name of a kind parameter."""
        other = self.kinds.get(key_of(name), name)
        return name if key_of(other) == key_of(name) else other

    def declaration(self, item: Declare) -> Declare:
        """Return a declaration for use in the block."""
        kind = item.type
        if isinstance(kind, ScalarType) and kind.kind:
            kind = replace(kind, kind=self._kind(kind.kind))
        return replace(
            item,
            name=self.renamed.get(item.key, item.name),
            type=kind,
            shape=tuple(map(self.changed, item.shape)),
            value=None if item.value is None else self.changed(item.value),
        )

    def directive(self, line: Line) -> Line:
        """Return a directive with the variable names of the block."""
        match line:
            case DirectiveLine(meaning=AccLoopDirective() as shared):
                private = tuple(self.renamed.get(key_of(one), one) for one in shared.private)
                reductions = tuple(
                    (operator, self.renamed.get(key_of(one), one))
                    for operator, one in shared.reductions
                )
                meaning = replace(shared, private=private, reductions=reductions)
                return replace(line, meaning=meaning)
        return line

    def imports(self, use: Use) -> Use:
        """Return the imports of the block from one module, without kind parameters."""
        names = tuple(
            Imported(self.renamed.get(name.key, name.local), name.original)
            for name in use.names
            if name.key not in self.kinds
        )
        return replace(use, names=names)
