"""Recognition of expressions that are certainly scalars.

An array subscript selects several elements, and an unknown name may be an array.
"""

from __future__ import annotations

from psyclone_storage.analysis.bodies.names import RoutineNames
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.intrinsics import ELEMENTAL, INQUIRING, REDUCING
from psyclone_storage.ir.paths import AccessPath, Subscripts, Variable, path_of

_OF_BOUNDS = frozenset({"lbound", "ubound"})


def is_scalar(expr: ex.Expr, names: RoutineNames) -> bool:
    """Return whether `expr` is known to be a scalar."""
    match expr:
        case ex.Literal():
            return True
        case ex.Unary(_, part) | ex.Parenthesised(part) | ex.Keyword(_, part):
            return is_scalar(part, names)
        case ex.Binary(_, left, right):
            return is_scalar(left, names) and is_scalar(right, names)
        case ex.CallFunction(_, items):
            word = ex.intrinsic_called(expr)
            return word is not None and _is_scalar_call(word, items, names)
        case ex.StructureConstructor():
            return True
        case ex.Unresolved():
            return False
    path = path_of(expr)
    return path is not None and _is_scalar_data(path, names)


def _is_scalar_call(function: str, items: tuple[ex.Expr, ...], names: RoutineNames) -> bool:
    """Return whether an intrinsic function returns a scalar for these arguments."""
    if function in ELEMENTAL:
        return all(is_scalar(item, names) for item in items)
    if function in REDUCING:
        return len(items) == 1 or function == "dot_product"
    if function in _OF_BOUNDS:
        return len(items) > 1 and (not isinstance(items[1], ex.Keyword) or items[1].key == "dim")
    return function in INQUIRING and function != "shape"


def _is_scalar_data(path: AccessPath, names: RoutineNames) -> bool:
    """Return whether a path selects one element of each array that it contains."""
    variable: Variable = (path.root,)
    shape = _rank(variable, names)
    for step in path.steps:
        if isinstance(step, Subscripts):
            if not shape or shape != len(step.items):
                return False
            if not all(is_scalar(item, names) for item in step.items):
                return False
            shape = 0
        elif shape == 0:
            variable = (*variable, step.key)
            shape = _rank(variable, names)
        else:
            return False
    return shape == 0


def _rank(variable: Variable, names: RoutineNames) -> int | None:
    """Return the rank of a variable or component, None if it is unknown."""
    declared = names.declaration(variable)
    if declared is not None:
        return None if variable[0] in names.unclear else len(declared.shape)
    return 0 if len(variable) == 1 and variable[0] in names.counters else None
