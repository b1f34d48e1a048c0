"""Table of intrinsic functions, with a row per function and a column per language.

`ir.intrinsics` defines their semantics. If a language needs a different computation, for example
for an integer remainder, its printer handles it.
"""

from __future__ import annotations

from psyclone_storage.base.records import dataclass


@dataclass(frozen=True, slots=True)
class FunctionNames:
    """Names of an intrinsic function in each language, '' if it has no name there.

    - `generic`: the preferred Fortran name.

    - `arguments`: the number of arguments.

    - `c`: the C library function for type double.

    - `builtin`: the Python built-in function.

    - `math`: the function of Python's module `math`.

    - `numpy`: the NumPy function.
    """

    generic: str
    arguments: int
    c: str
    builtin: str
    math: str
    numpy: str


_TABLE = """
name       generic    arguments C         builtin   math      NumPy
abs        abs        1         fabs      abs       fabs      abs
acos       acos       1         acos      -         acos      arccos
acosh      acosh      1         acosh     -         acosh     arccosh
aint       aint       1         trunc     -         -         trunc
anint      anint      1         round     -         -         -
asin       asin       1         asin      -         asin      arcsin
asinh      asinh      1         asinh     -         asinh     arcsinh
atan       atan       1         atan      -         atan      arctan
atan2      atan2      2         atan2     -         atan2     arctan2
atanh      atanh      1         atanh     -         atanh     arctanh
cbrt       cbrt       1         cbrt      -         cbrt      cbrt
ceiling    ceiling    1         ceil      -         ceil      ceil
cos        cos        1         cos       -         cos       cos
cosh       cosh       1         cosh      -         cosh      cosh
erf        erf        1         erf       -         erf       -
erfc       erfc       1         erfc      -         erfc      -
exp        exp        1         exp       -         exp       exp
exp2       exp2       1         exp2      -         exp2      exp2
expm1      expm1      1         expm1     -         expm1     expm1
floor      floor      1         floor     -         floor     floor
gamma      gamma      1         tgamma    -         gamma     -
hypot      hypot      2         hypot     -         hypot     hypot
int        int        1         -         int       trunc     trunc
log        log        1         log       -         log       log
log10      log10      1         log10     -         log10     log10
log1p      log1p      1         log1p     -         log1p     log1p
log2       log2       1         log2      -         log2      log2
log_gamma  log_gamma  1         lgamma    -         -         -
max        max        2         -         max       -         maximum
merge      merge      3         -         -         -         where
min        min        2         -         min       -         minimum
mod        mod        2         fmod      -         fmod      fmod
modulo     modulo     2         -         -         -         mod
nint       nint       1         round     -         -         -
real       real       1         -         float     -         float64
sign       sign       2         copysign  -         copysign  copysign
sin        sin        1         sin       -         sin       sin
sinh       sinh       1         sinh      -         sinh      sinh
sqrt       sqrt       1         sqrt      -         sqrt      sqrt
tan        tan        1         tan       -         tan       tan
tanh       tanh       1         tanh      -         tanh      tanh
alog       log        1         log       -         -         -
alog10     log10      1         log10     -         -         -
amax1      max        2         -         -         -         -
amin1      min        2         -         -         -         -
amod       mod        2         fmod      -         -         -
dabs       abs        1         fabs      abs       -         -
datan      atan       1         atan      -         -         -
datan2     atan2      2         atan2     -         -         -
dcos       cos        1         cos       -         cos       -
dexp       exp        1         exp       -         exp       -
dlog       log        1         log       -         log       -
dmax1      max        2         -         -         -         -
dmin1      min        2         -         -         -         -
dmod       mod        2         fmod      -         -         -
dsign      sign       2         copysign  -         -         -
dsin       sin        1         sin       -         sin       -
dsqrt      sqrt       1         sqrt      -         sqrt      -
dtan       tan        1         tan       -         -         -
dtanh      tanh       1         tanh      -         -         -
iabs       abs        1         -         -         -         -
idnint     nint       1         round     -         -         -
isign      sign       2         -         -         -         -
max0       max        2         -         -         -         -
min0       min        2         -         -         -         -
"""


def _rows() -> dict[str, FunctionNames]:
    found = {}
    for line in _TABLE.strip().splitlines()[1:]:
        name, generic, arguments, *names = ("" if word == "-" else word for word in line.split())
        found[name] = FunctionNames(generic, int(arguments), *names)
    return found


INTRINSICS = _rows()
"""The names of each function, by its name in Fortran."""


@dataclass(frozen=True, slots=True)
class LimitNames:
    """Names of a numeric limit: the suffix of a C macro, and the Python and NumPy attributes."""

    c: str
    float_info: str
    finfo: str


LIMITS = {
    "epsilon": LimitNames("EPSILON", "epsilon", "eps"),
    "huge": LimitNames("MAX", "max", "max"),
    "tiny": LimitNames("MIN", "min", "tiny"),
}
"""The inquiry functions whose value is a limit of the type of their argument."""
