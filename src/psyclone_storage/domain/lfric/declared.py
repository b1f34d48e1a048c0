"""What an LFRic algorithm declares about an actual argument, field-vector types included."""

from __future__ import annotations

from psyclone_storage.domain.declared import Declared, VisibleScopes
from psyclone_storage.domain.declared import declared as declared_in
from psyclone_storage.infrastructures.lfric import VECTOR_TYPES
from psyclone_storage.ir.expr import Expr
from psyclone_storage.ir.parsed import ParsedAlgorithm, Scope


def declared(expr: Expr, scopes: tuple[Scope, ...], algorithm: ParsedAlgorithm) -> Declared | None:
    """Return what is declared about `expr` as seen from the innermost of `scopes`, or None."""
    return declared_in(expr, VisibleScopes(scopes, algorithm, VECTOR_TYPES))
