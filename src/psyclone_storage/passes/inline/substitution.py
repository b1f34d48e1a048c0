"""Substitution of names in the expressions of an inlined routine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from psyclone_storage.ir.expr import (
    Element,
    Expr,
    Index,
    Literal,
    Name,
    Section,
    TypedArrayLiteral,
)
from psyclone_storage.ir.rewrite import with_parts
from psyclone_storage.passes.inline.array_arguments import PassedArray
from psyclone_storage.passes.inline.legality import InlineError


class Substitution(ABC):
    """Translates expressions of a routine to its caller.

    Scalar dummies map to `scalars`, array dummies to `arrays` of the caller.
    """

    scalars: Mapping[str, Expr]
    arrays: Mapping[str, PassedArray]

    def changed(self, expr: Expr) -> Expr:
        """Return an expression of the routine as one of the caller."""
        match expr:
            case Literal() if expr.kind is not None:
                return self.literal(expr)
            case Name() if expr.key in self.arrays:
                return self.arrays[expr.key].whole()
            case Name():
                return self.scalars.get(expr.key) or self.other_name(expr)
            case Index(Name() as base, items) if base.key in self.arrays:
                if not isinstance(expr, Element | Section):
                    raise InlineError(f"'{base.text}' is no array where it is called")
                index = [self.changed(item) for item in items]
                return self.arrays[base.key].at(index, is_element=isinstance(expr, Element))
            case TypedArrayLiteral(type_) if type_.kind is not None and not type_.kind.isdigit():
                raise InlineError(f"the kind '{type_.kind}' may be another where it is called")
        self.check_expression(expr)
        return with_parts(expr, self.changed)

    @abstractmethod
    def literal(self, literal: Literal) -> Expr:
        """Return a literal with the caller's name of its kind parameter."""

    @abstractmethod
    def other_name(self, name: Name) -> Expr:
        """Return the expression for a name that is not a dummy argument."""

    @abstractmethod
    def check_expression(self, expr: Expr) -> None:
        """Check that an expression has the same value in the caller.

        Raises:
            InlineError: it may differ.
        """
