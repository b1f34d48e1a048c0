"""Built-ins of LFRic: predefined kernels, each defined by a formula.

One table covers all languages and both generations. The 26 built-ins of 2019 have the same names
and meaning among the current 70. A real built-in accepts fields of any real kind, and scalars of
another kind (spec 3.1). A back end determines the initial value of a reduction from its operation:
0 for a sum, the largest value for a minimum, and the smallest value for a maximum.
"""

from __future__ import annotations

from functools import cache

from psyclone_storage.domains.lfric.formulas import read_definition
from psyclone_storage.infrastructures.lfric_words import INTEGER_BUILTINS, REAL_BUILTINS
from psyclone_storage.ir.kernel import Iteration, Kernel
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.types import Intrinsic

_TEXTS = ((REAL_BUILTINS, Intrinsic.REAL), (INTEGER_BUILTINS, Intrinsic.INTEGER))
_LINES = {
    line.partition("(")[0]: (line, intrinsic)
    for text, intrinsic in _TEXTS
    for line in text.split("\n")
    if line
}
_NAMES = {key_of(name): name for name in _LINES}

_OWNED_ONLY = {"setval_random"}
"""Built-ins that never compute a dof of another rank: there a second, different random number
would contradict the owner's."""


def builtin_names() -> tuple[str, ...]:
    """Return the names of all built-ins in their usual spelling."""
    return tuple(_LINES)


@cache
def builtin(name: str) -> Kernel | None:
    """Return the built-in called `name`, ignoring case, or None.

    It has a `formula`, but no module and no procedure. All of its fields are on the function space
    `any_space_1`. It iterates over dofs. `setval_random` iterates only over owned dofs.
    """
    known = _NAMES.get(key_of(name))
    if known is None:
        return None
    definition = read_definition(*_LINES[known])
    iteration = Iteration.OWNED_DOF if definition.name in _OWNED_ONLY else Iteration.DOF
    return Kernel(
        name=definition.name,
        module="",
        procedure="",
        iteration=iteration,
        args=definition.args,
        formula=definition.formula,
    )
