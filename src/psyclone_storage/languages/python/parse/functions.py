"""Functions that kernels may call, by their names in Python, `math` and `numpy`.

This table maps each function to an intrinsic function or an operation of typed code.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from enum import Enum

from psyclone_storage.base.records import dataclass
from psyclone_storage.languages.intrinsics import INTRINSICS
from psyclone_storage.languages.python.parse.imports import (
    ImportedNames,
    bound_in,
    defined_in,
    imported_names,
)
from psyclone_storage.languages.python.parse.tree import PythonTree


class Signature(Enum):
    """Argument and result types of a function."""

    REALS = "reals, and gives a real"
    NUMBERS = "numbers, and gives one of their type"
    TO_WHOLE = "a number, and gives an integer"
    TO_REAL = "a number, and gives a real"
    TO_DOUBLE = "a number, and gives a real that has the usual kind whatever it meets"
    TO_SINGLE = "a number, and gives it rounded to single precision"
    CHOICE = "a condition and two numbers, and gives one of these"
    POWER = "a base and an exponent"


@dataclass(frozen=True, slots=True)
class TypedFunction:
    """Function with its name in typed code, and its minimum and maximum number of arguments."""

    name: str
    takes: Signature
    least: int = 1
    most: int = 1


_MANY = 100


_MIN, _MAX = (TypedFunction(name, Signature.NUMBERS, 2, _MANY) for name in ("min", "max"))
_POWER = TypedFunction("**", Signature.POWER, 2, 2)
_TO_WHOLE = ("ceiling", "floor", "int")
_OF_REALS = {
    name: TypedFunction(name, Signature.REALS, names.arguments, names.arguments)
    for name, names in INTRINSICS.items()
    if names.math and names.generic == name and name not in _TO_WHOLE
}
BUILTINS: Mapping[str, TypedFunction] = {
    "abs": TypedFunction("abs", Signature.NUMBERS),
    "min": _MIN,
    "max": _MAX,
    "int": TypedFunction("int", Signature.TO_WHOLE),
    "float": TypedFunction("real", Signature.TO_REAL),
    "pow": _POWER,
}
MATH: Mapping[str, TypedFunction] = {
    **{INTRINSICS[name].math: function for name, function in _OF_REALS.items()},
    **{INTRINSICS[name].math: TypedFunction(name, Signature.TO_WHOLE) for name in _TO_WHOLE},
    "pow": _POWER,
}
NUMPY: Mapping[str, TypedFunction] = {
    **{INTRINSICS[name].numpy: function for name, function in _OF_REALS.items()
       if INTRINSICS[name].numpy},
    **{INTRINSICS[name].numpy: TypedFunction(name, Signature.NUMBERS, 2, 2)
       for name in ("min", "max")},
    **dict.fromkeys(("abs", "absolute"), BUILTINS["abs"]),
    "fabs": MATH["fabs"],
    "power": _POWER,
    "where": TypedFunction("merge", Signature.CHOICE, 3, 3),
    "int32": TypedFunction("int", Signature.TO_WHOLE),
    "float32": TypedFunction("real", Signature.TO_SINGLE),
    "float64": TypedFunction("real", Signature.TO_DOUBLE),
}  # fmt: skip
CONSTANTS: Mapping[str, float] = {
    "pi": math.pi, "e": math.e, "tau": math.tau, "inf": math.inf, "nan": math.nan,
}  # fmt: skip
ALL = sorted({*BUILTINS, *MATH})


@dataclass(frozen=True, slots=True)
class CallableImports:
    """Callable names available in a file.

    - `defined`: names of functions defined in the file, which hide imported ones.

    - `bound`: names bound by the file, which hide Python built-ins.
    """

    math: ImportedNames
    numpy: ImportedNames
    defined: frozenset[str] = frozenset()
    bound: frozenset[str] = frozenset()

    def function(self, node: ast.expr) -> TypedFunction | None:
        """Return the function that `node` names, or None if it is unknown."""
        if isinstance(node, ast.Name) and node.id in self.defined:
            return None
        for names, table in ((self.math, MATH), (self.numpy, NUMPY)):
            if found := table.get(names.meant(node)):
                return found
        if not isinstance(node, ast.Name) or node.id in self.bound:
            return None
        return BUILTINS.get(node.id)

    def is_numpy(self, node: ast.expr) -> bool:
        """Return whether `node` names a NumPy function, whose result is a NumPy number."""
        return self.numpy.meant(node) in NUMPY

    def is_math(self, node: ast.expr) -> bool:
        """Return whether `node` names a function of `math`, whose result is a Python number."""
        return self.math.meant(node) in MATH

    def constant(self, node: ast.expr) -> float | None:
        """Return the value of the constant that `node` names, or None if it is unknown."""
        for names in (self.math, self.numpy):
            if (value := CONSTANTS.get(names.meant(node))) is not None:
                return value
        return None


def to_write_for(name: str, given: CallableImports) -> str:
    """Return a hint for a function that is not imported or not available in kernels."""
    module, _, last = name.rpartition(".")
    if not module and last in {*MATH, *NUMPY}:
        known = "math" if last in MATH else "numpy"
        own = "" if known == "numpy" else f"'from math import {last}' at the top of the file, or "
        return f"Write {own}'np.{last}' with 'import numpy as np'." if last in NUMPY else (
            f"Write 'from math import {last}' at the top of the file.")  # fmt: skip
    named = {"np": "import numpy as np", "numpy": "import numpy", "math": "import math"}
    if module in named and module not in (*given.math.modules, *given.numpy.modules):
        return f"Write '{named[module]}' at the top of the file."
    return _INSTEAD.get(last, "")


_NEAREST = (
    "Write 'math.floor(x + 0.5)', which takes the larger of two that are as near, where Python's"
    " own takes the even one."
)
_INSTEAD: Mapping[str, str] = {
    "sign": "Write '1.0 if x > 0.0 else -1.0 if x < 0.0 else x', or 'math.copysign(1.0, x)'.",
    **dict.fromkeys(("round", "rint", "around"), _NEAREST),
    "fmin": "Write 'min(x, y)'.",
    "fmax": "Write 'max(x, y)'.",
    "floor": "Write 'math.floor(x)'.",
    "ceil": "Write 'math.ceil(x)'.",
    **dict.fromkeys(("trunc", "fix"), "Write 'math.trunc(x)'."),
    "mod": "Write 'x % y', which has the sign of 'y'.",
    **dict.fromkeys(("floor_divide", "divmod"), "Write 'math.floor(x / y)', and 'x % y'."),
    "bool": "Write 'x != 0'.",
    "sum": "Write a loop that adds, or 'np.sum' of a local array or a tuple.",
    "range": "Write it as what a loop counts: 'for n in range(...)'.",
    "print": "Leave it out: 'kernel.at(...)' runs the function for one point, in Python.",
}


def offered(tree: PythonTree) -> CallableImports:
    """Return the callable names that the imports of a file provide."""
    given = imported_names(tree, "math"), imported_names(tree, "numpy")
    return CallableImports(*given, defined_in(tree), bound_in(tree))


def count_of_arguments(function: TypedFunction) -> str:
    """Return how many arguments a function takes, for a message."""
    plural = "s" if function.least > 1 else ""
    is_fixed = function.least == function.most
    return (
        f"{function.least} argument{plural}" if is_fixed else f"{function.least} arguments or more"
    )
