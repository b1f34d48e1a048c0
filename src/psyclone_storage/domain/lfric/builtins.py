"""The built-ins of LFRic: kernels that are part of the language, each given by its formula.

One table serves both generations: the 26 built-ins of 2019 kept their names and meaning among
today's 70. Any real built-in accepts any real kind, and scalars of a kind other than
the fields' (spec 3.1). What a reduction starts from is for the back end to choose by its
operation: 0 for a sum, the largest value for a minimum, the least for a maximum.
"""

from __future__ import annotations

from functools import cache

from psyclone_storage.domain.lfric.formulas import read_definition
from psyclone_storage.ir.kernel import Iteration, Kernel
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.types import Intrinsic

_REAL = """
X_plus_Y(Z, X, Y): Z = X + Y
inc_X_plus_Y(X, Y): X = X + Y
a_plus_X(Y, a, X): Y = a + X
inc_a_plus_X(a, X): X = a + X
aX_plus_Y(Z, a, X, Y): Z = a*X + Y
inc_aX_plus_Y(a, X, Y): X = a*X + Y
inc_X_plus_bY(X, b, Y): X = X + b*Y
aX_plus_bY(Z, a, X, b, Y): Z = a*X + b*Y
inc_aX_plus_bY(a, X, b, Y): X = a*X + b*Y
aX_plus_aY(Z, a, X, Y): Z = a*(X + Y)
X_minus_Y(Z, X, Y): Z = X - Y
inc_X_minus_Y(X, Y): X = X - Y
a_minus_X(Y, a, X): Y = a - X
inc_a_minus_X(a, X): X = a - X
X_minus_a(Y, X, a): Y = X - a
inc_X_minus_a(X, a): X = X - a
aX_minus_Y(Z, a, X, Y): Z = a*X - Y
X_minus_bY(Z, X, b, Y): Z = X - b*Y
inc_X_minus_bY(X, b, Y): X = X - b*Y
aX_minus_bY(Z, a, X, b, Y): Z = a*X - b*Y
X_times_Y(Z, X, Y): Z = X*Y
inc_X_times_Y(X, Y): X = X*Y
inc_aX_times_Y(a, X, Y): X = a*X*Y
a_times_X(Y, a, X): Y = a*X
inc_a_times_X(a, X): X = a*X
X_divideby_Y(Z, X, Y): Z = X/Y
inc_X_divideby_Y(X, Y): X = X/Y
X_divideby_a(Y, X, a): Y = X/a
inc_X_divideby_a(X, a): X = X/a
a_divideby_X(Y, a, X): Y = a/X
inc_a_divideby_X(a, X): X = a/X
inc_X_powreal_a(X, a): X = X**a
inc_X_powint_n(X, n: integer): X = X**n
setval_c(X, c): X = c
setval_X(Y, X): Y = X
setval_random(X): X = random_number()
X_innerproduct_Y(r, X, Y): r = sum(X*Y)
X_innerproduct_X(r, X): r = sum(X*X)
sum_X(r, X): r = sum(X)
minval_X(r, X): r = minval(X)
maxval_X(r, X): r = maxval(X)
sign_X(Y, a, X): Y = sign(a, X)
max_aX(Y, a, X): Y = max(a, X)
inc_max_aX(a, X): X = max(a, X)
min_aX(Y, a, X): Y = min(a, X)
inc_min_aX(a, X): X = min(a, X)
real_to_int_X(Y: integer, X): Y = int(X, kind=kind(Y))
real_to_real_X(Y, X): Y = real(X, kind=kind(Y))
"""

_INTEGER = """
int_X_plus_Y(Z, X, Y): Z = X + Y
int_inc_X_plus_Y(X, Y): X = X + Y
int_a_plus_X(Y, a, X): Y = a + X
int_inc_a_plus_X(a, X): X = a + X
int_X_minus_Y(Z, X, Y): Z = X - Y
int_inc_X_minus_Y(X, Y): X = X - Y
int_a_minus_X(Y, a, X): Y = a - X
int_inc_a_minus_X(a, X): X = a - X
int_X_minus_a(Y, X, a): Y = X - a
int_inc_X_minus_a(X, a): X = X - a
int_X_times_Y(Z, X, Y): Z = X*Y
int_inc_X_times_Y(X, Y): X = X*Y
int_a_times_X(Y, a, X): Y = a*X
int_inc_a_times_X(a, X): X = a*X
int_setval_c(X, c): X = c
int_setval_X(Y, X): Y = X
int_sign_X(Y, a, X): Y = sign(a, X)
int_max_aX(Y, a, X): Y = max(a, X)
int_inc_max_aX(a, X): X = max(a, X)
int_min_aX(Y, a, X): Y = min(a, X)
int_inc_min_aX(a, X): X = min(a, X)
int_to_real_X(Y: real, X): Y = real(X, kind=kind(Y))
"""

_LINES = {
    line.partition("(")[0]: (line, intrinsic)
    for text, intrinsic in ((_REAL, Intrinsic.REAL), (_INTEGER, Intrinsic.INTEGER))
    for line in text.split("\n")
    if line
}
_NAMES = {key_of(name): name for name in _LINES}

_OWNED_ONLY = {"setval_random"}
"""Built-ins that never compute a dof of another rank: there a second, different random number
would contradict the owner's."""


def builtin_names() -> tuple[str, ...]:
    """Return the name of every built-in, as it is usually written."""
    return tuple(_LINES)


@cache
def builtin(name: str) -> Kernel | None:
    """Return the built-in called `name` in any case, or None if there is none.

    Its `formula` says what it computes; it has no module and no procedure. Its fields are on the
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
