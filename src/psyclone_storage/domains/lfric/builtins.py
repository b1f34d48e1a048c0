"""The built-ins of LFRic: kernels that are part of the language, each given by its formula.

One table serves both generations and all languages: the 26 built-ins of 2019 kept their names and
meaning among today's 70. Any real built-in accepts any real kind, and scalars of a kind other than
the fields' (spec 3.1). What a reduction starts from is for the back end to choose by its
operation: 0 for a sum, the largest value for a minimum, the least for a maximum.
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
    """Return the name of every built-in in its usual spelling."""
    return tuple(_LINES)


@cache
def builtin(name: str) -> Kernel | None:
    """Return the built-in called `name` in any case, or None if no such built-in exists.

    `formula` is its definition; it has no module and no procedure. Its fields are on the
    one function space `any_space_1`. It iterates over dofs, `setval_random` over owned ones only.
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
